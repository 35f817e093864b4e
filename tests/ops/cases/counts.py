# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, I64):
    x, tests = values((2, 5), dtype).round(), values((4,), dtype).round()
    for invert in (False, True):
        case("isin.Tensor_Tensor", x, tests, invert=invert)
        case("isin.Tensor_Scalar", x, 1, invert=invert)
        case("isin.Scalar_Tensor", 2, tests, invert=invert)
    case("isin.Tensor_Tensor", x.t(), tests[:0])
    case("_unique", x)
    case("_unique", x.t(), True, True)
    case("_unique2", x, True, True, True)
    case("_unique2", tests, True, False, True)
case("isin.Tensor_Tensor", torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 1.0]))
for dtype in (F32, F64):
    for x in layouts((4, 7), dtype):
        case("histc", x)
        case("histc", x, 5, -2, 2)
        case("histc", x, 1)
    case("histc", values((3,), dtype), 4, 10, 20)
    case("histc", torch.full((3,), 2.5, dtype=dtype), 4)
for weights in (None, values((6,), F32), values((6,), F64), torch.arange(6)):
    case("bincount", torch.tensor([3, 0, 3, 1, 7, 0]), weights)
    case("bincount", torch.tensor([3, 0, 3, 1, 7, 0], dtype=U8), weights, 12)
case("bincount", torch.zeros((0,), dtype=I64), None, 3)
row = torch.tensor([-1.0, 0.0, 0.0, 2.5, 4.0])
for number in (-2, 0, 0.5, 4.0, 9):
    case("searchsorted.Scalar", row, number)
    case("searchsorted.Scalar", row, number, right=True, out_int32=True)
for dtype in (F32, F64, BF16):
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, float("inf"), float("-inf"), float("nan"), 1e-30, 0.5], dtype=dtype)
    for y in (values((10,), dtype), torch.zeros((), dtype=dtype), x.flip(0)):
        case("nextafter", x, y)
    for v in layouts((2, 3), dtype):
        case("nextafter", v, values((3,), dtype))
        case("frexp.Tensor", v)
    case("frexp.Tensor", x[:5])
case("frexp.Tensor", torch.tensor([3.0, float("inf"), float("nan"), 1e-40]))
case("frexp.Tensor", values((4,), F16))
for dtype in (F32, I64, U8):
    x = values((4, 3), dtype, 0, 2).round()
    x[2] = x[0]
    for v in (x, x.t(), x[:, ::2], torch.stack([x, x.flip(1)], 1), x[:0]):
        for flags in ((False, False), (True, True), (True, False)):
            case("unique_consecutive", v, *flags)
            case("unique_consecutive", v, *flags, 0)
            for dim in (0, 1, -1):
                case("unique_dim_consecutive", v, dim, *flags)
                case("unique_dim", v, dim, True, *flags)
case("unique_consecutive", torch.tensor([2.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0]), True, True)
for dtype in (I64, I32):
    for repeats in ([2, 0, 3, 1], [], [0, 0], [7]):
        n = torch.tensor(repeats, dtype=dtype)
        case("repeat_interleave.Tensor", n)
        case("repeat_interleave.Tensor", n, output_size=sum(repeats))
    case("repeat_interleave.Tensor", torch.arange(6, dtype=dtype)[::2])
