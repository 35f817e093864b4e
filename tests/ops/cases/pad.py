# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for kind in ("reflection", "replication"):
    for n, shapes in ((1, ((3, 5), (2, 3, 5))), (2, ((3, 4, 5), (2, 3, 4, 5))), (3, ((2, 3, 4, 5), (2, 3, 3, 4, 5)))):
        for dtype in (F32, F64, BF16, F16, I64):
            for shape in shapes:
                for x in [*formats(shape, dtype), values((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]]:
                    for padding in ([1, 2], [0, 1], [2, -1], [3, 3])[: 4 if dtype == F32 and n < 3 else 1]:
                        padding = (padding + [1, 1, 2, 0])[: 2 * n]
                        name = f"{kind}_pad{n}d"
                        case(name, x, padding)
                        if dtype == I64:
                            continue
                        try:
                            y = getattr(torch.ops.aten, name)(x, padding)
                        except RuntimeError:
                            continue
                        g = values(y.shape, dtype)
                        case(name + "_backward", g, x, padding)
                        if y.dim() == 4 and not y.is_contiguous():
                            case(name + "_backward", g.to(memory_format=torch.channels_last), x, padding)
