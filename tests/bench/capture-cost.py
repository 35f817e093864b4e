#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of the capture module:  capture-cost.py [--module FOLDER]... [MODEL...]

Trains each model under torch.compile(backend="aot_eager") without the module and with the one in each FOLDER (by
default that of this tree), each in its own process, and prints a table: CPU seconds of the first step, which compiles
and is recorded, and of writing the file; milliseconds of a later step (median of 10) inside the block; peak memory of
the process; bytes of the file.  Without PyTorch it is skipped (status 77).
"""
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, os.pardir, os.pardir, "data")
N_STEPS = 10


def encoder():
    """Four layers, 3.2 million parameters: its recording has 60 MB."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1, batch_first=True)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.nn.Flatten(0))
    return model, (torch.randn(8, 128, 256),)


def train(name, module, path):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sys.path[:0] = [os.path.join(DATA, "graphs"), module or HERE]
    import models

    model, inputs = {**models.ALL, "encoder": encoder}[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    compiled = torch.compile(model, backend="aot_eager")
    recording = contextlib.nullcontext()
    if module:
        import adjoint_capture

        recording = adjoint_capture.record(path)

    def step():
        start = time.process_time()
        optimizer.zero_grad()
        compiled(*inputs).sum().backward()
        optimizer.step()
        return time.process_time() - start

    with recording:
        first = step()
        later = statistics.median(step() for _ in range(N_STEPS))
        ending = time.process_time()
    ending = time.process_time() - ending
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = os.path.getsize(path) if module else 0
    print(json.dumps([first, ending, later * 1e3, peak / 1024, size / 2**20]))


def measured(name, module):
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            os.path.abspath(__file__),
            "--train",
            name,
            module,
            os.path.join(folder, "x.adjoint"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def main(args):
    if args[:1] == ["--train"]:
        return train(*args[1:])
    modules = [""]
    while args[:1] == ["--module"]:
        modules.append(os.path.abspath(args[1]))
        args = args[2:]
    if len(modules) == 1:
        modules.append(os.path.join(DATA, "bridge"))
    print(f"torch {torch.__version__}, one thread\n")
    print("| model | module | first step, s | writing, s | later step, ms | peak, MiB | file, MiB |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in args or ("mlp", "gpt2", "llama", "encoder"):
        for module in modules:
            numbers = measured(name, module)
            title = os.path.basename(os.path.normpath(module)) if module else "without"
            cells = (
                ["failed"] if numbers is None else [f"{n:.2f}" if i < 3 else f"{n:.1f}" for i, n in enumerate(numbers)]
            )
            print(f"| {name} | {title} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
