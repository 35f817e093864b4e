# SPDX-License-Identifier: MIT
"""Writes the examples of partition/SPEC.md §8 that need a trace: PyTorch 2.6's joint graphs of functions,
without `detach`, and its partitioners' decisions.

  make-goldens.py > goldens.txt

Each case is the text of a joint graph, then lines "#@ key value" (see make-expected.py).
"""

import copy
import operator
from functools import partial

import torch
import torch.utils.checkpoint as ckpt
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import aot_function

expected = __import__("make-expected")
aten = torch.ops.aten
SIGNS = {operator.add: "+", operator.sub: "-", operator.mul: "*"}


# -- text with symbols ---------------------------------------------------------------------------

def annotation(val):
    if isinstance(val, torch.SymInt):
        return f"Sym({val})"
    sizes = ", ".join(str(s) for s in val.shape)
    strides = ", ".join(str(s) for s in val.stride())
    return f"{expected.DTYPES[val.dtype]}[{sizes}][{strides}]cpu"


def symbol_lines(graph):
    seen = {}
    for node in graph.nodes:
        val = node.meta.get("val")
        sizes = list(val.shape) if isinstance(val, torch.Tensor) else [val]
        for size in sizes:
            if isinstance(size, torch.SymInt):
                for symbol in size.node.expr.free_symbols:
                    hint = size.node.shape_env.var_to_val[symbol]
                    seen[str(symbol)] = int(hint)
    return [f"        # adj: symbol {name} {{hint: {hint}}}" for name, hint in sorted(seen.items())]


def call_of(node):
    if node.target is operator.getitem:
        return f"{node.args[0].name}[{node.args[1]}]"
    args = [expected.printed(a) for a in node.args]
    args += [f"{k} = {expected.printed(v)}" for k, v in node.kwargs.items()]
    if node.target in SIGNS:
        return f" {SIGNS[node.target]} ".join(args)
    return f"torch.ops.{node.target}({', '.join(args)})"


def facts(node, storages):
    val = node.meta.get("val")
    return "{}" if isinstance(val, torch.SymInt) else expected.facts(node, storages)


def text_of(graph):
    storages = expected.Storages()
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    head = ", ".join(f'{n.name}: "{annotation(n.meta["val"])}"' for n in holders)
    lines = ["class GraphModule(torch.nn.Module):", f"    def forward(self, {head}):"]
    lines += symbol_lines(graph)
    lines += [f"        # adj: {n.name} {facts(n, storages)}" for n in holders]
    for n in graph.nodes:
        if n.op == "output":
            lines.append(f"        return {expected.printed(list(n.args[0]))}")
        elif n.op == "call_function":
            val = n.meta["val"]
            note = f': "{annotation(val)}"' if isinstance(val, (torch.Tensor, torch.SymInt)) else ""
            lines.append(f"        {n.name}{note} = {call_of(n)}  # adj: {facts(n, storages)}")
    return "\n".join(lines) + "\n"


# -- programs ------------------------------------------------------------------------------------

def cat_of_expand(a, b, c):
    return torch.cat([a.expand(b.size(0) + c.size(0), a.size(0)), b, c])


def sizes_and_tensors(a, b, c, d):
    cat = torch.cat([a.expand(b.size(0) + c.size(0), a.size(0)), b, c])
    mm = torch.mm(cat, d)
    mm2 = torch.mm(mm, a.view(mm.size(1), a.size(0)))
    return cat, b.size(), c, mm2


def gn(x):
    x = torch.cos(x)
    for _ in range(3):
        x = torch.mm(x, x)
    return torch.cos(x)


def back_to_back(x):
    return ckpt.checkpoint(gn, ckpt.checkpoint(gn, x, use_reentrant=False), use_reentrant=False)


def sigmoid_mm(x, y):
    return torch.sigmoid(torch.mm(x, y))


def sin_between(x, y):
    x = ckpt.checkpoint(sigmoid_mm, torch.sin(x), y, use_reentrant=False)
    return ckpt.checkpoint(sigmoid_mm, torch.sin(x), y, use_reentrant=False)


