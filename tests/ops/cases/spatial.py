# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

# -- pooling --

for dtype in (F32, F64, BF16):
    volumes = [*formats((2, 2, 3, 4, 5), dtype), values((2, 3, 4, 5), dtype)]
    images = [*formats((2, 3, 6, 5), dtype), values((3, 6, 5), dtype)]
    for x in volumes:
        for o in (([2, 2, 2], [], [0, 0, 0]), ([3, 2, 3], [2, 1, 2], [1, 1, 0]), ([2], [2], [1])):
            for ceil, counts, divisor in ((False, True, None), (True, False, None), (True, True, 3)):
                case("avg_pool3d", x, *o, ceil, counts, divisor)
                y = torch.ops.aten.avg_pool3d(x.float(), *o, ceil, counts, divisor)
                case("avg_pool3d_backward", spread_like(x, y.shape, dtype), x, *o, ceil, counts, divisor)
    for d, inputs, sizes in ((3, volumes, ([2, 3, 2], [1, 1, 1], [4, 5, 6])), (2, images, ([3, 2], [1, 1], [7, 8]))):
        for x in inputs:
            for size in sizes:
                if d == 3:
                    case("_adaptive_avg_pool3d", x, size)
                    g = spread_like(x, x.shape[:-3] + tuple(size), dtype)
                    case("_adaptive_avg_pool3d_backward", g, x)
                name = f"adaptive_max_pool{d}d"
                case(name, x, size)
                y, places = getattr(torch.ops.aten, name)(x.float(), size)
                case(name + "_backward", spread_like(x, y.shape, dtype), x, places)
    for x in images:
        y, places = [r.to(t) for r, t in zip(torch.ops.aten.max_pool2d_with_indices(x.float(), [2, 2]), (dtype, I64))]
        case("max_unpool2d", y, places, [6, 5])
        case("max_unpool2d", y, places, [7, 6])
    for x in volumes:
        y, places = [r.to(t) for r, t in zip(torch.ops.aten.max_pool3d_with_indices(x.float(), [2, 2, 2]), (dtype, I64))]
        case("max_unpool3d", y, places, [3, 4, 5], [2, 2, 2], [0, 0, 0])

# -- resampling --

RESAMPLERS = (("upsample_nearest", "1d"), ("upsample_nearest", "3d"), ("_upsample_nearest_exact", "1d"),
              ("_upsample_nearest_exact", "2d"), ("_upsample_nearest_exact", "3d"), ("upsample_linear", "1d"),
              ("upsample_trilinear", "3d"), ("upsample_bicubic", "2d"), ("_upsample_bilinear", "2d_aa"),
              ("_upsample_bicubic", "2d_aa"))
for dtype in (F32, F64, BF16):
    for stem, kind in RESAMPLERS:
        shape = (2, 2, 4, 5, 3)[:2 + int(kind[0])]
        n = len(shape) - 2
        blends = [()] if "nearest" in stem else [(False,), (True,)]
        for x in formats(shape, dtype):
            for size in ([6, 8, 4], [2, 4, 5], [1, 1, 1]):
                for scales in ((None, None, None), (1.5, 0.75, 1.25)):
                    if scales[0] and (size[0] != 6 or kind == "2d_aa"):
                        continue
                    for align in blends:
                        case(stem + kind, x, size[:n], *align, *scales[:n])
                        if dtype == BF16:
                            continue  # PyTorch sums in 16 bits
                        g = spread_like(x, shape[:2] + tuple(size[:n]), dtype)
                        case(stem + kind + "_backward", g, size[:n], list(shape), *align, *scales[:n])
            for align in blends:
                case(stem + kind + ".vec", x, [6, 3, 5][:n], *align, None)
                case(stem + kind + ".vec", x, None, *align, [1.5, 0.7, 2.0][:n])

# -- windows as columns --

