"""Runs the suite of one exercise, and says of each test how it ended.

Three sources are put together: the XML that Check writes, the report in which a test says that it began
and reached its end (tests/support/report.h), and the logs of the sanitizers. Nothing that the learner's
code prints is believed.
"""
import json
import os
import re
import secrets
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import run_tests

SANITIZER_STATUS = 66  # of AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer
NOT_STARTED_STATUS = 77  # of EXERCISE()
TEST_LIMIT_S, SUITE_LIMIT_S = 3, 12  # of a learner; proofs upstream wait longer
NAMESPACE = "{http://check.sourceforge.net/ns}"


@dataclass
class Test:
    name: str  # "matches_hand_worked_rows[3]"
    case: str  # its TCase
    cause: str  # pass, wrong, crash, memory, timeout, not started, left early
    message: str = ""
    where: str = ""  # file:line of the assertion
    differs: dict = field(default_factory=dict)  # what, index, got, want, used
    ms: float = 0.0


@dataclass
class Run:
    tests: list
    seed: str
    output: str = ""  # what the learner's code printed
    trouble: str = ""  # why the whole run says nothing: the machine's fault, not the learner's
    is_cut: bool = False  # stopped at SUITE_LIMIT_S; later tests did not run


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
            try:
                tests[of_pid[pid]]["differs"] = json.loads(text)
            except ValueError:
                pass
    return tests


def read_xml(path):
    """Check's results, as far as they were written."""
    text = Path(path).read_text(errors="replace") if Path(path).exists() else ""
    text = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
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
        number = int(signal_number.group(1))
        return f"killed by signal {number} ({signal.Signals(number).name})"
    return message


def sanitizer_report(text, learner_file):
    """One line from a sanitizer's report."""
    frame = re.search(rf"(?:^|[\s/])({re.escape(learner_file)}:\d+)", text)
    place = frame or re.search(r"\b((?:common|level\d-\w+|tests|solutions)/[\w/.-]+\.c:\d+)", text)
    at = f" at {place.group(1)}" if place else ""
    undefined = re.search(r"runtime error: (.*)", text)
    if undefined:
        return f"undefined: {undefined.group(1)}{at}"
    leak = re.search(r"SUMMARY: AddressSanitizer: (\d+) byte\(s\) leaked in (\d+) allocation", text)
    if leak:
        return f"leak: {leak.group(1)} bytes in {leak.group(2)} allocations are never freed, taken{at}"
    kind = re.search(r"ERROR: AddressSanitizer: ([\w-]+)", text)
    access = re.search(r"\b(READ|WRITE) of size (\d+)", text)
    region = re.search(r"is located (\d+) bytes (\S+ \S+|\S+) (?:of )?(\d+)-byte region", text)
    variable = re.search(r"'(\w+)'.* <== Memory access at offset \d+ (\w+)", text)
    if kind and kind.group(1) == "SEGV":
        return f"access to an address that is no memory (a NULL or wild pointer){at}"
    if not access:
        return (kind.group(1) if kind else "a sanitizer stopped it") + at
    did = "read" if access.group(1) == "READ" else "wrote"
    line = f"{did} {access.group(2)} bytes"
    if kind and kind.group(1) == "heap-use-after-free":
        return f"{line} of memory that was freed{at}"
    if region:
        side = "past" if region.group(2) in ("to the right", "after") else "before" if "left" in region.group(2) or \
            region.group(2) == "before" else "inside"
        return f"{line}, {region.group(1)} bytes {side} a region of {region.group(3)}{at}"
    if variable:
        return f"{line} past {variable.group(1)}{at}"
    return f"{line} where nothing of that size is{at}"


def sanitizer_logs(prefix):
    """{pid: text} of the logs under the prefix."""
    folder, name = os.path.split(prefix)
    return {path.name.rsplit(".", 1)[1]: path.read_text(errors="replace") for path in Path(folder).glob(name + ".*")}


