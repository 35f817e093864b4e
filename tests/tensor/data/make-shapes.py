#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes PyTorch's results for strides, views and dtypes, one case per line.

Run with a Python that has PyTorch 2.6; the tables beside this script are what it wrote.  A tensor is
"size/stride", both separated by commas, "-" when empty.

  pointwise.txt   operands separated by blanks, "->", the result of one pointwise operator
  view.txt        operand, wanted sizes, "->", result or "error"
  format.txt      operand, "->", contiguous, channels last, dense (0 or 1), suggested format,
                  strides of a preserving copy, strides of a channels-last copy or "-"
  promote.txt     operands "dtype:rank" or "dtype:number", "->", torch.result_type() or "error"
  convert.txt     source dtype, value as a float, target dtype, "->", the bytes in hexadecimal

Results of pointwise operators and views are those in traced graphs, which differ from eager ones in the strides of
dimensions of size 1.
"""

import pathlib
import random
import struct

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

HERE = pathlib.Path(__file__).parent
rng = random.Random(20)


def text(values):
    return ",".join(str(v) for v in values) or "-"


def describe(tensor):
    return f"{text(tensor.size())}/{text(tensor.stride())}"


def random_operand(sizes):
    """Returns a tensor of these sizes in one of many layouts."""
    n = len(sizes)
    kind = rng.choice(["plain", "permuted", "sliced", "expanded", "permuted-sliced", "channels-last"])
    if kind == "channels-last" and n in (4, 5):
        fmt = torch.channels_last if n == 4 else torch.channels_last_3d
        return torch.empty(sizes).contiguous(memory_format=fmt)
    if kind.startswith("permuted") and n > 1:
        order = list(range(n))
        rng.shuffle(order)
        padded = [sizes[d] + (rng.choice([0, 0, 2]) if kind == "permuted-sliced" else 0) for d in order]
        inverse = [order.index(d) for d in range(n)]
        tensor = torch.empty(padded).permute(inverse)
        return tensor[tuple(slice(0, s) for s in sizes)]
    if kind == "sliced" and n > 0:
        step = [rng.choice([1, 1, 2]) for _ in sizes]
        tensor = torch.empty([s * k + rng.choice([0, 1]) for s, k in zip(sizes, step)])
        return tensor[tuple(slice(0, s * k, k) for s, k in zip(sizes, step))]
    if kind == "expanded" and n > 0:
        return torch.empty([s if rng.random() < 0.6 else 1 for s in sizes]).expand(sizes)
    return torch.empty(sizes)


def random_sizes(rank):
    return [rng.choice([1, 1, 2, 3, 4, 5] + ([0] if rng.random() < 0.2 else [])) for _ in range(rank)]


def weaken(sizes):
    """Returns sizes that broadcast with these."""
    kept = sizes[rng.choice([0, 0, 0, rng.randint(0, len(sizes))]) :]
    return [s if rng.random() < 0.85 else 1 for s in kept]


def traced(call, *operands):
    """Returns the result of @call while AOTAutograd traces."""
    mode = FakeTensorMode(shape_env=ShapeEnv())
    fakes = [mode.from_tensor(operand, static_shapes=True) for operand in operands]
    with mode, enable_python_dispatcher():
        return call(*fakes)


def pointwise(*operands):
    if len(operands) == 1:
        return torch.neg(operands[0])
    if len(operands) == 2:
        return torch.add(*operands)
    return torch.addcmul(*operands)


def write(name, lines):
    unique = list(dict.fromkeys(lines))
    (HERE / name).write_text("\n".join(unique) + "\n")


def make_pointwise():
    for _ in range(1500):
        sizes = random_sizes(rng.choice([0, 1, 2, 3, 3, 4, 4, 4, 5]))
        n = rng.choice([1, 2, 2, 3])
        same = rng.random() < 0.5
        operands = [random_operand(sizes if same else weaken(sizes)) for _ in range(n)]
        if rng.random() < 0.2:
            operands = [operands[0]] * n
        yield " ".join(map(describe, operands)) + " -> " + describe(traced(pointwise, *operands))


def random_view(numel):
    sizes = []
    while numel > 1 and len(sizes) < 4:
        divisor = rng.choice([d for d in range(1, numel + 1) if numel % d == 0])
        sizes.append(divisor)
        numel //= divisor
    sizes.append(numel)
    for _ in range(rng.choice([0, 0, 1])):
        sizes.insert(rng.randint(0, len(sizes)), 1)
    if rng.random() < 0.2:
        sizes[rng.randrange(len(sizes))] = -1
    if rng.random() < 0.05:
        sizes[rng.randrange(len(sizes))] = 7
    return sizes


def can_trace_view(operand, view):
    """Whether tracing accepts the view: around sizes of 1 it refuses some."""
    try:
        fake = traced(lambda fake: fake.view(view.size()), operand)
    except (RuntimeError, ValueError):
        return False
    return view.numel() == 0 or all(a == b for a, b, n in zip(fake.stride(), view.stride(), view.size()) if n > 1)


def make_view():
    for _ in range(900):
        operand = random_operand(random_sizes(rng.choice([0, 1, 2, 3, 4])))
        sizes = random_view(operand.numel())
        if rng.random() < 0.25:
            sizes = list(operand.size())
            at = rng.randint(0, len(sizes))
            sizes[at : at + 2] = [int(torch.Size(sizes[at : at + 2]).numel())]
        try:
            result = operand.view(sizes)
        except RuntimeError:
            result = None
        if result is not None and can_trace_view(operand, result):
            result = traced(lambda fake: fake.view(sizes), operand)
        yield f"{describe(operand)} {text(sizes)} -> {'error' if result is None else describe(result)}"


def make_format():
    for _ in range(900):
        operand = random_operand(random_sizes(rng.choice([0, 1, 2, 3, 4, 4, 4, 5, 5])))
        n = operand.dim()
        last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(n)
        is_last = operand.is_contiguous(memory_format=last) if last else False
        dense = torch._C._non_overlapping_and_dense(operand) if hasattr(torch._C, "_non_overlapping_and_dense") else torch.ops.aten.is_non_overlapping_and_dense(operand)
        suggested = "channels_last" if last and torch._prims_common.suggest_memory_format(operand) == last else "contiguous_format"
        preserved = text(torch.empty_like(operand).stride())
        copied = text(torch.empty(operand.size(), memory_format=last).stride()) if last else "none"
        yield (
            f"{describe(operand)} -> {int(operand.is_contiguous())} {int(is_last)} {int(dense)}"
            f" {suggested} {preserved} {copied}"
        )


DTYPES = """bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 uint16 uint32 uint64
complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz bits16""".split()
NUMBERS = {"bool": True, "int64": 3, "float32": 2.5, "complex64": 1j}


def make_promote():
    def make(dtype, rank):
        if rank == "number":
            return NUMBERS[dtype]
        return torch.empty([2] * int(rank), dtype=getattr(torch, dtype))

    kinds = [(d, r) for d in DTYPES for r in ("0", "1")] + [(d, "number") for d in NUMBERS]
    for a in kinds:
        for b in kinds:
            if a[1] == b[1] == "number":
                continue
            try:
                result = str(torch.result_type(make(*a), make(*b)))[6:]
            except RuntimeError:
                result = "error"
            yield f"{a[0]}:{a[1]} {b[0]}:{b[1]} -> {result}"


REALS = [0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 3.5, 1 / 3, 65504.0, 65520.0, 1e-8, 6e-8, 3e-5, 240.0, 248.0, 448.0, 464.0,
         465.0, 480.0, 57344.0, 61440.0, 1e-3, 0.0078125, 0.001953125, 0.0009765625, 1e30, 3.3895e38, 1e-40,
         float("inf"), -17.6, 255.0, 127.9, -128.0]
TARGETS = "uint8 int8 int16 int32 int64 bool float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz complex64".split()


def make_convert():
    for value in REALS:
        for target in TARGETS:
            integral = target.startswith(("int", "uint"))
            low = 0 if target.startswith("uint") else -128
            if integral and not low <= value < 128:
                continue  # a value out of range is undefined in C++
            source = torch.tensor([value], dtype=torch.float64)
            if target.startswith("float8"):
                source = source.to(torch.float32)
            raw = source.to(getattr(torch, target)).view(torch.uint8)
            name = str(source.dtype)[6:]
            yield f"{name} {source.item()!r} {target} -> {bytes(raw.tolist()).hex()}"


write("pointwise.txt", make_pointwise())
write("view.txt", make_view())
write("format.txt", make_format())
write("promote.txt", make_promote())
write("convert.txt", make_convert())
