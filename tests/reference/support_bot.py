#!/usr/bin/env python3
"""The running example is what data/README.md says of it: sizes in tokens, questions that differ, arrivals that come
in order, and files that their script writes again. Tokens are counted only where the real model is.

    tests/reference/support_bot.py [--model FILE] [--bin DIR]
"""
import json
import subprocess
import sys
from pathlib import Path
from statistics import mean

import gguf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402

BOT = ROOT / "data/support-bot"
N_QUESTIONS = 200
N_BLOCK_TOKENS = 3000
N_SMOLLM_VOCAB = 49152
HOUR = 3600


def is_real(model):
    return len(gguf.GGUFReader(model).fields["tokenizer.ggml.tokens"].data) == N_SMOLLM_VOCAB


def n_tokens(options, texts):
    """How many tokens each text is, all through one process."""
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    run = subprocess.run([f"{options.bin}/tokenize", "--model", options.model, "--jsonl"], input=lines,
                         capture_output=True, text=True, check=True)
    return [len(json.loads(line)["ids"]) for line in run.stdout.splitlines()]


def check_questions(tally, questions):
    tally.equal(len(questions), N_QUESTIONS, "number of questions")
    tally.equal([q["id"] for q in questions], [f"q{i:03}" for i in range(1, N_QUESTIONS + 1)], "their ids")
    for key in ("order", "question"):
        tally.equal(len({q[key] for q in questions}), N_QUESTIONS, f"no {key} comes twice")
    for q in questions:
        text = q["order"] + q["question"]
        tally.check(text.isascii() and "{" not in text and "  " not in text, f"{q['id']} reads well", text)
        tally.equal(sorted(q), ["id", "order", "question", "topic"], f"fields of {q['id']}")


def check_arrivals(tally, questions):
    head, *lines = (BOT / "arrivals.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    seconds = [float(row[0]) for row in rows]
    tally.equal(head, "seconds,question", "head of the arrivals")
    tally.equal([row[1] for row in rows], [q["id"] for q in questions], "each question arrives once")
    tally.check(seconds == sorted(seconds) and seconds[0] >= 0, "arrivals in order")
    by_hour = [sum(hour * HOUR <= s < (hour + 1) * HOUR for s in seconds) for hour in range(3)]
    tally.check(by_hour[1] > 2 * max(by_hour[0], by_hour[2]), "the second hour is busy", f"arrivals by hour: {by_hour}")


def check_tokens(tally, options, questions):
    block = (BOT / "block.txt").read_bytes().decode()
    counts = n_tokens(options, [block, *(q["order"] + "\n\n" + q["question"] for q in questions)])
    tally.equal(counts[0], N_BLOCK_TOKENS, "tokens of the block")
    of_questions = counts[1:]
    tally.check(150 <= min(of_questions) and max(of_questions) <= 250, "every question has about 200 tokens",
                f"{min(of_questions)} to {max(of_questions)}")
    tally.equal(round(mean(of_questions)), 199, "tokens of a question, on average")


def main():
    options, tally = arguments(__doc__), Tally()
    questions = [json.loads(line) for line in (BOT / "questions.jsonl").read_text().splitlines()]
    check_questions(tally, questions)
    check_arrivals(tally, questions)
    same = subprocess.run([sys.executable, ROOT / "tools/support_bot_data.py", "--check"], capture_output=True, text=True)
    tally.check(same.returncode == 0, "the files are what their script writes", same.stderr)
    if is_real(options.model):
        check_tokens(tally, options, questions)
    else:
        tally.skip("tokens of the support bot", "they are counted on the real model: make verify")
    tally.finish()


main()
