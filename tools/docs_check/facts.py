"""Tables of numbers about the world, made from data/: none is typed into a page.

    <!-- table: prices -->        what a million tokens cost, with dates
    <!-- table: cache-rules -->   what providers' caches take, with dates
    <!-- table: speeds -->        published speeds of engines
    <!-- table: token-stages -->  what one token asks of each stage of a forward pass
    <!-- table: token-steps -->   what one step asks of the machine
    <!-- table: fleet-day -->     a day of a fleet: nodes, and what a token cost
"""
import json

from docs_check import fleet, stages


def entries(root, file, name):
    return json.loads((root / "data" / file).read_text(encoding="utf-8"))[name]


def period(entry):
    if not entry["valid_from"] and not entry["valid_to"]:
        return "no date"
    return f"{entry['valid_from'] or '?'} to {entry['valid_to'] or '?'}"


def prices(root):
    rows = ["| provider | model | held | hours | input | cached | output | how well known |", "|---|---|---|---|---|---|---|---|"]
    for p in entries(root, "prices.json", "prices"):
        if p["currency"] == "USD":
            amounts = " | ".join("?" if p[key] is None else f"${p[key]}" for key in ("input", "cached_input", "output"))
            rows.append(f"| {p['provider']} | `{p['model']}` | {period(p)} | {p['window'] or 'all day'} | {amounts} | "
                        f"{p['tag']} |")
    return rows


def cache_rules(root):
    rows = ["| whose cache | rule held | shortest prefix | counts in steps of | who asks for it | writing costs | reading costs |",
            "|---|---|---|---|---|---|---|"]
    for r in entries(root, "cache-rules.json", "rules"):
        asks = "it works by itself" if r["look_back"] is None else "marks in the request"
        factors = ["see the prices" if r[key] is None else f"{r[key]} x input" for key in ("write_factor", "read_factor")]
        if r["write_factor"] is None:
            factors = ["no price", "no price"]
        rows.append(f"| {r['provider']} | {period(r)} | {r['min_tokens']:,} | {r['step_tokens']} | {asks} | "
                    f"{' | '.join(factors)} |")
    return rows


def speeds(root):
    rows = ["| engine | machine | model | numbers | prefill, tokens/s | decode, tokens/s | what was run |",
            "|---|---|---|---|---|---|---|"]
    for s in entries(root, "speeds.json", "speeds"):
        counts = " | ".join("not known" if s[key] is None else f"{float(s[key]):,.10g}" for key in ("prefill", "decode"))
        rows.append(f"| {s['engine']} | {s['machine']} | {s['model']} | {s['precision']} | {counts} | {s['load']} |")
    return rows


TABLES = {"prices": prices, "cache-rules": cache_rules, "speeds": speeds, "token-stages": stages.stages,
          "token-steps": stages.steps, "fleet-day": fleet.table}


def table_of(name, root):
    return TABLES[name](root)
