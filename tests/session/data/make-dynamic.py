# SPDX-License-Identifier: MIT
"""Captures of small models with sizes that are symbols, for test-dynamo-joint.c.

  PYTHONPATH=data/bridge python tests/session/data/make-dynamic.py FOLDER [NAME...]

Needs PyTorch 2.6.
"""

import os
import sys
import warnings

import adjoint_capture
import torch
from torch import nn
from torch.nn import functional as F


class Bilinear(nn.Module):
    """The result has a size that the forward computes, which its gradient has too."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        return F.interpolate(self.last(F.relu(self.first(x))), scale_factor=2, mode="bilinear", align_corners=False)


class Convolution(nn.Module):
    """A convolution along one dimension."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv1d(1, 8, 10, 5), nn.GroupNorm(8, 8)
        self.second, self.last = nn.Conv1d(8, 8, 3, 2, dilation=2), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(F.gelu(self.second(F.gelu(self.norm(self.first(x[:, None]))))).transpose(1, 2))


class Patches(nn.Module):
    """A vision transformer: the sequence length is a product of quotients plus one."""

    def __init__(self):
        super().__init__()
        self.patch, self.norm, self.qkv = nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16), nn.Linear(16, 48)
        self.token, self.out = nn.Parameter(torch.zeros(1, 1, 16)), nn.Linear(16, 16)

    def forward(self, x):
        h = self.patch(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.token.expand(x.shape[0], -1, -1), h], 1)
        batch, length, width = h.shape
        q, k, v = (t.view(batch, length, 4, 4).transpose(1, 2) for t in self.qkv(self.norm(h)).split(width, 2))
        h = ((q @ k.transpose(-2, -1) / 2.0).softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(h).square().mean()


class Sizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 30)

    def forward(self, x):
        a, b, c = x.shape
        y = self.linear(x)
        u, v = y.chunk(2, 0)
        n = min(u.shape[0], v.shape[0])
        parts = y.reshape(a * b, -1), y.view(-1, 5), y.reshape(a, -1, 2, 3), y.flatten(0, 1).unflatten(1, (2, -1))
        return *parts, y.reshape(b, a, -1), torch.cat([u[:n], v[:n]], 1).mean(), y[a // 2 :].sum(), y[:-1].mean((0, 1))


class Floats(nn.Module):
    """Ratios of sizes are floats."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 2, 3, padding=1, stride=2), nn.Conv2d(2, 1, 1)

    def forward(self, x):
        h = F.interpolate(self.first(x), size=x.shape[-2:], mode="bilinear", align_corners=False)
        return self.last(h).exp().std() + h.exp().var((0, 2), correction=0).sum() + x.square().var((2, 3)).mean()


MODELS = {
    "bilinear": (Bilinear, (torch.randn(2, 3, 8, 10), 0, 2, 3)),
    "convolution": (Convolution, (torch.randn(3, 200), 0, 1)),
    "patches": (Patches, (torch.randn(3, 3, 16, 24), 0, 2, 3)),
    "floats": (Floats, (torch.randn(2, 1, 6, 10), 0, 2, 3)),
    "sizes": (Sizes, (torch.randn(3, 4, 6), 0, 1)),
}


def main(folder, *names):
    torch.manual_seed(0)
    for name, (kind, (x, *dynamic)) in MODELS.items():
        if names and name not in names:
            continue
        torch._dynamo.reset()
        for dim in dynamic:
            torch._dynamo.mark_dynamic(x, dim)
        here = os.path.dirname(os.path.dirname(torch.__file__)) + os.sep
        rename = {here: "", os.path.dirname(os.path.abspath(__file__)) + os.sep: ""}
        path = os.path.join(folder, f"dynamic-{name}.adjoint")
        with adjoint_capture.record(path, taps=False, rename=rename):
            result = torch.compile(kind(), backend="aot_eager", dynamic=True)(x)
            sum(r.square().sum() for r in (result if isinstance(result, tuple) else (result,))).backward()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
