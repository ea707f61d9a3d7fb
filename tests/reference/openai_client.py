#!/usr/bin/env python3
"""serve through the official `openai` client: what it cannot read, others cannot read either.

    .venv/bin/python tests/reference/openai_client.py [--model FILE] [--bin DIR]
"""
import sys
import tempfile
from pathlib import Path

import openai

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

KEY = "sk-for-this-test"
QUESTION = [{"role": "user", "content": "Write a short story about the sea."}]
GREEDY = {"model": "default", "temperature": 0, "max_tokens": 12}


def client_of(server, key=KEY):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=key, max_retries=0)


def chat(client, **fields):
    return client.chat.completions.create(messages=QUESTION, **{**GREEDY, **fields})


def check_chat(client, tally):
    whole = chat(client)
    choice = whole.choices[0]
    tally.equal(whole.object, "chat.completion", "chat: object")
    tally.equal(choice.message.role, "assistant", "chat: role")
    tally.check(isinstance(choice.message.content, str), "chat: content is text", choice)
    tally.check(choice.finish_reason in ("stop", "length"), "chat: finish_reason", choice)
    usage = whole.usage
    tally.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "chat: sum")
    tally.check(isinstance(usage.prompt_tokens_details.cached_tokens, int), "chat: cached", usage)

    chunks = list(chat(client, stream=True))
    tally.equal({c.id for c in chunks}, {chunks[0].id}, "stream: one id")
    tally.equal(chunks[0].choices[0].delta.role, "assistant", "stream: role comes first")
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    tally.equal(text, choice.message.content, "stream: the same text")
    tally.equal(chunks[-1].choices[0].finish_reason, choice.finish_reason, "stream: same end")

    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    tally.equal(chunks[-1].choices, [], "usage chunk: no choices")
    tally.equal(chunks[-1].usage.completion_tokens, usage.completion_tokens, "usage chunk: equal")
    tally.equal([c.usage for c in chunks[:-1]], [None] * (len(chunks) - 1), "usage: null before")

    parts = [{"role": "user", "content": [{"type": "text", "text": "Write a short story "},
                                          {"type": "text", "text": "about the sea."}]}]
    joined = client.chat.completions.create(messages=parts, **GREEDY)
    tally.equal(joined.choices[0].message.content, choice.message.content, "chat: parts are joined")


def check_choices(client, tally):
    two = chat(client, n=2, temperature=1, seed=3)
    tally.equal([c.index for c in two.choices], [0, 1], "n: indexes")
    again = chat(client, n=2, temperature=1, seed=3)
    tally.equal([c.message.content for c in again.choices],
                [c.message.content for c in two.choices], "n: the same seed, the same texts")
    texts = {0: "", 1: ""}
    for chunk in chat(client, n=2, temperature=1, seed=3, stream=True):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    tally.equal(texts, {c.index: c.message.content for c in two.choices}, "n: streamed alike")


def check_logprobs(client, tally):
    choice = chat(client, logprobs=True, top_logprobs=2).choices[0]
    content = choice.logprobs.content
    tally.check(0 < len(content) <= 12, "logprobs: one per token", len(content))
    for entry in content:
        tops = [t.logprob for t in entry.top_logprobs]
        tally.equal(len(tops), 2, "logprobs: two alternatives")
        tally.equal(tops, sorted(tops, reverse=True), "logprobs: best first")
        tally.check(abs(entry.logprob - tops[0]) < 1e-6, "logprobs: greedy takes the best", entry)
    raw = b"".join(bytes(entry.bytes) for entry in content)
    tally.equal(raw.decode("utf-8", "replace"), choice.message.content, "logprobs: bytes")
    streamed = [e for c in chat(client, logprobs=True, top_logprobs=2, stream=True)
                if c.choices[0].logprobs for e in c.choices[0].logprobs.content or []]
    tally.equal([e.token for e in streamed], [e.token for e in content], "logprobs: streamed")


