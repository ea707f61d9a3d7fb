#!/usr/bin/env python3
"""Whether the files of deploy/ agree with serve: paths of probes, times, sizes. And with the programs that read them.

    tools/check_deploy.py

Each fact has one home: routes in level2-operator/server/http_route.c, limits in common/limits.h. Standard library only.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT = "deploy/systemd/inference-ladder@.service"
ROOM_FOR_HEADERS = 64 << 10  # behind the largest body: LIMIT_HEADER_BYTES, and what HAProxy adds
MAX_BUFFERS = 4 << 30        # two of each connection, in the worst case


class Problems(list):
    def require(self, holds, sentence):
        if not holds:
            self.append(sentence)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def limits(text):
    """LIMIT_NAME -> its value: a number, or one shifted."""
    found = re.findall(r"^\s*(LIMIT_\w+) = (\d+)(?: << (\d+))?,", text, re.M)
    return {name: int(value) << int(shift or 0) for name, value, shift in found}


def open_routes(text):
    """Paths that take GET and need no key: what a probe may ask. The comment above the table names its columns."""
    names = first(r"^\s*// (path +action .*)$", text, "the table of routes").split()
    rows = [dict(zip(names, re.findall(r"[\w/.-]+", row))) for row in re.findall(r'^\s*\{("/.*)\},$', text, re.M)]
    return {row["path"] for row in rows if row["open"] == "true" and row["get"] == "true"}


def without_comments(text):
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def first(pattern, text, name):
    found = re.search(pattern, text, re.M)
    if not found:
        raise SystemExit(f"check_deploy: {name}: nothing matches {pattern}")
    return found.group(1)


def seconds(text):
    """A time of HAProxy's: 200ms, 30s, 10m. Without a unit it counts milliseconds."""
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h|)", text).groups()
    return int(number) * {"": 0.001, "ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


# ---- the three files -----------------------------------------------------------------------------

def check_haproxy(p, text, limit, routes):
    text, name = without_comments(text), "deploy/haproxy.cfg"

    def time(option):
        return seconds(first(rf"^ *{option} (\S+)$", text, name))

    bufsize = int(first(r"^ *tune\.bufsize (\d+)$", text, name))
    p.require(bufsize == limit["LIMIT_BODY_BYTES"] + ROOM_FOR_HEADERS,
              f"{name}: tune.bufsize is {bufsize}, and a body with its headers takes "
              f"{limit['LIMIT_BODY_BYTES'] + ROOM_FOR_HEADERS}: a larger POST is never retried")
    p.require(limit["LIMIT_HEADER_BYTES"] < ROOM_FOR_HEADERS, f"{name}: headers do not fit behind a body")
    connections = int(first(r"^ *maxconn (\d+)$", text, name))
    p.require(2 * connections * bufsize <= MAX_BUFFERS + 2 * connections * ROOM_FOR_HEADERS,
              f"{name}: {connections} connections may take {2 * connections * bufsize >> 30} GiB of buffers")
    path = first(r"http-check send .*\buri (\S+)", text, name)
    p.require(path == "/ready" and path in routes, f"{name}: {path} is not the route that says who may take work")
    p.require(time("timeout http-keep-alive") < limit["LIMIT_IDLE_S"],
              f"{name}: timeout http-keep-alive: serve lets go after {limit['LIMIT_IDLE_S']} s, the door must be first")
    for side in ("client", "server"):
        p.require(time(f"timeout {side}") > limit["LIMIT_REQUEST_S"],
                  f"{name}: timeout {side} comes before serve's own end of a request, {limit['LIMIT_REQUEST_S']} s")
    p.require(time("hard-stop-after") > limit["LIMIT_DRAIN_S"], f"{name}: hard-stop-after is below serve's drain")
    p.require(re.search(r"^ *http-request deny .*path_beg /admin/", text, re.M), f"{name}: the door leads to /admin/")
    p.require("on-marked-down" not in text, f"{name}: on-marked-down would cut the streams of a replica that drains")


def check_unit(p, text, limit):
    text = without_comments(text)

    def time(option):
        return int(first(rf"^{option}=(\d+)$", text, UNIT))

    drain = int(first(r"--drain-seconds (\d+)", text, UNIT))
    p.require(time("TimeoutStopSec") > drain, f"{UNIT}: TimeoutStopSec must exceed the drain of {drain} s")
    p.require(time("WatchdogSec") >= limit["LIMIT_STALL_S"],
              f"{UNIT}: WatchdogSec is below LIMIT_STALL_S, {limit['LIMIT_STALL_S']} s: slow is not wedged")
    p.require(time("LimitNOFILE") > limit["LIMIT_CONNECTIONS"], f"{UNIT}: LimitNOFILE is below LIMIT_CONNECTIONS")
    p.require(first(r"^Type=(\S+)$", text, UNIT) == "notify", f"{UNIT}: Type=notify tells when it is ready")
    p.require(re.search(r"^Restart=on-failure$", text, re.M), f"{UNIT}: Restart=on-failure")


def probes(text):
    """startupProbe -> its path."""
    return dict(re.findall(r"(\w+Probe):\s+httpGet: \{path: ([^,}]+),", text))


def check_kubernetes(p, text, routes):
    text, name = without_comments(text), "deploy/kubernetes.yaml"
    want = {"startupProbe": "/ready", "readinessProbe": "/ready", "livenessProbe": "/health"}
    got = probes(text)
    p.require(got == want, f"{name}: probes ask {got}, and should ask {want}")
    for probe, path in got.items():
        p.require(path in routes, f"{name}: {probe}: serve has no open route {path}")
    grace = int(first(r"terminationGracePeriodSeconds: (\d+)$", text, name))
    drain = int(first(r'--drain-seconds, "(\d+)"', text, name))
    pause = int(first(r'command: \[sleep, "(\d+)"\]', text, name))
    p.require(grace > pause + drain, f"{name}: a grace of {grace} s ends before preStop and drain, {pause} + {drain} s")
    port = first(r"containerPort: (\d+)", text, name)
    p.require(f'--port, "{port}"' in text, f"{name}: containerPort {port} is not the --port of serve")
    p.require("\t" not in text, f"{name}: YAML knows no tabs")


# ---- what their own programs say -----------------------------------------------------------------

def say(p, name, *command):
    """Silence and 0 are right: warnings count."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    spoken = [line for line in (done.stdout + done.stderr).splitlines() if line != "Configuration file is valid"]
    p.require(done.returncode == 0 and not spoken, f"{name}: status {done.returncode}: " + " ".join(spoken))


def check_with_haproxy(p, path):
    if not shutil.which("haproxy"):
        print("skipped haproxy -c: there is no haproxy; make lesson2 installs it")
        return
    say(p, "deploy/haproxy.cfg", "haproxy", "-c", "-f", str(ROOT / path))


def check_with_kubectl(p, text):
    """As far as it goes without a cluster: the Deployment is read into kubectl's own types, and nothing sent anywhere."""
    if not shutil.which("kubectl"):
        print("skipped kubectl: there is none")
        return
    nowhere = {**os.environ, "KUBECONFIG": os.devnull}
    done = subprocess.run(["kubectl", "set", "image", "--local", "-f", "-", "serve=any", "-o", "name"], env=nowhere,
                          input=text.split("\n---\n")[0], capture_output=True, text=True, errors="replace")
    p.require(done.returncode == 0 and done.stdout.startswith("deployment.apps/"),
              f"deploy/kubernetes.yaml: kubectl: {done.stderr.strip()}")


def check_with_systemd(p, text):
    """On a copy, whose program is there: systemd looks for it, too."""
    if not shutil.which("systemd-analyze"):
        print("skipped systemd-analyze verify: there is no systemd")
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "inference-ladder@a.service"
        copy.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={shutil.which('true')}", text, flags=re.M))
        say(p, UNIT, "systemd-analyze", "verify", "--man=no", str(copy))


def main():
    os.environ["PATH"] += os.pathsep + "/usr/sbin"  # where Debian keeps haproxy
    p, limit = Problems(), limits(read("common/limits.h"))
    routes = open_routes(read("level2-operator/server/http_route.c"))
    check_haproxy(p, read("deploy/haproxy.cfg"), limit, routes)
    check_unit(p, read(UNIT), limit)
    check_kubernetes(p, read("deploy/kubernetes.yaml"), routes)
    check_with_haproxy(p, "deploy/haproxy.cfg")
    check_with_kubectl(p, read("deploy/kubernetes.yaml"))
    check_with_systemd(p, read(UNIT))
    print("\n".join(p) if p else "deploy: agrees with serve")
    return 1 if p else 0


if __name__ == "__main__":
    sys.exit(main())
