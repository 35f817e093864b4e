# SPDX-License-Identifier: MIT
"""Writes font-metrics.inc: advance widths of Cantarell and its bold, in 1/1000 of the size.

usage: font-metrics.py Cantarell-Regular.otf Cantarell-Bold.otf > font-metrics.inc
"""

import struct
import sys

EXTRA = "–—…×·∂↑↓→←▸▾−°µ"


def tables(data):
    (count,) = struct.unpack_from(">H", data, 4)
    for i in range(count):
        tag, _, offset, length = struct.unpack_from(">4sIII", data, 12 + 16 * i)
        yield tag.decode(), data[offset : offset + length]


def glyphs(cmap):
    """Returns a map of characters to glyphs, from the Windows Unicode subtable of format 4."""
    (count,) = struct.unpack_from(">H", cmap, 2)
    for i in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", cmap, 4 + 8 * i)
        if (platform, encoding) == (3, 1):
            break
    sub = cmap[offset:]
    segments = struct.unpack_from(">H", sub, 6)[0] // 2

    def column(k):
        return struct.unpack_from(f">{segments}H", sub, 14 + 2 * segments * k + (2 if k else 0))

    ends, starts, deltas, ranges = (column(k) for k in range(4))
    out = {}
    for i, (end, start, delta, reach) in enumerate(zip(ends, starts, deltas, ranges)):
        for char in range(start, min(end, 0xFFFE) + 1):
            if reach == 0:
                out[char] = (char + delta) & 0xFFFF
            else:
                at = 16 + 6 * segments + 2 * i + reach + 2 * (char - start)
                glyph = struct.unpack_from(">H", sub, at)[0]
                out[char] = (glyph + delta) & 0xFFFF if glyph else 0
    return out


def widths(path):
    with open(path, "rb") as file:
        table = dict(tables(file.read()))
    (em,) = struct.unpack_from(">H", table["head"], 18)
    (n_metrics,) = struct.unpack_from(">H", table["hhea"], 34)
    glyph = glyphs(table["cmap"])

    def width(char):
        index = min(glyph.get(ord(char), 0), n_metrics - 1)
        if index == 0:
            return 650  # drawn with another font
        return round(1000 * struct.unpack_from(">H", table["hmtx"], 4 * index)[0] / em)

    return width


def main():
    print("/* SPDX-License-Identifier: MIT */")
    for name, path in zip(("REGULAR", "BOLD"), sys.argv[1:3]):
        width = widths(path)
        numbers = [str(width(chr(c))) for c in range(32, 127)]
        print(f"ASCII (ADJ_FONT_{name},")
        for i in range(0, len(numbers), 16):
            print("       " + ", ".join(numbers[i : i + 16]) + ("," if i + 16 < len(numbers) else ")"))
        for char in EXTRA:
            print(f"OTHER (ADJ_FONT_{name}, 0x{ord(char):04x}, {width(char)}) /* {char} */")


main()
