# SPDX-License-Identifier: MIT
from oracle import *

# PyTorch's CPU kernel reads the buffer, ours computes it anew: it must be the true one.
x = values((2, 3), F32)
y, buffer = torch.ops.aten.log_sigmoid_forward(x)
case("log_sigmoid_backward", values((2, 3), F32), x, buffer)
for target in family("pointwise") + family("activation"):
    if target not in ("log_sigmoid_backward", "polygamma"):
        pointwise(target)

for name in ("and", "or", "xor"):
    for dtype in (I64, I8, U8, B8):
        case(f"bitwise_{name}.Scalar", values((2, 3), dtype, -9, 9), 6)
        case(f"bitwise_{name}.Scalar", values((2, 3), dtype, -9, 9), True)

few_digits()

case("digamma", torch.tensor([-0.5, -2.25, -7.75, 0.0, -1.0, 1e-3, 40.0]))

for dtype in (F32, F64, BF16):
    for n in (0, 1, 2, 3, 5):
        if n == 1 and dtype == F64:
            continue  # ten digits are right
        for x in layouts((3, 4), dtype, 0.2, 6):
            case("polygamma", n, x)
        case("polygamma", n, torch.tensor([1e-3, 0.5, 1.0, 9.5, 40.0, 1e4], dtype=dtype))
case("polygamma", 1, torch.tensor([-0.5, -2.25, -7.75]))
