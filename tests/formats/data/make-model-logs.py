#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the logs of one training step of every model of data/graphs by the installed PyTorch:

    make-model-logs.py OUTPUT_FOLDER

`models-trace-<release>.log.gz` is what TORCH_TRACE writes, without the records that no reader of graphs needs,
`models-console-<release>.txt.gz` what TORCH_LOGS writes, and `models-<release>.txt` lists the graphs that the program
saw itself: role, placeholders, nodes, a line each.  Those beside this script were made by 2.6.0 and 2.15.0.
"""
import glob
import gzip
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(ROOT, "data", "graphs")]


def train():
    import models
    import torch
    from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    seen = []

    def see(role, module):
        inputs = sum(n.op == "placeholder" for n in module.graph.nodes)
        seen.append(f"{role} {inputs} {len(module.graph.nodes) - inputs - 1}")

    def partition(joint, joint_inputs, **kwargs):
        see("joint", joint)
        halves = min_cut_rematerialization_partition(joint, joint_inputs, **kwargs)
        for role, half in zip(("forward", "backward"), halves):
            see(role, half)
        return halves

    def compiler(module, _inputs):
        return make_boxed_func(module.forward)

    def backend(module, inputs):
        see("dynamo", module)
        return aot_autograd(fw_compiler=compiler, bw_compiler=compiler, partition_fn=partition)(module, inputs)

    for name, make in models.ALL.items():
        model, inputs = make()
        print("model", name)
        torch.compile(model, backend=backend)(*inputs).backward()
    print("done")
    with open(os.environ["MODELS_SEEN"], "w", encoding="utf-8") as out:
        out.write("\n".join(seen) + "\n")


def compressed(path, text):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as out:
        out.write(text.encode())


def main(folder):
    import torch

    thin, neutral = (getattr(__import__("make-logs"), name) for name in ("thin", "neutral"))
    release = ".".join(torch.__version__.split(".")[:2])
    with tempfile.TemporaryDirectory() as scratch:
        run = [sys.executable, os.path.abspath(__file__), "--train"]
        seen = os.path.join(folder, f"models-{release}.txt")
        logs = {"TORCH_LOGS": "graph_code,aot_graphs,aot_joint_graph", "TORCH_TRACE": os.path.join(scratch, "logs")}
        env = {**os.environ, **logs, "MODELS_SEEN": seen, "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(run, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
        replaced = {HERE: "/home/user", ROOT: "/home/user"}
        console = neutral(done.stdout, scratch)
        [log] = glob.glob(os.path.join(scratch, "logs", "*.log"))
        with open(log, encoding="utf-8") as source:
            trace = neutral(source.read(), scratch)
        for old, new in replaced.items():
            console, trace = console.replace(old, new), trace.replace(old, new)
        compressed(os.path.join(folder, f"models-console-{release}.txt.gz"), console)
        compressed(os.path.join(folder, f"models-trace-{release}.log.gz"), thin(trace))


if __name__ == "__main__":
    if sys.argv[1:] == ["--train"]:
        train()
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
