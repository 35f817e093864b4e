#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hooks.adjoint: a backward with hooks of every kind as PyTorch 2.15 captures it, recorded with the capture
module.  Its graph has no metadata; the recorded call has the inputs and each hook's result.  Also residual.adjoint: the
backward of the residual block of data/graphs/models.py, with hooks on gradients and after an accumulation.  Under 2.6
and 2.15, layers-RELEASE.adjoint: a bidirectional LSTM whose outputs are written to a buffer step by step; under 2.15,
slices.adjoint: slices whose end is the largest integer, as sizes of the graph.

    make.py [NAME...]
"""

import pathlib
import site
import sys

import torch
import torch._dynamo.compiled_autograd as compiled_autograd

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "data/bridge"), str(ROOT / "data/graphs")]
import adjoint_capture  # noqa: E402
import models  # noqa: E402


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor + x, None


def step():
    x = ((torch.arange(12.0) * 7 % 11 - 5) / 8).reshape(3, 4).requires_grad_()
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    y = x.index_select(1, torch.tensor([2, 0, 2]))
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.double(), lambda t: t.float()):
        z = y.sin()
    z.register_hook(lambda grad: grad * 2)
    out = Scale.apply(z, 3.0)
    out.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    out.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, None))
    out.sum().backward()


def double_gradient(leaf):
    leaf.grad.mul_(2)


def residual():
    torch.manual_seed(1)
    model, inputs = models.resnet_block()
    first, *rest, last = model.parameters()
    first.register_hook(lambda grad: grad * 0.5)
    rest[len(rest) // 2].register_hook(lambda grad: grad * 2)
    last.register_post_accumulate_grad_hook(double_gradient)
    model(*inputs).backward()


def layers():
    torch.manual_seed(1)
    lstm, x = torch.nn.LSTM(3, 4, bidirectional=True), torch.randn(3, 2, 3)
    states, (hidden, _) = lstm(x)
    buffer = torch.zeros(2, 4, 8)
    for i, state in enumerate(states):
        buffer[:, i] = state * 0.5
    (buffer.pow(2).sum() + hidden[0].sum() * 0.1).backward()


def slices():
    x = ((torch.arange(12.0) * 7 % 11 - 5) / 8).reshape(3, 4).requires_grad_()
    (x[1:] * x[:-1]).sum().backward()


RELEASE = ".".join(torch.__version__.split(".")[:2])
PROGRAMS = {f"layers-{RELEASE}": layers, **({"hooks": step, "residual": residual, "slices": slices} if RELEASE == "2.15" else {})}
for name in sys.argv[1:] or PROGRAMS:
    program = PROGRAMS[name]
    paths = {f"{path}/": "" for path in (ROOT, *site.getsitepackages())}
    with adjoint_capture.record(str(HERE / f"{name}.adjoint"), rename=paths, reordering=program is not layers):
        with compiled_autograd._enable(lambda module: module):
            program()
