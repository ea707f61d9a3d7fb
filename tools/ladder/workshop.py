"""Working on an exercise: reset, compare, watch, debug, editor."""
import difflib
import json
import os
import shutil
import subprocess
import sys
import time

from ladder import board, build, cut, judge, proof, sources as source_graph, testing
from ladder.catalog import ROOT, Refused
from ladder.workplace import Course


def command_reset(args):
    course = Course()
    ex = course.find(args.name, "reset")
    path, starter = ROOT / ex.file, judge.starter_text(ex)
    if path.is_file() and not path.is_symlink() and path.read_text(errors="replace") == starter:
        print(f"{ex.file} is the starter already")
        return 0
    kept = save_copy(path, ex) if path.exists() else ""
    build.write_if_changed(path, starter)
    print(f"{ex.file} is the starter again" + (f"; yours is {kept}" if kept else ""))
    return 0


def save_copy(path, ex):
    """Copies the learner's file under .course/saved, under a name that is free."""
    folder = ROOT / ".course" / "saved"
    stem = f"{ex.id}-{time.strftime('%Y%m%d-%H%M%S')}"
    copy, n = folder / f"{stem}.c", 1
    while copy.exists():
        n += 1
        copy = folder / f"{stem}-{n}.c"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.move(path, copy)
        else:
            shutil.copy2(path, copy)
    except OSError as error:
        if copy.is_file():
            copy.unlink()  # half of it: the disk is full
        raise build.not_writable(copy, error) from error
    return copy.relative_to(ROOT)


def command_compare(args):
    course = Course()
    ex = course.find(args.name, "compare")
    if course.progress.passed().get(ex.id) != source_graph.fingerprint(course.graph, ex):
        raise Refused(f"{ex.id} has not passed as it stands: make test EX={ex.id} first, make hint EX={ex.id} helps")
    mine = (ROOT / ex.file).read_text(errors="replace").splitlines()
    theirs = (ROOT / ex.solution).read_text().splitlines()
    theirs = [line for line in theirs if not (cut.MARKER.match(line) or cut.END.match(line))]
    print(f"{ex.file}: {len(mine)} lines, {ex.solution}: {len(theirs)} lines; - yours, + the reference")
    for line in difflib.unified_diff(mine, theirs, ex.file, ex.solution, lineterm=""):
        state = {"-": "wrong", "+": "done", "@": "started"}.get(line[:1], "")
        print(board.paint(line, state, course.colour))
    return 0


def date_of(path):
    """0: an editor is just replacing it."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def command_watch(args):
    course = Course()
    ex = course.find(args.name, "watch")
    watched = [ROOT / ex.file, ROOT / ex.header, ROOT / ex.suite]
    before = None
    print(f"watching {ex.file}; Ctrl-C ends", flush=True)
    while True:
        now = [date_of(path) for path in watched]
        if now != before:
            before = now
            print(f"\n{time.strftime('%H:%M:%S')}  make test EX={ex.id}", flush=True)
            try:
                testing.test_one(Course(), args)
            except (Refused, OSError) as error:
                print(error)
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
    binary = build.suite_binary(ex, build.build_dir())
    print(f"{test.name} in gdb: stops where your code begins; n steps, p x prints, c goes on, q leaves", flush=True)
    breaks = [word for name in course.functions_of(ex) for word in ("-ex", f"break {name}")]
    command = ["gdb", "-q", *breaks, "-ex", "run", "--args", binary, "--only", test.name]
    env = dict(os.environ, CK_FORK="no", ASAN_OPTIONS="detect_leaks=0:abort_on_error=1",
               TINY_MODEL=f"{build.build_dir()}/test/tiny.gguf")
    return subprocess.call(command, env=env)


def command_editor(_args):
    """compile_commands.json for the learner's files, so that an editor knows their flags."""
    course = Course()
    flags = proof.make_commands()["compile"]
    entries = [{"directory": str(ROOT), "file": ex.file, "arguments": [*flags, "-c", ex.file]}
               for ex in course.exercises]
    build.write_if_changed(ROOT / "compile_commands.json", json.dumps(entries, indent=1) + "\n")
    print(f"compile_commands.json: {len(entries)} files; .clangd and .ignore keep the solutions out of sight")
    return 0
