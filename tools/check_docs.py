#!/usr/bin/env python3
"""Checks the words: links lead somewhere, quoted code still stands in its file, transcripts have commands, tables,
counts and a picture say what course.json, data/ and a measurement say, each exercise has all its words. Standard
library only.

    tools/check_docs.py [EXERCISE...]    everything, or what concerns these exercises
    tools/check_docs.py --write          first writes the tables, the counts and the picture anew

What is checked how: tools/docs_check/. Transcripts are run by tools/transcripts.py.
"""
import argparse
import sys

from docs_check import counts, exercises, links, measured, quotes, server, tables, transcripts
from docs_check.page import Page, pages_of
from ladder import catalog
from ladder.catalog import ROOT, Refused


def with_place_for_facts(page, course):
    """An exercise's page has a table below its title."""
    ids = [ex.id for ex in course.catalog.exercises if ex.doc == page.name]
    if not ids or any(c.kind == "table" for c in page.comments):
        return page
    place = ["", f"<!-- table: exercise {ids[0]} -->", "<!-- end -->"]
    return Page(page.path, page.root, "\n".join(page.lines[:1] + place + page.lines[1:]))


def written(page, course):
    """The page with its tables and counts anew, in the file as well."""
    text = counts.rewritten(tables.rewritten(with_place_for_facts(page, course), course), course)
    if text != "\n".join(page.lines):
        page.path.write_text(text)
        print(f"wrote {page.name}")
    return Page(page.path, page.root, text)


def faults_of(pages, chosen, course, root):
    secrets = quotes.secrets_of(root)
    for page in pages:
        yield from links.faults_of(page)
        yield from quotes.faults_of(page, secrets)
        yield from transcripts.faults_of(page)
        yield from tables.faults_of(page, course)
        yield from counts.faults_of(page, course)
    yield from measured.faults_of(root)
    yield from server.faults_of(root)
    for ex in chosen:
        yield from exercises.faults_of(ex, root)


def run(root, names, is_writing):
    course = tables.Course(catalog.load(root), root)
    chosen = [course.catalog.find(name) for name in names] or course.catalog.exercises
    pages = pages_of(root)
    if is_writing:
        pages = [written(page, course) for page in pages]
        measured.write_picture(root)
    if names:
        pages = [page for page in pages if page.name in [ex.doc for ex in chosen]]
    faults = list(faults_of(pages, chosen, course, root))
    print("\n".join(faults) if faults else
          f"docs: {len(pages)} pages and {len(chosen)} exercises hold what they promise")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE")
    args = parser.parse_args()
    try:
        return run(ROOT, args.exercises, args.write)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return refused.status


if __name__ == "__main__":
    sys.exit(main())
