#!/usr/bin/env python3
"""GET /metrics of a running serve, read by a strict parser and held against what the answers said.

    .venv/bin/python tests/reference/metrics.py --model build/test/tiny.gguf --bin build/bin

Standard library only.
"""
import os
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from prometheus import Page  # noqa: E402
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402

DOCS = ROOT / "docs/level2/metrics.md"
OF_SEQUENCES = ("request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds",
                "request_prompt_tokens", "request_generation_tokens")


def scrape(server):
    status, headers, body = server.get("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
    return Page(body.decode())


def settled(server):
    """The page once the times of the last step are in: they come a moment after its text."""
    page = scrape(server)
    while True:
        time.sleep(0.02)
        later = scrape(server)
        if later.samples[STEPS] == page.samples[STEPS] and later.get("vllm:num_requests_running") == 0:
            return later
        page = later


def check_counts(server, tally):
    usages, n_streams = [], 0
    for i in range(6):
        usages.append(server.complete("Count to five", max_tokens=3 + i, ignore_eos=True)["usage"])
    for i in range(4):
        _, events = server.stream(prompt="Another", max_tokens=4, ignore_eos=True,
                                  stream_options={"include_usage": True})
        usages.append(events[-1]["usage"])
        n_streams += 1
    for _ in range(3):
        server.refuse(400, temperature=9)
    server.refuse(404, model="nobody")
    page = scrape(server)  # at once: what is answered is counted

    def total(field):
        return sum(u[field] for u in usages)

    def counted(name, want):
        tally.equal(page.get("vllm:" + name), want, name)

    n_cached = sum(u["prompt_tokens_details"]["cached_tokens"] for u in usages)
    counted("prompt_tokens_total", total("prompt_tokens"))
    counted("generation_tokens_total", total("completion_tokens"))
    counted("prefix_cache_queries_total", total("prompt_tokens"))
    counted("prefix_cache_hits_total", n_cached)
    counted("request_prompt_tokens_sum", total("prompt_tokens"))
    counted("request_generation_tokens_sum", total("completion_tokens"))
    for name in OF_SEQUENCES + ("time_to_first_token_seconds", "e2e_request_latency_seconds"):
        counted(name + "_count", len(usages))
    counted("inter_token_latency_seconds_count", total("completion_tokens") - len(usages))
    # The prompt but for what was cached, and each drawn token but the last of its answer.
    counted("iteration_tokens_total_sum",
            total("prompt_tokens") - n_cached + total("completion_tokens") - len(usages))
    tally.equal(page.get("vllm:request_success_total", finished_reason="length"), len(usages), "finished")
    # The last answer is still in the cache, but for its last token, which nobody asked the model about.
    n_kept = usages[-1]["total_tokens"] - 1
    n_context = server.get("/v1/models/default")[2]["max_model_len"]
    tally.equal(round(page.get("vllm:kv_cache_usage_perc") * n_context), n_kept, "tokens in the cache")
    tally.check(page.get("ladder_kv_cache_bytes") % n_context == 0 < page.get("ladder_kv_cache_bytes"), "bytes of the cache",
                page.get("ladder_kv_cache_bytes"))
    tally.equal(page.sum("vllm:request_success_total"), len(usages), "all that finished")
    tally.equal(page.get("ladder_requests_refused_total", status="400", code=""), 3, "refused with 400")
    tally.equal(page.get("ladder_requests_refused_total", code="model_not_found"), 1, "refused with 404")


def check_times(server, tally):
    """What contains something else is not shorter than it."""
    page = settled(server)

    def seconds(name):
        return page.get(f"vllm:{name}_seconds_sum")

    inside = seconds("request_queue_time") + seconds("request_prefill_time")
    tally.check(inside <= seconds("time_to_first_token"), "queue and prefill lie within the time to first token",
                f"{inside} {seconds('time_to_first_token')}")
    tally.check(seconds("time_to_first_token") <= seconds("e2e_request_latency"), "TTFT within the whole")
    gaps, decode = seconds("inter_token_latency"), seconds("request_decode_time")
    tally.check(abs(gaps - decode) < 1e-6 + 1e-9 * decode, "gaps add up to the decode time", f"{gaps} {decode}")
    tally.check(seconds("request_time_per_output_token") < decode, "a mean gap is shorter than all")
    work = {kind: page.get("ladder_engine_seconds_total", tokens=kind) for kind in ("cached", "prompt", "output")}
    tally.check(0 < work["prompt"] and 0 < work["output"] and 0 < work["cached"], "all phases took time", work)
    elapsed_s, cpu_s = time.monotonic() - BEGAN_S, page.get("process_cpu_seconds_total")
    tally.check(sum(work.values()) <= elapsed_s, "no more than there was", work)
    tally.check(0 < cpu_s <= elapsed_s * os.cpu_count(), "processor time", f"{cpu_s} in {elapsed_s} s")
    for kind, name in (("prompt", "prompt_tokens_total"), ("output", "generation_tokens_total")):
        n = page.get("vllm:" + name) - (page.get("vllm:prefix_cache_hits_total") if kind == "prompt" else 0)
        want = 2.0 * 1e6 * work[kind] / n / 3600
        got = page.get("ladder_usd_per_million_tokens", tokens=kind)
        tally.check(abs(got - want) < 1e-6 * want + 1e-8, f"cost of {kind} tokens", f"{got} {want}")


def check_abort(server, tally):
    before = scrape(server)
    with server.start({"max_tokens": 400, "n": 30, "stream": True}) as s:
        s.recv(4096)
        while scrape(server).get("vllm:num_requests_running") == 0:
            time.sleep(0.01)
    page = settled(server)
    tally.check(page.get("vllm:request_success_total", finished_reason="abort")
                > before.get("vllm:request_success_total", finished_reason="abort"), "aborted")
    tally.equal(page.get("ladder_clients_gone_total"), 1, "clients that left")
    tally.equal(page.get("vllm:num_requests_waiting"), 0, "nobody waits")


def check_docs(server, tally):
    """The page names every family, and no other."""
    told = set(re.findall(r"^\| `([a-z0-9_:]+)`", DOCS.read_text(), re.MULTILINE))
    tally.equal(sorted(told ^ set(scrape(server).types)), [], f"families in {DOCS.name} and on /metrics")
    tally.equal(sorted(set(scrape(server).types) - scrape(server).helped), [], "families without HELP")


BEGAN_S = time.monotonic()
STEPS = None


def main():
    global STEPS
    args = arguments(__doc__)
    tally = Tally()
    with Server(args, "--hourly-price", "2", "--model-id", 'a "quoted" \\ name') as server:
        STEPS = next(k for k in scrape(server).samples if k[0] == "vllm:iteration_tokens_total_count")
        tally.equal(scrape(server).get("ladder_model_info", model_name='a \\"quoted\\" \\\\ name'), 1, "label")
        for fn in (check_counts, check_times, check_abort, check_docs):
            fn(server, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
