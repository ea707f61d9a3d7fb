"""A serve of one's own on a free port, which ends with whoever started it."""
import collections
import contextlib
import re
import signal
import subprocess
from pathlib import Path

ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
READY = re.compile(r"ready: http://127\.0\.0\.1:(\d+)$")
DRAIN_S = 5  # what a step under way may take; then it is killed

Server = collections.namedtuple("Server", "port pid log")  # log: the lines that it says once it is ready


class LessonError(Exception):
    """One sentence: what did not go, and what to do."""


@contextlib.contextmanager
def heeded_signals():
    """Each signal that ends a program raises SystemExit here, so that everything open is closed."""
    def end(number, _):
        raise SystemExit(128 + number)
    before = {number: signal.signal(number, end) for number in ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop(process):
    """Leaves no process behind, however often one presses Ctrl-C meanwhile."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        process.terminate()
        try:
            process.wait(DRAIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stderr.close()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def start(program, model, options):
    """In a session of its own: a terminal's Ctrl-C is for us, and we stop it. Signals wait until the process has a
    name, or the one that comes in between would leave it running."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        process = subprocess.Popen([program, "--model", model, "--port", "0", "--log-level", "warn", *options],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True,
                                   preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise LessonError(f"{program}: {error.strerror}; make all builds it")
    return process, mask


def port_of(process):
    said = []
    for line in process.stderr:
        found = READY.match(line.rstrip())
        if found:
            return int(found.group(1))
        said.append(line)
    raise LessonError("serve did not start: " + ("".join(said[-1:]).strip() or "it said nothing"))


def peak_bytes(pid):
    """The most memory that a process has had, its part of the mapped model file included; None where only Linux
    would tell it."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M)
    except OSError:
        return None
    return int(found.group(1)) * 1024 if found else None


@contextlib.contextmanager
def running(program, model, options=()):
    """A serve that is ready. Who lets it say more than warnings reads its log: it warns of nothing that we send."""
    process, mask = start(program, model, options)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        yield Server(port_of(process), process.pid, process.stderr)
    finally:
        stop(process)
