#!/usr/bin/env python3
"""Every error of docs/api.md, as the official `openai` client meets it: its class, type, code and param.

    .venv/bin/python tests/reference/openai_errors.py [--model FILE] [--bin DIR]

The page's table is read: a row that this check claims must have been seen, an error that was seen must have
a row, and what no client can bring about from outside must be named by the test that the row names.
"""
import concurrent.futures
import contextlib
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import openai

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from openai_calls import (Asynchronous, Plain, Refusal, Refusals, bad, callers, chat,  # noqa: E402
                          complete, key_file)
from reference import Tally, arguments  # noqa: E402
from running_server import PATIENCE_S, Server  # noqa: E402

PAGE = ROOT / "docs/api.md"
BUSY = {"max_tokens": 400, "ignore_eos": True}
SLOW = ("--inject", "slow-step:2")  # a step takes a second: who runs, runs for as long as we need

NO_KEY = Refusal("AuthenticationError", 401, "invalid_request_error", "invalid_api_key", None)
NO_MODEL = Refusal("NotFoundError", 404, "invalid_request_error", "model_not_found", "model")
NO_PATH = Refusal("NotFoundError", 404, "invalid_request_error", "unknown_url", None)
NO_METHOD = Refusal("APIStatusError", 405, "invalid_request_error", "method_not_allowed", None)
TOO_LARGE = Refusal("APIStatusError", 413, "invalid_request_error", "request_too_large", None)
TOO_MANY = Refusal("RateLimitError", 429, "rate_limit_error", "queue_full", None)
TOO_OFTEN = Refusal("RateLimitError", 429, "rate_limit_error", "rate_limit_exceeded", None)
FAILED = Refusal("InternalServerError", 500, "server_error", "engine_failed", None)
TOO_LATE = Refusal("InternalServerError", 504, "server_error", "deadline_exceeded", None)


def unavailable(code):
    return Refusal("InternalServerError", 503, "server_error", code, None)


def until(condition, what):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE_S, what
        time.sleep(0.01)


# ---- at the door --------------------------------------------------------------------------------


def post(path, body=None, content=None, headers=None):
    """The call of a route by the package's own request method."""
    options = {"headers": {"Content-Type": "application/json", **(headers or {})}}
    return lambda c: c.post(str(c.base_url).replace("/v1/", path), cast_to=object, body=body, content=content, options=options)


def get(path):
    return lambda c: c.get(str(c.base_url).replace("/v1/", path), cast_to=object)


DOOR = [  # what is asked, the call, what the client must raise
    ("another model", chat(model="gpt-9"), NO_MODEL),
    ("another model, streamed", chat(model="gpt-9", stream=True), NO_MODEL),
    ("another model of completions", complete(model="gpt-9"), NO_MODEL),
    ("another model, asked for", lambda c: c.models.retrieve("gpt-9"), NO_MODEL._replace(param=None)),
    ("a route that is not there", lambda c: c.embeddings.create(model="x", input="y"), NO_PATH),
    ("GET where POST belongs", get("/v1/chat/completions"), NO_METHOD),
    ("POST where GET belongs", post("/v1/models", {}), NO_METHOD),
    ("POST to /health", post("/health", {}), NO_METHOD),
    ("a body above 8 MiB", post("/v1/completions", content=b" " * ((8 << 20) + 1)), TOO_LARGE),
    ("a body above 1 MiB for /tokenize", post("/tokenize", content=b" " * ((1 << 20) + 1)), TOO_LARGE),
    ("the same for /detokenize", post("/detokenize", content=b" " * ((1 << 20) + 1)), TOO_LARGE),
    ("the same for /apply-template", post("/apply-template", content=b" " * ((1 << 20) + 1)), TOO_LARGE),
    ("a prompt above the context", complete("word " * 20000), bad("prompt", "context_length_exceeded")),
    ("messages above the context", chat([{"role": "user", "content": "word " * 20000}]), bad("messages", "context_length_exceeded")),
    ("the same, streamed", chat([{"role": "user", "content": "word " * 20000}], stream=True), bad("messages", "context_length_exceeded")),
    ("no body", post("/v1/completions"), bad()),
    ("half a body", post("/v1/completions", content=b'{"model":'), bad()),
    ("a list", post("/v1/completions", content=b"[]"), bad()),
    ("a name twice", post("/v1/completions", content=b'{"model":"default","model":"default"}'), bad()),
    ("65 levels", post("/v1/completions", content=b'{"x":' + b"[" * 64 + b"]" * 64 + b"}"), bad()),
    ("1,048,577 values", post("/v1/completions", content=b'{"x":[' + b"0," * ((1 << 20) - 2) + b"0]}"), bad()),
]

