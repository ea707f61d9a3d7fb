"""What a learner is told about an exercise: next, the level's page, payoff. Text only, no work."""
import re
import textwrap

from ladder import board


def prototypes(header_text, names):
    """The declarations of the functions, as they stand in the header, without parameter comments."""
    code = re.sub(r"[ \t]*//[^\n]*", "", header_text)
    out = []
    for name in names:
        match = re.search(rf"^[^\n;{{}}#]*\b{re.escape(name)}\([^;{{]*\)[^;{{]*;", code, re.M)
        if match:
            out.append(re.sub(r"\s+", " ", match.group(0)).strip())
    return out


def exercise_functions(solution_text, regions):
    """Names of the functions with something to write in them, in the order of the file."""
    lines, names = solution_text.splitlines(), []
    for region in regions:
        if region.is_drop:
            continue
        for line in reversed(lines[:region.first]):
            match = re.match(r"^(?!static\b)[A-Za-z_][\w\s*]*?\b(\w+)\(", line)
            if match:
                if match.group(1) not in names:
                    names.append(match.group(1))
                break
            if line == "}":  # a static function: not in the header
                break
    return names


def next_lines(ex, gap, lines, protos):
    out = [f"{ex.number} {ex.id}: {ex.title}", board.indented(ex.why), ""]
    out += [f"  write    {gap}"]
    for i, proto in enumerate(protos):
        out.append(textwrap.fill(proto, board.WIDTH, initial_indent="  as       " if i == 0 else " " * 11,
                                       subsequent_indent=" " * 15, break_on_hyphens=False))
    stars = "core" if ex.core else "not on the core path"
    out += [f"  takes    {board.plural(lines, 'line')}, about {ex.minutes} minutes (estimated), difficulty "
            f"{ex.difficulty} of 3, {stars}",
            f"  read     {ex.doc} and the contract in {ex.header}",
            f"  test     make test EX={ex.id}"]
    if ex.needs:
        out.append(f"  before   {', '.join(ex.needs)} (helps; nothing breaks without)")
    return out


def payoff_lines(ex, colour):
    out = ["", board.paint(f"{ex.id} is yours now: from the next make run on, the engine runs with it.", "done", colour)]
    if ex.payoff.get("command"):
        out.append(f"  see it   {ex.payoff['command']}")
        out.append(board.indented(ex.payoff["sentence"], 2))
    return out


def level_lines(catalog, records, ex):
    """What a level holds beside its exercises, once all of them are done; ex is one of them."""
    if any(board.state_of(records.get(other.id)) != "done" for other in catalog.of_level(ex.level)):
        return []
    return ["", f"That was the last exercise of level {ex.level}; what else belongs to it:",
            f'docs/level{ex.level}/README.md, "You are done when"']
