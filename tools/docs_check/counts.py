"""How many modules the engine has. Where a page shows the engine with nothing written, "0 done, 11 to do",
and wherever it says "of 11 modules", the number is that of the exercises in course.json."""
import re

COUNT = re.compile(r"(?<=\bof )\d+(?= modules\b)|(?<=\b0 done, )\d+(?= to do\b)")


def faults_of(page, course):
    n = str(len(course.catalog.exercises))
    for i, line in enumerate(page.lines):
        if any(count != n for count in COUNT.findall(line)):
            yield page.fault(i, f"there are {n} modules; tools/check_docs.py --write")


def rewritten(text, course):
    """The text with the number as it is."""
    return COUNT.sub(str(len(course.catalog.exercises)), text)
