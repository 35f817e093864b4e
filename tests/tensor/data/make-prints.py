#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes prints.txt: how PyTorch prints a tensor.

Each line is "dtype sizes items bytes => text": sizes separated by commas ("-" for none), the number of
items above which the middle is left out, the bytes in hexadecimal; newlines in the text are "\\n".
Run with a Python that has PyTorch 2.6.
"""

import pathlib

import torch

nan, inf = float("nan"), float("inf")
f32, f64, bf16 = torch.float32, torch.float64, torch.bfloat16

CASES = [
    (torch.tensor(3.5), 100),
    (torch.tensor([1.0, 2.0, 30.0]), 100),
    (torch.tensor([0.5, -1.25, 1 / 3]), 100),
    (torch.tensor([[1e-5, 1.0], [2.0, 3.0]]), 100),
    (torch.tensor([1e9, 1.0, 2.5]), 100),
    (torch.tensor([100000.0, 1.0]), 100),
    (torch.tensor([nan, inf, -inf, 1.5]), 100),
    (torch.tensor([nan, inf, 2.0]), 100),
    (torch.tensor([0.0, -0.0]), 100),
    (torch.tensor([1, -20, 300]), 100),
    (torch.tensor([[True, False], [False, True]]), 100),
    (torch.tensor([1, 2], dtype=torch.int32), 100),
    (torch.tensor([255, 0], dtype=torch.uint8), 100),
    (torch.tensor([0.1, 0.2], dtype=bf16), 100),
    (torch.tensor([1 / 3, 2.0], dtype=torch.float16), 100),
    (torch.tensor([1 / 3, 2.0], dtype=f64), 100),
    (torch.arange(24.0).reshape(2, 3, 4), 100),
    (torch.arange(24.0).reshape(2, 3, 4) / 7, 100),
    (torch.arange(30) / 7, 100),
    (torch.arange(40), 100),
    (torch.arange(200), 100),
    (torch.arange(200.0) / 3, 100),
    (torch.arange(1000).reshape(50, 20), 100),
    (torch.arange(1000.0).reshape(10, 10, 10), 500),
    (torch.arange(60).reshape(4, 15), 50),
    (torch.empty(0), 100),
    (torch.empty(0, 3), 100),
    (torch.empty(2, 0, dtype=torch.int64), 100),
    (torch.tensor([1 + 2j, -0.5j]), 100),
]

with open(pathlib.Path(__file__).parent / "prints.txt", "w") as out:
    for tensor, items in CASES:
        torch.set_printoptions(threshold=items)
        sizes = ",".join(map(str, tensor.size())) or "-"
        raw = tensor.reshape(-1).view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)
        text = repr(tensor).replace("\n", "\\n")
        name = str(tensor.dtype)[6:]
        print(f"{name} {sizes} {items} {bytes(raw.tolist()).hex() or '-'} => {text}", file=out)
