"""One function per command of tools/course.py. Each takes the arguments and returns an exit status."""
import difflib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import run_tests

from ladder import board, build, catalog, cut, engine, judge, mutants, progress as memory, proof, words
from ladder import sources as source_graph
from ladder.catalog import ROOT, Misused, Refused

DEFAULT_SEED = "1"


class Course:
    """What nearly every command needs."""

    def __init__(self):
        self.catalog = catalog.load()
        self.exercises = self.catalog.exercises
        self.graph = source_graph.Sources(ROOT, {ex.file for ex in self.exercises})
        self.progress = memory.Progress()
        self.colour = board.has_colour()

    def find(self, name, command):
        if not name:
            raise Misused(f"{command}: which one? As in make {command} EX={self.exercises[0].id}. "
                          f"There are: {', '.join(ex.id for ex in self.exercises)}")
        return self.catalog.find(name)

    def lines_of(self, ex):
        text = (ROOT / ex.solution).read_text()
        return cut.lines_to_write(text, cut.regions_of(text, ex.solution, ex.id))

    def records(self):
        """What is known of each exercise as its file stands now: {id: record}."""
        known = {record["id"]: record for record in memory.load_results().get("exercises", [])}
        out = {}
        for ex in self.exercises:
            record = known.get(ex.id)
            if not (ROOT / ex.file).is_file() or judge.is_untouched(ex):
                continue
            if record and record["fingerprint"] == source_graph.fingerprint(self.graph, ex):
                out[ex.id] = record
            else:
                out[ex.id] = {"state": "changed", "tests": [], "n_passed": 0, "n_failed": 0,
                              "message": "not judged yet: make test"}
        return out

    def write_make_files(self, mine=None):
        """suites.mk and modules.mk; the learner's modules that programs are linked with."""
        folder = Path(build.build_dir())
        if mine is None:
            mine = memory.choose_mine(self.catalog, self.graph, self.progress, source_graph.fingerprint)
        build.write_if_changed(folder / "suites.mk", build.suites_mk(self.catalog, self.graph))
        build.write_if_changed(folder / "modules.mk", build.modules_mk(self.catalog, mine))
        return mine

    def judge(self, exercises, seed=DEFAULT_SEED, only=None):
        self.write_make_files()
        return judge.judge(exercises, self.graph, seed, only)

    def keep(self, verdicts, engine_tally=None):
        """Writes results and passes down; says which exercises passed for the first time."""
        document = memory.save_results(verdicts, self.catalog, engine_tally)
        first = self.progress.remember(verdicts)
        self.write_make_files()
        return {record["id"]: record for record in document["exercises"]}, first


def show(lines):
    print("\n".join(lines))


# ---- test ---------------------------------------------------------------------------------------


def test_one(course, args):
    ex = course.find(args.name, "test")
    seed = args.seed or os.environ.get("COURSE_SEED") or DEFAULT_SEED
    if not seed.isdigit():
        raise Misused(f"SEED='{seed}': a seed is a whole number")
    verdict = course.judge([ex], seed, args.only or None)[0]
    if args.only and not verdict.tests and verdict.state in ("done", "crash"):
        raise Misused(f"{ex.id} has no test '{args.only}'; make test EX={ex.id} lists what fails")
    whole = not args.only and seed == DEFAULT_SEED
    first = []
    if whole:
        records, first = course.keep([verdict])
        record = records[ex.id]
    else:
        record = memory.exercise_record(verdict)
    show_warnings(verdict)
    if verdict.state in judge.FAILED_STATES:
        show(board.expanded(ex, record, mutants.match(ex, verdict.tests, seed), course.colour)[1:])
    else:
        print(board.paint(f"{ex.id}: {verdict.state}", verdict.state, course.colour) + state_words(course, ex, verdict))
    if ex.id in first:
        show(words.payoff_lines(ex, course.colour))
    waiting = board.next_exercise(course.catalog, course.records())
    if verdict.state == "done" and whole:
        print(f"\nnext: make next ({waiting.id})" if waiting else "\nEvery exercise is yours.")
    print(board.closing_line(verdict.n_passed, verdict.n_failed))
    return 1 if verdict.n_failed else 0


