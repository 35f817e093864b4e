# SPDX-License-Identifier: MIT
"""Writes PyTorch's graphs of hooks that a compiled function adds to its tensors (2.7 and newer).

    python3 capture.py OUT

Writes for each function the frontend graph, with the body of each hook, and the joint graph:
OUT/NAME-dynamo.txt, OUT/NAME-joint.txt.
"""

import sys
from pathlib import Path

import torch
from functorch.compile import aot_module_simplified, make_boxed_func

HERE = Path(__file__).parent
FUNCTIONS = []


def function(f):
    FUNCTIONS.append(f)
    return f


@function
def scaled(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: grad * s + 1)
    return h.relu().sum()


@function
def used_twice(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: grad.clamp(-1, 1))
    return (h.sin() * h).sum()


@function
def reads_itself(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: grad * h)
    return h.exp().sum()


@function
def two(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: grad * 2)
    h.register_hook(lambda grad: grad + s)
    y = h.tanh()
    y.register_hook(lambda grad: grad.sin())
    return y.sum()


@function
def keeps(x, w, s):
    h = x @ w

    def hook(grad):
        grad.sum()

    h.register_hook(hook)
    return h.sum()


@function
def of_view(x, w, s):
    h = (x @ w).t()
    h.register_hook(lambda grad: grad * s)
    return h.cos().sum()


@function
def looped(x, w, s):
    h = x @ w
    for factor in (0.5, 2.0, 3.0):
        h = h.sin()
        h.register_hook(lambda grad, factor=factor: grad * factor)
    return h.sum()


def soften(grad, scale):
    weight = torch.softmax(grad, dim=1)
    return torch.where(grad > 0, grad * weight, grad / scale)


@function
def helped(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: soften(grad, s))
    return h.exp().sum()


@function
def of_chunk(x, w, s):
    a, b = (x @ w).chunk(2, dim=1)
    b.register_hook(lambda grad: grad + s)
    return (a.sum() * b.cos()).sum()


@function
def of_written(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: grad * 3)
    h.mul_(s)
    h.register_hook(lambda grad: grad - 1)
    return h.sin().sum()


@function
def writes(x, w, s):
    h = x @ w

    def hook(grad):
        grad = grad.clone()
        grad.mul_(s)
        return grad

    h.register_hook(hook)
    return h.tanh().sum()


@function
def reads_many(x, w, s):
    h = x @ w
    y = h.relu()
    y.register_hook(lambda grad: grad * h + (x.sum() * w.sum() + s) / h.shape[1])
    return (y * y).sum()


@function
def used_before(x, w, s):
    h = x @ w
    before = h.sin()
    h.register_hook(lambda grad: grad.abs())
    return (before + h.cos()).sum()


@function
def looks_and_scales(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: None)
    h.register_hook(lambda grad: grad * s)
    return h.exp().sum()


@function
def of_hooked(x, w, s):
    h = x @ w
    y = h.sigmoid()
    y.register_hook(lambda grad: grad * y)
    z = y * h
    z.register_hook(lambda grad: grad + y)
    return z.sum() + y.mean()


def write(out, name, graph, leaves=()):
    """Writes, after PyTorch's text, which of the inputs @leaves require a gradient."""
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    text = text.replace(str(HERE) + "/", "")
    inputs = [node.name for node in graph.graph.find_nodes(op="placeholder")]
    marks = "".join(f"        # adj: {name} {{requires_grad: True}}\n"
                    for name, leaf in zip(inputs, leaves) if leaf.requires_grad)
    header = text.index("\n", text.index("def forward")) + 1
    text = text[:header] + marks + text[header:]
    (out / f"{name}.txt").write_text(text.rstrip() + "\n")


def capture(out, f):
    def joint(graph, args, **options):
        write(out, f"{f.__name__}-joint", graph)
        return torch._functorch.partitioners.default_partition(graph, args, **options)

    def boxed(graph, args):
        return make_boxed_func(graph)

    def backend(graph, args):
        write(out, f"{f.__name__}-dynamo", graph, args)
        return aot_module_simplified(graph, args, fw_compiler=boxed, partition_fn=joint)

    torch._dynamo.reset()
    torch.manual_seed(0)
    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    torch.compile(f, backend=backend)(x, w, torch.tensor(2.0)).backward()


def main(out):
    for f in FUNCTIONS:
        capture(out, f)


main(Path(sys.argv[1]))
