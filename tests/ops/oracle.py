# SPDX-License-Identifier: MIT
"""The vocabulary of the files in cases/: operands, and calls whose results are recorded.

A file of cases/ runs once for each operator that it calls.  The numbers of values() then come from a stream
that the names of the operator and of the file seed, and the cases of that operator alone are recorded.
"""
import glob
import hashlib
import os
import re
import sys
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pinned
import torch
import torch._inductor.inductor_prims
import torch._prims.rng_prims

CODES = {
    torch.bool: "b8", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16",
    torch.int32: "i32", torch.int64: "i64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128",
    torch.complex32: "c32",
}
F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
C64, C128 = torch.complex64, torch.complex128
I64, I32, U8, I8, B8 = torch.int64, torch.int32, torch.uint8, torch.int8, torch.bool


class Recording:
    """The state of the current recording."""
    op = None  # operator to record; None: operators are only collected
    noted = {}  # all operators that were called, in order
    cases = []
    calls = []  # arguments by position and by name, from which variants are made


torch._prims.rng_prims.register_rng_prims()
gen = torch.Generator()
digits = None


def begin(op, name):
    """Starts recording the file @name for @op."""
    global digits
    digits = None
    Recording.op = op
    gen.manual_seed(int.from_bytes(hashlib.sha256(f"{name} {op}".encode()).digest()[:4]))


def is_recorded(op):
    Recording.noted[op] = None
    return op is Recording.op


def few_digits():
    """Gives all following numbers of the file few digits, so that the recording is small."""
    global digits
    digits = 64


def record(op, lines):
    """Records a case whose lines were not made by case()."""
    if is_recorded(op):
        Recording.cases.append("\n".join(lines))


def raw(flat):
    flat = flat.resolve_conj()
    return flat.contiguous().view(torch.uint8).numpy().tobytes().hex() or "-"


def text(v):
    if v is None:
        return "n"
    if isinstance(v, bool):
        return f"b {int(v)}"
    if isinstance(v, int):
        return f"i {v}"
    if isinstance(v, float):
        return f"f {v!r}"
    if isinstance(v, complex):
        return f"z {v.real!r} {v.imag!r}"
    if isinstance(v, str):
        return f"s {v}"
    if isinstance(v, torch.dtype):
        return f"d {CODES[v]}"
    if isinstance(v, torch.device):
        return "c"
    if isinstance(v, torch.memory_format):
        return f"m {str(v).replace('torch.', '')}"
    if isinstance(v, (list, tuple)):
        return " ".join([f"l {len(v)}"] + [text(x) for x in v])
    assert isinstance(v, torch.Tensor)
    n = v.untyped_storage().nbytes() // v.element_size()
    storage = torch.as_strided(v.detach(), (n,), (1,), 0)
    return tensor(v, v.storage_offset(), raw(storage))


def tensor(v, offset, data):
    numbers = [CODES[v.dtype], v.dim(), *v.shape, *v.stride(), offset, data]
    return "t " + " ".join(map(str, numbers))


def flatten(r):
    if isinstance(r, (list, tuple)):
        return [y for x in r for y in flatten(x)]
    return [r]


def find(target):
    """Returns the operator with this name; None when the release lacks it."""
    packet, overload = target.rsplit(".", 1) if "." in target else (target, "default")
    space, packet = packet.split("::") if "::" in packet else ("aten", packet)
    return getattr(getattr(getattr(torch.ops, space), packet, None), overload, None)


def call_lines(op, args, kwargs):
    lines = [f"case torch.ops.{op}"]
    lines += [f"a {text(a)}" for a in args]
    return lines + [f"k {k} {text(v)}" for k, v in kwargs.items()]


def value_line(kind, v):
    if not isinstance(v, torch.Tensor):
        return f"{kind} {text(v)}"
    return f"{kind} " + tensor(v, 0, "-" if v.is_meta else raw(v.contiguous().flatten()))


def written_by(op, args, kwargs):
    """Returns the tensors that a call writes and does not return."""
    arguments = op._schema.arguments
    if op._schema.returns and all(r.alias_info for r in op._schema.returns):
        return []
    given = {a.name: v for a, v in zip(arguments, args)} | kwargs
    return flatten([given[a.name] for a in arguments if a.alias_info and a.alias_info.is_write])

def case(target, *args, **kwargs):
    op = find(target)
    if op is None or not is_recorded(op):
        return
    lines = call_lines(op, args, kwargs)
    try:
        result = op(*args, **kwargs)
    except (RuntimeError, IndexError, NotImplementedError, ValueError):
        return
    lines += [value_line("r", r) for r in flatten([] if result is None else result)]
    lines += [value_line("w", v) for v in written_by(op, args, kwargs)]
    Recording.cases.append("\n".join(lines))
    Recording.calls.append((args, kwargs))


