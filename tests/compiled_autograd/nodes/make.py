#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the graphs in this folder: backwards as compiled autograd of PyTorch 2.7 and later captures them, a call
for each node, with the inputs and PyTorch's gradients.

    make.py [NAME...]

NAME.txt and NAME.json, for each function of FUNCTIONS and each program of ../golden/programs.py without hooks: the
graph, inputs and sizes, and the accumulated gradients in graph order.  For programs with hooks, second captures, and
the programs here, whose sizes are fixed until they change, graphs/ has the graph only.  forward/NAME.txt is the
forward of each function of FUNCTIONS that depends on its arguments only.  The
test needs no PyTorch.
"""

import json
import pathlib
import re
import sys
import warnings

import torch
import torch._dynamo
import torch._dynamo.compiled_autograd as compiled_autograd
import torch.nn.functional as F
import torch.utils.checkpoint
from torch.fx.experimental.proxy_tensor import make_fx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
import make as golden  # noqa: E402
import programs  # noqa: E402

I = torch.tensor([[0, 2], [3, 1]])
MASK = torch.tensor([[True, False, True, False], [False, True, True, False], [True, True, False, True]])

# name: (function, shapes of the leaves)
FUNCTIONS = {
    "abs": (lambda x: x.abs(), (3, 4)),
    "add-broadcast": (lambda x, y: torch.add(x, y, alpha=2), (3, 4), (4,)),
    "addcmul": (lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (3, 4), (3, 4), (4,)),
    "addmm": (lambda b, x, w: torch.addmm(b, x, w), (5,), (3, 4), (4, 5)),
    "amax": (lambda x: x.amax(1), (3, 4)),
    "avg-pool": (lambda x: F.avg_pool2d(x, 2), (1, 2, 4, 4)),
    "baddbmm": (lambda b, x, y: torch.baddbmm(b, x, y), (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    "batch-norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (4, 3, 2), (3,), (3,)),
    "bmm": (lambda x, y: x @ y, (2, 3, 4), (2, 4, 5)),
    "cat": (lambda x, y: torch.cat([x, y], 1), (3, 4), (3, 2)),
    "clamp": (lambda x: x.clamp(-0.3, 0.4), (3, 4)),
    "conv": (lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), (1, 2, 5, 5), (3, 2, 3, 3), (3,)),
    "cross-entropy": (lambda x: F.cross_entropy(x, torch.tensor([1, 0, 3])), (3, 4)),
    "cumsum": (lambda x: x.cumsum(1), (3, 4)),
    "div": (lambda x, y: x / (y + 3), (3, 4), (3, 4)),
    "elu": (lambda x: F.elu(x), (3, 4)),
    "embedding": (lambda w: F.embedding(I, w), (5, 3)),
    "exp-log": (lambda x: (x.exp() + 1).log(), (3, 4)),
    "expand": (lambda x: x.expand(5, 3, 4), (3, 1)),
    "gather": (lambda x: x.gather(1, I), (2, 4)),
    "gelu": (lambda x: F.gelu(x), (3, 4)),
    "gelu-tanh": (lambda x: F.gelu(x, approximate="tanh"), (3, 4)),
    "group-norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 3), (4,), (4,)),
    "hardswish": (lambda x: F.hardswish(x * 4), (3, 4)),
    "index": (lambda x: x[I], (4, 3)),
    "index-select": (lambda x: x.index_select(0, torch.tensor([2, 0, 2])), (4, 3)),
    "layer-norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), (3, 4), (4,), (4,)),
    "leaky-relu": (lambda x: F.leaky_relu(x, 0.2), (3, 4)),
    "log-softmax": (lambda x: F.log_softmax(x, -1), (3, 4)),
    "logsumexp": (lambda x: x.logsumexp(1), (3, 4)),
    "masked-fill": (lambda x: x.masked_fill(MASK, 0.5), (3, 4)),
    "matmul-transposed": (lambda x, w: F.linear(x, w), (3, 4), (5, 4)),
    "max-pool": (lambda x: F.max_pool2d(x, 2), (1, 2, 4, 4)),
    "maximum": (lambda x, y: torch.maximum(x, y), (3, 4), (3, 4)),
    "mean-dim": (lambda x: x.mean(1, keepdim=True), (3, 4)),
    "mse": (lambda x, y: F.mse_loss(x, y), (3, 4), (3, 4)),
    "narrow": (lambda x: x.narrow(1, 1, 2), (3, 4)),
    "norm": (lambda x: x.norm(), (3, 4)),
    "pad": (lambda x: F.pad(x, (1, 2)), (3, 4)),
    "permute": (lambda x: x.permute(2, 0, 1) * 2, (2, 3, 4)),
    "pow": (lambda x: (x + 3) ** 2.5, (3, 4)),
    "prelu": (lambda x, w: F.prelu(x, w), (3, 4), (1,)),
    "prod": (lambda x: x.prod(1), (3, 4)),
    "reciprocal": (lambda x: (x + 3).reciprocal(), (3, 4)),
    "repeat": (lambda x: x.repeat(2, 3), (3, 4)),
    "rms-norm": (lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w, (3, 4), (4,)),
    "roll": (lambda x: x.roll(1, 1), (3, 4)),
    "scatter": (lambda x, y: x.scatter(1, I, y), (2, 4), (2, 2)),
    "sdpa": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), (1, 2, 3, 4), (1, 2, 3, 4),
             (1, 2, 3, 4)),
    "select": (lambda x: x[:, 1], (3, 4)),
    "sigmoid": (lambda x: x.sigmoid(), (3, 4)),
    "silu": (lambda x: F.silu(x), (3, 4)),
    "slice": (lambda x: x[1:, ::2], (3, 4)),
    "smooth-l1": (lambda x, y: F.smooth_l1_loss(x * 3, y), (3, 4), (3, 4)),
    "softmax": (lambda x: F.softmax(x, 1), (3, 4)),
    "softplus": (lambda x: F.softplus(x), (3, 4)),
    "sort": (lambda x: x.sort(1)[0], (3, 4)),
    "split": (lambda x: torch.mul(*x.split(2, 1)), (3, 4)),
    "sqrt": (lambda x: (x + 3).sqrt(), (3, 4)),
    "stack": (lambda x, y: torch.stack([x, y], 1), (3, 4), (3, 4)),
    "std": (lambda x: x.std(1), (3, 4)),
    "sub-rsub": (lambda x, y: 1 - x - y, (3, 4), (4,)),
    "sum-dims": (lambda x: x.sum((0, 2)), (2, 3, 4)),
    "tanh": (lambda x: x.tanh(), (3, 4)),
    "to": (lambda x: x.to(torch.float64), (3, 4)),
    "topk": (lambda x: x.topk(2, 1)[0], (3, 4)),
    "tril": (lambda x: x.tril(), (4, 4)),
    "unbind": (lambda x: torch.mul(*x.unbind(0)), (2, 4)),
    "unsqueeze": (lambda x: x.unsqueeze(1).squeeze(1) * 2, (3, 4)),
    "upsample": (lambda x: torch.ops.aten.upsample_bilinear2d(x, [6, 6], False, 2.0, 2.0), (1, 2, 3, 3)),
    "var-mean": (lambda x: torch.add(*torch.var_mean(x, 1)), (3, 4)),
    "view": (lambda x: x.view(4, 3) * 2, (3, 4)),
    "where": (lambda x, y: torch.where(MASK, x, y), (3, 4), (4,)),
}


def described(tensor):
    kind = str(tensor.dtype).removeprefix("torch.")
    return {"dtype": kind, "shape": list(tensor.shape), "values": tensor.detach().flatten().tolist()}


class Recorded(torch.fx.Interpreter):
    """Runs a captured graph, and records the accumulated gradients."""

    def __init__(self, module):
        super().__init__(module)
        self.added = []

    def call_function(self, target, args, kwargs):
        if target.__name__ == "call_accumulate_grad" and args[2] is not None:
            self.added.append(described(args[2]))
        return super().call_function(target, args, kwargs)


class Recorder:
    def __init__(self):
        self.captures = []

    def compile(self, module):
        text = golden.readable(module)

        def run(inputs, sizes, scalars, hooks, packed_data):
            facts = {"inputs": [described(t) for t in inputs], "sizes": [unwrapped(s) for s in sizes]}
            recorded = Recorded(module)
            result = recorded.run(inputs, sizes, scalars, hooks, packed_data)
            alone = not hooks and not packed_data
            self.captures.append((text, {**facts, "gradients": recorded.added} if alone else None))
            return list(result)

        return run


def unwrapped(size):
    return size.size(1) if isinstance(size, torch.Tensor) else size


def program(function, shapes):
    leaves = [golden.pattern(shape, i).requires_grad_() for i, shape in enumerate(shapes)]
    out = function(*leaves)
    (out * golden.pattern(out.shape, 5).to(out.dtype)).sum().backward()


def fixed_product():
    """F1: (x*y).sum()"""
    x, y = torch.tensor([1.0, 2, 3]).requires_grad_(), torch.tensor([4.0, 5, 6]).requires_grad_()
    (x * y).sum().backward()


def checkpointed():
    """F2: s = sin(x); (s * cos(s)).sum(), in a checkpoint"""
    x = torch.tensor([0.5, 0.25, -1.0]).requires_grad_()

    def region(x):
        s = x.sin()
        return s * s.cos()

    torch.utils.checkpoint.checkpoint(region, x, use_reentrant=False).sum().backward()


def packed():
    """F3: MySin.apply(x).sum() with saved-tensor hooks, of 3 elements, then of 4"""
    for size in (3, 4):
        x = golden.pattern((size,), 1).requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            out = programs.MySin.apply(x)
        out.sum().backward()


def sine_product(x, y):
    return (x.sin() * y).sum()


def compiled(*names):
    """sine_product, compiled, of each pair of NAMES; their product."""
    leaves = {name: torch.tensor(values).requires_grad_() for name, values in
              (("x", [0.5, 0.25, -1.0]), ("y", [4.0, 5, 6]))}
    function = torch.compile(sine_product, backend="aot_eager", dynamic=False)
    losses = [function(leaves[a], leaves[b]) for a, b in names]
    (losses[0] * losses[1] if len(losses) == 2 else losses[0]).backward()


def compiled_sizes():
    """(sin(x spread over 4 rows) * y).sum(), compiled for any size, of 3 elements, then of 5"""

    def spread_product(x, y):
        return (x.expand(4, x.shape[0]).sin() * y).sum()

    function = torch.compile(spread_product, backend="aot_eager", dynamic=True)
    for size in (3, 5):
        x, y = (golden.pattern((size,), seed).requires_grad_() for seed in (1, 2))
        function(x, y).backward()


FIXED = {"f1": fixed_product, "f2": checkpointed, "f3": packed, "aot": lambda: compiled("xy"),
         "aot-twice": lambda: compiled("xy", "yx"), "aot-sizes": compiled_sizes}


def write_forward(name, function, shapes):
    """Writes the program above as a graph of the leaves and of the factor of its result."""
    leaves = [golden.pattern(shape, i) for i, shape in enumerate(shapes)]
    out = function(*leaves)
    weight = golden.pattern(out.shape, 5).to(out.dtype)

    def forward(*arguments):
        return (function(*arguments[:-1]) * arguments[-1]).sum()

    module = make_fx(forward, pre_dispatch=True)(*leaves, weight)
    if not any(node.op == "get_attr" or "broadcast_tensors" in str(node.target) for node in module.graph.nodes):
        (HERE / "forward" / f"{name}.txt").write_text(golden.readable(module))


def write(name, run, dynamic=True):
    recorder = Recorder()
    torch._dynamo.reset()
    torch._C._dynamo.compiled_autograd.clear_cache()
    torch.manual_seed(1)
    try:
        with compiled_autograd._enable(recorder.compile, dynamic=dynamic):
            run()
    except Exception as error:  # some programs are about errors
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
    for i, (text, facts) in enumerate(recorder.captures):
        alone = i == 0 and dynamic and facts is not None
        path = HERE / f"{name}.txt" if alone else HERE / "graphs" / f"{name}{f'-{i + 1}' if i else ''}.txt"
        text = text.replace(f"{HERE}/", "")
        path.write_text(re.sub(r"CompiledAutograd\d+", "CompiledAutograd0", text))
        if alone:
            (HERE / f"{name}.json").write_text(json.dumps(facts) + "\n")


def main(names):
    warnings.simplefilter("ignore")
    for name, (function, *shapes) in FUNCTIONS.items():
        if not names or name in names:
            write(name, lambda: program(function, shapes))
            write_forward(name, function, shapes)
    for name, function in programs.ALL.items():
        if not names or name in names:
            write(name, lambda: function(golden.Trace()))
    for name, function in FIXED.items():
        if not names or name in names:
            write(name, function, dynamic=False)


main(sys.argv[1:])
