"""From a learner's file to a verdict: builds its suite, checks what the file may and may not do, runs it."""
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from ladder import build, cut, sources as source_graph, suite
from ladder.catalog import ROOT

# What a line of the board can say. Only these count as failed; the rest is work not done yet.
FAILED_STATES = ("wrong", "compile", "crash", "memory", "timeout")
TRIES_TO_BUILD = 3  # somebody saves while the compiler reads
SANITIZER_SYMBOL = re.compile(r"^_*(asan|odr_asan|ubsan|tsan|lsan|sanitizer|sub_I|GLOBAL)")
COMPILER_ERROR = re.compile(r"^([^:\n]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.M)


@dataclass
class Verdict:
    exercise: object
    state: str  # done, started, not started, skipped, blocked, or one of FAILED_STATES
    message: str = ""
    tests: list = field(default_factory=list)
    seed: str = suite.DEFAULT_SEED
    fingerprint: str = ""
    output: str = ""
    warnings: str = ""

    def count(self, *causes):
        return sum(1 for test in self.tests if test.cause in causes)

    @property
    def n_passed(self):
        return self.count("pass")

    @property
    def n_failed(self):
        """Failing tests; a file that never got to its tests counts as one."""
        failed = sum(test.has_failed for test in self.tests)
        return failed or (1 if self.state in FAILED_STATES else 0)

    @property
    def first_failure(self):
        return next((test for test in self.tests if test.has_failed), None)

    def has_passed(self, part):
        """All tests ran, and those of the part passed."""
        own = [test.cause for test in self.tests if test.case.split()[0] == part.name]
        return len(self.tests) == self.exercise.tests and set(own) == {"pass"}


def points_of(exercise, verdicts):
    """All when each verdict is done; else those of the parts that passed in each."""
    if all(verdict.state == "done" for verdict in verdicts):
        return exercise.points
    return sum(part.points for part in exercise.parts if all(verdict.has_passed(part) for verdict in verdicts))


def starter_text(exercise, root=ROOT):
    return cut.starter_of((root / exercise.solution).read_text(), exercise)


def is_untouched(exercise, root=ROOT):
    path = root / exercise.file
    return path.is_file() and path.read_text(errors="replace") == starter_text(exercise, root)


def first_gap(exercise, root=ROOT):
    """file:line of the first place that still waits for the learner."""
    lines = (root / exercise.file).read_text(errors="replace").splitlines()
    line = next((i for i, text in enumerate(lines, 1) if "EXERCISE(" in text), 1)
    return f"{exercise.file}:{line}"


def not_started(exercise, root=ROOT):
    return Verdict(exercise, "not started", f"not started: {first_gap(exercise, root)}")


def gone(exercise):
    return Verdict(exercise, "compile", f"{exercise.file} is not there; make reset EX={exercise.id} brings it back")


def symbols_of(kinds, *paths):
    """Names that objects give to the linker, or ask it for ("U"). Weak ones are left out."""
    out = subprocess.run(["nm", "-g", *map(str, paths)], capture_output=True, text=True).stdout if paths else ""
    found = [line.split() for line in out.splitlines()]
    return {words[-1] for words in found
            if len(words) in (2, 3) and words[-2] in kinds and not SANITIZER_SYMBOL.match(words[-1])}


def visible_symbols(*paths):
    return symbols_of("TDBRGSC", *paths)


def foreign_dependencies(dependency_file, root=ROOT):
    """Files that the learner's file includes and must not: the solutions and the tests, and what these use."""
    try:
        text = Path(dependency_file).read_text(errors="replace").replace("\\\n", " ")
    except OSError:
        return []
    rule = text.partition(": ")[2].partition("\n")[0]
    names = [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", rule)]
    forbidden = (root / "solutions", root / "tests")
    return [name for name in names if Path(name).name == "check.h"
            or any(part in Path(root, name).resolve().parents for part in forbidden)]


def fault_of_object(exercise, build_dir, root=ROOT):
    """Why a file that compiles is not judged at all; None: it may be linked."""
    mine = Path(build.learner_object(exercise, build_dir))
    foreign = foreign_dependencies(mine.with_suffix(".d"), root)
    if foreign:
        return f"{exercise.file} includes {foreign[0]}: an exercise may use neither solutions nor tests"
    of_tests = symbols_of("U", mine) & visible_symbols(*Path(build_dir, "test/obj/tests/support").glob("*.o"))
    if of_tests:
        return f"{exercise.file} calls {min(of_tests)}, which only tests have: no program could be linked with it"
    want = visible_symbols(build.object_of(exercise.solution, build_dir))
    got = visible_symbols(mine)
    if got - want:
        return (f"{exercise.file} defines {', '.join(sorted(got - want))}, which {exercise.header} does not declare: "
                "make helpers static")
    if want - got:
        return f"{exercise.file} does not define {', '.join(sorted(want - got))}, which {exercise.header} promises"
    return None


def compile_fault(log, exercise):
    """The first error of the compiler in one line; None: it did not complain."""
    match = COMPILER_ERROR.search(log)
    if not match:
        return None
    file, line, what = match.groups()
    if what.startswith("check.h"):
        return None  # the machine lacks a library: not the learner's fault
    return f"{file}:{line}: {what}"


def link_fault(log):
    """The line that says why a suite does not build."""
    lines = log.splitlines() or ["make doctor says what is missing"]
    return next((line for line in lines if "error" in line), lines[-1])


def read_log(path):
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def state_of(run, exercise, whole):
    """(state, message) from the tests of a finished run."""
    cut_short = (f"the suite did not end within {suite.SUITE_LIMIT_S} s; later tests did not run" if run.is_cut else "")
    failing = [test for test in run.tests if test.has_failed]
    waiting = [test for test in run.tests if test.cause == "not started"]
    if failing:
        cause = "wrong" if failing[0].cause == "left early" else failing[0].cause
        return cause, cut_short
    if run.is_cut:
        return "timeout", cut_short
    if waiting:
        return ("started" if len(waiting) < len(run.tests) else "not started"), ""
    if run.signal:
        return "crash", f"the suite itself was ended by signal {run.signal}: code may not signal its parent"
    if whole and len(run.tests) != exercise.tests:
        return "wrong", f"{len(run.tests)} tests ran, and course.json promises {exercise.tests}"
    return "done", ""


def judge_built(exercise, seed, only, tiny, root=ROOT):
    """A verdict on what make has built, or failed to build."""
    build_dir = build.build_dir()
    mine, binary = Path(build.learner_object(exercise, build_dir)), Path(build.suite_binary(exercise, build_dir))
    log = read_log(mine.with_suffix(".log"))
    if not mine.exists():
        fault = compile_fault(log, exercise)
        if fault:
            return Verdict(exercise, "compile", fault, warnings=log)
        return Verdict(exercise, "blocked", f"{build.compiler()} could not compile it: "
                       + ((log.splitlines() or ["make doctor says what is missing"])[-1]))
    fault = fault_of_object(exercise, build_dir, root)
    if fault:
        return Verdict(exercise, "wrong", fault, warnings=log)
    if not binary.exists():
        link = read_log(str(binary) + ".log")
        unknown = set(re.findall(r"undefined reference to [`'](\w+)'", link)) & symbols_of("U", mine)
        if unknown:
            return Verdict(exercise, "compile", f"{exercise.file} calls {min(unknown)}, which is nowhere defined")
        return Verdict(exercise, "blocked", f"its suite could not be built: {link_fault(link)}")
    return judge_run(exercise, binary, seed, only, tiny, log)


def judge_run(exercise, binary, seed, only, tiny, log):
    """A verdict on what the suite says."""
    try:
        run = suite.run(binary, exercise.file, seed, only, tiny)
    except OSError as error:  # no room for its report, no right to start it
        return Verdict(exercise, "blocked", f"its suite cannot be run here: {error.strerror}: {error.filename}")
    if run.trouble:
        return Verdict(exercise, "crash", run.trouble, seed=seed, output=run.output, warnings=log)
    state, message = state_of(run, exercise, whole=not only)
    return Verdict(exercise, state, message, run.tests, seed, output=run.output, warnings=log)


def judge(exercises, graph, seed=suite.DEFAULT_SEED, only=None, root=ROOT):
    """Verdicts in the order of the exercises. What nobody has touched is not built."""
    build_dir, verdicts, to_build = build.build_dir(), {}, []
    for ex in exercises:
        if not (root / ex.file).is_file():
            verdicts[ex.id] = gone(ex)
        elif is_untouched(ex, root):
            verdicts[ex.id] = not_started(ex, root)
        else:
            needed = source_graph.suite_sources(graph, ex)
            missing = build.missing_libraries([*graph.libraries([ex.file, *needed]), "check"])
            if missing:
                verdicts[ex.id] = Verdict(ex, "skipped", f"needs {', '.join(missing)}: make setup-suite installs it")
            else:
                to_build.append(ex)
    tiny = f"{build_dir}/test/tiny.gguf"
    built_from = build_suites(to_build, graph, tiny, root) if to_build else {}
    for ex in to_build:
        verdicts[ex.id] = judge_built(ex, seed, only, tiny, root)
    for verdict in verdicts.values():
        verdict.fingerprint = built_from.get(verdict.exercise.id) or source_graph.fingerprint(graph, verdict.exercise)
    return [verdicts[ex.id] for ex in exercises]


def forget_stale(exercises, build_dir, said):
    """Make leaves a program as it was when something that belongs into it does not build."""
    for ex in exercises:
        binary = Path(build.suite_binary(ex, build_dir))
        if binary.exists() and build.make(["-q", str(binary)])[0]:
            binary.unlink()
            Path(f"{binary}.log").write_text(said)


def build_suites(exercises, graph, tiny, root):
    """Builds what can be built; the fingerprint of what each suite was built from. A verdict holds for that,
    and for nothing that was saved later."""
    build_dir = build.build_dir()
    targets = [tiny]
    for ex in exercises:
        targets += [build.suite_binary(ex, build_dir), build.object_of(ex.solution, build_dir)]
    with build.lock(build_dir):
        for _ in range(TRIES_TO_BUILD):
            built_from = {ex.id: source_graph.fingerprint(graph, ex) for ex in exercises}
            build.write_sums(exercises, build_dir, root)
            for ex in exercises:
                Path(build.suite_binary(ex, build_dir) + ".log").unlink(missing_ok=True)
            status, said = build.make(targets)
            if status:
                forget_stale(exercises, build_dir, said)
            if built_from == {ex.id: source_graph.fingerprint(graph, ex) for ex in exercises}:
                return built_from
    return {ex.id: "saved while it was built" for ex in exercises}  # and so it is judged again
