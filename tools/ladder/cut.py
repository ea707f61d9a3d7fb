"""From a marked solution to the starter that a learner gets.

    // [exercise rope]       inside a body: the region becomes EXERCISE("rope");
    // [exercise rope drop]  at file level: the region vanishes
    // [end]

A part of an exercise is written "rows.q4". Nothing else in a solution changes, so what a learner reads
is what upstream compiles.
"""
import re
from dataclasses import dataclass

from ladder.catalog import Refused

MARKER = re.compile(r"^(\s*)// \[exercise ([a-z0-9.-]+)( drop)?\]$")
END = re.compile(r"^\s*// \[end\]$")
LIKE_A_MARKER = re.compile(r"\[exercise|^\s*//+\s*\[[^\]]*\]\s*$")  # also "//[end]" and "// [exercice x]"
INCLUDE = re.compile(r'^#include (["<])([^">]+)[">]$')
EXERCISE_HEADER = '#include "common/exercise.h"'
STATIC = re.compile(r"^static\b(?:[^;{=(\[]|\{[^}]*\})*?\b(\w+)\s*([(\[=;])", re.M)
ENUM = re.compile(r"^enum(?:\s+\w+)?\s*\{([^}]*)\}", re.M)
QUOTED_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.S)

# Names that show that a system header is still used.
SYSTEM_NAMES = {
    "assert.h": r"assert", "ctype.h": r"is(alpha|digit|space|alnum|print|xdigit)|to(lower|upper)",
    "errno.h": r"errno|E[A-Z]{3,}", "float.h": r"(FLT|DBL)_\w+", "inttypes.h": r"(PRI|SCN)\w+",
    "jansson.h": r"json_\w+", "limits.h": r"U?(INT|LONG|CHAR|SHRT)_(MAX|MIN)",
    "math.h": r"(sqrt|exp|pow|log|cos|sin|fabs|fma|fmax|fmin|floor|ceil|lrint|round|ldexp)f?|"
              r"INFINITY|NAN|HUGE_VAL|is(nan|inf|finite)",
    "stdarg.h": r"va_\w+", "stdbool.h": r"bool|true|false", "stddef.h": r"size_t|NULL|ptrdiff_t|offsetof",
    "stdint.h": r"u?int(8|16|32|64|ptr|max)_t|U?INT(8|16|32|64)_(MAX|MIN|C)|SIZE_MAX",
    "stdio.h": r"\w*printf|FILE|f?puts|fputc|putchar|std(out|err|in)|fflush",
    "stdlib.h": r"malloc|calloc|realloc|free|qsort|bsearch|abs|strto\w+|getenv",
    "string.h": r"mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp|chr|rchr|str|spn|cspn|dup)",
}


class CutError(Refused):
    """What is wrong with the markers, with file and line."""


@dataclass(frozen=True)
class Region:
    id: str
    is_drop: bool
    first: int  # line index of the marker
    last: int  # line index of its end
    indent: str


def regions_of(text, path, exercise_id):
    """All marked regions, in order. A wrong marker is an error, never plain text."""
    found, open_at = [], None
    for i, line in enumerate(text.splitlines()):
        match = MARKER.match(line)
        if match and open_at is not None:
            raise CutError(f"{path}:{i + 1}: a region inside the one of line {open_at[0] + 1}")
        if match:
            if match.group(2).split(".")[0] != exercise_id:
                raise CutError(f"{path}:{i + 1}: marks {match.group(2)} in the file of {exercise_id}")
            open_at = (i, match)
        elif END.match(line):
            if open_at is None:
                raise CutError(f"{path}:{i + 1}: an end without a beginning")
            begin, match = open_at
            found.append(Region(match.group(2), bool(match.group(3)), begin, i, match.group(1)))
            open_at = None
        elif LIKE_A_MARKER.search(line):
            raise CutError(f"{path}:{i + 1}: not a marker: {line.strip()}")
    if open_at is not None:
        raise CutError(f"{path}:{open_at[0] + 1}: a region without an end")
    if not any(not region.is_drop for region in found):
        raise CutError(f"{path}: marks nothing to write")
    return found


def check_parts(regions, exercise):
    """Every region belongs to a part, if the exercise has parts, and every part has something to write."""
    parts = {part.id for part in exercise.parts} or {exercise.id}
    for region in regions:
        if region.id not in parts:
            raise CutError(f"{exercise.solution}:{region.first + 1}: marks {region.id}; in course.json stands "
                           + ", ".join(sorted(parts)))
    missing = parts - {region.id for region in regions if not region.is_drop}
    if missing:
        raise CutError(f"{exercise.solution}: marks nothing to write for {', '.join(sorted(missing))}")


def lines_to_write(text, regions):
    """Lines of code in the regions: neither blank nor only a comment."""
    lines = text.splitlines()
    return sum(1 for r in regions for line in lines[r.first + 1:r.last]
               if line.strip() and not line.strip().startswith("//") and not INCLUDE.match(line))


