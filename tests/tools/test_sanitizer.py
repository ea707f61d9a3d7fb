#!/usr/bin/env python3
"""One line from each kind of report that gcc 12 and clang 14 write, and from the words of newer ones."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import course_of_one  # noqa: E402,F401  it finds the tools
from ladder import sanitizer  # noqa: E402

FILE = "level1-user/turn.c"
MALLOC = "    #0 0x7ffab22b89cf in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69\n"


def address(kind, access="READ of size 4", frames="", rest=""):
    """A report of AddressSanitizer as both compilers write it."""
    frames = frames or "    #0 0x555bd606aa97 in turn level1-user/turn.c:16\n"
    return ("=================================================================\n"
            f"==30655==ERROR: AddressSanitizer: {kind} 0x60200000001c at pc 0x555bd606aa98 bp 0x7fff sp 0x7ffe\n"
            f"{access} at 0x60200000001c thread T0\n{frames}"
            "    #1 0x555bd606ad3d in main /home/me/the ladder/tests/support/main.c:3\n"
            f"    #2 0x7f3e76045249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58\n\n{rest}")


def heap(where, access="READ of size 4", kind="heap-buffer-overflow on address"):
    return address(kind, access, rest=f"0x60200000001c is located {where} [0x602000000010,0x60200000001c)\n"
                   f"allocated by thread T0 here:\n{MALLOC}    #1 0x5566b84fb454 in rig tests/level1/test_turn.c:40\n")


def stack(variable, access="READ of size 4", kind="stack-buffer-overflow on address"):
    return address(kind, access, rest="Address 0x7fff57ff38cc is located in stack of thread T0 at offset 60 in frame\n"
                   "    #0 0x555bd606a258 in turn level1-user/turn.c:6\n\n  This frame has 3 object(s):\n"
                   f"    [32, 44) 'a' (line 9)\n    {variable}\n    [96, 112) 'b' (line 14)\n")


class Memory(unittest.TestCase):
    def says(self, text, words, at=" at level1-user/turn.c:16"):
        self.assertEqual(sanitizer.report(text, FILE), words + at)

    def test_heap_past_the_end(self):
        self.says(heap("0 bytes to the right of 12-byte region"), "read 4 bytes past a region of 12 bytes")
        self.says(heap("0 bytes after 12-byte region"), "read 4 bytes past a region of 12 bytes")
        self.says(heap("8 bytes to the right of 12-byte region", "WRITE of size 1"),
                  "wrote 1 byte, 8 bytes past a region of 12 bytes")

    def test_heap_before_the_beginning(self):
        self.says(heap("4 bytes to the left of 12-byte region"), "read 4 bytes, 4 bytes before a region of 12 bytes")
        self.says(heap("4 bytes before 12-byte region"), "read 4 bytes, 4 bytes before a region of 12 bytes")

    def test_heap_half_inside(self):
        self.says(heap("8 bytes inside of 12-byte region", "READ of size 8"),
                  "read 8 bytes from byte 8 of a region of 12 bytes")

    def test_a_variable(self):
        x = "[64, 76) 'x' (line 16) <== Memory access at offset"
        self.says(stack(f"{x} 76 overflows this variable"), "read 4 bytes past x (12 bytes)")
        self.says(stack(f"{x} 60 underflows this variable"), "read 4 bytes before x (12 bytes)")
        self.says(stack(f"{x} 72 partially overflows this variable", "WRITE of size 8"), "wrote 8 bytes past x (12 bytes)")

    def test_a_table_of_the_file(self):
        for side in ("to the right of", "after"):
            rest = (f"0x56 is located 0 bytes {side} global variable 't' defined in 'level1-user/turn.c:22:31' "
                    "(0x5648737468c0) of size 12\n")
            self.says(address("global-buffer-overflow on address", rest=rest), "read 4 bytes past t (12 bytes)")

    def test_what_is_gone(self):
        self.says(heap("0 bytes inside of 12-byte region", kind="heap-use-after-free on address"),
                  "read 4 bytes of memory that was freed")
        self.says(stack("[64, 76) 'x' (line 16) <== Memory access at offset 64 is inside this variable",
                        kind="stack-use-after-scope on address"), "read 4 bytes of a variable that is gone")

    def test_freed_wrongly(self):
        self.says(address("attempting double-free on"), "memory is freed twice")
        self.says(address("attempting free on address which was not malloc()-ed:"),
                  "free of an address that malloc did not give")

    def test_a_pointer_to_nothing(self):
        for signal in ("SEGV on unknown address", "BUS on unknown address"):
            self.says(address(signal), "access to an address that is no memory (a NULL or wild pointer)")

    def test_a_leak_at_the_line_that_took_it(self):
        text = ("\n==30246==ERROR: LeakSanitizer: detected memory leaks\n\n"
                "Direct leak of 24 byte(s) in 1 object(s) allocated from:\n"
                f"{MALLOC}    #1 0x5566b84fb454 in turn level1-user/turn.c:11\n\nSUMMARY: AddressSanitizer: ")
        at = " at level1-user/turn.c:11"
        self.says(text + "24 byte(s) leaked in 1 allocation(s).\n", "leak: 24 bytes in 1 allocation, never freed, taken", at)
        self.says(text + "96 byte(s) leaked in 4 allocation(s).\n", "leak: 96 bytes in 4 allocations, never freed, taken", at)

    def test_odd_arguments(self):
        self.says(address("negative-size-param: (size=-3)", ""), "a size below zero")
        self.says(address("stack-overflow on address", ""),
                  "the stack is full: a function that calls itself without end, or a huge array")
        self.says(address("memcpy-param-overlap: memory ranges", ""), "memcpy-param-overlap")

    def test_a_race(self):
        self.says("==================\nWARNING: ThreadSanitizer: data race (pid=8374)\n"
                  "  Read of size 4 at 0x555555558054 by main thread:\n"
                  "    #0 turn /home/me/level1-user/turn.c:3 (turn+0x11c7)\n", "data race", " at level1-user/turn.c:3")


class Undefined(unittest.TestCase):
    def says(self, line, words):
        text = (f"level1-user/turn.c:13:48: runtime error: {line}\n0x60200000001c: note: pointer points here\n"
                "  be be be be 00\n              ^ \n    #0 0x5585b6f52822 in turn level1-user/turn.c:13\n"
                "    #1 0x5585b6f52d3d in main tests/support/main.c:3\n")
        self.assertEqual(sanitizer.report(text, FILE), words + " at level1-user/turn.c:13")

    def test_arithmetic(self):
        said = "signed integer overflow: 3 + 2147483647 cannot be represented in type 'int'"
        self.says(said, "undefined: " + said)
        self.says("division by zero", "undefined: division by zero")

    def test_alignment_and_null_without_addresses(self):
        self.says("load of misaligned address 0x7ffce119a3b1 for type 'int', which requires 4 byte alignment",
                  "undefined: load of misaligned address for type 'int', which requires 4 byte alignment")
        self.says("load of null pointer of type 'int'", "undefined: load of null pointer of type 'int'")

    def test_outside_of_an_object(self):
        tail = "address 0x60200000001c with insufficient space for an object of type 'int'"
        self.says(f"load of {tail}", "read a value of type int outside of its memory")
        self.says(f"store to {tail}", "wrote a value of type int outside of its memory")


class Place(unittest.TestCase):
    def test_the_innermost_line_of_the_learner(self):
        frames = ("    #0 0x55 in __interceptor_memcpy ../../src/asan.cpp:827\n"
                  "    #1 0x55 in text_append common/text.c:9\n"
                  "    #2 0x55 in add /home/me/the ladder/level1-user/turn.c:31:5\n    #3 0x55 in turn level1-user/turn.c:50\n")
        self.assertEqual(sanitizer.place_of(address("x", frames=frames), FILE), " at level1-user/turn.c:31")

    def test_a_file_of_a_similar_name_is_not_it(self):
        frames = "    #0 0x55 in f solutions/level1-user/turn.c:8\n    #1 0x55 in g level1-user/return.c:9\n"
        self.assertEqual(sanitizer.place_of(address("x", frames=frames), FILE), " at solutions/level1-user/turn.c:8")

    def test_nothing_known(self):
        self.assertEqual(sanitizer.report("", FILE), "a sanitizer stopped it")


class Logs(unittest.TestCase):
    def test_by_process(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "log.12").write_bytes(b"one \xff")
            Path(folder, "other.13").write_text("two")
            self.assertEqual(sanitizer.logs(os.path.join(folder, "log")), {"12": "one \ufffd"})

    def test_the_first_one_that_was_printed(self):
        first = "level1-user/turn.c:1:2: runtime error: division by zero\n    #0 0x55 in turn level1-user/turn.c:1\n"
        self.assertEqual(sanitizer.printed("Running suite\n" + first + "x\n" + first.replace("c:1", "c:7")), first)
        self.assertEqual(sanitizer.printed("runtime is an error\n"), "")


if __name__ == "__main__":
    unittest.main()
