# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for v in (2, 0.5, 3, -1):
    for x in layouts((2, 3), F32, 0.2, 3):
        case("pow_.Scalar", x.clone(), v)
    case("floor_divide_.Scalar", values((2, 3), F32), v)
case("pow_.Scalar", values((4,), I64, 0, 6), 3)
for dtype in (F32, F64, BF16, I64):
    case("pow_.Tensor", values((2, 3), dtype, 1, 4), values((3,), dtype, 0, 3))
    case("floor_divide_.Tensor", values((2, 3), dtype, 1, 9), values((3,), dtype, 1, 4))
for dtype in (None, F32, F64, F16, BF16, I64, B8):
    for n in (0, 1, 4):
        case("eye", n, dtype=dtype)
        case("eye.m", n, 3, dtype=dtype)
    if dtype != B8:
        for steps in (0, 1, 2, 5, 11):
            case("linspace", -2, 10, steps, dtype=dtype)
            case("linspace", 3.5, -1, steps, dtype=dtype)
for dtype in (F32, F64, BF16, F16):
    for x in layouts((2, 3, 4), dtype):
        for p in (2, 1, 0, 3, float("inf"), float("-inf"), 0.5):
            case("norm.Scalar", x, p)
            case("norm.ScalarOpt_dim", x, p, [1])
        case("norm.ScalarOpt_dim", x, None, [0, 2], True)
for dtype in (F32, BF16, I64, B8, U8):
    for x in layouts((2, 3, 4), dtype, -1, 1):
        x = x.round() if x.dtype.is_floating_point else x
        case("count_nonzero", x)
        case("count_nonzero", x, 1)
        case("count_nonzero.dim_IntList", x, [0, -1])
        for mask in (x != 0, (x != 0)[:, :1], (x != 0)[0, 0]):
            case("masked_select", x, mask)
            case("masked_scatter", x.contiguous(), mask, values((30,), dtype))
            case("masked_scatter_backward", x, mask.expand(x.shape), [5, 6])
            case("masked_scatter_", x.clone(memory_format=torch.contiguous_format), mask, values((5, 6), dtype))
    case("masked_select", values((), dtype), torch.tensor([True, False, True]))
for dtype in (F32, F64, BF16, F16):
    for x in (*layouts((2, 8, 3, 2), dtype), values((8, 2, 2), dtype), values((2, 1, 4, 3, 2), dtype)):
        case("pixel_shuffle", x, 2)
        case("pixel_shuffle", x, 1)
    for x in (*layouts((2, 2, 4, 6), dtype), values((3, 2, 2), dtype)):
        case("pixel_unshuffle", x, 2)
    for x in layouts((5, 4), dtype):
        case("unsafe_split.Tensor", x, 2)
        case("unsafe_split.Tensor", x, 3, 1)
for dtype in (F32, F64, BF16):
    target = torch.tensor([[[0, 2, 1], [1, 1, 0]], [[2, 2, -100], [0, 1, 2]]])
    for x in layouts((2, 3, 2, 3), dtype):
        for w in (None, values((3,), dtype, 0.2, 2)):
            for reduction in (0, 1, 2):
                y, total = torch.ops.aten.nll_loss2d_forward(x, target, w, reduction, -100)
                case("nll_loss2d_forward", x, target, w, reduction, -100)
                case("nll_loss2d_forward", x, target, w, reduction, 1)
                if dtype != BF16 or w is None:  # otherwise the rounded total differs from the sum of the weights
                    case("nll_loss2d_backward", values(y.shape, dtype), x, target, w, reduction, -100, total)
    for x in layouts((2, 3), dtype, 0.05, 0.95):
        t = values((2, 3), dtype, 0, 1)
        for w in (None, values((3,), dtype, 0.2, 2)):
            for reduction in (0, 1, 2):
                case("binary_cross_entropy", x, t, w, reduction)
                g = values((2, 3) if reduction == 0 else (), dtype)
                case("binary_cross_entropy_backward", g, x, t, w, reduction)
    case("binary_cross_entropy", torch.tensor([0.0, 1.0, 0.5], dtype=dtype), torch.tensor([1.0, 0.0, 0.5], dtype=dtype))
for dtype in (F32, F64, BF16):
    for x in (values((2, 2, 5, 6, 4), dtype), values((2, 5, 6, 4), dtype),
              values((1, 3, 4, 4, 4), dtype).to(memory_format=torch.channels_last_3d),
              values((2, 2, 4, 6, 5), dtype).transpose(2, 4)):
        for o in (([2, 2, 2],), ([3, 2, 2], [2, 1, 2], [1, 1, 0]), ([2, 2, 2], [2, 2, 2], [0, 0, 0], [2, 1, 1], True),
                  ([2], [1], [1], [1], True)):
            case("max_pool3d_with_indices", x, *o)
            o = (*o, *([list(o[0])] if len(o) < 2 else []))
            o = (*o, *([[0], [1], False][len(o) - 2:]))
            y, places = torch.ops.aten.max_pool3d_with_indices(x, *o)
            case("max_pool3d_with_indices_backward", values(y.shape, dtype), x, *o, places)
for dtype in (F32, F64, F16, BF16):
    for x in (values((3, 5), dtype), values((30,), dtype), values((4, 9), dtype).t(), values((), dtype)):
        for target in ("uniform", "uniform_"):
            drawn(7, target, x.clone())
            drawn(8, target, x.clone(), -2.0, 3.0)
        for target in ("normal_functional", "normal_"):
            drawn(9, target, x.clone())
            drawn(10, target, x.clone(), 1.5, 0.25)
        drawn(11, "bernoulli_.float", x.clone(), 0.3)
        drawn(12, "bernoulli_.float", x.clone())