EARLY = [  # refused before the request was whole, so it has no id yet
    ("headers above 32 KiB", post("/v1/completions", {}, headers={"X-Long": "a" * (33 << 10)}), bad()),
    ("a body of 16 MiB", post("/v1/completions", content=b" " * (16 << 20)), TOO_LARGE),
]


def at_the_door(args, refusals):
    with key_file() as keys, Server(args, "--api-key-file", keys) as server:
        with callers(server, key="sk-wrong") as both:
            for caller in both:
                for call in (chat(), chat(stream=True), complete(), lambda c: c.models.list(), get("/metrics"),
                             post("/tokenize", {"content": "x"}), get("/nowhere")):
                    error = refusals.expect(caller, call, NO_KEY, name="a wrong key")
                    refusals.tally.equal(error and error.response.headers["WWW-Authenticate"], "Bearer", "which scheme")
                refusals.tally.equal(caller.raw("get", "/health").status_code, 200, "/health needs no key")
                refusals.tally.equal(caller.raw("get", "/ready").status_code, 200, "/ready needs no key")
        with callers(server) as both:
            for caller in both:
                for name, call, want in DOOR:
                    refusals.expect(caller, call, want, name=name)
                for name, call, want in EARLY:
                    refusals.expect(caller, call, want, name=name, has_id=False)


# ---- overload -----------------------------------------------------------------------------------


def a_full_queue(args, refusals):
    """Refused with Retry-After; the package waits for so long, asks again, and gets its answer."""
    with Server(args, "--queue", "1", *SLOW) as server, callers(server) as both:
        held = [server.start(BUSY), server.start(BUSY)]
        until(lambda: sum(server.inside()) == 2, "one runs, one waits")
        for caller in both:
            for call in (chat(), chat(stream=True), complete(), complete(stream=True)):
                error = refusals.expect(caller, call, TOO_MANY, name="one more")
                refusals.tally.check(error and int(error.response.headers["Retry-After"]) >= 1, "Retry-After in seconds")
            refusals.expect(caller, get("/ready"), unavailable("queue_full"), name="/ready of a full house")

        patient, statuses = Plain(server, retries=2), []

        def heard(reply):
            statuses.append((reply.status_code, time.monotonic(), reply.headers.get("Retry-After")))
            while held:
                held.pop().close()

        patient.client._client.event_hooks["response"] = [heard]
        patient.ask(chat(max_tokens=1))
        (first, at, after), (second, again_at, _) = statuses[:1] + statuses[-1:]
        refusals.tally.equal((first, second), (429, 200), "the package asks again")
        refusals.tally.check(again_at - at >= int(after), "and not before Retry-After", (again_at - at, after))
        patient.close()


def a_limited_key(args, refusals):
    lines = ("sk-few few requests-per-minute=2", "sk-short short tokens-per-minute=20")
    with key_file(*lines) as keys, Server(args, "--api-key-file", keys) as server:
        few = Plain(server, "sk-few")
        reply = few.ask(lambda c: chat(max_tokens=1)(c.with_raw_response))
        left = {name: reply.headers.get(f"x-ratelimit-{name}-requests") for name in ("limit", "remaining")}
        refusals.tally.equal(left, {"limit": "2", "remaining": "1"}, "limits in the headers")
        few.ask(complete(max_tokens=1))
        with callers(server, "sk-few") as both:
            for caller in both:
                for call in (chat(), chat(stream=True), complete()):
                    error = refusals.expect(caller, call, TOO_OFTEN, name="the third request in a minute")
                    refusals.tally.check(error and 1 <= int(error.response.headers["Retry-After"]) <= 60, "Retry-After")
        short = Plain(server, "sk-short")
        short.ask(complete(max_tokens=40, extra_body={"ignore_eos": True}))
        refusals.expect(short, complete(), TOO_OFTEN, "token", name="more tokens than there were")
        Plain(server).ask(chat(max_tokens=1))  # another key's limit is its own
        few.close()
        short.close()


