#!/usr/bin/env python3
"""Checks the lesson of level 1 from outside, on a tiny model with a long context and a few seconds: the second order
finds more in the cache, the invoices add up, and no server is left.

    .venv/bin/python tests/reference/lesson1.py --bin build/bin

Standard library only.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402

PATIENCE_S = 120
SECONDS = "4"
R1 = (Fraction("0.55"), Fraction("0.14"), Fraction("2.19"))  # data/prices.json: deepseek-r1


def start(bin_dir, model, *more, **environment):
    return subprocess.Popen([sys.executable, ROOT / "tools/lesson1.py", "--bin", bin_dir, "--model", model, *more],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "LESSON_SECONDS": SECONDS, **environment})


def processes():
    """(id, command line) of all processes."""
    if not Path("/proc/self").exists():
        found = subprocess.run(["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True).stdout
        return [(int(line.split()[0]), line) for line in found.splitlines()]
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append((int(file.parent.name), file.read_text(errors="replace").replace("\0", " ")))
        except OSError:
            pass  # it has just ended
    return lines


def servers_of(path):
    """Ids of those that serve a model whose path has this in it; it is ours alone."""
    return [pid for pid, line in processes() if path in line and "serve --model" in line]


def finish(program):
    """Status, output, errors. Status None: it did not end."""
    try:
        text, errors = program.communicate(timeout=PATIENCE_S)
        return program.returncode, text, errors
    except subprocess.TimeoutExpired:
        program.kill()
        return (None, *program.communicate())


def thousand(n_requests, prompt, cached, output):
    dollars = ((prompt - cached) * R1[0] + cached * R1[1] + output * R1[2]) / 10**6 * 1000 / n_requests
    mills = round(dollars * 1000)
    return f"${mills // 1000}.{mills % 1000:03}"


def numbers(pattern, text):
    found = re.search(pattern, text)
    return [int(n.replace(",", "")) for n in found.groups()] if found else None


def check_play(tally, text):
    slow = numbers(r"time line first .* (\d+) of (\d+)\n", text)
    fast = numbers(r"fixed block first .* (\d+) of (\d+)\n", text)
    n_questions, n_block = numbers(r"allow (\d+) questions and a block of ([\d,]+) tokens", text)
    longest = 3000 + 100  # a block ends with a line, and so up to a step later
    tally.check(3 <= n_questions <= 20 and 400 <= n_block <= longest, "size of the play", f"{n_questions}, {n_block}")
    tally.check(slow[0] < 64, "a time line in front leaves nothing that a provider would cache", str(slow))
    tally.check(fast[0] > n_block, "a block in front is cached as a whole", f"{fast}, {n_block}")
    return n_questions


def check_invoices(tally, text, n_questions):
    rows = re.findall(r"(\$\d+\.\d{3}) +(\$\d+\.\d{3}) +(-?[\d.]+ %)\n", text)
    tally.equal(len(rows), 3, "three invoices")
    if len(rows) != 3:
        return
    tally.equal(rows[0], ("$2.417", "$1.187", "50.9 %"), "the ideal")
    before = thousand(1, 3200, 0, 300)
    after = thousand(1000, 1000 * 3200, 999 * (3000 // 64 * 64), 1000 * 300)
    tally.equal(rows[1][:2], (before, after), "by steps of 64 tokens, the first request cold")
    reported = [numbers(name + r" first: (\d+) in, (\d+) of them cached, (\d+) out", text) for name in
                ("time", "block")]
    tally.equal(rows[2][:2], tuple(thousand(n_questions, *tokens) for tokens in reported), "as the server reported")
    tally.check(reported[1][1] > reported[0][1], "the second order has more cached tokens", str(reported))
    tally.check(reported[0][0] - 20 * n_questions < reported[1][0] < reported[0][0] + 20 * n_questions,
                "both orders send the same", str(reported))


def check_row(tally, text, n_questions):
    """The row that each level ends with: of this run, and from the server's own usage."""
    row = re.search(rf"\$ for 1,000 requests +(\$\S+) +(\$\S+)\nTTFT p99 \(of {n_questions}: the slowest\) +"
                    r"([\d,]+) ms +([\d,]+) ms\nrequests/s, one after the other +([\d.]+) +([\d.]+)\n"
                    r"memory of the server, at most +(not known|[\d,]+ MB) +\7\n$", text)
    tally.check(row, "the row of the level", text[-600:])
    if row:
        reported = re.search(r"as it reported them +(\$\S+) +(\$\S+)", text)
        tally.equal(row.groups()[:2], reported and reported.groups(), "the same invoices")


