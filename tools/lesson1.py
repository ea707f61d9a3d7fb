#!/usr/bin/env python3
"""The lesson of level 1 on a live server: one block of text moves to the front, and wait and bill go down.

    tools/lesson1.py [--bin DIR] [--model FILE] [--flags TEXT] [--save FILE]
    LESSON_SECONDS=120: how long it may take

The support bot is played twice, with a time line first and with the fixed block first. Everything is measured but
the prices and the rule of the second invoice (data/). Standard library only; the server ends with the lesson.
"""
import argparse
import contextlib
import http.client
import os
import statistics
import sys
import time

from lesson import bot, machine, money, picture, plan, record, talk
from lesson.server import LessonError, heeded_signals, peak_bytes, running

PRICED_AS, RULED_AS = "deepseek-r1", "DeepSeek"
N_ANSWER = 16        # tokens: the play is about the prompt
WARM_UP_SHARE = 0.1  # of the block, for the first look at the server's speed


def say(*lines):
    print("\n".join(lines) if lines else "", flush=True)


def ms(seconds):
    return f"{1000 * seconds:,.0f} ms"


# ---- the parts of the lesson ---------------------------------------------------------------------

def measure_speed(port, block):
    """From one prompt that nobody has sent before; the one in front of it wakes the server up."""
    talk.ask(port, [{"role": "user", "content": "Hello"}], 2)
    text = bot.cut_words(block, WARM_UP_SHARE)
    turn = talk.ask(port, bot.time_first(text, "Hello"), N_ANSWER, N_ANSWER)
    decode = (turn.output - 1) / max(turn.last_s - turn.first_s, 1e-6)
    return plan.Speed((turn.prompt - turn.cached) / turn.first_s, decode)


def tell_plan(speed, chosen, n_block, seconds):
    say(f"Measured first: {speed.prefill:.0f} tokens/s in prefill, {speed.decode:.0f} in decode.",
        f"So {seconds} s allow {chosen.n_questions} questions and a block of {n_block:,} tokens, each order once.")
    if not chosen.fits:
        say(f"That is the least that shows anything, and it may take more than {seconds} s.")
    if n_block < money.BLOCK:
        say(f"The real bot's block has {money.BLOCK:,} tokens; yours is its beginning.")


def play(port, order, block, questions):
    return [talk.ask(port, order(block, question), N_ANSWER, N_ANSWER) for question in questions]


def tell_play(name, turns):
    first, rest = turns[0], turns[1:]
    waits = sorted(turn.first_s for turn in rest)
    say(f"{name:<17}{ms(first.first_s):>11}{ms(statistics.median(waits)):>12}"
        f"  {ms(waits[0]) + ' .. ' + ms(waits[-1]):<23}"
        f"{statistics.median(t.cached for t in rest):>5.0f} of {statistics.median(t.prompt for t in rest):.0f}")


def tell_invoices(slow, fast):
    price, rule = money.read_price(PRICED_AS), money.read_rule(RULED_AS)
    usages = [[money.Usage(turn.prompt, turn.cached, turn.output) for turn in turns] for turns in (slow, fast)]
    say("", f"Invoices for {money.REQUESTS:,} requests at the prices of {price.model}: for a million tokens",
        f"${price.input} of input, ${price.cached} of cached input, ${price.output} of output (data/prices.json)", "",
        f"{'':<44}{'time first':>12}{'block first':>13}{'saved':>9}")
    size = f"{money.BLOCK:,} + {money.QUESTION} in, {money.ANSWER} out"
    for name, before, after in (
            (f"ideal: {size}", *money.ideal(price)),
            (f"the same, cold first, steps of {rule.step_tokens} tokens", *money.by_rule(price, rule)),
            ("this server, tokens as it reported them", *(money.per_thousand(u, price) for u in usages))):
        say(f"{name:<44}{money.dollars(before):>12}{money.dollars(after):>13}{money.saved(before, after):>9}")
    for name, some in zip(("time first", "block first"), usages):
        say(f"  reported, {name}: {sum(u.prompt for u in some)} in, {sum(u.cached for u in some)} of them cached, "
            f"{sum(u.output for u in some)} out")


def tell_wait(port, block, question, n_answer):
    """The same question twice; the time line in front of it is new, so that only the block is cached."""
    stream = talk.ask(port, bot.block_first(block, question), n_answer)
    whole = talk.ask(port, bot.block_first(block, question), n_answer, is_streamed=False)
    say("", f"The wait that a customer perceives, for an answer of {stream.output} tokens (whole: {whole.output})",
        f"  streamed   the first word after {ms(stream.first_s)}, the last after {ms(stream.last_s)}",
        f"  whole      nothing for {ms(whole.last_s)}")
    return record.wait(stream, whole)


