"""What a learner reads without running anything: status, next, level, hint."""
from ladder import board, judge, mutants, results, sources as source_graph, words
from ladder.catalog import ROOT, Misused
from ladder.suite import Test
from ladder.workplace import DEFAULT_SEED, Course, show, show_board
from triage import score


def command_status(_args):
    course = Course()
    show_board(course)
    records = course.records()
    failing = next((ex for ex in course.exercises if records.get(ex.id, {}).get("state") in judge.FAILED_STATES), None)
    if failing:
        record = records[failing.id]
        claim = mutants.claim(failing, [test_of(test) for test in record["tests"]], DEFAULT_SEED)
        show(board.expanded(failing, record, claim, course.colour))
    for line in score.status_lines():
        print(line)
    waiting = board.next_exercise(course.catalog, records, course.progress.level())
    print("\nnext: make next" if waiting else "\nEvery exercise is yours.")
    return 0


def command_next(args):
    course = Course()
    if args.route not in ("", "core"):
        raise Misused(f"ROUTE='{args.route}': there is one route, core; without it all exercises are taken in order")
    if args.name:
        ex = course.catalog.find(args.name)
    else:
        ex = board.next_exercise(course.catalog, course.records(), course.progress.level(), args.route == "core")
    if ex is None:
        print("Every exercise is yours. The engine, its tests and its documents: docs/README.md")
        return 0
    protos = words.prototypes((ROOT / ex.header).read_text(), course.functions_of(ex))
    lines = words.next_lines(ex, judge.first_gap(ex), course.lines_of(ex), protos)
    if board.state_of(course.records().get(ex.id)) == "done":
        lines.append(f"  done     it has passed; beside the reference: make compare EX={ex.id}")
    show(lines)
    return 0


def command_level(args):
    course = Course()
    numbers = [str(level.level) for level in course.catalog.levels]
    if args.name not in numbers:
        raise Misused(f"no level '{args.name}'; there are make level{', make level'.join(numbers)}")
    level = course.catalog.level(int(args.name))
    course.progress.set_level(level.level)
    print(f"\nlevel {level.level}, {level.name}: {level.question}\n")
    records, exercises = course.records(), course.catalog.of_level(level.level)
    if not exercises:
        print("  Its exercises are not there yet.")
    waiting = next((ex for ex in exercises if board.state_of(records.get(ex.id)) != "done"), None)
    for ex in exercises:
        print(board.exercise_line(ex, records.get(ex.id), ex is waiting, course.lines_of(ex), course.colour))
        print(f"        {ex.title}{'' if ex.core else ' (not on the core path)'}")
    page = f"docs/level{level.level}/README.md"
    print(f"\nread: {page}\nnext: make next" if (ROOT / page).exists() else "\nnext: make next")
    return 0


def command_hint(args):
    course = Course()
    ex = course.find(args.name, "hint")
    n_read = min(course.progress.hints_read(ex.id) + 1, len(ex.hints))
    record = results.by_id().get(ex.id)
    if record and record["fingerprint"] == source_graph.fingerprint(course.graph, ex):
        claim = mutants.claim(ex, [test_of(test) for test in record["tests"]], DEFAULT_SEED)
        if claim:
            print(board.indented(claim))
    for i, hint in enumerate(ex.hints[:n_read], 1):
        print(board.indented(f"{i} of {len(ex.hints)}. {hint}"))
    course.progress.set_hints_read(ex.id, n_read)
    last = f"That was the last one. {ex.doc} has the picture."
    print(f"  one more: make hint EX={ex.id}" if n_read < len(ex.hints) else f"  {last}")
    return 0


def test_of(record):
    """A test of results.json in the form in which it was judged."""
    differs = {"index": record["index"], "got": record["got"]} if record["called"] is not None else {}
    return Test(record["id"], record["case"], record["cause"], differs=differs)