def environment(seed, log, limit_s, fork):
    env = {key: value for key, value in os.environ.items() if not key.startswith("CK_")}
    shared = f"exitcode={SANITIZER_STATUS}:log_path={log}:allocator_may_return_null=1"
    env.update(COURSE_SEED=str(seed), CK_FORK="yes" if fork else "no", CK_DEFAULT_TIMEOUT=str(limit_s),
               ASAN_OPTIONS=shared, LSAN_OPTIONS=f"exitcode={SANITIZER_STATUS}",
               UBSAN_OPTIONS=f"print_stacktrace=1:{shared}", TSAN_OPTIONS=shared)
    return env


def execute(command, env, nonce, limit_s):
    """(exit status or None, output); a suite that does not end is stopped with all that it started."""
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=env, start_new_session=True)
    try:
        output, _ = program.communicate(nonce.encode() + b"\n", timeout=limit_s)
        return program.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        run_tests.end_session(program)
        output, _ = program.communicate()
        return None, output.decode(errors="replace")
    except BaseException:
        run_tests.end_session(program)
        raise


def learner_output(output):
    """What the code itself printed: neither Check's words nor ours nor a sanitizer's."""
    ours = re.compile(r"^(Running suite|\d+%: Checks|tests/|common/|level\d|draws came from|\d+ passed, \d+ failed"
                      r"|not started: |  \S.* = .*, want |\s+#\d+ 0x|SUMMARY: |.*runtime error: "
                      r"|.*note: pointer points here|[ 0-9a-f]{20,}$|\s+\^)")
    return "\n".join(line for line in output.splitlines() if line.strip() and not ours.match(line))


def run(binary, learner_file, seed="1", only=None, tiny=None, patience=1):
    """Runs a suite; each test with its cause. Nothing is left behind. patience multiplies the limits."""
    factor = run_tests.machine_factor() * patience
    test_limit_s, suite_limit_s = int(TEST_LIMIT_S * factor + 0.5), SUITE_LIMIT_S * factor
    nonce = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="ladder-") as folder:
        report, log = os.path.join(folder, "report"), os.path.join(folder, "sanitizer")
        env = environment(seed, log, test_limit_s, fork=True)
        if tiny:
            env["TINY_MODEL"] = str(tiny)
        command = [str(binary), "--report", report] + (["--only", only] if only else [])
        begin = time.monotonic()
        try:
            status, output = execute(command, env, nonce, suite_limit_s)
        except OSError as error:
            return Run([], seed, trouble=f"{binary}: {error.strerror}")
        told, logs = read_report(report, nonce), sanitizer_logs(log)
        logs[None] = "".join(re.findall(r"^.*runtime error: .*\n(?:\s+#\d+ .*\n)*", output, re.M)[:1])
        tests = []
        for item in read_xml(report + ".xml"):
            test = test_of(item, told, logs, learner_file, test_limit_s)
            if not only or test.name in told or test.cause != "left early":
                tests.append(test)
        if only:
            tests = [test for test in tests if test.name in told]
    result = Run(tests, str(seed), learner_output(output), is_cut=status is None)
    if not tests:
        result.trouble = (f"no end after {time.monotonic() - begin:.0f} s" if status is None else
                          f"the suite ended with status {status} before any test: "
                          + ((output.strip().splitlines() or ["it said nothing"])[-1]))
        log = next((text for text in logs.values() if text), "")
        if log:
            result.trouble = sanitizer_report(log, learner_file)
    return result


def test_of(item, told, logs, learner_file, limit_s):
    value = {child.tag.replace(NAMESPACE, ""): (child.text or "") for child in item}
    name = f"{value.get('id', '')}[{value.get('iteration', '0')}]"
    said = told.get(name, {})
    cause = cause_of(item.get("result"), value.get("message", ""), said.get("ended", False))
    message = shorten(value.get("message", ""), cause, limit_s)
    log = logs.get(said.get("pid")) or (logs[None] if cause == "memory" else "")
    if cause in ("memory", "crash") and log:
        cause, message = "memory", sanitizer_report(log, learner_file)
    if cause == "pass":
        message = ""
    where = f"{value.get('path', '')}/{value.get('fn', '')}" if cause == "wrong" else ""
    return Test(name, value.get("description", ""), cause, message, where, said.get("differs", {}),
                float(value.get("duration") or 0) * 1e3)
