# SPDX-License-Identifier: MIT
"""Writes golden/<name>.txt: PyTorch 2.6's traces of the functions in test-trace.c.

    python make-golden.py GOLDEN_FOLDER
"""

import pathlib
import sys

import torch
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten
weight = torch.arange(6.0).reshape(2, 3)


def chain(x):
    y = aten.add.Tensor(x, x, alpha=2)
    z = aten.add.Tensor(y, 1)
    return aten.sum.dim_IntList(aten.mul.Tensor(y, z), [1], True, dtype=None)


def defaults(x):
    y = aten.add.Tensor(x, 1, alpha=1)
    z = aten.amax.default(y, [1], False)
    return aten.squeeze.dim(aten.unsqueeze.default(aten.mean.dim(z, [0], False, dtype=None), 0), 0)


def items(x):
    parts = aten.split.Tensor(x, 1, 1)
    norm = aten.native_layer_norm.default(x, [3], None, None, 1e-5)
    return [parts[1], norm[0]]


def lifted(x):
    return aten.mul.Tensor(aten.add.Tensor(x, weight), weight)


def in_place(x):
    y = aten.clone.default(x)
    aten.add_.Tensor(y, 1)
    view = aten.t.default(y)
    aten.mul_.Tensor(view, 2)
    return (y, aten.sum.default(y))


def factories(x):
    zeros = aten.zeros.default([2, 3], dtype=torch.float32, device="cpu", pin_memory=False)
    return aten.add.Tensor(aten.full.default([2, 3], -2.5, pin_memory=False), zeros)


def two_lists(primals, tangents):
    return [aten.mul.Tensor(primals[0], tangents[0]), aten.sum.default(primals[1]), None]


def sizes(x):
    rows = x.shape[0]
    count = rows * 3
    flat = aten.view.default(x, [count])
    ones = aten.ones.default([rows], pin_memory=False)
    return (flat, ones, count)


def main():
    folder = pathlib.Path(sys.argv[1])
    x = torch.zeros(2, 3)
    cases = [
        (chain, "fake", (x,)),
        (defaults, "fake", (x,)),
        (items, "fake", (x,)),
        (lifted, "real", (x,)),
        (in_place, "fake", (x,)),
        (factories, "fake", (x,)),
        (two_lists, "fake", ([x, x.clone()], [x.clone()])),
        (sizes, "symbolic", (x.new_zeros(5, 3),)),
    ]
    for function, mode, inputs in cases:
        graph = make_fx(function, tracing_mode=mode)(*inputs)
        text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
        (folder / f"{function.__name__}.txt").write_text(text + "\n")


main()
