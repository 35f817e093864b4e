# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16):
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 2, 3)):
        for x in formats(shape, dtype):
            w, b = values((3,), dtype, 0.5, 2), values((3,), dtype)
            mean, var = values((3,), dtype), values((3,), dtype, 0.5, 2)
            for weight, bias in ((w, b), (None, None)):
                for train in (True, False):
                    case("_native_batch_norm_legit_functional", x, weight, bias, mean, var, train, 0.1, 1e-5)
                case("_native_batch_norm_legit.no_stats", x, weight, bias, True, 0.1, 1e-3)
                case("_native_batch_norm_legit_no_training", x, weight, bias, mean, var, 0.1, 1e-5)
            y, m, r = torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5)
            g = values(shape, dtype).to(memory_format=torch.preserve_format).as_strided(x.shape, x.stride())
            for mask in ([True, True, True], [True, False, False], [False, True, True]):
                case("native_batch_norm_backward", g, x, w, mean, var, m, r, True, 1e-5, mask)
            case("native_batch_norm_backward", g, x, w, mean, var, m[:0], r[:0], False, 1e-5, [True, True, True])
            case("native_batch_norm_backward", g, x, None, None, None, m, r, True, 1e-5, [True, True, True])
    for shape in ((2, 6, 4), (2, 6, 3, 5)):
        for x in formats(shape, dtype):
            area = x[0, 0].numel()
            w, b = values((6,), dtype, 0.5, 2), values((6,), dtype)
            g = values(shape, dtype).as_strided(x.shape, x.stride())
            for groups in (1, 2, 6):
                case("native_group_norm", x, w, b, 2, 6, area, groups, 1e-5)
                case("native_group_norm", x, None, None, 2, 6, area, groups, 1e-2)
                y, m, r = torch.ops.aten.native_group_norm(x, w, b, 2, 6, area, groups, 1e-5)
                # channels last: PyTorch 2.6 crashes without the gradient of x
                parts = [[False, True, False]] if x.is_contiguous() else []
                for mask in [[True, True, True], [True, False, False], *parts]:
                    case("native_group_norm_backward", g, x, m, r, w, 2, 6, area, groups, mask)
x = values((2, 3, 4, 5), BF16)
w, b = values((3,), F32, 0.5, 2), values((3,), F32)
case("_native_batch_norm_legit_functional", x, w, b, b, w, True, 0.1, 1e-5)
case("_native_batch_norm_legit_functional", x, w, b, b, w, False, 0.1, 1e-5)
case("_native_batch_norm_legit_functional", values((2, 6, 4, 3), F32)[:, ::2], w, b, b, w, True, 0.1, 1e-5)

few_digits()

for dtype in (F32, F64, BF16):
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 5)):
        for x in formats(shape, dtype):
            w, b = values((3,), dtype, 0.5, 2), values((3,), dtype)
            mean, var = values((3,), dtype), values((3,), dtype, 0.5, 2)
            g = values(shape, dtype).as_strided(x.shape, x.stride())
            for weight, bias in ((w, b), (None, None)):
                for train in (True, False):
                    case("_native_batch_norm_legit", x, weight, bias, mean.clone(), var.clone(), train, 0.1, 1e-5)
                case("_batch_norm_with_update", x, weight, bias, mean.clone(), var.clone(), 0.3, 1e-5)
                case("_batch_norm_with_update_functional", x, weight, bias, mean, var, 0.1, 1e-3)
                case("_batch_norm_no_update", x, weight, bias, mean, var, 0.1, 1e-5)
            y, m, r, reserve = torch.ops.aten._batch_norm_with_update(x, w, b, mean.clone(), var.clone(), 0.1, 1e-5)
            for mask in ([True, True, True], [True, False, False], [False, True, True]):
                case("batch_norm_backward", g, x, w, mean, var, m, r, True, 1e-5, mask, reserve)
            case("batch_norm_backward", g, x, w, mean, var, m, r, False, 1e-5, [True, True, True], reserve)
            for train in (True, False):
                needs_cuda("cudnn_batch_norm", x, w, b, mean, var, train, 0.1, 1e-5)
            needs_cuda("cudnn_batch_norm_backward", x, g, w, mean, var, m, r, 1e-5, reserve)
