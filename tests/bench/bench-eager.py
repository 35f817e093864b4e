# SPDX-License-Identifier: MIT
"""Times the same graphs as bench-run, run by PyTorch eager: bench-eager.py ADJOINT BENCH-RUN FILE...

Starts bench-run first, with the same number of threads, so that both run on the same machine; prints
its lines, PyTorch's, and the ratio of both.  Without PyTorch the benchmark is skipped (status 77).
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    torch = None

N_RUNS = 9
DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
    "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "b8": "bool",
}  # fmt: skip
ARGUMENT = re.compile(r'(\w+): "(\w+)\[([\d, ]*)\]\[([\d, ]*)\]cpu"')


def numbers(text):
    return [int(word) for word in text.split(",") if word.strip()]


def draw(kind, sizes, strides):
    """Returns a tensor with these strides; small integers are valid indices of any table."""
    dtype = getattr(torch, DTYPES[kind])
    span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    if 0 in sizes:
        span = 0
    flat = torch.randn(span).to(dtype) if dtype.is_floating_point else torch.randint(0, 2, (span,)).to(dtype)
    return flat.as_strided(sizes, strides)


def load(adjoint, name):
    """Returns the graph as a PyTorch function (its text is Python), and inputs for it."""
    text = subprocess.run(
        [adjoint, "show", name, "--as", "text"], check=True, capture_output=True, text=True
    ).stdout
    scope = {"torch": torch, "device": torch.device, "inf": math.inf, "nan": math.nan}
    exec(text, scope)  # noqa: S102 the text is ours
    header = re.search(r"def forward\(self, (.*)\):", text).group(1)
    inputs = [draw(kind, numbers(sizes), numbers(strides)) for _, kind, sizes, strides in ARGUMENT.findall(header)]
    if len(inputs) != header.count(": \""):
        raise ValueError("inputs that are no tensors")
    return scope[re.search(r"^class (\w+)", text, re.MULTILINE).group(1)](), inputs


def median_ms(module, inputs):
    times = []
    for _ in range(N_RUNS + 1):  # the first run warms up
        start = time.perf_counter()
        with torch.no_grad():
            module.forward(*inputs)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[1:])


def main(adjoint, bench_run, *files):
    if torch is None:
        print(json.dumps({"bench": "eager", "skipped": "PyTorch is not installed"}))
        return 77
    folder = {os.path.basename(file): os.path.dirname(file) for file in files}
    lines = subprocess.run([bench_run, *files], check=True, capture_output=True, text=True).stdout
    for ours in map(json.loads, lines.splitlines()):
        print(json.dumps(ours), flush=True)
        if ours["graph"].endswith("#joint"):  # bench-run's inputs for it are one tree; forward and backward cover it
            continue
        torch.set_num_threads(ours["threads"])
        theirs = {"bench": "run", "by": f"eager {torch.__version__}", "graph": ours["graph"], "threads": ours["threads"]}
        try:
            module, inputs = load(adjoint, os.path.join(folder[ours["graph"].split("#")[0]], ours["graph"]))
            theirs["ms"] = round(median_ms(module, inputs), 3)
            theirs["ours_over_theirs"] = round(ours["ms"] / theirs["ms"], 2)
        except Exception as error:  # continue after a graph that this PyTorch cannot run
            theirs["skipped"] = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        print(json.dumps(theirs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