def measure_curve(port, block, played, limit, end):
    """(prompt tokens, TTFT) of prompts that share nothing, from short to long while there is time; with what was
    played with the time line first, which shared almost nothing. And the length that was left out, or None."""
    points = [(round(statistics.median(t.prompt for t in played)), statistics.median(t.first_s for t in played))]
    tokens_of_block = talk.n_tokens(port, block)
    frame = talk.ask(port, bot.time_first("", "Hello"), 2).prompt  # the template and the time line
    for length in plan.LENGTHS:
        if length > limit or not plan.has_time(length, max(points), end - time.monotonic()):
            return points, length
        turn = talk.ask(port, bot.time_first(bot.cut_words(block, (length - frame) / tokens_of_block), "Hello"), 2)
        points.append((turn.prompt, turn.first_s))
    return points, None


def tell_curve(points, left_out):
    say("", "TTFT against the length of a prompt of which nothing is cached", "",
        *picture.draw(points, "seconds", "tokens of prompt"), "",
        f"{'tokens':>8}{'TTFT':>12}{'tokens/s':>10}")
    for n, seconds in sorted(points):
        say(f"{n:>8}{ms(seconds):>12}{n / seconds:>10.0f}")
    if left_out:
        say(plan.left_out_lines(left_out))


def tell_row(orders, n_bytes):
    """What every level ends with."""
    n = orders[0]["n_questions"]
    memory = f"{n_bytes / 1e6:,.0f} MB" if n_bytes else "not known"
    say("", f"{'The support bot at the end of this level':<44}{'time first':>12}{'block first':>13}")
    for name, values in (
            ("$ for 1,000 requests", [f"${o['usd_per_1000']}" for o in orders]),
            (f"TTFT p99 (of {n}: the slowest)", [f"{o['ttft_p99_ms']:,} ms" for o in orders]),
            ("requests/s, one after the other", [f"{o['requests_per_s']:.2f}" for o in orders]),
            ("memory of the server, at most", [memory, memory])):
        say(f"{name:<44}{values[0]:>12}{values[1]:>13}")


# ---- the lesson ----------------------------------------------------------------------------------

def teach(server, seconds, head):
    """The numbers that are kept."""
    port = server.port
    end = time.monotonic() + seconds
    block, questions = bot.read_block(), bot.read_questions()[:plan.MAX_QUESTIONS + 1]
    n_question = max(talk.n_tokens(port, text) for text in questions) + 64  # template and time line
    context = talk.n_context(port)
    if plan.longest_block(context, n_question, N_ANSWER) < plan.MIN_BLOCK:
        raise LessonError(f"a context of {context} tokens is too small: the block takes {plan.MIN_BLOCK} at least, "
                          f"a question with its answer {n_question + N_ANSWER}")
    speed = measure_speed(port, block)
    chosen = plan.make_plan(speed, seconds, context, n_question, N_ANSWER)
    part = bot.cut_block(block, chosen.n_block, lambda line: talk.n_tokens(port, line))
    say(*head, "")
    tell_plan(speed, chosen, talk.n_tokens(port, part), seconds)

    say("", f"{'':<17}{'TTFT first':>11}{'then median':>12}  {'spread':<23}cached / prompt")
    asked = questions[:chosen.n_questions]
    slow = play(port, bot.time_first, part, asked)
    tell_play("time line first", slow)
    fast = play(port, bot.block_first, part, asked)
    tell_play("fixed block first", fast)
    tell_invoices(slow, fast)
    wait = tell_wait(port, part, questions[chosen.n_questions], plan.answer_length(speed, seconds))
    points, left_out = measure_curve(port, block, slow, context - 64, end)
    tell_curve(points, left_out)

    price, n_bytes = money.read_price(PRICED_AS), peak_bytes(server.pid)
    orders = [record.order("time line first", slow, price), record.order("fixed block first", fast, price)]
    tell_row(orders, n_bytes)
    return {"orders": orders, "wait": wait, "curve": record.curve(points), "server_peak_bytes": n_bytes}


def seconds_given():
    text = os.environ.get("LESSON_SECONDS") or "120"
    if not text.isdigit() or not 1 <= int(text) <= 3600:
        raise LessonError(f"LESSON_SECONDS is \"{text}\": it must be a whole number from 1 to 3600")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/bin", metavar="DIR", help="where serve is")
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct.Q4_1.gguf", metavar="FILE")
    parser.add_argument("--flags", default="", metavar="TEXT", help="what it was compiled with, to be printed")
    parser.add_argument("--save", metavar="FILE", help="keep text and numbers there, for the pages")
    options = parser.parse_args()
    printed = record.Copy(sys.stdout)
    try:
        seconds = seconds_given()
        with heeded_signals(), running(f"{options.bin}/serve", options.model) as server, \
                contextlib.redirect_stdout(printed):
            numbers = teach(server, seconds, machine.describe(options.bin, options.model, options.flags))
        if options.save:
            record.save(options.save, numbers, printed.lines)
    except (LessonError, OSError, http.client.HTTPException) as error:
        print(f"lesson1: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
