# SPDX-License-Identifier: MIT
"""The rows timed by bench-peer.py: training steps of blocks, optimisers, pointwise chains and single kernels."""

import dataclasses
import math
import typing

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Row:
    """`step(compile)` returns a function that runs one step of the program compiled by `compile`."""

    name: str
    step: typing.Callable


def training(name, make, inputs, dtype):
    """A step of forward and backward; each compilation gets a new module with the same seed."""

    def step(compiler):
        torch.manual_seed(0)
        module = make().to(dtype)
        given = [one.to(dtype).clone().requires_grad_() if one.is_floating_point() else one for one in inputs()]
        run = compiler(module)

        def once():
            for leaf in (*module.parameters(), *given):
                leaf.grad = None
            result = run(*given)
            result.backward(torch.ones_like(result))

        return once

    return Row(name, step)


def inference(name, function, inputs, dtype):
    """A function without gradients."""

    def step(compiler):
        torch.manual_seed(0)
        given = [one.to(dtype) if one.is_floating_point() else one for one in inputs()]
        run = compiler(function)

        def once():
            with torch.no_grad():
                run(*given)

        return once

    return Row(name, step)


class GptBlock(nn.Module):
    """Pre-norm attention and an MLP with tanh-GELU."""

    def __init__(self, manual, d=768, heads=12, dropout=0.1):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.heads, self.manual, self.dropout = heads, manual, dropout
        self.register_buffer("mask", torch.ones(512, 512, dtype=torch.bool).tril())

    def attend(self, q, k, v):
        if not self.manual:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        weights = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = weights.masked_fill(~self.mask, float("-inf")).softmax(-1)
        return F.dropout(weights, self.dropout) @ v

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (s.view(b, t, self.heads, -1).transpose(1, 2) for s in self.qkv(self.n1(x)).split(d, -1))
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).reshape(b, t, d))
        return (x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))).float().square().mean()


def rms_norm(x, weight):
    """RMSNorm in the form of LLaMA."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def rotate(x, cos, sin):
    """Rotary position embedding."""
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat((-high, low), -1) * sin


class LlamaBlock(nn.Module):
    """RMSNorm, RoPE, grouped queries, SwiGLU."""

    def __init__(self, d=512, heads=8, groups=4, hidden=1376, tokens=256):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, d // heads
        self.n1, self.n2 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.ones(d))
        self.q, self.o = nn.Linear(d, d, False), nn.Linear(d, d, False)
        self.k, self.v = (nn.Linear(d, groups * self.size, False) for _ in "kv")
        self.gate, self.up, self.down = (
            nn.Linear(d, hidden, False), nn.Linear(d, hidden, False), nn.Linear(hidden, d, False)
        )  # fmt: skip
        angle = torch.outer(torch.arange(tokens), 1e4 ** -(torch.arange(0, self.size, 2) / self.size)).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, x):
        b, t, d = x.shape
        y = rms_norm(x, self.n1)
        q = rotate(self.q(y).view(b, t, self.heads, -1).transpose(1, 2), self.cos, self.sin)
        k = rotate(self.k(y).view(b, t, self.groups, -1).transpose(1, 2), self.cos, self.sin)
        v = self.v(y).view(b, t, self.groups, -1).transpose(1, 2)
        k, v = (s.repeat_interleave(self.heads // self.groups, 1) for s in (k, v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        y = rms_norm(x, self.n2)
        return (x + self.down(F.silu(self.gate(y)) * self.up(y))).float().square().mean()


def conv(inputs, outputs, size):
    """A convolution followed by batch norm."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


class Basic(nn.Module):
    """ResNet's basic block."""

    def __init__(self, n):
        super().__init__()
        self.a, self.b = conv(n, n, 3), conv(n, n, 3)

    def forward(self, x):
        return (x + self.b(self.a(x).relu())).relu().float().mean()


class Bottleneck(nn.Module):
    """ResNet's bottleneck block."""

    def __init__(self, n, inner):
        super().__init__()
        self.a, self.b, self.c = conv(n, inner, 1), conv(inner, inner, 3), conv(inner, n, 1)

    def forward(self, x):
        return (x + self.c(self.b(self.a(x).relu()).relu())).relu().float().mean()


