"""The support bot: its instructions, its customers' questions, and a request in two orders."""
import datetime
import itertools
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "data" / "support-bot"


def read_block():
    return (FOLDER / "block.txt").read_text(encoding="utf-8")


def read_questions():
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [f"{q['order']}\n\n{q['question']}" for q in map(json.loads, lines)]


def cut_block(block, n_tokens, count):
    """Whole lines of the block until they have n_tokens, as count(text) counts."""
    lines = block.splitlines(keepends=True)
    ends = itertools.accumulate(map(count, lines))
    return "".join(lines[:1 + sum(end < n_tokens for end in ends)])


def cut_words(text, share):
    """About this share of the text, up to the end of a word."""
    end = text.find(" ", max(0, int(share * len(text))))
    return text if share >= 1 or end < 0 else text[:end]


def time_line():
    now = datetime.datetime.now().astimezone()
    return f"Now: {now.strftime('%Y-%m-%d %H:%M:%S')}.{now.microsecond // 1000:03}\n"


def time_first(block, question):
    return [{"role": "system", "content": time_line() + block}, {"role": "user", "content": question}]


def block_first(block, question):
    return [{"role": "system", "content": block}, {"role": "user", "content": time_line() + question}]
