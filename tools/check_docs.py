#!/usr/bin/env python3
"""Checks the words: every relative link leads somewhere, every quoted piece of code still stands in
the file that it names. Standard library only.

A quote is a fenced block right behind a line `<!-- quote: path -->`: the block's text must stand in
that file, letter for letter.

    tools/check_docs.py
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
QUOTE = re.compile(r"<!-- quote: (\S+) -->\n```\w*\n(.*?)```", re.S)
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def anchors_of(text):
    """The anchors that a renderer makes of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(slug)
    return found


def faults_of(path):
    text = path.read_text()
    name = path.relative_to(ROOT)
    for link in LINK.findall(FENCE.sub("", text)):
        if "://" in link or link.startswith("mailto:"):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not file.exists():
            yield f"{name}: dead link {link}"
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
            yield f"{name}: no heading for {link}"
    for source, block in QUOTE.findall(text):
        file = ROOT / source
        if not file.is_file():
            yield f"{name}: quotes {source}, which is not there"
        elif block.strip("\n") not in file.read_text():
            yield f"{name}: a quote no longer stands in {source}: {block.strip().splitlines()[0]}"


def main():
    skip = {".venv", "build", "models", ".git"}
    files = [p for p in sorted(ROOT.rglob("*.md")) if not skip & set(p.relative_to(ROOT).parts)]
    faults = [fault for path in files for fault in faults_of(path)]
    print("\n".join(faults) if faults else f"docs: {len(files)} files, links and quotes hold")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
