#!/usr/bin/env python3
"""Runs the transcripts in the pages, and compares what they print with what stands there. Standard
library only. How a transcript is written: tools/docs_check/transcripts.py.

    tools/transcripts.py [PAGE...]      all pages, or these; exit 1 and the first difference of each
    tools/transcripts.py --write ...    fills in what was printed; lines with "..." that fit stay

Works in a copy of the tree, in which every exercise is a starter; the tree itself is not touched.
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

from docs_check import transcripts
from docs_check.page import pages_of
from ladder.catalog import ROOT, Refused
from ladder.scratch import Scratch

# Depends on what was built before, not on what the page is about.
NOISE = re.compile(r"^(building .*|setup: .*)$")
# What differs from run to run is written as "...".
VOLATILE = [(re.compile(r"\b\d+(?:\.\d+)? (s|ms)\b"), r"... \1"),
            (re.compile(r"\[Makefile:\d+:"), "[Makefile:...:")]


def printed(tree, command):
    """The lines that a command prints; paths of the copy are paths from the root."""
    lines = tree.run(command)[1].replace(f"{tree.root}/", "").split("\n")
    return transcripts.without_blank_end([line.rstrip() for line in lines if not NOISE.match(line)])


def steady(lines):
    """Lines that will fit the next run as well."""
    for pattern, text in VOLATILE:
        lines = [pattern.sub(text, line) for line in lines]
    return lines


def solved_in(block, page, course):
    """Ids of the exercises that a block wants solved."""
    state, *ids = block.value.split(" ")
    if state == "starter":
        return set()
    own = [ex.id for ex in course.exercises if ex.doc == page.name]
    if not ids and not own:
        raise Refused(page.fault(block.first - 2, "solved is what? Name the exercises: transcript: solution rope"))
    return {course.find(name).id for name in ids or own}


def show(page, block, step, difference):
    want, got = ("(nothing more)" if line is None else line for line in difference)
    print(page.fault(block.first - 1, f"{block.value}: $ {step.command}"))
    print(f"  the page: {want}\n  the run:  {got}")


def steps_of_block(block):
    return transcripts.steps_of(block.lines)


def play(page, block, tree):
    """(step, lines that came) of each command of a block."""
    tree.solve(solved_in(block, page, tree.course))
    for step in steps_of_block(block):
        yield step, printed(tree, step.command)


def check(page, tree):
    """How many blocks differ."""
    n_wrong = 0
    for block in page.blocks:
        if block.kind != "transcript":
            continue
        for step, got in play(page, block, tree):
            difference = transcripts.first_difference(step.output, got)
            if difference:
                show(page, block, step, difference)
                n_wrong += 1
                break
    return n_wrong


def write(page, tree):
    """Fills in the blocks of a page, from the last to the first, so that the line numbers hold."""
    for block in reversed(page.blocks):
        if block.kind != "transcript":
            continue
        lines = []
        for step, got in play(page, block, tree):
            if transcripts.first_difference(step.output, got):
                step = transcripts.Step(step.command, tuple(transcripts.refilled(step.output, steady(got))))
            lines += step.lines
        page.lines[block.first:block.first + len(block.lines)] = lines
    text = "\n".join(page.lines)
    if text != page.path.read_text():
        page.path.write_text(text)
        print(f"wrote {page.name}")


def chosen(names, root):
    """The pages with transcripts, all of them or those that were named."""
    pages = pages_of(root)
    wanted = {(Path.cwd() / name).resolve() for name in names}
    unknown = wanted - {page.path.resolve() for page in pages}
    if unknown:
        raise Refused(f"no page {', '.join(str(path) for path in sorted(unknown))}")
    if names:
        pages = [page for page in pages if page.path.resolve() in wanted]
    faults = [fault for page in pages for fault in transcripts.faults_of(page)]
    if faults:
        raise Refused("\n".join(faults))
    return [page for page in pages if any(block.kind == "transcript" for block in page.blocks)]


def run(root, names, is_writing):
    pages = chosen(names, root)
    n_wrong = 0
    with tempfile.TemporaryDirectory(prefix="transcripts-") as place:
        tree = Scratch(root, Path(place).resolve())
        for page in pages:
            if is_writing:
                write(page, tree)
            else:
                n_wrong += check(page, tree)
    n_blocks = sum(block.kind == "transcript" for page in pages for block in page.blocks)
    if not is_writing:
        print(f"transcripts: {n_blocks - n_wrong} of {n_blocks} say what the page says"
              + ("; if the run is right: make refresh" if n_wrong else ""))
    return 1 if n_wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    args = parser.parse_args()
    try:
        return run(ROOT, args.pages, args.write)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return refused.status


if __name__ == "__main__":
    sys.exit(main())
