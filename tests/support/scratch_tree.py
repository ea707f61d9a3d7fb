"""A copy of the tree for a learner's walk. Its path has spaces in it, since people's paths do."""
import json
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from ladder.scratch import Scratch  # noqa: E402


class ScratchTree(Scratch):
    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="ladder walk ")
        super().__init__(ROOT, Path(self.place.name) / "inference ladder")

    def close(self):
        self.place.cleanup()

    def exercise(self, name):
        return self.course.find(name)

    def write(self, path, text):
        (self.root / path).write_text(text)

    def make(self, *words, status=0, **env):
        """What make says; its status must be the one that is expected (None: any)."""
        got, said = self.run("make " + " ".join(shlex.quote(word) for word in words), **env)
        if status is not None and got != status:
            raise AssertionError(f"make {' '.join(words)}: status {got}, want {status}\n{said}")
        return said

    def test(self, name, status, *words, **env):
        """What `make test EX=` says; make itself ends with 2 when the recipe ends with 1."""
        return self.make("test", f"EX={name}", *words, status=2 if status else 0, **env)

    def results(self):
        return {item["id"]: item for item in json.loads(self.read("build/results.json"))["exercises"]}
