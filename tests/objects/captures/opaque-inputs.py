#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes 2.15-opaque-dynamo.txt and 2.15-opaque-aot.txt: what PyTorch 2.15 makes of objects of classes that
torch._library.opaque_object registered: one that is an input, whose members are read when it is traced, and one that
is a constant and hoisted, so that it is an input, too; and 2.15-constant-dynamo.txt and 2.15-constant-aot.txt, where
that is not hoisted and stands in the calls.

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


class Shift(Scale):
    def __fx_repr__(self):
        return f"Shift({self.factor!r})", {"Shift": Shift}


register_custom_class(Counter, typ="symbolic", guard_fn=lambda counter: [counter.n],
                      members={"n": MemberType.USE_REAL, "size": MemberType.USE_REAL})
register_custom_class(Scale, typ="constant", hoist=True)
register_custom_class(Shift, typ="constant", hoist=False)


@torch.library.custom_op("mine::count", mutates_args=())
def count(x: torch.Tensor, counter: Counter) -> torch.Tensor:
    return x + counter.n


@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, by: Scale) -> torch.Tensor:
    return x * by.factor


@torch.library.custom_op("mine::shift", mutates_args=())
def shift(x: torch.Tensor, by: Shift) -> torch.Tensor:
    return x + by.factor


for operator in (count, scale, shift):
    operator.register_fake(lambda x, other: torch.empty_like(x))


def write(name, graph):
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    (HERE / f"2.15-{name}.txt").write_text(text.replace(f"{HERE}/", "").rstrip() + "\n")


def capture(name, function, *inputs):
    def compiler(graph, inputs):
        write(f"{name}-aot", graph)
        return make_boxed_func(graph.forward)

    def backend(graph, inputs):
        write(f"{name}-dynamo", graph)
        return aot_module_simplified(graph, inputs, fw_compiler=compiler)

    return torch.compile(function, backend=backend, fullgraph=True)(*inputs)


def inputs_of_it(x, counter, by):
    y = count(x, counter) * counter.n + counter.size()
    return scale(y, by) + scale(y, Scale(3.0))


def constants(x, by):
    return shift(shift(x, by), Shift(3.0)) * by.factor


capture("opaque", inputs_of_it, torch.ones(3), Counter(2), Scale(2.0))
capture("constant", constants, torch.ones(3), Shift(2.0))
