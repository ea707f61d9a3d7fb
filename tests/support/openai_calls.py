"""Calls through the `openai` package: its plain client and its asynchronous one, asked alike.

A call is a function of a client, as `lambda c: c.models.list()`; both clients understand it.
"""
import asyncio
import contextlib
import tempfile
from typing import NamedTuple

import openai
from openai._types import Response

KEY = "sk-for-this-test"
QUESTION = [{"role": "user", "content": "Write a short story about the sea."}]
GREEDY = {"model": "default", "temperature": 0, "max_tokens": 12}


def options_of(server, key, retries):
    return {"base_url": f"http://127.0.0.1:{server.port}/v1", "api_key": key, "max_retries": retries}


class Plain:
    name = "plain"

    def __init__(self, server, key=KEY, retries=0):
        self.root = f"http://127.0.0.1:{server.port}"
        self.client = openai.OpenAI(**options_of(server, key, retries))

    def ask(self, call):
        return call(self.client)

    def stream(self, call):
        """All events of a stream."""
        return list(call(self.client))

    def raw(self, method, path, **more):
        """A route that the package has no name for, by its own request methods: the reply as it came."""
        return self.ask(lambda c: getattr(c, method)(self.root + path, cast_to=Response, **more))

    def close(self):
        self.client.close()


class Asynchronous(Plain):
    name = "asynchronous"

    def __init__(self, server, key=KEY, retries=0):
        super().__init__(server, key, retries)
        self.client.close()
        self.client = openai.AsyncOpenAI(**options_of(server, key, retries))
        self.loop = asyncio.new_event_loop()

    def ask(self, call):
        return self.loop.run_until_complete(call(self.client))

    def stream(self, call):
        async def collect():
            return [event async for event in await call(self.client)]

        return self.loop.run_until_complete(collect())

    def close(self):
        self.loop.run_until_complete(self.client.close())
        self.loop.close()


@contextlib.contextmanager
def callers(server, key=KEY, retries=0):
    """One of each kind."""
    both = [kind(server, key, retries) for kind in (Plain, Asynchronous)]
    try:
        yield both
    finally:
        for caller in both:
            caller.close()


@contextlib.contextmanager
def key_file(*lines):
    """For --api-key-file: KEY, and what else is given."""
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        keys.write("\n".join([KEY, *lines]) + "\n")
        keys.flush()
        yield keys.name


def chat(messages=QUESTION, **fields):
    """The call of a chat; what the package does not know travels in extra_body, as its users do it."""
    return lambda c: c.chat.completions.create(messages=messages, **{**GREEDY, **fields})


def complete(prompt="Once upon a time", **fields):
    return lambda c: c.completions.create(prompt=prompt, **{**GREEDY, **fields})


class Refusal(NamedTuple):
    """What the package makes of an error: the class that it raises, and what is in it."""

    kind: str
    status: int
    type: str
    code: str
    param: str


class Refusals:
    """Asks for what must be refused, and remembers what was seen."""

    def __init__(self, tally):
        self.tally, self.seen = tally, set()

    def expect(self, caller, call, want, words="", name="", has_id=True):
        """words: what the message must say."""
        name = f"{name}, {caller.name}"
        try:
            got = caller.ask(call)
        except openai.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            got = Refusal(type(error).__name__, error.status_code, error.type, error.code, error.param)
            self.tally.equal(got, want, name)
            self.tally.equal(sorted(body), ["code", "message", "param", "type"], f"{name}: the four keys")
            self.tally.check(words in str(body.get("message")), f"{name}: says {words!r}", body)
            self.tally.check(error.request_id or not has_id, f"{name}: a request id")
            self.seen.add((got.status, got.code, got.kind))
            return error
        self.tally.check(False, name, f"no error, but {got!r:.300}")
        return None


def bad(param=None, code=None):
    return Refusal("BadRequestError", 400, "invalid_request_error", code, param)
