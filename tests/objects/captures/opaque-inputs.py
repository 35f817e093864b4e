#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes PyTorch 2.15's graphs of objects whose classes torch._library.opaque_object registered: 2.15-opaque-*, an input,
whose members are read when it is traced, and a constant that is hoisted, so that it is an input, too; 2.15-constant-*,
a constant that is not hoisted and stays in the calls; 2.15-bumps-*, an operator with an effect that changes its object;
2.15-equal-*, equal constants, which stay apart; 2.15-graded-* and those after it, functions with gradients: objects,
constants and enumerations that the backward needs, and hooks that read them; 2.15-written-*, constants of constants and
enumerations. Each has the frontend's graph (-dynamo.txt) and AOTAutograd's (-aot.txt). lifted.pt2: a layer with both
kinds, of which torch.export keeps one.

    opaque-inputs.py
"""

import enum
import pathlib

import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_module_simplified
from torch._higher_order_ops.effects import _EffectType, _register_effectful_op
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


def capture(name, function, *inputs, halves=("aot", None)):
    def compiler(half):
        def compile(graph, inputs):
            write(f"{name}-{half}", graph)
            return make_boxed_func(graph.forward)
        return compile

    def backend(graph, inputs):
        write(f"{name}-dynamo", graph)
        return aot_module_simplified(graph, inputs, fw_compiler=compiler(halves[0]), bw_compiler=compiler(halves[1]))

    torch._dynamo.reset()
    return torch.compile(function, backend=backend, fullgraph=True)(*inputs)


def capture_halves(name, function, *inputs):
    capture(name, function, *inputs, halves=("forward", "backward")).sum().backward()


def inputs_of_it(x, counter, by):
    y = count(x, counter) * counter.n + counter.size()
    return scale(y, by) + scale(y, Scale(3.0))


def constants(x, by):
    return shift(shift(x, by), Shift(3.0)) * by.factor


capture("opaque", inputs_of_it, torch.ones(3), Counter(2), Scale(2.0))
capture("constant", constants, torch.ones(3), Shift(2.0))


class Pair(CustomClassBase):
    def __init__(self, one, more):
        self.one, self.more = one, more

    def __eq__(self, other):
        return isinstance(other, Pair) and (self.one, self.more) == (other.one, other.more)

    def __hash__(self):
        return hash((self.one, self.more))

    def __fx_repr__(self):
        return (f"Pair({self.one.__fx_repr__()[0]}, more=[{self.more.__fx_repr__()[0]}, 'x, y', None])",
                {"Pair": Pair, "Shift": Shift})


class Speed(enum.Enum):
    FAST = 1
    SLOW = 2


register_custom_class(Pair, typ="constant", hoist=False)


@torch.library.custom_op("mine::bump", mutates_args=())
def bump(counter: Counter, x: torch.Tensor) -> torch.Tensor:
    counter.n += 1
    return x + counter.n


@torch.library.custom_op("mine::pair", mutates_args=())
def pair(x: torch.Tensor, by: Pair) -> torch.Tensor:
    return x + by.one.factor


@torch.library.custom_op("mine::slow", mutates_args=())
def slow(x: torch.Tensor, by: Speed) -> torch.Tensor:
    return x * by.value


pair.register_fake(lambda x, other: torch.empty_like(x))
slow.register_fake(lambda x, other: torch.empty_like(x))
bump.register_fake(lambda counter, x: torch.empty_like(x))
_register_effectful_op(torch.ops.mine.bump.default, _EffectType.ORDERED)


def bumps(x, counter):
    return bump(counter, x) + bump(counter, x * 2)


def equal(x, by, other):
    return scale(x, by) + scale(x, other) + scale(x, Scale(2.0))


def written(x):
    return slow(slow(pair(x, Pair(Shift(2.0), Shift(3.0))), Speed.FAST), Speed.SLOW)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.counter, self.by = Counter(2), Scale(4.0)

    def forward(self, x):
        return scale(count(x, self.counter), self.by)


capture("bumps", bumps, torch.ones(3), Counter(2))
capture("equal", equal, torch.ones(3), Scale(2.0), Scale(2.0))
capture("written", written, torch.ones(3))


# -- with gradients --


def keep(ctx, inputs, output):
    ctx.by = inputs[1]


count.register_autograd(lambda ctx, g: (g, None))
scale.register_autograd(lambda ctx, g: (scale(g, ctx.by), None), setup_context=keep)
shift.register_autograd(lambda ctx, g: (g.clone(), None))
slow.register_autograd(lambda ctx, g: (slow(g, ctx.by), None), setup_context=keep)


def parameter():
    return torch.ones(3, requires_grad=True)


def graded(x, w, counter, by):
    y = count(x * w, counter) * counter.n
    return scale(y, by) + scale(y, Scale(3.0)) * counter.size()


def shifted(x, w, by):
    return shift(shift(x * w, by), Shift(3.0)) * by.factor


def speedy(x, w):
    return slow(slow(x * w, Speed.FAST), Speed.SLOW)


def speed_argument(x, w, speed):
    return slow(x * w, speed) * speed.value


class Weighted(Layer):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return super().forward(x * self.w) * self.counter.n


def hooked(x, w, k, counter):
    y = x * w
    y.register_hook(lambda g: g * k + counter.n)
    z = y.sin()
    z.register_hook(lambda g: scale(g, Scale(5.0)))
    return z


def hooked_objects(x, w, counter, by):
    y = x * w
    y.register_hook(lambda g: count(g, counter))
    z = y.sin()
    z.register_hook(lambda g: scale(shift(g, Shift(1.5)), by))
    return z


def hooked_tensors(x, w, k):
    factor = FACTORS[0]

    def body(g):
        t = k.sin()
        return g * t + factor * w.detach()

    y = x * w
    y.register_hook(body)
    return y.cos()


FACTORS = [2.0, 3.0]

capture_halves("graded", graded, torch.ones(3), parameter(), Counter(2), Scale(2.0))
capture_halves("layer", Weighted(), torch.ones(3))
capture_halves("shifted", shifted, torch.ones(3), parameter(), Shift(2.0))
capture_halves("speedy", speedy, torch.ones(3), parameter())
capture_halves("speed-argument", speed_argument, torch.ones(3), parameter(), Speed.SLOW)
capture_halves("hooked", hooked, torch.ones(3), parameter(), torch.full((3,), 2.0), Counter(3))
capture_halves("hooked-objects", hooked_objects, torch.ones(3), parameter(), Counter(3), Scale(2.5))
capture_halves("hooked-tensors", hooked_tensors, torch.ones(3), parameter(), torch.full((3,), 2.0))
torch.export.save(torch.export.export(Layer(), (torch.ones(3),)), HERE / "lifted.pt2")