def drawn(seed, target, *args, **kwargs):
    """Records a case that begins with a seed and ends with the next number of the generator."""
    n = len(Recording.cases)
    torch.manual_seed(seed)
    case(target, *args, **kwargs)
    if len(Recording.cases) > n:
        head, rest = Recording.cases[-1].split("\n", 1)
        Recording.cases[-1] = f"{head}\ng {seed}\n{rest}\ne {torch.empty((), dtype=I32).random_().item()}"


def without_values(v, device):
    if isinstance(v, torch.Tensor):
        n = v.untyped_storage().nbytes() // v.element_size()
        return torch.zeros(n, dtype=v.dtype, device=device).as_strided(v.shape, v.stride(), v.storage_offset())
    return [without_values(x, device) for x in v] if isinstance(v, list) else v

def needs_cuda(target, *args, shapes_of=None, more=(), **kwargs):
    """Records an operator without a CPU kernel: sizes, strides and dtypes only.  @shapes_of: if it has no shape rule,
    a call, target first, whose results have the same metadata, except for the lines @more."""
    op = find(target)
    if op is None or not is_recorded(op):
        return
    lines = call_lines(op, without_values([*args], "cpu"), kwargs) + ["x"]
    other, *args = shapes_of or (target, *args)
    result = find(other)(*without_values([*args], "meta"), **kwargs)
    Recording.cases.append("\n".join([*lines, *(value_line("r", r) for r in flatten(result)), *more]))


# -- operands --


def values(shape, dtype, lo=-3.0, hi=3.0):
    if dtype.is_complex:
        return torch.complex(values(shape, F64, lo, hi), values(shape, F64, lo, hi)).to(dtype)
    t = torch.rand(shape, generator=gen, dtype=F64) * (hi - lo) + lo
    if digits:
        t = (t * digits).round() / digits
    if dtype == B8:
        return t > 0
    if dtype == U8:
        t = t.abs()
    return t.to(dtype)


def layouts(shape, dtype, lo=-3.0, hi=3.0):
    """Returns tensors of equal sizes in different layouts."""
    yield values(shape, dtype, lo, hi)
    if len(shape) >= 2:
        yield values(shape[::-1], dtype, lo, hi).permute(*range(len(shape))[::-1])
        yield values((*shape[:-1], shape[-1] * 2), dtype, lo, hi)[..., ::2]
        yield values((1, *shape[1:]), dtype, lo, hi).expand(shape)
    if len(shape) == 4:
        yield values(shape, dtype, lo, hi).to(memory_format=torch.channels_last)


def formats(shape, dtype):
    """Returns x contiguous, and channels last if its rank allows that."""
    yield values(shape, dtype)
    if len(shape) == 4:
        yield values(shape, dtype).to(memory_format=torch.channels_last)
    if len(shape) == 5:
        yield values(shape, dtype).to(memory_format=torch.channels_last_3d)


def spread_like(x, shape, dtype):
    """Returns values in the memory format of x."""
    g = values(shape, dtype)
    return g if x.is_contiguous() or x.dim() != 4 else g.to(memory_format=torch.channels_last)


DOMAIN = {
    "log": (0.1, 5), "log2": (0.1, 5), "log10": (0.1, 5), "log1p": (-0.9, 5), "sqrt": (0, 5),
    "rsqrt": (0.1, 5), "asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.95, 0.95), "acosh": (1, 5),
    "pow": (0.1, 3), "xlogy": (0.1, 3), "lgamma": (0.2, 6), "tan": (-1.2, 1.2), "digamma": (0.2, 6),
    "erfinv": (-0.99, 0.99), "special_ndtri": (0.01, 0.99), "logit": (0.02, 0.98), "igamma": (0.1, 5), "igammac": (0.1, 5),
    "special_zeta": (1.5, 6), "special_bessel_y0": (0.1, 9), "special_bessel_y1": (0.1, 9), "special_xlog1py": (-0.9, 3),
}
DIVISIONS = ("div", "floor_divide", "fmod", "remainder")
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, float("inf"), float("-inf"),
                        float("nan"), 1e-30, -1e-30, 80.0, -80.0, 1e30], dtype=F32)


