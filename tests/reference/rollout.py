#!/usr/bin/env python3
"""Checks rollout from outside, with real HAProxy and deploy/haproxy.cfg in front of two replicas under load: it replaces
both without a broken answer, and goes back when the new version does not start or fails; and a short lesson2.

    .venv/bin/python tests/reference/rollout.py --bin build/bin

Standard library only. Without haproxy it is skipped, aloud.
"""
import concurrent.futures
import contextlib
import http.client
import json
import os
import re
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
sys.path.insert(0, str(ROOT / "tools"))
from check_deploy import limits  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from fleet.commands import Commands  # noqa: E402
from fleet.load import Client, keys_of  # noqa: E402
from fleet.processes import Door, Replicas, free_ports, wait_for  # noqa: E402

PATIENCE_S = 60
COMMAND = f"{sys.executable} {ROOT / 'tools/fleet/commands.py'}"
# A version that is ready, and answers nothing else well.
FAILING = r"""
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/ready" else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
"""


class House:
    """Two replicas, the door, and clients who may not repeat."""

    def __init__(self, stack, args, model, folder):
        serve = [f"{args.bin}/serve", "--threads", "1", "--log-level", "warn", "--model"]
        versions = {"old": [*serve, model, "--model-id", "old"], "new": [*serve, model, "--model-id", "new"],
                    "absent": [*serve, f"{folder}/no.gguf"], "failing": [sys.executable, "-c", FAILING]}
        port, *ports = free_ports(3)
        self.program, self.folder = f"{args.bin}/rollout", folder
        self.door = Door(port, dict(zip("ab", ports)), folder)
        stack.callback(self.door.close)
        self.replicas = Replicas(versions, dict(zip("ab", ports)), folder)
        stack.callback(self.replicas.close)
        self.commands = Commands(f"{folder}/commands.sock", self.replicas.replace)
        stack.callback(self.commands.close)
        for name in "ab":
            self.replicas.start(name, "old")
        for name in "ab":
            wait_for(f"{name} is ready", lambda n=name: self.replicas.is_ready(n))
        wait_for("both are up", self.door.all_up)

    def to(self, version):
        return f"{COMMAND} {self.folder}/commands.sock {version}"

    def command(self, *options, replace="new", undo="old"):
        return [self.program, "--socket", self.door.socket_path, "--replace", self.to(replace), "--undo", self.to(undo),
                "--watch-seconds", "1", "--ready-seconds", "30", "--drain-seconds", "30", *options]

    def run(self, *options, **versions):
        return subprocess.run(self.command(*options, **versions), capture_output=True, text=True, timeout=PATIENCE_S)

    @contextlib.contextmanager
    def load(self, n_clients=3):
        """What its clients heard: filled when the load has ended."""
        heard, clients = [], [Client(f"client {i}", self.door.port, f"k{i}", 16, False, 0.03) for i in range(n_clients)]
        for client in clients:
            client.start()
        try:
            yield heard
        finally:
            for client in clients:
                client.tell_to_end()
            for client in clients:
                client.join(PATIENCE_S)
            heard += [this for client in clients for request in client.requests for this in request.tries]

    def serving(self):
        """The models behind the door, by replica."""
        models = {}
        for name, port in self.replicas.ports.items():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            connection.request("GET", "/v1/models")
            models[name] = json.loads(connection.getresponse().read())["data"][0]["id"]
            connection.close()
        return models


def check_there(tally, house):
    with house.load() as heard:
        done = house.run()
    tally.equal((done.returncode, done.stderr), (0, ""), "both are replaced")
    tally.equal(house.serving(), {"a": "new", "b": "new"}, "both are new")
    tally.equal([this.error for this in heard if this.error], [], "no answer broke off")
    tally.check({this.model for this in heard} == {"old", "new"} and len(heard) > 10, "both versions answered", str(len(heard)))
    order = re.findall(r"^ *[\d.]+ s  (\w+) +(draining|nothing open|replace command|ready|back in|new:)", done.stdout, re.M)
    steps = ["draining", "nothing open", "replace command", "ready", "back in", "new:"]
    tally.equal(order, [(name, step) for name in "ab" for step in steps], "one after the other")
    tally.equal(done.stdout.splitlines()[-1], "done: a new, b new", "the last line")


