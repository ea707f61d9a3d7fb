"""A day of DeepSeek's fleet in parts: nodes that were paid, and what a token cost then. data/fleet-day6.json."""
import json

HOURS = 24
PART = 3  # hours of a row


def read(root):
    return json.loads((root / "data/fleet-day6.json").read_text(encoding="utf-8"))


def minutes(clock):
    hours, rest = clock.split(":")
    return 60 * int(hours) + int(rest)


def node_hours(day, begin, end):
    """Node-hours between two minutes of the day, by its steps; one that ends at 00:00 ends at midnight."""
    total = 0
    for since, until, n in day["node_steps"]["from_to_nodes"]:
        overlap = min(end, minutes(until) or 60 * HOURS) - max(begin, minutes(since))
        total += n * max(0, overlap) / 60
    return total


def shares(day):
    """Of each hour of the clock, the share of the day's income: read from a figure, so they are made to add up."""
    income = day["income_kusd_by_hour"]
    total = sum(income["values"])
    return {(income["first_hour"] + i) % HOURS: value / total for i, value in enumerate(income["values"])}


def row(name, day, hours, nodes, share):
    hour_usd = day["node"]["gpus"] * day["usd_per_gpu_hour"]
    millions = share * day["tokens"]["output"] / 1e6
    paid, all_on = nodes * hour_usd, day["nodes"]["peak"] * hours * hour_usd
    return (f"| {name} | {nodes / hours:,.4g} | ${paid:,.0f} | {100 * share:.1f} % | ${paid / millions:.2f} | "
            f"${all_on / millions:.2f} |")


def table(root):
    day, share = read(root), shares(read(root))
    rows = ["| UTC+8 | nodes, mean | paid | of the day's income | $ per million output tokens | had all nodes stayed on |",
            "|---|---|---|---|---|---|"]
    for k in range(HOURS // PART):
        begin = (12 + k * PART) % HOURS
        name = f"{begin:02}:00 to {(begin + PART) % HOURS:02}:00"
        rows.append(row(name, day, PART, node_hours(day, 60 * begin, 60 * (begin + PART)),
                        sum(share[begin + i] for i in range(PART))))
    return rows + [row("**the day**", day, HOURS, node_hours(day, 0, 60 * HOURS), 1)]
