#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the captures of this folder:  make.py OUTPUT_FOLDER [NAME...]

Needs PyTorch 2.6.  One training step of each model of models.py under torch.compile(backend="aot_eager"),
that is without decompositions; `gpt2-inductor` is gpt2 under "aot_eager_decomp_partition", that is with
Inductor's decomposition table and its partitioner.

Two run under compiled autograd, which captures their backward: `gpt2-hooks` accumulates over two steps, and hooks clip
the gradients between its blocks; `mlp-ddp` is the first of two processes that train in parallel,
with PyTorch's reducer in Python, whose hooks average each gradient.

`torch-trace` is the folder that TORCH_TRACE gives for three steps of training the MLP with Inductor, the
last one with another batch size, so that it is compiled again with dynamic shapes.  Paths of the machine are
replaced in it, and the digests of the payloads that this changes are computed again.
"""
import hashlib
import json
import linecache
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import types
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "bridge"))

import torch  # noqa: E402

PACKAGES = {path + os.sep: "" for path in site.getsitepackages()}


def load_models():
    """Loads models.py under a path that contains no information about this machine."""
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
    path = os.path.join(folder, name + ".adjoint")
    with adjoint_capture.record(path, rename=PACKAGES) as session:
        torch.compile(model, backend=backend)(*inputs).backward()
    if session is None or session.notes:
        sys.exit(f"{name}: {session and session.notes}")
    check_gradients(path, model)


def check_gradients(path, model):
    """Checks that the gradients of the Dynamo call are those that autograd stored in the parameters."""
    with zipfile.ZipFile(path) as capture:
        [call] = [c for c in json.loads(capture.read("adjoint.json"))["calls"] if "gradients" in c]
        nodes = json.loads(capture.read(f"graphs/{call['graph']}.json"))["graph"]["nodes"]
        names = [n["meta"].get("param") for n in nodes if n["op"] == "placeholder"]
        found = {n: g for n, g in zip(names, call["gradients"]) if g is not None}
        for name, parameter in model.named_parameters():
            expected = parameter.grad.contiguous().flatten().numpy().tobytes()
            if digest(expected) != digest(stored(capture, *found.pop(name)["$tensor"])):
                sys.exit(f"{path}: the gradient of {name} is another one")
    if found:
        sys.exit(f"{path}: what are the gradients of {', '.join(found)}?")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def stored(capture, file, key, view=None):
    """Returns the elements of a tensor of a capture in logical order."""
    data = capture.read(f"tensors/{file}.safetensors")
    length = int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8 : 8 + length])[key]["data_offsets"]
    data = data[8 + length + begin : 8 + length + end]
    if view is None:
        return data
    flat = torch.frombuffer(bytearray(data), dtype=torch.float32)
    return torch.as_strided(flat, view["size"], view["stride"], view["offset"]).contiguous().numpy().tobytes()


def as_it_is(graph):
    return graph


def capture_backwards(path, steps, between, **options):
    """Records the backward of each step under compiled autograd; returns the path."""
    import adjoint_capture

    torch._dynamo.reset()
    with adjoint_capture.record(path, rename=PACKAGES, **options) as session:
        with torch._dynamo.compiled_autograd._enable(as_it_is):
            for step in steps:
                between()
                step().backward()
    if session is None or session.notes:
        sys.exit(f"{path}: {session and session.notes}")
    return session.path


def capture_accumulation(folder, models):
    model, batches = models.gpt2_hooks()
    steps = [lambda batch=batch: model(*batch) for batch in batches]
    path = capture_backwards(os.path.join(folder, "gpt2-hooks.adjoint"), steps, lambda: None, reordering=False)
    check_leaves(path, model)


def capture_parallel(folder, models):
    """Runs both ranks as child processes; the recording of the second one is deleted."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, os.path.abspath(__file__), "--rank"]
        ranks = [subprocess.Popen([*command, str(rank), scratch]) for rank in range(2)]
        if [rank.wait() for rank in ranks] != [0, 0]:
            sys.exit("mlp-ddp: a rank has failed")
        shutil.copy(os.path.join(scratch, "mlp-ddp.rank0.adjoint"), os.path.join(folder, "mlp-ddp.adjoint"))


def run_rank(models, rank, scratch):
    torch.distributed.init_process_group("gloo", f"file://{scratch}/store", rank=rank, world_size=2)
    with torch._dynamo.config.patch(optimize_ddp="python_reducer_without_compiled_forward"):
        model, batches = models.mlp_ddp(rank)
        model = torch.nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        steps = [lambda batch=batch: model(*batch) for batch in batches]
        capture_backwards(os.path.join(scratch, "mlp-ddp.adjoint"), steps, optimizer.zero_grad)
    torch.distributed.destroy_process_group()


def check_leaves(path, model):
    """Checks that the gradients of the last call are those stored in the parameters."""
    with zipfile.ZipFile(path) as capture:
        call = json.loads(capture.read("adjoint.json"))["calls"][-1]["backward"]
        found = {call["inputs"][g["of"]]["name"]: stored(capture, *g["grad"]["$tensor"]) for g in call["gradients"]}
    expected = {n: p.grad.contiguous().flatten().numpy().tobytes() for n, p in model.named_parameters()}
    if found != expected:
        sys.exit(f"{path}: other gradients of {[n for n in expected if found.get(n) != expected[n]]}")


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
    """Returns a trace log with `names` replaced and the digests of its payloads corrected."""
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
                "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",  # their records would be half of the log
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
    makers["gpt2-hooks"] = lambda: capture_accumulation(folder, models)
    makers["mlp-ddp"] = lambda: capture_parallel(folder, models)
    makers["torch-trace"] = lambda: trace(folder)
    for name in names or makers:
        makers[name]()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    if sys.argv[1] == "--train":
        train(load_models())
    elif sys.argv[1] == "--rank":
        run_rank(load_models(), int(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1], sys.argv[2:])
