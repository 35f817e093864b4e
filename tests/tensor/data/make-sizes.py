#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes sizes.txt: an expression, "=>", and how sympy prints it in a PyTorch graph.

Run with a Python that has PyTorch 2.6.
"""

import pathlib
import re

import sympy
from torch.utils._sympy import functions

EXPRESSIONS = """
FloorDiv(s77 - 1, 2) + 1
s2 * FloorDiv(s1, 2)
FloorDiv(s0, 2) ** 2
1 - s0
s1 - s0
10 - 2 * s0
1 - s0 * s1
1 - s0 ** 2
-s0 - 1
1 + s1 + s0 + s1 ** 2 + s1 * s0 + s0 ** 2
s0 * (s1 + 1)
2 * (s0 + 3)
FloorDiv(s0, 2) + s1
s0 - FloorDiv(s1, 2)
2 * FloorDiv(s0, 2)
-FloorDiv(s0, 2)
s2 + s10
s2 * s10
s0 * s0 * s1
3 * s0 - s0
s0 * s1 - s1 * s0
Max(1, u0) * s0
Max(u0, s0)
Min(s0, 7)
Mod(s0, 2) + 1
3 * Mod(s0, 2)
FloorDiv(s0, 2) < 3
Eq(s0, 4)
Ne(s0, s1)
And(s0 > 3, s1 < 2)
Or(s0 > 3, s1 < 2)
FloorDiv(s0 * s1, s2)
FloorDiv(s0, s1 + 1)
s1 * FloorDiv(s0, 2) * s2
FloorDiv(s0, 2) * (s1 + 1)
(s0 + 1) ** 2
3 - s0 + s1
Max(1, u0 - 1) + s1 * 2
FloorDiv(s0, 2) + FloorDiv(s1, 3)
FloorDiv(s1, 2) * FloorDiv(s0, 3)
FloorDiv(-s0, 2)
FloorDiv(2 * s0 + 1, 3)
FloorDiv(768 * s0, 768)
FloorDiv(s0 * s1 * 12, s0 * 12)
FloorDiv(2 * s0, 4)
FloorDiv(FloorDiv(s0, 2), 3)
Mod(s0 + 1, 3)
Mod(2 * s0, 2)
s0 * s1 - 1
5 - s0 - s1
FloorDiv(s0 + 1, 2) - 1
4 - 3 * FloorDiv(s0, 2)
1 - Max(1, u0)
s0 >= s1
FloorDiv(30 * s0 * s1, s0 * s1)
FloorDiv(30, s0 * s1)
FloorDiv(30 * s0, s0 * s1)
FloorDiv(30 * s0 * s1, 7 * s0 * s1)
FloorDiv(s0 * s1, s0 * s2)
FloorDiv(6 * s0, 4 * s1)
FloorDiv(6 * s0 + 4 * s1, 2 * s2)
FloorDiv(s0 * s1 + s0, s0)
FloorDiv(s0 * s1 + s0, s0 * s2)
FloorDiv(s0 * s1 + 3, s0)
FloorDiv(s0 + s1, s1)
FloorDiv(FloorDiv(s0, s1), 2)
FloorDiv(FloorDiv(s0, s1), s2)
FloorDiv(FloorDiv(s1, s0), s1)
FloorDiv(FloorDiv(s0 + s0, s1), 4)
FloorDiv(FloorDiv(7 * s1, 4), s0)
FloorDiv(FloorDiv(s1, 3), s0 + s1)
FloorDiv(4 * s0 * s1, 3 * s1)
FloorDiv((s0 + 1) * (s1 + 1) * 4, s0 + 1)
FloorDiv(16 * s0 * (FloorDiv(s1, 2) + 1), 16 * s0)
FloorDiv(s0 * FloorDiv(s1 + 3, 4), 2)
FloorDiv(4 * FloorDiv(s0, 4), 2)
FloorDiv(u0 * s0, s0)
(FloorDiv(s0 - 1, 2) + 1) * (FloorDiv(s1 - 1, 2) + 1)
2 * ((s0 + 1) * (s1 - 1))
Max(Max(1, u0), 4)
Min(Min(3, s0), s0)
Max(s0 * FloorDiv(s1, 6), Max(s0 + s2, 5 * s0))
Max(s0 * s0, s2)
Max(6 * s0, 2 * s1)
Min(FloorDiv(s2, s1) + 1, s0 + s1 + s2)
Min(s1 * s2, Min(5, s0))
Min(9 * s2, s0 * s2 - 5)
Min(Mod(s1, 2), s1 - 2)
Max(FloorDiv(s0, 3 * s2), s1)
""".strip().splitlines()

names = {name: sympy.Symbol(name, integer=True, positive=True) for name in "s0 s1 s2 s10 s77".split()}
names["u0"] = sympy.Symbol("u0", integer=True)
names |= {name: getattr(functions, name) for name in "FloorDiv Mod Max Min".split()}
names |= {"Eq": sympy.Eq, "Ne": sympy.Ne, "And": sympy.And, "Or": sympy.Or, "I": sympy.Integer}

with open(pathlib.Path(__file__).parent / "sizes.txt", "w") as out:
    for expression in EXPRESSIONS:
        value = eval(re.sub(r"(?<![a-z0-9])(\d+)", r"I(\1)", expression), {"__builtins__": {}}, names)
        print(f"{expression} => {value}", file=out)
