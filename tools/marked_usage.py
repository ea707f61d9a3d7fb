#!/usr/bin/env python3
"""What an API with marks would report as usage, if the support bot's questions came at other times: each request
reads the block from the cache if the one before it came within the entry's life, else it writes it anew.

    tools/marked_usage.py [--apart FACTOR] [--life SECONDS] | build/bin/bill --usage /dev/stdin ...

Arrivals: data/support-bot/arrivals.csv. Standard library only.
"""
import argparse
import csv
import json
from pathlib import Path

ARRIVALS = Path(__file__).resolve().parent.parent / "data/support-bot/arrivals.csv"
BLOCK, QUESTION = 3000, 200  # tokens; the answers are left out, since no cache changes them


def usages(seconds, life):
    """A read begins the entry's life anew."""
    last = None
    for now in seconds:
        is_there = last is not None and now - last <= life
        yield {"input_tokens": QUESTION, "cache_read_input_tokens": BLOCK if is_there else 0,
               "cache_creation_input_tokens": 0 if is_there else BLOCK, "output_tokens": 0}
        last = now


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apart", type=float, default=1, metavar="FACTOR", help="times the pauses (default 1)")
    parser.add_argument("--life", type=float, default=300, metavar="SECONDS", help="of an entry (default 300)")
    options = parser.parse_args()
    with ARRIVALS.open(encoding="utf-8") as file:
        seconds = [float(row["seconds"]) * options.apart for row in csv.DictReader(file)]
    for usage in usages(seconds, options.life):
        print(json.dumps(usage))


if __name__ == "__main__":
    main()
