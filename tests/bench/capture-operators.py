#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the operator database of the installed PyTorch with and without the capture module.

    capture-operators.py [--dtype NAME]... [--only REGEX] [--every N] [--samples N] [--adjoint PROGRAM] LOG

Some samples of each operator run under torch.compile(backend="aot_eager"), forward and, if it exists, backward: once
without and once with the module.  Results and gradients must have the same bits, the state of the
random generator and the number of graphs must be the same, the module must not have failed, and PROGRAM must open
what it wrote.  Crashes are counted: the samples run in a child process, which is restarted after the sample that
crashed it.  LOG keeps a line per sample; samples in it are not run again.  The last lines
are totals by dtype.
"""
import argparse
import collections
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = ("float32", "bfloat16", "int64", "bool", "complex64")


def digest(values, state):
    import torch

    for v in torch.utils._pytree.tree_leaves(values):
        if not isinstance(v, torch.Tensor):
            state.update(repr(v).encode())
            continue
        state.update(repr((v.dtype, tuple(v.shape), v.layout)).encode())
        v = torch.zeros(v.shape, dtype=v.dtype) if v._is_zerotensor() else v.detach()
        dense = v.to_dense() if v.layout != torch.strided else v
        plain = dense.dequantize() if dense.is_quantized else dense
        plain = plain.resolve_conj().resolve_neg().contiguous().flatten()
        state.update(plain.view(torch.uint8).numpy().tobytes())


def run(function, sample, differentiate):
    """Returns digests of the results, of the gradients and of the random state after them, and the number of graphs."""
    import torch

    torch._dynamo.reset()
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    torch.manual_seed(7)
    inputs = (sample.input, sample.args, sample.kwargs)
    inputs = torch.utils._pytree.tree_map_only(
        torch.Tensor,
        lambda t: t.detach().clone(memory_format=torch.preserve_format).requires_grad_(t.requires_grad),
        inputs,
    )
    results, gradients = hashlib.sha256(), hashlib.sha256()
    out = torch.compile(lambda x, args, kwargs: function(x, *args, **kwargs), backend="aot_eager")(*inputs)
    digest(out, results)
    leaves = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
    if differentiate and leaves:
        torch.autograd.backward(leaves, [torch.ones_like(t) for t in leaves])
        known = [t for t in torch.utils._pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor)]
        digest([t.grad for t in known if t.is_leaf], gradients)
    state = hashlib.sha256(torch.get_rng_state().numpy().tobytes())
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"] - before
    return [results.hexdigest(), gradients.hexdigest(), state.hexdigest(), graphs]


def attempt(*args):
    try:
        return run(*args)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"


def one(op, sample, differentiate, path, program):
    """Returns the verdict on a sample: "same", or an error."""
    import adjoint_capture

    without = attempt(op, copy.copy(sample), differentiate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with adjoint_capture.record(path) as session:
            with_it = attempt(op, copy.copy(sample), differentiate)
    if session is None:
        return "no session"
    if without != with_it:
        again = attempt(op, copy.copy(sample), differentiate)
        if again != without:
            return "not repeatable"
        return f"DIFFERENT {without} {with_it}"
    if session.failures:
        return f"FAILED {session.notes}"
    shown = subprocess.run([program, "show", path], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        empty = "holds no graph" in shown.stderr
        return f"{'nothing compiled' if empty else 'UNREADABLE'}: {shown.stderr.strip()[-300:]}"
    if isinstance(without, str):
        return f"same error: {without}"
    return "same"


def child(dtype_name, names, options):
    sys.path[:0] = [os.path.join(HERE, os.pardir, os.pardir, "data", "bridge")]
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dtype, wanted = getattr(torch, dtype_name), set(names)
    with open(options.log, "a", encoding="utf-8") as log, tempfile.TemporaryDirectory() as folder:
        done = finished(options.log)
        for op in op_db:
            key = f"{dtype_name} {op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"
            if key not in wanted:
                continue
            differentiate = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
            torch.manual_seed(0)
            samples = op.sample_inputs("cpu", dtype, requires_grad=differentiate)
            for i, sample in zip(range(options.samples), samples):
                if f"{key} {i}" in done:
                    continue
                print(f"{key} {i}\tstarted", file=log, flush=True)
                path = os.path.join(folder, "sample.adjoint")
                print(f"{key} {i}\t{one(op, sample, differentiate, path, options.adjoint)}", file=log, flush=True)


def finished(path):
    """Returns {sample: verdict} from a log; the last line of a sample counts."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as log:
            for line in log:
                key, _, verdict = line.rstrip("\n").partition("\t")
                found[key] = verdict
    return found


def names_of(dtype_name, options):
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    dtype = getattr(torch, dtype_name)
    names = [
        f"{dtype_name} {op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"
        for op in op_db
        if dtype in op.supported_dtypes("cpu")
    ]
    return [n for n in names if re.search(options.only, n)][:: options.every]


def run_all(names, options):
    """Runs child processes until all samples have a verdict."""
    while True:
        command = [sys.executable, os.path.abspath(__file__), "--child", json.dumps(names), *sys.argv[1:]]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return
        key = next((k for k, v in reversed(finished(options.log).items()) if v == "started"), None)
        if key is None:
            sys.exit(done.stderr[-2000:])
        with open(options.log, "a", encoding="utf-8") as log:
            print(f"{key}\tKILLED {done.returncode} {done.stderr.strip()[-200:]!r}", file=log)


def total(options):
    good, bad = collections.defaultdict(collections.Counter), []
    for key, verdict in finished(options.log).items():
        kind = re.split(r"[ :]", verdict)[0]
        good[key.split()[0]][{"not": "not repeatable", "nothing": "nothing compiled"}.get(kind, kind)] += 1
        if kind.isupper():
            bad.append(f"{key}: {verdict}")
    for dtype, counts in good.items():
        print(dtype, ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items())))
    print(*bad, sep="\n")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--adjoint", default="adjoint")
    parser.add_argument("--child", type=json.loads)
    parser.add_argument("log")
    options = parser.parse_args()
    if options.child:
        child(options.child[0].split()[0], options.child, options)
        return 0
    for dtype in options.dtype or DTYPES:
        names = names_of(dtype, options)
        for at in range(0, len(names), 50):
            run_all(names[at : at + 50], options)
    return total(options)


if __name__ == "__main__":
    sys.exit(main())
