#!/usr/bin/env python3
"""Plays each fault of docs/level2/faults.md to `serve`, and holds it to what the table there says.

    .venv/bin/python tests/faults/serve_faults.py --model build/test/tiny.gguf --bin build/bin

The table is the list of checks: a fault without a row fails, and a row without a fault. What stands
between backquotes under "the operator sees" must be among what the server said, on standard error, in its
replies or on /metrics. Standard library only; the clock that jumps is compiled with cc.
"""
import argparse
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

PAGE = ROOT / "docs/level2/faults.md"
N_IDLE, N_HALF, N_SPARE = 10000, 1000, 500
FAULTS = {}


def fault(fn):
    """fn(args) plays it; what it returns is what the operator sees."""
    FAULTS[fn.__name__.replace("_", "-")] = fn
    return fn


class Skip(Exception):
    pass


# ---- what several faults do ---------------------------------------------------------------------


def says(server):
    return "".join(server.lines)


def dial(server):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    return s


def hear(s):
    """All that comes until the other side closes."""
    return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def page(server):
    return server.get("/metrics")[2].decode()


def is_well(server):
    """Health within a second, and an answer."""
    began = time.monotonic()
    assert server.get("/health")[0] == 200
    assert time.monotonic() - began < 1, f"/health took {time.monotonic() - began:.1f} s"
    assert server.complete(max_tokens=4, ignore_eos=True)["usage"]["completion_tokens"] == 4


def wait_for(condition, what, limit_s=10):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < limit_s, f"{what}: not within {limit_s} s"
        time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Mute:
    """A serve whose standard error goes to a file or pipe of ours; ready once /ready says so."""

    def __init__(self, args, stderr):
        self.port = free_port()
        self.process = subprocess.Popen([f"{args.bin}/serve", "--model", args.model, "--port", str(self.port)],
                                        stderr=stderr, stdin=subprocess.DEVNULL)
        self.get, self.post = (lambda *a, f=f: f(self, *a) for f in (Server.get, Server.post))
        wait_for(self.is_ready, "ready")

    def is_ready(self):
        try:
            return self.get("/ready")[0] == 200
        except ConnectionError:
            return False

    ask, connect, complete, cpu_s = Server.ask, Server.connect, Server.complete, Server.cpu_s

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# ---- the engine ---------------------------------------------------------------------------------


@fault
def step_hang(args):
    """SIGABRT stands for the service manager, whose watchdog hears nothing any more."""
    with Server(args, "--inject", "step-hang:3", "--stall-seconds", "1") as s:
        stuck = s.start({"max_tokens": 50})
        wait_for(lambda: s.get("/health")[0] == 503, "unhealthy")
        seen = str(s.get("/health")[2]) + str(s.get("/ready")[2]) + page(s)
        s.process.send_signal(signal.SIGABRT)
        s.process.wait(10)
        stuck.close()
        return seen


@fault
def slow_step(args):
    with Server(args, "--inject", "slow-step:2") as s:
        s.complete(max_tokens=3, ignore_eos=True)
        assert s.get("/health")[0] == 200
        seen = page(s)
        gaps = re.search(r'inter_token_latency_seconds_bucket\{[^}]*le="0.5"\} (\d+)', seen).group(1)
        count = re.search(r"inter_token_latency_seconds_count\{[^}]*\} (\d+)", seen).group(1)
        assert int(count) > int(gaps), (gaps, count)
        return seen


@fault
def device_error(args):
    with Server(args, "--inject", "device-error:5") as s:
        stream, whole = s.start({"max_tokens": 50, "stream": True}), s.start({"max_tokens": 50})
        seen = hear(stream) + hear(whole)
        assert seen.count("engine_failed") == 2, seen
        assert s.wait() == 1
        return seen + says(s)


@fault
def deadline(args):
    with Server(args, "--request-seconds", "1", "--inject", "slow-step:2") as s:
        stream, whole = s.start({"max_tokens": 50, "stream": True}), s.start({"max_tokens": 50})
        whole.settimeout(10)
        seen = whole.recv(65536).decode()
        stream.close()
        return seen + page(s)


