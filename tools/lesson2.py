#!/usr/bin/env python3
"""The lesson of level 2 on live servers: two replicas behind HAProxy, a crash, and a roll-out under load.

    tools/lesson2.py [--bin DIR] [--model FILE] [--next FILE] [--flags TEXT]
    LESSON_SECONDS=120: about how long it may take

Four clients keep streams going. A replica is killed with SIGKILL, twice; then rollout puts another version in place of
both. Each request is accounted for. Standard library only; every process ends with the lesson.
"""
import argparse
import contextlib
import http.client
import subprocess
import sys
import tempfile
import time

from fleet.commands import Commands
from fleet.count import Kill, Phase, is_by_kill, judge, lines_of, row_of, total_of
from fleet.load import Client, keys_of
from fleet.processes import PATIENCE_S, ROOT, Door, Replicas, end, free_ports, signals_wait, spawn, wait_for
from lesson import machine, talk
from lesson.server import LessonError, heeded_signals
from lesson1 import seconds_given

NAMES = ("a", "b")
OLD, NEW = "version-1", "version-2"
CALM_SHARE, WATCH_SHARE, AFTER_SHARE = 0.12, 0.08, 0.05  # of the time
ANSWER_SHARE, MIN_ANSWER_S, MAX_ANSWER_S = 0.025, 0.3, 1.0  # what one answer takes alone, about
MAX_CRASHES = 3             # until one breaks off an answer: a fast one may be over in the same moment
MIN_TOKENS, MAX_SHARE = 16, 0.75  # of an answer; of the context


def say(*lines):
    print(*lines, sep="\n", end="\n" if lines else "", flush=True)


# ---- the scene -----------------------------------------------------------------------------------

def versions(program, model, other):
    """version -> command. One thread each: two replicas share this machine, and the clients, too. The rest as in
    deploy/systemd."""
    few = ["--threads", "1", "--drain-seconds", "30", "--ping-ms", "20000", "--log-level", "warn"]
    return {name: [program, "--model", file, "--model-id", name, *few] for name, file in ((OLD, model), (NEW, other))}


def answer_length(port, wanted_s):
    """Tokens that take one replica about so long; measured, with a request twice as long each time."""
    n, limit = MIN_TOKENS, int(MAX_SHARE * talk.n_context(port))
    while True:
        turn = talk.ask(port, [{"role": "user", "content": "Hello"}], n, n)
        if turn.last_s >= wanted_s / 4 or 2 * n > limit:
            return max(MIN_TOKENS, min(limit, int(n * wanted_s / turn.last_s)))
        n *= 2


class Scene:
    """All that runs, and what happened so far."""

    def __init__(self, stack, options, folder):
        self.bin, self.folder = options.bin, folder
        door_port, *ports = free_ports(3)
        self.ports = dict(zip(NAMES, ports))
        self.door = Door(door_port, self.ports, folder)
        stack.callback(self.door.close)
        commands = versions(f"{options.bin}/serve", options.model, options.next or options.model)
        self.replicas = Replicas(commands, self.ports, folder)
        stack.callback(self.replicas.close)
        self.commands = Commands(f"{folder}/commands.sock", self.replicas.replace)
        stack.callback(self.commands.close)
        self.clients, self.phases, self.kills = [], [], []

    def begin(self):
        for name in NAMES:
            self.replicas.start(name, OLD)
        for name in NAMES:
            wait_for(f"replica {name} is ready", lambda n=name: self.replicas.is_ready(n))
        wait_for("HAProxy has both", self.door.all_up)

    def load(self, n_tokens):
        """Two clients for each replica; of the two, one may repeat."""
        keys = keys_of(self.door.port, NAMES, 2)
        for name in NAMES:
            for key, may_repeat in zip(keys[name], (True, False)):
                who = f"client {len(self.clients) + 1}"
                self.clients.append(Client(who, self.door.port, key, n_tokens, may_repeat))
        for client in self.clients:
            client.start()

    @property
    def requests(self):
        return [request for client in self.clients for request in client.requests]

    def end_phase(self):
        """What happens after the last phase belongs to none."""
        now, n_repeated = time.monotonic(), self.door.n_repeated()
        if self.phases:
            self.phases[-1].ended_s = now
            self.phases[-1].n_by_door += n_repeated
        return now, n_repeated

    def phase(self, name):
        """It begins where the one before ends."""
        now, n_repeated = self.end_phase()
        self.phases.append(Phase(name, now, float("inf"), -n_repeated))
        return self.phases[-1]

    def end_load(self):
        for client in self.clients:
            client.tell_to_end()
        for client in self.clients:
            client.join(PATIENCE_S)


# ---- the parts of the lesson ---------------------------------------------------------------------

