"""Quoted code stands in the file that it names, letter for letter, and gives no exercise away.

A quote is a block behind `<!-- quote: path -->`. What stands between the markers of an exercise in a
solution is nobody's to quote, with or without that comment.
"""
from ladder.cut import END, MARKER

HIDDEN = "\0"  # stands where an exercise was cut out; no page has it
TELLING = 24  # letters: two lines shorter than this stand in any C file


def regions_in(text):
    """The lines of each exercise region, and the text without them. An open region never ends."""
    regions, outside, is_inside = [], [], False
    for line in text.split("\n"):
        if MARKER.match(line):
            is_inside = True
            regions.append([])
            outside.append(HIDDEN)
        elif is_inside and END.match(line):
            is_inside = False
        else:
            (regions[-1] if is_inside else outside).append(line)
    return regions, "\n".join(outside)


def pairs_of(lines):
    """Pairs of neighbouring lines of code that say enough to be recognised."""
    code = [line.strip() for line in lines if line.strip()]
    return {(a, b) for a, b in zip(code, code[1:]) if len(a) + len(b) >= TELLING}


def secrets_of(root):
    """Pair of lines -> the solution in whose exercise they stand."""
    secrets = {}
    for path in sorted((root / "solutions").rglob("*.c*")):
        regions, outside = regions_in(path.read_text())
        open_to_all = pairs_of(outside.split("\n"))
        for lines in regions:
            for pair in pairs_of(lines) - open_to_all:
                secrets.setdefault(pair, path.relative_to(root).as_posix())
    return secrets


def fault_of_quote(block, root):
    source = root / block.value
    quote = block.text.strip("\n")
    if not source.is_file() or root.resolve() not in source.resolve().parents:
        return f"quotes {block.value}, which is not there"
    if not quote.strip():
        return f"an empty quote of {block.value}"
    text = source.read_text()
    if quote in regions_in(text)[1]:
        return None
    if quote in text:
        return f"a quote from inside an exercise of {block.value}: {quote.splitlines()[0].strip()}"
    return f"a quote no longer stands in {block.value}: {quote.splitlines()[0].strip()}"


def faults_of(page, secrets):
    quoted = {block.first - 2 for block in page.blocks if block.kind == "quote"}
    for comment in page.comments:
        if comment.kind == "quote" and comment.line not in quoted:
            yield page.fault(comment.line, f"no block behind the quote of {comment.value}")
    for block in page.blocks:
        fault = fault_of_quote(block, page.root) if block.kind == "quote" else None
        shown = [secrets[pair] for pair in sorted(pairs_of(block.lines)) if pair in secrets]
        if fault is None and shown:
            fault = f"shows what stands inside the exercise of {shown[0]}"
        if fault:
            yield page.fault(block.first - 1, fault)
