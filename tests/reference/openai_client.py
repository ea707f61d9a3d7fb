#!/usr/bin/env python3
"""serve through the official `openai` client: what it cannot read, others cannot read either.

    .venv/bin/python tests/reference/openai_client.py [--model FILE] [--bin DIR]

Here: what is answered, on every route, whole and streamed, to the plain client and to the asynchronous one.
What is refused: openai_errors.py and openai_limits.py.
"""
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from openai_calls import QUESTION, callers, chat, complete, key_file  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

NAME = "test-model"
CALLS = {"chat": chat, "completion": complete}
USAGE = {"include_usage": True}


def text_of(choice):
    return choice.text if hasattr(choice, "text") else choice.message.content


def piece_of(choice):
    return choice.text if hasattr(choice, "text") else choice.delta.content or ""


def joined(events):
    """index -> text and reason, of a stream."""
    texts, reasons = {}, {}
    for choice in (c for event in events for c in event.choices):
        texts[choice.index] = texts.get(choice.index, "") + piece_of(choice)
        reasons[choice.index] = choice.finish_reason or reasons.get(choice.index)
    return {i: (texts[i], reasons[i]) for i in texts}


# ---- answers ------------------------------------------------------------------------------------


ALIKE = [  # what is asked, and what must be the same whole and streamed
    ("greedy", {}),
    ("two drawn answers", {"n": 2, "temperature": 1, "seed": 3}),
    ("eight tokens", {"max_tokens": 8}),
    ("one token", {"max_tokens": 1}),
    ("a stop text", {"stop": ["e", "\n"], "max_tokens": 40}),
    ("a stop text that is shown", {"stop": ["e"], "max_tokens": 40, "extra_body": {"include_stop_str_in_output": True}}),
    ("no end", {"extra_body": {"ignore_eos": True}}),
    ("draws", {"temperature": 0.7, "top_p": 0.9, "seed": 1, "presence_penalty": 0.5, "frequency_penalty": 0.5,
               "extra_body": {"top_k": 20, "min_p": 0.01, "repetition_penalty": 1.1}}),
]


def check_alike(caller, call, kind, tally):
    for what, fields in ALIKE:
        name = f"{kind}, {what}, {caller.name}"
        whole = caller.ask(call(**fields))
        want = {c.index: (text_of(c), c.finish_reason) for c in whole.choices}
        tally.equal(joined(caller.stream(call(stream=True, **fields))), want, f"{name}: streamed alike")
        events = caller.stream(call(stream=True, stream_options=USAGE, **fields))
        tally.equal(joined(events), want, f"{name}: streamed alike with usage")
        got, usage = events[-1].usage, whole.usage
        tally.equal((got.prompt_tokens, got.completion_tokens, got.total_tokens),
                    (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens + usage.completion_tokens), f"{name}: usage")
        tally.equal(usage.total_tokens, got.total_tokens, f"{name}: sum")
        again = caller.ask(call(**fields))
        tally.equal({c.index: (text_of(c), c.finish_reason) for c in again.choices}, want, f"{name}: the same again")


def check_shape(caller, call, kind, tally):
    """Names, ids, order of events."""
    whole, name = caller.ask(call()), f"{kind}, {caller.name}"
    objects = {"chat": ("chat.completion", "chat.completion.chunk"), "completion": ("text_completion",) * 2}[kind]
    tally.equal((whole.object, whole.model), (objects[0], NAME), f"{name}: object and model")
    tally.check(whole.id.startswith({"chat": "chatcmpl-", "completion": "cmpl-"}[kind]), f"{name}: id", whole.id)
    tally.check(whole.created > 1500000000, f"{name}: created", whole.created)
    tally.check(whole.choices[0].finish_reason in ("stop", "length"), f"{name}: finish_reason", whole)
    details = whole.usage.prompt_tokens_details
    tally.check(isinstance(details.cached_tokens, int), f"{name}: cached_tokens", details)
    if kind == "chat":
        tally.equal(whole.choices[0].message.role, "assistant", f"{name}: role")

    events = caller.stream(call(stream=True))
    tally.equal({(e.object, e.id, e.created, e.model) for e in events}, {(objects[1], events[0].id, events[0].created, NAME)},
                f"{name}: every event has the same head")
    tally.check(all(e.choices and e.usage is None for e in events), f"{name}: no usage unless asked for", events[-1])
    tally.equal([i for i, e in enumerate(events) if e.choices[0].finish_reason], [len(events) - 1], f"{name}: one end")
    if kind == "chat":
        tally.equal([i for i, e in enumerate(events) if e.choices[0].delta.role], [0], f"{name}: the role comes first")
    events = caller.stream(call(stream=True, stream_options=USAGE))
    tally.equal([bool(e.choices) for e in events], [True] * (len(events) - 1) + [False], f"{name}: one chunk of usage, at the end")
    tally.equal([e.usage for e in events[:-1]], [None] * (len(events) - 1), f"{name}: usage is null before")


