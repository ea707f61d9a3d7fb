"""Tokens to money, in decimals that round nothing before they are printed."""
import collections
import json
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"

Price = collections.namedtuple("Price", "model input cached output")  # dollars for a million tokens
Usage = collections.namedtuple("Usage", "prompt cached output")       # cached is a part of prompt
Rule = collections.namedtuple("Rule", "provider min_tokens step_tokens")

# The running example of the course: tokens of the block, of a question, of an answer.
BLOCK, QUESTION, ANSWER = 3000, 200, 300
REQUESTS = 1000


def read_price(model):
    """The price in dollars that holds all day; the one that began last."""
    prices = [p for p in json.loads((DATA / "prices.json").read_text(encoding="utf-8"))["prices"]
              if p["model"] == model and p["currency"] == "USD" and p["window"] is None]
    price = max(prices, key=lambda p: p["valid_from"] or "")
    return Price(model, *(Decimal(price[key]) for key in ("input", "cached_input", "output")))


def read_rule(provider):
    rules = json.loads((DATA / "cache-rules.json").read_text(encoding="utf-8"))["rules"]
    rule = max((r for r in rules if r["provider"] == provider), key=lambda r: r["valid_from"] or "")
    return Rule(provider, rule["min_tokens"], rule["step_tokens"])


def credited(rule, n_tokens):
    """How much of a prefix of n_tokens the rule bills as cached."""
    return 0 if n_tokens < rule.min_tokens else n_tokens - n_tokens % rule.step_tokens


def cost(usage, price):
    """Dollars; exact."""
    rest = usage.prompt - usage.cached
    return (rest * price.input + usage.cached * price.cached + usage.output * price.output) / 10**6


def per_thousand(usages, price):
    return sum(cost(usage, price) for usage in usages) * REQUESTS / len(usages)


def ideal(price):
    """Without a cache, and with the whole block cached in every request, the first one as well."""
    return tuple(REQUESTS * cost(Usage(BLOCK + QUESTION, cached, ANSWER), price) for cached in (0, BLOCK))


def by_rule(price, rule):
    """The first request finds nothing in the cache, the others what the rule credits them for the block."""
    bare = cost(Usage(BLOCK + QUESTION, 0, ANSWER), price)
    warm = cost(Usage(BLOCK + QUESTION, credited(rule, BLOCK), ANSWER), price)
    return REQUESTS * bare, bare + (REQUESTS - 1) * warm


def dollars(amount):
    return f"${amount.quantize(Decimal('0.001'), ROUND_HALF_EVEN)}"


def saved(before, after):
    return f"{(before - after) * 100 / before:.1f} %"
