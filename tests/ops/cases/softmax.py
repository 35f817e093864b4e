# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16):
    for v in layouts((2, 3, 4), dtype):
        for dim in (-1, 1, 0):
            for name in ("_softmax", "_log_softmax"):
                case(name, v, dim, False)
                op = getattr(torch.ops.aten, name).default
                case(name + "_backward_data", values((2, 3, 4), dtype), op(v, dim, False), dim, dtype)
        w, b = values((4,), dtype), values((4,), dtype)
        case("native_layer_norm", v, [4], w, b, 1e-5)
        case("native_layer_norm", v, [3, 4], None, None, 1e-3)
        y0, mean, rstd = torch.ops.aten.native_layer_norm(v, [4], w, b, 1e-5)
        g = values((2, 3, 4), dtype)
        case("native_layer_norm_backward", g, v, [4], mean, rstd, w, b, [True, True, True])
        case("native_layer_norm_backward", g, v, [4], mean, rstd, w, b, [False, True, False])
        y0, mean, rstd = torch.ops.aten.native_layer_norm(v, [4], None, None, 1e-5)
        case("native_layer_norm_backward", g, v, [4], mean, rstd, None, None, [True, False, False])
case("_softmax", values((), F32), 0, False)
for dtype in (F32, F64):
    for shape, target in (((4, 5), torch.tensor([1, 0, -100, 4])), ((5,), torch.tensor(3))):
        v = values(shape, dtype)
        for weight in (None, values((5,), dtype, 0.1, 1)):
            for r in (0, 1, 2):
                case("nll_loss_forward", v, target, weight, r, -100)
                o, t = torch.ops.aten.nll_loss_forward(v, target, weight, r, -100)
                case("nll_loss_backward", values(o.shape, dtype), v, target, weight, r, -100, t)
    for r in (0, 1, 2):
        a, b = values((2, 3), dtype), values((2, 3), dtype)
        g = values((2, 3) if r == 0 else (), dtype)
        case("mse_loss", a, b, r)
        case("mse_loss_backward", g, a, b, r)
        case("smooth_l1_loss", a, b, r, 0.7)
        case("smooth_l1_loss_backward", g, a, b, r, 0.7)
        case("huber_loss", a, b, r, 0.7)
        case("huber_loss_backward", g, a, b, r, 0.7)
        t = values((2, 3), dtype, 0, 1)
        case("binary_cross_entropy_with_logits", a, t, None, None, r)
        case("binary_cross_entropy_with_logits", a, t, values((3,), dtype, 0, 1), values((3,), dtype, 1, 2), r)
