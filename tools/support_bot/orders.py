"""Orders as the shop's system shows them to the bot: invented customers, and dates that fit each other."""
from dataclasses import dataclass
from datetime import date, timedelta

ITEMS = {  # name, cents, what may stand behind the name
    "lantern": ("Glowmoth lantern", 3400, ("brass", "black", "sea green")),
    "lamp": ("Pocket Moon lamp", 2200, ()),
    "oil": ("lamp oil", 750, ("1 litre",)),
    "kettle": ("Stubborn Kettle", 4100, ()),
    "stove": ("Ember Pot stove", 7900, ()),
    "tent": ("Burrow tent", 18900, ()),
    "hammock": ("Lazy Otter hammock", 5800, ()),
    "kite": ("Gale kite", 2700, ()),
    "named kite": ("Gale kite with a name", 3300, ()),
    "clock": ("Fogbell alarm clock", 3100, ()),
}
ANY = ("lantern", "lamp", "kettle", "stove", "tent", "hammock", "kite", "clock")
BULKY = ("stove", "tent")
FREE_FROM, STANDARD, EXPRESS, BULKY_MORE, LABEL = 6000, 490, 1190, 300, 390  # cents

FIRST = ("Mara", "Tobin", "Ines", "Oskar", "Leila", "Jun", "Hester", "Bruno", "Amina", "Pavel", "Rosalind", "Kofi", "Greta",
         "Matteo", "Sunniva", "Edmund", "Yara", "Casper", "Noor", "Wilma", "Ravi", "Flora", "Anton", "Zelda")
LAST = ("Quillfeather", "Bramblewick", "Marshlight", "Tanglewood", "Oddfellow", "Pennywhistle", "Thistledown", "Hopscotch",
        "Larkspur-Reed", "Mugwort", "Candlebee", "Saltwhisker", "Fiddlehead", "Rumblethorpe", "Dewberry", "Cobbleton-Finch")
TOWNS = ("Port Nettle", "Alder Cross", "Dunmere Sands", "Saltby", "Low Furrow", "Marrow Hill", "Thistle Quay", "East Tarn",
         "Upper Bellows", "Candle Green")
CENTRES = ("Alder Cross", "Marrow Hill", "East Tarn")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")
THIS_YEAR = 2027
SEASON = (date(THIS_YEAR, 3, 1), 88)  # the first day on which a question may come, and how many follow


@dataclass
class Order:
    town: str
    elsewhere: str  # another town
    hour: int  # of the question
    item: str  # what the question is about, by name
    other: int  # number of a second order of the same day
    text: str  # what the bot is shown


def dollars(cents):
    return f"${cents // 100}.{cents % 100:02}"


def day_text(day):
    year = "" if day.year == THIS_YEAR else f" {day.year}"
    return f"{WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]}{year}"


def working_day(day, n_days):
    """n_days working days later, or earlier; 0: this day, or the last working day before it."""
    while day.weekday() > 4:
        day -= timedelta(1)
    for _ in range(abs(n_days)):
        day += timedelta(1 if n_days > 0 else -1)
        while day.weekday() > 4:
            day += timedelta(1 if n_days > 0 else -1)
    return day


def draw_today(dice, state):
    today = SEASON[0] + timedelta(dice.whole(0, SEASON[1] - 1))
    return working_day(today, 0) if state == "packed" else today


def draw_basket(dice, topic):
    """(item, number, what stands behind its name) of each line; the first is what the question is about."""
    main = dice.pick(ANY if topic.items == "any" else [key for key in ITEMS if key in words_of(topic.items)])
    others = [key for key in (*ANY, "oil") if key != main and not (main == "oil" and key == "lantern")]
    n_lines = 1 + (topic.id == "missing-item" or dice.chance(0.55)) + dice.chance(0.2)
    keys = [main, *dice.shuffled(others)[:n_lines - 1]]
    lines = []
    for key in keys:
        kinds = [kind for kind in ITEMS[key][2] if not (topic.id == "exchange-colour" and kind == "black")]
        n = dice.whole(2, 3) if key == "oil" or (topic.id == "missing-item" and key == main) else 1
        lines.append((key, n, dice.pick(kinds) if kinds else ""))
    return lines


