"""A Markdown page as the checkers see it: prose, fenced blocks, and comments that say what follows.

    <!-- quote: level2-operator/kernels/rope.h -->     a comment: kind "quote", value "level2-operator/kernels/rope.h"
    ```c                                       on the line below it a block, of language "c"
    ...
    ```
"""
import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^\s*```(\w*)[^`]*$")
COMMENT = re.compile(r"^<!-- ([a-z]+)(?:: (.*?))? -->$")
HEADING = re.compile(r"^(#+) (.+?)\s*$")
SKIP = {".venv", "build", "models", ".git", ".course"}


@dataclass(frozen=True)
class Block:
    kind: str  # of the comment on the line above; "" without one
    value: str
    language: str
    first: int  # index of the first line inside; the fence stands above it
    lines: tuple

    @property
    def text(self):
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Comment:
    kind: str
    value: str
    line: int  # index


class Page:
    def __init__(self, path, root, text=None):
        self.path, self.root = Path(path), Path(root)
        self.name = self.path.relative_to(self.root).as_posix()
        self.lines = (self.path.read_text() if text is None else text).split("\n")
        self.blocks = list(blocks_of(self.lines))
        fenced = {i for b in self.blocks for i in range(b.first - 1, b.first + len(b.lines) + 1)}
        self.prose = [(i, line) for i, line in enumerate(self.lines) if i not in fenced]
        self.comments = [Comment(m.group(1), m.group(2) or "", i)
                         for i, line in self.prose for m in [COMMENT.match(line)] if m]

    def headings(self, depth=None):
        """(line index, text), of one depth or of all."""
        found = [(i, HEADING.match(line)) for i, line in self.prose]
        return [(i, m.group(2)) for i, m in found if m and depth in (None, len(m.group(1)))]

    def section(self, title):
        """(first, last) line indexes below a heading of depth 2, last excluded; None without it."""
        starts = self.headings(2)
        for n, (i, text) in enumerate(starts):
            if text == title:
                return i + 1, starts[n + 1][0] if n + 1 < len(starts) else len(self.lines)
        return None

    def blocks_in(self, title):
        first, last = self.section(title) or (0, 0)
        return [b for b in self.blocks if first <= b.first < last]

    def fault(self, line, text):
        return f"{self.name}:{line + 1}: {text}"


def blocks_of(lines):
    begin = None
    for i, line in enumerate(lines):
        fence = FENCE.match(line)
        if begin is None and fence:
            begin = i
        elif begin is not None and line.strip() == "```":
            comment = COMMENT.match(lines[begin - 1]) if begin > 0 else None
            kind, value = (comment.group(1), comment.group(2) or "") if comment else ("", "")
            yield Block(kind, value, FENCE.match(lines[begin]).group(1), begin + 1, tuple(lines[begin + 1:i]))
            begin = None
    if begin is not None:  # a renderer takes the rest of the page
        yield Block("", "", "", begin + 1, tuple(lines[begin + 1:]))


def pages_of(root):
    """Every page of the repository."""
    root = Path(root)
    paths = [p for p in sorted(root.rglob("*.md")) if not SKIP & set(p.relative_to(root).parts)]
    return [Page(path, root) for path in paths]
