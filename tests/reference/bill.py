#!/usr/bin/env python3
"""Checks `bill` from outside: invoices to the last digit against exact fractions, and refusals that say
what is wrong.

    .venv/bin/python tests/reference/bill.py --bin build/bin

Standard library only.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from decimal import Decimal, localcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from reference import Tally, arguments  # noqa: E402

PATIENCE_S = 60
BOT = "--model deepseek-r1 --requests 1000 --input 3200 --cached 3000 --output 300".split()


class Bill:
    def __init__(self, args, tally):
        self.program, self.tally = f"{args.bin}/bill", tally

    def run(self, *words, stdin_text="", **options):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE_S, input=stdin_text, **options)

    def document(self, *words):
        done = self.run(*words, "--json")
        self.tally.equal(done.returncode, 0, f"bill {words}: status")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def refused(self, status, why, *words, **options):
        done = self.run(*words, **options)
        self.tally.equal(done.returncode, status, f"bill {words}: status")
        self.tally.equal(done.stdout, "", f"bill {words}: prints nothing")
        self.tally.check(done.stderr.startswith("bill: ") and done.stderr.count("\n") == 1 and why in done.stderr,
                         f"bill {words}: says {why!r}", done.stderr)


def price_file(folder, **prices):
    path = Path(folder) / "prices.json"
    entry = {"provider": "P", "model": "m", "valid_from": "2025", "currency": "USD", **prices}
    path.write_text(json.dumps({"prices": [entry]}))
    return path


def support_bot(bill):
    tally = bill.tally
    done = bill.run(*BOT)
    tally.equal(done.returncode, 0, "support bot: status")
    rows = {line.split("  ")[0]: line.split() for line in done.stdout.splitlines() if "$" in line}
    tally.equal(rows["total"][-2:], ["$2.417", "$1.187"], "support bot: total")
    tally.equal(rows["one request"][-2:], ["$0.002417", "$0.001187"], "support bot: one request")
    tally.check("saved by the cache: $1.230, 50.9 %" in done.stdout, "support bot: saved", done.stdout)
    lines = done.stdout.split("source of")[0].splitlines()
    table = [line for line in lines if line.endswith(tuple("0123456789")) and "$" in line]
    tally.equal(len({len(line) for line in table}), 1, "support bot: aligned")
    tally.check(max(map(len, done.stdout.splitlines())) <= 80, "support bot: 80 columns", done.stdout)

    bars = [re.search(r"cache +(i*)(c*)w*(o*) +\$([0-9.]+)$", line) for line in done.stdout.splitlines()]
    lengths = [tuple(len(part) for part in bar.groups()[:3]) for bar in bars if bar]
    tally.equal(lengths, [(34, 0, 14), (2, 8, 13)], "support bot: bars, of 48 cells for $2.417")

    got = bill.document(*BOT)
    tally.equal(got["workload"]["without_cache"]["total_usd"], "2.417", "support bot: without, exactly")
    tally.equal(got["workload"]["total_usd"], "1.187", "support bot: with, exactly")
    tally.equal((got["saved_usd"], got["saved_percent"]), ("1.23", "50.9"), "support bot: saved, exactly")


def exact(tokens, prices, n_requests):
    """An invoice as `bill --json` writes it, by decimals that round nothing."""
    rest = tokens["input"] - tokens["cached"] - tokens["cache_write"]
    kinds = [("input", rest, "input"), ("cached", tokens["cached"], "cached_input"),
             ("cache_write", tokens["cache_write"], "cache_write"), ("output", tokens["output"], "output")]
    with localcontext() as context:
        context.prec = 60
        lines = {f"{name}_usd": n * n_requests * Decimal(prices[price]) / 10**6 for name, n, price in kinds}
        return {**lines, "total_usd": sum(lines.values())}


def drawn_workloads(bill, folder):
    draw = random.Random(int(os.environ.get("COURSE_SEED", "1")))
    for _ in range(40):
        prices = {name: f"{draw.randrange(100)}.{draw.randrange(10**6):06}"
                  for name in ("input", "cached_input", "cache_write", "output")}
        tokens = {name: draw.randrange(10**draw.randrange(1, 6)) for name in ("cached", "cache_write", "output")}
        tokens["input"] = tokens["cached"] + tokens["cache_write"] + draw.randrange(1000)
        n_requests = draw.randrange(1000)
        got = bill.document("--prices", price_file(folder, **prices), "--model", "m", "--requests", n_requests,
                            *[word for name, n in tokens.items() for word in (f"--{name.replace('_', '-')}", n)])
        whole = {**tokens, "cached": 0, "cache_write": 0}
        for part, n in (("per_request", 1), ("workload", n_requests)):
            invoice = got[part] if got else {}
            without = invoice.pop("without_cache", {})
            for name, lines, used in (("with the cache", invoice, tokens), ("without", without, whole)):
                amounts = {key: Decimal(text) for key, text in lines.items()}
                bill.tally.equal(amounts, exact(used, prices, n), f"{tokens} at {prices}, {part}, {name}")


def published(bill, folder):
    """FIT-05 and FIT-06: cached and written tokens are billed once."""
    half = price_file(folder, input="2.50", cached_input="1.25", output="10")
    got = bill.document("--prices", half, "--model", "m", "--input", 2006, "--cached", 1920, "--output", 300)
    bill.tally.equal(got["per_request"]["total_usd"], "0.005615", "FIT-05: cached once")
    write = price_file(folder, input="3", cache_write="3.75", cached_input="0.30", output="15")
    got = bill.document("--prices", write, "--model", "m", "--input", 12307, "--cache-write", 12304, "--output", 550)
    bill.tally.equal(got["per_request"]["total_usd"], "0.054399", "FIT-06: written once")


def step(bill, folder):
    """FIT-07: above 200,000 tokens the whole prompt has the higher price."""
    tally, usage = bill.tally, Path(folder) / "usage.jsonl"
    path = price_file(folder, input="2.00", cached_input="0.5", output="10", step_tokens=200000, step_input="4.00",
                      step_output="15")
    of_m = ("--prices", path, "--model", "m")
    for n, dollars in ((200000, "0.400000"), (200001, "0.800004"), (250000, "1.000000")):
        got = bill.document(*of_m, "--input", n, "--requests", 3, "--compare", "--what-if")
        amounts = [Decimal(got["per_request"]["total_usd"]), Decimal(got["workload"]["total_usd"]) / 3,
                   Decimal(got["models"][0]["total_usd"]) / 3, Decimal(got["what_if"][0]["total_usd"]) / 3]
        tally.equal(amounts, [Decimal(dollars)] * 4, f"FIT-07: {n} tokens")
        used = {"above_tokens": 200000, "requests": 3} if n > 200000 else None
        told = [got["price_step"], got["models"][0]["price_step"], got["what_if"][0]["price_step"]]
        tally.equal(told, [used] * 3, f"FIT-07: {n} tokens: says whether")

    # Line by line, though together they are above the step; cached tokens count as input.
    records = [(200000, 0, 100), (200001, 200001, 100), (150000, 0, 0), (250000, 50000, 1000)]
    usage.write_text("\n".join(json.dumps({"prompt_tokens": n, "completion_tokens": out,
                                           "prompt_tokens_details": {"cached_tokens": cached}})
                               for n, cached, out in records))
    recorded = (*of_m, "--usage", usage, "--compare", "--what-if", "--max-tokens", 500)
    got = bill.document(*recorded)
    lines = {"input_usd": "1.5", "cached_usd": "0.1250005", "output_usd": "0.0175", "total_usd": "1.6425005"}
    tally.equal({name: got["workload"][name] for name in lines}, lines, "FIT-07: recorded, each at its price")
    tally.equal(got["workload"]["without_cache"]["input_usd"], "2.500004", "FIT-07: recorded, without the cache")
    tally.equal(got["models"][0]["total_usd"], "1.6425005", "FIT-07: recorded, --compare")
    saved = {row["lever"]: row["saved_usd"] for row in got["what_if"]}
    tally.equal(saved["max-tokens"], "0.0075", "FIT-07: recorded, --what-if")
    tally.equal(got["price_step"], {"above_tokens": 200000, "requests": 2}, "FIT-07: recorded, says how many")
    done = bill.run(*recorded)
    tally.check("2 of 4 requests above 200,000 input tokens" in done.stdout, "FIT-07: says so in words", done.stdout)
    tally.check("\ninput                   2 / 4  " in done.stdout, "FIT-07: both prices", done.stdout)
    tally.check(all(len(line) <= 80 for line in done.stdout.splitlines() if "above" in line or " / " in line),
                "FIT-07: 80 columns", done.stdout)
    own = ("--own", "g", "--rents", rent_file(folder, low="1", high="1"), "--tokens-per-second", 1000,
           "--utilization", 1)
    # 24 dollars a day against 0.800004 + 100 * 15 / 10^6 for one request.
    got = bill.document(*of_m, "--input", 200001, "--output", 100, *own)["own"]
    tally.equal(got["low"]["break_even_requests_per_day"], 30, "FIT-07: --own")
    bill.refused(1, "prices[0].step_tokens must be", "--model", "m", "--input", 1,
                 "--prices", price_file(folder, input="1", step_tokens=0, step_input="2"))


def all_models(bill, folder):
    tally = bill.tally
    got = bill.document("--compare", *BOT[2:])
    billed = [row for row in got["models"] if row["total_usd"]]
    totals = [Decimal(row["total_usd"]) for row in billed]
    tally.equal(totals, sorted(totals), "--compare: sorted")
    tally.check(len(billed) >= 7, "--compare: all that have prices", billed)
    tally.equal([row["total_usd"] for row in billed if row["model"] == "deepseek-r1" and not row["window"]],
                ["1.187"], "--compare: the support bot")
    unknown = {row["model"]: row["no_price_for"] for row in got["models"] if not row["total_usd"]}
    tally.equal(unknown["gpt-4o"], "output", "--compare: says whose price is not known")
    names = [(row["model"], row["window"]) for row in got["models"]]
    tally.equal(len(set(names)), len(names), "--compare: each once")
    then = bill.document("--compare", *BOT[2:], "--date", "2025-03")["models"]
    tally.equal({row["model"] for row in then} & {"deepseek-v3.1", "deepseek-v4-pro"}, set(), "--compare: of that day")
    tally.check("per_request" in bill.document("--compare", *BOT), "--compare beside a model")

    done = bill.run("--compare", *BOT[2:])
    tally.check(max(map(len, done.stdout.splitlines())) <= 80, "--compare: 80 columns", done.stdout)
    tally.check("left out: gpt-4o: no price is known for output" in done.stdout, "--compare: left out", done.stdout)
    bill.refused(2, "is no date", "--compare", "--input", 1, "--date", "today")
    bill.refused(2, "cached is 2, but", "--compare", "--input", 1, "--cached", 2)
    bill.refused(2, "--input is missing", "--compare")


# One request of 3,200 tokens, 3,000 of them cached, and 300 of output, as four APIs say it.
RECORDS = [
    {"prompt_tokens": 3200, "completion_tokens": 300, "total_tokens": 3500,
     "prompt_tokens_details": {"cached_tokens": 3000}},
    {"prompt_tokens": 3200, "completion_tokens": 300, "prompt_cache_hit_tokens": 3000, "prompt_cache_miss_tokens": 200},
    {"input_tokens": 3200, "output_tokens": 300, "input_tokens_details": {"cached_tokens": 3000}},
    {"input_tokens": 200, "output_tokens": 300, "cache_read_input_tokens": 3000, "cache_creation_input_tokens": 0},
    {"id": "x", "choices": [], "usage": {"prompt_tokens": 3200, "completion_tokens": 300,
                                         "prompt_tokens_details": {"cached_tokens": 3000}}},
]


def month(bill):
    tally = bill.tally
    got = bill.document(*BOT, "--per-day", 10000)
    tally.equal([got[key]["total_usd"] for key in ("per_request", "per_thousand", "per_month")],
                ["0.001187", "1.187", "356.1"], "--per-day: with the cache")
    tally.equal(got["per_month"]["without_cache"]["total_usd"], "725.1", "--per-day: without it")
    tally.check("per_month" not in bill.document(*BOT), "a month only where it is asked for")
    bill.refused(2, "--per-day needs a --model", "--compare", "--input", 1, "--per-day", 1)
    bill.refused(2, "--per-day reckons with equal requests", "--model", "deepseek-r1", "--usage", "x", "--per-day", 1)
    bill.refused(2, "9.2 million dollars", *BOT, "--per-day", 2**53 - 1)


def recorded(bill, folder):
    tally, path = bill.tally, Path(folder) / "usage.jsonl"
    r1 = ("--model", "deepseek-r1", "--usage", path)
    path.write_text("\n\n".join(json.dumps(record) for record in RECORDS * 200))
    got = bill.document(*r1)
    tally.equal((got["requests"], got["per_request"]), (1000, None), "--usage: requests")
    tally.equal(got["workload"]["total_usd"], "1.187", "--usage: the support bot, in four dialects")
    tally.equal(got["workload"]["without_cache"]["total_usd"], "2.417", "--usage: without the cache")
    tally.check(bill.document("--compare", "--usage", path)["models"], "--usage --compare")
    piped = bill.run("--model", "deepseek-r1", "--usage", "/dev/stdin", "--json", stdin_text=path.read_text())
    tally.equal(json.loads(piped.stdout), got, "--usage: a pipe")

    good = json.dumps(RECORDS[0])
    wrong = {
        "{": "not a JSON object", "null": "not a JSON object", "[1]": "no usage in it", "{}": "no usage in it",
        '{"usage": null}': "no usage in it", '{"prompt_tokens": null}': "no usage in it",
        '{"prompt_tokens": 1}': "completion_tokens is not told", "\x00": "not a JSON object",
        '{"prompt_tokens": -1, "completion_tokens": 1}': "prompt_tokens must be",
        '{"prompt_tokens": 1.5, "completion_tokens": 1}': "prompt_tokens must be",
        '{"prompt_tokens": "1", "completion_tokens": 1}': "prompt_tokens must be",
        '{"prompt_tokens": 99999999999999999999, "completion_tokens": 1}': "not a JSON object",
        '{"prompt_tokens": 9007199254740992, "completion_tokens": 1}': "prompt_tokens must be",
        '{"prompt_tokens": 1, "prompt_tokens": 1, "completion_tokens": 1}': "not a JSON object",
        '{"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}}': "cached is 2",
        '{"prompt_tokens": 3, "completion_tokens": 1, "prompt_cache_hit_tokens": 1, "prompt_cache_miss_tokens": 1}':
            "cache hit and miss",
        "[" * 10**5: "not a JSON object", '{"prompt_tokens": 1, "input_tokens": 1}': "has both",
        '"' + "x" * 2**20: "the line is above 1048576 bytes",
    }
    for line, why in wrong.items():
        path.write_text(f"{good}\n\n{line}\n{good}\n")
        bill.refused(1, f"usage.jsonl:3: {why}", *r1)
    path.write_text(json.dumps({"input_tokens": 2**53 - 1, "output_tokens": 1}) + "\n")
    bill.refused(2, "9.2 million dollars", *r1)
    path.write_text("\n \r\n")
    bill.refused(1, "no usage in it", *r1)
    bill.refused(1, "Is a directory", "--model", "deepseek-r1", "--usage", folder)
    bill.refused(1, "No such file", "--model", "deepseek-r1", "--usage", "no/file")
    bill.refused(2, "--usage has the counts", *r1, "--input", 1)


def levers(bill, folder):
    tally = bill.tally
    bot = [word for word in BOT if word not in ("--cached", "3000")]
    got = bill.document(*bot, "--what-if", "--fixed", 3000)["what_if"]
    saved = {row["lever"]: (row["saved_usd"], row["saved_percent"]) for row in got}
    tally.equal(saved["fixed-block-first"], ("1.23", "50.9"), "--what-if: fixed block first")
    tally.equal(saved["shorter-answer"], ("0.3285", "13.6"), "--what-if: shorter answer")
    tally.equal(saved["max-tokens"], ("0.09636", "4.0"), "--what-if: max_tokens")
    amounts = [Decimal(row["saved_usd"]) for row in got]
    tally.equal(amounts, sorted(amounts, reverse=True), "--what-if: sorted")
    tally.check(all(row["assumes"] for row in got), "--what-if: says what it assumes", got)
    done = bill.run(*bot, "--what-if", "--fixed", 3000)
    tally.check(max(map(len, done.stdout.splitlines())) <= 80, "--what-if: 80 columns", done.stdout)

    # A cap cuts only those answers that are longer: that is known of recorded usage alone.
    path = Path(folder) / "usage.jsonl"
    path.write_text("\n".join(json.dumps({"input_tokens": 10, "output_tokens": n}) for n in (100, 900)))
    got = bill.document("--model", "deepseek-r1", "--usage", path, "--what-if", "--max-tokens", 500)["what_if"]
    saved = {row["lever"]: row["saved_usd"] for row in got}
    tally.equal(saved["max-tokens"], "0.000876", "--what-if: a cap on recorded answers")
    tally.equal(saved["fixed-block-first"], "0", "--what-if: no fixed block named")
    only = price_file(folder, input="1", output="1")
    rows = bill.document("--prices", only, "--model", "m", "--input", 9, "--fixed", 9, "--what-if")["what_if"]
    tally.equal([row["lever"] for row in rows if row["saved_usd"] is None], ["fixed-block-first", "smaller-model"],
                "--what-if: what nobody knows is null")
    bill.refused(2, "--what-if needs a --model", "--compare", "--what-if", "--input", 1)
    bill.refused(2, "--fixed is \"-1\"", *bot, "--fixed", -1)
    bill.refused(2, "--fixed is a part of --input", *bot, "--fixed", 3201)


def own_machine(bill, folder):
    tally, path = bill.tally, Path(folder) / "rents.json"
    offers = [{"gpu": "g", "offer": "a", "low": "1", "high": "2"},
              {"gpu": "g", "offer": "b", "low": "3.5", "high": "10.8"},
              {"gpu": "other", "low": "0.1", "high": "99"}]
    path.write_text(json.dumps({"offers": offers}))
    own = (*BOT, "--own", "g", "--rents", path, "--tokens-per-second", 1000, "--utilization", "0.5")
    got = bill.document(*own, "--idle-hours", 8, "--redundancy", 2)["own"]
    # 1000 * 0.5 * 16 * 3600 / 300 requests; 48 hours of $1 are paid; the API takes $0.001187 for one.
    tally.equal(got["requests_per_day"], 96000, "--own: what it serves")
    low, high = got["low"], got["high"]
    tally.equal((low["day_usd"], low["request_usd"]), ("48", "0.0005"), "--own: by the low rent")
    tally.equal(low["break_even_requests_per_day"], -(-48_000_000 // 1187), "--own: break-even, rounded up")
    tally.equal((high["hour_usd"], high["day_usd"], high["break_even_requests_per_day"]), ("10.8", "518.4", None),
                "--own: by the high rent it never is")
    done = bill.run(*own)
    tally.check(max(map(len, done.stdout.splitlines())) <= 80, "--own: 80 columns", done.stdout)
    tally.check("own" in bill.document(*BOT, "--own", "h100-sxm", "--tokens-per-second", 1, "--utilization", 1),
                "--own: the list that we ship")

    bill.refused(2, "no rent of \"nosuch\" is known; of: g, other", *own, "--own", "nosuch")
    bill.refused(2, "--own needs --utilization", *BOT, "--own", "g", "--tokens-per-second", 1)
    bill.refused(2, "--own needs --tokens-per-second", *BOT, "--own", "g", "--utilization", 1)
    bill.refused(2, "--own needs a --model", "--compare", "--input", 1, "--own", "g")
    for wrong in ("0", "1.1", "-1", "half", "1e-1", "0.0000001"):
        bill.refused(2, "utilization", *own, "--utilization", wrong)
    bill.refused(2, "there is none", *own, "--output", 0)
    bill.refused(2, "one request a day", *own, "--tokens-per-second", 1, "--utilization", "0.000001")
    bill.refused(2, "--idle-hours is \"24\"", *own, "--idle-hours", 24)
    bill.refused(1, "rents.json: offers[0].low is above high", *own, "--rents", rent_file(folder, low="2", high="1"))
    bill.refused(1, "rents.json: offers[0].low must be", *own, "--rents", rent_file(folder, low="$2", high="1"))
    bill.refused(1, "rents.json: offers[0].high must be", *own, "--rents", rent_file(folder, low="2"))
    bill.refused(1, "is not a field of an offer", *own, "--rents", rent_file(folder, low="2", high="2", hours="3"))
    bill.refused(1, "No such file", *own, "--rents", "no/list")
    bill.refused(2, "9.2 million dollars", *own, "--rents", rent_file(folder, low="1", high="9300000"))


def rent_file(folder, **fields):
    path = Path(folder) / "rents.json"
    path.write_text(json.dumps({"offers": [{"gpu": "g", **fields}]}))
    return path


def unfiltered(kind, row, above):
    """A row of 3 bytes a pixel as PNG means it (RFC 2083, chapter 6)."""
    out = bytearray()
    for i, byte in enumerate(row):
        left, up = (out[i - 3] if i >= 3 else 0), above[i]
        corner = above[i - 3] if i >= 3 else 0
        paeth = min((left, up, corner), key=lambda c: abs(left + up - corner - c))
        out.append((byte + (0, left, up, (left + up) // 2, paeth)[kind]) % 256)
    return bytes(out)


def png_rows(path):
    """The rows of a PNG file; each chunk's checksum must be right."""
    data, at, packed = path.read_bytes(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    flat, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        row = flat[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        above = unfiltered(row[0], row[1:], above)
        rows.append([above[x:x + 3] for x in range(0, 3 * width, 3)])
    return rows


def picture(bill, folder):
    tally, path = bill.tally, Path(folder) / "bill.png"
    done = bill.run(*BOT, "--png", path)
    if "built without stb_image_write" in done.stderr:
        return tally.skip("bill --png", "built without stb_image_write.h")
    tally.equal((done.returncode, done.stderr), (0, ""), "--png: status")
    tally.equal(done.stdout, bill.run(*BOT).stdout, "--png: prints as ever")
    blue, pale, red = b"\x4c\x78\xa8", b"\x9e\xca\xe9", b"\xe4\x57\x56"
    rows = png_rows(path)
    lengths = [tuple(row.count(colour) for colour in (blue, pale, red)) for row in (rows[40], rows[110])]
    tally.equal(lengths, [(436, 0, 164), (27, 104, 163)], "--png: bars, of 600 pixels for $2.417")
    bill.refused(1, "No such file", *BOT, "--png", f"{folder}/no/file.png")
    bill.refused(2, "--png needs a --model", "--compare", "--input", 1, "--png", path)
    if os.path.exists("/dev/full"):
        bill.refused(1, "No space left", *BOT, "--png", "/dev/full")


def refusals(bill, folder):
    deepseek = ("--model", "deepseek-r1")
    bill.refused(2, "--model is missing", "--input", 1)
    bill.refused(2, "--input is missing", *deepseek)
    bill.refused(2, "cached is 3201, but it is a part of input, 3200", *deepseek, "--input", 3200, "--cached", 3201)
    bill.refused(2, "--cached is \"-1\"", *deepseek, "--input", 3200, "--cached", -1)
    bill.refused(2, "--requests is \"-1\"", *deepseek, "--input", 3200, "--requests", -1)
    bill.refused(2, "--input is \"1e3\"", *deepseek, "--input", "1e3")
    bill.refused(2, "9.2 million dollars", *deepseek, "--input", 2**53 - 1)
    bill.refused(2, "9.2 million dollars", *deepseek, "--input", 10**9, "--requests", 10**9)
    bill.refused(2, f"--input is \"{2**63}\"", *deepseek, "--input", 2**63)
    bill.refused(2, "deepseek-r1", "--model", "nosuch", "--input", 1)
    bill.refused(2, "peak, off-peak", "--model", "deepseek-v4-pro", "--input", 1)
    bill.refused(2, "2025-02 to 2025-09-05", *deepseek, "--input", 1, "--date", "2026")
    bill.refused(2, "is no date", *deepseek, "--input", 1, "--date", "today")
    bill.refused(2, "unknown option --cache; did you mean --cached?", *deepseek, "--input", 1, "--cache", 1)
    # FIT-08: what nobody knows is not $0.00.
    bill.refused(1, "gpt-4o: no price is known for output", "--model", "gpt-4o", "--input", 1, "--output", 1)
    bill.refused(1, "deepseek-r1: no price is known for cache_write", *deepseek, "--input", 1, "--cache-write", 1)

    bill.refused(1, "no/list: No such file", *deepseek, "--input", 1, "--prices", "no/list")
    bill.refused(1, "not JSON", *deepseek, "--input", 1, "--prices", __file__)
    bill.refused(1, "prices[0].input must be", "--model", "m", "--input", 1,
                 "--prices", price_file(folder, input="0.0000001"))
    bill.refused(1, "data/prices.json: No such file", *deepseek, "--input", 1, cwd=folder)
    with open(os.devnull) as closed:
        bill.refused(1, "standard output", *BOT, preexec_fn=lambda: os.dup2(closed.fileno(), 1))


def main():
    args = arguments(__doc__)
    args.bin = Path(args.bin).resolve()
    tally = Tally()
    bill = Bill(args, tally)
    with tempfile.TemporaryDirectory() as folder:
        support_bot(bill)
        published(bill, folder)
        step(bill, folder)
        drawn_workloads(bill, folder)
        all_models(bill, folder)
        month(bill)
        recorded(bill, folder)
        levers(bill, folder)
        own_machine(bill, folder)
        picture(bill, folder)
        refusals(bill, folder)
    tally.finish()


if __name__ == "__main__":
    main()
