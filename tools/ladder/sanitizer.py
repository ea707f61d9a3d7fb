"""One line from the report of a sanitizer: what happened, and where in the learner's file.

gcc's and clang's words are understood, and those of newer versions, which say "after 12-byte region" where
older ones say "to the right of 12-byte region". Addresses are left out: they differ from run to run.
"""
import os
import re
from pathlib import Path

AREA = re.compile(r"is located (\d+) bytes (to the right of|after|to the left of|before|inside of|inside) "
                  r"(?:global variable '(\w+)'.* of size )?(\d+)")
VARIABLE = re.compile(r"\[(\d+), (\d+)\) '(\w+)'.* <== Memory access at offset (\d+) ")
OUTSIDE = re.compile(r"(load of|store to) address \S+ with insufficient space for an object of type '([^']+)'")
ERRORS = {
    "SEGV": "access to an address that is no memory (a NULL or wild pointer)",
    "BUS": "access to an address that is no memory (a NULL or wild pointer)",
    "FPE": "a division by zero",
    "double-free": "memory is freed twice",
    "free": "free of an address that malloc did not give",
    "stack-overflow": "the stack is full: a function that calls itself without end, or a huge array",
    "negative-size-param": "a size below zero",
}


def report(text, learner_file):
    return what_of(text) + place_of(text, learner_file)


def place_of(text, learner_file):
    """The innermost line of the learner's file; if there is none, of any file of the tree."""
    place = (re.search(rf"(?:^|\s|(?<!solutions)/)({re.escape(learner_file)}:\d+)", text)
             or re.search(r"\b((?:common|level\d-\w+|tests|solutions)/[\w/.-]+\.c:\d+)", text))
    return f" at {place.group(1)}" if place else ""


def what_of(text):
    undefined = re.search(r"runtime error: (.*)", text)
    if undefined:
        return undefined_words(undefined.group(1))
    leak = re.search(r"SUMMARY: \w+: (\d+) byte\(s\) leaked in (\d+) allocation", text)
    if leak:
        several = "" if leak.group(2) == "1" else "s"
        return f"leak: {leak.group(1)} bytes in {leak.group(2)} allocation{several}, never freed, taken"
    race = re.search(r"ThreadSanitizer: ([\w -]+?) \(", text)
    kind = race or re.search(r"ERROR: \w+: (?:attempting )?([\w-]+)", text)
    access = re.search(r"\b(READ|WRITE) of size (\d+)", text)
    if kind and kind.group(1) in ERRORS:
        return ERRORS[kind.group(1)]
    if not access:
        return kind.group(1) if kind else "a sanitizer stopped it"
    size = int(access.group(2))
    did = f"{'read' if access.group(1) == 'READ' else 'wrote'} {size} byte{'' if size == 1 else 's'}"
    if kind and kind.group(1) == "heap-use-after-free":
        return f"{did} of memory that was freed"
    if kind and kind.group(1).startswith("stack-use-after"):
        return f"{did} of a variable that is gone"
    return did + neighbour_words(text)


def undefined_words(words):
    outside = OUTSIDE.match(words)
    if outside:
        did = "read" if outside.group(1) == "load of" else "wrote"
        return f"{did} a value of type {outside.group(2)} outside of its memory"
    return "undefined: " + re.sub(r" 0x[0-9a-f]+", "", words)


def neighbour_words(text):
    """Which memory lies beside the access."""
    variable, area = VARIABLE.search(text), AREA.search(text)
    if variable:
        begin, end, offset = (int(variable.group(i)) for i in (1, 2, 4))
        return f" {'before' if offset < begin else 'past'} {variable.group(3)} ({end - begin} bytes)"
    if not area:
        return " where nothing of that size is"
    distance, where, name, size = area.groups()
    region = f"{name} ({size} bytes)" if name else f"a region of {size} bytes"
    if where.startswith("inside"):
        return f" from byte {distance} of {region}"
    side = "past" if where in ("to the right of", "after") else "before"
    return f" {side} {region}" if distance == "0" else f", {distance} bytes {side} {region}"


def logs(prefix):
    """{pid: text} of the logs under the prefix."""
    folder, name = os.path.split(prefix)
    return {path.name.rsplit(".", 1)[1]: path.read_text(errors="replace") for path in Path(folder).glob(name + ".*")}


def printed(output):
    """The first report among what a suite printed: gcc's UndefinedBehaviorSanitizer writes no log."""
    found = re.search(r"^.*runtime error: .*\n(?:\s+#\d+ .*\n)*", output, re.M)
    return found.group(0) if found else ""
