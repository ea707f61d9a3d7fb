#!/usr/bin/env python3
"""The checker of includes must see what it is there for."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load(name, root):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ROOT = Path(root)
    return module


class Includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def include_faults(self, path, text):
        return list(load("check_includes", self.root).faults_of(self.write(path, text)))

    def test_an_arrow_upward_or_sideways_is_found(self):
        for header in ("common/a.h", "level1-user/b.h", "level2-operator/c.h", "level3-optimizer/d.h"):
            self.write(header, "")
        up, fine = '#include "level2-operator/c.h"\n', '#include "common/a.h"\n'
        self.assertEqual(self.include_faults("level2-operator/x.c", fine + "\n" + up), [])
        self.assertEqual(len(self.include_faults("common/x.c", up)), 1)
        self.assertEqual(len(self.include_faults("level1-user/x.c", up)), 1)
        self.assertEqual(len(self.include_faults("solutions/level1-user/x.c", up)), 1)
        self.assertEqual(self.include_faults("level3-optimizer/x.c", up), [])
        self.assertEqual(self.include_faults("level1-user/main_x.c", up), [])

    def test_a_room_knows_only_the_rooms_below_it(self):
        for header in ("text/a.h", "model/b.h", "stray.h"):
            self.write(f"level2-operator/{header}", "")
        down, up, stray = (f'#include "level2-operator/{h}"\n' for h in ("text/a.h", "model/b.h", "stray.h"))
        self.assertEqual(self.include_faults("level2-operator/model/x.c", up + down), [])
        self.assertEqual(len(self.include_faults("level2-operator/text/x.c", up)), 1)
        self.assertEqual(len(self.include_faults("solutions/level2-operator/kernels/x.c", up)), 1)
        self.assertEqual(len(self.include_faults("level2-operator/inspect/x.c", stray)), 1)
        self.assertEqual(self.include_faults("level2-operator/main_x.c", down), [])
        self.assertEqual(self.include_faults("level3-optimizer/x.c", up), [])

    def test_sources_and_relative_paths_are_refused(self):
        self.write("common/a.h", "")
        self.write("common/b.c", "")
        self.assertEqual(len(self.include_faults("common/x.c", '#include "common/b.c"\n')), 1)
        self.assertEqual(len(self.include_faults("common/x.c", '#include "a.h"\n')), 1)

    def test_includes_out_of_order_are_found(self):
        for header in ("common/a.h", "common/b.h", "common/x.h"):
            self.write(header, "")
        own, system, project = (f"#include {i}\n" for i in ('"common/x.h"', "<math.h>", '"common/a.h"'))
        second, other = '#include "common/b.h"\n', "#include <stdio.h>\n"
        right = own + "\n" + system + other + "\n" + project + second
        self.assertEqual(self.include_faults("common/x.c", "// x\n" + right + "\nint a;\n"), [])
        self.assertEqual(self.include_faults("common/x.h", system + "\n" + project), [])
        self.assertEqual(self.include_faults("common/os_linux.c", own + "\n#ifdef A\n" + right[len(own):]), [])
        for wrong in (
            system + "\n" + own,  # the own header does not come first
            own + system,  # no blank line
            own + "\n" + other + system,  # not sorted
            own + "\n" + system + "\n" + other,  # a group in two
            own + "\n" + project + "\n" + system,  # project before system
            own + "\n#ifdef A\n" + project + system,  # the same behind a condition
        ):
            self.assertEqual(len(self.include_faults("common/x.c", wrong)), 1, wrong)
        self.assertEqual(len(self.include_faults("common/x.h", project + "\n" + system)), 1)


if __name__ == "__main__":
    unittest.main()
