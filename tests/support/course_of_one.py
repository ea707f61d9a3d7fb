"""The ladder's tools, and exercises that exist nowhere but in a test."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from ladder import catalog  # noqa: E402  after the folder of the tools is known


def entry(name="turn", parts=(), **changes):
    """What would stand in course.json."""
    return {"id": name, "title": "Turn", "why": "It turns.", "level": 1, "file": f"level1-user/{name}.c",
            "header": f"level1-user/{name}.h", "suite": f"tests/level1/test_{name}.c", "tests": 4, "needs": [],
            "minutes": 20, "difficulty": 1, "core": True, "points": 4, "doc": f"docs/level1/{name}.md",
            "hints": ["Which?", "There.", "So."], "payoff": {"command": "make run", "sentence": "All do."},
            "parts": [{"id": f"{name}.{part}", "title": part, "points": 2, "extra": False} for part in parts], **changes}


def document(*entries):
    level = {"level": 1, "name": "user", "folder": "level1-user", "question": "What?", "integration": []}
    return {"schema": 1, "levels": [level, {**level, "level": 2, "name": "operator"}], "exercises": list(entries)}


def course(*entries):
    return catalog.Catalog(document(*entries))


def exercise(name="turn", **changes):
    return course(entry(name, **changes)).exercises[0]


def fill(root, files):
    """Writes {path: text} below a folder."""
    for name, text in files.items():
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
