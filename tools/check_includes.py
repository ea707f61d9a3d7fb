#!/usr/bin/env python3
"""Checks that includes point only downward: common knows nobody, each level knows the levels below
it, nobody includes a .c file, and every project include is written from the root. Standard library.

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
    "tests": ["common", "level1-user", "level2-operator", "level3-optimizer", "level4-engine"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def room_of(path):
    """The folder whose rules a file follows; a solution lives in the folder that it mirrors."""
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "solutions" else parts[0]


def faults_of(path):
    room = room_of(path)
    is_program = path.name.startswith("main_")  # a table of contents: may include all levels
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1)
        where = f"{path.relative_to(ROOT)}:{number}"
        if not (ROOT / target).is_file():
            yield f'{where}: "{target}" is not a path from the root'
        elif target.endswith(".c"):
            yield f'{where}: "{target}" is a source file'
        elif target.split("/")[0] not in ALLOWED[room] + [room] and not is_program:
            yield f'{where}: {room} may not include "{target}"'


def main():
    files = [p for folder in [*ALLOWED, "solutions"] for p in sorted((ROOT / folder).rglob("*.[ch]"))]
    faults = [fault for path in files for fault in faults_of(path)]
    print("\n".join(faults) if faults else f"includes: {len(files)} files, every arrow points downward")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