# ---- the model's file ---------------------------------------------------------------------------


@fault
def model_cut(args):
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "cut.gguf"
        shutil.copy(args.model, model)
        with Server(argparse.Namespace(bin=args.bin, model=model)) as s:
            s.complete()
            os.truncate(model, 4096)
            client = s.start({"max_tokens": 4})
            assert s.wait() == 1
            client.close()
            seen = says(s)
            assert f"{model}: the file was cut short" in seen, seen
            return seen


@fault
def model_replaced(args):
    with tempfile.TemporaryDirectory() as folder:
        model, other = Path(folder) / "m.gguf", Path(folder) / "new"
        shutil.copy(args.model, model)
        other.write_bytes(b"something else")
        with Server(argparse.Namespace(bin=args.bin, model=model)) as s:
            before = s.complete()["choices"]
            os.rename(other, model)
            assert s.complete()["choices"] == before
            is_well(s)
            return says(s)


# ---- logs ---------------------------------------------------------------------------------------


@fault
def disk_full(args):
    if not Path("/dev/full").exists():
        raise Skip("there is no /dev/full")
    with open("/dev/full", "w") as full, Mute(args, full) as s:
        for _ in range(20):
            s.complete()
        seen = page(s)
        assert int(re.search(r"^ladder_log_lines_lost_total (\d+)", seen, re.M).group(1)) >= 20
        return seen


@fault
def log_reader_stands_still(args):
    read_end, write_end = os.pipe()
    with Mute(args, write_end) as s:
        os.close(write_end)
        for _ in range(500):  # more than a pipe holds
            s.get("/v1/models")
        s.complete()
        seen = page(s)
        assert int(re.search(r"^ladder_log_lines_lost_total (\d+)", seen, re.M).group(1)) > 0
        os.close(read_end)
        s.complete()
        return seen


# ---- connections --------------------------------------------------------------------------------


def allow_descriptors(n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < n:
        raise Skip(f"this check may open {hard} files, and needs {n}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n), hard))


@fault
def idle_connections(args):
    allow_descriptors(N_IDLE + N_SPARE)
    with Server(args) as s:
        s.complete()
        before_kib, before_s = s.resident_kib(), s.cpu_s()
        idle = [dial(s) for _ in range(N_IDLE)]
        is_well(s)
        grown = s.resident_kib() - before_kib
        assert grown < 32 << 10, f"{grown} KiB more"
        assert s.cpu_s() - before_s < 5, f"{s.cpu_s() - before_s:.1f} s of CPU"
        seen = page(s)
        for c in idle:
            c.close()
        return seen


@fault
def half_sent_requests(args):
    allow_descriptors(N_HALF + N_SPARE)
    with Server(args) as s:
        half = [dial(s) for _ in range(N_HALF)]
        for c in half:
            c.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        is_well(s)
        seen = page(s)
        for c in half:
            c.close()
        wait_for(lambda: "\nladder_connections 1\n" in page(s), "all are gone")
        return seen


@fault
def no_descriptors(args):
    if not hasattr(resource, "prlimit"):
        raise Skip("limits of another process can be set on Linux alone")
    with Server(args) as s:
        is_well(s)
        wait_for(lambda: "\nladder_connections 1\n" in page(s), "nobody else is there")
        time.sleep(0.2)  # and the last one has gone, too
        n_open = len(os.listdir(f"/proc/{s.process.pid}/fd"))
        old = resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (n_open, old[1]))
        client = dial(s)
        client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        before_s = s.cpu_s()
        wait_for(lambda: "no descriptor is left" in says(s), "a line in the log")
        time.sleep(1)
        assert s.cpu_s() - before_s < 0.2, f"it spins: {s.cpu_s() - before_s:.1f} s of CPU in a second"
        assert sum("no descriptor" in line for line in s.lines) == 1, says(s)
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, old)
        assert hear(client).startswith("HTTP/1.1 200 ")
        return says(s)


# ---- time ---------------------------------------------------------------------------------------


