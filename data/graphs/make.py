#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the captures of this folder:  make.py OUTPUT_FOLDER [NAME...]

Needs PyTorch 2.6.  One training step of each model of models.py under torch.compile(backend="aot_eager"),
that is without decompositions; `gpt2-inductor` is gpt2 under "aot_eager_decomp_partition", that is with
Inductor's decomposition table and its partitioner.

`torch-trace` is the folder that TORCH_TRACE gives for three steps of training the MLP with Inductor, the
last one with another batch size, so that it is compiled again with dynamic shapes.  Paths of the machine are
replaced in it, and the digests of the payloads that this changes are computed again.
"""
import hashlib
import linecache
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "bridge"))

import torch  # noqa: E402

PACKAGES = {path + os.sep: "" for path in site.getsitepackages()}


def load_models():
    """models.py under a path that says nothing about the machine that made the captures."""
    name = "/home/user/models.py"
    with open(os.path.join(HERE, "models.py"), encoding="utf-8") as source:
        text = source.read()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = types.ModuleType("models")
    sys.modules["models"] = module
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def capture(folder, name, make, backend):
    import adjoint_capture

    torch._dynamo.reset()
    model, inputs = make()
    with adjoint_capture.record(os.path.join(folder, name + ".adjoint"), rename=PACKAGES) as session:
        torch.compile(model, backend=backend)(*inputs).backward()
    if session is None or session.notes:
        sys.exit(f"{name}: {session and session.notes}")


def train(models):
    """The program whose TORCH_TRACE is kept."""
    model, _ = models.mlp()
    step = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in (8, 8, 12):
        loss = step(torch.randn(batch, 16), torch.randint(10, (batch,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def neutral_log(text, names):
    """A trace log with `names` replaced and the digests of its payloads made right again."""
    for old, new in names.items():
        text = text.replace(old, new)
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if '"has_payload": "' in line:
            payload = []
            for after in lines[i + 1 :]:
                if not after.startswith("\t"):
                    break
                payload.append(after[1:])
            digest = hashlib.md5("\n".join(payload).encode()).hexdigest()
            lines[i] = re.sub(r'("has_payload": ")[0-9a-f]{32}', rf"\g<1>{digest}", line)
    return "\n".join(lines)


def trace(folder):
    target = os.path.join(folder, "torch-trace")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    with tempfile.TemporaryDirectory() as scratch:
        logs, cache = os.path.join(scratch, "logs"), os.path.join(scratch, "cache")
        subprocess.run(
            [sys.executable, os.path.abspath(__file__), "--train"],
            env={
                **os.environ,
                "TORCH_TRACE": logs,
                "TORCHINDUCTOR_CACHE_DIR": cache,
                "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",  # what they say would be half of the log
            },
            check=True,
        )
        names = {**dict.fromkeys(PACKAGES, "/usr/lib/python3/dist-packages/"), cache: "/home/user/cache"}
        names.update({os.path.abspath(__file__): "/home/user/train.py", scratch: "/home/user"})
        [log] = os.listdir(logs)
        with open(os.path.join(logs, log), encoding="utf-8") as source:
            text = neutral_log(source.read(), names)
        with open(os.path.join(target, "dedicated_log_torch_trace_training.log"), "w", encoding="utf-8") as out:
            out.write(text)


def main(folder, names):
    models = load_models()
    makers = {
        name: lambda name=name, make=make: capture(folder, name, make, "aot_eager") for name, make in models.ALL.items()
    }
    makers["gpt2-inductor"] = lambda: capture(folder, "gpt2-inductor", models.gpt2, "aot_eager_decomp_partition")
    makers["torch-trace"] = lambda: trace(folder)
    for name in names or makers:
        makers[name]()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    if sys.argv[1] == "--train":
        train(load_models())
    else:
        main(sys.argv[1], sys.argv[2:])
