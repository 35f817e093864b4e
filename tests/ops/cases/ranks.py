# SPDX-License-Identifier: MIT
from oracle import *

holes = torch.tensor([[3.0, float("nan"), -1.0, 3.5, 0.0], [0.0, float("inf"), -0.5, float("-inf"), 2.0]])
ties = torch.tensor([[2, 1, 2, 1, 0], [5, 5, 5, 5, 5], [4, -3, 4, -3, -3]])
for x in (values((3, 5), F32), values((5, 4), F64).t(), values((2, 3, 4), BF16)[:, ::2], holes, values((), F32),
          torch.tensor([[4, -2, 9, 0, 7], [3, 1, 2, 8, -5]]), values((7,), F32)):
    for target in ("median", "nanmedian"):
        case(target, x)
    for dim in (-1, 0):
        for keep in (False, True):
            case("median.dim", x, dim, keep)
            case("nanmedian.dim", x, dim, keep)
            case("kthvalue", x, 1, dim, keep)
            case("kthvalue", x, x.shape[dim] if x.dim() else 1, dim, keep)
        case("cummax", x, dim)
        case("cummin", x, dim)
        if x.is_floating_point():
            case("logcumsumexp", x, dim)
        case("aminmax", x, dim=dim)
        case("aminmax", x, dim=dim, keepdim=True)
    case("aminmax", x)
for x in (values((3, 5), F32), ties, ties.to(F32)):
    for dim in (-1, 0):
        case("mode", x, dim)
case("mode", values((4,), F64), 0, True)
for dtype in (F32, F64, BF16, I64):
    for x in layouts((2, 3, 4), dtype):
        case("nansum", x)
        case("nansum", x, [1])
        case("nansum", x, [0, -1], True)
        if dtype != I64:
            for correction in (None, 0, 2):
                case("std_mean.correction", x, [1, 2], correction=correction)
            case("std_mean.correction", x, correction=1, keepdim=True)
case("nansum", holes, [1])
case("nansum", holes, dtype=F64)
case("logcumsumexp", torch.tensor([float("-inf"), float("-inf"), 1.0, float("inf"), 2.0]), 0)
