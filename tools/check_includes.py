#!/usr/bin/env python3
"""Checks that includes point only downward: common knows nobody, each level knows the levels below
it, a room of a level the rooms below it, nobody includes a .c file, and every project include is
written from the root. And that they
stand in one order: own header, system headers, project headers, a blank line between the groups,
each group sorted. Standard library.

    tools/check_includes.py
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folder -> folders whose headers it may include (its own always).
ALLOWED = {
    "common": [],
    "level1-user": ["common"],
    "level2-operator": ["common"],
    "level3-optimizer": ["common", "level1-user", "level2-operator"],
    "level4-engine": ["common", "level1-user", "level2-operator", "level3-optimizer"],
    "tools": ["common"],
    "tests": ["common", "level1-user", "level2-operator", "level3-optimizer", "level4-engine"],
}
# The rooms of a level, from the ground up: each may include those that stand before it.
ROOMS = {
    "level2-operator": ["text", "kernels", "gguf", "tokenizer", "files", "template", "model", "fit", "engine", "service",
                        "api", "server", "rollout", "inspect"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def home_of(path):
    """The level whose rules a file follows, and the room in it or None; a solution lives where its twin does."""
    parts = path.relative_to(ROOT).parts
    level, *rest = parts[1:] if parts[0] == "solutions" else parts
    return level, rest[0] if len(rest) > 1 else None


def runs_of(text):
    """(line number, lines) of each run of includes, with the blank lines inside it."""
    run, begin = [], 0
    for number, line in enumerate(text.splitlines() + ["end"], 1):
        if INCLUDE.match(line) or (run and not line):
            begin = begin if run else number
            run.append(line)
        elif run:
            yield begin, "\n".join(run).rstrip("\n").split("\n")
            run = []


def ordered(run, path, is_first):
    """The same includes as the house wants them."""
    found = [(*INCLUDE.match(line).groups(), line) for line in run if line]
    system = sorted((target, line) for kind, target, line in found if kind == "<")
    project = [(target, line) for kind, target, line in found if kind == '"']
    own = []
    if is_first and path.suffix == ".c":
        name = path.stem.removeprefix("test_") + ".h"
        own = [p for p in project if Path(p[0]).name == name][:1]
        if not own and found[0][0] == '"' and run[1:2] in ([], [""]):
            own = project[:1]  # a header of another name
    groups = [own, system, sorted(p for p in project if p not in own)]
    return "\n\n".join("\n".join(line for _, line in group) for group in groups if group)


def order_faults_of(path):
    for i, (number, run) in enumerate(runs_of(path.read_text())):
        if ordered(run, path, i == 0) != "\n".join(run):
            yield (f"{path.relative_to(ROOT)}:{number}: includes: own header, system, project; "
                   "each group sorted, one blank line between")


def faults_of(path):
    yield from order_faults_of(path)
    yield from arrow_faults_of(path)


def arrow_faults_of(path):
    level, room = home_of(path)
    is_program = path.name.startswith("main_")  # a table of contents: may include all levels
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or match.group(1) == "<":
            continue
        target = match.group(2)
        where = f"{path.relative_to(ROOT)}:{number}"
        if not (ROOT / target).is_file():
            yield f'{where}: "{target}" is not a path from the root'
        elif target.endswith(".c"):
            yield f'{where}: "{target}" is a source file'
        elif target.split("/")[0] not in ALLOWED[level] + [level] and not is_program:
            yield f'{where}: {level} may not include "{target}"'
        elif is_upstairs(level, room, home_of(ROOT / target)) and not is_program:
            yield f'{where}: {level}/{room} may not include "{target}"; from the ground up: {", ".join(ROOMS[level])}'


def is_upstairs(level, room, target):
    """Is the target in the same level, but in a room above this one? A file outside all rooms stands above them."""
    order = ROOMS.get(level, [])
    floor = {name: i for i, name in enumerate(order)}
    return target[0] == level and bool(order) and floor.get(room, len(order)) < floor.get(target[1], len(order))


def main():
    files = [p for folder in [*ALLOWED, "solutions"] for p in sorted((ROOT / folder).rglob("*.[ch]"))]
    faults = [fault for path in files for fault in faults_of(path)]
    print("\n".join(faults) if faults else f"includes: {len(files)} files, every arrow points downward, all in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
