# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16):
    q, k, v = values((2, 4, 5, 8), dtype), values((2, 4, 7, 8), dtype), values((2, 4, 7, 6), dtype)
    name = "_scaled_dot_product_attention_math"
    case(name, q, k, v)
    case(name, q, k, v, None, 0.0, True, scale=0.3)
    case(name, q, k, v, values((5, 7), dtype))
    case(name, q, k, v, values((2, 1, 5, 7), B8))
    case(name, q, k[:, :2], v[:, :2], enable_gqa=True)
    case(name, q, k, v, None, 0.25, False, values((2, 4, 5, 7), B8))
    case(name, q[0], k[0], v[0])
    drawn(31, name, q, k, v, None, 0.5)
    mask = values((2, 1, 5, 7), B8)
    mask[0, 0, 1] = False
    for m in (None, mask, values((5, 7), dtype)):
        case("scaled_dot_product_attention", q, k, v, m)
        case("scaled_dot_product_attention", q, k[:, :2], v[:, :2], m, enable_gqa=True)
        case("scaled_dot_product_attention", q, k, k, m, scale=0.7)
    case("scaled_dot_product_attention", q, k, k, None, 0.0, True)
    case("scaled_dot_product_attention", q, k, v, None, 0.0, True)
