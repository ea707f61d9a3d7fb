"""What the numbers were measured on."""
import os
import platform
import subprocess
from pathlib import Path


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout.splitlines()[0]
    except (OSError, IndexError):
        return command[0]


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def n_cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def describe(bin_dir, model, flags):
    """Lines as bench has them, and how busy the machine is: its neighbours slow down every number below."""
    built_by = Path(bin_dir).parent / "compiler"
    compiler = first_line([built_by.read_text().strip(), "--version"]) if built_by.exists() else "unknown"
    return [f"machine   {cpu_name()}, {n_cores()} cores, load {os.getloadavg()[0]:.1f}",
            f"compiler  {compiler}" + (f", {flags}" if flags else ""),
            f"model     {Path(model).name}"]