def state_words(course, ex, verdict):
    if verdict.state == "not started":
        return f"\n  write    {judge.first_gap(ex)}\n  read     {ex.doc}, {ex.header}"
    if verdict.state == "started":
        waiting = verdict.count("not started")
        return f", {waiting} of {len(verdict.tests)} tests wait for more\n  write    {judge.first_gap(ex)}"
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
    level = course.progress.level()
    if level is None:
        jobs = run_tests.jobs_of(args.suites, args.checks, ["--model", args.model, "--bin", f"{build.build_dir()}/bin"])
        tally = run_tests.run_jobs(jobs)
        note = ""
    else:
        names = engine.suites_of(ROOT, range(1, level + 1))
        programs = [f"{build.build_dir()}/test/suites/{name}" for name in names]
        tiny = f"{build.build_dir()}/test/tiny.gguf"
        with build.lock(build.build_dir()):
            status, out = build.make([tiny, *programs], keep_going=False)
        if status:
            raise Refused("the engine's own tests do not build; make doctor says what is missing\n"
                          + engine.build_trouble(out))
        os.environ["TINY_MODEL"] = tiny
        tally, n_fresh = engine.run_incremental(programs, [tiny])
        note = f" ({len(programs) - n_fresh} of {len(programs)} suites unchanged since they passed)" if n_fresh < len(programs) else ""
    print(f"\nengine with reference modules: {tally.passed} passed" + (f", {tally.failed} failed" if tally.failed else "") + note)
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
        print(f"your modules together, level {level.level} ({', '.join(own)}): {tally.passed} passed, {tally.failed} failed")
        passed, failed = passed + tally.passed, failed + tally.failed
    return passed, failed


def test_all(course, args):
    tally = test_engine(course, args)
    level = course.progress.level()
    exercises = [ex for ex in course.exercises if level is None or ex.level <= level]
    verdicts = course.judge(exercises)
    _, first = course.keep(verdicts, {"passed": tally.passed, "failed": tally.failed, "skipped": tally.skipped})
    together_passed, together_failed = test_integration(course, verdicts)
    show_board(course)
    failing = next((v for v in verdicts if v.state in judge.FAILED_STATES), None)
    if failing:
        show(board.expanded(failing.exercise, memory.exercise_record(failing),
                            mutants.match(failing.exercise, failing.tests, DEFAULT_SEED), course.colour))
    for ex in course.exercises:
        if ex.id in first:
            show(words.payoff_lines(ex, course.colour))
    print()
    for verdict in verdicts:
        if verdict.state in ("skipped", "blocked"):
            print(f"{verdict.exercise.id}: {verdict.state}: {verdict.message}")
    n_waiting = sum(v.exercise.tests - len(v.tests) if v.state == "not started" else v.count("not started") for v in verdicts)
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


# ---- looking ------------------------------------------------------------------------------------


def show_board(course):
    records = course.records()
    print(board.tally_line(course.catalog, records))
    show(board.board(course.catalog, records, course.lines_of, course.progress.level(), course.colour))


def command_status(_args):
    course = Course()
    show_board(course)
    records = course.records()
    failing = next((ex for ex in course.exercises if records.get(ex.id, {}).get("state") in judge.FAILED_STATES), None)
    if failing:
        show(board.expanded(failing, records[failing.id], colour=course.colour))
    print("\nnext: make next")
    return 0


def command_next(args):
    course = Course()
    if args.route not in ("", "core"):
        raise Misused(f"ROUTE='{args.route}': there is one route, core; without ROUTE= all exercises are taken in order")
    records = course.records()
    ex = course.catalog.find(args.name) if args.name else board.next_exercise(course.catalog, records, args.route == "core")
    if ex is None:
        print("Every exercise is yours. The engine, its tests and its documents: docs/README.md")
        return 0
    solution = (ROOT / ex.solution).read_text()
    regions = cut.regions_of(solution, ex.solution, ex.id)
    protos = words.prototypes((ROOT / ex.header).read_text(), words.exercise_functions(solution, regions))
    show(words.next_lines(ex, judge.first_gap(ex), course.lines_of(ex), protos))
    return 0


def command_level(args):
    course = Course()
    if args.name not in {str(level.level) for level in course.catalog.levels}:
        raise Misused(f"no level '{args.name}'; there are {', '.join(f'make level{level.level}' for level in course.catalog.levels)}")
    level = course.catalog.level(int(args.name))
    course.progress.set_level(level.level)
    print(f"\nlevel {level.level}, {level.name}: {level.question}\n")
    records, exercises = course.records(), course.catalog.of_level(level.level)
    if not exercises:
        print("  Its exercises are not there yet.")
    waiting = next((ex for ex in exercises if board.state_of(records.get(ex.id)) != "done"), None)
    for ex in exercises:
        line = board.exercise_line(ex, records.get(ex.id), ex is waiting, course.lines_of(ex), course.colour)
        print(f"{line}" if ex is waiting else f"{line:<34}".rstrip())
        print(f"        {ex.title}{'' if ex.core else ' (not on the core path)'}")
    page = f"docs/level{level.level}/README.md"
    print(f"\nread: {page}\nnext: make next" if (ROOT / page).exists() else "\nnext: make next")
    return 0