@fault
def clock_jumps(args):
    """Nothing expires, and no time is negative, though the wall clock jumps by a day at every look."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/jump.so"
        source = str(ROOT / "tests/faults/clock_jump.c")
        if sys.platform != "linux" or not shutil.which("cc"):
            raise Skip("needs Linux and cc")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        os.environ["LD_PRELOAD"] = library
        try:
            s = Server(args, "--request-seconds", "60")
        finally:
            del os.environ["LD_PRELOAD"]
        with s:
            kept = s.connect()
            for _ in range(3):
                kept.request("GET", "/health")
                assert kept.getresponse().read()
                is_well(s)
            seen = page(s)
            sums = [float(x) for x in re.findall(r"seconds_sum\{[^}]*\} (\S+)", seen)]
            assert all(0 <= x < 60 for x in sums) and any(sums), sums
            days = {line[5:15] for line in s.lines if line.startswith("time=")}
            assert len(days) > 1, "the clock did not jump"
            assert s.stop() == 0
            return seen


# ---- too much -----------------------------------------------------------------------------------


@fault
def queue_full(args):
    with Server(args, "--queue", "1", "--inject", "slow-step:2") as s:
        inside = [s.start({"max_tokens": 20}) for _ in range(2)]
        wait_for(lambda: sum(s.inside()) == 2, "two are inside")
        status, headers, body = s.post("/v1/completions", {"model": "default", "prompt": "x"})
        assert status == 429 and int(headers["Retry-After"]) >= 1, (status, headers)
        seen = str(body) + str(s.get("/ready")[2]) + page(s)
        for c in inside:
            c.close()
        return seen


@fault
def terminated(args):
    """One that is told to stop, and whose client would have to wait for longer than the drain time."""
    with Server(args, "--drain-seconds", "1", "--inject", "slow-step:2") as s:
        stream = s.start({"max_tokens": 50, "stream": True})
        assert b"data: " in stream.recv(65536) + stream.recv(65536)
        s.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "draining" in str(s.get("/health")[2]), "draining")
        seen = str(s.post("/v1/completions", {"model": "default", "prompt": "x"})[2]) + hear(stream)
        assert s.wait() == 0
        return seen + says(s)


# ---- the page -----------------------------------------------------------------------------------


def rows():
    """name -> what the operator sees."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        match = re.fullmatch(r"`([a-z-]+)`", cells[0].strip("| "))
        if match and len(cells) == 4:
            found[match.group(1)] = cells[2]
    return found


def check_cases(tally):
    """Each case of the page is named by the tests that the page names."""
    cases = re.findall(r"^\| ((?:SRV|TPL|KV)-\d+) \|.*\| (`.*`) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    tally.equal([case for case, _ in cases], [f"SRV-{n:02}" for n in range(1, 17)] + [f"TPL-{n:02}" for n in range(1, 7)]
                + ["KV-01", "KV-03", "KV-09", "KV-10"], "cases of the page")
    for case, tests in cases:
        for test in re.findall("`([^`]+)`", tests):
            tally.check(case in (ROOT / test).read_text(encoding="utf-8"), f"{case} is tested in {test}")


def main():
    args = arguments(__doc__, lambda p: p.add_argument("--only", metavar="PART", default=""))
    if not Path("/proc/self").exists():
        print("what a process holds and burns is read from /proc, which is not here")
        return 77
    tally, table = Tally(), rows()
    tally.equal(sorted(set(table) ^ set(FAULTS)), [], f"faults in {PAGE.name} and in this script")
    check_cases(tally)
    for name, fn in FAULTS.items():
        if args.only not in name:
            continue
        began = time.monotonic()
        try:
            seen = fn(args)
        except Skip as why:
            tally.skip(name, why)
            continue
        except Exception as trouble:  # one that fails must not hide the others
            tally.check(False, name, f"{type(trouble).__name__}: {str(trouble)[:800]}")
            continue
        missing = [part for part in re.findall(r"`([^`]+)`", table.get(name, "")) if part not in seen]
        tally.check(not missing, name, f"nobody said {missing}; but\n{seen[-800:]}")
        if args.only:
            print(f"{name}: {time.monotonic() - began:.1f} s")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
