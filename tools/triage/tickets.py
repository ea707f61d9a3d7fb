"""The tickets of data/triage: what they are made of, and what is missing in one. data/README.md has the format.

    data/triage/menu.json              all levels, first measurements and levers that an answer may name
    data/triage/level1/3/ticket.json   what a learner sees
    data/triage/level1/3/key.json      what is right, why, and what a wrong answer would cost
"""
import json
from dataclasses import dataclass
from pathlib import Path

from ladder.catalog import ROOT, Misused, Refused

FOLDER = ROOT / "data" / "triage"
NOTHING = 0  # the level of a ticket on which nothing is to be done
QUESTIONS = ("level", "measurement", "lever")
RUN_FIELDS = {"command": str, "output": list}
RUN_MORE = {"what": str, "needs": str}
MADE_FIELDS = {"file": str, "command": str}
TICKET_FIELDS = {"title": str, "symptom": str, "evidence": list}
KEY_FIELDS = {"level": int, "measurement": list, "lever": list, "shows": str, "measure": list, "made": list,
              "wrong": dict}
COST_FIELDS = {"says": str, "run": list}


@dataclass(frozen=True)
class Run:
    command: str
    output: tuple  # lines, as they came
    what: str      # a heading; may be empty
    needs: str     # "model": the tiny one will not do; else empty


@dataclass(frozen=True)
class Made:
    """A file of the evidence: what the command prints."""
    path: Path
    command: str
    needs: str

    @property
    def line(self):
        return f"{self.command} >{name_of(self.path)}"


@dataclass(frozen=True)
class Cost:
    says: str
    run: tuple  # of Run


@dataclass(frozen=True)
class Key:
    level: int
    right: dict   # question -> the names that are right, the best one first
    shows: str
    measure: tuple  # of Run: what a learner can type
    made: tuple     # of Made
    costs: dict     # level -> Cost, in the key's order: the dearest first
    why_not: dict   # "measurement" and "lever" -> {name: why it is not the one}


@dataclass(frozen=True)
class Ticket:
    level: int
    number: int
    title: str
    symptom: str
    evidence: tuple  # of Run
    key: Key
    folder: Path

    @property
    def name(self):
        return f"{self.level}.{self.number}"


@dataclass(frozen=True)
class Menu:
    """What an answer to each question may be: {question: {name: what it is}}, in the order shown."""
    choices: dict

    def names(self, question):
        return list(self.choices[question])


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{name_of(path)}: {error.strerror}; git checkout {name_of(path)} brings it back")
    except ValueError as error:
        raise Refused(f"{name_of(path)}: no JSON: {error}")


def name_of(path):
    return path.relative_to(ROOT).as_posix() if ROOT in path.parents else str(path)


def demand(value, fields, where, more=None):
    """That an object has exactly these fields, of these types, none of them empty; those of more it may have."""
    if not isinstance(value, dict):
        raise Refused(f"{where}: an object is wanted")
    for name, kind in fields.items():
        if not isinstance(value.get(name), kind) or isinstance(value.get(name), bool):
            raise Refused(f"{where}: {name} is missing, or no {kind.__name__}")
        if kind is not int and not value[name] and name not in ("made", "output"):
            raise Refused(f"{where}: {name} is empty")
    unknown = set(value) - set(fields) - set(more or ())
    if unknown:
        raise Refused(f"{where}: {', '.join(sorted(unknown))} is not known here")


def needs_of(value, where):
    if value.get("needs", "model") != "model":
        raise Refused(f"{where}: needs is \"model\" or is not there")
    return value.get("needs", "")


def run_of(value, where):
    demand(value, RUN_FIELDS, where, RUN_MORE)
    return Run(value["command"], tuple(value["output"]), value.get("what", ""), needs_of(value, where))


