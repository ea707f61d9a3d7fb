#!/usr/bin/env python3
"""Checks every program from outside where files and outputs are not what they should be: one line
that says what, where and what to do, status 1, at once.

    .venv/bin/python tests/reference/programs.py --model build/test/tiny.gguf --bin build/bin

Standard library only.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from reference import Tally, arguments  # noqa: E402
from running_server import PATIENCE_S, Server  # noqa: E402

AT_ONCE_S = 10  # well below, but a loaded machine is no failure


class Programs:
    def __init__(self, args, tally, folder):
        self.bin, self.model, self.tally, self.folder = args.bin, str(args.model), tally, Path(folder)
        self.is_tiny = "tiny" in self.model
        self.full = "/dev/full" if os.path.exists("/dev/full") else None

    def run(self, redirect, program, *words, **options):
        """Through a shell, which can close standard files; bytes, since names may be any."""
        begin = time.monotonic()
        command = ["sh", "-c", f'"$@" {redirect}', "sh", f"{self.bin}/{program}", *words]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S,
                              **{"stdin": subprocess.DEVNULL, **options})
        return done, time.monotonic() - begin

    def refused(self, why, redirect, program, *words, **options):
        done, seconds = self.run(redirect, program, *words, **options)
        name = f"{program} {words!r:.80} {redirect}"
        said = done.stderr
        self.tally.equal(done.returncode, 1, f"{name}: status")
        self.tally.check(said.endswith(b"\n") and said.count(b"\n") == 1, f"{name}: one line", repr(said))
        self.tally.check(said.startswith(program.encode() + b": ") and why.encode() in said,
                         f"{name}: says {why!r}", repr(said))
        self.tally.check(all(32 <= c < 127 or c == 10 for c in said), f"{name}: printable", repr(said))
        self.tally.check(seconds < AT_ONCE_S, f"{name}: at once", f"{seconds:.1f} s")

    # -- what is no model --

    def wrong_files(self):
        put = {"empty": b"", "text": b"hello\n", "magic": b"GGUF", "cut": Path(self.model).read_bytes()[:9000],
               "sp ace": b"x", "line\nbreak\x1b[31m": b"x", "invalid\udcff": b"x"}
        for name, content in put.items():
            (self.folder / name).write_bytes(content)
        os.mkfifo(self.folder / "pipe")
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(10 << 30)  # no byte of it is on the disk, and none should be read
        whys = {"empty": "empty", "text": "GGUF", "magic": "version", "cut": "ends", "sp ace": "sp ace: ",
                "line\nbreak\x1b[31m": "line?break?[31m: ", "invalid\udcff": "invalid?: ",
                "pipe": "not a regular file", "sparse": "GGUF", ".": "config.json: No such file",
                "nothing": "No such file", "d" * 300: "File name too long", "d/" * 150 + "m": "No such file"}
        for name, why in whys.items():
            path = os.path.join(self.folder, name)
            self.refused(why, "", "inspect", path)
            self.refused(why, "", "inspect", "--check", path)
            self.refused(why, "", "tokenize", "--model", path, "hello")
            self.refused(why, "", "bench", "--model", path)
            self.refused(why, "", "serve", "--model", path, "--model-id", "x", "--port", "0",
                         "--log-level", "error")
        self.refused("no file is named", "", "inspect", "")

    def unread_type(self):
        """A tensor of a type of which only the size is known: the file can be listed, not run."""
        path, name = str(self.folder / "unread.gguf"), "blk.0.ffn_up.weight"
        content = bytearray(Path(self.model).read_bytes())
        type_at = content.index(name.encode()) + len(name) + 4 + 2 * 8  # behind two dimensions
        content[type_at:type_at + 4] = (20).to_bytes(4, "little")  # IQ4_NL
        Path(path).write_bytes(content)
        done, _ = self.run("", "inspect", "--tensors", path)
        rows = [line.split() for line in done.stdout.decode().splitlines() if name in line]
        self.tally.equal([row[:2] for row in rows], [[name, "IQ4_NL"]], "inspect lists a type that is not read")
        self.refused(f"tensor {name}: values of type IQ4_NL are not read", "", "inspect", "--tensor", name, path)
        for program, *words in (["inspect", "--check", path], ["bench", "--model", path],
                                ["serve", "--model", path, "--port", "0", "--log-level", "error"]):
            self.refused(f"tensor {name}", "", program, *words)
            self.refused("type IQ4_NL is not read yet", "", program, *words)

    def no_chat(self):
        """A model without a chat template is a good one, but it is said."""
        path = str(self.folder / "base.gguf")
        Path(path).write_bytes(Path(self.model).read_bytes().replace(b"tokenizer.chat_template", b"tokenizer.chat_templetA"))
        done, _ = self.run("", "inspect", "--check", path)
        self.tally.equal(done.returncode, 0, "inspect --check of a base model: status")
        for words in (b"ok: ", b"no chat: ", b"--chat-template chatml"):
            self.tally.check(words in done.stdout, f"inspect --check of a base model: says {words!r}", done.stdout)
        done, _ = self.run("", "inspect", "--check", self.model)
        self.tally.check(b"no chat" not in done.stdout, "inspect --check of a chat model", done.stdout)
        for file, why in ((path, "no chat template"), (self.model, None)):
            done, _ = self.run("", "inspect", "--check", "--json", file)
            said = json.loads(done.stdout)
            self.tally.equal((said["file"], said["ok"]), (file, True), "inspect --check --json")
            self.tally.check(why in said["no_chat"] if why else said["no_chat"] is None, "inspect --check --json: chat", said)
        (self.folder / "empty.jinja").touch()
        self.refused("empty.jinja: the file is empty", "", "serve", "--model", path, "--port", "0",
                     "--chat-template", str(self.folder / "empty.jinja"))

    # -- output that nobody gets --

    def lost_output(self):
        commands = [("inspect", self.model), ("inspect", "--json", self.model), ("inspect", "--check", self.model),
                    ("inspect", "--tensors", self.model), ("inspect", "--help"), ("ask", "--version"),
                    ("serve", "--help"), ("tokenize", "--model", self.model, "hello"),
                    ("tokenize", "--model", self.model, "--json", "hello")]
        if self.is_tiny:  # with a real model a minute each
            commands.append(("bench", "--model", self.model))
        for command in commands:
            self.refused("standard output: ", ">&-", *command)
            if self.full:
                self.refused("standard output: No space left", f">{self.full}", *command)

    def lost_input(self):
        for redirect, why in (("<&-", "Bad file descriptor"), (f'<"{self.folder}"', "Is a directory")):
            for mode in ([], ["--jsonl"], ["--chat"], ["--decode"]):
                self.refused(f"standard input: {why}", redirect, "tokenize", "--model", self.model, *mode)
            self.refused(f"standard input: {why}", redirect, "ask", "--base-url", "http://127.0.0.1:9/v1")

    # -- a server and its client --

    def lost_answers(self, args):
        """An answer must not land in the client's own socket because that has the number of a file that
        is closed; nor a line of the log in a queue of the server."""
        with Server(args) as server:
            words = ("--base-url", f"http://127.0.0.1:{server.port}/v1", "--max-tokens", "4", "hello")
            for redirect in (">&-", "<&- >&-"):
                done, _ = self.run(redirect, "ask", *words)
                self.tally.equal(done.returncode, 1, f"ask {redirect}: status")
                self.tally.check(b"standard output: " in done.stderr, f"ask {redirect}: says so", done.stderr)
            done, _ = self.run("2>&-", "ask", *words)
            self.tally.check(done.returncode == 0 and done.stdout, "ask 2>&-: answers", done)
            self.tally.equal(server.stop(), 0, "server: status")

    def cut_model(self, args):
        """A model file that is cut under a running server ends it with a reason."""
        path = self.folder / "cut later.gguf"
        path.write_bytes(Path(self.model).read_bytes())
        args.model, own = path, args.model
        with Server(args) as server:
            args.model = own
            os.truncate(path, 100)
            try:
                server.complete()
            except (OSError, AssertionError, ConnectionError):
                pass
            except Exception as reason:  # http.client has errors of its own for a cut reply
                self.tally.check("http.client" in str(type(reason)), "a request to a cut model", repr(reason))
            self.tally.equal(server.wait(), 1, "serve with a cut model: status")
            self.tally.check(any("cut short" in line for line in server.lines), "serve with a cut model: says so", server.lines)


def main():
    args = arguments(__doc__)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(args, tally, folder)
        programs.wrong_files()
        programs.lost_output()
        programs.lost_input()
        programs.lost_answers(args)
        if programs.is_tiny:  # a real one may be in use elsewhere, and is large
            programs.unread_type()
            programs.no_chat()
            programs.cut_model(args)
    tally.finish()


if __name__ == "__main__":
    main()
