#!/usr/bin/env python3
"""Checks `ask` from outside: arguments, pipes, a terminal, and servers that misbehave.

    .venv/bin/python tests/reference/ask.py --bin build/bin

The server here is a script: it answers what the question tells it to, so each check reads like a
dialogue. Standard library only.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import overhead  # noqa: E402
import parrot_server  # noqa: E402
from parrot_server import Parrot  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from terminal import Terminal, has_terminals  # noqa: E402

DATA = ROOT / "data"
PRICES, RULES = DATA / "prices.json", DATA / "cache-rules.json"


def run(program, url, *options, stdin=None, env=None):
    """Exit status, standard output, standard error."""
    done = subprocess.run([program, "--base-url", url, *options], capture_output=True, text=True,
                          input=stdin, timeout=30, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def check_one_shot(tally, program, url):
    code, out, err = run(program, url, "Hello", "little", "parrot")
    tally.equal((code, out), (0, "Hello little parrot\n"), "words make a question")
    tally.check("TTFT " in err and "tokens/s, 9 prompt (4 cached) + 3 completion tokens" in err,
                "figures on standard error", err)
    request = Parrot.requests[-1]
    tally.equal(request["stream_options"], {"include_usage": True}, "usage is asked for")
    tally.equal(sorted(request), ["max_tokens", "messages", "model", "stream", "stream_options"],
                "nothing is sent that was not asked for, but a bound")
    tally.equal(request["max_tokens"], 512, "an answer that nobody bounded is bounded")
    run(program, url, "--max-tokens", "0", "Hello")
    tally.check("max_tokens" not in Parrot.requests[-1], "the bound can be left to the server", "")
    run(program, url, "--max-completion-tokens", "9", "Hello")
    request = Parrot.requests[-1]
    tally.equal((request.get("max_completion_tokens"), "max_tokens" in request), (9, False), "the bound's newer name")
    _, _, err = run(program, url, "--system", "It is 10:05. You answer the questions of a shop's customers.", "Hello")
    tally.check(err.startswith("ask: the system message says \"10:05.\" near its front"), "a clock in front", err)

    code, out, _ = run(program, url, stdin="from a pipe\n\n")
    tally.equal((code, out), (0, "from a pipe\n"), "a pipe is a question")
    run(program, url, stdin="from Windows\r\n\r\n")
    tally.equal(Parrot.requests[-1]["messages"][-1]["content"], "from Windows", "line ends at the end go")
    code, out, _ = run(program, url, stdin="line one\nline two")
    tally.equal(Parrot.requests[-1]["messages"][-1]["content"], "line one\nline two", "lines stay")

    run(program, url, "--model", "m", "--system", "Be a parrot", "--max-tokens", "7", "--temperature",
        "0", "--seed", "0", "--", "-x")
    tally.equal(Parrot.requests[-1],
                {"model": "m", "stream": True, "stream_options": {"include_usage": True},
                 "max_tokens": 7, "temperature": 0.0, "seed": 0,
                 "messages": [{"role": "system", "content": "Be a parrot"},
                              {"role": "user", "content": "-x"}]}, "options reach the server")

    code, out, _ = run(program, url, "--no-stream", "Привет 🦜")
    tally.equal((code, out), (0, "Привет 🦜\n"), "an answer in one piece")
    tally.equal(Parrot.requests[-1]["stream"], False, "no stream is asked for")


def check_overhead(tally, program, url):
    """make overhead compares the same request."""
    port = int(url.split(":")[2].split("/")[0])
    for name, (command, has_text) in overhead.commands(program, port).items():
        done = subprocess.run(command, capture_output=True, timeout=30)
        tally.check(done.returncode == 0 and has_text(done.stdout), f"{name} of make overhead", done)
    tally.equal(Parrot.bodies[-1], Parrot.bodies[-2], "curl and ask send the same bytes")


def check_json(tally, program, url):
    for options in ([], ["--no-stream"]):
        code, out, err = run(program, url, "--json", *options, "Hello")
        answer = json.loads(out)
        tally.equal((code, err), (0, ""), "JSON and nothing else")
        tally.equal(sorted(answer), ["answer", "finish_reason", "model", "tokens_per_s", "ttft_ms",
                                     "usage"], "keys of the document")
        tally.equal((answer["answer"], answer["finish_reason"], answer["model"]),
                    ("Hello", "stop", "parrot"), "answer in the document")
        tally.equal(answer["usage"], {"prompt_tokens": 9, "cached_tokens": 4, "completion_tokens": 3},
                    "usage in the document")
        tally.check(answer["ttft_ms"] > 0, "TTFT in the document", out)
        tally.equal(answer["tokens_per_s"] is None, options == ["--no-stream"],
                    "a rate only where there was a stream")
    code, out, _ = run(program, url, "--json", "cut")
    answer = json.loads(out)
    tally.equal((code, answer["answer"]), (1, "cut"), "what came before the cut is in the document")
    tally.check("without [DONE]" in answer["error"], "and what went wrong", out)


def check_failures(tally, program, url):
    code, out, err = run(program, url, "cut")
    tally.equal((code, out), (1, "cut\n"), "CLI-08: the text so far is kept, the status is not zero")
    tally.check("ask: http://127.0.0.1" in err and "without [DONE]" in err, "one line says why", err)
    code, out, err = run(program, url, "--retries", "0", "busy")
    tally.equal((code, out), (1, ""), "429")
    tally.check(err.endswith(": 429: too many parrots\n") and err.count("\n") == 1, "429 in one line", err)

    for options, stdin in [((), ""), ((), "\n"), (("--temperature", "3", "x"), None),
                           (("--seed", "-1", "x"), None), (("--nonsense", "x"), None)]:
        code, out, err = run(program, url, *options, stdin=stdin)
        tally.equal((code, out, err.count("\n")), (2, "", 1), f"usage: {options} {stdin!r}")
    code, out, err = run(program, url, stdin="a\0b")
    tally.equal(code, 1, "a zero byte is no question")
    code, out, err = run(program, "ftp://x", "Hello")
    tally.equal((code, err.count("\n")), (1, 1), "a wrong base URL")
    with open("/dev/full", "w") as full:
        code = subprocess.run([program, "--base-url", url, "Hello"], stdout=full,
                              stderr=subprocess.DEVNULL, timeout=30).returncode
    tally.equal(code, 1, "a full disk is a failure")


def check_keys(tally, program, url):
    with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
        file.write("sk-file\nsecond line\n")
        file.flush()
        environment = {"OPENAI_API_KEY": "sk-environment", "OPENAI_BASE_URL": url}
        run(program, url, "Hello")
        tally.equal(Parrot.keys[-1], None, "no key, no header")
        tally.equal(Parrot.prefix_keys[-1], None, "no prefix key, no header")
        run(program, url, "--prefix-key", "tenant-7", "Hello")
        tally.equal(Parrot.prefix_keys[-1], "tenant-7", "a prefix key is a header")
        code = subprocess.run([program, "Hello"], capture_output=True, timeout=30,
                              env={**os.environ, **environment}).returncode
        tally.equal((code, Parrot.keys[-1]), (0, "Bearer sk-environment"), "key and URL by environment")
        run(program, url, "--api-key-file", file.name, "Hello", env=environment)
        tally.equal(Parrot.keys[-1], "Bearer sk-file", "the file goes first")
    code, _, err = run(program, url, "--api-key-file", "/nonexistent", "Hello")
    tally.equal((code, err), (1, "ask: /nonexistent: No such file or directory\n"), "no key file")
    code, _, err = run(program, url, "--api-key-file", "/dev/null", "Hello")
    tally.equal((code, err), (1, "ask: /dev/null: no API key in its first line\n"), "no key in it")
    code, _, err = run(program, url, "--api-key-file", "/", "Hello")
    tally.equal((code, err), (1, "ask: /: Is a directory\n"), "a folder in place of a key file")
    code, _, err = run(program, url, "Hello", env={"OPENAI_API_KEY": "secret\r\nX: y"})
    tally.check(code == 1 and "secret" not in err, "a bad key is refused and not printed", err)


def check_interrupt(tally, program, url):
    Parrot.slow.clear()
    ask = subprocess.Popen([program, "--base-url", url, "slow"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    Parrot.slow.wait(10)
    shown = ask.stdout.read(len("slow"))  # what was sent may still be on its way
    begin = time.monotonic()
    ask.send_signal(signal.SIGINT)
    rest, err = ask.communicate(timeout=30)
    tally.check(time.monotonic() - begin < 5, "Ctrl-C ends an answer at once")
    tally.equal((ask.returncode, shown + rest), (1, "slow\n"), "Ctrl-C keeps the text so far")
    tally.check("ask: cancelled" in err, "and says so", err)


def check_price(tally, program, url):
    price = ("--prices", str(PRICES), "--price", "deepseek-r1")
    code, out, err = run(program, url, *price, "hosted")
    tally.equal((code, out), (0, "hosted\n"), "an answer with a price")
    tally.check(err.endswith("3200 prompt (3000 cached) + 300 completion tokens, "
                             "$0.001187 (so far $0.001187)\n"), "what it cost", err)
    code, out, err = run(program, url, *price, "no usage")
    tally.check("cost not known: the server told no usage (so far $0 and what is not known)" in err,
                "a cost that is not known", err)
    for question, want in (("hosted", "0.001187"), ("no usage", None)):
        code, out, _ = run(program, url, *price, "--json", question)
        tally.equal((code, json.loads(out)["cost_usd"]), (0, want), f"cost in the document: {question}")
    code, out, err = run(program, url, *price[:2], "--price", "parrot", "hosted")
    tally.equal((code, out, err.count("\n")), (2, "", 1), "a model without a price")
    tally.check("no price of \"parrot\" is known; of: " in err, "the known ones are listed", err)
    code, out, err = run(program, url, "--prices", "/nonexistent", "--price", "x", "hosted")
    tally.equal((code, err), (1, "ask: /nonexistent: No such file or directory (--prices names the list)\n"),
                "no price list")
    # FIT-07: all of 3,200 input tokens at the price above 3,000: 200 * 2 + 3000 * 1 + 300 * 3 millionths.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prices.json"
        path.write_text(json.dumps({"prices": [{"model": "m", "currency": "USD", "input": "1", "cached_input": "1",
                                                "output": "3", "step_tokens": 3000, "step_input": "2"}]}))
        _, _, err = run(program, url, "--prices", str(path), "--price", "m", "hosted")
        tally.check(err.endswith(" $0.0043 (so far $0.0043)\n"), "FIT-07: the price above a step", err)


def check_limit(tally, program, url):
    price = ("--prices", str(PRICES), "--price", "deepseek-r1")
    before = len(Parrot.requests)
    for options in (("--limit-usd", "0.01"), (*price, "--limit-usd", "0"), (*price, "--limit-usd", "x"),
                    (*price, "--limit-usd", "0.01", "--max-tokens", "0"), (*price, "--limit-usd", "99999999999")):
        code, out, err = run(program, url, *options, "Hello")
        tally.equal((code, out, err.count("\n")), (2, "", 1), f"usage: {options}")
    code, out, err = run(program, url, *price, "--limit-usd", "0.0000001", "Hello")
    tally.check(code == 2 and "with at most 6 digits behind the point" in err, "a limit that is too fine", err)
    code, out, err = run(program, url, *price, "--limit-usd", "0.001", "Hello")  # 512 tokens of output: $0.00112128
    tally.equal((code, out), (1, ""), "a question that may cost too much is not asked")
    tally.equal(err, "ask: not sent: with an answer of 512 tokens it would cost about $0.00112458, above $0.001\n",
                "and why")
    tally.equal(len(Parrot.requests), before, "nothing was sent")
    code, out, err = run(program, url, *price, "--limit-usd", "0.002", "Hello")
    tally.equal((code, out), (0, "Hello\n"), "a question within the limit")


def check_commands(tally, program, url):
    """The slash commands, in a conversation with a key that nobody may see."""
    key = "sk-nobody-may-see-this"
    os.environ["OPENAI_API_KEY"] = key
    terminal = Terminal(program, url, "--prefix-key", "tenant-7", "--prices", str(PRICES), "--price",
                        "deepseek-r1", "--rules", str(RULES))
    del os.environ["OPENAI_API_KEY"]

    def says(line, *wanted):
        terminal.expect_prompt()
        terminal.type(line + "\n")
        for text in wanted:
            tally.check(terminal.expect(text), f"{line}: {text}", terminal.seen)

    with tempfile.TemporaryDirectory() as folder:
        saved, system = Path(folder, "talk.json"), Path(folder, "system.txt")
        system.write_text("Be a parrot.\n")
        says("/nonsense", "there is no command /nonsense", "/system FILE", "/quit")
        says("/save", "/save needs a FILE")
        says("/new now", "/new takes nothing behind it")
        says("/audit", "an audit needs two questions that were answered")
        says(f"/system {folder}/none", "No such file or directory")
        says(f"/system {system}", "a system message of 13 bytes from now on")
        says("hosted 1", "$0.001187 (so far $0.001187)")
        says("// text", "completion tokens")
        tally.equal([(m["role"], m["content"]) for m in Parrot.requests[-1]["messages"]],
                    [("system", "Be a parrot.\n"), ("user", "hosted 1"), ("assistant", "hosted 1"),
                     ("user", "// text")], "what is sent after /system")
        tally.equal((Parrot.keys[-1], Parrot.prefix_keys[-1]), (f"Bearer {key}", "tenant-7"), "both keys")
        says("/stats", "answers 2", "tokens  3209 prompt (3004 cached, 93.6 %) + 303 completion", "TTFT")
        says("/cost", "input $0.55, cached $0.14, output $2.19", "total   $0.00119688")
        says("/audit", "DeepSeek")
        says(f"/save {saved}  ", "saved 4 messages")
        tally.equal(os.stat(saved).st_mode & 0o777, 0o600, "a saved conversation is private")
        tally.equal(sorted(os.listdir(folder)), ["system.txt", "talk.json"], "no other file is left")
        tally.equal(json.loads(saved.read_text())["messages"][0],
                    {"role": "system", "content": "Be a parrot.\n"}, "what is saved")
        tally.check(key not in saved.read_text(), "no key is saved", saved.read_text())
        says(f"/save {system}", "is there already, and no saved conversation")
        tally.equal(system.read_text(), "Be a parrot.\n", "another file stays")
        says(f"/load {system}", "not JSON")
        says("after a failed /load", "completion tokens")
        tally.equal(len(Parrot.requests[-1]["messages"]), 6, "and the conversation stays")
        says("/new")
        says(f"/load {saved}", "loaded 4 messages and a system message")
        says("on", "completion tokens")
        tally.equal([m["content"] for m in Parrot.requests[-1]["messages"]],
                    ["Be a parrot.\n", "hosted 1", "hosted 1", "// text", "// text", "on"],
                    "a loaded conversation goes on")
        says("no usage", "cost not known: the server told no usage")
        system.write_text("It is 10:05. You answer the questions of a shop's customers.\n")
        says(f"/system {system}", "the system message says \"10:05.\" near its front")
        says("hosted 1", "ask: system message: \"It\" was another before; it stands before")
        command_line = Path(f"/proc/{terminal.pid}/cmdline")
        if command_line.exists():
            tally.check(key not in command_line.read_text(), "no key on the command line", "")
    terminal.expect_prompt()
    terminal.type("/quit\n")
    tally.equal(terminal.wait(), 0, "/quit after commands")
    tally.check(key not in terminal.all, "no key is ever shown", terminal.all)


def check_budget(tally, program, url):
    """The context that the server tells is full at the third question: 32 tokens each, as is each answer."""
    Parrot.n_context = 150
    terminal = Terminal(program, url, "--max-tokens", "20")
    question = "no usage " + "x" * 100
    for _ in range(3):
        terminal.expect_prompt()
        terminal.type(question + "\n")
        tally.check(terminal.expect("TTFT"), "an answer", terminal.seen)
    tally.check("old turns dropped: 2, about 128 tokens; the context has room for 130" in terminal.all,
                "what goes, and why", terminal.all)
    tally.equal(len(Parrot.requests[-1]["messages"]), 1, "what is left")
    terminal.expect_prompt()
    terminal.type("/stats\n")
    tally.check(terminal.expect("cuts    1 (old turns: 2, summaries: 0)"), "/stats counts it", terminal.seen)
    terminal.expect_prompt()
    terminal.type("/quit\n")
    tally.equal(terminal.wait(), 0, "/quit after a cut")
    Parrot.n_context = None


def check_conversation(tally, program, url):
    if not has_terminals():
        tally.skip("the conversation", "no pseudo-terminal on this machine")
        return
    terminal = Terminal(program, url)
    tally.check(terminal.expect("/help lists the commands"), "a greeting", terminal.seen)
    tally.check(terminal.expect_prompt(), "a prompt", terminal.seen)
    terminal.type("Hello\n")
    tally.check(terminal.expect("completion tokens"), "figures after each answer", terminal.seen)
    terminal.type("again\n")
    tally.check(terminal.expect("completion tokens"), "a second answer", terminal.seen)
    tally.equal([m["content"] for m in Parrot.requests[-1]["messages"]], ["Hello", "Hello", "again"],
                "what was said is remembered")
    terminal.type("paint\n")
    tally.check(terminal.expect("a?2J?[1mb"), "an answer cannot move the cursor", terminal.seen)
    terminal.expect("completion tokens")
    terminal.type("\x1b[A\x1b[A\x1b[A!\n")  # three times up: the first line again
    tally.check(terminal.expect("completion tokens"), "an answer to a line of history", terminal.seen)
    tally.equal(Parrot.requests[-1]["messages"][-1]["content"], "Hello!", "history can be edited")

    Parrot.slow.clear()
    terminal.type("slow\n")
    Parrot.slow.wait(10)
    terminal.type("\x03")
    tally.check(terminal.expect("ask: cancelled"), "Ctrl-C ends the answer", terminal.seen)
    tally.check(terminal.expect_prompt(), "and not the program", terminal.seen)
    terminal.type("not this\x03")
    tally.check(terminal.expect_prompt(), "Ctrl-C drops a line", terminal.seen)
    terminal.type("busy\n")
    tally.check(terminal.expect("too many parrots"), "an error is told", terminal.seen)
    terminal.type("/new\n")
    terminal.type("fresh\n")
    tally.check(terminal.expect("completion tokens"), "an answer after an error", terminal.seen)
    tally.equal([m["content"] for m in Parrot.requests[-1]["messages"]], ["fresh"], "/new forgets")
    terminal.type("/help\n")
    tally.check(terminal.expect("leave (so does Ctrl-D)"), "help", terminal.seen)
    terminal.type("/quit\n")
    tally.equal(terminal.wait(), 0, "/quit leaves with 0")

    check_commands(tally, program, url)
    check_budget(tally, program, url)

    terminal = Terminal(program, url)
    terminal.expect_prompt()
    terminal.type("\x04")
    tally.equal(terminal.wait(), 0, "Ctrl-D leaves with 0")

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        terminal = Terminal(program, url)
        terminal.expect_prompt()
        os.kill(terminal.pid, number)
        tally.check(terminal.is_as_before(), f"{number.name} at the prompt: the terminal shows what is typed again")
        tally.equal(terminal.wait(), -number, f"{number.name} ends it")


def check_audit(tally, program, url):
    """Two requests of the support bot, as tools/audit_requests.py writes them; nobody is asked."""
    before = len(Parrot.requests)
    subprocess.run([sys.executable, "tools/audit_requests.py"], check=True)
    code, out, err = run(program, url, "--audit", "build/audit/clock-1.json", "build/audit/clock-2.json")
    tally.equal((code, err), (0, ""), "an audit")
    tally.check("part at messages[0].content, byte 10\n" in out, "a clock in front of all else", out)
    rows = {line.split()[0].rstrip(","): line.split() for line in out.splitlines() if line.endswith("%")}
    cached, _, lost, paid, _ = rows["OpenAI"][-5:]
    tally.equal((cached, paid), ("0", "100.0"), "nothing cached")
    tally.check(int(lost) > 2000 and int(lost) % 128 == 0, "the block is lost, in steps of 128 tokens", out)

    code, out, err = run(program, url, "--audit", "build/audit/block-1.json", "build/audit/block-2.json")
    tally.check("part at messages[1].content" in out, "the block first", out)
    paid = [line.split()[-2] for line in out.splitlines() if line.startswith("Anthropic")]
    tally.check(float(paid[0]) < 20, "a tenth for the block, all of the question", out)
    for files in ([], ["build/audit/clock-1.json"], ["a", "b", "c"]):
        code, out, err = run(program, url, "--audit", *files)
        tally.check(code == 2 and "needs two files" in err, f"{len(files)} files", err)
    code, out, err = run(program, url, "--audit", "nobody.json", "nothing.json")
    tally.equal((code, out, err), (1, "", "ask: nobody.json: No such file or directory\n"), "no file")
    tally.equal(len(Parrot.requests), before, "an audit asks nobody")


def main():
    options = arguments(__doc__)
    tally = Tally()
    program = str(Path(options.bin).resolve() / "ask")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        os.environ.pop(name, None)
    url = parrot_server.start()
    for check in (check_price, check_one_shot, check_overhead, check_limit, check_json, check_failures, check_keys, check_interrupt,
                  check_conversation, check_audit):
        check(tally, program, url)
    tally.finish()


if __name__ == "__main__":
    main()
