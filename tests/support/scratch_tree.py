"""A copy of the tree in which a learner may do anything. What was built comes along, so that a walk does
not wait for it a second time."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files_of(root):
    """What a clone of the tree would hold, with what is not committed yet."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True)
    return [name for name in out.stdout.decode().split("\0") if name and (root / name).is_file()]


class ScratchTree:
    """Its path has a space in it, since people's paths do."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="ladder walk ")
        self.root = Path(self.place.name) / "inference ladder"
        for name in files_of(ROOT):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        for part in ("bin", "test"):
            if (ROOT / "build" / part).is_dir():
                shutil.copytree(ROOT / "build" / part, self.root / "build" / part, symlinks=True)
        if (ROOT / "build" / "compiler").exists():
            shutil.copy2(ROOT / "build" / "compiler", self.root / "build" / "compiler")
        for exercise in self.exercises():
            self.write(exercise["file"], self.starter(exercise["id"]))

    def close(self):
        self.place.cleanup()

    def exercises(self):
        return json.loads((self.root / "course.json").read_text())["exercises"]

    def exercise(self, name):
        return next(item for item in self.exercises() if item["id"] == name)

    def starter(self, name):
        """The committed starter, whatever stands in the tree that was copied."""
        cut = ("import sys; sys.path.insert(0, 'tools'); from ladder import catalog, judge; "
               f"print(judge.starter_text(catalog.load().find('{name}')), end='')")
        return subprocess.run(["python3", "-c", cut], cwd=self.root, capture_output=True, text=True, check=True).stdout

    def solution(self, name):
        return self.read("solutions/" + self.exercise(name)["file"])

    def read(self, path):
        return (self.root / path).read_text()

    def write(self, path, text):
        (self.root / path).write_text(text)

    def run(self, *command, cwd=None, status=None, **env):
        """(exit status, standard output and error). Variables of the caller's make are not passed on."""
        clean = {key: value for key, value in os.environ.items()
                 if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "BUILD", "MINE", "REF", "EX", "COURSE_SEED")}
        done = subprocess.run(command, cwd=cwd or self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, env={**clean, **env}, timeout=600)
        if status is not None and done.returncode != status:
            raise AssertionError(f"{' '.join(command)}: status {done.returncode}, want {status}\n{done.stdout}")
        return done.returncode, done.stdout

    def make(self, *words, status=0, **env):
        return self.run("make", *words, status=status, **env)[1]

    def test(self, name, status, *words, **env):
        """What `make test EX=` says; make itself ends with 2 when the recipe ends with 1."""
        return self.make("test", f"EX={name}", *words, status=2 if status else 0, **env)

    def results(self):
        return {item["id"]: item for item in json.loads(self.read("build/results.json"))["exercises"]}
