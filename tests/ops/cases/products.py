# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16, I64):
    a, b = values((3, 5), dtype), values((5, 4), dtype)
    for left in (a, values((5, 3), dtype).t()):
        for right in (b, values((4, 5), dtype).t()):
            case("mm", left, right)
            case("addmm", values((4,), dtype), left, right)
            case("addmm", values((3, 1), dtype), left, right, beta=2, alpha=3)
            case("addmm", values((3, 4), dtype), left, right, beta=0)
    p, q = values((2, 3, 5), dtype), values((2, 5, 4), dtype)
    case("bmm", p, q)
    case("bmm", p, values((2, 4, 5), dtype).transpose(1, 2))
    case("bmm", values((1, 3, 5), dtype).expand(2, 3, 5), q)
    case("baddbmm", values((2, 3, 4), dtype), p, q, beta=1, alpha=2)
    case("baddbmm", values((4,), dtype), p, q)
    case("mv", a, values((5,), dtype))
    case("dot", values((5,), dtype), values((5,), dtype))
case("mm", values((3, 0), F32), values((0, 2), F32))
case("mm", values((17, 300), F32), values((300, 9), F32))
for dtype in (F32, F64, BF16, F16, I64, I32, B8, C64):
    for x in (values((3, 5), dtype), values((5, 3), dtype).t(), values((4, 2), dtype)[::2], values((0, 3), dtype)):
        case("trace", x)
for dtype in (F32, F64, BF16, I64):
    for left, right in ((values((2, 3), dtype), values((4, 2), dtype)), (values((3,), dtype), values((2, 2, 3), dtype))):
        case("kron", left, right)
    case("kron", values((), dtype), values((2,), dtype))
