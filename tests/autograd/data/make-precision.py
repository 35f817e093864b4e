# SPDX-License-Identifier: MIT
"""Writes precision.txt: how far PyTorch 2.6's gradients in 32 and 16 bits are from those in float64.

Its first line is that of the files of ../../ops/data/oracle, and then one line is
    TARGET LINE DTYPE ARGUMENT:ERROR...
for the case at that line of the operator's file, with every floating tensor rounded to DTYPE (and an argument
that names the dtype of the first one changed likewise): the relative L2
error of the gradient of each tensor of the arguments that PyTorch differentiates (derivatives.txt), in the order
of the schema. An error is '-' where there is no gradient and 'i' where one of the two is not finite. The gradients of the results are the numbers
of case_random(), rounded to DTYPE. A line without errors: PyTorch does not support DTYPE here.

    make-precision.py [REGEX]  (only operators that match are recorded; the rest stays as it is)

The newest release records operators that 2.6 lacks.
"""
import os
import re
import sys

from recorded import cases, changed, differentiated, find, is_float, pinned, random_numbers, tensors
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "precision.txt")
FLOATS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
PER_OPERATOR = 8
# without a derivative in PyTorch, with one in core/ops
OURS = ("aten::bernoulli.p", "aten::copy", "aten::hardsigmoid_backward", "aten::native_group_norm_backward",
        "aten::normal_functional", "prims::convert_element_type", "prims::fma")


def widened(v, dtype):
    """Returns the storage in another dtype with unchanged strides."""
    n = v.untyped_storage().nbytes() // v.element_size()
    whole = v.as_strided((n,), (1,), 0).to(dtype)
    return whole.as_strided(v.shape, v.stride(), v.storage_offset())


def gradients(op, args, kwargs, dtype, wide, names):
    """Returns name and gradient of all floating-point tensors of the arguments @names; None where there is none."""
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


def lines_of(target, of_one, derivatives):
    op = find(target)
    base = op.name() if op.name() in derivatives else re.sub(r"_(\.|$)", r"\1", op.name())
    if base not in derivatives and base not in OURS:
        return
    names = derivatives.get(base, [])
    step = max(1, len(of_one) / PER_OPERATOR)
    for _, number, _, args, kwargs, marks in [of_one[int(i * step)] for i in range(min(len(of_one), PER_OPERATOR))]:
        for code, dtype in FLOATS.items():
            errors = []
            try:
                exact = gradients(op, args, kwargs, dtype, True, names)
                if "g" not in marks:
                    errors = [f"{name}:{error(g, e)}" for (name, g), (_, e) in
                              zip(gradients(op, args, kwargs, dtype, False, names), exact)]
            except Exception:
                pass
            yield " ".join([target, str(number), code, *errors])


def main(wanted):
    derivatives, by_target = differentiated(), {}
    for case in cases():
        # values converted to 16 bits have 16-bit precision
        if any(v in (torch.bfloat16, torch.float16) for v in [*case[3], *case[4].values()] if isinstance(v, torch.dtype)):
            continue
        if "x" not in case[5] and any(is_float(v) and v.numel() for v in tensors([case[3], list(case[4].values())])):
            by_target.setdefault(case[2], []).append(case)
    by, *known = open(OUT).read().splitlines()
    made = {target for target in by_target if not wanted or re.search(wanted, target)}
    lines = [line for line in known if line.split(" ")[0] not in made]
    for target in made:
        lines += lines_of(target, by_target[target], derivatives)
    lines.sort(key=lambda line: line.split(" ")[0])
    with open(OUT, "w") as f:
        f.write("\n".join([by, *lines]) + "\n")
    print(len(by_target), "operators,", len(lines), "lines")


main(sys.argv[1] if len(sys.argv) > 1 else None)
