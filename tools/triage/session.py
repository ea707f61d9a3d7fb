"""Tickets asked and answered: by a person at a terminal, or by lines that come in."""
import sys

from ladder.board import has_colour
from ladder.catalog import Misused
from triage import answers, paper, score
from triage.tickets import QUESTIONS

MAX_INPUT = 1 << 16  # bytes of answers from standard input


class Leave(Exception):
    """The learner has had enough."""


def show(lines):
    print("\n".join(lines), flush=True)


def judge(ticket, answer):
    """Shows the verdict and keeps it. True: all was right."""
    show(["", *paper.verdict_lines(ticket, answer, has_colour())])
    n_right = paper.n_right(ticket, answer)
    score.keep(ticket, n_right)
    return n_right == paper.N_ASKED


# ---- at a terminal -------------------------------------------------------------------------------

def typed(prompt):
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line or line.strip().lower() in ("q", "quit"):
        raise Leave
    return line.strip()


def ask(menu, question):
    show(["", *paper.choice_lines(menu, question)])
    while True:
        word = typed("> ")
        try:
            if word:
                return answers.choice_of(menu, question, word)
        except Misused as refused:
            print(refused)


def ask_ticket(menu, ticket, n_tickets):
    show(["", *paper.ticket_lines(ticket, n_tickets)])
    judge(ticket, answers.Answer(*(ask(menu, question) for question in QUESTIONS)))


def converse(level, menu, tickets, chosen):
    """The chosen tickets one after the other, until the last one or q."""
    print("Answer by number or by name; q leaves.")
    try:
        for i, ticket in enumerate(chosen):
            if i:
                typed("\nReturn for the next ticket > ")
            ask_ticket(menu, ticket, len(tickets))
    except Leave:
        print()
    show(["", paper.sum_line(level, tickets, score.read())])
    return 0


# ---- from lines ----------------------------------------------------------------------------------

def lines_from_input():
    data = sys.stdin.buffer.read(MAX_INPUT + 1) if sys.stdin else b""  # None: it is closed
    if len(data) > MAX_INPUT:
        raise Misused(f"more than {MAX_INPUT} bytes of answers: a line of three words for each ticket is wanted")
    return data.decode(errors="replace").splitlines()


def pairs_of(chosen, lines):
    """(ticket, line), a line for each ticket; an empty one passes over it."""
    if len(lines) > len(chosen):
        raise Misused(f"{len(lines)} lines of answers, and tickets: {len(chosen)}; a line for each is wanted")
    return [(ticket, line) for ticket, line in zip(chosen, lines) if line.strip()]


def play(level, menu, tickets, pairs):
    """All lines are understood before one is judged."""
    given = [(ticket, answers.parse(menu, line)) for ticket, line in pairs]
    all_right = all([judge(ticket, answer) for ticket, answer in given])
    show(["", paper.sum_line(level, tickets, score.read())])
    return 0 if all_right else 1