def check_completions(client, tally):
    whole = client.completions.create(prompt="Once upon a time", logprobs=1, **GREEDY)
    tally.equal(whole.object, "text_completion", "completion: object")
    tally.equal(len(whole.choices[0].logprobs.token_logprobs), whole.usage.completion_tokens,
                "completion: a logprob per token")
    chunks = client.completions.create(prompt="Once upon a time", stream=True, **GREEDY)
    tally.equal("".join(c.choices[0].text for c in chunks), whole.choices[0].text,
                "completion: streamed alike")
    two = client.completions.create(prompt=["Once", "The sea"], n=2, **GREEDY)
    tally.equal([c.index for c in two.choices], [0, 1, 2, 3], "completion: prompts times n")
    tally.equal(two.choices[0].text, two.choices[1].text, "completion: greedy choices are equal")


def check_models(client, tally, name):
    models = client.models.list().data
    tally.equal([m.id for m in models], [name], "models: the list")
    tally.equal(client.models.retrieve(name).id, name, "models: one")
    tally.check(models[0].created > 1500000000, "models: created", models[0])


ANY = object()


def raises(tally, kind, call, name, code=None, param=None):
    try:
        call()
    except openai.APIStatusError as error:
        tally.check(type(error) is kind, f"{name}: {kind.__name__}", repr(error))
        tally.equal(error.code, code, f"{name}: code")
        if param is not ANY:
            tally.equal(error.param, param, f"{name}: param")
        tally.check(error.request_id is not None, f"{name}: a request id")
        return
    tally.check(False, f"{name}: {kind.__name__}", "no error")


def check_errors(server, client, tally):
    raises(tally, openai.AuthenticationError, lambda: chat(client_of(server, "sk-wrong")),
           "wrong key", code="invalid_api_key")
    raises(tally, openai.NotFoundError, lambda: chat(client, model="gpt-9"), "unknown model",
           code="model_not_found", param="model")
    raises(tally, openai.NotFoundError, lambda: client.models.retrieve("gpt-9"), "no such model",
           code="model_not_found")
    raises(tally, openai.NotFoundError, lambda: client.embeddings.create(model="x", input="y"),
           "unknown path", code="unknown_url")
    raises(tally, openai.BadRequestError, lambda: chat(client, temperature=3), "temperature",
           param="temperature")
    raises(tally, openai.BadRequestError, lambda: chat(client, stop=["a"] * 5), "stop",
           param="stop")
    raises(tally, openai.BadRequestError, lambda: chat(client, max_tokens=0), "max_tokens",
           param="max_tokens")
    context = server_context(client)
    long = [{"role": "user", "content": "word " * (2 * context)}]
    raises(tally, openai.BadRequestError,
           lambda: client.chat.completions.create(messages=long, **GREEDY), "too long",
           code="context_length_exceeded", param=ANY)


def check_limits(args, tally, keys):
    """A key above its limits, and a request above its deadline: what the library makes of them."""
    keys.write("sk-few few requests-per-minute=2\n")
    keys.flush()
    with Server(args, "--api-key-file", keys.name, "--request-seconds", "1", "--inject", "slow-step:2") as server:
        few, client = client_of(server, "sk-few"), client_of(server)
        reply = few.chat.completions.with_raw_response.create(messages=QUESTION, **{**GREEDY, "max_tokens": 1})
        tally.equal(reply.headers.get("x-ratelimit-limit-requests"), "2", "limit in the headers")
        tally.equal(reply.headers.get("x-ratelimit-remaining-requests"), "1", "and what is left")
        raises(tally, openai.InternalServerError, lambda: chat(few), "deadline", code="deadline_exceeded")
        raises(tally, openai.RateLimitError, lambda: chat(few), "rate limit", code="rate_limit_exceeded")
        try:
            list(chat(client, stream=True))
            tally.check(False, "deadline within a stream", "no error")
        except openai.APIError as error:  # the status line said 200
            tally.equal(error.code, "deadline_exceeded", "deadline within a stream")


def server_context(client):
    return client.models.list().data[0].max_model_len


def main():
    args = arguments(__doc__)
    tally = Tally()
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        keys.write(KEY + "\n")
        keys.flush()
        with Server(args, "--api-key-file", keys.name, "--model-id", "test-model") as server:
            client = client_of(server)
            check_chat(client, tally)
            check_choices(client, tally)
            check_logprobs(client, tally)
            check_completions(client, tally)
            check_models(client, tally, "test-model")
            check_errors(server, client, tally)
            tally.equal(server.stop(), 0, "serve ends in peace")
        check_limits(args, tally, keys)
    tally.finish()


if __name__ == "__main__":
    main()
