# SPDX-License-Identifier: MIT
from oracle import *

x = values((2, 3, 4), F32)
y = values((4, 3, 2), F32).permute(2, 1, 0)
for dtype in (None, F32, I64, F16, B8):
    kw = {} if dtype is None else {"dtype": dtype}
    for value in (1, 2.5, True):
        case("full", [2, 3], value, **kw)
        case("full_like", y, value, **kw)
        case("scalar_tensor", value, **kw)
        case("new_full", values((2,), I32), [2], value, **kw)
    case("zeros", [2, 3], **kw)
    case("ones", [2], **kw)
    case("zeros_like", y, **kw)
    case("ones_like", x[:, :, ::2], **kw)
    case("new_zeros", values((2,), I32), [2, 1], **kw)
    case("new_ones", values((2,), I32), [2, 1], **kw)
    case("arange", 5, **kw)
    case("arange", 2.5, **kw)
    case("arange.start", 2, 7, **kw)
    case("arange.start_step", 1, 8, 3, **kw)
    case("arange.start_step", 5, -3, -2, **kw)
    case("arange.start_step", 0.5, 2.0, 0.25, **kw)
    for v in (x, y, x[:, :, ::2]):
        case("_to_copy", v, **kw)
        case("_to_copy", v * 3, **kw)
for number in (0.7, 3, True):
    case("_to_copy", number)
    case("_to_copy", number, dtype=F32)
four = values((2, 3, 2, 2), F32)
for v in (x, y, x[:, :, ::2], x[:, :1].expand(2, 3, 4), four, values((), F64)):
    case("clone", v)
    case("lift_fresh_copy", v)
    for f in (torch.contiguous_format, torch.channels_last, torch.preserve_format):
        case("clone", v, memory_format=f)
        case("_to_copy", v, dtype=F64, memory_format=f)
        case("zeros_like", v, memory_format=f)
    case("fill.Scalar", v, 3)
    case("fill.Tensor", v, torch.tensor(2.5))
    case("copy", v, values((1, 1), F64))
    case("copy", v, values((), I64))
    case("slice_scatter", v, values((1, 1, 1), F32), 0, 1, 2)
    case("select_scatter", v, values((1,), F32).expand(v.shape[1:]), 0, 1) if v.dim() else None
case("slice_backward", values((2, 2), F32), [2, 5], 1, 1, 5, 2)
case("select_backward", values((2, 4), F32), [2, 3, 4], 1, -1)
case("diagonal_backward", values((2,), F32), [2, 3], 1, 0, 1)
case("slice_scatter", x, values((2, 1, 4), F32), 1, 1, 2)
case("select_scatter", y, values((2, 4), F32), 1, 2)
case("diagonal_scatter", x, values((2, 3), F32), 0, 1, 2)
case("copy_", values((2, 3), I64), values((3,), F32))
case("add_.Tensor", values((2, 3), F32), values((3,), I64))
case("mul_.Scalar", values((2, 3), F32).t(), 2)
case("fill_.Scalar", values((2, 3), I64), 2.7)
case("masked_fill_.Scalar", values((2, 3), F32), values((2, 3), B8), 1.5)

few_digits()

for dtype in (F32, F64, F16, BF16, I64, B8):
    for v in layouts((2, 3), dtype):
        case("zero", v)
        case("zero_", v.clone())
        case("zero.out", v, out=torch.ones(2, 3, dtype=dtype))
case("zero", values((), F32))
case("zero", values((0, 3), F32))
for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window"):
    for length in (0, 1, 8):
        case(name, length, device=torch.device("cpu"), pin_memory=False)
    case(f"{name}.periodic", 8, False, dtype=F64)
    case(f"{name}.periodic", 7, True, dtype=BF16)
