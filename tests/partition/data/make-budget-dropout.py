# SPDX-License-Identifier: MIT
"""Captures a dropout that PyTorch 2.6 recomputes under a budget, with another mask: `budget-dropout.adjoint`.

  PYTHONPATH=data/bridge python tests/partition/data/make-budget-dropout.py OUT.adjoint

Needs PyTorch 2.6.  Prints the difference between the compiled gradient and the eager one, which uses
the forward's mask.
"""

import linecache
import sys

import adjoint_capture
import torch
import torch._functorch.config as config

STEP = """import torch
import torch.nn.functional as F


def step(x, w):
    y = F.dropout(torch.mm(x, w), 0.5)
    return (y.cos() * x).sum()
"""


def load_step():
    """Loads the program under a path that contains no information about this machine."""
    name = "/home/user/step.py"
    linecache.cache[name] = (len(STEP), None, STEP.splitlines(keepends=True), name)
    module = {"__name__": "step"}
    exec(compile(STEP, name, "exec"), module)
    return module["step"]


def gradients(function, x, w):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    torch.manual_seed(7)
    loss = function(x, w)
    loss.backward()
    return loss.detach(), x.grad, w.grad


if __name__ == "__main__":
    step = load_step()
    torch.manual_seed(0)
    x, w = torch.randn(8, 8), torch.randn(8, 8)
    eager = gradients(step, x, w)
    with config.patch(activation_memory_budget=0.0), adjoint_capture.record(sys.argv[1]):
        compiled = gradients(torch.compile(step, backend="aot_eager"), x, w)
    for name, a, b in zip(("loss", "gradient of x", "gradient of w"), eager, compiled):
        print(f"{name}: differs by {(a - b).abs().max().item():g}")
