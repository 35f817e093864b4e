#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes 2.15-opaque-dynamo.txt and 2.15-opaque-aot.txt: what PyTorch 2.15 makes of objects of classes that
torch._library.opaque_object registered: one that is an input, whose members are read when it is traced, and one that
is a constant and hoisted, so that it is an input, too.

    opaque-inputs.py
"""

import pathlib

import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_module_simplified
from torch._library.opaque_object import CustomClassBase, MemberType, register_custom_class

HERE = pathlib.Path(__file__).parent


class Counter(CustomClassBase):
    def __init__(self, n):
        self.n = n

    def size(self):
        return 7


class Scale(CustomClassBase):
    def __init__(self, factor):
        self.factor = factor

    def __eq__(self, other):
        return isinstance(other, Scale) and self.factor == other.factor

    def __hash__(self):
        return hash(self.factor)

    def __fx_repr__(self):
        return f"Scale({self.factor!r})", {"Scale": Scale}


register_custom_class(Counter, typ="symbolic", guard_fn=lambda counter: [counter.n],
                      members={"n": MemberType.USE_REAL, "size": MemberType.USE_REAL})
register_custom_class(Scale, typ="constant", hoist=True)


@torch.library.custom_op("mine::count", mutates_args=())
def count(x: torch.Tensor, counter: Counter) -> torch.Tensor:
    return x + counter.n


@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, by: Scale) -> torch.Tensor:
    return x * by.factor


for operator in (count, scale):
    operator.register_fake(lambda x, other: torch.empty_like(x))


def write(name, graph):
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    (HERE / f"2.15-opaque-{name}.txt").write_text(text.replace(f"{HERE}/", "").rstrip() + "\n")


def compiler(graph, inputs):
    write("aot", graph)
    return make_boxed_func(graph.forward)


def backend(graph, inputs):
    write("dynamo", graph)
    return aot_module_simplified(graph, inputs, fw_compiler=compiler)


@torch.compile(backend=backend, fullgraph=True)
def function(x, counter, by):
    y = count(x, counter) * counter.n + counter.size()
    return scale(y, by) + scale(y, Scale(3.0))


function(torch.ones(3), Counter(2), Scale(2.0))
