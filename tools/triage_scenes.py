#!/usr/bin/env python3
"""Plays the scenes that the tickets of data/triage show: requests to a serve of its own, and its answers' usage.
Standard library only.

    tools/triage_scenes.py SCENE [--bin DIR] [--model FILE]

    clock-first, block-first   two questions to the support bot, a minute apart: a line of usage for each
    complaint                  three letters, and whether each is a complaint: a line of usage for each
    whole, streamed            one answer, and when it was there
    request-1, request-2       two requests with a short fixed block, as they are sent; no server
    morning, after-morning     eight ask at once where three may wait: the log, then /metrics
    lights, heartbeat          a server whose engine is stuck: what a monitor asks, then its steps
    old-machine, new-machine   one question before and after a move: the answer, and its line in the log
    old-words, new-words       that question with all that the template puts around it
    memory, cache              letters short and long: memory in RAM, then the KV cache
    gateway FILE               lines of usage as a gateway writes them that does not know who counts how; no server

Tokens and texts are the same each time; times are not.
"""
import argparse
import http.client
import json
import sys

from audit_requests import TIMES
from lesson import bot, talk
from lesson.server import LessonError, heeded_signals, running
from triage import serving

BLOCK_LETTERS = 800  # of the block: what a small machine reads in seconds
N_ANSWER = 8         # tokens: usage is what is wanted
N_WAITED = 96        # tokens: long enough to be waited for
YES_OR_NO = "Is this letter a complaint? Answer with one word, yes or no.\n\n"
WAITED_FOR = "A customer asks how a kettle works. Explain it."


def message(role, text):
    return {"role": role, "content": text}


def block():
    return bot.cut_block(bot.read_block(), BLOCK_LETTERS, len)


def clock_first():
    return [[message("system", f"It is {time}.\n{block()}"), message("user", question)]
            for time, question in zip(TIMES, bot.read_questions())]


def block_first():
    return [[message("system", block()), message("user", f"It is {time}.\n{question}")]
            for time, question in zip(TIMES, bot.read_questions())]


def complaints():
    letters = [text.split("\n\n", 1)[1] for text in bot.read_questions()[:3]]
    return [[message("user", YES_OR_NO + letter)] for letter in letters]


def usage_line(turn):
    return json.dumps({"prompt_tokens": turn.prompt, "completion_tokens": turn.output,
                       "prompt_tokens_details": {"cached_tokens": turn.cached}})


def tell_usage(requests, n_answer):
    def tell(port):
        for messages in requests():
            print(usage_line(talk.ask(port, messages, n_answer, n_answer)))
    return tell


def ms(seconds):
    return f"{1000 * seconds:,.0f} ms"


def tell_wait(is_streamed):
    def tell(port):
        turn = talk.ask(port, [message("user", WAITED_FOR)], N_WAITED, N_WAITED, is_streamed)
        print(f'request  {{"max_tokens": {N_WAITED}, "temperature": 0, "stream": {json.dumps(is_streamed)}}}')
        print(f"usage    {usage_line(turn)}")
        print(f"seen     the first word after {ms(turn.first_s or turn.last_s)}, the last after {ms(turn.last_s)}")
    return tell


def tell_request(number):
    """One of two requests that share a short block, on lines of their own."""
    messages = [message("system", block()), message("user", bot.read_questions()[number])]
    print(json.dumps({"model": "default", "messages": messages}, indent=1))


def tell_gateway(path):
    """Takes what the provider counted inside the input for something beside it: the cached tokens come twice."""
    with open(path, encoding="utf-8") as lines:
        for usage in map(json.loads, lines):
            print(json.dumps({"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                              "cache_read_input_tokens": usage["prompt_tokens_details"]["cached_tokens"]}))


ON_A_SERVER = {"clock-first": tell_usage(clock_first, N_ANSWER), "block-first": tell_usage(block_first, N_ANSWER),
               "complaint": tell_usage(complaints, 1), "whole": tell_wait(False), "streamed": tell_wait(True)}
ALONE = {"request-1": lambda _: tell_request(1), "request-2": lambda _: tell_request(2), "gateway": tell_gateway}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", choices=[*ON_A_SERVER, *serving.SCENES, *ALONE])
    parser.add_argument("file", nargs="?", metavar="FILE", help="of the scene gateway")
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where serve is")
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    options = parser.parse_args()
    if (options.scene == "gateway") != (options.file is not None):
        parser.error("a FILE belongs to the scene gateway, and to no other")
    try:
        if options.scene in ALONE:
            ALONE[options.scene](options.file)
        elif options.scene in serving.SCENES:
            flags, play = serving.SCENES[options.scene]
            with heeded_signals(), running(f"{options.bin}/serve", options.model, flags) as server:
                play(server)
        else:
            with heeded_signals(), running(f"{options.bin}/serve", options.model) as server:
                ON_A_SERVER[options.scene](server.port)
    except (LessonError, OSError, http.client.HTTPException) as error:
        print(f"triage_scenes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
