"""Runs the suite of one exercise, and says of each test how it ended.

Three sources are put together: the XML that Check writes, the report in which a test says that it began
and reached its end (tests/support/report.h), and the logs of the sanitizers. Nothing that the learner's
code prints is believed.
"""
import json
import os
import re
import secrets
import select
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import run_tests

from ladder import guard, processes, sanitizer

SANITIZER_STATUS = 66  # of AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer
NOT_STARTED_STATUS = 77  # of EXERCISE()
DEFAULT_SEED = "1"  # tests/support/suite.c has the same
TEST_LIMIT_S, SUITE_LIMIT_S = 3, 12  # of a learner; proofs upstream wait longer
TICK_S = 0.05
MEMORY_LIMIT = 2 << 30  # bytes of one test
MAX_OUTPUT = 1 << 18  # bytes, of the beginning and of the end
NO_FAILURE = ("pass", "not started")  # causes; all others count as failed
NAMESPACE = "{http://check.sourceforge.net/ns}"
OUTSIDE_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Test:
    name: str  # "matches_hand_worked_rows[3]"
    case: str  # its TCase
    cause: str  # pass, wrong, crash, memory, timeout, not started, left early
    message: str = ""
    where: str = ""  # file:line of the assertion
    differs: dict = field(default_factory=dict)  # what, index, got, want, used
    ms: float = 0.0

    @property
    def has_failed(self):
        return self.cause not in NO_FAILURE


@dataclass
class Run:
    tests: list
    seed: str
    output: str = ""  # what the learner's code printed
    trouble: str = ""  # why there is not one test
    is_cut: bool = False  # stopped at SUITE_LIMIT_S; later tests did not run
    signal: int = 0  # what ended the suite itself: some test reached its parent


def read_report(path, nonce):
    """{test name: {"ended": bool, "pid": "...", "differs": {...}}} from the report."""
    tests, of_pid = {}, {}
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        pid, _, rest = line.partition(" ")
        kind, _, text = rest.partition(" ")
        if kind == "begin":
            name, _, index = text.rpartition(" ")
            of_pid[pid] = f"{name}[{index}]"
            tests[of_pid[pid]] = {"ended": False, "pid": pid, "differs": {}}
        elif pid in of_pid and kind == "end":
            tests[of_pid[pid]]["ended"] = text == nonce
        elif pid in of_pid and kind == "differs":
            tests[of_pid[pid]]["differs"] = dict_of(text)
    return tests


def dict_of(text):
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def read_xml(path):
    """Check's results, as far as they were written."""
    text = Path(path).read_text(errors="replace") if Path(path).exists() else ""
    text = OUTSIDE_XML.sub("?", text)
    text = re.sub(r"&#x?0*([0-8bcefBCEF]|1[0-9a-fA-F]?);", "?", text)
    if text and "</testsuites>" not in text:  # the suite was stopped
        text = text[:text.rfind("</test>") + len("</test>")] if "</test>" in text else ""
        text += "</suite></testsuites>" if text else ""
    try:
        return ElementTree.fromstring(text).iter(NAMESPACE + "test") if text else []
    except ElementTree.ParseError:
        return []


def cause_of(result, message, ended):
    if result == "success":
        return "pass" if ended else "left early"
    if result == "failure":
        return "wrong"
    status = re.search(r"Early exit with return value (\d+)", message)
    if status:
        return {SANITIZER_STATUS: "memory", NOT_STARTED_STATUS: "not started"}.get(int(status.group(1)), "left early")
    return "timeout" if "timeout" in message.lower() else "crash"


def shorten(message, cause, limit_s):
    """One sentence in our words for what is not an assertion."""
    signal_number = re.search(r"Received signal (\d+)", message)
    if cause == "timeout":
        return f"timed out after {limit_s} s"
    if cause == "left early":
        status = re.search(r"return value (\d+)", message)
        return f"the code left the process (exit status {status.group(1) if status else 0}) before the test's end"
    if cause == "crash" and signal_number:
        return f"killed by signal {signal_number.group(1)} ({signal_name(int(signal_number.group(1)))})"
    return message


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "it has no name"


def environment(seed, log, limit_s, fork):
    env = {key: value for key, value in os.environ.items() if not key.startswith("CK_")}
    shared = f"exitcode={SANITIZER_STATUS}:log_path='{log}':allocator_may_return_null=1"
    env.update(COURSE_SEED=str(seed), CK_FORK="yes" if fork else "no", CK_DEFAULT_TIMEOUT=str(limit_s),
               ASAN_OPTIONS=shared, LSAN_OPTIONS=f"exitcode={SANITIZER_STATUS}",
               UBSAN_OPTIONS=f"print_stacktrace=1:{shared}", TSAN_OPTIONS=shared)
    return env


def execute(command, env, nonce, limit_s, heavy=None):
    """(exit status or None, output); a suite that does not end is stopped, and all that it has started ends
    with it. Of an output without end, the beginning and the end are kept."""
    mark = processes.mark_below(secrets.token_hex(8))  # what a suite starts has it, too, whatever session it moves to
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**env, processes.MARK: mark}, start_new_session=True)
    output = Output(program.stdout)
    try:
        try:
            program.stdin.write(nonce.encode() + b"\n")
            program.stdin.close()
        except BrokenPipeError:
            pass  # it is gone already
        end = time.monotonic() + limit_s
        while program.poll() is None and time.monotonic() < end:
            if output.is_over:
                wait_for(program, TICK_S)
            else:
                output.read(TICK_S)
            stop_heavy(program.pid, heavy if heavy is not None else set())
        is_cut = program.poll() is None
    finally:
        processes.end_session(program, mark)
    program.wait()
    while output.read(0):  # nobody is left who could write more
        pass
    program.stdout.close()
    return None if is_cut else program.returncode, output.text()


