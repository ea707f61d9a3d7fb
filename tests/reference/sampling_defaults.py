#!/usr/bin/env python3
"""A model's own sampling defaults over HTTP, from a GGUF file and from a folder: with the same seed, a request that
leaves the fields out gets the text of one that names the model's values, on every route and as a stream; one that
names the API's values gets what `--sampling-defaults api` gives to one that leaves them out. What is in force is
said at the start, by GET /v1/models and by inspect; what is out of range is refused with file and field.

    tests/reference/sampling_defaults.py --bin build/bin

Tiny models of its own; --model is not looked at. Standard library only.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import tiny_containers  # noqa: E402
import tiny_model  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

API = {"temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0, "repetition_penalty": 1}
MODEL = {"temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0.01, "repetition_penalty": 1.3}
KEYS = {"temperature": "temp", "repetition_penalty": "penalty_repeat"}  # the others have the same name
SEEDS = range(2)
N_TOKENS = 24


def gguf_with(path, values):
    options = tiny_model.parse_options(["--out", str(path)])
    _, keys, tensors = tiny_model.make_model(options)
    for name, value in values.items():
        kind = tiny_model.I32 if name == "top_k" else tiny_model.F32
        keys.append((f"general.sampling.{KEYS.get(name, name)}", kind, value))
    path.write_bytes(tiny_model.file_bytes(keys, tensors))


def folder_with(path, values):
    options = tiny_model.parse_options(["--out", str(path)])
    options.floats = True
    arch, _, tensors = tiny_model.make_model(options)
    files = tiny_containers.folder_files(arch, options, tensors, 1)
    files["generation_config.json"] = json.dumps({"do_sample": True, "eos_token_id": [2, 0], **values}).encode()
    tiny_containers.write(path, files)


def source(container, name):
    return f"generation_config.json: {name}" if container == "folder" else f"general.sampling.{KEYS.get(name, name)}"


CONTAINERS = {"gguf": gguf_with, "folder": folder_with}


def texts(server, **fields):
    """What is answered to each seed, on each route, whole and as a stream."""
    said = []
    for seed in SEEDS:
        common = {"model": "default", "seed": seed, "max_tokens": N_TOKENS, "ignore_eos": True, **fields}
        _, _, reply = server.post("/v1/completions", {"prompt": "Once upon a time", **common})
        said.append(reply["choices"][0]["text"])
        _, _, reply = server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], **common})
        said.append(reply["choices"][0]["message"]["content"])
        _, _, raw = server.post("/v1/completions", {"prompt": "Once upon a time", "stream": True, **common})
        events = [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: {")]
        said.append("".join(event["choices"][0]["text"] for event in events if event["choices"]))
    return said


def run(options, program, *words):
    done = subprocess.run([f"{options.bin}/{program}", *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check_container(tally, options, folder, container):
    options.model = Path(folder) / container
    CONTAINERS[container](options.model, MODEL)
    with Server(options) as server:
        left_out, named = texts(server), texts(server, **MODEL)
        api_named, one_named = texts(server, **API), texts(server, temperature=1)
        _, _, models = server.get("/v1/models")
        lines = "".join(server.lines)
    with Server(options, "--sampling-defaults", "api") as server:
        api_left_out, model_named = texts(server), texts(server, **MODEL)
        one_by_one = texts(server, **{**MODEL, "temperature": 1})
        _, _, api_models = server.get("/v1/models")
        api_lines = "".join(server.lines)
    tally.equal(left_out, named, f"{container}: left out is the model's")
    tally.equal(api_named, api_left_out, f"{container}: named wins")
    tally.equal(model_named, named, f"{container}: all named, the defaults do not matter")
    tally.equal(one_named, one_by_one, f"{container}: one named, the model's for the rest")
    tally.check(left_out != api_left_out != one_named != left_out, f"{container}: the defaults can be told apart")
    want = {**MODEL, "from": {name: source(container, name) for name in MODEL}}
    tally.equal(models["data"][0]["default_sampling"], want, f"{container}: /v1/models")
    tally.equal(api_models["data"][0]["default_sampling"], {**API, "from": {}}, f"{container}: /v1/models, api")
    words = " ".join(f"{name}={value}" for name, value in MODEL.items())
    tally.check(f"from=model {words}" in lines, f"{container}: said at the start", lines)
    words = " ".join(f"{name}={value}" for name, value in API.items())
    tally.check(f"from=api {words}" in api_lines, f"{container}: said at the start, api", api_lines)
    _, summary = run(options, "inspect", options.model)
    words = " ".join(f"{name} {value}" for name, value in MODEL.items())
    tally.check(f"sampling      {words}, where" in summary, f"{container}: inspect", summary[:600])


def check_refused(tally, options, folder, container):
    path = Path(folder) / f"wrong-{container}"
    CONTAINERS[container](path, {"temperature": 3.5})
    where = "generation_config.json: temperature" if container == "folder" else "key general.sampling.temp at byte "
    for program in (("inspect", "--check", path), ("serve", "--port", 0, "--model", path)):
        status, said = run(options, *program)
        last = said.strip().splitlines()[-1]
        tally.equal(status, 1, f"{container}: {program[0]} refuses")
        tally.check(where in last and "3.5 is not in 0 .. 2" in last, f"{container}: {program[0]} says where", said)
    _, summary = run(options, "inspect", path)
    tally.check("not usable; --check says why" in summary, f"{container}: inspect shows it all the same", summary[:600])
    options.model = path
    with Server(options, "--sampling-defaults", "api") as server:
        status, _, _ = server.get("/ready")
        tally.equal(status, 200, f"{container}: api passes over it")


def main():
    options, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for container in CONTAINERS:
            check_container(tally, options, folder, container)
            check_refused(tally, options, folder, container)
    status, said = run(options, "serve", "--sampling-defaults", "mine")
    tally.check(status == 2 and "--sampling-defaults mine: model or api" in said, "an unknown name is refused", said)
    tally.finish()


if __name__ == "__main__":
    main()
