"""A copy of the tree in which anything may be done: what a clone would hold, what is not committed yet, and
what was built, with its times, so that nothing is built a second time. Every exercise is its starter."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from ladder import catalog, judge, processes

LIMIT_S = 600  # one command, building included
MADE = {".git", ".venv", ".course", "build", "models", "__pycache__"}
LINKED = ("models", ".venv")  # large, and nothing here writes into them
NOT_COPIED = ("tsan", "clang", "fuzz", "race", "proof", "results.json", "modules.mk", "lock")  # of the build folder
# What the caller's make and shell have set must not show in what a learner would see.
FOREIGN = re.compile(r"^(MAKE.*|MFLAGS|WERROR|COURSE_SEED|CK_.*|EX|MINE|REF|COLUMNS|BUILD|JOBS|MODEL|ONLY|SEED|SEEDS|FROM|ROUTE|LEVEL|TICKET|ANSWER|CC)$")


def files_of(root):
    """Names of the tree's files, those not committed yet included; without git, of all but what is made."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.decode().split("\0") if name]
    return [path.relative_to(root).as_posix() for path in root.rglob("*")
            if path.is_file() and not MADE & set(path.relative_to(root).parts)]


class Scratch:
    def __init__(self, source, place):
        self.source, self.root = Path(source), Path(place)
        self.copy_files()
        if (self.source / "build").is_dir():
            shutil.copytree(self.source / "build", self.root / "build", symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns(*NOT_COPIED))
        for name in LINKED:
            if (self.source / name).exists():
                (self.root / name).symlink_to((self.source / name).resolve())
        self.course = catalog.load(self.root)
        self.solve([])

    def copy_files(self):
        for name in files_of(self.source):
            if (self.source / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.source / name, self.root / name)

    def read(self, path):
        return (self.root / path).read_text()

    def put(self, path, text):
        """Leaves a file alone that is right already, so that make does too."""
        file = self.root / path
        if not file.exists() or file.read_text(errors="replace") != text:
            file.write_text(text)

    def starter(self, ex):
        return judge.starter_text(ex, self.root)

    def solution(self, ex):
        return self.read(ex.solution)

    def solve(self, ids):
        """The exercises with these ids are solved, all others starters; nothing has passed yet."""
        for ex in self.course.exercises:
            self.put(ex.file, self.solution(ex) if ex.id in ids else self.starter(ex))
        shutil.rmtree(self.root / ".course", ignore_errors=True)
        (self.root / "build" / "results.json").unlink(missing_ok=True)

    def run(self, command, cwd=None, **env):
        """(exit status, what was printed on both outputs) of a command line, without a terminal."""
        clean = {key: value for key, value in os.environ.items() if not FOREIGN.match(key)}
        program = subprocess.Popen(["sh", "-c", command], cwd=cwd or self.root, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**clean, "TERM": "dumb", "LC_ALL": "C.UTF-8", **env})
        try:
            output = program.communicate(timeout=LIMIT_S)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            processes.end_session(program)
            output = program.communicate()[0].decode(errors="replace") + f"(no end after {LIMIT_S} s)\n"
        except BaseException:
            processes.end_session(program)
            raise
        return program.returncode, output
