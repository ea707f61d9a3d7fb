#!/usr/bin/env python3
"""Writes four requests of the support bot to build/audit, for build/bin/ask --audit. Standard library only.

    clock-1.json, clock-2.json   the time stands in front of the fixed block: two questions, a minute apart
    block-1.json, block-2.json   the fixed block first, with a mark behind it; the time beside the question
"""
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOT = ROOT / "data" / "support-bot"
TIMES = ("10:02:11.480", "10:03:05.127")


def clock_first(block, time, question):
    return [{"role": "system", "content": f"It is {time}.\n{block}"},
            {"role": "user", "content": question}]


def block_first(block, time, question):
    marked = {"type": "text", "text": block, "cache_control": {"type": "ephemeral"}}
    return [{"role": "system", "content": [marked]},
            {"role": "user", "content": f"It is {time}.\n{question}"}]


def main():
    block = (BOT / "block.txt").read_text(encoding="utf-8")
    with open(BOT / "questions.jsonl", encoding="utf-8") as lines:
        questions = [json.loads(line) for _, line in zip(TIMES, lines)]
    folder = ROOT / "build" / "audit"
    folder.mkdir(parents=True, exist_ok=True)
    for i, (time, asked) in enumerate(zip(TIMES, questions), start=1):
        question = asked["order"] + "\n\n" + asked["question"]
        for name, shape in (("clock", clock_first), ("block", block_first)):
            body = {"model": "default", "messages": shape(block, time, question)}
            path = folder / f"{name}-{i}.json"
            path.write_text(json.dumps(body, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