def one_inside(args, refusals):
    with key_file("sk-one one inside=1") as keys, Server(args, "--api-key-file", keys, *SLOW) as server:
        with callers(server, "sk-one") as both:
            stream = both[0].ask(chat(stream=True))
            next(iter(stream))
            for caller in both:
                refusals.expect(caller, chat(), TOO_OFTEN, name="a second one inside")
            stream.close()
            until(lambda: server.inside() == (0, 0), "a closed stream frees its place")


def a_deadline(args, refusals):
    with Server(args, "--request-seconds", "1", *SLOW) as server:
        with callers(server, retries=2) as both:
            sent = []
            both[0].client._client.event_hooks["response"] = [lambda reply: sent.append(reply.status_code)]
            error = refusals.expect(both[0], chat(), TOO_LATE, name="a deadline")
            refusals.tally.equal(error and error.response.headers["x-should-retry"], "false", "no second try is wanted")
            refusals.tally.equal(sent, [504], "the package makes none")
            for caller in both:
                fails_within(refusals, caller, chat(stream=True), "deadline_exceeded")
        until(lambda: server.inside() == (0, 0), "the places are free")


def fails_within(refusals, caller, call, code):
    """A stream that fails: by its status if nothing was sent yet, else by an event. The package raises both."""
    try:
        caller.stream(call)
        refusals.tally.check(False, f"{code} within a stream, {caller.name}", "no error")
    except openai.APIError as error:
        refusals.tally.equal((error.code, error.type, error.param), (code, "server_error", None), f"{code} within a stream, {caller.name}")


# ---- begin, end and trouble ---------------------------------------------------------------------


def a_drain(args, refusals):
    with Server(args, *SLOW) as server, callers(server) as both:
        held = server.start({**BUSY, "stream": True})
        until(lambda: server.inside()[0] == 1, "it runs")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: server.get("/ready")[0] == 503, "it drains")
        for caller in both:
            for call in (chat(), chat(stream=True), complete(), get("/ready"), post("/tokenize", {"content": "x"})):
                error = refusals.expect(caller, call, unavailable("draining"), name="a request to a draining server")
                refusals.tally.equal(error and error.response.headers["Retry-After"], "1", "Retry-After of a draining server")
            refusals.tally.equal(caller.raw("get", "/health").json()["state"], "draining", "/health says so")
        held.close()
        refusals.tally.equal(server.wait(), 0, "it ends in peace")


def a_stall(args, refusals):
    with Server(args, "--stall-seconds", "1", "--inject", "step-hang:1") as server, callers(server) as both:
        held = server.start(BUSY)
        until(lambda: server.get("/health")[0] == 503, "the engine is stuck")
        for caller in both:
            refusals.expect(caller, get("/ready"), unavailable("stalled"), name="/ready of a stuck engine")
            with contextlib.suppress(openai.InternalServerError):
                refusals.tally.check(False, "/health of a stuck engine is 503", caller.raw("get", "/health"))
        held.close()


def a_failure(args, refusals):
    """The status says so, or an event if the answer has begun; then the program ends."""
    for streamed in (False, True):
        with Server(args, "--inject", "device-error:3") as server:
            caller = Asynchronous(server) if streamed else Plain(server)
            if streamed:
                fails_within(refusals, caller, chat(stream=True), "engine_failed")
            else:
                refusals.expect(caller, chat(), FAILED, name="a failed engine")
            refusals.tally.equal(server.wait(), 1, "it ends with status 1")
            caller.close()


# ---- templates ----------------------------------------------------------------------------------

PICKY = """{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turn, please') }}{% endif %}\
{% for m in messages %}[{{ mood | default('calm') }}] {{ m['content'] }}\n{% endfor %}"""


