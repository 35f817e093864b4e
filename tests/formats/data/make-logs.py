#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the logs of a small training step by the installed PyTorch:  make-logs.py OUTPUT_FOLDER

`console-<release>.txt` is what TORCH_LOGS writes, `trace-<release>.log` (since 2.3) what TORCH_TRACE writes, without
the records that no reader of graphs needs.  Paths of the machine are replaced.  Those beside this script were made
by 2.1.2, 2.4.1 and 2.15.0.
"""
import glob
import hashlib
import os
import re
import site
import subprocess
import sys
import tempfile

KEPT = re.compile(r'\] \{"(str|dynamo_start|create_symbol|describe_source|[a-z_]*graph|artifact)": ')


def train():
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    step = torch.compile(model, backend="aot_eager", dynamic=True)
    print("step 1")
    step(torch.randn(5, 3)).sum().backward()
    with torch.no_grad():
        step(torch.randn(6, 3))
    if not torch.__version__.startswith("2.1."):
        enable = getattr(torch._dynamo.compiled_autograd, "_enable", None) or torch._dynamo.compiled_autograd.enable
        with enable(torch.compile(backend="eager")):
            step(torch.randn(5, 3)).sum().backward()
    print("done")


def neutral(text, scratch):
    for path in site.getsitepackages():
        text = text.replace(path, "/usr/lib/python3/dist-packages")
    return text.replace(os.path.abspath(__file__), "/home/user/train.py").replace(scratch, "/home/user")


def thin(text):
    """Keeps the records that contain graphs or describe their inputs, with digests of the replaced texts."""
    out, lines, i = [], text.split("\n"), 0
    while i < len(lines):
        record, payload, i = lines[i], [], i + 1
        while i < len(lines) and lines[i].startswith("\t"):
            payload.append(lines[i])
            i += 1
        record = re.sub(r', "(user_)?stack": \[.*?\](?=[,}])', "", record)
        name = re.search(r'"artifact": \{"name": "(\w+)"', record)
        if KEPT.search(record) and (not name or name.group(1).endswith(("_graph", "fw_metadata"))):
            digest = hashlib.md5("\n".join(line[1:] for line in payload).encode()).hexdigest()
            out += [re.sub(r'("has_payload": ")\w+', rf"\g<1>{digest}", record)] + payload
    return "\n".join(out) + "\n"


def main(folder):
    import torch

    release = ".".join(torch.__version__.split(".")[:2])
    with tempfile.TemporaryDirectory() as scratch:
        child = subprocess.run(
            [sys.executable, os.path.abspath(__file__), "--train"],
            env={
                **os.environ,
                "TORCH_TRACE": scratch,
                "TORCH_LOGS": "graph_code,aot_graphs,aot_joint_graph" + ("" if release == "2.1" else ",compiled_autograd"),
                "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
            text=True,
        )
        with open(os.path.join(folder, f"console-{release}.txt"), "w", encoding="utf-8") as out:
            out.write("".join(line for line in neutral(child.stdout, scratch).splitlines(True) if "fw_metadata=" not in line))
        for log in glob.glob(os.path.join(scratch, "dedicated_log_torch_trace_*.log")):
            with open(log, encoding="utf-8") as source:
                text = thin(neutral(source.read(), scratch))
            with open(os.path.join(folder, f"trace-{release}.log"), "w", encoding="utf-8") as out:
                out.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--train":
        train()
    else:
        main(sys.argv[1])
