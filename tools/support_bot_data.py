#!/usr/bin/env python3
"""Writes data/support-bot/questions.jsonl and arrivals.csv, the same bytes each time. Standard library only.

    tools/support_bot_data.py            writes both files
    tools/support_bot_data.py --check    exit 1 if a file is not what would be written

The sentences are hand-written (tools/support_bot/texts.py); the seed decides which ones meet, what was ordered, and
when each question comes. data/README.md describes the files.
"""
import argparse
import json
import math
import sys
from pathlib import Path

from support_bot.dice import Dice
from support_bot.orders import draw_order
from support_bot.texts import ASIDES, CLOSINGS, GREETINGS, OPENINGS, TOPICS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "support-bot"
SEED = 20270301
N_QUESTIONS = 200
# Arrivals per hour: a quiet hour, a busy one, and quiet again. 200 of them take about three hours.
QUIET, BUSY = 40, 120
HOUR = 3600
# Which sentences of a topic meet: no two questions have the same three.
CHOICES = ((0, 0, 0), (1, 1, 1), (2, 0, 1), (0, 1, 1), (1, 0, 0))


def opening_of(dice, hour):
    if dice.chance(0.25):
        return next(greeting for end, greeting in GREETINGS if hour < end)
    return dice.pick(OPENINGS)


def question_of(dice, topic, choice):
    """One question: which sentence of each set of the topic, and everything else drawn."""
    order = draw_order(dice, topic)
    happened, detail, ask = choice
    sentences = [opening_of(dice, order.hour), topic.happened[happened], topic.details[detail]]
    if dice.chance(0.6):
        sentences.append(dice.pick(ASIDES))
    sentences.append(topic.asks[ask])
    if dice.chance(0.8):
        sentences.append(dice.pick(CLOSINGS[:-2] if "{city}" in sentences[0] else CLOSINGS))
    text = " ".join(sentences)
    return {"topic": topic.id, "order": order.text,
            "question": text.format(item=order.item, city=order.town, elsewhere=order.elsewhere, other=order.other)}


def questions():
    """All questions in the order in which they arrive: topics mixed, each about equally often."""
    dice = Dice(SEED)
    turns = [(topic, choice) for choice in CHOICES for topic in TOPICS][:N_QUESTIONS]
    drawn = [question_of(dice, topic, choice) for topic, choice in turns]
    return [{"id": f"q{i:03}", **q} for i, q in enumerate(dice.shuffled(drawn), 1)]


def when(work):
    """The second at which so many arrivals are expected to have come."""
    if work <= QUIET:
        return work / QUIET * HOUR
    if work <= QUIET + BUSY:
        return HOUR + (work - QUIET) / BUSY * HOUR
    return 2 * HOUR + (work - QUIET - BUSY) / QUIET * HOUR


def arrivals():
    """Seconds from the start: a Poisson process. Its gaps are exponential in expected arrivals, not in time."""
    dice, work, seconds = Dice(SEED + 1), 0.0, []
    for _ in range(N_QUESTIONS):
        work -= math.log(1 - dice.next())
        seconds.append(when(work))
    return seconds


def files():
    asked = questions()
    lines = [f"{seconds:.3f},{q['id']}" for seconds, q in zip(arrivals(), asked)]
    return {
        "questions.jsonl": "".join(json.dumps(q) + "\n" for q in asked),
        "arrivals.csv": "\n".join(["seconds,question", *lines]) + "\n",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files that are there")
    wants_check = parser.parse_args().check
    stale = []
    for name, text in files().items():
        path = FOLDER / name
        if wants_check and (not path.is_file() or path.read_text() != text):
            stale.append(name)
        elif not wants_check:
            path.write_text(text)
    if stale:
        sys.exit(f"support_bot_data: not what the script writes: {', '.join(stale)}")


if __name__ == "__main__":
    main()
