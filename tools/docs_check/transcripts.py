"""Transcripts in pages: a block of commands and what they print, in a state of the learner's files.

    <!-- transcript: starter -->            the exercise of this page is not started
    <!-- transcript: solution -->           its solution stands in the learner's file
    <!-- transcript: solution rope rows --> on any page: these are solved
    ```text
    $ make test EX=rope
    not started  ...                        "..." inside a line stands for any text,
    ...                                     alone on a line for any number of lines
    ```
"""
import re
from dataclasses import dataclass

STATES = ["starter", "solution"]
PROMPT = "$ "
ANY = "..."


@dataclass(frozen=True)
class Step:
    command: str
    output: tuple  # lines

    @property
    def lines(self):
        return [PROMPT + self.command, *self.output]


def steps_of(lines):
    """The commands of a block, each with its output. Blank lines at the end of an output are layout."""
    steps = []
    for line in lines:
        if line.startswith(PROMPT):
            steps.append((line[len(PROMPT):], []))
        elif steps:
            steps[-1][1].append(line.rstrip())
    return [Step(command, tuple(without_blank_end(output))) for command, output in steps]


def without_blank_end(lines):
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end])


def faults_of(page):
    behind = {block.first - 2: block for block in page.blocks if block.kind == "transcript"}
    for comment in page.comments:
        if comment.kind != "transcript":
            continue
        state, block = comment.value.split(" ")[0], behind.get(comment.line)
        if state not in STATES:
            yield page.fault(comment.line, f"transcript of '{state}', must be {' or '.join(STATES)}")
        elif block is None or block.language != "text":
            yield page.fault(comment.line, "no ```text block behind the transcript")
        elif not block.lines or not block.lines[0].startswith(PROMPT):
            yield page.fault(block.first, "a transcript begins with a command: $ make ...")


def line_fits(want, got):
    pattern = ".*".join(re.escape(piece) for piece in want.rstrip().split(ANY))
    return re.fullmatch(pattern, got.rstrip()) is not None


def first_difference(want, got):
    """None, or the line that was wanted and the one that came; None in it stands for no more lines."""
    reached = {0}  # how many lines of got the lines of want so far may have taken
    for line in want:
        if line.strip() == ANY:
            reached = set(range(min(reached), len(got) + 1))
            continue
        taken = {g + 1 for g in reached if g < len(got) and line_fits(line, got[g])}
        if not taken:
            return line, (got[min(reached)] if min(reached) < len(got) else None)
        reached = taken
    return None if len(got) in reached else (None, got[max(reached)])


GONE, NEW, CHANGED = 1.2, 1, 1  # what an edit of one line costs


def refilled(want, got):
    """The output as it is now, with the lines of want that still fit as they were written: the
    cheapest way of edits from one to the other, in which "..." takes lines for nothing."""
    row = [(g * NEW, got[:g]) for g in range(len(got) + 1)]  # (cost, lines) of the ways to got[:g]
    for line in want:
        above, row = row, []
        for g, (cost, lines) in enumerate(above):
            ways = []
            if line.strip() == ANY:
                ways.append((cost, lines + [line]))
                if g > 0 and row[g - 1][1][-1] == line:
                    ways.append(row[g - 1])  # one more line for the same "..."
            else:
                ways.append((cost + GONE, lines))
                if g > 0:
                    cost, lines = above[g - 1]
                    fits = line_fits(line, got[g - 1])
                    ways.append((cost, lines + [line]) if fits else (cost + CHANGED, lines + [got[g - 1]]))
            if g > 0:
                ways.append((row[g - 1][0] + NEW, row[g - 1][1] + [got[g - 1]]))
            row.append(min(ways, key=lambda way: way[0]))
    return row[-1][1]
