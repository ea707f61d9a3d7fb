"""Builds by make, and writes the two files that tell make what is linked.

build/modules.mk is rewritten only when its text changes, and everything that depends on the choice
depends on it: so a switch is never served by an old object.
"""
import errno
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from ladder import sources as source_graph
from ladder.catalog import Refused

JOBS = os.environ.get("JOBS") or str(os.cpu_count() or 2)


def build_dir():
    return os.environ.get("BUILD") or "build"


def object_of(source, build):
    """Where make puts the sanitized object of a source."""
    name = Path(source)
    if name.name.startswith("test_"):
        return f"{build}/test/obj/{name.stem}.o"
    return f"{build}/test/obj/{name.with_suffix('.o').as_posix()}"


def learner_object(exercise, build):
    return f"{build}/test/mine/{Path(exercise.file).with_suffix('.o').as_posix()}"


def suite_binary(exercise, build):
    return f"{build}/test/exercises/{exercise.id}"


def modules_mk(course, mine):
    """Which modules programs take from the learner; --version prints it."""
    stars = " ".join(ex.id + ("*" if ex.id in mine else "") for ex in course.exercises)
    files = " ".join(ex.file for ex in course.exercises if ex.id in mine)
    return f"# Written by tools/course.py.\nMODULES := {stars}\nLEARNED := {files}\n"


def suites_mk(course, sources):
    """What the suite of each exercise links."""
    out = ["# Written by tools/course.py.", "EXERCISES := " + " ".join(ex.id for ex in course.exercises),
           "COPIES := " + " ".join(name for name in sources.copies if " " not in name)]
    for ex in course.exercises:
        needed = source_graph.suite_sources(sources, ex)
        target = suite_binary(ex, "$(BUILD)")
        objects = [learner_object(ex, "$(BUILD)")] + [object_of(name, "$(BUILD)") for name in needed]
        out.append(f"{target}: {' '.join(objects)}")
        out.append(f"{target}: SUITE_LIBS := {' '.join(sources.libraries([ex.file, ex.suite, *needed]))}")
    return "\n".join(out) + "\n"


def write_sums(exercises, build, root):
    """What each learner's file is made of. Objects depend on it: an old copy that is put back looks older to
    make than the object of what it replaced."""
    for ex in exercises:
        if (root / ex.file).is_file():
            digest = hashlib.sha256((root / ex.file).read_bytes()).hexdigest()
            write_if_changed(Path(build, "sums", ex.file).with_suffix(".sum"), digest + "\n")


def write_if_changed(path, text):
    """True if it wrote. A reader sees the old text or the new one, never half of it."""
    path, data = Path(path), text.encode()
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise not_writable(path, error) from error
    return True


def not_writable(path, error):
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(f"{path}: {error.strerror}; make room for it, then the same command again")
    return Refused(f"{path}: {error.strerror}; this tree cannot be written: copy it to where you may write, or "
                   "give make BUILD=DIR")


@contextmanager
def lock(build):
    """One build at a time; the second waits and says so."""
    path = Path(build, "lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a")
    except OSError as error:
        raise not_writable(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"waiting for another build in {build}", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make_environment():
    """Variables given to the make that called us hold for ours, too; its flags and its job server do not:
    after make -n or -t an old suite would be taken for a new one. Compilers speak English, which we read."""
    _, dashes, variables = f" {os.environ.get('MAKEFLAGS', '')}".partition(" -- ")
    return {**os.environ, "MAKEFLAGS": dashes.strip() + " " + variables if variables else "", "LC_ALL": "C"}


def make_program():
    program = shutil.which(os.environ.get("MAKE", "make").split()[0])
    if program is None:
        raise Refused("no make here; make setup cannot run without it: install make first")
    return program


def make(targets, keep_going=True):
    """Runs make; its exit status and everything that it said."""
    command = [make_program(), "--no-print-directory", "-s", f"-j{JOBS}", *(["-k"] if keep_going else []), *targets]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=make_environment(), stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def make_aloud(targets):
    """Builds and shows how far it is; whether all could be built. tools/build.sh takes the lock itself."""
    command = ["tools/build.sh", build_dir(), JOBS, *targets]
    return subprocess.run(command, env={**make_environment(), "MAKE": make_program()},
                          stdin=subprocess.DEVNULL).returncode == 0


def missing_libraries(names):
    """Which of the pkg-config names are not here."""
    if shutil.which("pkg-config") is None:
        return ["pkg-config"]
    return [name for name in names
            if subprocess.run(["pkg-config", "--exists", name], capture_output=True).returncode != 0]


def compiler():
    return shlex.split(os.environ.get("CC") or "gcc")[0]
