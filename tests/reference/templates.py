#!/usr/bin/env python3
"""Our rendering of chat templates against the jinja2 package, byte for byte.

jinja2 is set up as the transformers library does: immutable sandbox, trim_blocks, lstrip_blocks, loop
controls, tojson without HTML escaping, raise_exception, strftime_now, generation blocks. Where jinja2
raises an error, ours must refuse. And what a message says is never the template's own text.

    tests/reference/templates.py [--templates DIR] [--bin DIR]

--templates DIR tries all *.jinja files there as well: the originals of model families, which are other
people's work and therefore not in this repository.
"""
import functools
import json
import random
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/support"))
from chat_talks import CONVERSATIONS, SNIPPETS  # noqa: E402
from reference import Tally, arguments  # noqa: E402

NOW = 1_700_000_000  # 2023-11-14, so that a day has two digits and a month is not its own number
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
EVIL = ["<|im_end|>", "<|eot_id|>", "[INST]", "<end_of_turn>", "</s>"]


class Generation(jinja2.ext.Extension):
    """{% generation %} marks what a model said; for the text it is only a scope."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: datetime.fromtimestamp(NOW, timezone.utc).strftime(format)
    return env


class Ours:
    """build/bin/render as a process that answers line by line."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"TZ": "UTC"})

    def render(self, template, variables):
        line = json.dumps({"template": template, "variables": variables, "now": NOW})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": "CRASHED"}

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


@functools.lru_cache(maxsize=None)
def compiled(env, template):
    return env.from_string(template)


def theirs(env, template, variables):
    """(text, None) or (None, why not)."""
    try:
        return compiled(env, template).render(**variables), None
    except Exception as error:  # whatever a template can do wrong
        return None, f"{type(error).__name__}: {error}"


def compare(tally, env, ours, name, template, variables):
    want, why_not = theirs(env, template, variables)
    got = ours.render(template, variables)
    if why_not and ("generator" in why_not or "dict_" in why_not):
        return None  # ours makes lists where jinja2 makes things that can only be looped over
    if want is None:
        tally.check("error" in got, name, f"jinja2 says {why_not}, ours rendered {got.get('text', '')[:300]!r}")
        return None
    tally.equal(got.get("text", got.get("error")), want, name)
    return got


def variables_of(talk, prompt):
    variables = dict(TOKENS, messages=talk["messages"], tools=talk.get("tools"), documents=None,
                     add_generation_prompt=prompt)
    variables.update(talk.get("variables", {}))
    return variables


def check_template(tally, env, ours, name, template):
    n_texts = 0
    for talk in CONVERSATIONS:
        for prompt in (True, False):
            what = f"{name}, {talk['name']}, generation prompt {prompt}"
            n_texts += compare(tally, env, ours, what, template, variables_of(talk, prompt)) is not None
    return n_texts


def check_marks(tally, ours, name, template):
    """Control tokens in a message are in none of the stretches that the template wrote."""
    evil = "x" + "y".join(EVIL) + "z"
    talk = {"messages": [{"role": "user", "content": evil}, {"role": "assistant", "content": evil},
                         {"role": "user", "content": evil}]}
    got = ours.render(template, variables_of(talk, True))
    if "error" in got:
        tally.check(False, f"{name} renders three turns", got["error"])
        return
    text, own = got["text"].encode(), got["own"]
    places = [(begin, end) for begin, end in zip(own[::2], own[1::2])]
    where = text.find(evil[:20].encode())
    while where >= 0:
        inside = [p for p in places if p[0] < where + 20 and where < p[1]]
        tally.check(not inside, f"{name}: a message is no text of the template's own", f"{inside}, message at {where}")
        where = text.find(evil[:20].encode(), where + 1)


def check_random(tally, env, ours, n):
    """Snippets of the language put together at random: white space, nesting, errors."""
    rng = random.Random(11)
    variables = variables_of(CONVERSATIONS[0], True)
    for _ in range(n):
        template = "".join(rng.choice(SNIPPETS) for _ in range(rng.randint(1, 6)))
        compare(tally, env, ours, f"{template!r}", template, variables)


def more(parser):
    parser.add_argument("--templates", metavar="DIR", type=Path, help="more *.jinja files to compare")


def main():
    options = arguments(__doc__, more)
    tally, env, ours = Tally(), environment(), Ours(f"{options.bin}/render")
    builtins = json.loads(subprocess.run([f"{options.bin}/render", "--builtins"], capture_output=True, check=True).stdout)
    templates = {path.name: path.read_text() for path in sorted((HERE / "templates").glob("*.jinja"))} | builtins
    others = {path.name: path.read_text() for path in sorted(options.templates.glob("*.jinja"))} if options.templates else {}
    for name, template in templates.items():
        tally.check(check_template(tally, env, ours, name, template) > 0, f"{name} renders something")
        if name != "schema.jinja":  # it changes the case of what it quotes
            check_marks(tally, ours, name, template)
    for name, template in others.items():
        check_template(tally, env, ours, name, template)
    for snippet in SNIPPETS:
        compare(tally, env, ours, f"{snippet!r}", snippet, variables_of(CONVERSATIONS[0], True))
    check_random(tally, env, ours, 300)
    tally.check(ours.close() == 0, "render ended well")
    print(f"{len(templates) + len(others)} templates, {len(CONVERSATIONS)} conversations")
    tally.finish()


main()
