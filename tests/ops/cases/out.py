# SPDX-License-Identifier: MIT
from oracle import *

a, b = values((2, 3), F32), values((2, 3), F32)
for room in (torch.zeros(2, 3), torch.zeros(3, 2).t(), torch.zeros(2, 3, dtype=F64), torch.zeros(2, 6)[:, ::2]):
    case("add.out", a, b, alpha=2, out=room)
    case("mul.out", a, b, out=room)
    case("div.out_mode", a, b, rounding_mode="floor", out=room)
    if room.dtype == F32:  # results computed in f32 have the tolerance of f32
        case("exp.out", a, out=room)
        case("gelu.out", a, approximate="tanh", out=room)
    case("clamp.out", a, -1, 1, out=room)
case("mm.out", a, values((3, 4), F32), out=torch.zeros(2, 4))
case("add.out", a, b, out=torch.zeros(2, 3, dtype=I64))
case("sum.IntList_out", a, [1], True, out=torch.zeros(2, 1))
case("any.all_out", a > 2, out=torch.zeros((), dtype=B8))
case("eq.Tensor_out", a, a, out=torch.zeros((2, 3), dtype=B8))
case("cat.out", [a, b], 1, out=torch.zeros(2, 6))
case("index.Tensor_out", a, [torch.tensor([1, 0])], out=torch.zeros(2, 3))
