#!/usr/bin/env python3
"""What a learner reads, letter for letter: the board, and one failing test in full."""
import io
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import course, entry, exercise  # noqa: E402
from ladder import board, results, words  # noqa: E402
from ladder.judge import Verdict  # noqa: E402
from ladder.suite import Test  # noqa: E402

TURN = exercise(tests=4)
PASS = Test("worked_example[0]", "worked example", "pass")
DIFFERS = {"what": "turn(position 3, 2 heads) x", "index": 5, "got": "1.25", "want": "-1.25", "used": 130.24}
TAIL = """  again    make test EX=turn ONLY='pairs[2]' SEED=1
  debug    make debug EX=turn
  read     docs/level1/turn.md, level1-user/turn.h
  hint     make hint EX=turn"""


def record(state, *tests, ex=TURN, **more):
    return results.record_of(Verdict(ex, state, tests=list(tests), **more))


def failing(cause, message="", where="", differs=None, name="pairs[2]"):
    return Test(name, "edges", cause, message, where, differs or {})


class Screen(unittest.TestCase):
    def shows(self, lines, want):
        text = "\n".join(lines)
        self.assertEqual(text, want)
        self.assertFalse([line for line in text.splitlines() if len(line) > board.WIDTH])
        self.assertNotIn("\033", text)


class Expanded(Screen):
    """The first thing that is wrong in an exercise."""

    def expanded(self, state, *tests, want, claim=None, **more):
        self.shows(board.expanded(TURN, record(state, *tests, **more), claim), "\n" + want)

    def test_a_wrong_value(self):
        self.expanded("wrong", PASS, failing("wrong", "assertion", "tests/level1/test_turn.c:40", DIFFERS), want=f"""\
turn: wrong: 1 of 4 tests fails, the first is
  pairs[2]
    called   turn(position 3, 2 heads) x
    got      1.25
    want     -1.25
    at       index 5, 130 times the tolerance, seed 1
{TAIL}""")

    def test_a_known_misunderstanding(self):
        self.expanded("wrong", failing("wrong", differs={**DIFFERS, "used": 2e9}), failing("wrong"),
                      claim="It looks like this: Pairs seem to turn the other way round, by minus the angle, in each of the heads.",
                      want=f"""\
turn: wrong: 2 of 4 tests fail, the first is
  pairs[2]
    called   turn(position 3, 2 heads) x
    got      1.25
    want     -1.25
    at       index 5, far outside the tolerance, seed 1
  It looks like this: Pairs seem to turn the other way round, by minus the
  angle, in each of the heads.
{TAIL}""")

    def test_an_assertion_without_values(self):
        self.expanded("wrong", failing("wrong", "Assertion 'n == 3' failed: n == 2", "tests/level1/test_turn.c:40"), want=f"""\
turn: wrong: 1 of 4 tests fails, the first is
  pairs[2]
    Assertion 'n == 3' failed: n == 2
    asserted at tests/level1/test_turn.c:40
{TAIL}""")

    def test_a_crash(self):
        self.expanded("crash", failing("crash", "killed by signal 6 (SIGABRT)"), output="here\n", want=f"""\
turn: crash: 1 of 4 tests fails, the first is
  pairs[2]
    crash: killed by signal 6 (SIGABRT)
  it printed
    here
{TAIL}""")

    def test_memory_a_leak_and_what_is_undefined(self):
        for said, words_ in (("read 4 bytes past x (12 bytes) at level1-user/turn.c:9", "memory: read"),
                             ("leak: 24 bytes in 1 allocation, never freed, taken at level1-user/turn.c:9", "leak: 24"),
                             ("undefined: division by zero at level1-user/turn.c:9", "undefined: division")):
            lines = board.expanded(TURN, record("memory", failing("memory", said)))
            self.assertEqual(lines[1:3], ["turn: memory: 1 of 4 tests fails, the first is", "  pairs[2]"])
            self.assertTrue(lines[3].startswith("    " + words_), lines[3])
        self.expanded("memory", failing("memory", "leak: 24 bytes in 1 allocation, never freed, taken at level1-user/turn.c:9"),
                      want=f"""\
turn: memory: 1 of 4 tests fails, the first is
  pairs[2]
    leak: 24 bytes in 1 allocation, never freed, taken at level1-user/turn.c:9
{TAIL}""")

    def test_an_endless_loop(self):
        self.expanded("timeout", failing("timeout", "timed out after 3 s"), failing("timeout"), PASS,
                      message="the suite did not end within 12 s; later tests did not run", want=f"""\
turn: timeout: 2 of 4 tests fail, the first is
  pairs[2]
    timed out after 3 s
  the suite did not end within 12 s; later tests did not run
{TAIL}""")

    def test_leaving_early(self):
        said = "the code left the process (exit status 0) before the test's end"
        self.expanded("wrong", failing("left early", said), want=f"""\
turn: wrong: 1 of 4 tests fails, the first is
  pairs[2]
    the code left the process (exit status 0) before the test's end
{TAIL}""")

    def test_what_does_not_compile(self):
        self.expanded("compile", message="level1-user/turn.c:7: expected declaration or statement at end of input", want="""\
turn: compile
  level1-user/turn.c:7: expected declaration or statement at end of input
  read     docs/level1/turn.md, level1-user/turn.h
  hint     make hint EX=turn""")

    def test_what_is_very_long_is_clipped(self):
        long = {"what": "turn(" + "position 3, " * 60 + "halves) x", "index": 0, "got": "a\tb\n" * 100,
                "want": "x" * 200, "used": None}
        name = "every_pair_of_every_head_turns_by_its_own_angle_and_no_other_does[13]"
        lines = board.expanded(TURN, record("wrong", failing("wrong", differs=long, name=name), seed="4294967295",
                                            output="\033[2Jmine\t" + "y" * 300 + "\n" * 9 + "end\n"))
        self.shows(lines, f"""
turn: wrong: 1 of 4 tests fails, the first is
  {name}
    called   turn(position 3, position 3, position 3, position 3, position 3,
    position 3, position 3, position 3, position 3, position 3, position 3,
    position 3, position 3, position 3, position 3, position 3, position 3, ...
    got      {('a' + chr(92) + 'tb' + chr(92) + 'n') * 10 + 'a' + chr(92) + 'tb'}...
    want     {'x' * 64}...
    at       index 0, seed 4294967295
  it printed




    end
  again    make test EX=turn SEED=4294967295 \\
    ONLY='{name}'
  debug    make debug EX=turn
  read     docs/level1/turn.md, level1-user/turn.h
  hint     make hint EX=turn""")

    def test_nothing_that_the_code_printed_reaches_the_terminal_raw(self):
        lines = board.expanded(TURN, record("crash", failing("crash", "killed"), output="\033[2Jmine\x07 yours\r\n"))
        self.assertIn("    \\x1b[2Jmine\\x07 yours", lines)
        differs = {**DIFFERS, "got": "\033[31mred", "what": "turn(\"\033[0m\")"}
        self.assertNotIn("\033", "".join(board.expanded(TURN, record("wrong", failing("wrong", differs=differs)))))


