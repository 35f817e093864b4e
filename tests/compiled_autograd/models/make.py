#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes NAME-RELEASE.adjoint: small models as Dynamo reads them, and their backward as compiled autograd of the same
release captures it, without values.  Under PyTorch 2.6 and 2.15:

    make.py [MODEL…]
"""

import contextlib
import pathlib
import site
import sys

import torch
import torch._dynamo.compiled_autograd as compiled_autograd
import torch.nn as nn
import torch.nn.functional as F
from torch.utils import checkpoint

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "data/bridge"))
import adjoint_capture  # noqa: E402

RELEASE = ".".join(torch.__version__.split(".")[:2])
torch._dynamo.config.allow_rnn = True


class Block(nn.Module):
    """Attention over several heads, written out, and a feed-forward part."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = (
            t.view(batch, steps, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm(x)).split(width, dim=2)
        )
        weights = ((q @ k.transpose(-2, -1)) / 2).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, steps, width))
        return x + self.down(F.gelu(F.dropout(self.up(x), 0.0)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.block, self.head = nn.Embedding(9, 8), Block(), nn.Linear(8, 9, bias=False)

    def forward(self, tokens, target):
        return F.cross_entropy(self.head(self.block(self.tokens(tokens)))[:, 1:].flatten(0, 1), target.flatten())


class Images(nn.Module):
    """Convolutions with and without a bias, an image that grows again, a product by einsum."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.second, self.mix = nn.Conv2d(4, 2, 1), nn.Parameter(torch.eye(2))

    def forward(self, x, target):
        x = F.max_pool2d(F.relu(self.norm(self.first(x)), inplace=True), 2)
        x = F.interpolate(self.second(x), scale_factor=2, mode="nearest")
        return F.mse_loss(torch.einsum("bchw,cd->bdhw", x, self.mix), target)


class Steps(nn.Module):
    """A cell that goes through a sequence; numbers times elements."""

    def __init__(self):
        super().__init__()
        self.cell, self.scale = nn.LSTMCell(3, 4), nn.Parameter(torch.ones(4))

    def forward(self, x, target):
        hidden = carried = torch.zeros(2, 4)
        for step in x.unbind(1):
            hidden, carried = self.cell(step, (hidden, carried))
        normed = hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale
        return F.smooth_l1_loss(normed / (target.abs() + 1), target)


class Mixture(nn.Module):
    """Experts behind gates, the best two of each; numbers times losses; weights of a loss that are not there."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(4, 5), nn.SiLU(), nn.Linear(5, 4)) for _ in range(3))

    def forward(self, x, target):
        shares = self.gate(x).softmax(-1)
        best, index = shares.topk(2)
        shares = torch.zeros_like(shares).scatter(1, index, best / best.sum(-1, keepdim=True))
        y = (torch.stack([expert(x) for expert in self.experts], 1) * shares.unsqueeze(-1)).sum(1)
        return F.binary_cross_entropy(y.sigmoid(), target) + 0.01 * shares.pow(2).mean()


class Spectral(nn.Module):
    """Norms of groups, and a layer on frequencies."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.mix = nn.Conv1d(1, 4, 1), nn.GroupNorm(2, 4), nn.Conv1d(4, 1, 1)
        self.weight = nn.Parameter(torch.complex(torch.eye(4), torch.zeros(4, 4)))

    def forward(self, x, target):
        y = self.norm(self.first(x))
        y = torch.fft.irfft(torch.einsum("bcf,cd->bdf", torch.fft.rfft(y), self.weight), n=6)
        return F.mse_loss(self.mix(F.gelu(y)), target)


class Scaled(torch.autograd.Function):
    """Keeps arguments, and what it gives."""

    @staticmethod
    def forward(ctx, x, scale):
        y = x * scale.sigmoid()
        ctx.save_for_backward(x, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        return grad * scale.sigmoid(), (grad * x * scale.sigmoid() * (1 - scale.sigmoid())).sum(0)


class Cells(nn.Module):
    """Another cell, whose gates are written in place; a function of one's own; triangles; an equation."""

    def __init__(self):
        super().__init__()
        self.cell, self.scale = nn.GRUCell(3, 4), nn.Parameter(torch.zeros(4))
        self.low, self.high = nn.Parameter(torch.ones(4, 4)), nn.Parameter(torch.ones(4, 4))

    def forward(self, x, target):
        hidden = torch.zeros(2, 4)
        for step in x.unbind(1):
            hidden = self.cell(step, hidden)
        y = Scaled.apply(hidden, self.scale) @ self.low.tril() @ self.high.triu(1)
        return F.mse_loss(torch.linalg.solve(torch.eye(4) + self.low.tril(-1), y.t()).t(), target)


class Windows(nn.Module):
    """A norm of the batch alone, windows as columns."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2, track_running_stats=False)
        self.first, self.weight = nn.Conv2d(1, 2, 1), nn.Parameter(torch.ones(8, 1))

    def forward(self, x, target):
        columns = F.unfold(self.norm(self.first(x)).relu(), 2) * self.weight
        return F.mse_loss(columns.sum(1).squeeze_(0), target)


class Buffers(nn.Module):
    """A buffer that is written part by part, and a row in place."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(3, 4)

    def forward(self, x, target):
        kept = torch.zeros(2, 4, 4)
        for step in range(2):
            kept[:, step] = self.mix(x[:, step]).tanh()
        kept[:, 2:].add_(self.mix(x[:, 0]).unsqueeze(1))
        total = kept.mul_(0.5).sum(1)
        total[0].relu_()
        return F.mse_loss(total, target)


class Edges(nn.Module):
    """Messages along the edges of a graph: what asks a tensor that is kept for its sizes."""

    def __init__(self):
        super().__init__()
        self.mix, self.weight = nn.Linear(3, 4), nn.Parameter(torch.ones(5, 4))

    def forward(self, x, sources, targets, wanted):
        nodes = self.mix(x)
        shares = (nodes[sources] * nodes[targets]).mean(-1).exp()
        sums = torch.zeros(5).index_add(0, targets, shares)
        nodes = torch.zeros_like(nodes).index_add(0, targets, nodes[sources] * (shares / sums[targets]).unsqueeze(1))
        rows = self.weight.index_select(0, sources)
        return F.binary_cross_entropy_with_logits(nodes, wanted) + rows.var() + rows.as_strided((3, 2), (4, 1), 1).mean()


class Again(nn.Module):
    """Checkpoints, and a product of batches that lie in another order."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)

    def inner(self, x):
        return self.down(F.gelu(self.up(x))) + x

    def forward(self, x, target):
        x = checkpoint.checkpoint(self.inner, x, use_reentrant=False)
        heads = self.up(x).view(2, 3, 2, 3).transpose(1, 2)
        x = (heads @ heads.transpose(2, 3)).softmax(-1) @ heads
        return F.mse_loss(self.down(x.transpose(1, 2).reshape(2, 3, 6)), target)


class Layers(nn.Module):
    """What kernels do otherwise than their decompositions: dropout, recurrent layers, statistics that stay."""

    def __init__(self):
        super().__init__()
        self.plain, self.gated, self.norm = nn.RNN(3, 4), nn.GRU(4, 4, batch_first=True), nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x, target):
        y = self.gated(self.plain(x)[0])[0]
        y = F.batch_norm(y.transpose(1, 2), self.norm.running_mean, self.norm.running_var)
        y = F.dropout(y * self.scale, 0.25) + self.scale.data + y.norm(3)
        return F.l1_loss(y, target)


MODELS = {
    "attention": (Attention, lambda: (torch.randint(9, (2, 5)), torch.randint(9, (2, 4)))),
    "images": (Images, lambda: (torch.randn(2, 1, 6, 6), torch.randn(2, 2, 6, 6))),
    "cells": (Cells, lambda: (torch.randn(2, 2, 3), torch.randn(2, 4))),
    "mixture": (Mixture, lambda: (torch.randn(3, 4), torch.rand(3, 4))),
    "steps": (Steps, lambda: (torch.randn(2, 3, 3), torch.randn(2, 4))),
    "buffers": (Buffers, lambda: (torch.randn(2, 3, 3), torch.randn(2, 4))),
    "edges": (
        Edges,
        lambda: (torch.randn(5, 3), torch.randint(5, (7,)), torch.tensor([0, 1, 2, 3, 4, 0, 1]), torch.rand(5, 4)),
    ),
    "again": (Again, lambda: (torch.randn(2, 3, 4), torch.randn(2, 3, 4))),
    "layers": (Layers, lambda: (torch.randn(2, 3, 3), torch.randn(1))),
    "windows": (Windows, lambda: (torch.randn(1, 1, 4, 4), torch.randn(9))),
}


if RELEASE != "2.6":  # has no fake of a transform
    MODELS["spectral"] = (Spectral, lambda: (torch.randn(2, 1, 6), torch.randn(2, 1, 6)))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def hooked():
    """Hooks of every kind, and a custom function whose sizes nobody reads."""
    model, x = nn.Linear(3, 4), torch.randn(2, 3)
    model.weight.register_hook(lambda grad: grad * 0.5)
    model.bias.register_post_accumulate_grad_hook(lambda leaf: None)
    model.register_full_backward_hook(lambda module, inputs, outputs: None)
    y = Doubled.apply(model(x).relu())
    y.grad_fn.register_prehook(lambda grads: grads)
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    return y.sum()


def record(name, loss, reordering):
    torch.manual_seed(1)
    torch._dynamo.reset()
    paths = {f"{path}/": "" for path in (ROOT, *site.getsitepackages())}
    path = str(HERE / f"{name}-{RELEASE}.adjoint")
    with adjoint_capture.record(path, calls=0, taps=False, reordering=reordering, rename=paths):
        # what 2.6 captures of a reshape that was a view fails when it runs
        with compiled_autograd._enable(lambda module: module), contextlib.suppress(RuntimeError):
            loss().backward()


WANTED = sys.argv[1:]  # names of models, or all
for name, (model, inputs) in MODELS.items():
    if WANTED and name not in WANTED:
        continue
    record(name, lambda: torch.compile(model(), backend="eager", dynamic=False)(*inputs()), False)
if not WANTED:
    model, inputs = MODELS["again"]  # sizes are symbols, and numbers where it runs
    record("symbols", lambda: torch.compile(model(), backend="eager", dynamic=True)(*inputs()), False)
    record("hooked", hooked, True)
