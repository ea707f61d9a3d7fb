#!/usr/bin/env python3
"""Every field of docs/api.md at its limits, through the official `openai` client: the edge is taken, what lies
beyond is a BadRequestError that names the field and the limit; streamed or not, plain or asynchronous.

    .venv/bin/python tests/reference/openai_limits.py [--model FILE] [--bin DIR]

The page is read: each of its fields must have a row here, and each that it calls refused must be refused.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from openai_calls import Refusals, bad, callers, chat, complete  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

PAGE = ROOT / "docs/api.md"
ROUTES = {"chat": chat, "completions": complete}
CHAT, COMPLETIONS = ("chat",), ("completions",)
AT_ONCE = {"logit_bias": {"0": 100}, "stop_token_ids": [0]}  # ends with the first token, whatever else is asked
TURN = {"role": "user", "content": "x"}
NO_ID = 1 << 22  # more than any vocabulary has


class Field(NamedTuple):
    name: str
    taken: list            # values, or (value, other fields that it needs)
    refused: list          # (value, what the message says of it)
    routes: tuple = tuple(ROUTES)
    param: str = ""        # if it is not the name


FIELDS = [
    # TPL-06: no messages
    Field("messages", [[TURN], [{"role": "developer", "content": "x"}, {"role": "assistant", "content": None}],
                       [{"role": "user", "content": [{"type": "text", "text": "x"}]}]],
          [([], "at least one message"), ("x", "at least one message"), ([TURN] * 4097, "at most 4096")], CHAT),
    Field("messages", [], [([{"role": "pope", "content": "x"}], "must be system, developer")], CHAT, "messages[0].role"),
    Field("messages", [], [([TURN, {"role": "user"}], "string or an array")], CHAT, "messages[1].content"),
    Field("messages", [], [([{"role": "user", "content": [{"type": kind}]}], "reads only text")
                           for kind in ("image_url", "input_audio", "file")], CHAT, "messages[0].content"),
    Field("messages", [], [([{"role": "assistant", "tool_calls": [{"id": "x"}]}], "tools")], CHAT, "messages[0].tool_calls"),
    Field("prompt", ["x", ["x", "x"], [1, 2], [[1], [2]], ["x"] * 128],
          [([], "not empty"), ([[]], "not empty"), (3, "must be a string"), ([NO_ID], "token ids from 0"), ([-1], "token ids from 0"),
           (["x"] * 129, "at most 128")], COMPLETIONS),
    *(Field(name, [1, (1 << 24, AT_ONCE)], [(0, "from 1 to"), (-5, "from 1 to"), ((1 << 24) + 1, "16777216"), (1 << 40, "16777216"),
                                            ("x", "integer")]) for name in ("max_tokens", "max_completion_tokens")),
    Field("temperature", [0, 2, 0.5], [(-0.1, "from 0 to 2"), (2.1, "from 0 to 2"), ("hot", "number")]),
    Field("top_p", [0, 1], [(-0.1, "from 0 to 1"), (1.1, "from 0 to 1")]),
    Field("min_p", [0, 1], [(-0.1, "from 0 to 1"), (1.1, "from 0 to 1")]),
    Field("top_k", [-1, 0, 1, (1 << 31) - 1], [(-2, "from -1"), (1 << 31, "2147483647")]),
    Field("frequency_penalty", [-2, 2], [(-2.1, "from -2 to 2"), (2.1, "from -2 to 2")]),
    Field("presence_penalty", [-2, 2], [(-2.1, "from -2 to 2"), (2.1, "from -2 to 2")]),
    Field("repetition_penalty", [0.01, 100], [(0, "from 0.01 to 100"), (101, "from 0.01 to 100")]),
    Field("logit_bias", [{}, {"0": -100, "1": 100}, {str(i): 1 for i in range(512)}],
          [({str(i): 1 for i in range(1025)}, "at most 1024"), ({"0": 101}, "-100 to 100"), ({"0": "x"}, "-100 to 100"),
           ({str(NO_ID): 1}, "token ids from 0"), ({"01": 1}, "token ids from 0"), ([], "object")]),
    Field("seed", [0, -1 << 63, (1 << 63) - 1], [(1.5, "integer"), ("x", "integer")]),
    Field("n", [1, 128], [(0, "from 1 to 128"), (129, "from 1 to 128"), ("two", "integer")]),
    Field("stop", [None, "a", ["a"] * 4, "a" * 1024], [("", "1 to 1024 bytes"), (["a"] * 5, "4"), ("a" * 1025, "1 to 1024 bytes"),
                                                       ([1], "strings")]),
    Field("stop_token_ids", [[], [0] * 64], [([0] * 65, "at most 64"), ([NO_ID], "token ids from 0"), (3, "array")]),
    Field("min_tokens", [0, 1], [(-1, "from 0"), (2, "must not be above max_tokens")]),
    *(Field(name, [True, False, None], [("yes", "true or false")])
      for name in ("ignore_eos", "include_stop_str_in_output", "skip_special_tokens")),
    Field("logprobs", [True, False], [("yes", "true or false")], CHAT),
    Field("logprobs", [0, 5, None], [(-1, "from 0 to 5"), (6, "from 0 to 5"), (True, "integer")], COMPLETIONS),
    Field("top_logprobs", [0, (20, {"logprobs": True})], [(21, "from 0 to 20"), (-1, "from 0 to 20"), (1, "needs logprobs")], CHAT),
    Field("stream", [], [("yes", "true or false")]),
    Field("stream_options", [None, {}, {"include_usage": True}], [(3, "object")]),
    Field("stream_options", [], [({"include_usage": 1}, "true or false")], param="stream_options.include_usage"),
    Field("chat_template_kwargs", [{}, {"mood": [1, {"x": None}]}], [([], "object")], CHAT),
    Field("add_generation_prompt", [True, False], [("yes", "true or false")], CHAT),
    Field("cache_salt", ["", "salt"], [(3, "string")]),
    Field("model", [], [(None, "must be given"), (3, "string")]),
    Field("prompt", [], [(["x"] * 65, "130 answers in all; the limit is 128")], COMPLETIONS, "prompt"),
]

# What asks for something that is not built. tool_choice and best_of may say that nothing is wanted.
WANTED = {
    "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required", "functions": [{"name": "f"}],
    "function_call": {"name": "f"}, "response_format": {"type": "json_object"}, "grammar": "root ::= x", "json_schema": {},
    "guided_choice": ["x"], "guided_grammar": "x", "guided_json": {}, "guided_regex": "x", "structured_outputs": {}, "echo": True,
    "suffix": "x", "best_of": 2, "continue_final_message": True, "chat_template": "x", "documents": [{}], "prompt_logprobs": 1,
    "use_beam_search": True, "web_search_options": {}, "modalities": ["audio"], "audio": {},
}
HARMLESS = {"tools": [], "tool_choice": "none", "functions": [], "response_format": {"type": "text"}, "grammar": "", "echo": False,
            "suffix": None, "best_of": 1, "documents": [], "modalities": ["text"], "user": "u", "metadata": {"a": "b"},
            "store": False, "service_tier": "auto", "reasoning_effort": "low", "a field of nobody": {"x": 1}}


def asked(route, streamed, **fields):
    return ROUTES[route](stream=streamed, extra_body={"max_tokens": 1, **fields})


def check_taken(field, both, tally):
    plain, asynchronous = both
    for value in field.taken:
        value, others = value if isinstance(value, tuple) else (value, {})
        fields = {field.name: value, **others}
        for route in field.routes:
            name = f"{field.name} = {value!r:.60} of {route}"
            whole = plain.ask(asked(route, False, **fields))
            tally.check(whole.choices and whole.usage.completion_tokens >= 0, name, whole)
            events = asynchronous.stream(asked(route, True, **fields))
            reasons = [c.finish_reason for e in events for c in e.choices if c.finish_reason]
            tally.equal(reasons, [c.finish_reason for c in whole.choices], f"{name}, streamed")


def check_refused(field, both, refusals):
    for value, words in field.refused:
        also = {"n": 2} if "answers in all" in words else {}
        for route in field.routes:
            for stream in ([False, True] if field.name != "stream" else [False]):
                for caller in both:
                    refusals.expect(caller, asked(route, stream, **{field.name: value, **also}), bad(field.param or field.name),
                                    words, name=f"{field.name} = {value!r:.60} of {route}, stream {stream}")


def check_unbuilt(both, refusals):
    for name, value in WANTED.items():
        for route in ROUTES:
            for caller in both:
                refusals.expect(caller, asked(route, False, **{name: value}), bad(name), "does not offer", name=f"{name} of {route}")
    for name, value in HARMLESS.items():
        for route in ROUTES:
            whole = both[0].ask(asked(route, False, **{name: value}))
            refusals.tally.check(whole.choices, f"{name} = {value!r} asks for nothing", whole)


# ---- the page -----------------------------------------------------------------------------------


def fields_of_page():
    """The names in the first column of the table of fields, and those of the paragraph below it."""
    section = PAGE.read_text(encoding="utf-8").split("\n## Fields\n")[1].split("\n## ")[0]
    columns = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    paragraph = re.search(r"^Known, and refused.*?\n\n", section + "\n\n", re.M | re.S).group(0).split("Accepted without effect")[0]
    names = {name for column in columns for name in re.findall("`([a-z_]+)(?:\\.[a-z_]+)?`", column)}
    return names, set(re.findall("`([a-z_*]+)`", paragraph)) - {"auto", "none", "n", "tool_calls"}


def check_page(tally):
    fields, refused = fields_of_page()
    tally.equal(fields ^ {f.name for f in FIELDS}, {"model"}, f"fields of {PAGE.name}, and those that are checked")
    named = {"guided_*" if name.startswith("guided_") else name for name in WANTED}
    tally.equal(named - refused, set(), f"refused fields that {PAGE.name} does not name")
    tally.equal(refused - named, set(), f"fields that {PAGE.name} calls refused, and are not checked")


def main():
    args = arguments(__doc__)
    tally = Tally()
    refusals = Refusals(tally)
    check_page(tally)
    with Server(args, "--log-level", "error") as server, callers(server) as both:
        for field in FIELDS:
            check_taken(field, both, tally)
            check_refused(field, both, refusals)
        check_unbuilt(both, refusals)
    tally.finish()


if __name__ == "__main__":
    main()