class Board(Screen):
    course = course(entry("turn"), entry("push", core=False), entry("pull", tests=1), entry("lift", level=2, core=False))
    turn, push, pull, lift = course.exercises

    def board(self, want, current=None, **records):
        self.shows([board.tally_line(self.course, records, current)]
                   + board.board(self.course, records, lambda ex: 1 if ex is self.push else 20, current), want)

    def test_nothing_begun(self):
        self.board("""\
your exercises: 0 done, 4 to do, next turn
level 1  user
  L1.1  turn         next         20 lines, about 20 min
  L1.2  push         not started
  L1.3  pull         not started
level 2  operator: 1 exercise, none started""")

    def test_the_level_at_work_is_open(self):
        self.board("""\
your exercises: 0 done, 4 to do, next lift
level 1  user: 3 exercises, none started
level 2  operator
  L2.1  lift         next         20 lines, about 20 min""", current=2)

    def test_one_of_each(self):
        wrong = record("wrong", failing("wrong"), failing("wrong", name="b[0]"), PASS, PASS, ex=self.push)
        self.board("""\
your exercises: 1 done, 3 to do, 1 of them failing, next push
level 1  user
  L1.1  turn         done         4 tests
  L1.2  push         wrong        2 of 4 tests fail
  L1.3  pull         skipped      needs jansson: make setup
level 2  operator
  L2.1  lift         started      1 of 4 tests passes""",
                   turn=record("done", *[PASS] * 4), push=wrong, pull=record("skipped", message="needs jansson: make setup"),
                   lift=record("started", PASS, *[failing("not started")] * 3))

    def test_singular_and_long_remarks(self):
        self.board("""\
your exercises: 1 done, 3 to do, 2 of them failing, next turn
level 1  user
  L1.1  turn         compile      level1-user/turn.c:7: expected expected exp...
  L1.2  push         not started
  L1.3  pull         timeout      1 of 1 test fails
level 2  operator: 1 exercise, all done""",
                   turn=record("compile", message="level1-user/turn.c:7: " + "expected " * 5),
                   pull=record("timeout", failing("timeout"), ex=self.pull), lift=record("done", PASS, ex=self.lift))
        self.board("""\
your exercises: 1 done, 3 to do, next push
level 1  user
  L1.1  turn         done         1 test
  L1.2  push         next         1 line, about 20 min
  L1.3  pull         not started
level 2  operator: 1 exercise, none started""", turn=record("done", PASS))

    def test_all_done(self):
        done = {ex.id: record("done", PASS, ex=ex) for ex in self.course.exercises}
        self.board("""\
your exercises: 4 done, 0 to do, all yours
level 1  user: 3 exercises, all done
level 2  operator: 1 exercise, all done""", **done)

    def test_the_core_path_leaves_the_others_out(self):
        done = {"turn": record("done", PASS)}
        self.assertEqual(board.next_exercise(self.course, done), self.push)
        self.assertEqual(board.next_exercise(self.course, done, core_only=True), self.pull)
        self.assertIsNone(board.next_exercise(self.course, {**done, "pull": done["turn"]}, core_only=True))


