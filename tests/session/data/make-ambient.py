# SPDX-License-Identifier: MIT
"""Captures of small models that run under autocast and without grad, for test-dynamo-joint.c.

  PYTHONPATH=data/bridge python tests/session/data/make-ambient.py FOLDER

Needs PyTorch 2.6.  NAME-region sets autocast inside the compiled function, NAME-called around its call.
"""

import contextlib
import os
import sys
import warnings

import adjoint_capture
import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4)

    def forward(self, x, target):
        hidden = self.norm(F.gelu(self.first(x)))
        return F.mse_loss(self.last(hidden), target)


class Attention(nn.Module):
    """A fused attention head and one written out, combined with an uncast value."""

    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(48, 16, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).view(2, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = (q @ k.transpose(-2, -1) / 8**0.5).softmax(-1)
        joined = torch.cat([part.transpose(1, 2).reshape(2, 6, 16) for part in (fused, scores @ v)] + [x], -1)
        return x + self.out(joined)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.GroupNorm(2, 8)
        )
        self.head = nn.Linear(8, 5)

    def forward(self, x, target):
        return F.cross_entropy(self.head(self.features(x).mean((2, 3))), target)


class Mixed(nn.Module):
    """If autocast is off inside, the backward of the inner part still runs under the outer autocast."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        with torch.autocast("cpu", enabled=False):
            hidden = self.last(hidden.float())
        with torch.autocast("cpu", dtype=torch.float16):
            distance = F.huber_loss(hidden @ self.first.weight, x)
            return distance + torch.stack([hidden, x], 2).sum((1, 2))


class Half(nn.Module):
    """In 16 bits, where PyTorch computes in f32 and rounds once."""

    def __init__(self):
        super().__init__()
        self.first, self.batch = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.norm = nn.RMSNorm(12)

    def forward(self, x):
        return self.norm(F.interpolate(self.batch(self.first(x)), scale_factor=2, mode="nearest")).square().mean()


def autocast():
    return torch.autocast("cpu", dtype=torch.bfloat16)


def inside(context, model):
    def call(*args):
        with context():
            return model(*args)

    return call


MODELS = {
    "mlp": (Mlp, lambda: (torch.randn(4, 8), torch.randn(4, 4))),
    "attention": (Attention, lambda: (torch.randn(2, 6, 16),)),
    "convolutions": (Convolutions, lambda: (torch.randn(2, 3, 8, 8), torch.tensor([1, 4]))),
    "mixed": (Mixed, lambda: (torch.randn(4, 8, requires_grad=True),)),
}


def record(folder, name, model, args, around, train):
    torch._dynamo.reset()
    here = os.path.dirname(os.path.dirname(torch.__file__)) + os.sep
    rename = {here: "", os.path.dirname(os.path.abspath(__file__)) + os.sep: ""}
    with adjoint_capture.record(os.path.join(folder, name + ".adjoint"), taps=False, rename=rename):
        with around():
            result = torch.compile(model, backend="aot_eager")(*args)
        if train:
            result.float().sum().backward()


def main(folder):
    torch.manual_seed(0)
    for name, (kind, make) in MODELS.items():
        model, args = kind(), make()
        record(folder, f"{name}-region", inside(autocast, model), args, contextlib.nullcontext, True)
        record(folder, f"{name}-called", model, args, autocast, True)
    model, args = Attention(), MODELS["attention"][1]()
    record(folder, "no-grad-called", model, args, torch.no_grad, False)
    record(folder, "inference-called", model, args, torch.inference_mode, False)
    record(folder, "no-grad-autocast", inside(autocast, model), args, torch.no_grad, False)
    half(folder)


def half(folder):
    record(folder, "half", Half().bfloat16(), (torch.randn(2, 3, 6, 6).bfloat16(),), contextlib.nullcontext, True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