def command_hint(args):
    course = Course()
    ex = course.find(args.name, "hint")
    records = {record["id"]: record for record in memory.load_results().get("exercises", [])}
    n_read = min(course.progress.hints_read(ex.id) + 1, len(ex.hints))
    record = records.get(ex.id)
    if record and record["fingerprint"] == source_graph.fingerprint(course.graph, ex):
        misconception = mutants.match(ex, [record_test(test) for test in record["tests"]], DEFAULT_SEED)
        if misconception:
            print(board.indented(f"Your failures look like this: {misconception}"))
    for i, hint in enumerate(ex.hints[:n_read], 1):
        print(board.indented(f"{i} of {len(ex.hints)}. {hint}"))
    course.progress.set_hints_read(ex.id, n_read)
    print(f"  one more: make hint EX={ex.id}" if n_read < len(ex.hints) else f"  That was the last one. {ex.doc} has the picture.")
    return 0


def record_test(record):
    """A test of results.json in the form in which it was judged."""
    from ladder.suite import Test
    differs = {"index": record["index"], "got": record["got"]} if record["called"] is not None else {}
    return Test(record["id"], record["case"], record["cause"], differs=differs)


# ---- working ------------------------------------------------------------------------------------


def command_reset(args):
    course = Course()
    ex = course.find(args.name, "reset")
    path, starter = ROOT / ex.file, judge.starter_text(ex)
    if path.is_file() and path.read_text(errors="replace") == starter:
        print(f"{ex.file} is the starter already")
        return 0
    kept = ""
    try:
        if path.is_file():
            kept = save_copy(path, ex)
        path.write_text(starter)
    except OSError as error:
        raise Refused(f"{ex.file}: {error.strerror}; nothing was changed") from error
    print(f"{ex.file} is the starter again" + (f"; yours is {kept}" if kept else ""))
    return 0


def save_copy(path, ex):
    """Copies the learner's file under .course/saved, under a name that is free."""
    folder = ROOT / ".course" / "saved"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{ex.id}-{time.strftime('%Y%m%d-%H%M%S')}"
    copy, n = folder / f"{stem}.c", 1
    while copy.exists():
        n += 1
        copy = folder / f"{stem}-{n}.c"
    shutil.copy2(path, copy)
    return copy.relative_to(ROOT)


def command_compare(args):
    course = Course()
    ex = course.find(args.name, "compare")
    if course.progress.passed().get(ex.id) != source_graph.fingerprint(course.graph, ex):
        raise Refused(f"{ex.id} has not passed as it stands: make test EX={ex.id} first, make hint EX={ex.id} helps")
    mine, theirs = (ROOT / ex.file).read_text().splitlines(), (ROOT / ex.solution).read_text().splitlines()
    theirs = [line for line in theirs if not (cut.MARKER.match(line) or cut.END.match(line))]
    print(f"{ex.file}: {len(mine)} lines, {ex.solution}: {len(theirs)} lines; - yours, + the reference")
    for line in difflib.unified_diff(mine, theirs, ex.file, ex.solution, lineterm=""):
        state = {"-": "wrong", "+": "done", "@": "started"}.get(line[:1], "")
        print(board.paint(line, state, course.colour))
    return 0


def command_watch(args):
    course = Course()
    ex = course.find(args.name, "watch")
    watched = [ROOT / ex.file, ROOT / ex.header, ROOT / ex.suite]
    before = None
    print(f"watching {ex.file}; Ctrl-C ends", flush=True)
    while True:
        now = [path.stat().st_mtime_ns if path.exists() else 0 for path in watched]
        if now != before:
            before = now
            print(f"\n{time.strftime('%H:%M:%S')}  make test EX={ex.id}", flush=True)
            try:
                test_one(Course(), args)
            except Refused as refused:
                print(refused)
            sys.stdout.flush()
        time.sleep(0.2)


