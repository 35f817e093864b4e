# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64):
    for a, b in ((values((4, 3), dtype), values((5, 3), dtype)), (values((2, 4, 3), dtype), values((2, 1, 3), dtype)),
                 (values((3, 4), dtype).t(), values((2, 5, 3), dtype)), (values((0, 3), dtype), values((2, 3), dtype))):
        for p in (2.0, 1.0, 0.0, 3.5, 1.5, float("inf")):
            case("_cdist_forward", a, b, p, None)
            y = torch.ops.aten._cdist_forward(a, b, p, None)
            case("_cdist_backward", values(y.shape, dtype), a, b, p, y)
for x1, x2 in (((4, 5), (0, 3, 5)), ((0, 3, 5), (4, 5)), ((2, 4, 5), (2, 0, 5)), ((2, 4, 0), (2, 3, 0))):
    rows = (*torch.broadcast_shapes(x1[:-2], x2[:-2]), x1[-2], x2[-2])
    case("_cdist_backward", values(rows, F32), values(x1, F32), values(x2, F32), 2.0, values(rows, F32))