def made_of(values, place):
    """How each file came to be that is not the ticket or its key."""
    for value in values:
        demand(value, MADE_FIELDS, f"{name_of(place)}: made", ["needs"])
    named, there = {value["file"] for value in values}, {path.name for path in place.iterdir()}
    if named != there - {"ticket.json", "key.json"}:
        raise Refused(f"{name_of(place)}: made names {sorted(named)}, and there are {sorted(there)}")
    return tuple(Made(place / value["file"], value["command"], needs_of(value, name_of(place))) for value in values)


def runs_of(values, where):
    return tuple(run_of(value, f"{where} {i}") for i, value in enumerate(values, 1))


def spread(table, where):
    """{"2 3": x} is {"2": x, "3": x}; a name twice is a mistake."""
    spread_out = {}
    for names, value in table.items():
        for name in names.split():
            if name in spread_out:
                raise Refused(f"{where}: {name} stands there twice")
            spread_out[name] = value
    return spread_out


def demand_all(have, right, menu, question, where):
    """That each wrong answer of the menu has its explanation, and no right one has."""
    wanted = [name for name in menu.names(question) if name not in right]
    for name in right:
        if name not in menu.names(question):
            raise Refused(f"{where}: {question} {name} is not in the menu")
    for name in wanted:
        if name not in have:
            raise Refused(f"{where}: no word for {question} {name}")
    for name in have:
        if name not in wanted:
            raise Refused(f"{where}: {question} {name} is right, or not in the menu")


def cost_of(value, where):
    demand(value, COST_FIELDS, where)
    return Cost(value["says"], runs_of(value["run"], where))


def key_of(value, menu, place):
    where = name_of(place / "key.json")
    demand(value, KEY_FIELDS, where)
    demand(value["wrong"], {question: dict for question in QUESTIONS}, f"{where}: wrong")
    right = {"level": [str(value["level"])], "measurement": value["measurement"], "lever": value["lever"]}
    wrong = {question: spread(value["wrong"][question], where) for question in QUESTIONS}
    for question in QUESTIONS:
        demand_all(wrong[question], right[question], menu, question, where)
    for question in ("measurement", "lever"):
        demand(wrong[question], {name: str for name in wrong[question]}, f"{where}: wrong {question}")
    costs = {int(level): cost_of(cost, f"{where}: level {level}") for level, cost in wrong["level"].items()}
    return Key(value["level"], right, value["shows"], runs_of(value["measure"], f"{where}: measure"),
               made_of(value["made"], place), costs,
               {question: wrong[question] for question in ("measurement", "lever")})


# ---- what there is -------------------------------------------------------------------------------

def read_menu(level, folder=FOLDER):
    """What is known by that level: an entry comes with the level at which the course has it."""
    where = folder / "menu.json"
    document = read_json(where)
    demand(document, {"about": str, **{question: list for question in QUESTIONS}}, name_of(where))
    for question in QUESTIONS:
        for entry in document[question]:
            demand(entry, {"name": str, "what": str, "from": int}, f"{name_of(where)}: {question}")
    return Menu({question: {entry["name"]: entry["what"] for entry in document[question] if entry["from"] <= level}
                 for question in QUESTIONS})


def levels(folder=FOLDER):
    return sorted(int(path.name[len("level"):]) for path in folder.glob("level[0-9]"))


def read_ticket(folder, level, number, menu):
    place = folder / f"level{level}" / str(number)
    shown = read_json(place / "ticket.json")
    demand(shown, TICKET_FIELDS, name_of(place / "ticket.json"))
    evidence = runs_of(shown["evidence"], f"{name_of(place / 'ticket.json')}: evidence")
    key = key_of(read_json(place / "key.json"), menu, place)
    return Ticket(level, number, shown["title"], shown["symptom"], evidence, key, place)


def read_tickets(level, folder=FOLDER):
    """All of a level, by number."""
    if level not in levels(folder):
        known = ", ".join(map(str, levels(folder)))
        raise Misused(f"LEVEL={level}: no tickets of that level are here; there are tickets of level {known}")
    menu = read_menu(level, folder)
    numbers = sorted(int(path.name) for path in (folder / f"level{level}").iterdir() if path.name.isdecimal())
    return menu, [read_ticket(folder, level, number, menu) for number in numbers]
