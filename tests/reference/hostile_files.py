#!/usr/bin/env python3
"""Hostile model files against `inspect --check`, as a stranger would meet it: the program as it is built for
use, with 1 GiB of address space. Each file is accepted with status 0, or refused with status 1 and one
line that names it; nothing crashes, and nothing takes a second. The files are those of the public cases
that are bytes (LOAD-nn), good files cut in many places, and seeded changes of good files: GGUF, its parts,
safetensors, and the JSON beside. The model named on the command line is not looked at.

    .venv/bin/python tests/reference/hostile_files.py --bin build/bin
"""
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import tiny_containers  # noqa: E402
import tiny_model  # noqa: E402
from reference import Tally, arguments  # noqa: E402

ADDRESS_SPACE = 1 << 30  # bytes
PATIENCE_S = 10  # a second is meant; a loaded machine is no failure
N_CUTS, N_CHANGES = 20, 50  # of each file

HEADER = struct.Struct("<4sIQQ")
J = b'{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}'


def key(name, kind, value):
    return tiny_model.string_bytes(name) + struct.pack("<I", kind) + value


def tensor(dims, kind=0, offset=0):
    head = tiny_model.string_bytes("t") + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
    return head + struct.pack("<IQ", kind, offset)


def one_key(content):
    return HEADER.pack(b"GGUF", 3, 0, 1) + content


def one_tensor(*words, **more):
    head = HEADER.pack(b"GGUF", 3, 1, 0) + tensor(*words, **more)
    return head + bytes(-len(head) % 32 + 64)


def gguf_cases():
    """(case, bytes, what the line must say)."""
    twice = key("general.name", 8, tiny_model.string_bytes("a"))
    return [
        ("LOAD-01", HEADER.pack(b"FUGG", 3, 0, 0), "not a GGUF file"),
        ("LOAD-02", HEADER.pack(b"GGUF", 3, 2**64 - 1, 0) + bytes(8), "n_tensors"),
        ("LOAD-03", HEADER.pack(b"GGUF", 3, 0, 0) + bytes(8), "general.architecture: missing"),
        ("LOAD-04", b"GGUF", "version"),
        ("LOAD-05", b"<!doctype html><html>", "HTML page"),
        ("LOAD-06", one_key(struct.pack("<Q", 2**64 - 1) + bytes(8)), "key 0"),
        ("LOAD-07", HEADER.pack(b"GGUF", 3, 0, 2) + twice + twice, "general.name"),
        ("LOAD-08", one_key(key("a", 13, bytes(8))), "unknown value type 13"),
        ("LOAD-08 array", one_key(key("a", 9, struct.pack("<IQ", 13, 1) + bytes(8))), "unknown value type 13"),
        ("LOAD-09", one_key(key("general.alignment", 4, bytes(4))), "general.alignment"),
        ("LOAD-11", one_tensor([1] * 9), "9 dimensions"),
        ("LOAD-12", one_tensor([1152, 2**42 + 1]), "do not fit"),
        ("LOAD-13", one_tensor([4, 0]), "dimension 1 is 0"),
        ("LOAD-14", one_tensor([4], kind=99), "unknown tensor type 99"),
        ("LOAD-14 all ones", one_tensor([4], kind=2**32 - 1), "unknown tensor type 4294967295"),
        ("LOAD-14 removed", one_tensor([32], kind=4), "unknown tensor type 4"),
        ("LOAD-15", one_tensor([4], offset=1), "offset 1 is not a multiple"),
    ]


