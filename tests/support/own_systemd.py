"""A systemd of one's own: PID 1 of new namespaces, on a copy of this machine's files that is thrown away. Linux, root.

    with OwnSystemd(house) as systemd:          # house: a folder whose files are laid over /
        systemd.run("systemctl", "start", "x")

The network is the caller's: let it be one of its own. Standard library only.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NEEDED = ("unshare", "nsenter", "mount", "pivot_root", "setpriv", "systemctl")
PROGRAM = "/lib/systemd/systemd"
BOOT_S, PATIENCE_S = 20, 60
# $1: the control group; the rest is for the shell inside. Nothing stays when whoever started it is killed.
ENTER = r"""
echo $$ >"$1/cgroup.procs" && shift
exec setpriv --pdeathsig KILL \
    unshare --pid --fork --kill-child --mount --cgroup --uts --ipc --propagation private sh -c "$@"
"""
# $1: an empty folder, $2: the house. What systemd writes stays in memory, above the files of this machine; of the
# kernel, which it shares with everybody here, it may change nothing.
BOOT = r"""
set -e
mount -t tmpfs -o mode=755 tmpfs "$1" && cd "$1" && mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root && cd root
mount -t tmpfs -o mode=755 tmpfs etc/systemd/system
ln -s /dev/null etc/systemd/system/timers.target
cp -R "$2"/* .
mount -t proc proc proc && mount --bind proc/sys proc/sys && mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero full random urandom tty; do touch dev/$node && mount --bind /dev/$node dev/$node; done
mkdir dev/pts dev/shm && mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts && mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx && ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir -p old && pivot_root . old && umount -l /old
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --bounding-set=-sys_module,-sys_time,-sys_boot \
    """ + PROGRAM + """ --unit=basic.target --show-status=0
"""


class Unavailable(Exception):
    """This machine cannot; the text says why."""


def why_not():
    """What is missing here, or None."""
    if sys.platform != "linux":
        return "systemd is Linux's"
    if os.geteuid() != 0:
        return "only root may make the namespaces"
    missing = [name for name in NEEDED if not shutil.which(name)] + ([] if Path(PROGRAM).exists() else ["systemd"])
    return f"there is no {', '.join(missing)}" if missing else None


def own_cgroup():
    """A new group below ours, in the hierarchy that systemd manages."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    at = next((where for _, where, kind, *_ in mounts if kind == "cgroup2"), None)
    ours = re.search(r"^0::(.*)$", Path("/proc/self/cgroup").read_text(), re.M)
    if not at or not ours:
        raise Unavailable("there is no cgroup2")
    group = Path(at + ours.group(1)) / f"ladder-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise Unavailable(f"{group}: {error.strerror}")
    return group


def remove_groups(group, patience_s=5):
    """Of processes that were killed: a group is empty a moment later."""
    end = time.monotonic() + patience_s
    for folder, _, _ in os.walk(group, topdown=False):
        while True:
            try:
                os.rmdir(folder)
                break
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.02)


class OwnSystemd:
    def __init__(self, house):
        self.house = house  # borrowed

    def __enter__(self):
        self.group, self.pid = own_cgroup(), 0
        self.folder, self.log = tempfile.TemporaryDirectory(), tempfile.TemporaryFile("w+")
        command = ["sh", "-c", ENTER, "-", self.group, BOOT, "-", self.folder.name, self.house]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        try:
            self.wait_until_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_until_up(self):
        end = time.monotonic() + BOOT_S
        while time.monotonic() < end and self.process.poll() is None:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if children and Path(f"/proc/{children[0]}/comm").read_text() == "systemd\n":
                self.pid = children[0]
                if self.run("systemctl", "is-active", "basic.target").stdout == "active\n":
                    return
            time.sleep(0.05)
        self.log.seek(0)
        raise Unavailable("systemd does not start here: " + " ".join(self.log.read().split("\n")[-3:])[:300])

    def run(self, *command):
        """A command in its world, with what it said."""
        return subprocess.run(["nsenter", "-t", self.pid, "-m", "-p", "-u", "-i", "-C", "-r", "-w", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=PATIENCE_S)

    def property(self, unit, name):
        return self.run("systemctl", "show", "-p", name, "--value", unit).stdout.strip()

    def __exit__(self, *_):
        self.process.kill()  # and with it PID 1, and with that all of its world
        self.process.wait()
        remove_groups(self.group)
        self.folder.cleanup()
        self.log.close()
