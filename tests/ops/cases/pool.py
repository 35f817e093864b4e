# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16, I64):
    for x in [*formats((2, 3, 7, 6), dtype), values((3, 6, 5), dtype), *formats((2, 1, 6, 6), dtype)]:
        for o in (([2, 2],), ([3, 2], [2, 1], [1, 1]), ([3], [2], [1], [2]), ([3, 3], [2, 2], [1, 0], [1, 1], True),
                  ([2, 2], [3, 3], [1, 1], [1, 1], True)):
            case("max_pool2d_with_indices", x, *o)
            y, i = torch.ops.aten.max_pool2d_with_indices(x, *o)
            full = [*o, [], [0, 0], [1, 1], False][:len(o)] + [[], [0, 0], [1, 1], False][len(o) - 1:]
            case("max_pool2d_with_indices_backward", spread_like(x, y.shape, dtype), x, *full, i)
        for o in (([2, 2], [], [0, 0], False, True, None), ([3, 2], [2, 1], [1, 1], False, True, None),
                  ([3, 3], [2], [1], True, True, None), ([3, 3], [2], [1], True, False, None),
                  ([2, 3], [2, 2], [1, 1], False, False, 5)):
            case("avg_pool2d", x, *o)
            y = torch.ops.aten.avg_pool2d(x, *o)
            case("avg_pool2d_backward", spread_like(x, y.shape, dtype), x, *o)
        for size in ([1, 1], [3, 4], [7, 6], [9, 2]):
            case("_adaptive_avg_pool2d", x, size)
            case("_adaptive_avg_pool2d_backward", spread_like(x, [*x.shape[:-2], *size], dtype), x)
x = values((1, 1, 4, 4), F32)
x[0, 0, 1, 1] = x[0, 0, 0, 1] = float("nan")
x[0, 0, 2:, 2:] = float("-inf")
case("max_pool2d_with_indices", x, [2, 2])
case("max_pool2d_with_indices", torch.ones(1, 2, 3, 3), [2, 2], [1, 1])
case("max_pool2d_with_indices", values((6, 5, 3, 2), F32).permute(3, 2, 0, 1), [2, 2])
for dtype in (F32, F64, BF16, F16):
    for n, shapes in ((2, ((2, 3, 9, 7), (3, 8, 8))), (3, ((1, 2, 5, 7, 6), (2, 6, 6, 5)))):
        for x in [x for shape in shapes for x in formats(shape, dtype)]:
            samples = values((x.shape[0] if x.dim() == n + 2 else 1, x.shape[-n - 1], n), dtype, 0, 0.99)
            for kernel, size in (([2] * n, [3] * n), ([3, 1, 2][:n], [2, 4, 1][:n]), ([2] * n, [6 - n] * n)):
                name = f"fractional_max_pool{n}d"
                case(name, x, kernel, size, samples)
                y, i = find(name)(x, kernel, size, samples)
                case(name + "_backward", spread_like(x, y.shape, dtype), x, kernel, size, i)
