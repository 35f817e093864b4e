# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16, I64):
    for x in layouts((3, 2), dtype):
        for dim, n in ((1, 2), (0, 3)):
            size = list(x.shape)
            size[dim] = 3
            for reduce in ("prod", "mean", "amax", "amin"):
                for include in (True, False):
                    case("index_reduce", x, dim, torch.tensor([0, n - 1, 0]), values(size, dtype), reduce,
                         include_self=include)
case("index_reduce", values((), F32), 0, torch.tensor([0]), values((), F32), "prod")
