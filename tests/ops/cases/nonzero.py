# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (B8, U8, I8, I32, I64, F16, BF16, F32, F64):
    case("nonzero", values((3, 4), F32).round().to(dtype))
x = values((4, 2, 3), F32).round()
for v in (x, x.permute(2, 0, 1), x[1:, :, ::2], x[:, :1].expand(4, 3, 3), x[:0], x[0, 0, 0], x * 0, x.flatten()):
    case("nonzero", v)
