"""Processes of this machine: which of them belong to a program, and their end. Standard library only."""
import os
import signal
import subprocess
from pathlib import Path

MARK = "LADDER_RUN"  # in the environment of all that a run starts: "run", and of what that starts "run:inner"
MAX_ROUNDS = 20


def mark_below(name):
    """The mark of what is started as `name` from here: it continues our own."""
    return ":".join(filter(None, [os.environ.get(MARK), name]))


def all_ids():
    if Path("/proc/self").exists():
        return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [int(pid) for pid in subprocess.run(["ps", "-A", "-o", "pid="], capture_output=True).stdout.split()]


def is_zombie(pid):
    return Path(f"/proc/{pid}/stat").exists() and ") Z" in Path(f"/proc/{pid}/stat").read_text(errors="replace")


def has_mark(pid, mark):
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    own = f"{MARK}={mark}".encode()
    return any(word == own or word.startswith(own + b":") for word in words)


def end_session(program, mark=None):
    """Ends a program and all that it started. Check gives every test a process group of its own, so that
    the group is not enough; but all of them are in the program's session, or, where one has made a session
    of its own, have the mark in their environment."""
    end_all(lambda pid: os.getsid(pid) == program.pid or (mark and has_mark(pid, mark)), program.pid)


def end_marked(mark):
    end_all(lambda pid: has_mark(pid, mark))


def end_all(belongs, *first):
    """Ends every process that belongs to us, but not ourselves. belongs: may raise OSError for one that is gone."""
    for _ in range(MAX_ROUNDS):  # who starts others faster than we look is found in the next round
        found = False
        for pid in [*first, *all_ids()]:
            try:
                if pid != os.getpid() and belongs(pid):
                    os.kill(pid, signal.SIGKILL)
                    found = found or not is_zombie(pid)
            except OSError:
                pass  # it is gone already
        if not found:
            return
