#!/usr/bin/env python3
"""Which level is it? Tickets with evidence, and what it shows; make calls this file. Standard library only.

    make triage LEVEL=1                                   on a terminal: ticket after ticket
    make triage LEVEL=1 TICKET=3                          one of them
    make triage LEVEL=1 TICKET=3 ANSWER="1 ttft order"    level, first measurement, lever
    printf '%s\\n' "1 ttft order" ... | make triage        a line for each ticket, from the first on

Status 0: all right, or a conversation; 1: something was not; 2: the input is no answer. Tickets: data/triage.
"""
import argparse
import os
import sys

from ladder.catalog import Misused, Refused
from triage import paper, score, session, tickets


def number(text, name, default=None):
    if text == "" and default is not None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        raise Misused(f"{name}={text[:40]!r}: a number is wanted")
    return int(text)


def chosen_ticket(known, text):
    wanted = number(text, "TICKET")
    for ticket in known:
        if ticket.number == wanted:
            return ticket
    raise Misused(f"TICKET={wanted}: there are tickets {known[0].number} to {known[-1].number}")


def not_solved(known):
    points = score.read()
    return [ticket for ticket in known if points.get(ticket.name) != paper.N_ASKED]


def run(args):
    level = number(args.level, "LEVEL", 1)
    menu, known = tickets.read_tickets(level)
    chosen = [chosen_ticket(known, args.ticket)] if args.ticket else known
    if args.answer:
        if not args.ticket:
            raise Misused(f"ANSWER to which ticket? TICKET= takes 1 to {len(known)}")
        return session.play(level, menu, known, [(chosen[0], args.answer)])
    if sys.stdin and sys.stdin.isatty():
        return session.converse(level, menu, known, chosen if args.ticket else not_solved(known) or known)
    lines = session.lines_from_input()
    if any(line.strip() for line in lines):
        return session.play(level, menu, known, session.pairs_of(chosen, lines))
    if args.ticket:
        session.show([*paper.ticket_lines(chosen[0], len(known)), *paper.menu_lines(menu), *paper.how_lines(chosen[0])])
    else:
        session.show(paper.list_lines(level, known, score.read()))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("level", "ticket", "answer"):
        parser.add_argument(f"--{name}", default="", metavar="TEXT")
    try:
        return run(parser.parse_args())
    except Refused as refused:
        print(f"triage: {refused}", file=sys.stderr)
        return refused.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"triage: {error.filename or 'standard input'}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
        return 130


if __name__ == "__main__":
    sys.exit(main())
