"""What upstream proves about each exercise: its starter is not started, its solution passes on every
seed, every mutant dies on every seed. Each candidate is compiled by the learner's rules into a folder of
its own under build/proof and linked as the learner's file would be."""
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import run_tests

from ladder import build, judge, mutants, sources as source_graph, suite
from ladder.catalog import Refused

SEEDS = 20
PATIENCE = 5  # proofs run beside others, on machines of any kind


class Bench:
    """Compiles and runs candidates for one exercise."""

    def __init__(self, exercise, graph, root, commands=None):
        self.exercise, self.root = exercise, root
        self.build = build.build_dir()
        needed = source_graph.suite_sources(graph, exercise)
        self.objects = [build.object_of(name, self.build) for name in needed]
        self.libraries = graph.libraries([exercise.file, exercise.suite, *needed])
        self.uses_memory = any(name.endswith("support/memory.c") for name in needed)
        self.commands = commands or make_commands()

    def candidate(self, name, text):
        """Compiles and links a text as the learner's file; the program, or a Refused with the reason."""
        folder = Path(self.build, "proof", self.exercise.id, name)
        folder.mkdir(parents=True, exist_ok=True)
        source, program = folder / Path(self.exercise.file).name, folder / "suite"
        if source.exists() and source.read_text() == text and program.exists() and self.is_newer(program):
            return program
        source.write_text(text)
        obj = source.with_suffix(".o")
        run_or_refuse(self.commands["compile"] + ["-c", str(source), "-o", str(obj)], f"{self.exercise.id}, {name}")
        libraries = shlex.split(subprocess.run(["pkg-config", "--libs", *self.libraries], capture_output=True,
                                               text=True).stdout) if self.libraries else []
        wrap = self.commands["wrap"] if self.uses_memory else []
        run_or_refuse(self.commands["link"] + wrap + [str(obj), *self.objects, *self.commands["check"], *libraries,
                                                      "-lm", "-pthread", "-o", str(program)],
                      f"{self.exercise.id}, {name}")
        return program

    def is_newer(self, program):
        made = program.stat().st_mtime_ns
        return all(Path(name).stat().st_mtime_ns <= made for name in self.objects)

    def run(self, program, seed):
        return suite.run(program, self.exercise.file, seed, tiny=f"{self.build}/test/tiny.gguf", patience=PATIENCE)

    def dies(self, program, seed, suspect=None):
        """Whether any test fails, in one process without forks, which is quick. The suspect, which failed on
        another seed, is asked first: where it fails again, the others are not needed."""
        return (suspect is not None and self.has_failed(program, seed, ["--only", suspect])
                or self.has_failed(program, seed, []))

    def has_failed(self, program, seed, options):
        limit_s = suite.TEST_LIMIT_S * PATIENCE * run_tests.machine_factor()
        env = suite.environment(seed, "/dev/null", suite.TEST_LIMIT_S, fork=False)
        env.update(TINY_MODEL=f"{self.build}/test/tiny.gguf", ASAN_OPTIONS="detect_leaks=0")
        status, _ = suite.execute([str(program), *options], env, "", limit_s)
        return status != 0


def make_commands():
    """Compiler and linker as the Makefile calls them."""
    status, out = build.make(["course-commands"])
    if status:
        raise Refused("make course-commands failed: " + out)
    pairs = re.findall(r"^(compile|link|wrap|check): (.*)$", out + "\n", re.M)
    return {"wrap": [], "check": [], **{name: shlex.split(words) for name, words in pairs}}


def run_or_refuse(command, what):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        raise Refused(f"{what}: " + (errors or done.stderr.splitlines() or ["does not build"])[0])


def prove_starter(bench):
    """A starter fails as not started in every test, and in no other way."""
    run = bench.run(bench.candidate("starter", judge.starter_text(bench.exercise, bench.root)), suite.DEFAULT_SEED)
    causes = {test.cause for test in run.tests}
    if run.trouble:
        yield f"{bench.exercise.id}: starter: {run.trouble}"
    started = sorted({f"{test.name} ({test.cause})" for test in run.tests if test.cause != "not started"})
    if started:
        yield f"{bench.exercise.id}: the starter is more than not started in {', '.join(started[:5])}"
    if not causes:
        yield f"{bench.exercise.id}: no test ran"


def stub_of(starter, value):
    """The starter with every gap filled by a constant: what somebody tries who wants green and no work."""
    lines, out = starter.splitlines(), []
    for i, line in enumerate(lines):
        if not line.strip().startswith("EXERCISE("):
            out.append(line)
            continue
        head = next(text for text in reversed(lines[:i]) if re.match(r"^[A-Za-z_][\w\s*]*?\w+\(", text))
        out.append("    " + constant_return(head, value))
    return "\n".join(out) + "\n"


