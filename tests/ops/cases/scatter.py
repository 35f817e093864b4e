# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16, I64, U8):
    into, source = values((3, 5), dtype, 0.5, 3), values((4, 6), dtype, 0.5, 3)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for flag in (True, False):
            for place in (torch.tensor([[0, 2, 0, 1], [2, 2, 0, 2], [1, 2, 0, 2], [0, 0, 0, 0]]),
                          torch.tensor([[1], [1], [0]])):
                case("scatter_reduce.two", into, 0, place, source, reduce, include_self=flag)
                case("scatter_reduce.two", into.t().contiguous().t(), 0, place, source, reduce, include_self=flag)
            case("scatter_reduce.two", into, -1, torch.tensor([[4, 4, 0, 4, 4, 1]]), source, reduce, include_self=flag)
case("scatter_reduce.two", torch.tensor([-7, 5]), 0, torch.tensor([0, 0, 1]), torch.tensor([1, 2, -9]), "mean")
case("scatter_reduce.two", torch.zeros(2), 0, torch.tensor([0, 0]), torch.tensor([1.0, float("nan")]), "amax")
