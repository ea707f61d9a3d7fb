"""Nothing outlives a run, even if its runner is ended by SIGKILL and can clean up no more.

    runner ──pipe──▶ guard     waits for the end of the pipe, which comes when the runner ends, in whatever way;
      └─▶ suite ─▶ test        then it ends what carries the run's mark, and removes the run's folders

Linux finds the mark of any process; elsewhere the guard only removes the folders. Standard library only.
"""
import glob
import os
import secrets
import shutil
import signal
import tempfile

from ladder import processes

FOREVER = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM  # only the pipe ends a guard
N_FILES = 1024  # descriptors that a runner may have inherited


def begin():
    """What a runner does first, before it has threads: a guard stands behind it, and what it starts hears
    Ctrl-C, whoever started the runner."""
    hear_signals()
    os.environ[processes.MARK] = processes.mark_below(secrets.token_hex(8))
    ours, its = os.pipe()
    if os.fork() == 0:
        try:
            stand(ours)
        finally:
            os._exit(0)
    os.close(ours)
    return its  # stays open until the runner ends: no program that it starts inherits it


def hear_signals():
    """Who is started in the background, by nohup or by a script, is told to ignore SIGINT and SIGQUIT, and so
    is all that it starts. Caught, and not ignored, a signal does nothing here either, and has its usual
    meaning again in what we start."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def temporary_folder():
    """A folder for `with`, which the guard would remove as well."""
    return tempfile.TemporaryDirectory(prefix=folder_prefix())


def folder_prefix():
    return f"ladder-{os.environ.get(processes.MARK, '').rpartition(':')[2]}-"


def stand(pipe):
    """The guard's life."""
    for number in FOREVER:
        signal.signal(number, signal.SIG_IGN)
    os.setsid()
    os.dup2(pipe, 0)
    os.closerange(1, N_FILES)  # who reads what the runner says, must not wait for us
    while os.read(0, 1):
        pass
    processes.end_marked(os.environ[processes.MARK])
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), folder_prefix() + "*")):
        shutil.rmtree(folder, ignore_errors=True)