def command_debug(args):
    course = Course()
    ex = course.find(args.name, "debug")
    if shutil.which("gdb") is None:
        raise Refused("debug: gdb is not here; install it (apt-get install gdb), then the same command again")
    verdict = course.judge([ex])[0]
    if verdict.state in ("compile", "skipped", "blocked"):
        raise Refused(f"{ex.id}: {verdict.message}")
    test = verdict.first_failure or next((t for t in verdict.tests if t.cause == "not started"), None)
    if test is None:
        raise Refused(f"{ex.id}: {verdict.state}; there is no failing test to stop in"
                      + (f", start with {judge.first_gap(ex)}" if verdict.state == "not started" else ""))
    solution = (ROOT / ex.solution).read_text()
    functions = words.exercise_functions(solution, cut.regions_of(solution, ex.solution, ex.id))
    binary = build.suite_binary(ex, build.build_dir())
    print(f"{test.name} in gdb: stops where your code begins; n steps, p x prints, c goes on, q leaves", flush=True)
    command = ["gdb", "-q", *[word for name in functions for word in ("-ex", f"break {name}")], "-ex", "run",
               "--args", binary, "--only", test.name]
    env = dict(os.environ, CK_FORK="no", ASAN_OPTIONS="detect_leaks=0:abort_on_error=1",
               TINY_MODEL=f"{build.build_dir()}/test/tiny.gguf")
    return subprocess.call(command, env=env)


def command_editor(_args):
    """compile_commands.json for the learner's files, so that an editor knows their flags."""
    course = Course()
    flags = proof.make_commands()["compile"]
    entries = [{"directory": str(ROOT), "file": ex.file, "arguments": [*flags, "-c", ex.file]} for ex in course.exercises]
    build.write_if_changed(ROOT / "compile_commands.json", json.dumps(entries, indent=1) + "\n")
    print(f"compile_commands.json: {len(entries)} files; .clangd and .ignore keep the solutions out of sight")
    return 0


# ---- linking ------------------------------------------------------------------------------------


def command_link(_args):
    """Before programs are built: judges what has changed since it was last judged, then lists what is
    linked. Says nothing when nobody has begun."""
    course = Course()
    known = {record["id"]: record for record in memory.load_results().get("exercises", [])}
    passed = course.progress.passed()
    touched = [ex for ex in course.exercises if not (ROOT / ex.file).is_file() or not judge.is_untouched(ex)]
    stale = []
    for ex in touched:
        now = source_graph.fingerprint(course.graph, ex)
        if passed.get(ex.id) != now and (ex.id not in known or known[ex.id]["fingerprint"] != now):
            stale.append(ex)
    if stale:
        course.keep(course.judge(stale))
    mine = course.write_make_files()
    for ex in touched:
        if ex.id not in mine:
            print(f"{ex.id}: yours has not passed as it stands; the reference is linked; make test EX={ex.id}", file=sys.stderr)
    return 0


# ---- grading and upstream -----------------------------------------------------------------------


def command_grade(args):
    """Points for exercises that pass on the default seed and on fresh ones: a table of typed-in answers
    does not."""
    course = Course()
    seeds = [DEFAULT_SEED] + [str(int.from_bytes(os.urandom(4), "big")) for _ in range(args.seeds or 3)]
    runs = {seed: course.judge(course.exercises, seed) for seed in seeds}
    total = 0
    for i, ex in enumerate(course.exercises):
        states = [runs[seed][i].state for seed in seeds]
        worst = next((state for state in states if state != "done"), "done")
        points = ex.points if worst == "done" else 0
        total += points
        at = f", seed {seeds[states.index(worst)]}" if worst in judge.FAILED_STATES else ""
        print(f"  {ex.number:<5} {ex.id:<12} {board.paint(f'{worst:<12}', worst, course.colour)} {points:3} of {ex.points:3}{at}")
    course.keep(runs[DEFAULT_SEED])
    print(f"{total} of {sum(ex.points for ex in course.exercises)} points; seeds {', '.join(seeds)}; {memory.results_path()}")
    return 0


def command_prove(args, kinds=("starter", "stubs", "solution", "mutants")):
    course = Course()
    exercises = [course.catalog.find(args.name)] if args.name else course.exercises
    course.write_make_files()
    n_faults = 0
    for ex, faults in proof.prove_all(exercises, course.graph, ROOT, kinds, args.seeds or proof.SEEDS, args.record):
        print(f"{'FAILED' if faults else 'ok    '}  {ex.id}", flush=True)
        show([f"    {fault}" for fault in faults]) if faults else None
        n_faults += len(faults)
    return 1 if n_faults else 0


def command_mutants(args):
    return command_prove(args, ("mutants",))


def command_starters(args):
    return command_prove(args, ("starter", "stubs", "solution"))


TABLE = {"test": command_test, "status": command_status, "next": command_next, "level": command_level,
         "hint": command_hint, "reset": command_reset, "compare": command_compare, "watch": command_watch,
         "debug": command_debug, "editor": command_editor, "link": command_link, "grade": command_grade,
         "mutants": command_mutants, "starters": command_starters, "prove": command_prove}
