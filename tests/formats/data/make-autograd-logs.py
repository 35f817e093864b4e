#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the logs of steps under compiled autograd by PyTorch 2.6:  make-autograd-logs.py OUTPUT_FOLDER

`autograd-trace` is the folder that TORCH_TRACE fills, thinned as make-logs.py does it; `autograd-console-2.6.txt` is
what TORCH_LOGS=compiled_autograd writes, and `autograd-verbose-2.6.txt` the same with compiled_autograd_verbose beside
it, which also says why the cache missed.  `autograd-compiled-2.6.log` is the trace of a backward through compiled
functions.  Paths of the machine are replaced.
"""
import importlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHANNELS = {"console": "compiled_autograd", "verbose": "compiled_autograd,compiled_autograd_verbose"}


def train():
    """Three steps: the second adds to existing gradients, the third has a larger batch."""
    import torch

    class Cubed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad

    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1, bias=False)
    first.bias.register_hook(lambda grad: grad.clamp(-1, 1))
    second.weight.register_post_accumulate_grad_hook(lambda parameter: None)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        for batch in (2, 2, 4):
            second(Cubed.apply(first(torch.ones(batch, 3)))).sum().backward()
            print("a step")


def train_compiled():
    """A backward through two equal compiled functions with an uncompiled part between them."""
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()) for _ in range(2)]
    first, second = (torch.compile(layer, backend="aot_eager") for layer in layers)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        second(first(torch.ones(2, 4)).exp()).sum().backward()


def run(scratch, channels, what="--train"):
    child = subprocess.run(
        [sys.executable, os.path.abspath(__file__), what],
        env={**os.environ, "TORCH_TRACE": scratch, "TORCH_LOGS": channels},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        text=True,
    )
    return child.stdout


def main(folder):
    logs = importlib.import_module("make-logs")
    names = {os.path.abspath(__file__): "/home/user/train.py", "/make-autograd-logs.py": "/train.py"}

    def neutral(text, scratch):
        text = logs.neutral(text, scratch)
        for old, new in names.items():
            text = text.replace(old, new)
        return text

    def read_trace(scratch):
        [log] = os.listdir(scratch)
        with open(os.path.join(scratch, log), encoding="utf-8") as source:
            return logs.thin(neutral(source.read(), scratch))

    for name, channels in CHANNELS.items():
        with tempfile.TemporaryDirectory() as scratch:
            text = neutral(run(scratch, channels), scratch)
            with open(os.path.join(folder, f"autograd-{name}-2.6.txt"), "w", encoding="utf-8") as out:
                out.write(text)
            text = read_trace(scratch)
    target = os.path.join(folder, "autograd-trace")
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, "dedicated_log_torch_trace_steps.log"), "w", encoding="utf-8") as out:
        out.write(text)
    with tempfile.TemporaryDirectory() as scratch:
        run(scratch, CHANNELS["console"], "--train-compiled")
        with open(os.path.join(folder, "autograd-compiled-2.6.log"), "w", encoding="utf-8") as out:
            out.write(read_trace(scratch))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--train":
        train()
    elif sys.argv[1] == "--train-compiled":
        train_compiled()
    else:
        sys.path.insert(0, HERE)
        main(sys.argv[1])
