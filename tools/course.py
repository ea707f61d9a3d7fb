#!/usr/bin/env python3
"""The learner's commands; make calls this file. Standard library only.

    make next                 what to do now
    make test                 the engine's tests, then yours; the board
    make test EX=rope         one exercise, in two seconds
    make hint EX=rope         one more hint each time
    make status               the board, nothing is run
    make watch EX=rope        runs again whenever you save
    make debug EX=rope        gdb at your function in the first failing test
    make compare EX=rope      yours beside the reference, once it has passed
    make reset EX=rope        the starter again; yours is kept under .course/saved
    make level2               build, make level 2 current, show its exercises
    make grade                points, on inputs that nobody has seen

Upstream: prove [ID] (starters, stubs, solutions, mutants on 20 seeds), starters [ID] (without the mutants),
mutants [ID] [--record], link.
"""
import argparse
import os
import signal
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ladder import commands, guard  # noqa: E402  after the folder is the tree's root
from ladder.catalog import Refused  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=sorted(commands.TABLE))
    parser.add_argument("name", nargs="?", default="", help="an exercise, or a level")
    parser.add_argument("--name", dest="option", default="", help="the same, whatever letters it begins with")
    parser.add_argument("--only", default="", help="one test: 'name[index]'")
    parser.add_argument("--seed", default="", help="COURSE_SEED of the drawn inputs")
    parser.add_argument("--route", default="", help="core: only exercises of the core path")
    parser.add_argument("--record", action="store_true", help="mutants: write how each one fails")
    parser.add_argument("--seeds", default="", help="proofs: how many; grade: which")
    parser.add_argument("--from", dest="origin", default="", help="grade: a folder with somebody's files")
    parser.add_argument("--suites", nargs="*", default=[])
    parser.add_argument("--checks", nargs="*", default=[])
    parser.add_argument("--model", default="")
    parser.add_argument("--all", action="store_true", help="test: everything, whatever the level")
    args = parser.parse_args()
    args.name = args.option or args.name
    return args


def trouble_of(error):
    """A file that cannot be read or written, in one sentence."""
    if not error.filename:
        return f"{error.strerror or error}; make doctor says what is missing"
    name = os.path.relpath(str(error.filename))
    if isinstance(error, FileNotFoundError) and "/" not in str(error.filename):
        return f"{name} is not here; make doctor says what is missing"
    if isinstance(error, FileNotFoundError) and not name.startswith(".."):
        return f"{name}: {error.strerror}; git checkout {name} brings it back"
    return f"{name}: {error.strerror}"


def stop(number, _frame):
    sys.exit(128 + number)


def main():
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, stop)
    guard.begin()
    args = arguments()
    try:
        return commands.TABLE[args.command](args)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return refused.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(trouble_of(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
