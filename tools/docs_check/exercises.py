"""Each exercise is complete: words in course.json, a page with the fixed headings, a first test."""
import re

from docs_check.page import Page
from docs_check.transcripts import STATES

HEADINGS = ["Why", "Picture", "Contract", "Worked example", "Before and after", "Common mistakes",
            "Check yourself", "What production engines do"]
TO_WRITE = "TO WRITE"
COLUMNS = 92
N_HINTS = 3
WHY_LETTERS = 100
QUESTIONS = range(3, 6)


def faults_of_entry(ex):
    words = {"why": ex.why, **{f"hint {n}": hint for n, hint in enumerate(ex.hints, 1)},
             **{f"payoff.{key}": text for key, text in ex.payoff.items()},
             **{part.id: part.title for part in ex.parts}}
    missing = [name for name, text in words.items() if TO_WRITE in text or not text.strip()]
    if missing:
        yield f"course.json: {ex.id}: still to be written: {', '.join(missing)}"
    if len(ex.hints) != N_HINTS:
        yield f"course.json: {ex.id} has {len(ex.hints)} hints, must be {N_HINTS}"
    if len(ex.why) > WHY_LETTERS:
        yield f"course.json: {ex.id}: why has {len(ex.why)} letters, at most {WHY_LETTERS}"


def faults_of_suite(ex, root):
    suite = root / ex.suite
    if not suite.is_file():
        yield f"{ex.suite}: the suite of {ex.id} is not there"
    elif not re.search(r"^START_TEST\(worked_example\)", suite.read_text(), re.M):
        yield f"{ex.suite}: no test worked_example, the numbers of {ex.doc}"


def faults_of_headings(page, ex):
    title = f"# {ex.id}: {ex.title}"
    if page.lines[0] != title:
        yield page.fault(0, f"the title must be '{title}'")
    found = [text for _, text in page.headings(2)]
    if found != HEADINGS:
        wrong = next((text for text, want in zip(found + [""], HEADINGS + [""]) if text != want), "")
        missing = [text for text in HEADINGS if text not in found]
        yield page.fault(0, f"headings must be {', '.join(HEADINGS)}; "
                         + (f"missing: {', '.join(missing)}" if missing else f"first wrong: {wrong}"))
    if not any(c.kind == "table" and c.value == f"exercise {ex.id}" for c in page.comments):
        yield page.fault(1, f"below the title: <!-- table: exercise {ex.id} --> and <!-- end -->; "
                         "make refresh fills it in")


def faults_of_blocks(page, ex):
    for block in page.blocks:
        if block.language == "c" and block.kind != "quote":
            yield page.fault(block.first - 1, "code without <!-- quote: file -->")
        for i, line in enumerate(block.lines):
            if len(line) > COLUMNS:
                yield page.fault(block.first + i, f"{len(line)} columns, at most {COLUMNS}")
    if page.section("Contract") and ex.header not in [b.value for b in page.blocks_in("Contract")]:
        yield page.fault(page.section("Contract")[0], f"the contract quotes nothing of {ex.header}")
    if page.section("Check yourself"):
        first, last = page.section("Check yourself")
        n = sum("<summary>" in line for line in page.lines[first:last])
        if n not in QUESTIONS:
            yield page.fault(first, f"{n} questions, must be {QUESTIONS[0]} to {QUESTIONS[-1]}")


def faults_of_transcripts(page):
    blocks = page.blocks_in("Before and after")
    if page.section("Before and after") and [b.value for b in blocks if b.kind == "transcript"] != STATES:
        yield page.fault(page.section("Before and after")[0],
                         f"must hold the transcripts {' and '.join(STATES)}, in this order")


def faults_of(ex, root):
    """All that one exercise still lacks."""
    yield from faults_of_entry(ex)
    yield from faults_of_suite(ex, root)
    if not (root / ex.doc).is_file():
        yield f"{ex.doc}: the page of {ex.id} is not there"
        return
    page = Page(root / ex.doc, root)
    yield from faults_of_headings(page, ex)
    yield from faults_of_blocks(page, ex)
    yield from faults_of_transcripts(page)