def scalar_for(name, argument):
    table = {"min_val": -1.0, "max_val": 1.0, "threshold": 0.5, "beta": 1.5, "negative_slope": 0.1,
             "alpha": 1.25, "scale": 1.1, "input_scale": 0.9, "weight": 0.3, "value": 0.75,
             "exponent": 2.5, "min": -0.5, "max": 0.75}
    return table.get(argument, 1.5)


def fill(op, tensors, rounding=None, approximate="none", flag=False):
    """Returns arguments of a pointwise operator: the given tensors, then numbers by name."""
    args, kwargs, it = [], {}, iter(tensors)
    for a in op._schema.arguments:
        kind = str(a.type)
        if kind == "Tensor":
            value = next(it)
        elif a.name == "rounding_mode":
            value = rounding
        elif a.name == "approximate":
            value = approximate
        elif kind == "bool":
            value = flag
        elif kind == "int":
            value = 1
        elif kind.startswith("Optional[Tensor"):
            value = None
        else:
            value = scalar_for(op._schema.name, a.name)
            if kind == "float":
                value = float(value)
        if a.kwarg_only:
            kwargs[a.name] = value
        else:
            args.append(value)
    return args, kwargs


def pointwise(target):
    """Records cases of an element-wise operator."""
    op, packet = find(target), target.split(".")[0]
    if not is_recorded(op):
        return
    n = sum(str(a.type) == "Tensor" for a in op._schema.arguments)
    lo, hi = DOMAIN.get(packet, (-3.0, 3.0))
    names = [a.name for a in op._schema.arguments]
    masks = {i for i, a in enumerate(x for x in op._schema.arguments if str(x.type) == "Tensor")
             if a.name in ("mask", "condition")}

    def operand(i, shape, dtype):
        v = values(shape, B8 if i in masks else dtype, lo, hi)
        # integers must not be divided by zero
        return v.masked_fill(v == 0, 1) if i == 1 and packet in DIVISIONS and not v.is_floating_point() else v

    def run(tensors, **options):
        args, kwargs = fill(op, tensors, **options)
        case(target, *args, **kwargs)

    options = [{}]
    if "rounding_mode" in names:
        options = [{"rounding": m} for m in (None, "floor", "trunc")]
    if "approximate" in names:
        options = [{"approximate": m} for m in ("none", "tanh")]
    if "is_result" in names:
        options = [{"flag": m} for m in (False, True)]
    for o in options:
        for dtype in (F32, F64, BF16, I64, I32, U8, B8):
            if packet == "hardsigmoid_backward" and dtype == F64:
                continue  # PyTorch's 1/6 is a float constant
            run([operand(i, (2, 3), dtype) for i in range(n)], **o)
    for first in layouts((2, 1, 3, 2), F32, lo, hi):
        if 0 in masks:
            first = first > 0
        run([first] + [operand(i, (2, 1, 3, 2), F32) for i in range(1, n)], **options[0])
    if n == 1:
        run([SPECIAL], **options[0])
        run([values((), F32, lo, hi)], **options[0])
        run([values((0, 2), F32, lo, hi)], **options[0])
    if n == 2:
        run([operand(0, (3, 1), F32), operand(1, (2, 1, 4), F32)])
        run([operand(0, (), F64), operand(1, (3,), F32)])
        run([operand(0, (3,), F32), operand(1, (), I64)])
        run([operand(0, (3,), I64), operand(1, (3,), F32)])
        run([operand(0, (3,), I32), operand(1, (3,), U8)])
        if not packet.endswith("_backward"):
            run([operand(0, (3,), F16), operand(1, (3,), BF16)])
        run([operand(0, (3, 2), F32).t(), operand(1, (2, 3), F32)])
        run([operand(0, (2, 3), F32), operand(1, (3, 2), F32).t()])
        if packet in ("add", "sub", "mul", "div", "maximum", "eq", "lt", "where", "pow"):
            for number in (2, 1.5):
                a = operand(0, (2, 3), I64)
                case(target, a, number)
                case(target, a.to(F32), number)
                case(target, a.to(F16), number)
    if n == 3:
        run([operand(0, (2, 1), F32), operand(1, (3,), F32), operand(2, (2, 3), F32)])


def prims():
    """Returns the names of the prims in core/ops that take only one or two tensors and are no views."""
    source = "".join(open(path).read() for path in glob.glob(os.path.join(HERE, "../../core/ops/*.inc")))
    return sorted(re.findall(r'"prims::(\w+)\(Tensor \w+(?:, Tensor \w+)?\) ', source))


def family(name):
    """Returns the names in a family of core/ops."""
    source = open(os.path.join(HERE, "../../core/ops", name + ".inc")).read()
    return re.findall(r'schema = "aten::([\w.]+)\(', source)