def with_exercise_header(lines):
    """Puts the include where the house order wants it: own header, system, project, each group sorted."""
    if EXERCISE_HEADER in lines:
        return lines
    includes = [i for i, line in enumerate(lines) if INCLUDE.match(line)]
    project = [i for i in includes[1:] if lines[i].startswith('#include "')]
    if not project:
        last = includes[-1] + 1
        return lines[:last] + ["", EXERCISE_HEADER] + lines[last:]
    at = next((i for i in project if lines[i] > EXERCISE_HEADER), project[-1] + 1)
    return lines[:at] + [EXERCISE_HEADER] + lines[at:]


def without_double_blanks(lines):
    return [line for i, line in enumerate(lines) if line or (i > 0 and lines[i - 1])]


def starter_of(text, exercise):
    """The learner's file, from the solution's text."""
    regions = regions_of(text, exercise.solution, exercise.id)
    check_parts(regions, exercise)
    lines, kept, at = text.splitlines(), [], 0
    if not any(INCLUDE.match(line) for line in lines):
        raise CutError(f"{exercise.solution}: includes nothing, not even {exercise.header}")
    for region in regions:
        kept += lines[at:region.first]
        if not region.is_drop:
            kept.append(f'{region.indent}EXERCISE("{region.id}");')
        at = region.last + 1
    kept = with_exercise_header(without_double_blanks(kept + lines[at:]))
    head = [f"// Yours to write. Contract: {exercise.header}. Explained: {exercise.doc}.",
            f"// Red or green: make test EX={exercise.id}"]
    if kept[0].startswith("//"):
        head.append("//")
    return "\n".join(head + kept).rstrip("\n") + "\n"


def code_of(text):
    """The text without comments and strings, which use nothing."""
    return QUOTED_OR_COMMENT.sub(lambda match: '""' if match.group(1) else " ", text)


def names_declared_in(header_text):
    code = code_of(header_text)
    names = set(re.findall(r"\b(\w+)\s*\(", code)) | set(re.findall(r"#define\s+(\w+)", code))
    names |= set(re.findall(r"\b(?:struct|enum)\s+(\w+)\s*\{", code))
    names |= set(re.findall(r"^\s+([A-Z][A-Z0-9_]+)\s*(?:=[^,\n]*)?,?\s*$", code, re.M))
    names |= set(re.findall(r"typedef[^;]*?\b(\w+)\s*;", code)) | set(re.findall(r"\b([A-Z][A-Z0-9_]+)\s*[=,}]", code))
    names |= set(re.findall(r"\bextern\b[^;]*?\b(\w+)(?:\[[^\]]*\])?\s*;", code))
    return names


def is_used(name, code, at_least=1):
    return len(re.findall(rf"\b{re.escape(name)}\b", code)) >= at_least


def unused_includes(text, read_file):
    """Includes of which the text uses nothing. The first is the file's own header and stays."""
    code = code_of("\n".join(line for line in text.splitlines() if not INCLUDE.match(line)))
    found = [INCLUDE.match(line) for line in text.splitlines() if INCLUDE.match(line)]
    for match in found[1:]:
        kind, target = match.groups()
        if kind == "<":
            names = SYSTEM_NAMES.get(target)
            if names and not re.search(rf"\b(?:{names})\b", code):
                yield target
        elif not any(is_used(name, code) for name in names_declared_in(read_file(target))):
            yield target


def private_names(code):
    """(kind, name) of what a file declares for itself alone."""
    for name, next_letter in STATIC.findall(code):
        yield {"(": "helper", "[": "table"}.get(next_letter, "constant"), name
    for body in ENUM.findall(code):
        for name in re.findall(r"\b([A-Z][A-Z0-9_]+)\b\s*(?:=|,|$)", body):
            yield "constant", name


def unused_names(text):
    """Static functions and tables and enum constants that are declared and never used."""
    code = code_of(text)
    return sorted({name for _, name in private_names(code) if not is_used(name, code, 2)})


def faults_of_starter(text, exercise, read_file):
    """What the cutter refuses: things that nobody in the starter uses any more."""
    for target in unused_includes(text, read_file):
        yield f"{exercise.solution}: only the solution needs <{target}>: put it into a drop region"
    for name in unused_names(text):
        yield f"{exercise.solution}: only the solution needs {name}: put it into a drop region"


def only_in_solution(text, exercise):
    """For the audit: (kind, what) that vanishes from the starter."""
    lines = text.splitlines()
    for region in regions_of(text, exercise.solution, exercise.id):
        if region.is_drop:
            inside = lines[region.first + 1:region.last]
            yield from (("include", match.group(2)) for match in map(INCLUDE.match, inside) if match)
            yield from private_names(code_of("\n".join(inside)))
