#!/usr/bin/env python3
"""Plays each fault of docs/level1/faults.md to `ask`, and holds it to what the table there says.

    .venv/bin/python tests/reference/faults.py --bin build/bin

The table is the list of checks: a fault without a row fails, and a row without a fault. Standard library
only; the wrong certificate is made by the openssl command.
"""
import email.utils
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from faulty_server import RESET, SILENCE, FaultyServer  # noqa: E402
from reference import Tally, arguments  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/level1/faults.md"
KEY = "sk-never-to-be-seen"
PATIENCE_S = 40


# ---- what the server says ----------------------------------------------------------------------

def head(status, *lines):
    return ("\r\n".join((f"HTTP/1.1 {status} x", "Connection: close", *lines)) + "\r\n\r\n").encode()


def refusal(status, message, *lines):
    return [head(status, "Content-Type: application/json", *lines) +
            json.dumps({"error": {"message": message, "type": "x", "param": None, "code": None}}).encode()]


def event(data):
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def delta(text):
    return event({"choices": [{"index": 0, "delta": {"content": text}}]})


def usage(value):
    return event({"choices": [], "usage": value})


def soon():
    """A Retry-After in the form of a date: far enough away for a slow machine."""
    date = email.utils.formatdate(time.time() + 5, usegmt=True)
    return refusal(429, "too many parrots", f"Retry-After: {date}")


STREAM = head(200, "Content-Type: text/event-stream")
HELLO = delta("Hel") + delta("lo")
USAGE = usage({"prompt_tokens": 9, "completion_tokens": 2})
DONE = event("[DONE]")
FINE = [STREAM + HELLO + USAGE + DONE]
BUSY = "too many parrots"
MEGABYTE = 1000 * 1000

FAULTS = {
    "busy": [refusal(429, BUSY)],
    "busy-3-s": [refusal(429, BUSY, "Retry-After: 3"), refusal(429, BUSY, "Retry-After: 3"), FINE],
    "busy-until": [soon, FINE],
    "busy-for-long": [refusal(429, BUSY, "Retry-After: 3600")],
    "busy-nonsense": [refusal(429, BUSY, "Retry-After: -10"), FINE],
    "loading": [refusal(503, "the model is loading"), FINE],
    "error": [refusal(500, "a parrot fell over")],
    "no-key": [refusal(401, "no such key")],
    "no-json": [[head(200, "Content-Type: application/json") + b"Hello"]],
    "login-page": [[head(200, "Content-Type: text/html") + b"<html>Log in</html>"]],
    "proxy-page": [[head(502, "Content-Type: text/html") + b"<html>Bad gateway</html>"]],
    "redirect": [[head(307, "Location: /elsewhere/v1", "Content-Length: 0")]],
    "elsewhere": [FINE],
    "nothing": [[], FINE],
    "reset": [[RESET]],
    "reset-late": [[STREAM + HELLO, 1, RESET]],
    "mute": [[SILENCE]],
    "mute-late": [[STREAM + HELLO, SILENCE]],
    "slow": [[STREAM + HELLO] + [s for byte in delta("!") for s in (1, bytes([byte]))]],
    "cut": [[STREAM + HELLO]],
    "cut-short": [[head(200, "Content-Type: text/event-stream", "Content-Length: 9999") + HELLO]],
    "cut-letter": [[STREAM + HELLO + 'data: {"choices":[{"index":0,"delta":{"content":"Ж'.encode()[:-1]]],
    "error-late": [[STREAM + HELLO + event({"error": {"message": "out of parrots"}})]],
    "big": [[STREAM + delta("x" * 10 * MEGABYTE) + DONE]],
    "too-big": [[STREAM + HELLO + delta("x" * 17 * MEGABYTE) + DONE]],
    "packed": [[head(200, "Content-Type: text/event-stream", "Content-Encoding: gzip") +
                gzip.compress(FINE[0][len(STREAM):])]],
    "comments": [[STREAM + b": ping\n\n" * 99, 0.1, b":\n:\n" + delta("Hel") + b": ping\n\n" + delta("lo") + DONE]],
    "no-usage": [[STREAM + HELLO + DONE]],
    "null-usage": [[STREAM + HELLO + usage(None) + usage({"prompt_tokens": None}) + DONE]],
}
BY_HAND = {"nobody", "certificate"}  # no server, and one of its own


# ---- what the page says ------------------------------------------------------------------------

def rows_of(page):
    """fault -> (options, texts on standard error, number of requests, standard output, exit status)."""
    rows = {}
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.fullmatch(r"`([a-z0-9-]+)`", cells[0]) if len(cells) == 7 else None
        if name:
            quoted = [re.findall(r"`([^`]+)`", cell) for cell in cells]
            rows[name.group(1)] = (shlex.split(" ".join(quoted[2])), quoted[3], int(cells[4]),
                                   shown(cells[5], quoted[5]), int(cells[6]))
    return rows


def shown(cell, quoted):
    if cell == "10,000,000 times `x`":
        return "x" * 10000000 + "\n"
    return quoted[0] + "\n" if quoted else ""


# ---- ask ---------------------------------------------------------------------------------------

def environment():
    own = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return {**own, "OPENAI_API_KEY": KEY}


