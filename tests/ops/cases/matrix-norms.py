# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

INF = float("inf")
for dtype in (F32, BF16):
    matrix, volume, vector = values((3, 4), dtype), values((2, 3, 4), dtype), values((5,), dtype)
    for p in (1, -1, INF, -INF):
        for keep in (False, True):
            case("linalg_norm", matrix, p, None, keep)
            case("linalg_matrix_norm", volume, p, [-1, 0], keep)
            for dims in ([0, 1], [2, 0], [-2, -1]):
                case("linalg_norm", volume, p, dims, keep)
    for keep in (False, True):
        case("linalg_norm", volume, None, None, keep)
        case("linalg_norm", volume, None, [0, 2], keep)
        case("linalg_norm.ord_str", matrix, "fro", None, keep)
        case("linalg_norm.ord_str", volume, "fro", [2, 0], keep)
        case("linalg_matrix_norm.str_ord", volume, "fro", [-2, -1], keep)
    for p in (None, 0, 1, 2, 3.5, INF, -INF):
        case("linalg_norm", vector, p)
        case("linalg_norm", volume, p, [1])
    case("linalg_norm", matrix, 1, dtype=F64)
    case("linalg_norm.ord_str", matrix, "fro", dtype=F64)
