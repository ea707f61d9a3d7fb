#!/usr/bin/env python3
"""What the client adds: `ask` beside curl on the same request, and how long `bill` thinks. Prints, judges nothing.

    make overhead          or: tools/overhead.py [--runs N] [--bin DIR] [--model FILE] [--flags TEXT]

Both programs are started anew for each request, and take turns; measured is the time from there to the first piece
of the answer on their standard output. The tiny model answers, so that little is waited for but the client.
Standard library only; the server ends with the program.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from lesson import machine, talk
from lesson.server import LessonError, heeded_signals, running

QUESTION, N_ANSWER = "Once upon a time there was a parrot.", 8
N_WARM = 3
BILL = "--model deepseek-r1 --requests 1000 --input 3200 --cached 3000 --output 300".split()


def request(model="default"):
    """Byte for byte what ask sends for the command below."""
    return json.dumps({"model": model, "messages": [{"role": "user", "content": QUESTION}], "stream": True,
                       "stream_options": {"include_usage": True}, "max_tokens": N_ANSWER, "temperature": 0.0},
                      separators=(",", ":"))


def commands(ask, port):
    """name: (command, whether what was printed so far holds the first piece of the answer)."""
    url = f"http://127.0.0.1:{port}/v1"
    curl = ["curl", "-sN", "--noproxy", "*", "-H", "Content-Type: application/json", "-d", request(),
            f"{url}/chat/completions"]
    return {"curl": (curl, brings_text),
            "ask": ([ask, "--base-url", url, "--max-tokens", str(N_ANSWER), "--temperature", "0", QUESTION], bool)}


def brings_text(stream):
    """One of its whole events has text; the first one, with the role, has none."""
    events = [event for event in stream.split(b"\n\n")[:-1] if event.startswith(b"data: {")]
    return any(talk.brings_text(json.loads(event[len(b"data: "):])) for event in events)


def first_piece_ms(command, has_text):
    begin = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        seen = b""
        while not has_text(seen):
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                raise LessonError(f"{command[0]}: no answer came")
            seen += piece
        taken = time.monotonic() - begin
        process.stdout.read()
    return 1000 * taken


def whole_ms(command):
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    taken = time.monotonic() - begin
    if done.returncode:
        raise LessonError(done.stderr.strip())
    return 1000 * taken


def line(name, times):
    print(f"{name:<28}{statistics.median(times):8.2f} ms   {min(times):.2f} .. {max(times):.2f}", flush=True)


def compare(options):
    times = {"curl": [], "ask": []}
    with running(f"{options.bin}/serve", options.model) as server:
        turns = commands(f"{options.bin}/ask", server.port)
        for n in range(-N_WARM, options.runs):
            for name, (command, has_text) in turns.items():
                taken = first_piece_ms(command, has_text)
                if n >= 0:
                    times[name].append(taken)
    for name in times:
        line(f"{name}, to the first piece", times[name])
    each = [ask - curl for ask, curl in zip(times["ask"], times["curl"])]
    line("ask less curl, pair by pair", each)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50, metavar="N")
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where the programs are")
    parser.add_argument("--model", default="build/test/tiny.gguf", metavar="FILE")
    parser.add_argument("--flags", default="", metavar="TEXT", help="what they were built with")
    options = parser.parse_args()
    print("\n".join(machine.describe(options.bin, options.model, options.flags)))
    print(f"curl      {' '.join(machine.first_line(['curl', '--version']).split()[1:2])}\n")
    print(f"{'':<30}median      spread of {options.runs} runs")
    try:
        with heeded_signals():
            compare(options)
            line("bill, its whole answer", [whole_ms([f"{options.bin}/bill", *BILL]) for _ in range(options.runs)])
    except LessonError as error:
        sys.exit(f"overhead: {error}")


if __name__ == "__main__":
    main()