def check_ends(caller, call, kind, tally):
    name = f"{kind}, {caller.name}"
    choice = caller.ask(call(stop=["e"], max_tokens=40)).choices[0]
    shown = caller.ask(call(stop=["e"], max_tokens=40, extra_body={"include_stop_str_in_output": True})).choices[0]
    if choice.finish_reason == "stop" and text_of(shown).endswith("e"):
        tally.equal(text_of(shown), text_of(choice) + "e", f"{name}: a stop text is shown when asked for")
    ended = caller.ask(call(logit_bias={"5": 100}, extra_body={"stop_token_ids": [5]}))
    tally.equal((text_of(ended.choices[0]), ended.choices[0].finish_reason, ended.usage.completion_tokens), ("", "stop", 0),
                f"{name}: a stop token id ends, and is not counted")
    kept = caller.ask(call(logit_bias={"5": 100}, max_tokens=3))
    tally.equal((kept.choices[0].finish_reason, kept.usage.completion_tokens), ("length", 3), f"{name}: max_tokens ends with length")
    late = caller.ask(call(extra_body={"stop_token_ids": [5], "min_tokens": 12}))
    tally.equal(late.usage.completion_tokens, 12, f"{name}: min_tokens keeps it going")
    texts = {text_of(c) for c in caller.ask(call(n=4, temperature=2, seed=1)).choices}
    tally.check(len(texts) > 1, f"{name}: choices of one seed differ", texts)
    other = caller.ask(call(n=4, temperature=2, seed=2)).choices
    tally.check({text_of(c) for c in other} != texts, f"{name}: another seed, other texts")


# ---- log probabilities --------------------------------------------------------------------------


def check_chat_logprobs(caller, tally):
    name = f"chat logprobs, {caller.name}"
    for n_top in (None, 0, 2, 20):
        fields = {"logprobs": True} if n_top is None else {"logprobs": True, "top_logprobs": n_top}
        reply = caller.ask(chat(**fields))
        content = reply.choices[0].logprobs.content
        tally.equal(len(content), reply.usage.completion_tokens, f"{name}: one per token")
        for entry in content:
            tops = [t.logprob for t in entry.top_logprobs]
            tally.equal((len(tops), tops), (n_top or 0, sorted(tops, reverse=True)), f"{name}: alternatives, best first")
            tally.check(entry.logprob <= 0 and (not tops or abs(entry.logprob - tops[0]) < 1e-6), f"{name}: greedy is best", entry)
        raw = b"".join(bytes(entry.bytes) for entry in content)
        tally.equal(raw.decode("utf-8", "replace"), text_of(reply.choices[0]), f"{name}: the bytes are the text")
        events = caller.stream(chat(stream=True, **fields))
        streamed = [e for event in events if event.choices[0].logprobs for e in event.choices[0].logprobs.content or []]
        tally.equal(streamed, content, f"{name}: streamed alike")
    tally.equal(caller.ask(chat()).choices[0].logprobs, None, f"{name}: null unless asked for")


