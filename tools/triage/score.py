"""How many of its three answers were right, for each ticket at best: .course/triage, lines "1.3 2"."""
from ladder.progress import Progress
from triage import paper, tickets

FILE = "triage"


def read(progress=None):
    """{ticket name: right answers}; lines that somebody damaged were never written."""
    lines = [line.split() for line in (progress or Progress()).read(FILE).splitlines()]
    return {words[0]: min(int(words[1]), paper.N_ASKED) for words in lines if len(words) == 2 and words[1].isdecimal()}


def keep(ticket, n_right, progress=None):
    """Takes a result over if it is the best so far; all points, as they are now."""
    progress = progress or Progress()
    points = read(progress)
    points[ticket.name] = max(n_right, points.get(ticket.name, 0))
    progress.write(FILE, "".join(f"{name} {points[name]}\n" for name in sorted(points)))
    return points


def status_lines():
    """For the board: a line for each level on which a ticket was tried."""
    points = read()
    tried = {name.split(".")[0] for name in points}
    return [f"triage   {paper.sum_line(level, tickets.read_tickets(level)[1], points)}"
            for level in tickets.levels() if str(level) in tried]
