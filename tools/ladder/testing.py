"""make test: one exercise, or the engine's tests and all exercises."""
import difflib
import os

import run_tests

from ladder import board, build, engine, judge, mutants, results, words
from ladder.catalog import ROOT, Misused, Refused
from ladder.workplace import DEFAULT_SEED, Course, show, show_board


def test_one(course, args):
    ex = course.find(args.name, "test")
    seed = args.seed or os.environ.get("COURSE_SEED") or DEFAULT_SEED
    if not seed.isdecimal():
        raise Misused(f"SEED='{seed}': a seed is a whole number")
    verdict = course.judge([ex], seed, args.only or None)[0]
    if args.only and not verdict.tests and verdict.state in ("done", "crash"):
        raise Misused(no_such_test(ex, args.only))
    whole = not args.only and seed == DEFAULT_SEED
    first = []
    if whole:
        records, first = course.keep([verdict])
        record = records[ex.id]
    else:
        record = results.record_of(verdict)
        if args.only:
            record["n_tests"] = len(verdict.tests)
    show_warnings(verdict)
    if verdict.state in judge.FAILED_STATES:
        show(board.expanded(ex, record, mutants.claim(ex, verdict.tests, seed), course.colour)[1:])
    else:
        print(board.paint(f"{ex.id}: {verdict.state}", verdict.state, course.colour) + state_words(course, ex, verdict))
    if ex.id in first:
        show(words.payoff_lines(ex, course.colour) + words.level_lines(course.catalog, course.records(), ex))
    waiting = board.next_exercise(course.catalog, course.records(), course.progress.level())
    if verdict.state == "done" and whole:
        print(f"\nnext: make next ({waiting.id})" if waiting else "\nEvery exercise is yours.")
    print(board.closing_line(verdict.n_passed, verdict.n_failed))
    return 1 if verdict.n_failed else 0


def no_such_test(ex, only):
    """With the nearest names that the last whole run has left."""
    names = [test["id"] for test in results.by_id().get(ex.id, {"tests": []})["tests"]]
    near = difflib.get_close_matches(only, names, n=3, cutoff=0.4)
    guess = f"; near: {', '.join(near)}" if near else f"; make test EX={ex.id} names the first that fails"
    return f"{ex.id} has no test '{only}'{guess}"


def state_words(course, ex, verdict):
    if verdict.state == "not started":
        return f"\n  write    {judge.first_gap(ex)}\n  read     {ex.doc}, {ex.header}"
    if verdict.state == "started":
        waiting = verdict.count("not started")
        parts = "".join(f"\n{line}" for line in board.part_lines(results.parts_of(verdict)))
        return f", {waiting} of {len(verdict.tests)} tests wait for more{parts}\n  write    {judge.first_gap(ex)}"
    if verdict.state in ("skipped", "blocked"):
        return f": {verdict.message}"
    return f", {board.plural(verdict.n_passed, 'test')}"


def show_warnings(verdict):
    """What the compiler says about a learner's file helps, and costs nothing."""
    lines, most = verdict.warnings.splitlines(), 16
    if lines:
        show(lines[:most] + ([f"... {board.plural(len(lines) - most, 'line')} more"] if len(lines) > most else []))


def test_engine(course, args):
    """The engine's own tests: all of them before any level was chosen, then those up to the level."""
    level = None if args.all else course.progress.level()
    note = ""
    if level is None:
        jobs = run_tests.jobs_of(args.suites, args.checks, ["--model", args.model, "--bin", f"{build.build_dir()}/bin"])
        tally = run_tests.run_jobs(jobs)
    else:
        names = engine.suites_of(ROOT, range(1, level + 1))
        programs = [f"{build.build_dir()}/test/suites/{name}" for name in names]
        tiny = f"{build.build_dir()}/test/tiny.gguf"
        if not build.make_aloud([tiny, *programs]):
            raise Refused("the engine's own tests do not build; make doctor says what is missing")
        os.environ["TINY_MODEL"] = tiny
        tally, n_fresh = engine.run_incremental(programs, [tiny])
        kept = f"{len(programs) - n_fresh} of {len(programs)} suites unchanged since they passed"
        note = f"  level {level} and below, {kept};\n  everything: make test ALL=1\n"
    failed = f", {tally.failed} failed" if tally.failed else ""
    print(f"\nengine with reference modules: {tally.passed} passed{failed}\n{note}", end="")
    return tally


def test_integration(course, verdicts):
    """One suite a level on all of the learner's passed modules together."""
    mine = {v.exercise.id for v in verdicts if v.state == "done"}
    passed = failed = 0
    for level in course.catalog.levels:
        own = [ex.id for ex in course.catalog.of_level(level.level) if ex.id in mine]
        if not own or not level.integration:
            continue
        programs = [f"{build.build_dir()}/test/integration/{name}" for name in level.integration]
        with build.lock(build.build_dir()):
            status, out = build.make([f"{build.build_dir()}/test/tiny.gguf", *programs])
        if status:
            raise Refused(f"level {level.level}: your modules together do not build\n{engine.build_trouble(out)}")
        tally = run_tests.run_jobs(run_tests.jobs_of(programs, [], []), quiet=True)
        print(f"your modules together, level {level.level} ({', '.join(own)}): "
              + board.closing_line(tally.passed, tally.failed))
        passed, failed = passed + tally.passed, failed + tally.failed
    return passed, failed


def test_all(course, args):
    tally = test_engine(course, args)
    verdicts = course.judge(course.exercises)
    _, first = course.keep(verdicts, {"passed": tally.passed, "failed": tally.failed, "skipped": tally.skipped})
    together_passed, together_failed = test_integration(course, verdicts)
    show_board(course)
    failing = next((v for v in verdicts if v.state in judge.FAILED_STATES), None)
    if failing:
        show(board.expanded(failing.exercise, results.record_of(failing),
                            mutants.claim(failing.exercise, failing.tests, DEFAULT_SEED), course.colour))
    for ex in course.exercises:
        if ex.id in first:
            show(words.payoff_lines(ex, course.colour))
    print()
    n_waiting = sum(v.exercise.tests if v.state == "not started" else v.count("not started") for v in verdicts)
    if n_waiting:
        print(f"not started: {n_waiting} tests (they change no exit code)")
    passed = tally.passed + together_passed + sum(v.n_passed for v in verdicts)
    failed = tally.failed + together_failed + sum(v.n_failed for v in verdicts)
    print(board.closing_line(passed, failed))
    return 1 if failed else 0


def command_test(args):
    course = Course()
    if args.only and not args.name:
        raise Misused("ONLY= needs EX=, as in make test EX=rope ONLY='worked_example[0]'")
    return test_one(course, args) if args.name else test_all(course, args)
