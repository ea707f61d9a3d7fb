"""What the reference checks share: their arguments, and the count that each ends with."""
import argparse
import signal
import sys

# Whoever starts us in the background may have these ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def arguments(description, more=lambda parser: None):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where the programs are")
    more(parser)
    return parser.parse_args()


class Tally:
    """Counts what held. Prints the first few that did not, then only counts."""

    SHOWN = 10

    def __init__(self):
        self.n_passed = self.n_failed = self.n_skipped = 0

    def check(self, holds, name, detail=""):
        if holds:
            self.n_passed += 1
            return
        self.n_failed += 1
        if self.n_failed <= self.SHOWN:
            print(f"FAILED {name}" + (f"\n  {detail}" if detail else ""))

    def equal(self, got, want, name):
        self.check(got == want, name, f"got  {got!r:.600}\n  want {want!r:.600}")

    def skip(self, what, why):
        """Something that this machine cannot run: said aloud, and no failure."""
        self.n_skipped += 1
        print(f"skipped {what}: {why}")

    def take(self, other):
        """The counts of another, whose failures have been shown."""
        self.n_passed += other.n_passed
        self.n_failed += other.n_failed
        self.n_skipped += other.n_skipped

    def finish(self):
        skipped = f", {self.n_skipped} skipped" if self.n_skipped else ""
        print(f"{self.n_passed} passed, {self.n_failed} failed{skipped}")
        sys.exit(1 if self.n_failed else 0)
