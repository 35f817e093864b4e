# SPDX-License-Identifier: MIT
"""Writes special/: PyTorch 2.6's CPU results and gradients at special points, a file for each operator.

The cases of ../../ops/data/oracle with the floating-point numbers of their arguments replaced, in the form of
../../ops/make-oracle.py with these additional lines:
    v NAME             (which points: a key of POINTS, or "grid": operators that work element by element get
                        all pairs of the numbers of GRID)
    d VALUE            (the gradient of a floating tensor of the arguments, in the order of the schema; n: none;
                        without any such line PyTorch does not differentiate this)
The gradients of the results are the numbers of case_random(), rounded to the dtype of the result; of five the
fourth is 0.

    make-special.py [REGEX]    (only operators that match are recorded; the rest stays as it is)
"""
import glob
import gzip
import math
import os
import re
import sys
import warnings

from recorded import CODES, cases, changed, differentiated, find, is_float, pinned, random_numbers, tensors
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "special")
FLOATS = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
NAMES = {v: k for k, v in CODES.items()}
GRID = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, -1.5, 3.0, -3.0, 6.0, math.inf, -math.inf, math.nan, "tiny", "huge"]
SMALL_GRID = [0.0, 1.0, -2.0, math.nan]
LANES = 64  # PyTorch's loops compute these as vectors and the rest in another way, which often differs
PER_OPERATOR = 4
LARGEST = 64  # elements of a tensor
# operators that change memory, draw numbers, have complex results, or nothing to compare
LEFT_OUT = re.compile(r"empty|rand|stft|dropout|bernoulli|normal|rrelu|_foreach|_fused|multinomial|poisson|exponential|"
                      r"complex|polar|linalg_(?!vector_norm)|cholesky|lu_unpack|geqrf|ormqr|triangular_solve|_fft_|"
                      r"cauchy|geometric|log_normal|uniform|binomial|dirichlet|gamma|resize|set_|quant|embedding_bag")


# -- points --


