# SPDX-License-Identifier: MIT
"""bench-capture.py BENCH_CAPTURE MODELS [RESULTS]: the backward of the same models captured by PyTorch, if installed.

Of PyTorch is timed what bench-capture times here: from the call of backward() until the captured
graph is there, without what is made of it; and a backward that finds the graph again, eager and
captured, whose graph is run as it is.  PyTorch captures a deep model for seconds, so it runs less
often then, and at least once.  RESULTS: a file to write a table to.  Without PyTorch the benchmark is
skipped (status 77).
"""

import json
import statistics
import subprocess
import sys
import time

try:
    import torch
    from deep_gpt2 import make_model
except ImportError:
    torch = None

N_RUNS = 5
ENOUGH_S = 60  # after which no further run begins


def step(model, tokens):
    """Milliseconds of one backward."""
    model.zero_grad()
    loss = model(tokens, tokens)
    start = time.perf_counter()
    loss.backward()
    return 1e3 * (time.perf_counter() - start)


def bench(folder, layers):
    from torch._dynamo import compiled_autograd

    enable = getattr(compiled_autograd, "_enable", None) or compiled_autograd.enable
    model = make_model(folder, layers)
    tokens = torch.randint(0, 48, (2, 8))
    eager, captures, captured = [], [], []
    step(model, tokens)
    begin = time.perf_counter()
    while len(eager) < N_RUNS and (not eager or time.perf_counter() - begin < ENOUGH_S):
        eager.append(step(model, tokens))
        torch._C._dynamo.compiled_autograd.clear_cache()
        at = []

        def compiler(graph):
            at.append(time.perf_counter())
            return graph

        with enable(compiler):
            model.zero_grad()
            loss = model(tokens, tokens)
            start = time.perf_counter()
            loss.backward()
            captures.append(1e3 * (at[0] - start))
            captured.append(step(model, tokens))
        assert len(at) == 1
    return {"runs": len(eager), "capture_ms": round(statistics.median(captures), 1),
            "eager_ms": round(statistics.median(eager), 2), "captured_ms": round(statistics.median(captured), 2)}


def write_table(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# One backward of GPT-2: captured, and run\n\n"
                  f"`bench-capture.py`, PyTorch {torch.__version__}, milliseconds, medians; both in the same run, "
                  "on a machine of two cores that others use too.\n\n"
                  "| layers | node calls | capture here | PyTorch | ratio | lookup here | eager here / PyTorch "
                  "| captured here / PyTorch |\n|---|---|---|---|---|---|---|---|\n")
        for ours, theirs in rows:
            out.write(f"| {ours['layers']} | {ours['node_calls']} | {ours['capture_ms']} | {theirs['capture_ms']} "
                      f"| {theirs['capture_ms'] / ours['capture_ms']:.0f} | {ours['lookup_ms']} "
                      f"| {ours['eager_ms']} / {theirs['eager_ms']} | {ours['captured_ms']} / {theirs['captured_ms']} |\n")


def main(bench_capture, folder, results=None):
    if torch is None:
        print(json.dumps({"bench": "capture", "skipped": "PyTorch is not installed"}))
        return 77
    rows = []
    lines = subprocess.run([bench_capture], check=True, capture_output=True, text=True).stdout
    for ours in map(json.loads, lines.splitlines()):
        print(json.dumps(ours), flush=True)
        theirs = bench(folder, ours["layers"])
        rows.append((ours, theirs))
        print(json.dumps({"bench": "capture", "by": f"PyTorch {torch.__version__}", "layers": ours["layers"], **theirs,
                          "theirs_over_ours": round(theirs["capture_ms"] / ours["capture_ms"], 1)}), flush=True)
    if results is not None:
        write_table(results, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