def tell_scene(scene, n_tokens, options):
    other = "another file" if options.next else "the same file under another name: a roll-out does not look inside"
    say(f"The door http://127.0.0.1:{scene.door.port} leads to replicas " +
        " and ".join(f"{name} (port {port})" for name, port in scene.ports.items()),
        f"and four clients keep asking for streams of {n_tokens} tokens. {OLD} runs; {NEW} is",
        f"{other}.", "")


def crash(scene, name, may_repeat):
    """SIGKILL while a client of this kind is amid an answer of this replica."""
    def amid():
        return any(c.may_repeat == may_repeat and c.is_amid(name) for c in scene.clients)
    wait_for(f"an answer of {name} has begun", amid)
    n_open = scene.door.n_open(name)
    kill = Kill(name, time.monotonic(), n_open)
    scene.replicas.kill(name)
    scene.kills.append(kill)
    began = time.monotonic()
    say(f"crash: SIGKILL to {name}, {n_open} request{'' if n_open == 1 else 's'} on it")
    wait_for(f"HAProxy sees that {name} is gone", lambda: scene.door.table(4)[name]["status"].startswith("DOWN"))
    gone_s = time.monotonic() - began
    scene.replicas.start(name, OLD)  # as systemd would, with Restart=on-failure
    wait_for(f"{name} is back", scene.door.all_up)
    say(f"  HAProxy knew after {gone_s:.1f} s; {name} was back, restarted, after {time.monotonic() - began:.1f} s")


def crash_until_seen(scene, name, may_repeat):
    """Once is enough, unless the answer was over before the replica was dead."""
    for _ in range(MAX_CRASHES):
        crash(scene, name, may_repeat)
        if any(is_by_kill(this, scene.kills[-1]) for c in scene.clients for this in c.tries if this.error):
            return


def tell_broken(scene):
    for client in scene.clients:
        then = "it may repeat, and asked again" if client.may_repeat else "it may not repeat: lost"
        say(*(f"  {client.name}: {this.error}; {then}" for this in client.tries if this.error))


def roll_out(scene, seconds):
    """rollout's own lines, indented."""
    how = f"{sys.executable} {ROOT / 'tools/fleet/commands.py'} {scene.folder}/commands.sock"
    watch = round(WATCH_SHARE * seconds)
    command = [f"{scene.bin}/rollout", "--socket", scene.door.socket_path, "--replace", f"{how} {NEW}",
               "--undo", f"{how} {OLD}", "--watch-seconds", watch, "--drain-seconds", PATIENCE_S]
    say(f"roll-out of {NEW}")
    with signals_wait() as mask:
        process = spawn(command, mask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        for line in process.stdout:
            say(f"  {line.rstrip()}")
        if process.wait() != 0:
            raise LessonError("rollout did not replace both; its last line says why")
    finally:
        end(process, 1)
        process.stdout.close()


def tell_versions(requests):
    models = [this.model for request in requests for this in request.tries if not this.error]
    say(f"whole answers of {OLD}: {models.count(OLD)}, of {NEW}: {models.count(NEW)}")


def teach(scene, seconds, options):
    scene.begin()
    n_tokens = answer_length(scene.ports[NAMES[0]], max(MIN_ANSWER_S, min(MAX_ANSWER_S, ANSWER_SHARE * seconds)))
    say(*machine.describe(options.bin, options.model, options.flags), "")
    tell_scene(scene, n_tokens, options)
    scene.phase("calm")
    scene.load(n_tokens)
    time.sleep(CALM_SHARE * seconds)
    scene.phase("crash")
    crash_until_seen(scene, NAMES[0], may_repeat=False)
    crash_until_seen(scene, NAMES[0], may_repeat=True)
    tell_broken(scene)
    rollout = scene.phase("roll-out")
    roll_out(scene, seconds)
    after = scene.phase("after")
    time.sleep(AFTER_SHARE * seconds)
    scene.end_load()
    scene.end_phase()
    return tell_end(scene, rollout, after)


def tell_end(scene, rollout, after):
    """Whether all promises held."""
    rows = [row_of(phase, scene.requests) for phase in scene.phases]
    total = total_of(rows)
    say("", *lines_of([*rows, total]), "")
    tell_versions(scene.requests)
    verdicts = judge(scene.requests, total, scene.kills, rollout, after, NEW)
    say(*(f"{'ok' if holds else 'FAILED':<7}{sentence}" for holds, sentence in verdicts))
    return all(holds for holds, _ in verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where serve and rollout are")
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    parser.add_argument("--next", metavar="FILE", help="the other version; else the same file under another name")
    parser.add_argument("--flags", default="", metavar="TEXT", help="what it was compiled with, to be printed")
    options = parser.parse_args()
    try:
        seconds = seconds_given()
        with heeded_signals(), tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            if not teach(Scene(stack, options, folder), seconds, options):
                raise LessonError("a promise did not hold; see FAILED above")
    except (LessonError, OSError, http.client.HTTPException) as error:
        print(f"lesson2: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
