"""Does a command still print what a ticket says it printed? Only times, speeds, and what is called "about" may
differ."""
import re
import shlex
import subprocess

MEASURED = re.compile(r"\b\d[\d,.]*(?= (?:ms|s|tokens/s)\b)|(?<=ms=)[\d.]+|(?<=about )\d[\d,.]*")
LIMIT_S = 300


class Place:
    """Where commands are run: the programs and the model that they mean. One that was run is not run again."""

    def __init__(self, root, programs, model, has_model):
        self.root, self.programs, self.model, self.has_model = root, programs, model, has_model
        self.known = {}

    def printed(self, command):
        if command not in self.known:
            self.known[command] = printed(self.here(command), self.root)
        return self.known[command]

    def here(self, command):
        """A ticket says what a learner types; programs and model may lie elsewhere."""
        programs, model = shlex.quote(str(self.programs)), shlex.quote(str(self.model))
        return (command.replace("build/bin/", f"{programs}/")
                .replace("tools/triage_scenes.py", f"tools/triage_scenes.py --bin {programs} --model {model}"))


def printed(command, root):
    """The lines of both outputs, as a shell at the root of the tree shows them."""
    done = subprocess.run(["sh", "-c", command], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT_S)
    lines = [line.rstrip() for line in done.stdout.decode(errors="replace").splitlines()]
    return lines if done.returncode == 0 else [*lines, f"(status {done.returncode})"]


def steady(lines):
    """Without what a watch said, which is another number each time."""
    return [MEASURED.sub("...", line.rstrip()) for line in lines]


def first_difference(want, got):
    """(line wanted, line that came) or None."""
    want, got = steady(want), steady(got)
    length = max(len(want), len(got))
    padded = (lines + ["(no more lines)"] * (length - len(lines)) for lines in (want, got))
    return next(((w, g) for w, g in zip(*padded) if w != g), None)


def runs_of(ticket):
    """Everything in a ticket and its key that a command printed."""
    return [*ticket.evidence, *ticket.key.measure, *(run for cost in ticket.key.costs.values() for run in cost.run)]
