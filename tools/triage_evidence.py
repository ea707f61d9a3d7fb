#!/usr/bin/env python3
"""Runs what the tickets of data/triage say was run, and compares. Standard library only.

    tools/triage_evidence.py [--bin DIR] [--model FILE]    exit 1 and each difference
    tools/triage_evidence.py --write                       writes what was printed into files, tickets and keys

Without the real model, what needs it is passed over. tests/reference/triage.py is the same as a check.
"""
import argparse
import json
import sys
from pathlib import Path

from ladder import build
from ladder.catalog import ROOT, Refused
from triage import evidence, tickets

NO_MODEL = "the real model is wanted: make verify"


def all_tickets():
    return [ticket for level in tickets.levels() for ticket in tickets.read_tickets(level)[1]]


def differences(place):
    """(what, the difference or None, why it was passed over or None) of every file and every command."""
    for ticket in all_tickets():
        told = [(made, made.line, made.path.read_text().splitlines()) for made in ticket.key.made]
        told += [(run, f"$ {run.command}", run.output) for run in evidence.runs_of(ticket)]
        for source, line, want in told:
            name = f"ticket {ticket.name}: {line}"
            if source.needs and not place.has_model:
                yield name, None, NO_MODEL
            else:
                yield name, evidence.first_difference(want, place.printed(source.command)), None


def fill(value, place):
    """The document with the output of each of its commands, where it is not the same but for times."""
    if isinstance(value, dict) and "command" in value and "output" in value:
        if place.has_model or not value.get("needs"):
            got = place.printed(value["command"])
            if evidence.first_difference(value["output"], got):
                return {**value, "output": got}
        return value
    if isinstance(value, dict):
        return {key: fill(inner, place) for key, inner in value.items()}
    return [fill(inner, place) for inner in value] if isinstance(value, list) else value


def renew(path, got):
    """Writes a file whose lines are not the same but for times."""
    if not path.exists() or evidence.first_difference(path.read_text().splitlines(), got):
        path.write_text("\n".join(got) + "\n")


def write(place):
    """Files first: commands read them."""
    for key in sorted(tickets.FOLDER.glob("level*/*/key.json")):
        for made in tickets.read_json(key)["made"]:
            if place.has_model or not made.get("needs"):
                renew(key.parent / made["file"], place.printed(made["command"]))
    for path in sorted(tickets.FOLDER.glob("level*/*/*.json")):
        if path.name in ("ticket.json", "key.json"):
            document = fill(tickets.read_json(path), place)
            build.write_if_changed(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where the programs are")
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    place = evidence.Place(ROOT, options.bin, options.model, Path(options.model).exists())
    try:
        if options.write:
            write(place)
            return 0
        found = [(name, difference) for name, difference, _ in differences(place) if difference]
    except Refused as refused:
        print(f"triage_evidence: {refused}", file=sys.stderr)
        return 1
    for name, (want, got) in found:
        print(f"{name}\n  the ticket: {want}\n  the run:    {got}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
