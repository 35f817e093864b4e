# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16, I64, U8, B8):
    operands = [values((2, 3, 2), dtype), values((0, 3), dtype)]
    if dtype == F32:
        operands += [values((2, 3, 2), dtype).permute(2, 1, 0), values((), dtype),
                     values((2, 3, 4), dtype)[:, :, ::2]]
    for v in operands:
        for name in ("sum", "mean", "prod", "any", "all", "max", "min", "argmax", "argmin"):
            case(name, v)
        for dims in ([0], [-1], [0, 2], [], None, [1, 0]):
            for keep in (False, True):
                case("sum.dim_IntList", v, dims, keep)
                case("mean.dim", v, dims, keep)
                case("var.correction", v, dims, correction=1, keepdim=keep)
                case("std.correction", v, dims, correction=0, keepdim=keep)
                case("var_mean.correction", v, dims, correction=1, keepdim=keep)
                if dims is not None:
                    case("amax", v, dims, keep)
                    case("amin", v, dims, keep)
                    case("logsumexp", v, dims, keep)
                    case("any.dims", v, dims, keep)
                    case("all.dims", v, dims, keep)
                if dtype in (F32, F64) and not keep:
                    for p in (2, 1, 0, 3, float("inf"), float("-inf")):
                        case("linalg_vector_norm", v, p, dims, keep)
        for dim in (0, -1):
            for keep in (False, True):
                for name in ("max.dim", "min.dim", "argmax", "argmin", "any.dim", "all.dim",
                             "prod.dim_int"):
                    case(name, v, dim, keep)
            case("cumsum", v, dim)
            case("cumprod", v, dim)
    case("sum", values((2, 3), dtype), dtype=F64)
    case("sum.dim_IntList", values((2, 3), dtype), [1], dtype=I64)
    case("mean", values((2, 3), dtype), dtype=F32)
case("sum.dim_IntList", values((3, 700), F32), [1])
case("max.dim", torch.tensor([[1.0, float("nan"), 3.0], [2.0, 2.0, 1.0]]), 1)
case("argmax", torch.tensor([1.0, 3.0, 3.0]))
case("logsumexp", torch.tensor([[float("-inf"), float("-inf")], [1.0, float("inf")]]), [1])
