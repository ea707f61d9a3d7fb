"""Tables made from course.json and the solutions, so that no number in a page can be out of date.

    <!-- table: core-path -->              a week of core exercises
    <!-- table: exercises-level1 -->       the exercises of a level, in order
    <!-- table: exercise rope -->          the line below the title of an exercise's page
    <!-- table: commands -->               what a learner types, as make help says it
    <!-- end -->

Tables of data/ are in facts.py, those of what was measured in measured.py.
"""
import os
import re

from docs_check import facts, measured
from ladder.cut import CutError, lines_to_write, regions_of

N_DAYS = 7
ESTIMATED = "minutes (estimated)"


class Course:
    """The exercises that exist: their page is there, their solution too and marked."""

    def __init__(self, catalog, root):
        self.catalog = catalog
        self.n_lines = {}
        for ex in catalog.exercises:
            try:
                text = (root / ex.solution).read_text()
                self.n_lines[ex.id] = lines_to_write(text, regions_of(text, ex.solution, ex.id))
            except (OSError, CutError):
                pass
        self.exercises = [ex for ex in catalog.exercises if ex.id in self.n_lines and (root / ex.doc).is_file()]

    def level_of(self, ex):
        return f"{ex.level} {self.catalog.level(ex.level).name}"


def days_of(exercises, n_days=N_DAYS):
    """Dealt in order, the days as even as can be: the least sum of squared minutes."""
    best = {0: (0, [])}  # exercises dealt so far -> (sum, days)
    for _ in range(min(n_days, len(exercises))):
        dealt = {}
        for begin, (total, days) in best.items():
            for end in range(begin + 1, len(exercises) + 1):
                day = exercises[begin:end]
                way = (total + sum(ex.minutes for ex in day) ** 2, days + [day])
                if end not in dealt or way[0] < dealt[end][0]:
                    dealt[end] = way
        best = dealt
    return best[len(exercises)][1] if len(exercises) in best else []


def link_to(ex, page):
    path = os.path.relpath(page.root / ex.doc, page.path.parent)
    return f"[{ex.title}]({path}) `{ex.id}`"


def total_of(course, exercises):
    minutes = sum(ex.minutes for ex in exercises)
    time = f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"
    plural = "exercise" if len(exercises) == 1 else "exercises"
    return (f"{len(exercises)} {plural}, {sum(course.n_lines[ex.id] for ex in exercises)} lines, "
            f"about {time}. Times are estimates until many have tried.")


def core_path(course, page):
    core = [ex for ex in course.exercises if ex.core]
    rows = ["| day | level | exercise | lines | " + ESTIMATED + " |", "|---|---|---|---|---|"]
    for number, day in enumerate(days_of(core), 1):
        for i, ex in enumerate(day):
            rows.append(f"| {number if i == 0 else ''} | {course.level_of(ex)} | {link_to(ex, page)} | "
                        f"{course.n_lines[ex.id]} | {ex.minutes} |")
    return [*rows, "", total_of(course, core)]


def exercises_of_level(course, page, level):
    found = [ex for ex in course.exercises if ex.level == level]
    rows = ["| | exercise | why | lines | " + ESTIMATED + " | points |", "|---|---|---|---|---|---|"]
    for ex in found:
        star = "\\*" if ex.core else ""
        rows.append(f"| {ex.number}{star} | {link_to(ex, page)} | {ex.why} | {course.n_lines[ex.id]} | "
                    f"{ex.minutes} | {ex.points} |")
    return [*rows, "", total_of(course, found) + " \\* on the core path."]


def facts_of_exercise(course, page, ex):
    n = course.n_lines.get(ex.id)
    file = os.path.relpath(page.root / ex.file, page.path.parent)
    back = os.path.relpath(page.root / f"docs/level{ex.level}/README.md", page.path.parent)
    words = [f"[Level {course.level_of(ex)}]({back})", "core" if ex.core else "not on the core path",
             "lines still to be marked" if n is None else f"{n} lines to write",
             f"about {ex.minutes} minutes (estimated)", f"[`{ex.file}`]({file})"]
    return [" · ".join(words)]


def commands(page):
    """The targets of the Makefile between "## to learn" and the next heading of its help."""
    makefile = page.root / "Makefile"
    _, _, rest = (makefile.read_text() if makefile.is_file() else "").partition("\n## to learn\n")
    targets = re.findall(r"^([a-z0-9%]+):[^#\n]*## (.*)$", rest.partition("\n## ")[0], re.M)
    return ["| type | for |", "|---|---|", *(f"| `make {name.replace('%', '1')}` | {what} |" for name, what in targets)]


def table_of(name, course, page):
    """The lines of a table; None: there is no table of this name."""
    level = re.fullmatch(r"exercises-level(\d)", name)
    exercise = [ex for ex in course.catalog.exercises if f"exercise {ex.id}" == name]
    if name == "core-path":
        return core_path(course, page)
    if name == "commands":
        return commands(page)
    if name in facts.TABLES:
        return facts.table_of(name, page.root)
    if name in measured.TABLES:
        return measured.table_of(name, page.root)
    if level and int(level.group(1)) in [item.level for item in course.catalog.levels]:
        return exercises_of_level(course, page, int(level.group(1)))
    return facts_of_exercise(course, page, exercise[0]) if exercise else None


def source_of(name):
    """Where the numbers of a table stand."""
    if name == "commands":
        return "Makefile"
    return "data/" if name in facts.TABLES else measured.RECORD if name in measured.TABLES else "course.json"


def regions_of_page(page):
    """(comment, index of its end, fault) of each table; one of the last two is None."""
    tables = [c for c in page.comments if c.kind in ("table", "end")]
    for comment, following in zip(tables, tables[1:] + [None]):
        if comment.kind == "table" and following and following.kind == "end":
            yield comment, following.line, None
        elif comment.kind == "table":
            yield comment, None, "a table without <!-- end -->"


def faults_of(page, course):
    for comment, end, fault in regions_of_page(page):
        wanted = None if fault else table_of(comment.value, course, page)
        if not fault and wanted is None:
            fault = f"no table is called '{comment.value}'"
        elif not fault and page.lines[comment.line + 1:end] != wanted:
            fault = f"table {comment.value} is not what {source_of(comment.value)} says: make refresh"
        if fault:
            yield page.fault(comment.line, fault)


def rewritten(page, course):
    """The page's text with its tables as they should be."""
    lines = list(page.lines)
    for comment, end, fault in reversed(list(regions_of_page(page))):
        wanted = None if fault else table_of(comment.value, course, page)
        if wanted is not None:
            lines[comment.line + 1:end] = wanted
    return "\n".join(lines)
