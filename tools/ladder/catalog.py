"""course.json, the one list of exercises, and the paths that follow from it."""
import difflib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Refused(Exception):
    """One sentence for the person who typed the command: what, where, what to do."""

    status = 1


class Misused(Refused):
    """The command itself cannot be right: a name that does not exist."""

    status = 2


@dataclass(frozen=True)
class Part:
    id: str  # "rows.q4"
    title: str
    points: int
    extra: bool

    @property
    def name(self):
        return self.id.split(".")[1]


@dataclass(frozen=True)
class Exercise:
    id: str
    title: str
    why: str
    level: int
    number: str  # "L2.4": its place in the list, for show
    file: str  # the learner's, as all paths from the root
    header: str
    suite: str
    tests: int
    needs: tuple
    minutes: int
    difficulty: int
    core: bool
    points: int
    doc: str
    hints: tuple
    payoff: dict = field(hash=False)
    parts: tuple

    @property
    def solution(self):
        return "solutions/" + self.file


@dataclass(frozen=True)
class Level:
    level: int
    name: str
    folder: str
    question: str
    integration: tuple  # names of suites


def check_types(items, kind, what):
    """JSON does not say of which type a field has to be."""
    for item in items:
        for field_of in fields(kind):
            got = item.get(field_of.name, field_of.type() if field_of.name == "number" else None)
            want = {tuple: list}.get(field_of.type, field_of.type)
            if type(got) is not want:
                raise ValueError(f"{what} {item.get('id', item.get('level'))}: {field_of.name} is "
                                 f"{'missing' if got is None else repr(got)}, must be of type {want.__name__}")


class Catalog:
    def __init__(self, document):
        check_types(document["levels"], Level, "level")
        check_types(document["exercises"], Exercise, "exercise")
        ids = [item["id"] for item in document["exercises"]]
        for name in {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"the id {name} stands there twice")
        self.levels = [Level(**{**item, "integration": tuple(item["integration"])})
                       for item in document["levels"]]
        self.exercises = []
        places = {}
        for item in document["exercises"]:
            places[item["level"]] = places.get(item["level"], 0) + 1
            self.exercises.append(Exercise(**{
                **item, "number": f"L{item['level']}.{places[item['level']]}",
                "needs": tuple(item["needs"]), "hints": tuple(item["hints"]),
                "parts": tuple(Part(**part) for part in item["parts"])}))

    def of_level(self, level):
        return [ex for ex in self.exercises if ex.level == level]

    def level(self, number):
        return next(level for level in self.levels if level.level == number)

    def find(self, name):
        """By id or display number. A name that is neither gets the nearest ones in the answer."""
        for ex in self.exercises:
            if name.lower() in (ex.id, ex.number.lower()):
                return ex
        ids = [ex.id for ex in self.exercises]
        near = difflib.get_close_matches(name.lower(), ids, n=1, cutoff=0.5)
        guess = f"; did you mean {near[0]}?" if near else "."
        raise Misused(f"no exercise '{name}'{guess} There are: {', '.join(ids)}")


def load(root=ROOT):
    try:
        document = json.loads((root / "course.json").read_text())
        return Catalog(document)
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise Refused(f"course.json: {error}; git checkout course.json brings it back") from error