def returns_sin(x):
    def region(x):
        o = torch.cos(torch.sin(torch.mm(torch.mm(x, x), x)))
        out = torch.sin(x)
        return o, out

    o, out = ckpt.checkpoint(region, x, use_reentrant=False)
    return o + out, out


def new_ones(a):
    return torch.tanh(torch.tanh(torch.mm(a, a.new_ones(a.shape))))


def two_adds(a):
    b = a
    a = torch.mm(a, a)
    a = a + 1
    b = a + 2
    return torch.mm(a, b)


def cat_of_tanh(a, b):
    return torch.cat([torch.tanh(a), b])


class SavesView(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        saved = x.cos().view(10, 10)
        ctx.save_for_backward(saved, x.sin())
        return saved.cos()

    @staticmethod
    def backward(ctx, grad):
        saved, sine = ctx.saved_tensors
        return torch.mm(grad, saved).view(100) * sine


def outer(a, b):
    return (a * b).cos().sum(dim=1)


def positive_part(x):
    return (x < 0) * x


def two_blocks(x):
    for _ in range(2):
        orig = x
        x = x * x
        x = torch.mm(x, x)
        x = x * 2
        x = orig + x
    return x


def cos3(a):
    return a.cos().cos().cos()


def add4(a, b, c, d):
    return (a + b + c + d).cos().cos()


R = partial(torch.randn, requires_grad=True)
PROGRAMS = [
    ("G6", cat_of_expand, lambda: (R(10), R(3, 10), R(4, 10)), True),
    ("G7", sizes_and_tensors, lambda: (R(10), R(3, 10), R(4, 10), R(10, 1)), True),
    ("G18-back-to-back", back_to_back, lambda: (R(4, 4),), None),
    ("G18-sin-between", sin_between, lambda: (R(4, 4), R(4, 4)), None),
    ("G24", returns_sin, lambda: (R(4, 4),), None),
    ("G28-cos3", cos3, lambda: (R(10),), False),
    ("G28-add4", add4, lambda: (R(10), R(10), R(10), R(10)), False),
    ("G28-tanh", new_ones, lambda: (R(10, 10),), False),
    ("G28-adds", two_adds, lambda: (R(10, 10),), False),
    ("G28-cat", cat_of_tanh, lambda: (R(10), R(10)), False),
    ("G28-view", SavesView.apply, lambda: (R(100),), False),
    ("G10-traffic", positive_part, lambda: (R(100),), False),
    ("G11-traffic", outer, lambda: (R(20, 1), R(1, 20)), False),
    ("G28-blocks", two_blocks, lambda: (R(10, 10),), False),
]


def without_detach(module):
    for node in list(module.graph.nodes):
        if node.target is aten.detach.default:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
    module.recompile()
    return module


def show(name, module, n_outputs):
    module = without_detach(module)
    print(text_of(module.graph), end="")
    for which in ("min-cut", "default"):
        lines = expected.decide(copy.deepcopy(module), n_outputs, 1, [], which)
        expected.print_case([("name", name)] + lines)


def run(name, function, inputs, dynamic):
    """Uses Dynamo if there are regions; otherwise AOTAutograd directly, which gives sizes no inputs of their own."""
    def partition(module, joint_inputs, *, num_fwd_outputs, **kwargs):
        show(name, copy.deepcopy(module), num_fwd_outputs)
        return expected.partitioners.default_partition(module, joint_inputs,
                                                       num_fwd_outputs=num_fwd_outputs, **kwargs)

    if dynamic is None:
        backend = aot_autograd(fw_compiler=lambda module, _: module.forward, partition_fn=partition)
        torch._dynamo.reset()
        torch.compile(function, backend=backend, fullgraph=True)(*inputs())
    else:
        aot_function(function, lambda module, _: module, partition_fn=partition,
                     dynamic=dynamic)(*inputs())


if __name__ == "__main__":
    expected.record_cuts()
    for row in PROGRAMS:
        run(*row)
