#!/usr/bin/env python3
"""The evidence of the tickets in data/triage is what our programs print today: each file and each output is made
again by the command that stands beside it. Times may differ. What takes the real model is run in make verify.

    .venv/bin/python tests/reference/triage.py --model FILE --bin build/bin
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import triage_evidence  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from triage import evidence  # noqa: E402


def main():
    options, tally = arguments(__doc__), Tally()
    programs, model = Path(options.bin).resolve(), Path(options.model).resolve()
    place = evidence.Place(ROOT, programs, model, "tiny" not in model.name)
    passed_over = []
    for name, difference, reason in triage_evidence.differences(place):
        if reason:
            passed_over.append(name)
        else:
            tally.equal(*(difference or ("", ""))[::-1], name)
    if passed_over:
        tally.skip(f"{len(passed_over)} pieces of evidence", triage_evidence.NO_MODEL)
    tally.finish()


main()
