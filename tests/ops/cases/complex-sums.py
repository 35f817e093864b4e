# SPDX-License-Identifier: MIT
# Complex numbers where each part of a result depends on both parts: products, tests, sums of exponentials.
from oracle import *

for dtype in (C64, C128):
    x = values((3, 4), dtype)
    x[1, 2] = 0
    for dim in (0, 1):
        case("cumprod", x, dim)
        case("prod.dim_int", x, dim)
        case("prod.dim_int", x, dim, True)
        case("logcumsumexp", x, dim)
        case("any.dim", x, dim)
        case("all.dim", x, dim, True)
    case("cumprod", values((), dtype), 0)
    case("prod", x)
    case("prod", values((0, 2), dtype))
    case("prod.dim_int", values((0, 2), dtype), 0)
    case("any", x)
    case("any", torch.zeros(2, dtype=dtype))
    case("all", x)
    case("any.dims", x, [0, 1])
    case("all.dims", x, [0])
    case("count_nonzero", x)
    case("count_nonzero.dim_IntList", x, [0])
    case("nonzero_static", x, size=13)
    case("logsumexp", x, [0])
    case("logsumexp", values((2, 3, 2), dtype), [0, 2], True)
    for beta, alpha in ((1, 1), (0, 2), (1.5 - 2j, 0.5 + 1j)):
        case("addmm", values((3, 2), dtype), values((3, 4), dtype), values((4, 2), dtype), beta=beta, alpha=alpha)
        case("baddbmm", values((2, 3, 2), dtype), values((2, 3, 4), dtype), values((2, 4, 2), dtype), beta=beta, alpha=alpha)
        case("addmv", values((3,), dtype), values((3, 4), dtype), values((4,), dtype), beta=beta, alpha=alpha)
        case("addr", values((3, 2), dtype), values((3,), dtype), values((2,), dtype), beta=beta, alpha=alpha)
        case("addbmm", values((3, 2), dtype), values((2, 3, 4), dtype), values((2, 4, 2), dtype), beta=beta, alpha=alpha)
    case("addmm", torch.full((3, 2), float("nan"), dtype=dtype), values((3, 4), dtype), values((4, 2), dtype), beta=0)
    case("_chunk_cat", [values((5, 2), dtype), values((3,), dtype)], 0, 4)
    case("_chunk_cat", [values((3, 5, 2), dtype), values((3, 4), dtype)], 1, 2)
    mask = torch.tensor([[True, False, True], [False, True, True]])
    rows, columns = torch.tensor([[0, 2, 5], [1, 1, 0]]), torch.tensor([[3, 0, 1], [9, 2, 2]])
    case("_unsafe_masked_index", x, mask, [rows, columns], 1.5 + 2j)
    case("_unsafe_masked_index", x, mask, [rows, columns], 0)
    case("_unsafe_masked_index_put_accumulate", x, mask, [rows, columns], values((2, 3), dtype))
