#!/usr/bin/env python3
"""Writes anew all that is made from sources, each thing after those that it is made from, and says which files
have changed. Standard library only.

    make refresh

Starters, tests in course.json, records of mutants, tables and counts, transcripts, evidence of tickets. What takes
long is done only where a source has changed since it was last found right (build/refresh.json): the first run in
a clone looks at everything and takes minutes, a run with nothing to do seconds. Exit 1: something cannot be made
right by writing it anew, and is named.
"""
import hashlib
import json
import re
import signal
import sys
from pathlib import Path

import check_docs
import cut_exercises
import run_tests
import transcripts
import triage_evidence
from docs_check.page import Page
from ladder import build, catalog, guard, mutants, proof, sources as source_graph
from ladder.catalog import ROOT, Refused
from ladder.scratch import files_of
from ladder.workplace import Course
from triage import evidence

STAMPS = "refresh.json"  # below the build folder
MODEL = "models/SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT = re.compile(r"^(docs/|\.ci/|[^/]*\.md$|tests/(?!mutants/|support/))")  # shows in what no program prints
SUITES_SAY = re.compile(r"^(\d+) passed, 0 failed$")
OF_EXERCISE = re.compile(r"make (test EX=\S+|next.*|status|hint.*)$")


class Stamps:
    """What was found right, as a digest of all that it depends on: {name: digest}."""

    def __init__(self, path):
        self.path = Path(path)
        try:
            self.known = json.loads(self.path.read_text())
        except (OSError, ValueError):
            self.known = {}

    def holds(self, name, digest):
        return self.known.get(name) == digest

    def put(self, name, digest):
        self.known[name] = digest
        build.write_if_changed(self.path, json.dumps(self.known, indent=1, sort_keys=True) + "\n")


def digest_of(names, *more):
    """One number for the contents of files, those that are not there included, and for more words."""
    digest = hashlib.sha256(repr(more).encode())
    for name in sorted(set(names)):
        path = ROOT / name
        digest.update(name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
    return digest.hexdigest()


def files_of_exercise(graph, ex):
    """What its count, its record and a transcript of its suite depend on."""
    code = [ex.file, ex.solution, ex.suite, *source_graph.suite_sources(graph, ex)]
    lists = [path(ex).relative_to(ROOT).as_posix() for path in (mutants.path_of, mutants.record_path)]
    return [*code, *graph.headers_of(code), *lists, *judges()]


def judges():
    """The tools that say how a test ended."""
    return [f"tools/ladder/{name}.py" for name in ("mutants", "proof", "sanitizer", "suite")]


def sources_of_programs():
    return [name for name in files_of(ROOT) if not TEXT.match(name)]


# ---- the steps ----

def count_of(suite):
    """How many tests a suite has, all of them passed on the reference."""
    name = Path(suite).stem[len("test_"):]
    status, output = run_tests.Programs().run([f"{build.build_dir()}/test/suites/{name}"], proof.PATIENCE * 60)
    said = SUITES_SAY.match((output.rstrip().splitlines() or [""])[-1])
    if status != 0 or not said:
        raise Refused(f"{suite} does not pass on the reference: make suite S={name}")
    return int(said.group(1))


def with_count(text, ex, n):
    """course.json with another number of tests for an exercise."""
    return re.sub(rf'("id": "{ex.id}",.*?"tests": )\d+', rf"\g<1>{n}", text, count=1, flags=re.S)


def refresh_counts(exercises):
    path = ROOT / "course.json"
    for ex in exercises:
        n = count_of(ex.suite)
        if n != ex.tests:
            path.write_text(with_count(path.read_text(), ex, n))


def refresh_exercises(stamps):
    """Number of tests, then the records of mutants; gives what cannot be made right."""
    course = Course()
    todo = [ex for ex in course.exercises
            if not stamps.holds(f"exercise {ex.id}", digest_of(files_of_exercise(course.graph, ex), ex.tests))]
    refresh_counts(todo)
    course = Course()
    course.write_make_files()
    todo = [course.catalog.find(ex.id) for ex in todo]
    kinds = ("solution", "mutants")
    for ex, faults in proof.prove_all(todo, course.graph, ROOT, kinds, seeds=1, record=True) if todo else ():
        if not faults:
            stamps.put(f"exercise {ex.id}", digest_of(files_of_exercise(course.graph, ex), ex.tests))
        yield from faults


def files_of_page(page, course):
    """What the transcripts of a page depend on, themselves included."""
    blocks = [block for block in page.blocks if block.kind == "transcript"]
    commands = [step.command for block in blocks for step in transcripts.steps_of_block(block)]
    if not all(OF_EXERCISE.match(command) for command in commands):
        return [page.name, *sources_of_programs()]
    ids = {name for block in blocks for name in transcripts.solved_in(block, page, course.catalog)}
    own = [name for ex in course.exercises if ex.id in ids for name in files_of_exercise(course.graph, ex)]
    tools = [name for name in files_of(ROOT) if name.startswith("tools/") or name in ("Makefile", "course.json")]
    return [page.name, *own, *tools, *(ex.file for ex in course.exercises)]


def refresh_transcripts(stamps):
    course = Course()
    stale = [page for page in transcripts.chosen([], ROOT)
             if not stamps.holds(f"page {page.name}", digest_of(files_of_page(page, course)))]
    if stale:
        transcripts.run(ROOT, [str(page.path) for page in stale], is_writing=True)
    for page in stale:
        again = Page(page.path, ROOT)
        stamps.put(f"page {page.name}", digest_of(files_of_page(again, course)))


def refresh_evidence(stamps):
    has_model = (ROOT / MODEL).exists()
    tickets = [name for name in files_of(ROOT) if name.startswith("data/triage/")]
    if not stamps.holds("evidence", digest_of([*tickets, *sources_of_programs()], has_model)):
        triage_evidence.write(evidence.Place(ROOT, f"{build.build_dir()}/bin", MODEL, has_model))
        stamps.put("evidence", digest_of([*tickets, *sources_of_programs()], has_model))


def refresh_docs():
    """Whether the pages hold what they promise; what they do not is printed."""
    return check_docs.run(ROOT, [], is_writing=True) == 0


def refresh(stamps):
    """Gives a line for all that cannot be made right by writing it anew."""
    cut_exercises.write(cut_exercises.starters(catalog.load()))
    if not build.make_aloud(["programs", "suites"]):
        raise Refused("refresh: programs and suites do not build")
    yield from refresh_exercises(stamps)
    if not refresh_docs():
        yield "pages do not hold what they promise (see above)"
    refresh_transcripts(stamps)
    refresh_evidence(stamps)


def contents():
    return {name: digest_of([name]) for name in files_of(ROOT)}


def main():
    before, faults = contents(), []
    try:
        faults += refresh(Stamps(Path(build.build_dir(), STAMPS)))
    except Refused as refused:
        faults.append(str(refused))
    after = contents()
    changed = sorted(name for name in after if after[name] != before.get(name))
    print("\n".join(f"FAILED   {fault}" for fault in faults) if faults else "refresh: all is as its sources are")
    print(f"refresh: {len(changed)} files have changed" + "".join(f"\n  {name}" for name in changed))
    return 1 if faults else 0


if __name__ == "__main__":
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, run_tests.end)
    guard.begin()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