def wait_for(program, patience_s):
    """Comes back as soon as the program has ended."""
    try:
        program.wait(patience_s)
    except subprocess.TimeoutExpired:
        pass


def stop_heavy(parent, heavy):
    """Ends each child that takes more memory than a test may, before the machine is out of it; its id is
    added to heavy. AddressSanitizer's own limit does not hold in a child."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for pid in children:
            if int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") > MEMORY_LIMIT:
                os.kill(int(pid), signal.SIGKILL)
                heavy.add(pid)
    except (OSError, IndexError):
        pass  # it has just ended, or this system has no such folder


class Output:
    """What comes out of a pipe."""

    def __init__(self, pipe):
        self.fd = pipe.fileno()
        os.set_blocking(self.fd, False)
        self.head, self.tail, self.is_over = b"", b"", False

    def read(self, patience_s):
        """Waits for more; False: there was none."""
        if self.is_over or not select.select([self.fd], [], [], patience_s)[0]:
            return False
        data = os.read(self.fd, 1 << 16)
        self.is_over = not data
        n = MAX_OUTPUT - len(self.head)
        self.head += data[:n]
        if data[n:]:
            self.tail = (self.tail + data[n:])[-MAX_OUTPUT:]
        return bool(data)

    def text(self):
        return (self.head + self.tail).decode(errors="replace")


def learner_output(output, messages=()):
    """What the code itself printed: neither Check's words nor ours nor a sanitizer's. messages: of the tests
    that failed, as the XML has them; what stands on their later lines came from a text that was compared."""
    ours = re.compile(r"^(Running suite|\d+%: Checks|tests/|common/|level\d|draws came from|\d+ passed, \d+ failed"
                      r"|not started: |  \S.* = .*, want |\s+#\d+ 0x|SUMMARY: |AddressSanitizer:DEADLYSIGNAL"
                      r"|.*runtime error: |.*note: pointer points here|[ 0-9a-f]{20,}$|\s+\^)")
    later = Counter(line for message in messages for line in message.split("\n")[1:])
    lines = []
    for line in output.splitlines():
        in_xml = OUTSIDE_XML.sub("?", line)
        if later[in_xml] > 0:
            later[in_xml] -= 1
        elif line.strip() and not ours.match(line):
            lines.append(line)
    return "\n".join(lines)


def run(binary, learner_file, seed=DEFAULT_SEED, only=None, tiny=None, patience=1):
    """Runs a suite; each test with its cause. Nothing is left behind. patience multiplies the limits.
    OSError: this machine cannot run it."""
    factor = run_tests.machine_factor() * patience
    test_limit_s, suite_limit_s = int(TEST_LIMIT_S * factor + 0.5), SUITE_LIMIT_S * factor
    nonce = secrets.token_hex(16)
    with guard.temporary_folder() as folder:
        report, log = os.path.join(folder, "report"), os.path.join(folder, "sanitizer")
        env = environment(seed, log, test_limit_s, fork=True)
        if tiny:
            env["TINY_MODEL"] = str(tiny)
        command = [str(binary), "--report", report] + (["--only", only] if only else [])
        begin, heavy = time.monotonic(), set()
        status, output = execute(command, env, nonce, suite_limit_s, heavy)
        seconds = time.monotonic() - begin
        told, logs, items = read_report(report, nonce), sanitizer.logs(log), list(read_xml(report + ".xml"))
    printed = sanitizer.printed(output)
    tests = [test_of(item, told, logs, printed, learner_file, test_limit_s) for item in items]
    for test in tests:
        if told.get(test.name, {}).get("pid") in heavy:
            test.cause, test.message = "memory", f"took more than {MEMORY_LIMIT >> 30} GB of memory"
    if only:  # Check counts the tests that were not chosen, too
        tests = [test for test in tests if test.name in told]
    trouble = "" if tests else trouble_of(status, output, next(iter(logs.values()), printed), seconds, learner_file)
    messages = [test.message for test in tests if test.cause == "wrong"]
    return Run(tests, str(seed), learner_output(output, messages), trouble, is_cut=status is None,
               signal=-status if status is not None and status < 0 else 0)


def trouble_of(status, output, log, seconds, learner_file):
    """Why there is not one test."""
    if log:
        return sanitizer.report(log, learner_file)
    if status is None:
        return f"no end after {seconds:.0f} s"
    last = (output.strip().splitlines() or ["it said nothing"])[-1]
    return f"the suite ended with status {status} before any test: {last}"


def test_of(item, told, logs, printed, learner_file, limit_s):
    """A test from its element in Check's results and from what it said itself."""
    value = {child.tag.replace(NAMESPACE, ""): (child.text or "") for child in item}
    name = f"{value.get('id', '')}[{value.get('iteration', '0')}]"
    said = told.get(name, {})
    cause = cause_of(item.get("result"), value.get("message", ""), said.get("ended", False))
    message = "" if cause == "pass" else shorten(value.get("message", ""), cause, limit_s)
    log = logs.get(said.get("pid")) or (printed if cause == "memory" else "")
    if cause in ("memory", "crash") and log:
        cause, message = "memory", sanitizer.report(log, learner_file)
    where = f"{value.get('path', '')}/{value.get('fn', '')}" if cause == "wrong" else ""
    return Test(name, value.get("description", ""), cause, message, where, said.get("differs", {}),
                float(value.get("duration") or 0) * 1e3)
