"""A curve in plain characters: points on axes that begin at 0, at most 80 columns."""
WIDTH, HEIGHT, MARGIN = 64, 14, 8


def nice_above(value):
    """1, 2 or 5 times a power of ten, not below the value."""
    power = 10.0 ** -4
    while True:
        for factor in (1, 2, 5):
            if factor * power >= value * (1 - 1e-9):
                return factor * power
        power *= 10


def spread_labels(marks, width):
    """Texts at their columns, in one line; one that would touch its neighbour is left out."""
    line = ""
    for column, text in marks:
        start = max(0, min(column - len(text) // 2, width - len(text)))
        if not line or start > len(line):
            line = line.ljust(start) + text
    return line


def draw(points, y_name, x_name):
    """The lines of a picture of points (x, y), all above 0."""
    x_top, y_top = max(x for x, _ in points), nice_above(max(y for _, y in points))
    rows = [[" "] * (WIDTH + 1) for _ in range(HEIGHT + 1)]
    marks = []
    for x, y in sorted(points):
        column = round(x * WIDTH / x_top)
        rows[HEIGHT - round(y * HEIGHT / y_top)][column] = "*"
        marks.append((column, str(x)))
    lines = [y_name]
    for i, row in enumerate(rows):
        value = f"{y_top * (HEIGHT - i) / HEIGHT:.3g}" if i % (HEIGHT // 2) == 0 else ""
        lines.append(f"{value:>{MARGIN - 2}} |{''.join(row)}".rstrip())
    lines.append(" " * (MARGIN - 1) + "+" + "-" * WIDTH)
    lines.append(" " * MARGIN + spread_labels(marks, WIDTH + 1))
    lines.append(x_name.rjust(MARGIN + WIDTH))
    return lines
