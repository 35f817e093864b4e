# SPDX-License-Identifier: MIT
"""bench-joint.py BENCH_JOINT MODELS: the same models traced to the joint graph by PyTorch, if installed.

Both start from Dynamo's graph; the time ends where the partitioner gets the joint graph.  Without PyTorch
the benchmark is skipped (status 77).
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


class Traced(Exception):
    """Ends the compilation once the joint graph exists."""


def trace(module, inputs):
    """Returns the milliseconds from Dynamo's graph to the joint graph, and its number of calls without detach."""
    from torch._functorch.aot_autograd import aot_module_simplified

    calls = []

    def stop(joint, *args, **kwargs):
        other = ("placeholder", "output", torch.ops.aten.detach.default)
        calls.append(sum(node.op not in other and node.target not in other for node in joint.graph.nodes))
        raise Traced

    def keep(graph, inputs):
        return graph

    start = time.thread_time()
    try:
        aot_module_simplified(module, inputs, fw_compiler=keep, bw_compiler=keep, partition_fn=stop,
                              keep_inference_input_mutations=True)
    except Traced:
        pass
    return 1e3 * (time.thread_time() - start), calls[0]


def bench(folder, layers):
    results = []

    def backend(module, inputs):
        results.extend(trace(module, inputs) for _ in range(N_RUNS + 1))  # the first run warms up
        return module.forward

    torch._dynamo.reset()
    tokens = torch.randint(0, 48, (2, 8))
    torch.compile(make_model(folder, layers), backend=backend)(tokens, tokens)
    return statistics.median(ms for ms, _ in results[1:]), results[0][1]


def main(bench_joint, folder):
    if torch is None:
        print(json.dumps({"bench": "joint", "skipped": "PyTorch is not installed"}))
        return 77
    lines = subprocess.run([bench_joint], check=True, capture_output=True, text=True).stdout
    for ours in map(json.loads, lines.splitlines()):
        print(json.dumps(ours), flush=True)
        ms, nodes = bench(folder, ours["layers"])
        print(json.dumps({"bench": "joint", "by": f"PyTorch {torch.__version__}", "layers": ours["layers"],
                          "nodes": nodes, "ms": round(ms, 1), "theirs_over_ours": round(ms / ours["ms"], 1),
                          "same": nodes == ours["nodes"]}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