def planted(*numbers):
    """Returns the original numbers with these inserted into the first tensor."""
    def change(flat, index):
        for i, number in enumerate(numbers):
            if index == 0 and flat.numel():
                flat[(i + 1) * flat.numel() // (len(numbers) + 1)] = number
        return flat
    return change


def repeated(*numbers):
    def change(flat, index):
        return torch.tensor(numbers, dtype=torch.float64).repeat(flat.numel() // len(numbers) + 1)[:flat.numel()].to(flat.dtype)
    return change


def scaled(flat, index):
    return flat * 4 * torch.finfo(flat.dtype).smallest_normal * 2 ** -4


POINTS = {
    "zeros": (repeated(0.0, -0.0), ("f32", "bf16")),
    "ties": (repeated(1.0, 0.0, 1.0, -0.0, -1.0, 1.0, -1.0), ("f64", "f32", "bf16", "f16")),
    "nan": (planted(math.nan), ("f64", "f32", "bf16", "f16")),
    "inf": (planted(math.inf), ("f32", "f16")),
    "-inf": (planted(-math.inf), ("f32", "bf16")),
    "both": (planted(math.inf, -math.inf), ("f32",)),
    "subnormal": (scaled, ("f32", "f16")),
    "plain": (lambda flat, index: flat, ("f32", "bf16", "f16")),
}


def at(v, dtype, change, index):
    """Returns the tensor with its whole storage changed, in @dtype, with unchanged strides."""
    n = v.untyped_storage().nbytes() // v.element_size()
    flat = v.as_strided((n,), (1,), 0).to(dtype).clone()
    return change(flat, index).as_strided(v.shape, v.stride(), v.storage_offset())


def grid(dtype, index, n_tensors):
    info = torch.finfo(dtype)
    named = {"tiny": info.smallest_normal / 8, "huge": info.max / 2}
    numbers = torch.tensor([named.get(x, x) for x in (GRID if n_tensors < 3 else SMALL_GRID)], dtype=torch.float64)
    n = len(numbers)
    return numbers.repeat_interleave(n ** index).repeat(max(1, LANES // n ** n_tensors) * n ** (n_tensors - 1 - index)).to(dtype)


# -- one call --


def text(v):
    if v is None:
        return "n"
    if isinstance(v, bool):
        return f"b {int(v)}"
    if isinstance(v, (int, float)):
        return f"{'i' if isinstance(v, int) else 'f'} {v!r}"
    if isinstance(v, torch.dtype):
        return f"d {NAMES[v]}"
    if isinstance(v, torch.device):
        return "c"
    if isinstance(v, torch.memory_format):
        return f"m {str(v).replace('torch.', '')}"
    if isinstance(v, (list, tuple)):
        return " ".join([f"l {len(v)}"] + [text(x) for x in v])
    if isinstance(v, torch.Tensor):
        n = v.untyped_storage().nbytes() // v.element_size()
        return tensor(v, v.storage_offset(), v.detach().as_strided((n,), (1,), 0))
    return f"s {v}"


def tensor(v, offset, flat):
    data = flat.contiguous().view(torch.uint8).numpy().tobytes().hex() or "-"
    return "t " + " ".join(map(str, [NAMES[v.dtype], v.dim(), *v.shape, *v.stride(), offset, data]))


def result(kind, v):
    if isinstance(v, torch.Tensor) and v._is_zerotensor():  # it has no memory
        v = torch.zeros(v.shape, dtype=v.dtype)
    return f"{kind} " + (tensor(v, 0, v.detach().contiguous().flatten()) if isinstance(v, torch.Tensor) else text(v))


def flatten(v):
    return [y for x in v for y in flatten(x)] if isinstance(v, (list, tuple)) else [v]


def gradients(out, leaves):
    roots = [r for r in tensors(out) if is_float(r) and r.requires_grad]
    if not roots or not leaves:
        return []
    given = [random_numbers(r.numel(), 7 + i).to(r.dtype) for i, r in enumerate(roots)]
    for numbers in given:
        numbers[3::5] = 0
    given = [numbers.reshape(r.shape) for numbers, r in zip(given, roots)]
    try:
        return torch.autograd.grad(roots, leaves, given, allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return []


def record(target, op, args, kwargs, name, place, differentiable):
    """Returns the lines of one case; None if PyTorch refuses it."""
    leaves = []

    def put(v):
        if not is_float(v):
            return v
        leaves.append(place(v, len(leaves)))
        return leaves[-1]

    given = {a.name: v for a, v in zip(op._schema.arguments, args)} | kwargs
    placed = {a.name: changed(given[a.name], put) for a in op._schema.arguments if a.name in given}
    args = [placed[a.name] for a in op._schema.arguments[:len(args)]]
    kwargs = {k: placed[k] for k in kwargs}
    lines = [f"case {target}", f"v {name}"] + [f"a {text(a)}" for a in args]
    lines += [f"k {k} {text(v)}" for k, v in kwargs.items()]
    for leaf in leaves:
        leaf.requires_grad_(differentiable)
    try:
        out = op(*args, **kwargs)
    except (RuntimeError, IndexError, NotImplementedError, ValueError):
        return None
    lines += [result("r", r) for r in flatten([] if out is None else out)]
    return lines + [result("d", g) for g in gradients(out, leaves)]


# -- which calls --


def pointwise():
    """Returns the operators with a body in core/ops."""
    found = set()
    for name in ("pointwise", "activation", "special"):
        source = open(os.path.join(HERE, "../../../core/ops", name + ".inc")).read()
        for body in source.split("\nOP (")[1:]:
            schema = re.search(r'schema = "aten::([\w.]+)\(', body)
            if schema and ".expr" in body:
                found.add(schema[1])
    return found


def by_operator():
    table = {}
    for _, _, target, args, kwargs, marks in cases():
        op = find(target)
        floats = [v for v in tensors([args, list(kwargs.values())]) if is_float(v)]
        small = all(v.untyped_storage().nbytes() // v.element_size() <= LARGEST for v in tensors([args, list(kwargs.values())]))
        if marks or not floats or not small or op._schema.is_mutable or LEFT_OUT.search(target) or len({v.dtype for v in floats}) > 1:
            continue
        signature = repr([changed(v, lambda x: tuple(x.shape) if isinstance(x, torch.Tensor) else x) for v in (args, list(kwargs.items()))])
        table.setdefault(target, {}).setdefault(signature, (op, args, kwargs))
    return table


def chosen(calls):
    """Chooses cases that differ in arguments other than tensors, then some that are large or have no elements."""
    calls = sorted(calls, key=lambda c: -max(v.numel() for v in tensors([c[1], list(c[2].values())]) if is_float(v)))
    step = max(1, len(calls) / PER_OPERATOR)
    picked = [calls[int(i * step)] for i in range(min(len(calls), PER_OPERATOR))]
    empty = [c for c in calls if not any(v.numel() for v in tensors(c[1]))][:1]
    return picked + [c for c in empty if all(c is not p for p in picked)]


def cases_of(target, calls, is_pointwise, differentiable):
    if is_pointwise:
        seen = set()
        for op, args, kwargs in calls:
            n = sum(is_float(v) for v in args)
            options = repr([v for v in args if not isinstance(v, torch.Tensor)] + list(kwargs.items()))
            if n and n <= 3 and options not in seen and len(seen) < 3 and not any(isinstance(v, torch.Tensor) and not is_float(v) for v in args):
                seen.add(options)
                for dtype in FLOATS.values():
                    yield record(target, op, args, kwargs, "grid", lambda v, i: grid(dtype, i, n), differentiable)
        return
    for op, args, kwargs in chosen(calls):
        for name, (change, dtypes) in POINTS.items():
            for code in dtypes:
                def in_dtype(v):
                    return FLOATS[code] if isinstance(v, torch.dtype) and v.is_floating_point else v
                yield record(target, op, changed(args, in_dtype), {k: in_dtype(v) for k, v in kwargs.items()}, name,
                             lambda v, i: at(v, FLOATS[code], change, i), differentiable)


def write(target, cases):
    whole = "\n".join([f"by {pinned.MADE_BY}", *cases]) + "\n"
    with open(os.path.join(OUT, target.removeprefix("torch.ops.") + ".txt.gz"), "wb") as f:
        f.write(gzip.compress(whole.encode("ascii"), 9, mtime=0))


def main(wanted):
    warnings.simplefilter("ignore")
    derivatives, bodies, n = differentiated(), pointwise(), 0
    os.makedirs(OUT, exist_ok=True)
    for path in [] if wanted else glob.glob(os.path.join(OUT, "*.txt.gz")):
        os.remove(path)
    for target, calls in sorted(by_operator().items()):
        if wanted and not re.search(wanted, target):
            continue
        name = target.removeprefix("torch.ops.").replace(".", "::", 1).removesuffix(".default")
        made = cases_of(target, list(calls.values()), name.removeprefix("aten::") in bodies, name in derivatives)
        cases = list(dict.fromkeys("\n".join(lines) for lines in made if lines is not None))
        if cases:
            write(target, cases)
        n += len(cases)
    print(n, "cases")


main(sys.argv[1] if len(sys.argv) > 1 else None)
