#!/usr/bin/env python3
"""Another model in a running serve: nothing is lost, every answer is one model's, the old one's memory returns.

    tests/reference/swap.py --bin build/bin

Two tiny models of its own, which say different things; --model is not looked at. Standard library only.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import arguments  # noqa: E402
from running_server import PATIENCE_S, Server, decode_events  # noqa: E402

CHECKS = []
PROMPTS = [f"Number {i} went up the hill" for i in range(12)]
ADMIN = {"Authorization": "Bearer admin-key"}
LONG = {"model": "default", "prompt": "Once upon a time", "temperature": 0, "ignore_eos": True,
        "max_tokens": 500}


def check(fn):
    CHECKS.append(fn)
    return fn


class Scene:
    """A folder with two models, and what each answers."""

    def __init__(self, args, folder):
        self.bin, self.dir = args.bin, Path(folder) / "models"
        self.dir.mkdir()
        self.keys = Path(folder) / "admin-keys"
        self.keys.write_text("admin-key\n")
        for name, seed in (("a", 1), ("b", 2)):
            subprocess.run([sys.executable, str(ROOT / "tools/tiny_model.py"), "--seed", str(seed),
                            "--context", "2048", "--out", str(self.dir / f"{name}.gguf")], check=True)
        self.model = self.dir / "a.gguf"
        self.texts, self.long = {}, {}
        for name in ("a", "b"):
            self.model = self.dir / f"{name}.gguf"
            with Server(self) as s:
                self.texts[name] = [text(s, p) for p in PROMPTS]
                self.long[name] = s.complete(**without_model(LONG))["choices"][0]["text"]
        assert all(a != b for a, b in zip(self.texts["a"], self.texts["b"])), "the two say the same"
        self.model = self.dir / "a.gguf"

    def serve(self, *options, **how):
        return Server(self, "--admin-key-file", str(self.keys), *options, **how)


def without_model(fields):
    return {k: v for k, v in fields.items() if k != "model"}


def text(s, prompt):
    return s.complete(prompt, max_tokens=24, ignore_eos=True)["choices"][0]["text"]


def swap(s, headers=None, **body):
    return s.ask("POST", "/admin/models", body, ADMIN if headers is None else headers)


def states(s):
    status, _, body = s.ask("GET", "/admin/models", headers=ADMIN)
    assert status == 200, body
    return {row["id"]: (row["state"], row["requests"]) for row in body["data"]}


def until(condition, what):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE_S, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.005)


def is_sanitized(scene):
    program = (Path(scene.bin) / "serve").read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def maps(s):
    return Path(f"/proc/{s.process.pid}/maps").read_text()


def start_stream(s, fields):
    """A stream whose head has come: the socket and what came so far."""
    stream = s.start({**fields, "stream": True})
    got = b""
    while b"data: " not in got:
        piece = stream.recv(65536)
        assert piece, got
        got += piece
    return stream, got


def finish_stream(stream, got):
    while not got.endswith(b"0\r\n\r\n"):
        piece = stream.recv(65536)
        assert piece, f"cut off behind {got[-200:]}"
        got += piece
    raw = b"".join(chunks(got.split(b"\r\n\r\n", 1)[1]))
    return "".join(c["text"] for e in decode_events(raw) for c in e["choices"])


def chunks(body):
    while True:
        size, body = body.split(b"\r\n", 1)
        n = int(size, 16)
        if n == 0:
            return
        yield body[:n]
        body = body[n + 2:]


class Load:
    """Clients that ask one prompt after the other, half of them as streams, until told to stop."""

    def __init__(self, s, n):
        self.s, self.answers, self.troubles = s, [], []
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(n)]
        for t in self.threads:
            t.start()

    def run(self, i):
        while not self.is_over.is_set():
            i = (i + 1) % len(PROMPTS)
            try:
                if i % 2:
                    got = text(self.s, PROMPTS[i])
                else:
                    _, events = self.s.stream(prompt=PROMPTS[i], max_tokens=24, ignore_eos=True)
                    got = "".join(c["text"] for e in events for c in e["choices"])
                self.answers.append((i, got))
            except Exception as trouble:
                self.troubles.append(repr(trouble))

    def stop(self):
        self.is_over.set()
        for t in self.threads:
            t.join(PATIENCE_S)
        assert not self.troubles, self.troubles[:3]
        return self.answers


# ---- who may ------------------------------------------------------------------------------------


@check
def without_an_administrator_there_is_no_such_path(scene):
    with Server(scene) as s:
        for method in ("GET", "POST"):
            status, _, body = s.ask(method, "/admin/models", {} if method == "POST" else None, ADMIN)
            assert status == 404 and body["error"]["code"] == "unknown_url", (status, body)


@check
def only_the_key_of_an_administrator_opens(scene):
    with scene.serve("--api-key", "api-key") as s:
        for key in ("api-key", "admin-kex", ""):
            headers = {"Authorization": f"Bearer {key}"}
            assert swap(s, headers, path="b.gguf")[0] == 401, key
            assert s.ask("GET", "/admin/models", headers=headers)[0] == 401, key
        status, _, body = s.ask("GET", "/v1/models", headers=ADMIN)
        assert status == 401, (status, body)
        assert s.ask("PUT", "/admin/models", "{}", ADMIN)[0] == 405
        assert states(s) == {"a": ("serving", 0)}
    with scene.serve("--api-key", "admin-key", ready=False) as s:
        assert s.wait() != 0 and "own" in "".join(s.lines), s.lines
    keys = scene.dir.parent / "keys"
    keys.write_text("api-key\n")
    with scene.serve("--api-key-file", str(keys)) as s:
        keys.write_text("api-key\nadmin-key\n")  # what may not be so at the start may not become so
        s.process.send_signal(signal.SIGHUP)
        until(lambda: any("read again" in line for line in s.lines), "a line in the log")
        assert s.ask("GET", "/v1/models", headers=ADMIN)[0] == 401
        assert s.ask("GET", "/v1/models", headers={"Authorization": "Bearer api-key"})[0] == 200


# ---- what fails leaves the old one serving ------------------------------------------------------


@check
def what_cannot_be_loaded_changes_nothing(scene):
    whole = (scene.dir / "b.gguf").read_bytes()
    (scene.dir / "cut.gguf").write_bytes(whole[:len(whole) // 2])
    (scene.dir / "noise.gguf").write_bytes(os.urandom(1000))
    (scene.dir / "empty.gguf").write_bytes(b"")
    os.symlink("/etc/passwd", scene.dir / "out.gguf")
    os.symlink("b.gguf", scene.dir / "link.gguf")
    wrong = [({"path": "none.gguf"}, "No such file"), ({"path": "cut.gguf"}, "cut.gguf"),
             ({"path": "noise.gguf"}, "noise.gguf"), ({"path": "empty.gguf"}, "empty.gguf"),
             ({"path": "../admin-keys"}, "below"), ({"path": "x/../../admin-keys"}, "below"),
             ({"path": "/etc/passwd"}, "below"), ({"path": "/etc/no-such-file"}, "below"),
             ({"path": "out.gguf"}, "below"), ({"path": ""}, "below"), ({"path": "."}, ""),
             ({"path": 5}, "path"), ({}, "path"), ({"path": "b.gguf", "id": ""}, "id"),
             ({"path": "b.gguf", "id": "x" * 200}, "id"), ({"path": "b.gguf", "ids": "x"}, "ids"),
             ({"path": "b.gguf\0"}, "")]
    with scene.serve() as s:
        for body, word in wrong:
            status, _, reply = swap(s, **body)
            assert status == 400 and word in reply["error"]["message"], (body, status, reply)
        assert s.ask("POST", "/admin/models", "{", ADMIN)[0] == 400
        assert s.ask("POST", "/admin/models", "{}" + " " * (1 << 20), ADMIN)[0] == 413
        assert states(s) == {"a": ("serving", 0)}
        assert text(s, PROMPTS[0]) == scene.texts["a"][0]
        assert "b.gguf" not in maps(s) and "cut.gguf" not in maps(s)
        assert swap(s, path="link.gguf", id="new")[0] == 200
        assert text(s, PROMPTS[0]) == scene.texts["b"][0]
        assert swap(s, path=str(scene.dir / "a.gguf"))[0] == 200  # the whole path, too
        assert text(s, PROMPTS[0]) == scene.texts["a"][0]


@check
def one_that_does_not_fit_beside_the_other_is_refused_with_numbers(scene):
    with scene.serve() as s:
        ledger = next(line for line in s.lines if "kv_mib" in line)
    total = float(ledger.split("total_mib=")[1].split()[0])
    with scene.serve("--memory", f"{int(total * 1.5 * 1024)}K") as s:
        status, _, body = swap(s, path="b.gguf")
        assert status == 507 and body["error"]["code"] == "insufficient_memory", (status, body)
        assert "MiB" in body["error"]["message"] and f"{total * 1.5:.0f}" in body["error"]["message"], body
        assert states(s) == {"a": ("serving", 0)}
        assert text(s, PROMPTS[0]) == scene.texts["a"][0]
    with scene.serve("--memory", f"{int(total * 2.5 * 1024)}K") as s:
        assert swap(s, path="b.gguf")[0] == 200


@check
def the_log_says_who_changed_what_and_why_not(scene):
    with scene.serve() as s:
        logged = lambda *parts: until(lambda: any(all(part in line for part in parts) for line in s.lines), parts)
        _, _, body = swap(s, path="none.gguf")
        logged('msg="no swap" status=400', "none.gguf: No such file")
        logged('path="/admin/models" status=400', "key=key-1", f"bytes={len(json.dumps(body, separators=(',', ':')))}")
        assert swap(s, path="b.gguf", id="new")[0] == 200
        logged('msg="model loaded" id="new"')
        logged('msg="the model before is gone" id="a"')


# ---- under load ---------------------------------------------------------------------------------


@check
def nothing_is_lost_and_every_answer_is_one_models(scene):
    copy = scene.dir / "copy.gguf"
    copy.write_bytes((scene.dir / "a.gguf").read_bytes())
    scene.model = copy
    with scene.serve() as s:
        scene.model = scene.dir / "a.gguf"
        stream = start_stream(s, without_model(LONG))
        load = Load(s, 6)
        until(lambda: len(load.answers) > 6, "no load")
        copy.unlink()  # who reads it goes on reading it
        status, _, body = swap(s, path="b.gguf", id="b")
        assert status == 200 and body["data"], (status, body)
        n_before = len(load.answers)
        # A second one waits for the end of the first; a request that comes now is b's.
        seen = states(s)
        if "copy" in seen:
            assert seen["copy"][0] in ("draining", "closing"), seen
            status, headers, body = swap(s, path="b.gguf", id="b")  # taken, if the first one has just ended
            assert status == 409 or "copy" not in states(s), (status, body)
            if status == 409:
                assert body["error"]["code"] == "swap_in_progress", body
                assert int(headers["Retry-After"]) >= 1, headers
        assert text(s, PROMPTS[3]) == scene.texts["b"][3], "a new request got another model"
        assert finish_stream(*stream) == scene.long["a"], "the stream is not the old model's"
        until(lambda: len(load.answers) > n_before + 12, "the load stands still")
        answers = load.stop()
        until(lambda: set(states(s)) == {"b"}, "the old model is still there")
        wrong = [a for a in answers if a[1] not in (scene.texts["a"][a[0]], scene.texts["b"][a[0]])]
        assert not wrong, wrong[:2]
        names = {name for name in "ab" for i, got in answers if got == scene.texts[name][i]}
        assert names == {"a", "b"}, names
        assert all(got == scene.texts["b"][i] for i, got in answers[-6:]), answers[-6:]
        assert "copy.gguf" not in maps(s) and "b.gguf" in maps(s)
        metrics = s.get("/metrics")[2]
        metrics = metrics if isinstance(metrics, str) else metrics.decode()
        assert 'model_name="b"' in metrics, metrics[:500]
        assert s.refuse(404, model="copy")["code"] == "model_not_found"
        assert s.stop() == 0


@check
def old_and_new_take_turns(scene):
    """While the old model's stream runs, whole answers of the new one come and go."""
    with scene.serve() as s:
        stream = start_stream(s, {**without_model(LONG)})
        assert swap(s, path="b.gguf", id="b")[0] == 200
        n_during = 0
        while states(s).get("a", ("", 0))[0] == "draining":
            assert text(s, PROMPTS[1]) == scene.texts["b"][1]
            n_during += 1
        assert finish_stream(*stream) == scene.long["a"]
        assert n_during >= 1, "the old model was gone before anybody could ask"


