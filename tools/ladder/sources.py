"""Which files a suite needs, from what they include.

A source belongs to the header that it includes first: gguf_reader.c to gguf_reader.h, gguf_value.c to
gguf.h. Whoever uses a function of a header needs its sources, and what these use, and so on. So no list
of objects has to be kept, and a suite links its module's libraries only.
"""
import hashlib
import posixpath
import re
from pathlib import Path

from ladder.cut import code_of

PROJECT = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SYSTEM = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.M)
LIBRARIES = {"jansson.h": "jansson", "utf8proc.h": "libutf8proc", "xxhash.h": "libxxhash", "curl/curl.h": "libcurl",
             "editline/readline.h": "libedit", "histedit.h": "libedit", "event2": "libevent"}
NOT_FUNCTIONS = {"sizeof", "_Static_assert", "_Alignof", "__attribute__", "format", "if", "for", "while", "return"}
DEFINITION = re.compile(r"^(?!static\b)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
SUPPORT = ("tests/support/main.c", "common/exercise.c")  # what every suite is linked with


class Sources:
    """The include graph of the tree; the learner's files count as headers do: only where asked for."""

    def __init__(self, root, learner_files):
        self.root = root
        self.text, self.word, self.function = {}, {}, {}
        self.included = {}  # file -> the project headers that it names
        self.owner = {}  # header -> its sources
        self.copies = []  # what a learner has put beside an exercise: nothing is built from it
        solved = {name for file in learner_files for name in DEFINITION.findall(self.read("solutions/" + file))}
        folders = [root / "common", *sorted(root.glob("level*")), *sorted(root.glob("solutions/*")),
                   root / "tests" / "support"]
        for path in sorted(p for folder in folders for p in folder.rglob("*.c")):
            name = path.relative_to(root).as_posix()
            if path.name.startswith("main_") or name in learner_files:
                continue
            first = PROJECT.search(self.read(name))
            if name.startswith("level") and (" " in name or not solved.isdisjoint(DEFINITION.findall(self.read(name)))):
                self.copies.append(name)
            elif first:
                self.owner.setdefault(first.group(1), []).append(name)

    def read(self, name):
        if name not in self.text:
            try:
                self.text[name] = (self.root / name).read_text(errors="replace")
            except OSError:
                self.text[name] = ""
        return self.text[name]

    def headers_of(self, names):
        """All project headers that the files include, directly or not."""
        seen, todo = set(), list(names)
        while todo:
            name = todo.pop()
            for header in self.headers_in(name):
                if header not in seen:
                    seen.add(header)
                    todo.append(header)
        return seen

    def headers_in(self, name):
        if name not in self.included:
            self.included[name] = [self.beside(name, header) for header in PROJECT.findall(self.read(name))]
        return self.included[name]

    def beside(self, name, header):
        """Where the compiler finds what a file includes: in the file's own folder first."""
        own = posixpath.normpath(posixpath.join(posixpath.dirname(name), header))
        return own if own != header and (self.root / own).is_file() else header

    def words_of(self, name):
        """What a source mentions, the inline functions that it calls included."""
        if name not in self.word:
            words = set(re.findall(r"\w+", code_of(self.read(name))))
            for header in sorted(self.headers_of([name])):
                code = code_of(self.read(header))
                if set(re.findall(r"^static inline[^(]*?(\w+)\(", code, re.M)) & words:
                    words |= set(re.findall(r"\w+", code))
            self.word[name] = words
        return self.word[name]

    def functions_of(self, header):
        """Functions and variables that a header promises."""
        if header not in self.function:
            code = code_of(self.read(header))
            self.function[header] = (set(re.findall(r"\b(\w+)\s*\(", code)) | set(
                re.findall(r"\bextern\b[^;]*?\b(\w+)(?:\[[^\]]*\])?\s*;", code))) - NOT_FUNCTIONS
        return self.function[header]

    def needs(self, name):
        """The sources that a source calls."""
        for header in sorted(self.headers_of([name])):
            if header in self.owner and self.functions_of(header) & self.words_of(name):
                yield from self.owner[header]

    def closure(self, roots):
        """The roots and every source that they need."""
        needed, todo = [], [*roots, *SUPPORT]
        while todo:
            name = todo.pop(0)
            if name in needed:
                continue
            needed.append(name)
            todo += self.needs(name)
        return needed

    def libraries(self, names):
        """pkg-config names of the libraries that the files need."""
        found = set()
        for name in names:
            for header in SYSTEM.findall(self.read(name)):
                key = header if header in LIBRARIES else header.split("/")[0]
                if key in LIBRARIES:
                    found.add(LIBRARIES[key])
        return sorted(found)


def suite_sources(sources, exercise):
    """What the suite of an exercise links beside the learner's file: the reference of everything else that
    the suite, the solution or the learner calls."""
    names = sources.closure([exercise.suite, exercise.solution, exercise.file])
    return [name for name in names if name not in (exercise.solution, exercise.file)]


def fingerprint(sources, exercise):
    """One number for the learner's file, its headers and its suite: a pass holds as long as it does."""
    own = [exercise.file, exercise.suite]
    support = [name for name in sources.closure([exercise.suite]) if name.startswith("tests/support/")]
    digest = hashlib.sha256()
    for name in sorted({*own, *support, *sources.headers_of([*own, *support])}):
        path = Path(sources.root, name)
        digest.update(name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
    return digest.hexdigest()
