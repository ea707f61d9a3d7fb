#!/usr/bin/env python3
"""Mixed load for some time, then: is anything left behind? And how fast is a server there?

    .venv/bin/python tests/faults/soak.py --model build/test/tiny.gguf --bin build/bin --seconds 600

Standard library only.
"""
import os
import random
import statistics
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

N_CLIENTS, N_STARTS, READY_LIMIT_S = 4, 7, 0.5
GROWTH_KIB = 2048  # after the first fifth: of pages that the allocator keeps in pieces


def client(server, seed, end, counts, troubles):
    draw = random.Random(seed)
    what = {"whole": lambda: server.complete(f"Number {draw.random()}", max_tokens=draw.randint(1, 16)),
            "stream": lambda: server.stream(prompt=f"Letter {draw.random()}", max_tokens=draw.randint(1, 16)),
            "chat": lambda: server.stream("/v1/chat/completions", max_tokens=4,
                                          messages=[{"role": "user", "content": "x" * draw.randint(1, 200)}]),
            "tools": lambda: server.post("/tokenize", {"content": "word " * draw.randint(1, 500)}),
            "metrics": lambda: server.get("/metrics"),
            "refused": lambda: server.refuse(400, temperature=9),
            "broken": lambda: server.ask("POST", "/v1/completions", b"{" * draw.randint(1, 100)),
            "left": lambda: leave(server, draw)}
    while time.monotonic() < end:
        name = draw.choice(list(what))
        try:
            what[name]()
            counts[name] = counts.get(name, 0) + 1
        except Exception as trouble:
            troubles.append(f"{name}: {type(trouble).__name__}: {str(trouble)[:200]}")


def leave(server, draw):
    with server.start({"max_tokens": 200, "stream": draw.random() < 0.5}) as s:
        time.sleep(draw.random() * 0.02)
        s.close()


def files_of(server, want=None):
    """Descriptors that are open, once they are as many as wanted or have stopped changing."""
    end, before = time.monotonic() + 3, None
    while time.monotonic() < end:
        n = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        if n == (before if want is None else want):
            return n
        before = n
        time.sleep(0.2)
    return n


def soak(args, tally):
    with Server(args, "--log-level", "warn") as server:
        server.complete()
        n_files = files_of(server)
        counts, troubles, end = {}, [], time.monotonic() + args.seconds
        threads = [threading.Thread(target=client, args=(server, i, end, counts, troubles))
                   for i in range(N_CLIENTS)]
        for t in threads:
            t.start()
        time.sleep(args.seconds / 5)
        early = server.resident_kib()
        for t in threads:
            t.join()
        time.sleep(0.5)
        assert server.process.poll() is None, f"it ended with {server.process.poll()}: {server.lines[-3:]}"
        grown = server.resident_kib() - early
        print(f"{args.seconds:.0f} s, {sum(counts.values())} requests {dict(sorted(counts.items()))}: "
              f"{early} KiB after a fifth, {grown:+d} KiB at the end")
        tally.equal(troubles[:3], [], "what went wrong")
        tally.check(grown <= GROWTH_KIB, "memory", f"grew by {grown} KiB")
        tally.equal(server.inside(), (0, 0), "who is still inside")
        tally.equal(files_of(server, n_files), n_files, "descriptors")
        tally.equal(server.stop(), 0, "exit status")


def start_time(args, tally):
    times = []
    for _ in range(N_STARTS):
        began = time.monotonic()
        with Server(args):
            times.append(time.monotonic() - began)
    print(f"exec to ready: median {statistics.median(times):.3f} s, slowest {max(times):.3f} s of {N_STARTS}")
    tally.check(statistics.median(times) < READY_LIMIT_S, "ready in half a second", times)


def main():
    args = arguments(__doc__, lambda p: p.add_argument("--seconds", type=float, default=4))
    tally = Tally()
    if not Path("/proc/self/fd").exists():
        print("memory and descriptors of a process are counted on Linux alone")
        return 77
    start_time(args, tally)
    soak(args, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