@check
def a_client_that_leaves_frees_the_old_model(scene):
    with scene.serve() as s:
        streams = [start_stream(s, {**without_model(LONG), "n": 4, "temperature": 1})]
        waiting = s.start(without_model(LONG))
        until(lambda: sum(s.inside()) >= 2, "nobody waits")
        assert swap(s, path="b.gguf")[0] == 200
        for stream, _ in streams:
            stream.close()
        waiting.close()
        until(lambda: states(s) == {"b": ("serving", 0)}, "the old model is still there")
        until(lambda: s.inside() == (0, 0), "somebody is still inside")
        assert text(s, PROMPTS[0]) == scene.texts["b"][0]


@check
def many_swaps_leave_no_trace_in_memory(scene):
    with scene.serve() as s:
        def there_and_back(n):
            for _ in range(n):
                for name in ("b", "a"):
                    status, _, body = swap(s, path=f"{name}.gguf")
                    assert status == 200, body
                    assert text(s, PROMPTS[2]) == scene.texts[name][2]
                    until(lambda: set(states(s)) == {name}, "the old model is still there")

        there_and_back(3)
        if is_sanitized(scene):
            print("skipped: memory after many swaps, because a sanitizer keeps what is freed")
            return
        before, size = s.resident_kib(), s.resident_kib("VmSize")
        there_and_back(6)
        assert s.resident_kib() - before < 1024, f"{s.resident_kib() - before} KiB more"
        assert s.resident_kib("VmSize") - size < 4096, f"{s.resident_kib('VmSize') - size} KiB more"
        assert maps(s).count("b.gguf") == 0
        assert s.stop() == 0