def check_back(tally, house):
    """From new: a version that is not there, then one that fails; each time the new one is there again."""
    with house.load() as heard:
        done = house.run("--watch-seconds", "0", "--ready-seconds", "3", replace="absent", undo="new")
    tally.equal(done.returncode, 1, "a version that does not start: status")
    tally.equal(done.stderr, "rollout: rolled back: not ready 3 s after its command; now: a old, b old\n", "what it says")
    tally.equal([this.error for this in heard if this.error], [], "nobody noticed")
    tally.equal(house.serving(), {"a": "new", "b": "new"}, "back")
    with house.load() as heard:
        done = house.run("--json", replace="failing", undo="new")
    report = json.loads(done.stdout)
    tally.equal((done.returncode, report["result"]), (1, "rolled_back"), "a version that fails")
    tally.check(re.match(r"\d+ of \d+ requests failed \(before: 0 of \d+\)$", report["why"]), "why", report["why"])
    tally.equal([r["version"] for r in report["replicas"]], ["old", "old"], "both are as before")
    tally.check(any("refused with 500" in this.error for this in heard), "it was seen by clients before it went")
    tally.equal(house.serving(), {"a": "new", "b": "new"}, "back again")
    wait_for("both are up", house.door.all_up)


def check_stop(tally, house):
    program = subprocess.Popen(house.command("--watch-seconds", "30"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    wait_for("it has begun", lambda: program.poll() is None)
    program.send_signal(signal.SIGINT)
    text, errors = program.communicate(timeout=PATIENCE_S)
    if program.returncode == -signal.SIGINT:  # it came before the program had looked up
        return
    tally.equal((program.returncode, errors), (1, "rollout: stopped; now: a old, b old\n"), "Ctrl-C before the first")


def check_killed(tally, house):
    """SIGKILL in the middle: the replica stays out. Who starts again is told how it comes back in."""
    program = subprocess.Popen([house.program, "--socket", house.door.socket_path, "--replace", "sleep 1", "--undo", "true",
                                "--watch-seconds", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("a is drained", lambda: house.door.table(4)["a"]["status"].startswith("DRAIN"))
    program.kill()
    program.wait()
    for options in ((), ("--dry-run",)):
        again = house.run(*options)
        tally.check(again.returncode == 1 and "is draining" in again.stderr, "nothing begins", again.stderr)
        told = re.search(r'echo "(set server replicas/a state ready)" \| socat stdio (\S+)', again.stdout)
        tally.check(told and told.group(2) == house.door.socket_path, "how it comes back in", again.stdout)
    house.door.command("set server replicas/a state ready")
    wait_for("both are up", house.door.all_up)


def check_drip(tally, house, folder):
    """A HAProxy that says one byte after the other holds nobody who presses Ctrl-C twice."""
    path = f"{folder}/drip.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(8)
        listener.settimeout(PATIENCE_S)
        program = subprocess.Popen(house.command("--socket", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first, _ = listener.accept()
        head = "pxname,svname,status,addr,scur,qcur,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,econ,eresp,srv_abrt,wretr"
        rows = "".join(f"replicas,{name},UP,127.0.0.1:1,0,0,1,0,0,0,0,0,0,0,0\n" for name in "ab")
        first.recv(1000)
        first.sendall(f"# {head}\n{rows}\n".encode())
        first.close()
        for _ in range(2):
            connection, _ = listener.accept()
            connection.recv(1000)
            connection.sendall(b"#")
            time.sleep(0.1)  # it waits for the next byte
            program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=PATIENCE_S)
        connection.close()
    tally.equal((program.returncode, errors),
                (1, "rollout: left at the second signal, in phase before of a; last seen: a old, b old\n"), "Ctrl-C, twice")


def check_blind(tally, house):
    """HAProxy goes away in the middle, and does not come back."""
    program = subprocess.Popen(house.command("--watch-seconds", "60"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    time.sleep(0.5)
    house.door.process.kill()
    text, errors = program.communicate(timeout=PATIENCE_S)
    tally.equal((program.returncode, text), (1, ""), "HAProxy is gone: status")
    tally.check("is HAProxy running" in errors and errors.endswith("; last seen: a old, b old\n"), "what was seen", errors)


def ask(port, key, is_stream):
    """Status and replica."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    body = json.dumps({"model": "default", "prompt": "x", "max_tokens": 4, "stream": is_stream, "user": "u" * 100_000})
    connection.request("POST", "/v1/completions", body, {"X-Prefix-Key": key})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("X-Replica")


def check_body(tally, house):
    """The largest body and more: the door leaves it to serve to say what is too large."""
    limit = limits((ROOT / "common/limits.h").read_text())["LIMIT_BODY_BYTES"]
    for size, status in ((limit, 400), (limit + 1, 413)):
        body = b'{"model": "default", "prompt": "%s"}' % (b"a" * (size - 34))
        connection = http.client.HTTPConnection("127.0.0.1", house.door.port, timeout=PATIENCE_S)
        connection.request("POST", "/v1/completions", body, {"X-Filler": "y" * 29_000})
        answer = connection.getresponse()
        text = answer.read().decode()
        tally.equal((len(body), answer.status), (size, status), f"a body of {size} bytes: {text[:200]}")
        tally.check(answer.headers.get("X-Replica") in ("a", "b"), "it was serve who said so")
        connection.close()


def look(port, path="/v1/models", key=""):
    """Status, headers and body of a GET through the door."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"X-Prefix-Key": key} if key else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def check_keys(tally, house):
    """The same key goes to the same replica. When one leaves, its keys go to the other, and they come back with it."""
    def places():
        return {f"k{i}": look(house.door.port, key=f"k{i}")[1]["X-Replica"] for i in range(24)}
    before = places()
    tally.check(set(before.values()) == {"a", "b"}, "keys are spread", before)
    tally.equal(places(), before, "the same key, the same replica")
    for gone, stays in ("ab", "ba"):
        house.door.command(f"set server replicas/{gone} state drain")
        tally.equal(set(places().values()), {stays}, f"without {gone}")
        house.door.command(f"set server replicas/{gone} state ready")
        tally.equal(places(), before, f"{gone} is back, and so are its keys")


def check_refusals(tally, house):
    """What the door says itself, it says in the words of the API."""
    for path in ("/metrics", "/admin/models", "/admin/anything"):
        status, _, body = look(house.door.port, path)
        tally.equal((status, json.loads(body)["error"]["code"]), (403, "not_here"), path)
    for name in "ab":
        house.door.command(f"set server replicas/{name} state maint")
    status, headers, body = look(house.door.port)
    tally.equal((status, headers["Retry-After"], json.loads(body)["error"]["code"]), (503, "1", "no_replica"), "nobody there")
    for name in "ab":
        house.door.command(f"set server replicas/{name} state ready")
    wait_for("both are up", house.door.all_up)


def check_words(tally, house, folder):
    told = house.run("--dry-run", "--replica", "b")
    tally.equal((told.returncode, told.stderr), (0, ""), "dry run")
    tally.check("b, 127.0.0.1:" in told.stdout and "a, 127" not in told.stdout, "only b would be replaced", told.stdout)
    tally.equal(house.serving(), {"a": "old", "b": "old"}, "and nothing was done")
    for options, status, says in (
            (("--replica", "c"), 1, "--replica c: no such server in backend replicas"),
            (("--replica", "a", "--replica", "a"), 1, "--replica a: named twice"),
            (("--backend", "nobody"), 1, "HAProxy says: No such proxy."),
            (("--backend", "a; shutdown"), 2, "not a name that HAProxy takes"),
            (("--socket", f"{folder}/nothing"), 1, "is HAProxy running")):
        done = house.run(*options)
        tally.equal((done.returncode, done.stdout), (status, ""), f"{options}: status, no output")
        tally.check(says in done.stderr and done.stderr.startswith("rollout: "), f"{options}", done.stderr)


def check_crash(tally, house):
    """While b answers one, two wait for it; b dies. Who only waited hears a's answer, also with a body of 100 KB."""
    key = keys_of(house.door.port, "ab", 1)["b"][0]
    told = Client("told", house.door.port, key, 3000, False)
    told.start()
    wait_for("b answers", lambda: told.is_amid("b"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = [pool.submit(ask, house.door.port, key, is_stream) for is_stream in (False, True)]
        wait_for("two wait", lambda: house.door.n_open("b") == 3)
        house.replicas.kill("b")
        for one in waiting:
            tally.equal(one.result(PATIENCE_S), (200, "a"), "who waited is answered by the other one")
    told.tell_to_end()
    told.join(PATIENCE_S)
    tally.check("broke off; " in told.tries[0].error, "who was being answered is told", told.tries[0].error)


def check_down(tally, house):
    wait_for("b is down", lambda: house.door.table(4)["b"]["status"].startswith("DOWN"))
    for options in ((), ("--dry-run",)):
        done = house.run(*options)
        tally.equal(done.returncode, 1, "nothing begins while one is down")
        tally.check("b is down" in done.stderr or "stuck at b: it is down" in done.stderr, "which one", done.stderr)


def start_lesson(args, model, seconds):
    return subprocess.Popen([sys.executable, ROOT / "tools/lesson2.py", "--bin", args.bin, "--model", model],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "LESSON_SECONDS": seconds})


def check_lesson(tally, program):
    text, errors = program.communicate(timeout=120)
    tally.equal((program.returncode, errors), (0, ""), f"lesson2 ends well: {text[-900:]}")
    total = re.search(r"^all +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", text, re.M)
    tally.check(total, "its table", text[-900:])
    if total:
        sent, finished, again, _, lost = map(int, total.groups())
        tally.check(sent == finished + lost and lost >= 1 and again >= 1, "every request is accounted for", total.group())
    tally.equal(len(re.findall(r"^ok ", text, re.M)), 7, "its promises")
    tally.check(max(map(len, text.splitlines()[3:])) <= 120, "120 columns")


def check_interrupted(tally, args, model):
    """Ctrl-C amid the lesson: no process is left that has our model on its command line."""
    program = start_lesson(args, model, "60")
    for line in program.stdout:
        if line.startswith("The door"):
            break
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=PATIENCE_S)
    tally.equal(program.returncode, 128 + signal.SIGINT, "interrupted")
    left = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True).stdout
    tally.equal([line for line in left.splitlines() if model in line], [], "no process is left")


# ---- three stories, side by side: each waits more than it works -----------------------------------

def there_and_back(tally, args, folder, model):
    with contextlib.ExitStack() as stack:
        house = House(stack, args, model, folder)
        check_there(tally, house)
        check_back(tally, house)
        check_stop(tally, house)


def trouble(tally, args, folder, model):
    with contextlib.ExitStack() as stack:
        house = House(stack, args, model, folder)
        check_words(tally, house, folder)
        check_keys(tally, house)
        check_refusals(tally, house)
        check_body(tally, house)
        check_crash(tally, house)
        check_down(tally, house)
        house.replicas.start("b", "old")
        wait_for("both are up", house.door.all_up)
        check_killed(tally, house)
        check_drip(tally, house, folder)
        check_blind(tally, house)


def lesson(tally, args, _, model):
    program = start_lesson(args, model, "2")
    try:
        check_lesson(tally, program)
    finally:
        program.terminate()
    check_interrupted(tally, args, model)


def play(story, args):
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/tiny.gguf"
        subprocess.run([sys.executable, ROOT / "tools/tiny_model.py", "--out", model, "--context", "4096"], check=True)
        story(tally, args, folder, model)
    return tally


def main():
    args, tally = arguments(__doc__), Tally()
    if not shutil.which("haproxy", path=os.environ["PATH"] + os.pathsep + "/usr/sbin"):
        tally.skip("rollout and lesson2", "there is no haproxy; make lesson2 installs it")
        tally.finish()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for one in pool.map(lambda story: play(story, args), (there_and_back, trouble, lesson)):
            tally.n_passed += one.n_passed
            tally.n_failed += one.n_failed
    tally.finish()


if __name__ == "__main__":
    main()