for dtype in (F32, F64, I64):
    for x in [*formats((2, 2, 6, 5), dtype), values((2, 6, 5), dtype)]:
        for o in (([2, 3], [1, 1], [1, 1], [2, 1]), ([2, 2], [2, 1], [0, 2], [1, 1]), ([6, 5], [1, 1], [0, 0], [1, 1])):
            case("im2col", x, *o)
            if dtype != I64:
                y = torch.ops.aten.im2col(x, *o)
                case("col2im", values(y.shape, dtype), [6, 5], *o)
                case("col2im", values((*y.shape[:-2], y.shape[-1], y.shape[-2]), dtype).mT, [6, 5], *o)

# -- grids --

for dtype in (F32, F64):
    for name, shape, places in (("grid_sampler_2d", (2, 2, 4, 5), (3, 4)), ("grid_sampler_3d", (1, 2, 3, 4, 3), (2, 2, 3))):
        for x in formats(shape, dtype):
            grid = values((shape[0], *places, len(places)), dtype, -1.4, 1.4)
            g = values((*shape[:2], *places), dtype)
            for mode in (0, 1, 2)[:5 - len(places)]:
                for padding in (0, 1, 2):
                    for align in (False, True):
                        case(name, x, grid, mode, padding, align)
                        for mask in ([True, True], [False, True]):
                            case(name + "_backward", g, x, grid, mode, padding, align, mask)
    for align in (False, True):
        case("affine_grid_generator", values((2, 2, 3), dtype), [2, 3, 4, 5], align)
        case("affine_grid_generator", values((2, 2, 3), dtype), [2, 1, 1, 3], align)
        case("affine_grid_generator", values((2, 3, 4), dtype), [2, 3, 3, 2, 4], align)

# -- norms and sums of products --

for dtype in (F32, F64):
    for shape, dims in (((4, 3), (0, 1)), ((4, 3, 2), (0, 2))):
        for dim in dims:
            v, g = values(shape, dtype), values([n if i == dim else 1 for i, n in enumerate(shape)], dtype)
            case("_weight_norm_interface", v, g, dim)
            w, norms = torch.ops.aten._weight_norm_interface(v, g, dim)
            case("_weight_norm_interface_backward", values(shape, dtype), v, g, norms, dim)
    a, b, c = values((3, 2), dtype), values((5, 2, 4), dtype), values((3, 4), dtype)
    case("_trilinear", a, b, c, [1, 3], [0], [1, 2], [2, 3])
    case("_trilinear", values((3, 5), dtype), b, c, [2, 3], [0], [1, 2], [1, 3])
    case("_trilinear", a, values((3, 5), dtype), c, [1, 3], [2, 3], [1, 2], [0])
    case("_trilinear", a, b, values((3, 5), dtype), [1, 3], [0], [2, 3], [1, 2])
    case("_euclidean_dist", values((4, 3), dtype), values((5, 3), dtype))
    case("_euclidean_dist", values((2, 4, 3), dtype), values((2, 5, 3), dtype))
    case("vdot", values((6,), dtype), values((6,), dtype))
    x = values((3, 7), dtype)
    for training in (True, False):
        drawn(5, "rrelu_with_noise", x, torch.ones_like(x), 0.1, 0.4, training)
        drawn(5, "rrelu_with_noise_functional", x, torch.ones_like(x), 0.1, 0.4, training)
        for result in (True, False):
            case("rrelu_with_noise_backward", values((3, 7), dtype), x, values((3, 7), dtype, 0.1, 0.4), 0.1, 0.4,
                 training, result)

# -- places in sorted numbers --

for dtype in (F32, F64, I64, I32):
    row, x = values((6,), dtype).sort()[0], values((2, 3), dtype)
    rows = values((2, 6), dtype).sort()[0]
    for right in (False, True):
        case("bucketize.Tensor", x, row, right=right)
        case("bucketize.Tensor", x.t(), row, out_int32=True, right=right)
        case("searchsorted.Tensor", row, x, right=right)
        case("searchsorted.Tensor", rows, x, right=right)
        order = torch.arange(6).flip(0).repeat(2, 1)
        case("searchsorted.Tensor", rows.flip(-1), x, right=right, sorter=order)
        case("searchsorted.Tensor", rows, x, side="right" if right else "left")
case("bucketize.Tensor", torch.tensor([float("nan"), float("inf"), 0.0, -0.0]), torch.tensor([-1.0, 0.0, 2.0]))