def check_completion_logprobs(caller, tally):
    name = f"completion logprobs, {caller.name}"
    for n_top in (0, 1, 5):
        reply = caller.ask(complete(logprobs=n_top))
        got, choice = reply.choices[0].logprobs, reply.choices[0]
        columns = (got.tokens, got.token_logprobs, got.top_logprobs, got.text_offset)
        tally.equal({len(column) for column in columns}, {reply.usage.completion_tokens}, f"{name}: four columns, one row per token")
        tally.equal(got.text_offset, sorted(got.text_offset), f"{name}: offsets rise")
        for token, logprob, tops in zip(*columns[:3]):
            tally.check(tops[token] == logprob and len(tops) <= n_top + 1, f"{name}: the drawn one is among them", tops)
            tally.equal(logprob, max(tops.values()), f"{name}: greedy is best")
        for token, begin in zip(got.tokens, got.text_offset):
            if "\ufffd" not in choice.text + token:
                tally.equal(choice.text[begin:begin + len(token)], token, f"{name}: offsets point into the text")
        rows = [e.choices[0].logprobs for e in caller.stream(complete(logprobs=n_top, stream=True)) if e.choices[0].logprobs]
        tally.equal(sum((row.tokens for row in rows), []), got.tokens, f"{name}: streamed tokens")
        tally.equal(sum((row.token_logprobs for row in rows), []), got.token_logprobs, f"{name}: streamed values")
        tally.equal(sum((row.text_offset for row in rows), []), got.text_offset, f"{name}: streamed offsets")
    tally.equal(caller.ask(complete()).choices[0].logprobs, None, f"{name}: null unless asked for")


# ---- prompts ------------------------------------------------------------------------------------


def check_prompts(caller, tally):
    ids = caller.raw("post", "/tokenize", body={"content": "Once upon a time"}).json()["tokens"]
    text = text_of(caller.ask(complete()).choices[0])
    for name, prompt in (("ids", ids), ("a list", ["Once upon a time"]), ("lists of ids", [ids])):
        tally.equal(text_of(caller.ask(complete(prompt)).choices[0]), text, f"a prompt as {name}, {caller.name}")
    several = caller.ask(complete(["Once upon a time", "The sea"], n=2))
    tally.equal([c.index for c in several.choices], [0, 1, 2, 3], f"prompts times n, {caller.name}")
    tally.equal([text_of(c) for c in several.choices[:2]], [text] * 2, f"index is prompt times n plus i, {caller.name}")
    parts = [{"role": "user", "content": [{"type": "text", "text": "Write a short story "}, {"type": "text", "text": "about the sea."}]}]
    want = text_of(caller.ask(chat()).choices[0])
    tally.equal(text_of(caller.ask(chat(parts)).choices[0]), want, f"parts are joined, {caller.name}")
    system, developer = ([{"role": role, "content": "Be brief."}, *QUESTION] for role in ("system", "developer"))
    tally.equal(text_of(caller.ask(chat(developer)).choices[0]), text_of(caller.ask(chat(system)).choices[0]),
                f"developer is the newer name of system, {caller.name}")
    n_prompt = caller.ask(complete(ids, max_tokens=1)).usage.prompt_tokens
    tally.check(n_prompt in (len(ids), len(ids) + 1), f"usage counts the prompt, {caller.name}", (n_prompt, len(ids)))
    caller.ask(complete(ids))
    for salt, want in ((None, n_prompt - 1), ("another", 0)):
        cached = caller.ask(complete(ids, extra_body={"cache_salt": salt and salt + caller.name})).usage.prompt_tokens_details.cached_tokens
        tally.equal(cached, want, f"cached tokens with salt {salt}, {caller.name}")


# ---- the other routes ---------------------------------------------------------------------------


def check_routes(caller, tally):
    name = caller.name
    models = caller.stream(lambda c: c.models.list()) if name == "plain" else caller.ask(lambda c: listed(c))
    tally.equal([(m.id, m.object, m.owned_by) for m in models], [(NAME, "model", "local")], f"models, {name}")
    tally.check(models[0].created > 1500000000 and models[0].max_model_len > 0, f"models: created and length, {name}", models[0])
    for asked in (NAME, "default"):
        tally.equal(caller.ask(lambda c: c.models.retrieve(asked)).id, NAME, f"model {asked}, {name}")

    for field in ("content", "prompt"):
        ids = caller.raw("post", "/tokenize", body={field: "The sea <|im_end|>"}).json()["tokens"]
        text = caller.raw("post", "/detokenize", body={"tokens": ids}).json()["content"]
        tally.equal(text, "The sea <|im_end|>", f"/tokenize of {field} and back, {name}")
        plain = caller.raw("post", "/tokenize", body={field: "The sea <|im_end|>", "parse_special": False}).json()["tokens"]
        tally.check(len(plain) > len(ids), f"parse_special false: markup is text, {name}", (plain, ids))
    opened, closed = (caller.raw("post", "/apply-template", body={"messages": QUESTION, "add_generation_prompt": on}).json()["prompt"]
                      for on in (True, False))
    tally.check(opened.startswith(closed) and opened != closed and QUESTION[0]["content"] in closed, f"/apply-template, {name}", opened)
    shown = caller.ask(complete(opened, max_tokens=1)).usage.prompt_tokens
    tally.equal(shown, caller.ask(chat(max_tokens=1)).usage.prompt_tokens, f"what /apply-template shows is what chat sends, {name}")

    tally.equal(caller.raw("get", "/health").json(), {"status": "ok", "state": "ready", "running": 0, "waiting": 0}, f"/health, {name}")
    tally.equal(caller.raw("get", "/ready").json(), {"status": "ready"}, f"/ready, {name}")
    before = counter(caller, "vllm:generation_tokens_total")
    caller.ask(complete(max_tokens=7, extra_body={"ignore_eos": True}))
    tally.equal(counter(caller, "vllm:generation_tokens_total"), before + 7, f"/metrics counts what was written, {name}")


