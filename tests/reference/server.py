#!/usr/bin/env python3
"""serve as its clients and operators meet it: a real process, real sockets, real signals.

    .venv/bin/python tests/reference/server.py --model build/test/tiny.gguf --bin build/bin

Standard library only. Works with the tiny model and with a real one: requests that have to last are
made as long as this model needs. Every server that is started here is stopped here, by its pid.
"""
import argparse
import concurrent.futures
import contextlib
import fcntl
import json
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import arguments  # noqa: E402
from running_server import PATIENCE_S, Server  # noqa: E402

CHECKS = []


def check(fn):
    CHECKS.append(fn)
    return fn


# ---- what several checks do ---------------------------------------------------------------------


def text_of(events, index=0):
    return "".join(c["text"] for e in events for c in e["choices"] if c["index"] == index)


def until(condition, limit_s, what):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < limit_s, f"{what}: not within {limit_s} s"
        time.sleep(0.01)


def read_until(s, what):
    got = b""
    while what not in got:
        piece = s.recv(65536)
        assert piece, f"closed before {what}: {got[-300:]}"
        got += piece
    return got


def tokens_per_s(server):
    if not hasattr(server, "speed"):
        server.complete(max_tokens=4)
        began = time.monotonic()
        n = server.complete("Tell me more", max_tokens=64, ignore_eos=True)["usage"]
        server.speed = n["completion_tokens"] / (time.monotonic() - began)
    return server.speed


def one_step_s(server):
    """More than the longest step takes: 64 tokens of a prompt, read one by one."""
    return 64 / tokens_per_s(server)


