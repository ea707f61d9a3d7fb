"""The board: a line per exercise, and the first failing test in full. A view of build/results.json."""
import os
import sys
import textwrap

from ladder.judge import FAILED_STATES
from ladder.suite import NO_FAILURE

WIDTH = 80
COLOURS = {"done": "32", "next": "1;36", "started": "36", "wrong": "31", "compile": "31", "crash": "31", "memory": "31",
           "timeout": "31", "not started": "2", "skipped": "33", "blocked": "33", "changed": "33"}


def has_colour(stream=None):
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text, state, colour):
    return f"\033[{COLOURS[state]}m{text}\033[0m" if colour and state in COLOURS else text


def plural(n, word):
    return f"{n} {word}" + ("" if n == 1 else "s")


def indented(text, indent=2, most=None):
    """Wrapped, at most so many lines; a path is never broken."""
    return textwrap.fill(printable(text, keep="\n"), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent,
                         break_long_words=False, break_on_hyphens=False, max_lines=most, placeholder=" ...")


def printable(text, keep=""):
    """What a learner's code says may hold anything, also what would paint or clear the terminal."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in str(text))


def clip(text, width):
    return text if len(text) <= width else text[:width - 3] + "..."


def state_of(record):
    return record["state"] if record else "not started"


def next_exercise(course, records, level=None, core_only=False):
    """The first exercise that is not done: of the learner's level, then in the course's order."""
    own = [ex for ex in course.exercises if ex.level == level]
    for ex in [*own, *course.exercises]:
        if state_of(records.get(ex.id)) != "done" and (ex.core or not core_only):
            return ex
    return None


def tally_line(course, records, level=None):
    states = [state_of(records.get(ex.id)) for ex in course.exercises]
    n_done = states.count("done")
    words = [f"{n_done} done", f"{len(states) - n_done} to do"]
    n_failing = sum(state in FAILED_STATES for state in states)
    if n_failing:
        words.append(f"{n_failing} of them failing")
    waiting = next_exercise(course, records, level)
    words.append(f"next {waiting.id}" if waiting else "all yours")
    return "your exercises: " + ", ".join(words)


def remark(ex, record, shown, lines):
    """What stands behind the state."""
    if not record or record["state"] == "not started":
        return f"{plural(lines, 'line')}, about {ex.minutes} min" if shown == "next" else ""
    if record["state"] == "done":
        return plural(record["n_passed"], "test")
    if record["state"] == "started":
        return f"{record['n_passed']} of {plural(ex.tests, 'test')} {'passes' if record['n_passed'] == 1 else 'pass'}"
    if record["state"] in FAILED_STATES and record["tests"]:
        return failing_words(record)
    return clip(record["message"], WIDTH - 34)


def failing_words(record):
    return f"{record['n_failed']} of {plural(record['n_tests'], 'test')} {'fails' if record['n_failed'] == 1 else 'fail'}"


def exercise_line(ex, record, is_next, lines, colour):
    state = state_of(record)
    shown = "next" if is_next and state == "not started" else state
    text = f"  {ex.number:<5} {ex.id:<12} {paint(f'{shown:<12}', shown, colour)} {remark(ex, record, shown, lines)}"
    return text.rstrip()


def board(course, records, lines_of, current_level=None, colour=False):
    """All levels; a level where nothing is started takes one line, unless it is the current one or the
    next exercise stands in it."""
    out = []
    waiting = next_exercise(course, records, current_level)
    for level in course.levels:
        exercises = course.of_level(level.level)
        if not exercises:
            continue
        states = {state_of(records.get(ex.id)) for ex in exercises}
        is_open = states != {"not started"} or level.level in (current_level, waiting and waiting.level)
        head = f"level {level.level}  {level.name}"
        if states == {"done"}:
            out.append(paint(f"{head}: {plural(len(exercises), 'exercise')}, all done", "done", colour))
        elif not is_open:
            out.append(paint(f"{head}: {plural(len(exercises), 'exercise')}, none started", "not started", colour))
        else:
            out.append(head)
            out += [exercise_line(ex, records.get(ex.id), ex is waiting, lines_of(ex), colour) for ex in exercises]
    return out


def first_failing_test(record):
    return next((test for test in record["tests"] if test["cause"] not in NO_FAILURE), None)


def tolerance_words(used):
    if used is None:
        return ""
    return f", {used:.3g} times the tolerance" if used < 1e6 else ", far outside the tolerance"


def expanded(ex, record, claim=None, colour=False):
    """All that helps with the first thing that is wrong in an exercise. claim: what it looks like."""
    test = first_failing_test(record)
    out = [""]
    if test is None:
        out.append(paint(f"{ex.id}: {record['state']}", record["state"], colour))
        out.append(indented(record["message"]))
    else:
        head = f"{ex.id}: {record['state']}: {failing_words(record)}, the first is"
        out.append(paint(head, record["state"], colour))
        out += part_lines(record.get("parts"))
        out.append(f"  {test['id']}")
        out += failure_lines(test)
        if record["message"]:
            out.append(indented(record["message"]))
    if claim:
        out.append(indented(claim))
    if record.get("output"):
        out.append("  it printed")
        last = (printable(line.expandtabs()) for line in record["output"].splitlines()[-5:])
        out += [f"    {clip(line, WIDTH - 4)}".rstrip() for line in last]
    if test is not None:
        out += replay_lines(test)
        out.append(f"  debug    make debug EX={ex.id}")
    out.append(f"  read     {ex.doc}, {ex.header}")
    out.append(f"  hint     make hint EX={ex.id}")
    return out


def part_lines(parts):
    words = ", ".join(f"{name} {state}" for name, state in (parts or {}).items())
    return [indented(f"parts    {words}")] if words else []


def failure_lines(test):
    if test["called"] is None:
        words = test["message"]
        if test["cause"] in ("memory", "crash") and not words.startswith(("undefined", "leak")):
            words = f"{test['cause']}: {words}"
        out = [indented(words, 4)]
        if test["where"]:
            out.append(f"    asserted at {test['where']}")
        return out
    got, want = (clip(printable(test[key]), WIDTH - 13) for key in ("got", "want"))
    return [indented(f"called   {test['called']}", 4, most=3), f"    got      {got}", f"    want     {want}",
            f"    at       index {test['index']}{tolerance_words(test['tolerance_used'])}, seed {test['seed']}"]


def replay_lines(test):
    """In two lines where one would be too long; a shell takes both."""
    line = f"  again    {test['replay']}"
    if len(line) <= WIDTH:
        return [line]
    return [f"  again    make test EX={test['exercise']} SEED={test['seed']} \\", f"    ONLY='{test['id']}'"]


def closing_line(n_passed, n_failed):
    return f"{n_passed} passed, {n_failed} failed"
