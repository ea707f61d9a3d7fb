"""Processes that end with whoever started them: serve on a port, HAProxy in front of it."""
import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from lesson.server import ENDS, LessonError

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "deploy/haproxy.cfg"
DRAIN_S = 30      # what serve may take to finish its streams
PATIENCE_S = 60   # for anything that should come in the end
LOOK_S = 0.02     # between two looks

# Replicas are talked to directly, also where the way out leads through a proxy.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"


@contextlib.contextmanager
def signals_wait():
    """A process gets its name before a signal can end us, or that one would stay."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def spawn(command, mask, **how):
    """In a session of its own: a terminal's Ctrl-C is for us, and we end it."""
    try:
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, start_new_session=True,
                                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask), **how)
    except OSError as error:
        raise LessonError(f"{command[0]}: {error.strerror}; make all builds it")


def end(process, patience_s=5):
    """SIGTERM, and SIGKILL if it takes too long."""
    with signals_wait():
        process.terminate()
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_ports(n):
    """Nobody else has them now; whoever takes them in the next moment would be told by name."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def is_ready(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_for(what, holds, patience_s=PATIENCE_S):
    """Seconds that it took."""
    begin = time.monotonic()
    while not holds():
        if time.monotonic() - begin > patience_s:
            raise LessonError(f"after {patience_s} s still not: {what}")
        time.sleep(LOOK_S)
    return time.monotonic() - begin


class Replicas:
    """serve under names, each on its port, in one of several versions: version -> command. Safe from two
    threads: the lesson's, and that of the commands that rollout runs."""

    def __init__(self, versions, ports, folder):
        self.versions, self.ports, self.folder = versions, ports, Path(folder)
        self.lock, self.is_closed, self.processes = threading.Lock(), False, {}

    def start(self, name, version):
        with self.lock, signals_wait() as mask, open(self.folder / f"{name}.log", "ab") as log:
            if not self.is_closed:
                self.processes[name] = spawn([*self.versions[version], "--port", self.ports[name]], mask,
                                             stdout=log, stderr=log)

    def is_ready(self, name):
        if self.processes[name].poll() is not None:
            words = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
            raise LessonError(f"replica {name} did not start: {words[-1] if words else 'it said nothing'}")
        return is_ready(self.ports[name])

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def replace(self, name, version):
        end(self.processes[name], DRAIN_S)
        self.start(name, version)

    def close(self):
        with self.lock:
            self.is_closed = True
        for process in self.processes.values():
            end(process)


class Door:
    """HAProxy with deploy/haproxy.cfg on free ports."""

    def __init__(self, port, ports, folder):
        program = shutil.which("haproxy", path=os.environ["PATH"] + os.pathsep + "/usr/sbin")
        if not program:
            raise LessonError("there is no haproxy; make lesson2 installs it, or: apt-get install haproxy")
        self.port, self.socket_path = port, f"{folder}/door.sock"
        where = {f"LADDER_{name.upper()}": f"127.0.0.1:{number}" for name, number in ports.items()}
        with signals_wait() as mask, open(f"{folder}/door.log", "wb") as log:
            self.process = spawn([program, "-db", "-f", CONFIG], mask, stdout=log, stderr=log, env={
                **os.environ, **where, "LADDER_DOOR": f"127.0.0.1:{port}", "LADDER_SOCKET": self.socket_path})

    def command(self, text):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE_S)
            s.connect(self.socket_path)
            s.sendall(text.encode() + b"\n")
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def table(self, kind):
        """Rows of HAProxy's statistics by server; kind 2: of the backend, 4: of servers."""
        head, *rows = self.command(f"show stat replicas {kind} -1").strip().splitlines()
        names = head.lstrip("# ").split(",")
        return {row.split(",")[1]: dict(zip(names, row.split(","))) for row in rows}

    def all_up(self):
        try:
            return all(row["status"] == "UP" for row in self.table(4).values())
        except OSError:
            if self.process.poll() is not None:
                raise LessonError("HAProxy did not start: " + Path(self.socket_path).with_name("door.log").read_text())
            return False

    def n_repeated(self):
        """Requests that it sent a second time by itself."""
        return int(self.table(2)["BACKEND"]["wretr"] or 0)

    def n_open(self, name):
        return int(self.table(4)[name]["scur"])

    def close(self):
        end(self.process)
