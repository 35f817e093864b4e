# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16):
    for x in formats((2, 3, 4, 5), dtype):
        for size in ([8, 10], [7, 3], [4, 5], [1, 1], [9, 11]):
            for scales in ((None, None), (2.0, 2.0), (1.7, 0.6)):
                if scales[0] == 1.7 and size != [7, 3]:
                    continue
                case("upsample_nearest2d", x, size, *scales)
                for align in (False, True):
                    case("upsample_bilinear2d", x, size, align, *scales)
                if dtype == BF16:
                    continue  # PyTorch sums in 16 bits
                g = spread_like(x, (2, 3, *size), dtype)
                case("upsample_nearest2d_backward", g, size, [2, 3, 4, 5], *scales)
                for align in (False, True):
                    case("upsample_bilinear2d_backward", g, size, [2, 3, 4, 5], align, *scales)
        for size, factors in (([6, 7], None), (None, [2.0, 1.5]), (None, [0.7, 3.0])):
            case("upsample_nearest2d.vec", x, size, factors)
            for align in (False, True):
                case("upsample_bilinear2d.vec", x, size, align, factors)