def constant_return(head, value):
    """A return that fits the first line of a function."""
    kind = re.match(r"^(?:static |inline |const )*((?:struct |enum |unsigned )*\w+\s*\*?)", head).group(1).strip()
    if kind == "void":
        return "return;"
    if kind.endswith("*"):
        return "return NULL;"
    return f"return ({kind}){{{value}}};" if kind.startswith("struct ") else f"return {value};"


def prove_stubs(bench):
    """No constant passes for a solution."""
    starter = judge.starter_text(bench.exercise, bench.root)
    for value in (0, 1):
        run = bench.run(bench.candidate(f"stub-{value}", stub_of(starter, value)), suite.DEFAULT_SEED)
        if not run.trouble and all(test.cause == "pass" for test in run.tests):
            yield f"{bench.exercise.id}: a stub that returns {value} passes"


def prove_solution(bench, seeds):
    text = (bench.root / bench.exercise.solution).read_text()
    program = bench.candidate("solution", text)
    run = bench.run(program, suite.DEFAULT_SEED)
    for test in run.tests:
        if test.cause != "pass":
            yield f"{bench.exercise.id}: the solution fails {test.name}: {test.cause} {test.message}"
    if run.trouble:
        yield f"{bench.exercise.id}: solution: {run.trouble}"
    if len(run.tests) != bench.exercise.tests:
        yield (f"{bench.exercise.id}: {len(run.tests)} tests ran, and course.json promises {bench.exercise.tests}: "
               "make refresh")
    if run.tests and not run.tests[0].name.startswith("worked_example["):
        yield f"{bench.exercise.id}: the first test is {run.tests[0].name}, not worked_example"
    names = {part.name for part in bench.exercise.parts} | {"whole", "worked"}
    for case in sorted({test.case for test in run.tests}):
        if bench.exercise.parts and case.split()[0] not in names:
            yield f"{bench.exercise.id}: the test case '{case}' belongs to no part"
    for seed in range(2, seeds + 1):
        if bench.dies(program, seed):
            yield f"{bench.exercise.id}: the solution fails with COURSE_SEED={seed}"


def prove_mutants(bench, seeds, record=False):
    """Every mutant dies on every seed; the records of how are those committed, or are written."""
    text, signatures = (bench.root / bench.exercise.solution).read_text(), {}
    for mutant in mutants.load(bench.exercise, bench.root):
        program = bench.candidate(mutant["name"], mutants.apply(mutant, text))
        tests = bench.run(program, suite.DEFAULT_SEED).tests
        signatures[mutant["name"]] = mutants.signature(tests)
        if not signatures[mutant["name"]]:
            yield f"{bench.exercise.id}: the mutant {mutant['name']} survives"
            continue
        quickest = min((test for test in tests if test.has_failed), key=lambda test: test.ms)
        for seed in range(2, seeds + 1):
            if not bench.dies(program, seed, quickest.name):
                yield f"{bench.exercise.id}: the mutant {mutant['name']} survives COURSE_SEED={seed}"
    stale = mutants.stale_in_record(bench.exercise, signatures, bench.root)
    if record and stale:
        mutants.save_record(bench.exercise, signatures, suite.DEFAULT_SEED, bench.root)
    elif stale:
        yield f"{bench.exercise.id}: the record of {', '.join(stale)} is stale: make refresh"


def prove(exercise, graph, root, kinds, seeds, record, commands):
    """All faults of one exercise, as lines."""
    bench = Bench(exercise, graph, root, commands)
    faults = []
    try:
        if "starter" in kinds:
            faults += prove_starter(bench)
        if "stubs" in kinds:
            faults += prove_stubs(bench)
        if "solution" in kinds:
            faults += prove_solution(bench, seeds)
        if "mutants" in kinds:
            faults += prove_mutants(bench, seeds, record)
    except (Refused, OSError) as error:
        faults.append(str(error))
    return faults


def prove_all(exercises, graph, root, kinds, seeds=SEEDS, record=False):
    """(exercise, faults) of each, two at a time or as many as there are cores."""
    targets = [f"{build.build_dir()}/test/tiny.gguf"]
    for ex in exercises:
        targets += [build.object_of(name, build.build_dir()) for name in source_graph.suite_sources(graph, ex)]
    with build.lock(build.build_dir()):
        status, out = build.make(sorted(set(targets)), keep_going=False)
    if status:
        raise Refused("the suites do not build:\n" + out[-2000:])
    commands = make_commands()
    with ThreadPoolExecutor(int(build.JOBS)) as pool:
        jobs = [(ex, pool.submit(prove, ex, graph, root, kinds, seeds, record, commands)) for ex in exercises]
        for ex, job in jobs:
            yield ex, job.result()
