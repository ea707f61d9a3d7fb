"""What a run of the lesson leaves for the pages: its text, and the numbers that their tables and picture are made of."""
import json
import math
from pathlib import Path

from lesson import money

ABOUT = "Measured by make lesson1 SAVE=FILE; tools/check_docs.py --write makes the tables and the picture of docs/level1 of it."


class Copy:
    """A stream that passes on what is written, and keeps it."""

    def __init__(self, stream):
        self.stream, self.pieces = stream, []

    def write(self, text):
        self.pieces.append(text)
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()

    @property
    def lines(self):
        return "".join(self.pieces).rstrip("\n").split("\n")


def p99(values):
    """By nearest rank: of fewer than 100 values the largest."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def in_ms(seconds):
    return round(1000 * seconds)


def order(name, turns, price):
    """One play, in the numbers that every level ends with. The first question, which nothing is cached for, counts."""
    usages = [money.Usage(turn.prompt, turn.cached, turn.output) for turn in turns]
    return {"name": name, "n_questions": len(turns),
            "usd_per_1000": money.dollars(money.per_thousand(usages, price))[1:],
            "ttft_p99_ms": in_ms(p99([turn.first_s for turn in turns])),
            "requests_per_s": round(len(turns) / sum(turn.last_s for turn in turns), 3)}


def wait(stream, whole):
    return {"n_tokens": stream.output, "first_ms": in_ms(stream.first_s), "last_ms": in_ms(stream.last_s),
            "whole_ms": in_ms(whole.last_s)}


def curve(points):
    return [{"prompt_tokens": n, "ttft_ms": in_ms(seconds)} for n, seconds in sorted(points)]


def save(path, numbers, lines):
    text = json.dumps({"about": ABOUT, **numbers, "printed": lines}, indent=1, ensure_ascii=False)
    Path(path).write_text(text + "\n", encoding="utf-8")
