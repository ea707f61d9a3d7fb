#!/usr/bin/env python3
"""Runs `ask`, `bill` and `fit` under valgrind: nothing is read that nobody wrote, and nothing is left behind.

    tools/memcheck.py [--bin DIR]

The suites run under sanitizers; this looks at the programs themselves, as they are used. Standard library only.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/support"))
import parrot_server  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from terminal import Terminal, has_terminals  # noqa: E402

FOUND = 99  # valgrind's status where it found something; no program of ours ends with it
VALGRIND = ["valgrind", "--quiet", "--leak-check=full", f"--error-exitcode={FOUND}"]
PATIENCE_S = 120
AT_A_TIME = 2

BOT = ["--model", "deepseek-r1", "--requests", "1000", "--input", "3200", "--cached", "3000", "--output", "300"]
OWN = ["--own", "h100-sxm", "--tokens-per-second", "1500", "--utilization", "0.4"]
PRICED = ["--price", "deepseek-r1"]
REQUEST = '{"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}]}'
USAGE = '{"prompt_tokens": 9, "completion_tokens": 2}\n'


def runs(url, folder):
    """(exit status, program, options...) of each."""
    request, usage, text = (folder / name for name in ("request.json", "usage.jsonl", "text"))
    request.write_text(REQUEST)
    usage.write_text(USAGE * 3)
    text.write_text("hello")
    ask = ["ask", "--base-url", url, "--retries", "0"]
    return [
        [0, "bill", *BOT, "--compare", "--what-if", "--fixed", "3000", *OWN],
        [0, "bill", *BOT, "--compare", "--what-if", *OWN, "--json"],
        [0, "bill", *BOT, "--png", folder / "bill.png"],
        [0, "bill", "--model", "deepseek-r1", "--usage", usage],
        [1, "bill", "--model", "deepseek-r1", "--usage", text],
        [1, "bill", "--model", "deepseek-r1", "--input", "1", "--prices", text],
        [2, "bill", "--model", "nobody", "--input", "1"],
        [0, "fit", "--model", "llama-3-8b", "--device", "h100", "--png", folder / "fit.png"],
        [1, "fit", "--model", "llama-3-70b", "--device", "h100", "--json"],
        [1, "fit", "--model", text],
        [2, "fit", "--model", "nobody"],
        [0, *ask, *PRICED, "hosted"],
        [0, *ask, "--no-stream", "--json", "Hello"],
        [1, *ask, "cut"],
        [1, *ask, "busy"],
        [0, "ask", "--audit", request, request],
        [1, "ask", "--audit", request, text],
    ]


def trouble_of(bin_dir, run):
    """None, or what valgrind or the program says instead."""
    want, program, *options = run
    done = subprocess.run([*VALGRIND, f"{bin_dir}/{program}", *options], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    return None if done.returncode == want else f"status {done.returncode}, want {want}\n{done.stderr}"


# A conversation whose third question has no room for the first two (Parrot.n_context), line by line, and
# what the terminal shows when the line is done.
LONG = "no usage " + "x" * 400
TALK = [("/system {folder}/clock", "near its front"), (LONG, "TTFT"), (LONG, "TTFT"), (LONG, "old turns summed up: 2"),
        ("/save {folder}/talk.json", "saved"), ("/load {folder}/talk.json", "loaded"), ("/load {folder}/text", "not JSON"),
        ("/audit", "DeepSeek"), ("cut", "the answer is cut"), ("/stats", "cuts    1"), ("/cost", "total"),
        ("/new", "/new"), ("/nonsense", "/quit")]


def talk(tally, bin_dir, url, folder):
    """The commands of a conversation, and how it stays inside its context."""
    program, log = folder / "ask", folder / "log"
    program.write_text(f'#!/bin/sh\nexec {" ".join(VALGRIND)} --log-file={log} "{Path(bin_dir).resolve()}/ask" "$@"\n')
    program.chmod(0o755)
    (folder / "clock").write_text("10:05. " + "Answer. " * 9)
    parrot_server.Parrot.n_context = 440
    terminal = Terminal(str(program), url, "--max-tokens", "20", "--summarise", *PRICED)
    for line, shown in TALK:
        terminal.expect_prompt()
        terminal.type(line.format(folder=folder) + "\n")
        tally.check(terminal.expect(shown), f"{line:.30}: {shown}", terminal.all)
    terminal.expect_prompt()
    terminal.type("/quit\n")
    tally.equal((terminal.wait(), log.read_text()), (0, ""), "a conversation")


def main():
    options = arguments(__doc__)
    tally = Tally()
    if not shutil.which("valgrind"):
        tally.skip("ask, bill and fit under valgrind", "no valgrind on this machine")
        tally.finish()
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_A_TIME) as pool:
        url = parrot_server.start()
        all_runs = runs(url, Path(folder))
        for run, trouble in zip(all_runs, pool.map(lambda run: trouble_of(options.bin, run), all_runs)):
            tally.check(trouble is None, " ".join(map(str, run[1:])), trouble)
        if has_terminals():
            talk(tally, options.bin, url, Path(folder))
        else:
            tally.skip("a conversation", "no pseudo-terminal on this machine")
    tally.finish()


if __name__ == "__main__":
    main()
