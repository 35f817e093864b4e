#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py FOLDER-OF-adjoint_capture.py: captures one step of a model and runs it eagerly under DebugMode.

Needs torch 2.15.  step.adjoint has the graphs; eager.json is the log of the eager step with norms and combined bits,
norms.json with norms only, altered.json that of a model with one changed bias, bare.json without hashes."""
import pathlib
import sys

import torch
from torch.utils._debug_mode import DebugMode

here = pathlib.Path(__file__).parent
sys.path.insert(0, sys.argv[1])
import adjoint_capture  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.up = torch.nn.Linear(16, 64)
        self.down = torch.nn.Linear(64, 16)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def make():
    torch.manual_seed(1)
    return torch.nn.Sequential(Block(), Block()), torch.randn(8, 16)


def step(model, x):
    loss = model(x).square().mean()
    loss.backward()


def log(path, model, x, **hashes):
    with DebugMode(record_ids=True, record_nn_module=True) as mode:
        if hashes:
            with DebugMode.log_tensor_hashes(**hashes):
                step(model, x)
        else:
            step(model, x)
    DebugMode.save_logs(mode.logs, here / path)


model, x = make()
with adjoint_capture.record(here / "step.adjoint"):
    step(torch.compile(model, backend="aot_eager"), x)
log("eager.json", *make(), hash_fn=["norm", "hash_tensor"], hash_inputs=True)
log("norms.json", *make(), hash_fn="norm")
log("bare.json", *make())
model, x = make()
with torch.no_grad():
    model[1].up.bias[3] += 0.01
log("altered.json", model, x, hash_fn="norm")