# ---- the end comes in the middle ----------------------------------------------------------------


@check
def whoever_asked_for_the_swap_may_leave(scene):
    with scene.serve() as s:
        body = json.dumps({"path": "b.gguf"}).encode()
        with socket.create_connection(("127.0.0.1", s.port)) as c:
            c.sendall(b"POST /admin/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-key\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        until(lambda: states(s) == {"b": ("serving", 0)}, "no swap")
        assert text(s, PROMPTS[0]) == scene.texts["b"][0]


@check
def sigterm_drains_both_models(scene):
    with scene.serve() as s:
        old = start_stream(s, without_model(LONG))
        assert swap(s, path="b.gguf")[0] == 200
        new = start_stream(s, without_model(LONG))
        s.process.send_signal(signal.SIGTERM)
        assert finish_stream(*old) == scene.long["a"]
        assert finish_stream(*new) == scene.long["b"]
        assert s.wait() == 0, "".join(s.lines[-5:])


@check
def sigterm_in_the_middle_of_a_swap_ends_well(scene):
    for delay_s in (0, 0.001, 0.003):
        with scene.serve() as s:
            stream = start_stream(s, without_model(LONG))
            answer = []
            client = threading.Thread(target=lambda: answer.append(swap(s, path="b.gguf")[0]))
            client.start()
            time.sleep(delay_s)
            s.process.send_signal(signal.SIGTERM)
            assert finish_stream(*stream) == scene.long["a"]
            assert s.wait() == 0, "".join(s.lines[-5:])
            client.join(PATIENCE_S)
            assert answer in ([200], [503], []), answer


# ---- run ----------------------------------------------------------------------------------------


def main():
    args = arguments(__doc__, lambda parser: parser.add_argument(
        "--only", metavar="PART", help="checks with this in their name"))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(args, folder)
        for fn in CHECKS:
            if args.only and args.only not in fn.__name__:
                continue
            began = time.monotonic()
            try:
                fn(scene)
                passed += 1
            except Exception as trouble:  # a check that fails must not hide the others
                failed += 1
                print(f"{fn.__name__}: {type(trouble).__name__}: {str(trouble)[:1000]}")
            if args.only:
                print(f"{fn.__name__}: {time.monotonic() - began:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