def without_template(args, folder):
    """A copy of the model whose template has another name."""
    path = Path(folder) / "base.gguf"
    shutil.copy(args.model, path)
    with open(path, "r+b") as file:
        at = file.read(16 << 20).index(b"tokenizer.chat_template")
        file.seek(at)
        file.write(b"tokenizer.chat_templetA")
    return type(args)(**{**vars(args), "model": str(path)})


def templates(args, refusals):
    user, system = [{"role": "user", "content": "hello"}], [{"role": "system", "content": "hello"}]
    with tempfile.TemporaryDirectory() as folder:
        base, picky = without_template(args, folder), Path(folder) / "picky.jinja"
        picky.write_text(PICKY, encoding="utf-8")
        with Server(base) as server, callers(server) as both:
            for caller in both:
                for call in (chat(user), chat(user, stream=True), post("/apply-template", {"messages": user})):
                    refusals.expect(caller, call, bad(), "no chat template", name="chat with a base model")
                refusals.tally.check(caller.ask(complete()).choices[0].text, "a base model completes")
            refusals.tally.check(any('msg="no chat" reason="the model file has no chat template' in line for line in server.lines),
                                 "a base model says so at its start", server.lines)
        with Server(base, "--chat-template", "chatml") as server, callers(server) as both:
            for caller in both:
                prompt = caller.ask(post("/apply-template", {"messages": user}))["prompt"]
                refusals.tally.equal(prompt, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", "chatml, by name")
                refusals.tally.check(caller.ask(chat(user)).usage.prompt_tokens > 5, "chat with a template by name")
        with Server(base, "--chat-template", str(picky)) as server, callers(server) as both:
            for caller in both:
                check_picky(refusals, caller, user, system)


def check_picky(refusals, caller, user, system):
    def render(**kwargs):
        return caller.ask(post("/apply-template", {"messages": user, **kwargs}))["prompt"]

    def n_prompt(**extra):
        return caller.ask(chat(user, extra_body=extra)).usage.prompt_tokens

    refusals.tally.equal(render(), "[calm] hello\n", "a template from a file")
    refusals.tally.equal(render(chat_template_kwargs={"mood": "merry"}), "[merry] hello\n", "chat_template_kwargs")
    refusals.tally.check(n_prompt(chat_template_kwargs={"mood": "merry " * 9}) > n_prompt(), "chat_template_kwargs in a chat")
    for stream in (False, True):
        refusals.expect(caller, chat(system, stream=stream), bad("messages"), "no system turn, please", name="a template that refuses")
        refusals.expect(caller, chat(user, extra_body={"chat_template_kwargs": []}), bad("chat_template_kwargs"), name="no object")


SCENES = (at_the_door, a_full_queue, a_limited_key, one_inside, a_deadline, a_drain, a_stall, a_failure, templates)


# ---- the page -----------------------------------------------------------------------------------


def rows():
    """What the package raises for a status and a code, and the test that its row names."""
    pattern = r"^\| (\d{3}) \| (?:`(\w+)`|null) \| (\w+) \|.*\| `([\w./]+)` \|$"
    found = re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.M)
    return {(int(status), code or None, kind): test for status, code, kind, test in found}


def check_page(tally, seen):
    table, own = rows(), str(Path(__file__).resolve().relative_to(ROOT))
    tally.equal(sorted(map(str, seen - set(table))), [], f"errors that were seen, and are not in {PAGE.name}")
    for error, test in table.items():
        if test == own:
            tally.check(error in seen, f"{error} of {PAGE.name} was seen")
        else:
            names = error[1] in (ROOT / test).read_text(encoding="utf-8")
            tally.check(names, f"{error} of {PAGE.name} is in {test}")


def main():
    args = arguments(__doc__)
    tally, seen = Tally(), set()

    def play(scene):
        refusals = Refusals(Tally())
        scene(args, refusals)
        return refusals

    with concurrent.futures.ThreadPoolExecutor(len(SCENES)) as pool:  # most of them wait for a slow step
        for refusals in pool.map(play, SCENES):
            tally.take(refusals.tally)
            seen |= refusals.seen
    check_page(tally, seen)
    tally.finish()


if __name__ == "__main__":
    main()
