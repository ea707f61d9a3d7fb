#!/usr/bin/env python3
"""The unit of deploy/systemd under a real systemd: ready, watchdog, crash, drain, reload, a new release, files of keys.

    .venv/bin/python tests/faults/systemd_unit.py --model build/test/tiny.gguf --bin build/bin

A systemd is started in namespaces of its own, so this needs Linux and root; elsewhere it is skipped, aloud. The unit is
the one that people copy; only its minute of watchdog and its second before a restart are shortened. Standard
library only.
"""
import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from own_systemd import OwnSystemd, Unavailable, why_not  # noqa: E402
from reference import Tally, arguments  # noqa: E402

UNIT = "inference-ladder@"
PATIENCE_S = 20
SKIPPED = 77  # for tools/run_tests.py
PORTS = {"a": 8081, "b": 8082, "c": 8083, "keys": 8084}
OPTIONS = {"a": "--inject slow-step:1", "c": "--inject step-hang:3",
           "keys": "--api-key-file /etc/inference-ladder/keys"}
KEYS = "sk-one-0123456789 one\n", "sk-two-0123456789 two\n"
SHORTER = "[Service]\nWatchdogSec=3\nRestartSec=20ms\n"  # longer than the steps of a
MAY_READ_KEYS = "[Service]\nSupplementaryGroups=ladder-keys\n"


# ---- the house -----------------------------------------------------------------------------------

def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build_house(house, args):
    """What deploy/README.md says, as files: three releases, one of them broken, and a replica for each part below."""
    base, units = house / "srv/inference-ladder", house / "etc/systemd/system"
    for release in ("old", "new", "broken"):
        (base / "releases" / release).mkdir(parents=True)
        shutil.copy(f"{args.bin}/serve", base / "releases" / release)
        shutil.copy(args.model, base / "releases" / release / "model.gguf")
    with open(base / "releases/broken/model.gguf", "r+b") as model:
        model.truncate(1000)
    shutil.copy(ROOT / "deploy/systemd/to", base)
    for name, port in PORTS.items():
        write(house / f"etc/inference-ladder/{name}.env", f"PORT={port}\nOPTIONS={OPTIONS.get(name, '')}\n")
        (base / name).mkdir()
        (base / name / "release").symlink_to("../releases/old")
    write(house / "etc/inference-ladder/keys", KEYS[0])
    (house / "etc/inference-ladder/keys").chmod(0o600)
    write(units / f"{UNIT}.service", (ROOT / f"deploy/systemd/{UNIT}.service").read_text())
    write(units / f"{UNIT}.service.d/shorter.conf", SHORTER)


# ---- requests ------------------------------------------------------------------------------------

def ask(name, path, body=None, key=None):
    """Status and body; (0, ...) where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", PORTS[name], timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {key.split()[0]}"} if key else {}
    try:
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return 0, repr(error)
    finally:
        connection.close()


def stream(name, n_tokens, heard):
    body = {"model": "default", "prompt": "Hello", "max_tokens": n_tokens, "ignore_eos": True, "stream": True}
    heard.append(ask(name, "/v1/completions", body))


@contextlib.contextmanager
def streaming(name, n_tokens):
    """What was heard: filled when the stream has ended. It is running before this goes on."""
    heard = []
    client = threading.Thread(target=stream, args=(name, n_tokens, heard))
    client.start()
    wait_for(lambda: '"running":1' in ask(name, "/health")[1])
    try:
        yield heard
    finally:
        client.join(PATIENCE_S)


def wait_for(holds):
    end = time.monotonic() + PATIENCE_S
    while not (result := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return result


# ---- what is checked -----------------------------------------------------------------------------

class Replica:
    def __init__(self, systemd, name):
        self.systemd, self.name, self.unit = systemd, name, f"{UNIT}{name}"

    def systemctl(self, verb):
        return self.systemd.run("systemctl", verb, self.unit)

    def get(self, name):
        return self.systemd.property(self.unit, name)

    def said(self):
        return self.systemd.run("journalctl", "-u", self.unit, "-o", "cat", "--no-pager").stdout

    def to(self, release):
        return self.systemd.run("/srv/inference-ladder/to", release, self.name).returncode

    def is_ready(self):
        return ask(self.name, "/ready")[0] == 200


def check_start(tally, replica):
    """Type=notify: when `start` returns, /ready says 200. And it runs as nobody, with no rights at all."""
    done = replica.systemctl("start")
    tally.equal((done.returncode, replica.is_ready()), (0, True), f"{replica.name}: started and ready")
    status = replica.systemd.run("cat", f"/proc/{replica.get('MainPID')}/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    tally.check(int(fields.get("Uid", "0").split()[0]) != 0, f"{replica.name}: is not root", status)
    tally.equal([fields.get(name) for name in ("CapEff", "NoNewPrivs", "Seccomp")], ["0" * 16, "1", "2"], "its rights")


def check_drain(tally, replica):
    """`stop` is SIGTERM: the stream is whole, nobody new comes in, and it ends by itself."""
    with streaming(replica.name, 3) as heard:
        stop = replica.systemctl("stop")
    tally.equal((stop.returncode, replica.get("Result"), replica.get("ExecMainStatus")), (0, "success", "0"), "stopped")
    tally.check(heard[0][0] == 200 and "[DONE]" in heard[0][1], "the stream is whole", heard)


def check_crash(tally, replica):
    before = replica.get("MainPID")
    replica.systemd.run("systemctl", "kill", "-s", "KILL", replica.unit)
    tally.check(wait_for(lambda: replica.get("NRestarts") == "1" and replica.is_ready()), "restarted after SIGKILL")
    tally.check(replica.get("MainPID") != before, "another process")


def check_releases(tally, replica):
    """More often than StartLimitBurst allows, since a roll-out that goes back must not be refused."""
    tally.equal([replica.to(release) for release in ("new", "old") * 3], [0] * 6, "six releases in a moment")
    tally.check(replica.to("broken") != 0, "one that does not start is said so")
    tally.equal((replica.to("new"), replica.is_ready()), (0, True), "and one can go back")
    link = replica.systemd.run("readlink", f"/srv/inference-ladder/{replica.name}/release").stdout
    tally.equal(link, "../releases/new\n", "the link")


def check_cut(tally, replica):
    """Somebody cuts the model's file while it is served: one line says so. It is started again, in vain, and given up."""
    model = "/srv/inference-ladder/releases/new/model.gguf"
    replica.systemd.run("cp", model, f"{model}.whole")
    replica.systemd.run("truncate", "-s", "1000", model)
    ask(replica.name, "/v1/completions", {"model": "default", "prompt": "Hello", "max_tokens": 4})
    tally.check(wait_for(lambda: replica.get("ActiveState") == "failed"), "it stays down", replica.get("ActiveState"))
    said = replica.said()
    tally.check("model.gguf: the file was cut short while it was in use" in said, "what happened", said)
    tally.check("Start request repeated too quickly" in said, "it was tried again", said)
    replica.systemd.run("mv", f"{model}.whole", model)
    tally.equal((replica.to("new"), replica.is_ready()), (0, True), "and with a whole file it is back")


