"""`ask` on a terminal of its own, and somebody who types. Standard library only."""
import os
import pty
import select
import signal
import termios
import time


class Terminal:
    """`ask`, until wait()."""

    def __init__(self, program, url, *options):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", NO_COLOR="1", LC_ALL="C.UTF-8")
            os.execv(program, [program, "--base-url", url, *options])
        self.seen = ""
        self.all = ""

    def expect(self, text):
        """Reads on until text has appeared; True if it did. Keeps what comes after it."""
        end = time.monotonic() + 10
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    piece = os.read(self.fd, 4096).decode(errors="replace")
                    self.seen += piece
                    self.all += piece
                except OSError:
                    break
        before, found, after = self.seen.partition(text)
        if found:
            self.seen = after
        return bool(found)

    def expect_prompt(self):
        """True once a line can be typed. The editor shows its prompt a moment before it takes the
        terminal over; a Ctrl-D in between would be lost."""
        found = self.expect("> ")
        end = time.monotonic() + 10
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)
        return found

    def is_as_before(self):
        """True once lines are edited and shown by the terminal itself, as before the editor."""
        end = time.monotonic() + 2
        own = termios.ICANON | termios.ECHO
        while termios.tcgetattr(self.fd)[3] & own != own:
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self):
        """Exit status; None: it does not end."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def has_terminals():
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
