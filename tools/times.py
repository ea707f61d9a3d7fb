#!/usr/bin/env python3
"""How long a learner waits, measured in a copy of the tree. Standard library only.

    make times
"""
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ladder.catalog import ROOT
from ladder.scratch import Scratch

N_RUNS = 5
SHOWN = ("invoice", "rope", "attention", "gguf")


def seconds(tree, command):
    begin = time.monotonic()
    status, output = tree.run(command)
    if status:
        raise SystemExit(f"{command}: status {status}\n{output}")
    return time.monotonic() - begin


def edit(tree, ex, n):
    """What a learner does: a line changes, the file is saved."""
    (tree.root / ex.file).write_text(f"// edit {n}\n" + tree.solution(ex))


def line(what, values):
    print(f"{what:<58} {statistics.median(values):5.2f} s   {min(values):5.2f} .. {max(values):.2f}", flush=True)


def main():
    compiler = subprocess.run([os.environ.get("CC") or "gcc", "--version"], capture_output=True, text=True).stdout
    print(f"machine   {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"compiler  {compiler.splitlines()[0]}, Python {platform.python_version()}\n")
    print(f"{'':<58} median    spread of {N_RUNS} runs")
    with tempfile.TemporaryDirectory(prefix="times ") as place:
        tree = Scratch(ROOT, Path(place) / "tree")
        for name in SHOWN:
            ex = tree.course.find(name)
            edit(tree, ex, 0)
            seconds(tree, f"make test EX={name}")  # objects that the suite needs are built once
            times = []
            for n in range(1, N_RUNS + 1):
                edit(tree, ex, n)
                times.append(seconds(tree, f"make test EX={name}"))
            line(f"make test EX={name}, after one edit", times)
        seconds(tree, "make level2 && make test")
        times = []
        for n in range(1, N_RUNS + 1):
            edit(tree, tree.course.find("rope"), 100 + n)
            times.append(seconds(tree, "make level2 && make test"))
        line("make level2 && make test, after one edit", times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
