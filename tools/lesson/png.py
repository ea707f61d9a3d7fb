"""Pixels, the letters of our other pictures, and a PNG file: eight bits of red, green and blue a pixel."""
import re
import struct
import zlib
from pathlib import Path

FONT = Path(__file__).resolve().parents[2] / "common/picture.c"  # one alphabet for all our pictures
GLYPH = re.compile(r"\{'(.)', \{((?:0x[0-9A-F]{2}(?:, )?){7})\}\}")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
STEP = 6  # pixels from one letter to the next, at scale 1


def read_font():
    """Letter -> 7 rows of 5 bits, the left one first."""
    return {letter: [int(row, 16) for row in rows.split(", ")] for letter, rows in GLYPH.findall(FONT.read_text())}


class Canvas:
    """White at first. What lies outside is left out. Colours are bytes of red, green and blue."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.pixels = bytearray(b"\xff" * (3 * width * height))
        self.font = read_font()

    def fill(self, x, y, width, height, colour):
        for row in range(max(y, 0), min(y + height, self.height)):
            for column in range(max(x, 0), min(x + width, self.width)):
                at = 3 * (row * self.width + column)
                self.pixels[at:at + 3] = colour

    def line(self, begin, end, thickness, colour, dash=0):
        """dash: pixels drawn and left out in turns; 0: none is left out."""
        n_steps = max(abs(end[0] - begin[0]), abs(end[1] - begin[1]), 1)
        for i in range(n_steps + 1):
            if not dash or i // dash % 2 == 0:
                x, y = (round(b + (e - b) * i / n_steps) for b, e in zip(begin, end))
                self.fill(x - thickness // 2, y - thickness // 2, thickness, thickness, colour)

    def text(self, x, y, scale, text, colour):
        """A letter without a shape leaves a gap."""
        for letter in text:
            for row, bits in enumerate(self.font.get(letter, [])):
                for column in range(5):
                    if bits >> (4 - column) & 1:
                        self.fill(x + column * scale, y + row * scale, scale, scale, colour)
            x += STEP * scale


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def rows_of(canvas):
    """As a PNG file has them: a 0 in front of each row says that nothing was subtracted."""
    n = 3 * canvas.width
    return b"".join(b"\0" + canvas.pixels[i:i + n] for i in range(0, len(canvas.pixels), n))


def encoded(canvas):
    header = struct.pack(">IIBBBBB", canvas.width, canvas.height, 8, 2, 0, 0, 0)
    return (SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows_of(canvas), 9))
            + chunk(b"IEND", b""))


def shows(data, canvas):
    """Whether a file that encoded() once wrote has these pixels; how well they were packed is not compared."""
    begin = len(SIGNATURE)
    kinds = {}
    while begin + 8 <= len(data):
        length = struct.unpack(">I", data[begin:begin + 4])[0]
        kinds[data[begin + 4:begin + 8]] = data[begin + 8:begin + 8 + length]
        begin += 12 + length
    try:
        size = struct.unpack(">II", kinds[b"IHDR"][:8])
        return size == (canvas.width, canvas.height) and zlib.decompress(kinds[b"IDAT"]) == rows_of(canvas)
    except (KeyError, struct.error, zlib.error):
        return False
