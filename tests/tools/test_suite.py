#!/usr/bin/env python3
"""How a suite's run becomes a cause for each test: Check's results, the report, what both leave out, and
that nothing which a learner's code does is taken for a pass."""
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import course_of_one  # noqa: E402,F401  it finds the tools
from ladder import processes, suite  # noqa: E402

NONCE = "5d41402abc4b2a76b9719d911017c592"
HEAD = ('<?xml version="1.0"?>\n<testsuites xmlns="http://check.sourceforge.net/ns">\n'
        "  <datetime>2025-01-01 00:00:00</datetime>\n  <suite>\n    <title>level1/turn</title>\n")
TAIL = "  </suite>\n  <duration>0.001</duration>\n</testsuites>\n"


def element(name, result="success", message="Passed", index=0):
    return (f'    <test result="{result}">\n      <path>tests/level1</path>\n      <fn>test_turn.c:12</fn>\n'
            f"      <id>{name}</id>\n      <iteration>{index}</iteration>\n      <duration>0.000512</duration>\n"
            f"      <description>edges</description>\n      <message>{message}</message>\n    </test>\n")


class InAFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="suite ")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def file(self, text, name="x"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


class Xml(InAFolder):
    def ids(self, text):
        return [item.find(suite.NAMESPACE + "id").text for item in suite.read_xml(self.file(text))]

    def test_whole(self):
        self.assertEqual(self.ids(HEAD + element("a") + element("b") + TAIL), ["a", "b"])

    def test_cut_off_anywhere(self):
        whole = HEAD + element("a") + element("b") + TAIL
        for n in range(len(whole)):
            ids = self.ids(whole[:n])
            self.assertIn(ids, ([], ["a"], ["a", "b"]))
            self.assertEqual(len(ids), 2 if "</testsuites>" in whole[:n] else whole[:n].count("</test>"), n)

    def test_missing_and_no_xml(self):
        self.assertEqual(list(suite.read_xml(str(self.folder / "none"))), [])
        self.assertEqual(self.ids("no </test> of ours"), [])

    def test_letters_that_xml_cannot_hold(self):
        for raw in (b"a\x01\x1b[31m", b"a\xff\xfe", b"a&#x1b;", b"a&#1;", b"a&#x00;", "a\uffff".encode()):
            text = (HEAD + element("a", "failure", "@") + TAIL).encode().replace(b"@", raw)
            found = list(suite.read_xml(self.file(text)))
            self.assertEqual(len(found), 1, raw)
            self.assertTrue(found[0].find(suite.NAMESPACE + "message").text.startswith("a"), raw)

    def test_escaped_letters_come_back(self):
        text = HEAD + element("a", "failure", "x[3] &lt; 2 &amp;&amp; &#xe9;") + TAIL
        found = next(iter(suite.read_xml(self.file(text))))
        self.assertEqual(found.find(suite.NAMESPACE + "message").text, "x[3] < 2 && \u00e9")


class Report(InAFolder):
    def told(self, *lines):
        return suite.read_report(self.file("".join(line + "\n" for line in lines)), NONCE)

    def test_begin_differs_end(self):
        differs = '{"what": "turn(1) x", "index": 3, "got": "1"}'
        told = self.told("7 begin worked_example 0", f"7 differs {differs}", "8 begin other 2", f"7 end {NONCE}")
        self.assertEqual(told["worked_example[0]"], {"ended": True, "pid": "7", "differs": json.loads(differs)})
        self.assertEqual(told["other[2]"], {"ended": False, "pid": "8", "differs": {}})

    def test_what_is_no_end(self):
        for line in ("7 end", "7 end ", "7 end guessed", f"8 end {NONCE}", f"7 end {NONCE[:-1]}", f"7 END {NONCE}",
                     f"end {NONCE}"):
            self.assertFalse(self.told("7 begin a 0", line)["a[0]"]["ended"], line)

    def test_one_process_runs_all_without_forks(self):
        told = self.told("7 begin a 0", f"7 end {NONCE}", "7 begin b 0")
        self.assertEqual([told[name]["ended"] for name in ("a[0]", "b[0]")], [True, False])

    def test_rubbish_is_no_difference(self):
        for rubbish in ("{", "5", "null", '"x"', "[1]", "\x00"):
            self.assertEqual(self.told("7 begin a 0", f"7 differs {rubbish}")["a[0]"]["differs"], {})
        self.assertEqual(suite.read_report(self.file(b"\xff\xfe\n\n7\n9 differs {}\n"), NONCE), {})
        self.assertEqual(suite.read_report(str(self.folder / "none"), NONCE), {})


class Cause(unittest.TestCase):
    def test_each_kind(self):
        for result, message, ended, cause in (
                ("success", "Passed", True, "pass"), ("success", "Passed", False, "left early"),
                ("failure", "x[0] = 1, want 2", False, "wrong"), ("failure", "timeout of the socket", False, "wrong"),
                ("error", "(after this point) Early exit with return value 66", True, "memory"),
                ("error", "(after this point) Early exit with return value 77", False, "not started"),
                ("error", "(after this point) Early exit with return value 3", True, "left early"),
                ("error", "(after this point) Test timeout expired", False, "timeout"),
                ("error", "(after this point) Received signal 11 (Segmentation fault)", False, "crash"),
                ("error", "anything else", False, "crash")):
            self.assertEqual(suite.cause_of(result, message, ended), cause, (result, message, ended))

    def test_said_in_one_sentence(self):
        self.assertEqual(suite.shorten("(after this point) Test timeout expired", "timeout", 3), "timed out after 3 s")
        self.assertEqual(suite.shorten("Received signal 6 (Aborted)", "crash", 3), "killed by signal 6 (SIGABRT)")
        self.assertEqual(suite.shorten("Received signal 41 (Real-time signal 7)", "crash", 3),
                         "killed by signal 41 (it has no name)")
        for message, status in (("Passed", 0), ("Early exit with return value 5", 5)):
            self.assertEqual(suite.shorten(message, "left early", 3),
                             f"the code left the process (exit status {status}) before the test's end")
        self.assertEqual(suite.shorten("y[3] = 1, want 2", "wrong", 3), "y[3] = 1, want 2")

    def test_what_the_learner_printed_is_told_from_what_we_say(self):
        self.assertEqual(suite.learner_output(
            "Running suite(s): level1/turn\nhere 1\n50%: Checks: 2, Failures: 1, Errors: 0\n"
            "tests/level1/test_turn.c:9:F:edges:a:0: x\n\nnot started: turn, level1-user/turn.c:5\n"
            "  turn(1) x[0] = 1, want 2\nthere\n    #0 0x55 in turn level1-user/turn.c:5\n"
            "draws came from COURSE_SEED=1\n1 passed, 1 failed\n"), "here 1\nthere")

    def test_the_rest_of_a_failure_of_several_lines_is_ours_as_well(self):
        message = 'turn(1) = "Hi.", want "Now.\r\n\nHi."\r\a'
        output = f"mine\ntests/level1/test_turn.c:9:F:edges:a:0: {message}\nHi.\n0%: Checks: 1, Failures: 1\n"
        as_xml_has_it = 'turn(1) = "Hi.", want "Now.\n\nHi."\n?'
        self.assertEqual(suite.learner_output(output, [as_xml_has_it]), "mine\nHi.")
        self.assertEqual(suite.learner_output('Hi."\nHi."\n', ['x = "Now.\nHi."']), 'Hi."')

    def test_what_the_address_sanitizer_says_first_is_not_the_learners(self):
        self.assertEqual(suite.learner_output("mine\nAddressSanitizer:DEADLYSIGNAL\n"), "mine")


class Execute(InAFolder):
    """Programs in place of suites."""

    def program(self, body):
        path = self.file(f"#!{sys.executable}\nimport os, sys, time, subprocess\n{body}\n", "suite")
        os.chmod(path, 0o755)
        return path

    def run_suite(self, body, **more):
        return suite.run(self.program(body), "level1-user/turn.c", **more)

    def wrote(self, report, xml):
        """A program that says what a suite would say; NONCE is what came in."""
        return ("nonce = sys.stdin.readline().strip(); path = sys.argv[2]\n"
                f"open(path, 'w').write({report!r}.replace('NONCE', nonce))\n"
                f"open(path + '.xml', 'w').write({HEAD!r} + {xml!r} + {TAIL!r})")

    def test_only_who_says_the_nonce_has_passed(self):
        said = "1 begin a 0\n1 end NONCE\n2 begin b 0\n2 end guessed\n"
        run = self.run_suite(self.wrote(said, element("a") + element("b") + element("c")))
        self.assertEqual([(test.name, test.cause) for test in run.tests],
                         [("a[0]", "pass"), ("b[0]", "left early"), ("c[0]", "left early")])
        self.assertEqual((run.trouble, run.is_cut, run.tests[0].case), ("", False, "edges"))

    def test_with_only_the_others_are_not_counted(self):
        run = self.run_suite(self.wrote("1 begin b 0\n1 end NONCE\n", element("a") + element("b")), only="b[0]")
        self.assertEqual([(test.name, test.cause) for test in run.tests], [("b[0]", "pass")])

    def test_the_nonce_is_nowhere_but_in_the_pipe(self):
        env = suite.environment("1", "/tmp/log", 3, fork=True)
        status, output = suite.execute([self.program("print(dict(os.environ), sys.argv)")], env, NONCE, 10)
        self.assertEqual(status, 0)
        self.assertNotIn(NONCE, output)
        reader = self.program("print(sys.stdin.readline().strip(), end='|'); print(sys.stdin.read())")
        _, output = suite.execute([reader], env, NONCE, 10)
        self.assertEqual(output, NONCE + "|\n")  # once

    def test_the_environment_is_ours(self):
        os.environ["CK_RUN_CASE"] = "edges"  # somebody's habit must not choose tests
        self.addCleanup(os.environ.pop, "CK_RUN_CASE")
        env = suite.environment(7, "/tmp/a b:c/log", 3, fork=False)
        self.assertNotIn("CK_RUN_CASE", env)
        self.assertEqual((env["COURSE_SEED"], env["CK_FORK"], env["CK_DEFAULT_TIMEOUT"]), ("7", "no", "3"))
        self.assertIn("log_path='/tmp/a b:c/log'", env["ASAN_OPTIONS"])

    def test_what_does_not_end_is_stopped_with_all_that_it_started(self):
        for move in ("setpgrp", "setsid"):  # to a process group or a session of its own
            body = (f"child = subprocess.Popen(['sleep', '60'], preexec_fn=os.{move}, stdout=subprocess.DEVNULL)\n"
                    "print(child.pid, flush=True)\ntime.sleep(60)")
            begin = time.monotonic()
            status, output = suite.execute([self.program(body)], dict(os.environ), NONCE, 1)
            self.assertIsNone(status)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertFalse(self.is_alive(int(output)), move)

    def is_alive(self, pid):
        """Whether it still runs; who waits to be collected does not."""
        time.sleep(0.05)
        return pid in processes.all_ids() and not processes.is_zombie(pid)

    def test_of_an_output_without_end_both_ends_are_kept(self):
        body = "print('first')\nfor i in range(200):\n    print('y' * 9999)\nprint('last')"
        status, output = suite.execute([self.program(body)], dict(os.environ), NONCE, 20)
        self.assertEqual((status, output[:6], output[-6:]), (0, "first\n", "\nlast\n"))
        self.assertLessEqual(len(output), 2 * suite.MAX_OUTPUT)

    def test_a_suite_without_tests_says_why(self):
        for body, words in (("print('oh'); sys.exit(3)", "status 3 before any test: oh"),
                            ("sys.exit(0)", "status 0 before any test: it said nothing")):
            self.assertEqual(self.run_suite(body).trouble, f"the suite ended with {words}")
        with self.assertRaises(FileNotFoundError):
            suite.run(str(self.folder / "none"), "x.c")
        body = "print('level1-user/turn.c:3:1: runtime error: division by zero'); sys.exit(66)"
        self.assertEqual(self.run_suite(body).trouble, "undefined: division by zero at level1-user/turn.c:3")

    def test_nothing_is_left_behind(self):
        path = self.program("sys.exit(0)")
        tempfile.tempdir = str(self.folder)  # others run tests on this machine, too
        self.addCleanup(setattr, tempfile, "tempdir", None)
        suite.run(path, "level1-user/turn.c")
        self.assertEqual([item.name for item in self.folder.iterdir()], ["suite"])


if __name__ == "__main__":
    unittest.main()
