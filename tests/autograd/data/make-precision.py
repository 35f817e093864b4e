# SPDX-License-Identifier: MIT
"""Writes precision.txt.gz: how far PyTorch 2.6's gradients in 32 and 16 bits are from those in float64.

One line is
    FILE LINE TARGET DTYPE ARGUMENT:ERROR...
for the case at that line of ../../ops/data/FILE, with every floating tensor rounded to DTYPE (and an argument
that names the dtype of the first one changed likewise): the relative L2
error of the gradient of each tensor of the arguments that PyTorch differentiates (derivatives.txt), in the order
of the schema. An error is '-' where there is no gradient and 'i' where one of the two is not finite. The gradients of the results are the numbers
of case_random(), rounded to DTYPE. A line without errors: PyTorch does not compute this in DTYPE.
"""
import gzip
import os
import re

import torch
from recorded import cases, changed, differentiated, find, is_float, random_numbers, tensors

HERE = os.path.dirname(os.path.abspath(__file__))
FLOATS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
PER_OPERATOR = 8
# without a derivative in PyTorch, with one in core/ops
OURS = ("aten::bernoulli.p", "aten::copy", "aten::hardsigmoid_backward", "aten::native_group_norm_backward",
        "aten::normal_functional", "prims::convert_element_type", "prims::fma")


def widened(v, dtype):
    """The storage in another dtype; strides stay what they are."""
    n = v.untyped_storage().nbytes() // v.element_size()
    whole = v.as_strided((n,), (1,), 0).to(dtype)
    return whole.as_strided(v.shape, v.stride(), v.storage_offset())


def gradients(op, args, kwargs, dtype, wide, names):
    """Name and gradient of all floating tensors of the arguments @names; None where there is none."""
    leaves, found, name = [], [], None
    main = next((v.dtype for v in tensors([args, list(kwargs.values())]) if is_float(v)), None)

    def place(v):
        if isinstance(v, torch.dtype) and v.is_floating_point:
            return torch.float64 if wide else dtype if v is main else v
        if not is_float(v):
            return v
        leaf = widened(v, dtype)
        leaf = widened(leaf, torch.float64) if wide else leaf
        if names is None or name in names:
            leaves.append(leaf.requires_grad_())
            found.append(name)
        return leaf

    given = {a.name: v for a, v in zip(op._schema.arguments, args)} | kwargs
    placed = {}
    for name in [a.name for a in op._schema.arguments if a.name in given]:
        placed[name] = changed(given[name], place)
    call_args = [placed[a.name] for a in op._schema.arguments[:len(args)]]
    if op._schema.is_mutable:
        call_args[0] = changed(call_args[0], lambda v: v.clone() if is_float(v) else v)
    result = op(*call_args, **{k: placed[k] for k in kwargs})
    result = call_args[0] if result is None else result
    roots = [r for r in tensors(result) if is_float(r) and r.requires_grad]
    given = [random_numbers(r.numel(), 7 + i).to(dtype).to(r.dtype).reshape(r.shape) for i, r in enumerate(roots)]
    return list(zip(found, torch.autograd.grad(roots, leaves, given, allow_unused=True)))


def error(got, exact):
    if got is None or exact is None:
        return "-"
    got, exact = got.double(), exact.double()
    if not (got.isfinite().all() and exact.isfinite().all()):
        return "i"
    if not exact.norm():
        return "0" if not got.norm() else "1"
    return f"{float((got - exact).norm() / exact.norm()):.3g}"


derivatives = differentiated()
by_target = {}
for case in cases():
    if "x" not in case[5] and any(is_float(v) and v.numel() for v in tensors([case[3], list(case[4].values())])):
        by_target.setdefault(case[2], []).append(case)
lines = []
for target, of_one in sorted(by_target.items()):
    op = find(target)
    base = op.name() if op.name() in derivatives else re.sub(r"_(\.|$)", r"\1", op.name())
    if base not in derivatives and base not in OURS:
        continue
    names = derivatives.get(base, [])
    step = max(1, len(of_one) / PER_OPERATOR)
    for file, number, _, args, kwargs, marks in [of_one[int(i * step)] for i in range(min(len(of_one), PER_OPERATOR))]:
        for code, dtype in FLOATS.items():
            errors = []
            try:
                exact = gradients(op, args, kwargs, dtype, True, names)
                if "g" not in marks:
                    errors = [f"{name}:{error(g, e)}" for (name, g), (_, e) in
                              zip(gradients(op, args, kwargs, dtype, False, names), exact)]
            except Exception:
                pass
            lines.append(" ".join([file, str(number), target, code, *errors]))
with open(os.path.join(HERE, "precision.txt.gz"), "wb") as f:
    f.write(gzip.compress(("\n".join(lines) + "\n").encode("ascii"), 9, mtime=0))
print(len(by_target), "operators,", len(lines), "lines")
