"""How a ticket and its verdict read, line by line. Text only: nothing is run, nothing is kept."""
from ladder.board import indented, paint, plural
from triage.tickets import QUESTIONS

ASKED = {"level": "Which level is it?", "measurement": "What do you measure first?", "lever": "Which lever?"}
N_ASKED = len(QUESTIONS)


def run_lines(run):
    return [f"  $ {run.command}", *(f"  {line}".rstrip() for line in run.output)]


def ticket_lines(ticket, n_tickets):
    out = [f"ticket {ticket.number} of {n_tickets}, level {ticket.level}: {ticket.title}", indented(ticket.symptom)]
    for run in ticket.evidence:
        out += ["", f"  {run.what}", *run_lines(run)]
    return out


def choice_lines(menu, question):
    """Levels are called by their numbers; all else has a number beside its name."""
    out = [ASKED[question]]
    for i, (name, what) in enumerate(menu.choices[question].items(), 1):
        out.append(f"  {name}  {what}" if question == "level" else f"  {i:>2} {name:<16} {what}")
    return out


def menu_lines(menu):
    return [line for question in QUESTIONS for line in ["", *choice_lines(menu, question)]]


def how_lines(ticket):
    """For who reads it where nobody asks: not at a terminal."""
    return ["", "Answer with one of each, by its name or its number, in this order:",
            f'  make triage LEVEL={ticket.level} TICKET={ticket.number} ANSWER="{" ".join(QUESTIONS).upper()}"']


def n_right(ticket, answer):
    return sum(answer.to(question) in ticket.key.right[question] for question in QUESTIONS)


def answer_lines(ticket, answer, question, colour):
    """One of the three: right, or why not and what comes first."""
    given, right = answer.to(question), ticket.key.right[question]
    head = f"  {question:<12} {given:<16} "
    if given in right:
        return [head + paint("right", "done", colour)]
    out = [head + paint("no", "wrong", colour) + f": {right[0]}"]
    return out if question == "level" else [*out, indented(ticket.key.why_not[question][given], 15)]


def cost_lines(ticket, answer):
    """Of the level that was named; of the dearest one, if that was right."""
    level = int(answer.level)
    is_right = level == ticket.key.level
    if is_right:
        level = next(iter(ticket.key.costs))
    cost = ticket.key.costs[level]
    name = f"level {level}" if level else "doing nothing"
    out = ["", f"What {name} would {'have ' if is_right else ''}cost{'' if is_right else ' here'}", indented(cost.says)]
    return out + [line for run in cost.run for line in run_lines(run)]


def verdict_lines(ticket, answer, colour=False):
    out = [f"ticket {ticket.number}: {n_right(ticket, answer)} of {N_ASKED} right"]
    for question in QUESTIONS:
        out += answer_lines(ticket, answer, question, colour)
    out += ["", "What the evidence shows", indented(ticket.key.shows), *cost_lines(ticket, answer)]
    out += ["", "Measure it yourself (make all builds the programs)"]
    out += [line for run in ticket.key.measure for line in run_lines(run)]
    if ticket.key.made:
        out += ["", "How the evidence was made", *(f"  $ {made.line}" for made in ticket.key.made)]
    return out


def sum_line(level, tickets, points):
    """points: right answers by ticket name, of tickets that were answered."""
    n_solved = sum(points.get(ticket.name) == N_ASKED for ticket in tickets)
    total = sum(points.get(ticket.name, 0) for ticket in tickets)
    return (f"level {level}: {n_solved} of {plural(len(tickets), 'ticket')} solved, "
            f"{total} of {N_ASKED * len(tickets)} answers right")


def list_lines(level, tickets, points):
    out = []
    for ticket in tickets:
        known = points.get(ticket.name)
        state = "not tried" if known is None else "solved" if known == N_ASKED else f"{known} of {N_ASKED}"
        out.append(f"  {ticket.number}  {state:<10} {ticket.title}")
    return [f"The tickets of level {level}", *out, "", sum_line(level, tickets, points)]