def check_keys(tally, replica):
    """A file that only root may read is closed to DynamicUser; a group opens it; `reload` reads it again."""
    tally.check(replica.systemctl("start").returncode != 0, "keys of root: not started")
    said = replica.said()
    tally.check("serve: /etc/inference-ladder/keys: Permission denied" in said, "it says why", said)
    run = replica.systemd.run
    for command in ("groupadd --system ladder-keys", "chgrp ladder-keys /etc/inference-ladder/keys",
                    "chmod 640 /etc/inference-ladder/keys"):
        tally.equal(run(*command.split()).returncode, 0, command)
    run("sh", "-c", f"printf '{MAY_READ_KEYS}' > /etc/systemd/system/{UNIT}.service.d/keys.conf")
    run("systemctl", "daemon-reload")
    replica.systemctl("reset-failed")
    tally.equal(replica.systemctl("start").returncode, 0, "keys of its group: started")
    heard = [ask(replica.name, "/v1/models", key=key)[0] for key in KEYS]
    tally.equal(heard, [200, 401], "one key")
    run("sh", "-c", f"printf '{KEYS[1]}' >> /etc/inference-ladder/keys")
    before = replica.get("MainPID")
    tally.equal(replica.systemctl("reload").returncode, 0, "reload")
    tally.check(wait_for(lambda: ask(replica.name, "/v1/models", key=KEYS[1])[0] == 200), "the other key, too")
    tally.equal(replica.get("MainPID"), before, "and the same process")


def check_watchdog(tally, replica, before):
    """The engine hangs; systemd hears nothing for WatchdogSec, kills it, and starts it again."""
    tally.check(wait_for(lambda: replica.get("NRestarts") == "1" and replica.is_ready()), "restarted by the watchdog")
    tally.check(replica.get("MainPID") != before, "another process after the watchdog")
    said = replica.said()
    tally.check("Watchdog timeout (limit 3s)!" in said and "status=6/ABRT" in said, "the journal says why", said)


def check_all(tally, systemd):
    a, b, c, keys = (Replica(systemd, name) for name in PORTS)
    for replica in (a, b, c):
        check_start(tally, replica)
    before = c.get("MainPID")
    with streaming("c", 50) as heard:  # of the wedged one, while the others have their turn
        check_drain(tally, a)
        check_crash(tally, b)
        check_releases(tally, b)
        check_cut(tally, b)
        check_keys(tally, keys)
        check_watchdog(tally, c, before)
    tally.check("[DONE]" not in heard[0][1], "the stream of the wedged one is not whole", heard)


# ---- a network of its own ------------------------------------------------------------------------

def require_namespaces():
    why = why_not() or (None if shutil.which("ip") else "there is no ip")
    if not why and subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0:
        why = "no network namespace may be made"
    if why:
        raise Unavailable(why)


def inside(args):
    tally = Tally()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        build_house(Path(folder), args)
        with OwnSystemd(folder) as systemd:
            check_all(tally, systemd)
    return tally.finish()


def main():
    args = arguments(__doc__, lambda parser: parser.add_argument("--inside", action="store_true",
                                                                 help="in a network of its own already"))
    try:
        if args.inside:
            return inside(args)
        require_namespaces()
    except Unavailable as error:
        print(f"skipped the unit under systemd: {error}")
        return SKIPPED
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--inside"])


if __name__ == "__main__":
    sys.exit(main())
