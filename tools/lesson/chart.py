"""TTFT against the length of a prompt, as a picture of 800 by 400 pixels.

    seconds                    o   measured
       |                   o
       |            o  . '  '      the pace of the shortest prompt, kept up
       |     o . '
       +--------------------
        tokens of prompt
"""
import math

from lesson.picture import nice_above
from lesson.png import STEP, Canvas

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 90, 40, 50, 70  # around the field
SCALE = 2  # of letters
DOT = 9
INK, GRID, CURVE, PACE = b"\x33\x33\x33", b"\xdd\xdd\xdd", b"\x4c\x78\xa8", b"\x99\x99\x99"
MAX_PARTS = 5  # of an axis


def label(value):
    return f"{value:.10g}"


def ticks(highest):
    """Round numbers from 0 to one that is not below the highest value."""
    step = nice_above(highest / MAX_PARTS)
    return [i * step for i in range(math.ceil(highest / step - 1e-9) + 1)]


def draw(curve):
    """curve: [{"prompt_tokens": n, "ttft_ms": t}, ...], at least one, all above 0."""
    points = sorted((p["prompt_tokens"], p["ttft_ms"] / 1000) for p in curve)
    x_ticks, y_ticks = (ticks(max(values)) for values in zip(*points))
    canvas = Canvas(WIDTH, HEIGHT)

    def place(x, y):
        return (LEFT + round(x / x_ticks[-1] * (WIDTH - LEFT - RIGHT)),
                HEIGHT - BOTTOM - round(y / y_ticks[-1] * (HEIGHT - TOP - BOTTOM)))

    draw_axes(canvas, place, x_ticks, y_ticks)
    first, last = points[0], points[-1]
    canvas.line(place(*first), place(last[0], last[0] * first[1] / first[0]), 2, PACE, dash=6)
    for begin, end in zip(points, points[1:]):
        canvas.line(place(*begin), place(*end), 2, CURVE)
    for point in points:
        x, y = place(*point)
        canvas.fill(x - DOT // 2, y - DOT // 2, DOT, DOT, CURVE)
    return canvas


def draw_axes(canvas, place, x_ticks, y_ticks):
    width, end = STEP * SCALE, (x_ticks[-1], y_ticks[-1])
    for y in y_ticks:
        canvas.line(place(0, y), place(end[0], y), 1, GRID)
        canvas.text(LEFT - 10 - width * len(label(y)), place(0, y)[1] - 7, SCALE, label(y), INK)
    for x in x_ticks:
        canvas.line(place(x, 0), place(x, end[1]), 1, GRID)
        canvas.text(place(x, 0)[0] - width * len(label(x)) // 2, HEIGHT - BOTTOM + 12, SCALE, label(x), INK)
    canvas.line(place(0, 0), place(end[0], 0), 2, INK)
    canvas.line(place(0, 0), place(0, end[1]), 2, INK)
    name = "tokens of prompt"
    canvas.text(10, 15, SCALE, "seconds to the first token", INK)
    canvas.text(WIDTH - RIGHT - width * len(name), HEIGHT - 28, SCALE, name, INK)
