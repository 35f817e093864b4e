# SPDX-License-Identifier: MIT
"""Writes data/drawn-RELEASE.txt with the installed PyTorch: random 16-bit numbers, and integers of wide ranges,
with the default seed.

A line: the call in the text form of graphs, the dtype, the numbers, and an integer drawn after them.
"""
import os
import sys

import torch

CALLS = {
    "rand.default([{n}], dtype = {dtype})": lambda n, dtype: torch.rand(n, dtype=dtype),
    "randn.default([{n}], dtype = {dtype})": lambda n, dtype: torch.randn(n, dtype=dtype),
    "uniform.default(x, -1.0, 3.0)": lambda n, dtype: torch.empty(n, dtype=dtype).uniform_(-1, 3),
    "normal_functional.default(x, 1.0, 2.0)": lambda n, dtype: torch.empty(n, dtype=dtype).normal_(1, 2),
}


INTEGERS = {
    "randint.default({high}, [{n}])": lambda n, high: torch.randint(high, (n,)),
    "randint.low({low}, {high}, [{n}])": lambda n, high: torch.randint(-3, high, (n,)),
    "randint_like.default(x, {high})": lambda n, high: torch.randint_like(torch.empty(n, dtype=torch.int64), high),
}


def row(call, n, dtype, draw, bound):
    torch.manual_seed(67280421310721)
    numbers = draw(n, bound).tolist()
    after = torch.randint(1 << 20, (1,)).item()
    return "\t".join([call, str(n), str(dtype), *map(repr, numbers), str(after)])


def rows():
    for call, draw in CALLS.items():
        for dtype in (torch.bfloat16, torch.float16):
            for n in (7, 32, 43):
                yield row(call.format(n=n, dtype=dtype), n, dtype, draw, dtype)
    for call, draw in INTEGERS.items():
        for bits in (27, 28, 31, 33):
            yield row(call.format(n=5, low=-3, high=1 << bits), 5, torch.int64, draw, 1 << bits)


def main():
    release = ".".join(torch.__version__.split(".")[:2])
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "data", f"drawn-{release}.txt"), "w", encoding="utf-8") as out:
        out.writelines(row + "\n" for row in rows())


if __name__ == "__main__":
    sys.exit(main())
