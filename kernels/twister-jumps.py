#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes how MT19937 skips words, as C: twister-jumps.py OUTPUT WORDS N

Words of the stream that are far from each other depend on each other as the characteristic polynomial P of the
generator says: with x^j = the sum of c_i x^i modulo P over two elements, word n + j is the XOR of the words n + i
for which c_i is 1, if n is the number of a word that was made.  Row k has the bits c_i of a jump of (k + 1) · WORDS.
"""

import sys

WORDS, FAR, DEGREE = 624, 397, 19937
SPLIT = 31  # bits that a word gives to its predecessor
TWIST = 0x9908B0DF

HEAD = """#include "cuda/launch.h"

_Static_assert(CUDA_SEGMENT == {words} && CUDA_SEGMENTS == {n} + 1, "jumps are from segment to segment");

const uint32_t adj_k_twister_jumps[CUDA_SEGMENTS - 1][ADJ_K_TWISTER_WORDS] = {{
"""


def multiply(a, b):
    product = 0
    while b:
        product ^= a << ((b & -b).bit_length() - 1)
        b &= b - 1
    return product


def square(a):
    return int(bin(a)[2:], 4)


def powers(a, n):
    result = [1]
    for _ in range(n):
        result.append(multiply(result[-1], a))
    return result


def characteristic():
    """Returns P, by the formula of Matsumoto and Nishimura (1998)."""
    upper = powers((1 << WORDS) | (1 << FAR), 32 - SPLIT)
    lower = powers((1 << WORDS - 1) | (1 << FAR - 1), SPLIT)
    result = multiply(upper[-1], lower[-1])
    for bit in range(32):
        if TWIST >> bit & 1:
            result ^= multiply(upper[-1], lower[SPLIT - 1 - bit]) if bit < SPLIT else upper[31 - bit]
    return result


def main():
    output, words, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rest = characteristic() ^ (1 << DEGREE)
    assert rest.bit_length() <= DEGREE

    def reduce(a):
        while a >> DEGREE:
            a = a & ((1 << DEGREE) - 1) ^ multiply(a >> DEGREE, rest)
        return a

    step = 2
    assert words & (words - 1) == 0
    for _ in range(words.bit_length() - 1):
        step = reduce(square(step))
    with open(output, "w", encoding="utf-8") as out:
        out.write(HEAD.format(words=words, n=n))
        jump = 1
        for _ in range(n):
            jump = reduce(multiply(jump, step))
            row = [f"0x{jump >> 32 * i & 0xFFFFFFFF:08x}" for i in range(WORDS)]
            out.write("  { " + ",\n    ".join(", ".join(row[i : i + 8]) for i in range(0, WORDS, 8)) + " },\n")
        out.write("};\n")


main()
