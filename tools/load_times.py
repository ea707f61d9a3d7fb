#!/usr/bin/env python3
"""What opening a model costs: from the page cache (warm), and after its files were put out of it (cold).

    tools/load_times.py --bin build/bin models/SmolLM2-135M-Instruct.Q4_1.gguf

    tables   inspect --tensors: the header and tables are read, nothing else
    check    inspect --check: vocabulary and norms, too, as `serve` does before its first request
    bytes    every byte read once, as the first token does

Median of an odd number of runs, with the range. Linux; no rights are needed. Standard library.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS, BLOCK = 7, 1 << 20


def files_of(model):
    return [path for path in sorted(model.iterdir()) if path.is_file()] if model.is_dir() else [model]


def put_out(files):
    """Clean pages of the files leave the cache; dirty ones are written first."""
    for path in files:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_all(files):
    block = bytearray(BLOCK)
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(block):
                pass


def run(program, *words):
    subprocess.run([program, *words], stdout=subprocess.DEVNULL, check=True)


def times(work, files, is_cold):
    seconds = []
    for _ in range(RUNS):
        if is_cold:
            put_out(files)
        else:
            read_all(files)
        begin = time.monotonic()
        work()
        seconds.append(time.monotonic() - begin)
    return seconds


def cpu_name():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="GGUF file or model folder")
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where the programs are")
    args = parser.parse_args()
    if not hasattr(os, "posix_fadvise"):
        sys.exit("load_times: this system cannot put a file out of its cache")
    files = files_of(args.model)
    inspect = f"{args.bin}/inspect"
    rows = [("tables", lambda: run(inspect, "--tensors", args.model)),
            ("check", lambda: run(inspect, "--check", args.model)), ("bytes", lambda: read_all(files))]
    print(f"machine  {cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"model    {args.model.name}, {sum(path.stat().st_size for path in files):,} bytes")
    print(f"\n  {'ms, median of ' + str(RUNS):<18} {'warm':>20} {'cold':>20}")
    for name, work in rows:
        cells = []
        for is_cold in (False, True):
            ms = sorted(1000 * s for s in times(work, files, is_cold))
            cells.append(f"{statistics.median(ms):.1f} ({ms[0]:.1f}-{ms[-1]:.1f})")
        print(f"  {name:<18} {cells[0]:>20} {cells[1]:>20}")


if __name__ == "__main__":
    main()
