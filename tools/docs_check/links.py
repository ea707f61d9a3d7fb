"""Every relative link leads to a file that is there, and to a heading in it."""
import re

from docs_check.page import Page

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`]*`")


def slug_of(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def anchors_of(page):
    """The anchors that a renderer makes of headings: the second of a name gets -1."""
    seen, anchors = {}, set()
    for _, heading in page.headings():
        slug = slug_of(heading)
        n = seen.get(slug, 0)
        seen[slug] = n + 1
        anchors.add(f"{slug}-{n}" if n else slug)
    return anchors


def faults_of(page):
    for i, line in page.prose:
        for link in LINK.findall(CODE.sub("", line)):
            if "://" in link or link.startswith("mailto:"):
                continue
            target, _, anchor = link.partition("#")
            file = (page.path.parent / target).resolve() if target else page.path
            if not file.exists():
                yield page.fault(i, f"dead link {link}")
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(Page(file, file.parent)):
                yield page.fault(i, f"no heading for {link}")
