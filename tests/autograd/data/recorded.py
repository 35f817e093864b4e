# SPDX-License-Identifier: MIT
"""Reads the cases of ../../ops/data/oracle and derivatives.txt, for the scripts beside this file."""
import glob
import gzip
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))

import pinned
import torch
import torch._inductor.inductor_prims

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = {
    "b8": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "c32": torch.complex32, "c64": torch.complex64, "c128": torch.complex128,
}


def value(words):
    kind = next(words)
    if kind == "n":
        return None
    if kind == "b":
        return next(words) == "1"
    if kind == "i":
        return int(next(words))
    if kind == "f":
        return float(next(words))
    if kind == "z":
        return complex(float(next(words)), float(next(words)))
    if kind == "s":
        return next(words, "")
    if kind == "d":
        return CODES[next(words)]
    if kind == "c":
        return torch.device("cpu")
    if kind == "m":
        return getattr(torch, next(words))
    if kind == "l":
        return [value(words) for _ in range(int(next(words)))]
    dtype, rank = CODES[next(words)], int(next(words))
    sizes = [int(next(words)) for _ in range(rank)]
    strides = [int(next(words)) for _ in range(rank)]
    offset, data = int(next(words)), next(words)
    raw = bytearray() if data == "-" else bytearray.fromhex(data)
    storage = torch.frombuffer(raw, dtype=torch.uint8).clone().view(dtype) if raw else torch.empty(0, dtype=dtype)
    return storage.as_strided(sizes, strides, offset)


def cases():
    """Returns the cases that the installed release recorded."""
    for path in sorted(glob.glob(os.path.join(HERE, "../../ops/data/oracle/*.txt.gz"))):
        name, case = os.path.basename(path), None
        lines = gzip.open(path, "rt").read().splitlines()
        if lines[0] != f"by {pinned.MADE_BY}":
            continue
        for number, line in enumerate(lines, 1):
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "case":
                if case:
                    yield case
                case = (name, number, rest, [], {}, set())
            elif kind == "a":
                case[3].append(value(iter(rest.split(" "))))
            elif kind == "k":
                key, _, rest = rest.partition(" ")
                case[4][key] = value(iter(rest.split(" ")))
            elif kind in "gx":
                case[5].add(kind)
        yield case


def changed(v, change):
    if isinstance(v, (list, tuple)):
        return [changed(x, change) for x in v]
    return change(v)


def tensors(v):
    if isinstance(v, (list, tuple)):
        return [y for x in v for y in tensors(x)]
    return [v] if isinstance(v, torch.Tensor) else []


def is_float(v):
    return isinstance(v, torch.Tensor) and v.is_floating_point()


def random_numbers(n, state):
    numbers = []
    for _ in range(n):
        state = (state * 1664525 + 1013904223) % 2 ** 32
        numbers.append((state >> 8) / 2 ** 23 - 1)
    return torch.tensor(numbers, dtype=torch.float64)


def find(target):
    space, packet, overload = target.removeprefix("torch.ops.").split(".")
    return getattr(getattr(getattr(torch.ops, space), packet), overload)


def differentiated():
    """By operator: the arguments that have a derivative; None: determined by its decomposition."""
    table = {}
    for line in open(os.path.join(HERE, "derivatives.txt")):
        name, rest = line.rstrip("\n").split(" ", 1)
        if rest == "- composite":
            table[name] = None
        elif not rest.startswith("-"):
            table[name] = rest.split(",")
    return table