def words_of(items):
    """"named kite" is one name; all others are words."""
    return ["named kite"] if items == "named kite" else items.split()


def draw_delivery(dice, topic, lines, sum_cents):
    """(name, cents)"""
    is_bulky = any(key in BULKY for key, _, _ in lines)
    may_hurry = topic.state != "received" and not any(key == "stove" for key, _, _ in lines)
    if may_hurry and dice.chance(0.2):
        name, cents = "express", EXPRESS
    else:
        name, cents = "standard", 0 if sum_cents >= FREE_FROM else STANDARD
    return name, cents + (BULKY_MORE if is_bulky else 0)


def draw_story(dice, topic, today, refund_cents):
    """(day of the order, what happened to it since) for each state."""
    n_days = dice.whole(*topic.days)
    day = today - timedelta(n_days)
    if topic.state == "received":
        return day, "Not packed yet."
    if topic.state == "packed":
        return working_day(today, -1), f"Packed {day_text(today)}, not yet with the carrier."
    if topic.state == "on its way":
        packed = working_day(day, 0)
        scan = packed if n_days < 3 else working_day(packed, 1)
        return working_day(packed, -dice.whole(0, 1)), (
            f"Packed {day_text(packed)}. Last scan: {day_text(scan)}, sorting centre {dice.pick(CENTRES)}.")
    if topic.state == "delivered":
        delivered = working_day(day, 0)
        packed = working_day(delivered, -dice.whole(2, 4))
        return working_day(packed, -dice.whole(0, 1)), f"Packed {day_text(packed)}, delivered {day_text(delivered)}."
    back = working_day(day, 0)
    paid = min(working_day(back, dice.whole(1, 3)), today)
    return working_day(back, -dice.whole(12, 16)), (
        f"Return received {day_text(back)}; {dollars(refund_cents)} paid back to the card {day_text(paid)}.")


def draw_past(dice, topic):
    """Many write of an earlier order; only those who ask for the welcome code have none."""
    if topic.id == "voucher-forgotten":
        return "first order, 0 points"
    n = dice.whole(1, 6)
    return f"{n} order{'s' if n > 1 else ''} before, {10 * dice.whole(0, 45)} points"


def draw_order(dice, topic):
    today = draw_today(dice, topic.state)
    lines = draw_basket(dice, topic)
    sum_cents = sum(n * ITEMS[key][1] for key, n, _ in lines)
    delivery, delivery_cents = draw_delivery(dice, topic, lines, sum_cents)
    placed, story = draw_story(dice, topic, today, sum_cents - LABEL)
    may_be_transfer = topic.state == "delivered" and topic.id != "invoice" and dice.chance(0.25)
    paid = "bank transfer" if topic.id == "bank-transfer" or may_be_transfer else "card"
    if topic.id == "bank-transfer":
        story = "No money has arrived yet. " + story
    town, elsewhere = dice.shuffled(TOWNS)[:2]
    number = dice.whole(41000, 98000)
    # An order that is paid by one o'clock is packed on that day; one that is not packed was asked about before.
    hour = dice.whole(8, 12 if topic.state in ("received", "packed") else 21)
    shown = [
        f"Customer: {dice.pick(FIRST)} {dice.pick(LAST)}, {town}, {draw_past(dice, topic)}.",
        f"Order {number} of {day_text(placed)}, payment by {paid}, state: {topic.state}.",
        *(f"{n} x {ITEMS[key][0]}{', ' if kind else ''}{kind}, {dollars(n * ITEMS[key][1])}" for key, n, kind in lines),
        f"Items {dollars(sum_cents)}, {delivery} delivery {dollars(delivery_cents)}, "
        f"total {dollars(sum_cents + delivery_cents)}.",
        story,
        f"Now: {day_text(today)}, {hour}:{dice.whole(0, 59):02}.",
    ]
    return Order(town, elsewhere, hour, ITEMS[lines[0][0]][0], number + dice.whole(1, 40), "\n".join(shown))
