# SPDX-License-Identifier: MIT
"""Records samples of PyTorch's operator database: opdb-capture.py MODULE DTYPE, jobs as in jobs.py.

A job is {"op", "pick", "of", "path"}: sample number `pick` of `of` samples spread over those of the operator,
recorded into `path` by the capture module MODULE.  The outcome is "none" where there are fewer samples.
"""

import functools
import sys

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

from jobs import line, load, record, serve

OPERATORS = {op.full_name: op for op in op_db}


@functools.lru_cache(1)
def samples(name, dtype):
    """Returns the samples of the operator with this name, deterministically."""
    op = OPERATORS[name]
    torch.manual_seed(0)
    differentiable = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    return list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))


def spread(count, of):
    """Returns `of` numbers below `count`, evenly spread from the first to the last."""
    return sorted({round(i * (count - 1) / max(of - 1, 1)) for i in range(of)}) if count else []


def cotangent(tensor):
    angle = torch.arange(1, tensor.numel() + 1, dtype=torch.float64).reshape(tensor.shape)
    values = torch.polar(torch.ones_like(angle), angle) if tensor.is_complex() else angle.cos()
    return values.to(tensor.dtype)


def copy(value):
    """Returns a leaf with its own memory and the layout of `value`."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.layout != torch.strided:
        return value.detach().clone().requires_grad_(value.requires_grad)
    storage = value.untyped_storage().clone()
    fresh = torch.empty(0, dtype=value.dtype).set_(storage, value.storage_offset(), value.shape, value.stride())
    return fresh.requires_grad_(value.requires_grad)


def step(call, sample):
    """Runs the operator on copies of the sample, and its gradient for a fixed cotangent."""
    torch.manual_seed(1)
    result = call(*tree_map(copy, (sample.input, sample.args, sample.kwargs)))
    outputs = [t for t in tree_leaves(sample.output_process_fn_grad(result)) if isinstance(t, torch.Tensor)]
    outputs = [t for t in outputs if t.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, [cotangent(t) for t in outputs])


def answer(module, dtype, job):
    try:
        found = samples(job["op"], dtype)
    except Exception as error:
        return {"outcome": "no samples", "cause": line(error)}
    picks = spread(len(found), job["of"])
    if job["pick"] >= len(picks):
        return {"outcome": "none"}
    op, number = OPERATORS[job["op"]].get_op(), picks[job["pick"]]

    def call(value, args, kwargs):
        return op(value, *args, **kwargs)

    answer = record(module, job["path"], call, lambda called: step(called, found[number]))
    return {**answer, "sample": number, "samples": len(found)}


def main(path, dtype):
    module, dtype = load(path), getattr(torch, dtype)
    names = [name for name, op in OPERATORS.items() if op.supports_dtype(dtype, "cpu")]
    serve({"torch": torch.__version__, "ops": names}, lambda job: answer(module, dtype, job))


if __name__ == "__main__":
    main(*sys.argv[1:])
