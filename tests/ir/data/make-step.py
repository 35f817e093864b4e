#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make-step.py: the text of one whole training step (forward, loss, backward, update) as one graph.

step-2.15.txt beside it was made by torch 2.15; `# Backward of forward node:` precedes nodes made by autograd."""
import torch
from torch._functorch._aot_autograd.logging_utils import setup_stacktrace_preservation_hooks
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta


def model(w, b, v, x):
    y = torch.tanh(x @ w + b)
    return (y @ v).square().mean()


torch.manual_seed(0)
args = [torch.randn(3, 4), torch.randn(4), torch.randn(4, 2), torch.randn(5, 3)]
for parameter in args[:3]:
    parameter.requires_grad_()
captured = torch._dynamo.export(model)(*args).graph_module


def step(w, b, v, x):
    loss = torch.fx.Interpreter(captured).run(w, b, v, x)
    setup_stacktrace_preservation_hooks([loss.grad_fn])
    gradients = torch.autograd.grad(loss, (w, b, v))
    return loss, *[p - 0.1 * g for p, g in zip((w, b, v), gradients)]


with preserve_node_meta(), torch.autograd.detect_anomaly(check_nan=False):
    graph = make_fx(step)(*args)
text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
print(text.replace(__file__, "/home/user/train.py"))
