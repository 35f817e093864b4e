# SPDX-License-Identifier: MIT
"""Writes data/drawn-RELEASE.txt with the installed PyTorch: what is drawn in 16 bits after the default seed.

A line: the call as the text of a graph has it, the dtype, the numbers, and a whole number drawn after them.
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


def rows():
    for call, draw in CALLS.items():
        for dtype in (torch.bfloat16, torch.float16):
            for n in (7, 32, 43):
                torch.manual_seed(67280421310721)
                numbers = draw(n, dtype).tolist()
                after = torch.randint(1 << 20, (1,)).item()
                yield "\t".join([call.format(n=n, dtype=dtype), str(n), str(dtype), *map(repr, numbers), str(after)])


def main():
    release = ".".join(torch.__version__.split(".")[:2])
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "data", f"drawn-{release}.txt"), "w", encoding="utf-8") as out:
        out.writelines(row + "\n" for row in rows())


if __name__ == "__main__":
    sys.exit(main())
