# SPDX-License-Identifier: MIT
"""Writes PyTorch 2.15's graphs of compiled functions that print, and of leaf functions.

    python3 capture.py OUT

Writes for each function the frontend graph and the joint graph, the values of the function and its
gradients, and the printed text: OUT/NAME-dynamo.txt, -joint.txt, -values.txt, -printed.txt.
The body of a leaf function, which is an object of the process, is written as a graph after the
frontend graph.
"""

import contextlib
import io
import sys
from pathlib import Path

import torch
from functorch.compile import aot_module_simplified, make_boxed_func
from torch._dynamo.decorators import leaf_function
from torch.fx.experimental.proxy_tensor import make_fx

say = torch._higher_order_ops.print
HERE = Path(__file__).parent
FUNCTIONS = []


def function(f):
    FUNCTIONS.append(f)
    return f


@function
def says(x, w, s):
    h = x @ w
    say("h of {} by {name}", 3, name=s)
    y = h.relu()
    say("{{{0}}}\n{1} {0:.3f}", 1.5, y)
    return y.sum()


@function
def says_backward(x, w, s):
    h = x @ w

    def hook(grad):
        say("gradient {}", grad)
        return grad * s

    h.register_hook(hook)
    say("forward")
    return h.sin().sum()


@function
def says_what_is_written(x, w, s):
    h = x @ w
    h.mul_(2)
    say("{}", h)
    h.add_(s)
    say("{h}", h=h)
    return h.exp().sum()


@function
def says_values(x, w, s):
    say("{} {} {!r} {}", True, None, "text", 1e20)
    say("{n:5d}|{f:8.2e}|{s:>4}|{s:<4}|", n=7, f=1234.5, s="ab")
    return (x @ w * s).sum()


@leaf_function
def scale(a, b):
    return (a.sin() * b,)


@scale.register_fake
def scale_fake(a, b):
    return (torch.empty_like(a),)


@leaf_function
def split(a):
    return a.exp(), a.cos().sum(0)


@split.register_fake
def split_fake(a):
    return torch.empty_like(a), a.new_empty(a.shape[1])


@function
def leafed(x, w, s):
    h = x @ w
    (y,) = scale(h, s)
    return (y * h).sum()


@function
def leafed_twice(x, w, s):
    h = x @ w
    a, b = split(h)
    say("between")
    c, d = split(a)
    return (a * b).sum() + (c.tanh() * d).sum()


@leaf_function
def triple(a):
    return (a * 3,)


@triple.register_fake
def triple_fake(a):
    return (torch.empty_like(a),)


@leaf_function
def peak(a):
    return {"max": a.max(), "where": a.argmax()}


@peak.register_fake
def peak_fake(a):
    return {"max": a.new_empty(()), "where": a.new_empty((), dtype=torch.int64)}


@function
def leafed_thrice(x, w, s):
    h = x @ w
    for _ in range(3):
        (h,) = triple(h)
    return h.sum()


@function
def leafed_in_a_hook(x, w, s):
    h = x @ w
    h.register_hook(lambda grad: triple(grad)[0])
    return h.sin().sum()


@function
def leafed_integers(x, w, s):
    h = x @ w
    found = peak(h)
    return found["max"] * s + found["where"] * h.sum()


@function
def leafed_without_a_gradient(x, w, s):
    h = x @ w
    with torch.no_grad():
        (y,) = triple(h)
    (z,) = triple(s)
    return (h * y * z).sum()


@function
def leafed_between_prints(x, w, s):
    h = x @ w
    say("before {}", s)
    (y,) = triple(h)
    y.register_hook(lambda grad: grad * s)
    say("after {}", s)
    return (y * h).sum()


# For each leaf function that a graph calls: its function, and tensors like its arguments.
BODIES = {
    "leafed": [(lambda a, b: (a.sin() * b,), ((3, 3), ()))],
    "leafed_twice": 2 * [(lambda a: (a.exp(), a.cos().sum(0)), ((3, 3),))],
    "leafed_thrice": 3 * [(lambda a: (a * 3,), ((3, 3),))],
    "leafed_in_a_hook": [(lambda a: (a * 3,), ((3, 3),))],
    "leafed_integers": [(lambda a: (a.max(), a.argmax()), ((3, 3),))],
    "leafed_without_a_gradient": [(lambda a: (a * 3,), ((3, 3),)), (lambda a: (a * 3,), ((),))],
    "leafed_between_prints": [(lambda a: (a * 3,), ((3, 3),))],
}


# The leaf functions of the body of the last hook.
IN_A_HOOK = {"leafed_in_a_hook"}


def print_body(name, body, shapes, indent):
    graph = make_fx(body)(*(torch.zeros(shape) for shape in shapes))
    lines = graph.print_readable(print_output=False, include_stride=True, include_device=True).splitlines()
    lines[0] = f"class {name}(torch.nn.Module):"
    return "\n" + "\n".join(indent + line if line else "" for line in lines).rstrip() + "\n"


def print_bodies(name):
    indent = " " * (8 if name in IN_A_HOOK else 4)
    return "".join(
        print_body(f"{kind}_fn_{i - 1}" if i else f"{kind}_fn", body, shapes, indent)
        for i, (body, shapes) in enumerate(BODIES.get(name, [])) for kind in ("real", "fake"))


def write(out, name, graph, leaves=(), bodies=""):
    """Writes, after PyTorch's text, which of the inputs @leaves require a gradient, and leaf functions."""
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    text = text.replace(str(HERE) + "/", "")
    inputs = [node.name for node in graph.graph.find_nodes(op="placeholder")]
    marks = "".join(f"        # adj: {name} {{requires_grad: True}}\n"
                    for name, leaf in zip(inputs, leaves) if leaf.requires_grad)
    header = text.index("\n", text.index("def forward")) + 1
    (out / f"{name}.txt").write_text((text[:header] + marks + text[header:]).rstrip() + "\n" + bodies)


def write_numbers(out, name, tensors):
    (out / f"{name}-values.txt").write_text("".join(
        " ".join(f"{value:.9g}" for value in tensor.detach().flatten().tolist()) + "\n" for tensor in tensors))


def capture(out, f):
    def joint(graph, args, **options):
        write(out, f"{f.__name__}-joint", graph)
        return torch._functorch.partitioners.default_partition(graph, args, **options)

    def boxed(graph, args):
        return make_boxed_func(graph)

    def backend(graph, args):
        write(out, f"{f.__name__}-dynamo", graph, args, print_bodies(f.__name__))
        return aot_module_simplified(graph, args, fw_compiler=boxed, partition_fn=joint)

    torch._dynamo.reset()
    x = (torch.arange(12.0).reshape(3, 4) / 8 - 0.5).requires_grad_()
    w = (torch.arange(12.0).reshape(4, 3) / 4 - 1).requires_grad_()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        loss = torch.compile(f, backend=backend)(x, w, torch.tensor(2.0))
        loss.backward()
    write_numbers(out, f.__name__, (loss, x.grad, w.grad))
    (out / f"{f.__name__}-printed.txt").write_text(printed.getvalue())


def main(out):
    for f in FUNCTIONS:
        capture(out, f)


main(Path(sys.argv[1]))
