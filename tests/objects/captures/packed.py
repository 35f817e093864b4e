#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes packed-values.txt: results of PyTorch's quantized.linear_dynamic, a line for each product.

    packed.py

Sizes (outputs, inputs, rows) and reduce_range, then, each after a bar, the integers of the weight, scales, zero
points, the bias (empty: none), the input, and the result.
"""

import pathlib
import warnings

import torch

warnings.simplefilter("ignore")


def weight(seed, rows, columns, generator):
    weight = torch.randn(rows, columns, generator=generator)
    if seed % 2:
        q = torch.quantize_per_tensor(weight, 0.03 + 0.01 * seed, seed - 3, torch.qint8)
        return q, [q.q_scale()], [q.q_zero_point()]
    scales = 0.02 + torch.rand(rows, generator=generator).double() * 0.05
    q = torch.quantize_per_channel(weight, scales, torch.zeros(rows, dtype=torch.long), 0, torch.qint8)
    return q, q.q_per_channel_scales().tolist(), q.q_per_channel_zero_points().tolist()


def product(seed):
    generator = torch.Generator().manual_seed(seed)
    outs, width, rows = (int(n) for n in torch.randint(1, 7, (3,), generator=generator))
    q, scales, zeros = weight(seed, outs, width, generator)
    bias = torch.randn(outs, generator=generator) if seed % 3 else None
    x = torch.randn(rows, width, generator=generator) * (seed % 4)
    packed = torch.ops.quantized.linear_prepack(q, bias)
    y = torch.ops.quantized.linear_dynamic(x, packed, seed % 5 == 0)
    parts = [[outs, width, rows, int(seed % 5 == 0)], q.int_repr().flatten().tolist(), scales, zeros,
             [] if bias is None else bias.tolist(), x.flatten().tolist(), y.flatten().tolist()]
    return " | ".join(" ".join(repr(number) for number in part) for part in parts)


lines = [product(seed) for seed in range(16)]
pathlib.Path(__file__).with_name("packed-values.txt").write_text("\n".join(lines) + "\n")