def safetensors_cases():
    def of(header, data=b""):
        return struct.pack("<Q", len(header)) + header + data
    return [
        ("LOAD-23", b"", "too small"),
        ("LOAD-24", struct.pack("<Q", 60), "only 0 bytes follow"),
        ("LOAD-25", of(b"\xff"), "not UTF-8"),
        ("LOAD-25 brace", of(b"{"), "not valid JSON"),
        ("LOAD-27", of(J.replace(b"[0,16]", b"[0, 4]"), bytes(4)), "16 by its shape"),
        ("LOAD-28", of(J, bytes(16) + b"extra"), "5 bytes that are no tensor's"),
        ("LOAD-28 short", of(J, bytes(14)), "14 bytes of data"),
        ("LOAD-22", of(J.replace(b"I32", b"F32") + b" ", struct.pack("<4f", 1, 2, 3, 4)), None),
        ("LOAD-26", of(b"{}\r \t\n"), None),
    ]


class Checker:
    def __init__(self, args, tally, folder):
        self.program, self.tally, self.folder = f"{args.bin}/inspect", tally, Path(folder)

    def check(self, path, what, want=None, says=""):
        """want: the status; None: either."""
        begin = time.monotonic()
        done = subprocess.run([self.program, "--check", path], capture_output=True, timeout=60)
        said = done.stderr.decode(errors="replace")
        is_status = done.returncode in ((0, 1) if want is None else (want,))
        is_line = done.returncode == 0 or (said.count("\n") == 1 and said.startswith("inspect: /"))
        self.tally.check(is_status and is_line and says in said and time.monotonic() - begin < PATIENCE_S,
                         f"{what}: status {done.returncode}, wanted {want}, {says!r}", said[:400])
        return done.returncode

    def cases(self):
        for name, content, says in gguf_cases():
            path = self.folder / "case.gguf"
            path.write_bytes(content)
            self.check(path, name, 1, says)
        for name, content, says in safetensors_cases():
            path = self.folder / "case.safetensors"
            path.write_bytes(content)
            self.check(path, name, 1 if says else 0, says or "")

    def cuts(self, path, opened):
        whole = path.read_bytes()
        places = {int(len(whole) * i / N_CUTS) for i in range(N_CUTS)} | {len(whole) - 1, 1, 7, 8, 9}
        for n in sorted(places):
            path.write_bytes(whole[:n])
            self.check(opened, f"{path.name} cut at {n}", None if whole[n:].isspace() else 1)
        path.write_bytes(whole)

    def changes(self, path, opened, n_front):
        """Changed bytes, nine of ten in the front, where tables and headers are."""
        whole, rng = path.read_bytes(), random.Random(path.name)
        n_refused = 0
        for i in range(N_CHANGES):
            changed = bytearray(whole)
            for _ in range(rng.randint(1, 4)):
                end = len(whole) if rng.random() < 0.1 else min(n_front, len(whole))
                likely = ord(rng.choice('0123456789[]{}",:'))
                changed[rng.randrange(end)] = rng.choice([0, 255, rng.randrange(256), likely])
            path.write_bytes(changed)
            n_refused += self.check(opened, f"{path.name} changed, {i}")
        path.write_bytes(whole)
        self.tally.check(n_refused > 0, f"{path.name}: no change was refused")


def main():
    args, tally = arguments(__doc__), Tally()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))  # inherited by each inspect
    with tempfile.TemporaryDirectory() as name:
        options = tiny_model.parse_options(["--arch", "llama", "--out", name])
        tiny_containers.write_all(name, options)
        checker, here = Checker(args, tally, name), Path(name)
        checker.cases()
        first = here / "split-00001-of-00003.gguf"
        files = [(here / "tiny.gguf", here / "tiny.gguf", 20000), (here / "split-00002-of-00003.gguf", first, 600)]
        files += [(here / "folder" / file, here / "folder", front) for file, front in [
            ("model.safetensors", 3000), ("config.json", 10**6), ("tokenizer.json", 10**6),
            ("tokenizer_config.json", 10**6)]]
        files.append((here / "sharded/model.safetensors.index.json", here / "sharded", 10**6))
        for path, opened, n_front in files:
            checker.check(opened, f"{path.name} whole", 0)
            checker.cuts(path, opened)
            checker.changes(path, opened, n_front)
    tally.finish()


if __name__ == "__main__":
    main()
