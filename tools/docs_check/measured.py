"""What `make lesson1 SAVE=docs/level1/lesson1.json` measured, as tables and as a picture, so that a new run
changes every page that shows it.

    <!-- table: lesson1-run -->    all that it printed
    <!-- table: lesson1-curve -->  TTFT by the length of a prompt
    <!-- table: lesson1-wait -->   one answer, streamed and whole
    <!-- table: row-level1 -->     the row that every level ends with
    <!-- table: row-level2 -->     the same server, its hours paid in place of its tokens

The picture is docs/level1/ttft.png.
"""
import json

from lesson import chart, png

HOURLY_USD = 0.10  # of a machine with two cores: an example, as serve --hourly-price takes it
BUSY_HOURS = 8     # of a day, where not all of it
RECORD, PICTURE = "docs/level1/lesson1.json", "docs/level1/ttft.png"


def read(root):
    return json.loads((root / RECORD).read_text(encoding="utf-8"))


def seconds(ms):
    return f"{ms / 1000:,.1f} s"


def printed(run):
    return ["```text", *run["printed"], "```"]


def curve(run):
    rows = ["| tokens of prompt | first token after | tokens a second |", "|---|---|---|"]
    return rows + [f"| {p['prompt_tokens']:,} | {seconds(p['ttft_ms'])} | {1000 * p['prompt_tokens'] / p['ttft_ms']:.0f} |"
                   for p in run["curve"]]


def wait(run):
    w = run["wait"]
    return [f"| an answer of {w['n_tokens']} tokens | first word after | last word after |", "|---|---|---|",
            f"| streamed | {seconds(w['first_ms'])} | {seconds(w['last_ms'])} |",
            f"| in one piece | {seconds(w['whole_ms'])} | {seconds(w['whole_ms'])} |"]


def rows_of(run, priced):
    """priced: (name, dollars for 1,000 requests, the measured order) of each row."""
    n = run["orders"][0]["n_questions"]
    memory = f"{run['server_peak_bytes'] / 1e6:,.0f} MB" if run["server_peak_bytes"] else "not known"
    rows = [f"| the support bot | $ per 1,000 requests | TTFT p99 (of {n} questions: the slowest) | requests/s | memory |",
            "|---|---|---|---|---|"]
    return rows + [f"| {name} | ${usd} | {seconds(o['ttft_p99_ms'])} | {o['requests_per_s']:.2f} | {memory} |"
                   for name, usd, o in priced]


def row(run):
    return rows_of(run, [(o["name"], o["usd_per_1000"], o) for o in run["orders"]])


def row_of_hours(run):
    """A machine is paid by the hour, asked or not."""
    best = run["orders"][-1]
    usd = HOURLY_USD * 1000 / best["requests_per_s"] / 3600
    return rows_of(run, [(f"{best['name']}, own machine at ${HOURLY_USD:.2f} an hour, always busy", f"{usd:.3f}", best),
                         (f"the same, busy {BUSY_HOURS} hours a day", f"{24 / BUSY_HOURS * usd:.3f}", best)])


TABLES = {"lesson1-run": printed, "lesson1-curve": curve, "lesson1-wait": wait, "row-level1": row,
          "row-level2": row_of_hours}


def table_of(name, root):
    return TABLES[name](read(root))


def picture_is_stale(root):
    """Without a record there is nothing to show."""
    if not (root / RECORD).is_file():
        return False
    picture = root / PICTURE
    return not picture.is_file() or not png.shows(picture.read_bytes(), chart.draw(read(root)["curve"]))


def faults_of(root):
    if picture_is_stale(root):
        yield f"{PICTURE} is not what {RECORD} says: make refresh"


def write_picture(root):
    if picture_is_stale(root):
        (root / PICTURE).write_bytes(png.encoded(chart.draw(read(root)["curve"])))
        print(f"wrote {PICTURE}")
