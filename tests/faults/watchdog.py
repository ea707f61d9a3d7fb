#!/usr/bin/env python3
"""serve under a service manager: what it says on NOTIFY_SOCKET, and what faults on purpose do to it.

    .venv/bin/python tests/faults/watchdog.py --model build/test/tiny.gguf --bin build/bin

The manager is a socket for datagrams, as systemd's is. Standard library only.
"""
import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

WATCHDOG_S = 0.3  # so that the test is short; a unit says 60


class Manager:
    """Keeps what it is told. address: a path, or @NAME."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.heard = []
        os.environ["NOTIFY_SOCKET"] = address
        os.environ["WATCHDOG_USEC"] = str(int(WATCHDOG_S * 1e6))

    def listen(self, seconds):
        """What comes in so many seconds."""
        end, new = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            with contextlib.suppress(socket.timeout):
                new.append(self.socket.recv(256).decode())
        self.heard += new
        return new

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC"):
            os.environ.pop(name, None)
        self.socket.close()


def check_life(args, tally, address):
    with Manager(address) as manager, Server(args) as server:
        told = manager.listen(2 * WATCHDOG_S)
        tally.check(told[:1] == ["READY=1"] or "READY=1" in told, f"{address}: ready", told)
        tally.check(told.count("WATCHDOG=1") >= 2, f"{address}: alive while idle", told)
        server.process.send_signal(signal.SIGHUP)  # systemctl reload, though there is no file of keys
        manager.listen(0.1)
        server.complete()
        tally.equal(server.stop(), 0, "ends well")
        told = manager.listen(0.1)
        tally.check("STOPPING=1" in told, f"{address}: stopping", told)
        tally.equal(manager.heard.count("READY=1"), 1, "ready once")


def check_without(args, tally):
    """No manager, or one that cannot be reached, harms nothing."""
    for address in ("", "nonsense", "/nowhere/at/all", "@" + "x" * 200):
        os.environ["NOTIFY_SOCKET"] = address
        with Server(args) as server:
            server.complete()
            tally.equal(server.stop(), 0, f"NOTIFY_SOCKET={address}")
    del os.environ["NOTIFY_SOCKET"]


def check_of_another(args, tally, folder):
    """A watchdog that is meant for another process is not fed by this one."""
    with Manager(f"{folder}/other") as manager:
        os.environ["WATCHDOG_PID"] = "1"
        try:
            with Server(args) as server:
                told = manager.listen(2 * WATCHDOG_S)
                tally.equal(told, ["READY=1"], "no word for the watchdog of another")
                server.stop()
        finally:
            del os.environ["WATCHDOG_PID"]


def check_hang(args, tally, folder):
    """A wedged engine: the watchdog starves, /health still answers; only SIGKILL ends it."""
    with Manager(f"{folder}/hang") as manager, Server(args, "--inject", "step-hang:3") as server:
        stuck = server.start({"max_tokens": 50})
        for _ in range(20):  # until the steps that go well are over
            if not (told := manager.listen(3 * WATCHDOG_S)):
                break
        tally.equal(told, [], "no word while the engine hangs")
        began = time.monotonic()
        status, _, health = server.get("/health")
        tally.check(status in (200, 503) and time.monotonic() - began < 1, "health answers", health)
        tally.equal(health["running"], 1, "it runs, or so it seems")
        server.process.send_signal(signal.SIGKILL)
        server.wait()
        stuck.close()


def check_slow(args, tally, folder):
    """A slow step is no dead one."""
    with Manager(f"{folder}/slow") as manager, Server(args, "--inject", "slow-step:2") as server:
        server.complete(max_tokens=3, ignore_eos=True)
        status, _, _ = server.get("/health")
        tally.equal(status, 200, "slow and well")
        tally.check("WATCHDOG=1" in manager.listen(WATCHDOG_S), "alive again")
        page = server.get("/metrics")[2].decode()
        gaps = [float(x.rsplit(" ", 1)[1]) for x in page.splitlines()
                if x.startswith("vllm:inter_token_latency_seconds_sum")]
        tally.check(gaps and gaps[0] >= 0.9, "the gap shows in the metrics", gaps)


def check_device(args, tally):
    """A device error: all who wait are told, and the status is 1, so that the manager restarts us."""
    # So many steps that the stream has begun: before its first byte it would hear a status, as the other does.
    with Server(args, "--inject", "device-error:200") as server:
        stream = server.start({"max_tokens": 400, "stream": True})
        whole = server.start({"max_tokens": 400})
        got = [b"".join(iter(lambda s=s: s.recv(65536), b"")).decode() for s in (stream, whole)]
        tally.equal(server.wait(), 1, "exit status")
        event = got[0].split("data: ")[-1].split("\n")[0]
        tally.equal(json.loads(event)["error"]["code"], "engine_failed", "the stream's last event")
        tally.check(got[1].startswith("HTTP/1.1 500 ") and '"engine_failed"' in got[1], "the whole answer", got[1])
        last = server.lines[-1]
        tally.check(last.startswith("serve: the device failed at step 200"), "one line says why", last)


def main():
    args = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        check_life(args, tally, f"{folder}/notify")
        if sys.platform == "linux":
            check_life(args, tally, f"@ladder-test-{os.getpid()}")
        check_without(args, tally)
        check_of_another(args, tally, folder)
        check_hang(args, tally, folder)
        check_slow(args, tally, folder)
        check_device(args, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