def check_saved(tally, path, text):
    """Another run's text would show in a page beside this one's numbers."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    tally.equal("\n".join(saved["printed"]) + "\n", text, "the record holds what was printed")
    for point in saved["curve"]:
        line = rf"^ *{point['prompt_tokens']} +{point['ttft_ms']:,} ms "
        tally.check(re.search(line, text, re.M), "a point of the curve", line)


def check_lesson(tally, bin_dir, model, record):
    status, text, errors = finish(start(bin_dir, model, "--save", record))
    tally.equal((status, errors), (0, ""), "the lesson ends well")
    if status != 0:
        return
    tally.check(re.match(r"machine   .+\ncompiler  .+\nmodel     .+\n", text), "where it was measured", text)
    n_questions = check_play(tally, text)
    check_invoices(tally, text, n_questions)
    check_row(tally, text, n_questions)
    check_saved(tally, record, text)
    tally.check(re.search(r"streamed   the first word after [\d,]+ ms, the last after [\d,]+ ms\n"
                          r"  whole      nothing for [\d,]+ ms\n", text), "the wait", text)
    tally.check(text.count("*") >= 3, "a curve has points", text)
    widest = max(text.splitlines()[3:], key=len)
    tally.check(len(widest) <= 80, "80 columns", widest)
    tally.equal(servers_of(model), [], "no server is left")


def check_signals(tally, bin_dir, model):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        program = start(bin_dir, model, LESSON_SECONDS="60")
        end = time.monotonic() + PATIENCE_S
        while not servers_of(model) and time.monotonic() < end:
            time.sleep(0.02)
        program.send_signal(number)
        status, _, _ = finish(program)
        tally.equal((status, servers_of(model)), (128 + number, []), f"{number.name} ends both")


def check_refusals(tally, bin_dir, model, small, folder):
    for why, place, which, seconds in (
            ("LESSON_SECONDS is \"0\"", bin_dir, model, "0"), ("LESSON_SECONDS is \"2 m\"", bin_dir, model, "2 m"),
            ("make all builds it", folder, model, SECONDS), ("no.gguf", bin_dir, f"{folder}/no.gguf", SECONDS),
            ("a context of 512 tokens is too small", bin_dir, small, SECONDS)):
        status, text, errors = finish(start(place, which, LESSON_SECONDS=seconds))
        tally.equal((status, text), (1, ""), f"{why}: status, nothing printed")
        tally.check(errors.startswith("lesson1: ") and why in errors and errors.count("\n") == 1, why, errors)
        tally.equal(servers_of(which), [], f"{why}: no server is left")


def main():
    args, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as folder:
        models = [f"{folder}/{n}.gguf" for n in (4096, 512)]
        for model, n in zip(models, ("4096", "512")):
            subprocess.run([sys.executable, ROOT / "tools/tiny_model.py", "--out", model, "--context", n], check=True)
        try:
            check_lesson(tally, args.bin, models[0], Path(folder) / "lesson1.json")
            check_signals(tally, args.bin, models[0])
            check_refusals(tally, args.bin, *models, folder)
        finally:
            for pid in servers_of(folder):
                os.kill(pid, signal.SIGKILL)
    tally.finish()


if __name__ == "__main__":
    main()