async def listed(client):
    return [model async for model in client.models.list()]


def counter(caller, name):
    lines = caller.raw("get", "/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((name + " ", name + "{")))


def check_raw(caller, tally):
    """What travels in headers."""
    if caller.name != "plain":
        return
    reply = caller.ask(lambda c: complete(extra_headers={"X-Request-Id": "mine-7"})(c.with_raw_response))
    tally.equal(reply.headers["x-request-id"], "mine-7", "the client's own request id comes back")
    reply = caller.ask(lambda c: chat(stream=True)(c.with_raw_response))
    got = {name: reply.headers.get(name) for name in ("content-type", "cache-control", "x-accel-buffering")}
    tally.equal(got, {"content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no"}, "headers of a stream")
    reply.http_response.close()


# ---- the context, and who leaves ----------------------------------------------------------------


def check_context(args, tally):
    """KV-10: the context cuts an answer with "length", also one without an end."""
    with Server(args, "--context", "300") as server, callers(server) as both:
        for caller in both:
            full = caller.ask(complete([5] * 290, max_tokens=100, extra_body={"ignore_eos": True}))
            tally.equal(full.choices[0].finish_reason, "length", f"the context is full, {caller.name}")
            tally.check(290 < full.usage.total_tokens <= 301, f"and not passed, {caller.name}", full.usage)
            events = caller.stream(chat(stream=True, max_tokens=None, extra_body={"ignore_eos": True}))
            tally.equal(events[-1].choices[0].finish_reason, "length", f"a chat without max_tokens ends there, {caller.name}")


def check_leaving(args, tally):
    with Server(args, "--inject", "slow-step:4") as server, callers(server) as both:
        plain, asynchronous = both
        endless = {"stream": True, "max_tokens": 400, "extra_body": {"ignore_eos": True}}
        stream = plain.ask(chat(**endless))
        next(iter(stream))
        tally.equal(server.inside()[0], 1, "a stream has a place")
        stream.close()
        tally.check(is_empty(server), "a closed stream frees it within a step")

        async def leave():
            async with await chat(**endless)(asynchronous.client) as events:
                async for _ in events:
                    break

        asynchronous.loop.run_until_complete(leave())
        tally.check(is_empty(server), "a stream that is left frees it within a step")


def is_empty(server):
    for _ in range(300):  # a step takes a second here
        if server.inside() == (0, 0):
            return True
        time.sleep(0.01)
    return False


def main():
    args = arguments(__doc__)
    tally = Tally()
    with key_file() as keys, Server(args, "--api-key-file", keys, "--model-id", NAME) as server:
        with callers(server) as both:
            for caller in both:
                for kind, call in CALLS.items():
                    check_shape(caller, call, kind, tally)
                    check_alike(caller, call, kind, tally)
                    check_ends(caller, call, kind, tally)
                check_chat_logprobs(caller, tally)
                check_completion_logprobs(caller, tally)
                check_prompts(caller, tally)
                check_routes(caller, tally)
                check_raw(caller, tally)
        tally.equal(server.stop(), 0, "serve ends in peace")
    check_context(args, tally)
    check_leaving(args, tally)
    tally.finish()


if __name__ == "__main__":
    main()