def ask(program, url, *options):
    """Exit status (None: it hangs), standard output, standard error."""
    try:
        done = subprocess.run([program, "--base-url", url, *options, "Hello"], capture_output=True, text=True,
                              timeout=PATIENCE_S, stdin=subprocess.DEVNULL, env=environment())
    except subprocess.TimeoutExpired:
        return None, "", f"ask: still there after {PATIENCE_S} s"
    return done.returncode, done.stdout, done.stderr


def check_row(tally, fault, row, result, n_requests):
    _, texts, want_requests, want_out, want_code = row
    code, out, err = result
    tally.equal(code, want_code, f"{fault}: exit status")
    tally.equal(out, want_out, f"{fault}: standard output")
    tally.equal(n_requests, want_requests, f"{fault}: requests")
    for text in texts:
        tally.check(text in err, f"{fault}: says {text!r}", err)
    last = err.splitlines()[-1] if err else ""
    tally.equal(last.startswith("ask: "), code != 0, f"{fault}: a failure has the last word, and only a failure")
    tally.check(KEY not in out + err, f"{fault}: the key is not printed", err)


def check_table(tally, program, rows, server):
    """All at once: most of the time is waiting."""
    def played(fault):
        return ask(program, server.url(fault), *rows[fault][0])

    faults = [name for name in FAULTS if name != "elsewhere" and name in rows]
    with ThreadPoolExecutor(len(faults)) as pool:
        results = dict(zip(faults, pool.map(played, faults)))
    for fault in faults:
        check_row(tally, fault, rows[fault], results[fault], len(server.times[fault]))
    tally.equal(server.times["elsewhere"], [], "a redirect is followed by nobody")
    times = server.times["busy-3-s"]
    gaps = [after - before for before, after in zip(times, times[1:])]
    tally.check(len(gaps) == 2 and min(gaps) >= 3, "CLI-10: gaps of at least 3 s", str(gaps))
    for fault in ("no-usage", "null-usage"):
        tally.check("TTFT" in results[fault][2] and "prompt" not in results[fault][2],
                    f"{fault}: only what is known", results[fault][2])


def check_nobody(tally, program, row):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    check_row(tally, "nobody", row, ask(program, f"http://127.0.0.1:{port}/v1", *row[0]), 0)


def check_certificate(tally, program, row):
    """One that nobody has signed but itself."""
    if not shutil.which("openssl"):
        tally.skip("the wrong certificate", "no openssl command to make one")
        return
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder) / "own.pem"
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                               "/CN=127.0.0.1", "-keyout", str(pem), "-out", str(pem) + ".cert"],
                              capture_output=True, timeout=PATIENCE_S)
        if made.returncode != 0:
            tally.skip("the wrong certificate", "openssl cannot make one")
            return
        pem.write_text(pem.read_text() + Path(str(pem) + ".cert").read_text())
        server = FaultyServer({"certificate": [FINE]}, pem)
        result = ask(program, server.url("certificate"), *row[0])
        check_row(tally, "certificate", row, result, len(server.times["certificate"]))
        server.stop()


def check_json(tally, program, server):
    """A document also where it went wrong, with what came until then."""
    code, out, _ = ask(program, server.url("cut"), "--json")
    document = json.loads(out)
    tally.equal((code, document["answer"]), (1, "Hello"), "JSON: what came before the cut")
    tally.check("without [DONE]" in document["error"], "JSON: and why it ended", out)
    code, out, err = ask(program, server.url("null-usage"), "--json")
    document = json.loads(out)
    tally.equal((code, document["usage"]["prompt_tokens"], err), (0, None, ""), "JSON: null is null")


def check_interrupted_wait(tally, program, server):
    """Ctrl-C in a wait of 3 s."""
    process = subprocess.Popen([program, "--base-url", server.url("busy-3-s-again"), "Hello"], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    tally.check("(again in 3.0 s, as the server asks: try 2 of 3)" in line, "a wait is announced", line)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    tally.check(time.monotonic() - begin < 1.5, "Ctrl-C ends a wait at once")
    tally.equal((process.returncode, out, err), (1, "", "ask: cancelled\n"), "and says so")


def check_cases(tally):
    """Each case of the page is named by the tests that the page names."""
    rows = re.findall(r"^\| (CLI-\d+) \|.*\| (`.*`) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    tally.equal([case for case, _ in rows], [f"CLI-{n:02}" for n in range(1, 12)], "cases of the page")
    for case, tests in rows:
        for test in re.findall(r"`(.*?)`", tests):
            tally.check(case in (ROOT / test).read_text(encoding="utf-8"), f"{case} is tested in {test}")


def main():
    options = arguments(__doc__)
    tally = Tally()
    program = str(Path(options.bin).resolve() / "ask")
    rows = rows_of(PAGE)
    server = FaultyServer({**FAULTS, "busy-3-s-again": FAULTS["busy-3-s"]})
    tally.equal(sorted(rows), sorted(set(FAULTS) - {"elsewhere"} | BY_HAND), "faults of the page")
    check_table(tally, program, rows, server)
    if BY_HAND <= set(rows):
        check_nobody(tally, program, rows["nobody"])
        check_certificate(tally, program, rows["certificate"])
    check_json(tally, program, server)
    check_interrupted_wait(tally, program, server)
    check_cases(tally)
    server.stop()
    tally.finish()


if __name__ == "__main__":
    main()