class UnetLevel(nn.Module):
    """Down, inner, up with a skip."""

    def __init__(self, n=32):
        super().__init__()
        self.enter, self.inner, self.leave = conv(n, n, 3), conv(n, 2 * n, 3), conv(3 * n, n, 3)

    def forward(self, x):
        skip = self.enter(x).relu()
        up = F.interpolate(self.inner(F.max_pool2d(skip, 2)).relu(), scale_factor=2)
        return self.leave(torch.cat((skip, up), 1)).relu().float().mean()


class Mlp(nn.Module):
    """An MLP of small layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 10))

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x).float(), y)


class Lstm(nn.Module):
    """One LSTM cell, unrolled."""

    def __init__(self, d=64):
        super().__init__()
        self.x, self.h = nn.Linear(d, 4 * d), nn.Linear(d, 4 * d)

    def forward(self, x):
        h = c = torch.zeros_like(x[0])
        for step in x.unbind(0):
            i, f, g, o = (self.x(step) + self.h(h)).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h.float().square().mean()


class Words(nn.Module):
    """Embedding, and cross-entropy over 50k classes."""

    def __init__(self, n=50257, d=128):
        super().__init__()
        self.table, self.head = nn.Embedding(n, d), nn.Linear(d, n, False)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.table(x)).float(), y)


def optimiser(name, make, dtype):
    """An optimiser step over 50 tensors."""
    sizes = [(256, 256), (256,), (1024, 64), (64,), (128, 3, 3)] * 10

    def step(compiler):
        torch.manual_seed(0)
        parameters = [nn.Parameter(torch.randn(size, dtype=dtype)) for size in sizes]
        for one in parameters:
            one.grad = torch.randn_like(one)
        by = make(parameters)
        by.step()
        return compiler(by.step)

    return Row(name, step)


def chain_a(x, y, z):
    return (((x + y) * z - x) * 0.5 + y).relu() * z + x


def chain_b(x, r):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + inner.tanh()) + r


def chain_c(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - 1e-3 * (m / 0.5) / ((v / 0.1).sqrt() + 1e-8), m, v


def chain_d(x, y):
    return x * x.sigmoid() * y


def draw(*sizes):
    """Returns a normally distributed tensor for each of these sizes."""
    return lambda: [torch.randn(size) for size in sizes]


def blocks(dtype):
    """Rows of layers and blocks."""
    classes = lambda n, b: torch.randint(0, n, (b,))  # noqa: E731
    return [
        training("gpt-sdpa", lambda: GptBlock(False), draw((2, 512, 768)), dtype),
        training("gpt-manual", lambda: GptBlock(True), draw((2, 512, 768)), dtype),
        training("llama", LlamaBlock, draw((2, 256, 512)), dtype),
        training("resnet-basic", lambda: Basic(64), draw((8, 64, 56, 56)), dtype),
        training("resnet-bottleneck", lambda: Bottleneck(256, 64), draw((8, 256, 28, 28)), dtype),
        training("unet", UnetLevel, draw((4, 32, 64, 64)), dtype),
        training("mlp", Mlp, lambda: [torch.randn(32, 64), classes(10, 32)], dtype),
        training("lstm", Lstm, draw((8, 16, 64)), dtype),
        training("words", Words, lambda: [classes(50257, 256), classes(50257, 256)], dtype),
        training("softmax", lambda: nn.Softmax(-1), draw((2048, 1024)), dtype),
        training("norm", lambda: nn.LayerNorm(768), draw((4096, 768)), dtype),
    ]


def rows(dtype):
    """All rows."""
    n = 1 << 20
    return [
        *blocks(dtype),
        optimiser("adam", lambda p: torch.optim.Adam(p), dtype),
        optimiser("adamw", lambda p: torch.optim.AdamW(p), dtype),
        optimiser("sgd", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), dtype),
        inference("chain-a", chain_a, draw(n, n, n), dtype),
        inference("chain-b", chain_b, draw(n, n), dtype),
        inference("chain-c", chain_c, lambda: [torch.rand(n) for _ in range(4)], dtype),
        inference("chain-d", chain_d, draw(n, n), dtype),
    ]