class Colours(unittest.TestCase):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def has_colour(self, stream, **variables):
        names = ("NO_COLOR", "TERM")
        before = {name: os.environ.pop(name, None) for name in names}
        os.environ.update(variables)
        try:
            return board.has_colour(stream)
        finally:
            for name in names:
                os.environ.pop(name, None)
                if before[name] is not None:
                    os.environ[name] = before[name]

    def test_only_on_a_terminal_that_wants_them(self):
        self.assertTrue(self.has_colour(self.Terminal()))
        self.assertTrue(self.has_colour(self.Terminal(), NO_COLOR=""))
        self.assertFalse(self.has_colour(io.StringIO()))
        self.assertFalse(self.has_colour(self.Terminal(), NO_COLOR="1"))
        self.assertFalse(self.has_colour(self.Terminal(), TERM="dumb"))

    def test_columns_stay_where_they_are(self):
        known = record("wrong", failing("wrong"))
        plain = board.exercise_line(TURN, known, False, 20, colour=False)
        painted = board.exercise_line(TURN, known, False, 20, colour=True)
        self.assertEqual(painted, plain.replace("wrong       ", "\033[31mwrong       \033[0m"))
        self.assertIn("\033[31mturn: wrong: 1 of 4 tests fails, the first is\033[0m", board.expanded(TURN, known, colour=True))


class Words(Screen):
    def test_next(self):
        ex = exercise(needs=["push"], why="It " + "turns " * 20 + "things.")
        self.shows(words.next_lines(ex, "level1-user/turn.c:9", 1, ["void turn(int *x);", "enum status turn_back(struct turn *t, "
                                                                    "const struct push *push, struct error *err);"]), """\
L1.1 turn: Turn
  It turns turns turns turns turns turns turns turns turns turns turns turns
  turns turns turns turns turns turns turns turns things.

  write    level1-user/turn.c:9
  as       void turn(int *x);
           enum status turn_back(struct turn *t, const struct push *push, struct
               error *err);
  takes    1 line, about 20 minutes (estimated), difficulty 1 of 3, core
  read     docs/level1/turn.md and the contract in level1-user/turn.h
  test     make test EX=turn
  before   push (helps; nothing breaks without)""")

    def test_payoff(self):
        self.shows(words.payoff_lines(TURN, False), """
turn is yours now: from the next make run on, the engine runs with it.
  see it   make run
  All do.""")

    def test_the_last_exercise_of_a_level_leads_to_the_rest_of_it(self):
        two = course(entry("turn"), entry("push"), entry("pull", level=2, file="level2-operator/pull.c",
                                                         header="level2-operator/pull.h",
                                                         suite="tests/level2/test_pull.c"))
        done = {"turn": record("done"), "pull": record("not started")}
        self.assertEqual(words.level_lines(two, done, two.exercises[0]), [])
        self.assertEqual(words.level_lines(two, {**done, "push": record("changed")}, two.exercises[0]), [])
        self.shows(words.level_lines(two, {**done, "push": record("done")}, two.exercises[0]), """
That was the last exercise of level 1; what else belongs to it:
docs/level1/README.md, "You are done when\"""")

    def test_prototypes_stand_as_in_the_header(self):
        header = ("#define X 1\n// turn(x) turns\nvoid turn(int *x, // (n)\n          int n) __attribute__((nonnull));\n"
                  "static inline int half(int x) {\n    return turn(x);\n}\nstruct turn *turn_back(void);\n")
        self.assertEqual(words.prototypes(header, ["turn", "turn_back", "half", "none"]),
                         ["void turn(int *x, int n) __attribute__((nonnull));", "struct turn *turn_back(void);"])


if __name__ == "__main__":
    unittest.main()
