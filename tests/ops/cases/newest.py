# SPDX-License-Identifier: MIT
"""Operators that PyTorch 2.6 lacks, or has with fewer arguments."""
from oracle import *

few_digits()

like = values((3, 7, 2), F32).permute(2, 0, 1)
for v in (like, like.to(F64), values((4, 9), F32)[:, ::2]):
    for name in ("rand", "randn"):
        drawn(len(Recording.cases), name + "_like.generator", v, generator=None)
for v in (like, like.to(I64), values((4, 9), I32)[:, ::2], values((3, 5), U8)):
    for kw in ({}, {"dtype": I64}, {"memory_format": torch.contiguous_format}):
        drawn(19, "randint_like.generator", v, 50, generator=None, **kw)
        drawn(20, "randint_like.low_generator_dtype", v, 2, 90, generator=None, **kw)
        drawn(21, "randint_like.Tensor", v, torch.tensor(70), **kw)
        drawn(22, "randint_like.Tensor_generator", v, torch.tensor(70), generator=None, **kw)
drawn(23, "randint_like.Tensor", torch.zeros(3, 4, dtype=I64), torch.tensor((1 << 53) + 1))  # no double
for dtype in (F32, F64, BF16):
    case("_foreach_clone", [values((2, 3), dtype), values((4, 2), dtype).t(), values((), dtype), values((0, 2), dtype)])
    case("_foreach_clone", [values((4, 2), dtype).t()], memory_format=torch.contiguous_format)
for dtype in (BF16, F16):
    a, b = values((3, 4), dtype), values((5, 4), dtype).t()
    left, right = values((2, 3, 4), dtype), values((2, 4, 5), dtype)
    needs_cuda("bmm.dtype", left, right, F32)
    needs_cuda("mm.dtype", a, b, F32, shapes_of=("mm", a.float(), b.float()))
    needs_cuda("addmm.dtype", values((5,), F32), a, b, F32, shapes_of=("mm", a.float(), b.float()))
    needs_cuda("baddbmm.dtype", values((1, 5), F32), left, right, F32,
               shapes_of=("bmm", left.float(), right.float()))
for dtype in (F32, BF16, F16):
    rows, batch, columns = values((8, 16), dtype), values((3, 16, 8), dtype), values((16, 24), dtype)
    for ends in ([2, 2, 8], [1, 4, 6]):
        offs = torch.tensor(ends, dtype=I32)
        if ends[-1] == len(rows):
            case("_grouped_mm", rows, batch, offs)
            case("_grouped_mm", rows, values((3, 8, 16), dtype).transpose(1, 2), offs)
        case("_grouped_mm", values((3, 8, 16), dtype), columns, 4 * offs if ends[-1] == 6 else 3 * offs)
        case("_grouped_mm", values((8, 16), dtype), columns, 2 * offs if ends[-1] == 8 else 16 * (offs > 1).int())
    case("_grouped_mm", values((3, 8, 16), dtype), batch)
for dtype in (F32, F64):
    wave, window = values((40,), dtype), values((8,), dtype, 0.1, 1)
    case("stft", wave, 12, 4, 8, window, True, return_complex=True)
    case("stft.center", wave, 8, center=False, return_complex=True)
    case("stft.center", values((2, 40), dtype), 8, 3, window=window, return_complex=True)
    case("stft.center", wave, 12, 4, 8, window, True, "constant", True, False, True)
    case("stft.center", wave, 12, 4, 8, None, True, "reflect", False, True, False)
    for waves in (wave, values((2, 40), dtype)):
        case("stft", waves, 12, 4, 8, window, return_complex=True, align_to_window=True)
        case("stft.center", waves, 12, 4, 7, window[:7], False, return_complex=True, align_to_window=True)
        case("stft.center", waves, 8, 3, 8, window, False, return_complex=True, align_to_window=True)
        case("stft.center", waves, 12, 4, 8, None, False, "constant", True, False, True, align_to_window=False)