def lasting(server, seconds):
    """Fields of a completion that keeps this model busy for about so long."""
    n_tokens = max(8, int(seconds * tokens_per_s(server)))
    n = min(64, -(-n_tokens // 400))
    return {"n": n, "max_tokens": max(8, min(400, n_tokens // n))}


# ---- what is answered ---------------------------------------------------------------------------


@check
def texts_are_the_same_streamed_or_not_cached_or_not_on_any_threads(args):
    prompt = "The captain had a map, a lamp and a cat. They were not afraid of the dark."
    texts, cached = set(), []
    for n_threads in ("1", "2"):
        with Server(args, "--threads", n_threads) as s:
            for _ in range(2):
                body = s.complete(prompt, max_tokens=40)
                texts.add(body["choices"][0]["text"])
                cached.append(body["usage"]["prompt_tokens_details"]["cached_tokens"])
            s.complete("Something else in between", max_tokens=2)
            _, events = s.stream(prompt=prompt, max_tokens=40)
            texts.add(text_of(events))
    assert len(texts) == 1, texts
    assert cached[0] == 0 and cached[1] > 0 and cached[2] == 0 and cached[3] > 0, cached


@check
def half_a_character_is_never_sent(args, s):
    """SRV-01, SRV-02: text is valid UTF-8 in every chunk, also when the end cuts a character."""
    _, _, body = s.post("/tokenize", {"content": "\U0001F600"})
    first = body["tokens"][0]
    whole = s.post("/detokenize", {"tokens": body["tokens"]})[2]["content"]
    assert whole == "\U0001F600", whole
    for n_tokens in (1, 2, 3):
        fields = {"max_tokens": n_tokens, "logit_bias": {str(first): 100}}
        text = s.complete(**fields)["choices"][0]["text"]
        _, events = s.stream(**fields)
        assert text == text_of(events), (text, text_of(events))
        assert set(text) <= {"\ufffd"} or len(body["tokens"]) == 1, text
    assert s.get("/health")[0] == 200


@check
def a_stop_text_never_shows_and_nothing_else_is_lost(args, s):
    """SRV-03, SRV-04."""
    text = s.complete(max_tokens=40, ignore_eos=True)["choices"][0]["text"]
    for begin in range(2, min(len(text) - 6, 20), 3):
        stop = text[begin:begin + 5]
        want = text[:text.find(stop)]
        fields = {"max_tokens": 40, "ignore_eos": True, "stop": stop}
        choice = s.complete(**fields)["choices"][0]
        assert (choice["text"], choice["finish_reason"]) == (want, "stop"), (stop, choice, want)
        _, events = s.stream(**fields)
        assert text_of(events) == want, (stop, text_of(events), want)
    _, events = s.stream(max_tokens=40, ignore_eos=True, stop=[text[-1] + "\u0001never"])
    assert text_of(events) == text


@check
def broken_json_is_400(args, s):
    """SRV-08."""
    for body in ('{:"model":"x"}', "", '{"a":', "[]", "null", "\xff", '{"model":"default"'):
        for path in ("/v1/chat/completions", "/v1/completions", "/tokenize"):
            status, _, got = s.ask("POST", path, body.encode("latin-1"))
            assert status == 400, (path, body, status, got)
            assert got["error"]["type"] == "invalid_request_error", got
    assert s.get("/health")[0] == 200


@check
def an_empty_prompt_does_no_harm(args, s):
    """SRV-09."""
    for prompt in ("", [], [[]], [""]):
        status, _, body = s.post("/v1/completions", {"model": "default", "prompt": prompt})
        assert status in (200, 400), (prompt, status, body)
    s.complete()


@check
def counts_have_limits(args, s):
    """SRV-10."""
    for fields in ({"n": 1000000}, {"best_of": 1000000}, {"max_tokens": 2 ** 40},
                   {"max_tokens": -5}, {"n": 0}, {"temperature": 9}, {"top_p": 2},
                   {"n": "two"}, {"logprobs": 6}, {"stop": ["a"] * 9}):
        error = s.refuse(400, **fields)
        assert error["param"] == list(fields)[0], (fields, error)
    choices = s.complete(n=2, temperature=1, seed=7)["choices"]
    assert [c["index"] for c in choices] == [0, 1], choices


@check
def a_known_field_that_is_not_built_is_named(args, s):
    for fields in ({"echo": True}, {"suffix": "x"}):
        assert s.refuse(400, **fields)["param"] == list(fields)[0]
    message = [{"role": "user", "content": "hi"}]
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    for fields in ({"tools": [tool]}, {"response_format": {"type": "json_object"}}):
        error = s.refuse(400, "/v1/chat/completions", messages=message, **fields)
        assert error["param"].startswith(list(fields)[0]), error


@check
def the_usage_chunk_comes_only_when_asked_for(args, s):
    """SRV-12, SRV-16."""
    _, events = s.stream()
    assert all(e["choices"] for e in events) and all("usage" not in e for e in events), events
    _, events = s.stream(stream_options={"include_usage": True})
    assert [bool(e["choices"]) for e in events] == [True] * (len(events) - 1) + [False], events
    assert all(e["usage"] is None for e in events[:-1]), events
    usage, whole = events[-1]["usage"], s.complete()["usage"]
    assert usage["prompt_tokens"] == whole["prompt_tokens"], (usage, whole)
    assert usage["completion_tokens"] == whole["completion_tokens"], (usage, whole)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"], usage


@check
def max_tokens_has_the_documented_edges(args):
    """SRV-13: 0 is refused; 1 is one token; above the context ends with length."""
    with Server(args, "--context", "200") as s:
        assert s.get("/v1/models")[2]["data"][0]["max_model_len"] == 200
        s.refuse(400, max_tokens=0)
        assert s.complete(max_tokens=1, ignore_eos=True)["usage"]["completion_tokens"] == 1
        error = s.refuse(400, prompt=[300] * 201)
        assert error["code"] == "context_length_exceeded", error
        assert "200" in error["message"] and "201" in error["message"], error
        body = s.complete([300] * 197, max_tokens=100, ignore_eos=True)
        assert body["choices"][0]["finish_reason"] == "length", body
        assert 197 < body["usage"]["total_tokens"] <= 201, body["usage"]


@check
def logprobs_tell_of_the_drawn_token(args, s):
    """SRV-14, SRV-15: also when the second best is drawn."""
    logprobs = s.complete(logprobs=3, max_tokens=1, ignore_eos=True)["choices"][0]["logprobs"]
    assert len(logprobs["tokens"]) == 1 and logprobs["token_logprobs"][0] <= 0, logprobs
    top = logprobs["top_logprobs"][0]
    assert len(top) == 3 and logprobs["token_logprobs"][0] == max(top.values()), logprobs
    best = s.post("/tokenize", {"content": logprobs["tokens"][0]})[2]["tokens"]
    if len(best) != 1:
        return  # a piece of a character has no text of its own
    second = s.complete(logprobs=3, max_tokens=1, ignore_eos=True,
                        logit_bias={str(best[0]): -100})["choices"][0]["logprobs"]
    assert second["tokens"] != logprobs["tokens"], second
    values = sorted(top.values(), reverse=True)
    assert abs(second["token_logprobs"][0] - values[1]) < 1e-3, (second, values)


@check
def ids_and_text_are_the_same_prompt(args, s):
    ids = s.post("/tokenize", {"content": "Once upon a time"})[2]["tokens"]
    bodies = s.complete(["Once upon a time", "Once upon a time"], max_tokens=6)
    texts = [c["text"] for c in bodies["choices"]]
    assert [c["index"] for c in bodies["choices"]] == [0, 1]
    assert texts == [s.complete(ids, max_tokens=6)["choices"][0]["text"]] * 2, texts
    two = s.complete([ids, ids], max_tokens=6)
    assert [c["text"] for c in two["choices"]] == texts


# ---- who leaves, who waits ----------------------------------------------------------------------


@check
def a_client_that_leaves_frees_its_place(args, s):
    """SRV-05: in the middle of a stream."""
    stream = s.start({**lasting(s, 30), "stream": True})
    read_until(stream, b"data: ")
    assert s.inside()[0] == 1
    stream.close()
    until(lambda: s.inside() == (0, 0), 1.0, "place not free")
    s.complete()


@check
def a_client_that_leaves_while_waiting_never_runs(args, s):
    """SRV-06: the third runs next."""
    first = s.start({**lasting(s, 30), "n": 1, "max_tokens": 400})
    until(lambda: s.inside()[0] == 1, 5, "first does not run")
    before = sum(s.inside())
    second = s.start({"max_tokens": 400})
    until(lambda: sum(s.inside()) == before + 1 or before == 0, 5, "second does not wait")
    second.close()
    until(lambda: sum(s.inside()) <= before, 1.0, "second still waits")
    first.close()
    until(lambda: s.inside() == (0, 0), 1.0, "first still runs")
    s.complete()


@check
def a_client_that_leaves_during_its_prompt_frees_its_place(args, s):
    context = s.get("/v1/models")[2]["data"][0]["max_model_len"]
    for wait_s in (0, 0.001, 0.02):
        s.start({"prompt": [301] * (context - 8), "max_tokens": 8}).close()
        time.sleep(wait_s)
    until(lambda: s.inside() == (0, 0), 1.0 + one_step_s(s), "place not free")
    s.complete()


@check
def a_request_above_its_deadline_frees_its_place(args):
    """Waiting or running, whole or streamed: an error in time, and the engine is free within a step."""
    with Server(args) as s:
        speed = tokens_per_s(s)  # takes a slow model longer than the deadline below
    with Server(args, "--request-seconds", "3") as s:
        s.speed = speed
        fields = lasting(s, 60)
        stream, whole = s.start({**fields, "stream": True}), s.start(fields)
        began = time.monotonic()
        got = read_until(stream, b"0\r\n\r\n")
        assert 2.9 < time.monotonic() - began < 5, time.monotonic() - began
        assert b'"code":"deadline_exceeded"' in got.rsplit(b"data: ", 1)[1], got[-400:]
        assert b"[DONE]" not in got
        got = read_until(whole, b"}}")
        assert got.startswith(b"HTTP/1.1 504 ") and b'"code":"deadline_exceeded"' in got, got
        until(lambda: s.inside() == (0, 0), max(1, 2 * one_step_s(s)), "the place is not free")
        assert s.complete(max_tokens=2)["usage"]["completion_tokens"] == 2


@check
def health_answers_while_streams_are_open(args, s):
    """SRV-07, and a busy engine is a healthy one."""
    streams = [s.start({"max_tokens": 200, "stream": True}) for _ in range(20)]
    busy = s.start(lasting(s, 30))
    for _ in range(20):
        began = time.monotonic()
        status, _, body = s.get("/health")
        assert status == 200 and body["status"] == "ok", (status, body)
        assert time.monotonic() - began < 1, "health is slow"
    for stream in streams + [busy]:
        stream.close()
    until(lambda: s.inside() == (0, 0), 2.0, "places not free")


@check
def fifty_at_once_get_an_answer_or_429(args):
    with Server(args, "--queue", "4") as s:
        def one(i):
            return s.post("/v1/completions", {"model": "default", "prompt": f"Number {i}",
                                              "max_tokens": 16, "stream": i % 2 == 0})

        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            replies = list(pool.map(one, range(50), timeout=PATIENCE_S))
        statuses = [status for status, _, _ in replies]
        assert set(statuses) <= {200, 429}, statuses
        assert statuses.count(200) >= 5, statuses
        for status, headers, body in replies:
            if status == 429:
                assert body["error"]["code"] == "queue_full", body
                assert int(headers["Retry-After"]) >= 1, headers
        assert s.inside() == (0, 0)
        s.complete()


@check
def many_at_once_get_the_answers_of_one_at_a_time(args, s):
    n = max(8, min(40, int(tokens_per_s(s) / 20)))
    prompts = [f"Number {i} went up the hill" for i in range(n)]
    alone = [s.complete(p)["choices"][0]["text"] for p in prompts]

    def one(i):
        if i % 2:
            return s.complete(prompts[i])["choices"][0]["text"]
        return text_of(s.stream(prompt=prompts[i])[1])

    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        together = list(pool.map(one, range(n), timeout=PATIENCE_S))
    assert together == alone, [p for p in zip(together, alone) if p[0] != p[1]]


@check
def a_silent_stream_is_kept_alive(args):
    with Server(args, "--ping-ms", "20") as s:
        busy = s.start(lasting(s, 3))
        until(lambda: s.inside()[0] == 1, 5, "not busy")
        waiting = s.start({"max_tokens": 4, "stream": True})
        assert b": ping\n\n" in read_until(waiting, b": ping\n\n")
        busy.close()
        read_until(waiting, b"[DONE]")
        waiting.close()


# ---- memory and time ----------------------------------------------------------------------------


@check
def a_body_above_the_limit_is_413_in_flat_memory(args, s):
    """SRV-11: declared, and in chunks."""
    def chunks():
        for _ in range(160):
            yield b"a" * 65536

    def send(body):
        status, _, error = s.ask("POST", "/v1/completions", body)
        assert status == 413 and error["error"]["code"] == "request_too_large", (status, error)

    send(b"a" * (10 << 20))  # takes what memory it takes, once
    before = s.resident_kib("VmHWM")
    for _ in range(5):
        send(b"a" * (10 << 20))
        send(chunks())
    grown = s.resident_kib("VmHWM") - before
    assert grown < 8 << 10, f"memory grew by {grown} KiB"


@check
def two_hundred_requests_leave_no_trace_in_memory(args, s):
    def some(n):
        for i in range(n):
            if i % 3 == 0:
                s.stream(prompt=f"Number {i}", max_tokens=2)
            elif i % 3 == 1:
                s.complete(f"Number {i}", max_tokens=2)
            else:
                s.refuse(400, n=-1)

    some(60)
    before = s.resident_kib()
    some(200)
    grown = s.resident_kib() - before
    assert grown < 1024, f"memory grew by {grown} KiB"


@check
def an_idle_server_burns_nothing(args):
    with Server(args, "--threads", "2") as s:
        s.complete()
        time.sleep(0.5)
        before = s.cpu_s()
        time.sleep(3)
        used = s.cpu_s() - before
        assert used <= 0.03, f"{used:.3f} s of CPU in 3 s of idleness"


# ---- life and death -----------------------------------------------------------------------------


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@check
def while_it_loads_it_says_so(args):
    """As soon as the port is open the answer is 503 model_loading or the real one."""
    with Server(args, port=free_port(), ready=False) as s:
        seen, began = [], time.monotonic()
        while "ready" not in seen and time.monotonic() - began < PATIENCE_S:
            with contextlib.suppress(ConnectionRefusedError):
                status, headers, body = s.get("/ready")
                if status == 503:
                    assert body["error"]["code"] == "model_loading", body
                    assert headers["Retry-After"] == "1", headers
                seen.append("ready" if status == 200 else "loading")
        assert seen and seen[-1] == "ready" and seen == sorted(seen), seen


@check
def sigterm_finishes_what_runs_and_takes_nothing_new(args):
    with Server(args) as s:
        fields = lasting(s, 3)
        stream = s.start({**fields, "stream": True})
        got = read_until(stream, b"data: ")
        s.process.send_signal(signal.SIGTERM)
        until(lambda: s.get("/health")[2]["state"] == "draining", 2, "not draining")
        status, headers, body = s.post("/v1/completions", {"model": "default", "prompt": "x"})
        assert status == 503 and body["error"]["code"] == "draining", (status, body)
        assert "Retry-After" in headers, headers
        assert s.get("/ready")[0] == 503
        got += read_until(stream, b"0\r\n\r\n")
        assert b"data: [DONE]" in got
        assert got.count(b'"finish_reason":"length"') == fields["n"], got[-500:]
        assert s.wait() == 0


@check
def a_second_sigterm_stops_at_once(args):
    with Server(args) as s:
        stream = s.start({**lasting(s, 30), "stream": True})
        read_until(stream, b"data: ")
        s.process.send_signal(signal.SIGTERM)
        until(lambda: s.get("/health")[2]["state"] == "draining", 2, "not draining")
        began = time.monotonic()
        assert s.stop(signal.SIGINT) == 0
        assert time.monotonic() - began < 3


@check
def an_idle_server_stops_at_once(args):
    with Server(args) as s:
        began = time.monotonic()
        assert s.stop() == 0
        assert time.monotonic() - began < 2


@check
def after_kill_9_the_same_port_serves_again(args):
    port = free_port()
    with Server(args, port=port) as s:
        stream = s.start({**lasting(s, 10), "stream": True})
        read_until(stream, b"data: ")
        s.process.kill()
        s.process.wait()
    with Server(args, port=port) as s:
        s.complete()


@check
def what_cannot_start_says_why_in_one_line(args):
    def fails(want_status, want, *options, model=args.model, port=0):
        broken = argparse.Namespace(bin=args.bin, model=model)
        with Server(broken, *options, port=port, ready=False) as s:
            status = s.wait()
            assert status == want_status, (status, s.lines)
            said = [line for line in s.lines if line.startswith("serve: ")]
            assert len(said) == 1 and want in said[0], s.lines

    with Server(args) as s:
        fails(1, "in use", port=s.port)
    fails(1, "nowhere.gguf", model="nowhere.gguf")
    fails(1, "server.py", model=__file__)
    fails(1, "does not fit: the weights alone are", "--memory", "1K")
    fails(2, "--engine", "--engine", "warp")
    fails(2, "--port", "--port", "70000")
    fails(1, "--cors", "--cors", "nonsense")
    fails(2, "--model-id", "--model-id", "")
    fails(2, "--model-id", "--model-id", "\udcff")  # no UTF-8: it could stand in no answer
    fails(1, "nowhere/trace.json", "--trace", "nowhere/trace.json")


@check
def keys_open_the_door(args):
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        keys.write("# keys\nsk-one\nsk-two\n")
        keys.flush()
        with Server(args, "--api-key-file", keys.name, "--api-key", "sk-three") as s:
            for key, want in (("sk-one", 200), ("sk-three", 200), ("sk-no", 401), (None, 401)):
                headers = {"Authorization": f"Bearer {key}"} if key else {}
                status, got, _ = s.ask("GET", "/v1/models", headers=headers)
                assert status == want, (key, status)
                assert status == 200 or got["WWW-Authenticate"] == "Bearer", got
            assert s.get("/health")[0] == 200
            body = {"model": "default", "prompt": "Secret words of one key", "max_tokens": 1}
            cached = []
            for key in ("sk-one", "sk-two", "sk-two"):
                _, _, reply = s.ask("POST", "/v1/completions", body,
                                    {"Authorization": f"Bearer {key}"})
                cached.append(reply["usage"]["prompt_tokens_details"]["cached_tokens"])
            assert cached[0] == cached[1] == 0 and cached[2] > 0, cached
            s.stop()
            said = "".join(s.lines)
            assert "sk-" not in said and "Secret" not in said, said


@check
def keys_are_read_again_on_sighup(args):
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        def write(text):
            keys.seek(0)
            keys.truncate()
            keys.write(text)
            keys.flush()

        def status(key):
            return s.ask("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})[0]

        write("sk-one team-a\n")
        with Server(args, "--api-key-file", keys.name) as s:
            assert (status("sk-one"), status("sk-two")) == (200, 401)
            write("sk-two team-b\n")
            s.process.send_signal(signal.SIGHUP)
            until(lambda: status("sk-two") == 200, 5, "the new key")
            assert status("sk-one") == 401
            write("sk-three inside=many\n")
            s.process.send_signal(signal.SIGHUP)
            until(lambda: any("the old ones stay" in line for line in s.lines), 5, "a line in the log")
            assert (status("sk-two"), status("sk-three")) == (200, 401)
            s.stop()
            said = "".join(s.lines)
            assert "key=team-a" in said and "key=team-b" in said and "sk-" not in said, said
            assert sum("the old ones stay" in line for line in s.lines) == 1, said


@check
def a_hangup_that_comes_before_the_server_is_there_ends_nobody(args):
    """Caught between reading the keys and listening: a lease on the trace's file holds up who opens it."""
    if not hasattr(fcntl, "F_SETLEASE"):
        print("skipped: this system knows no lease on a file")
        return
    comes = threading.Event()
    before = signal.signal(signal.SIGIO, lambda *_: comes.set())
    try:
        with tempfile.NamedTemporaryFile("w+") as keys, tempfile.NamedTemporaryFile("w+") as trace:
            keys.write("sk-one\n")
            keys.flush()
            fcntl.fcntl(trace.fileno(), fcntl.F_SETLEASE, fcntl.F_WRLCK)
            with Server(args, "--api-key-file", keys.name, "--trace", trace.name, ready=False) as s:
                until(comes.is_set, 5, "it opens the file")
                s.process.send_signal(signal.SIGHUP)
                fcntl.fcntl(trace.fileno(), fcntl.F_SETLEASE, fcntl.F_UNLCK)
                until(lambda: any("keys read again" in line for line in s.lines) or s.process.poll() is not None,
                      5, "a line in the log")
                assert s.stop() == 0, s.process.returncode
    finally:
        signal.signal(signal.SIGIO, before)


def usage_of(body):
    """Its counts, and every detail that OpenAI has: numbers, never null."""
    usage = body["usage"]
    assert usage == {
        "prompt_tokens": usage["prompt_tokens"], "completion_tokens": usage["completion_tokens"],
        "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"],
        "prompt_tokens_details": {"cached_tokens": usage["prompt_tokens_details"]["cached_tokens"],
                                  "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0,
                                      "rejected_prediction_tokens": 0, "audio_tokens": 0}}, usage
    assert isinstance(usage["prompt_tokens_details"]["cached_tokens"], int), usage
    return usage["prompt_tokens"], usage["completion_tokens"]


@check
def an_answer_has_every_key_of_its_shape(args, s):
    chat = {"model": "default", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, "ignore_eos": True,
            "temperature": 0}
    text = {"model": "default", "prompt": "Hi", "max_tokens": 3, "ignore_eos": True, "temperature": 0}
    head = {"id", "object", "created", "model", "choices", "usage"}
    for path, fields, prefix, kind in (("/v1/chat/completions", chat, "chatcmpl-", "chat.completion"),
                                       ("/v1/completions", text, "cmpl-", "text_completion")):
        status, _, body = s.post(path, fields)
        assert status == 200 and set(body) == head, body
        assert body["id"].startswith(prefix) and body["object"] == kind and body["model"], body
        assert abs(body["created"] - time.time()) < 60, body
        [choice] = body["choices"]
        said = choice.pop("message", None)
        assert said is None or set(said) == {"role", "content", "refusal"}, said
        assert said is None or (said["role"], said["refusal"]) == ("assistant", None), said
        whole = said["content"] if said else choice.pop("text")
        assert choice == {"index": 0, "logprobs": None, "finish_reason": "length"}, choice
        counts = usage_of(body)
        for options in ({}, {"stream_options": {"include_usage": True}}):
            _, chunks = s.stream(path, **fields, **options)
            last = chunks.pop() if options else None
            assert len({(c["id"], c["created"], c["model"], c["object"]) for c in chunks}) == 1, chunks
            assert chunks[0]["object"] == ("chat.completion.chunk" if said else kind), chunks[0]
            assert all(set(c) == (head if options else head - {"usage"}) for c in chunks), chunks
            assert all(c.get("usage") is None for c in chunks), chunks
            parts = [c["choices"][0].get("delta", c["choices"][0]) for c in chunks]
            assert "".join(p.get("content" if said else "text", "") for p in parts) == whole, parts
            assert not said or (parts[0], parts[-1]) == ({"role": "assistant", "content": ""}, {}), parts
            assert [c["choices"][0]["finish_reason"] for c in chunks] == [None] * (len(chunks) - 1) + ["length"], chunks
            if last:
                assert set(last) == head and last["choices"] == [] and usage_of(last) == counts, last


@check
def what_changes_nothing_is_taken_and_what_nobody_knows_is_told_once(args):
    without_effect = {"user": "u", "safety_identifier": "s", "prompt_cache_key": "k", "metadata": {"a": "b"}, "store": True,
                      "service_tier": "auto", "reasoning_effort": "max", "parallel_tool_calls": True, "priority": 1,
                      "cache_prompt": True, "verbosity": "low", "prediction": {"type": "content", "content": "Hi"},
                      "prompt_cache_retention": "24h", "tool_choice": "none", "tools": [], "functions": [],
                      "response_format": {"type": "text"}}
    chat = {"model": "default", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3, "temperature": 0}
    with Server(args) as s:
        _, _, plain = s.post("/v1/chat/completions", chat)
        for field, value in without_effect.items():
            status, _, body = s.post("/v1/chat/completions", {**chat, field: value})
            assert status == 200 and body["choices"] == plain["choices"], (field, status, body)
        assert s.stream("/v1/chat/completions", messages=chat["messages"], stream_options={"include_obfuscation": True})
        assert s.post("/v1/chat/completions", {**chat, "nonsense": 5})[0] == 200
        s.stop()
        told = [line for line in s.lines if "unknown field" in line]
        assert len(told) == 1 and "nonsense" in told[0] and "level=warn" in told[0], told


@check
def each_request_is_one_line_without_its_text(args):
    secret = "Xylophone of nobody"
    for options, want in (((), 0), (("--log-prompts",), 2)):
        with Server(args, *options) as s:
            usage = s.complete(secret, max_tokens=5, ignore_eos=True)["usage"]
            s.stream("/v1/chat/completions", messages=[{"role": "user", "content": secret}], max_tokens=3)
            s.refuse(400, temperature=9)
            s.get("/nowhere")
            s.stop()
            lines = [dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)) for line in s.lines]
            asked = [f for f in lines if f.get("msg") == '"request"']
            assert [f["status"] for f in asked] == ["200", "200", "400", "404"], asked
            first = asked[0]
            assert int(first["prompt"]) == usage["prompt_tokens"] and first["output"] == "5", first
            assert first["finish"] == "length" and first["method"] == "POST", first
            assert 0 <= float(first["queue_ms"]) <= float(first["ttft_ms"]) <= float(first["ms"]), first
            assert int(first["bytes"]) > 100 and first["id"].startswith("req-"), first
            assert sum(secret in line for line in s.lines) == want, s.lines


@check
def a_trace_is_written_at_the_end(args):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        with Server(args, "--trace", str(path), "--threads", "2") as s:
            s.complete()
            assert s.stop() == 0
        trace = json.loads(path.read_text())
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        assert any(e.get("name") == "step" for e in events), list(events)[:3]


# ---- run ----------------------------------------------------------------------------------------


def main():
    args = arguments(__doc__, lambda parser: parser.add_argument(
        "--only", metavar="PART", help="checks with this in their name"))
    passed = failed = 0
    with Server(args) as shared:  # for the checks that need nothing special
        for fn in CHECKS:
            if args.only and args.only not in fn.__name__:
                continue
            began = time.monotonic()
            try:
                fn(args, shared) if fn.__code__.co_argcount == 2 else fn(args)
                passed += 1
            except Exception as trouble:  # a check that fails must not hide the others
                failed += 1
                print(f"{fn.__name__}: {type(trouble).__name__}: {str(trouble)[:1000]}")
            if args.only or time.monotonic() - began > 20:
                print(f"{fn.__name__}: {time.monotonic() - began:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
