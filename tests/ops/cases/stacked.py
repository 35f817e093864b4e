# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16, I64):
    rows = [values((3,), dtype), values((3,), dtype)]
    mats = [values((2, 3), dtype), values((3, 2), dtype).t()]
    for tensors in (rows, mats, [values((), dtype), values((), dtype)], [values((2, 3, 4), dtype)[..., ::2]] * 2):
        for target in ("dstack", "vstack", "row_stack", "column_stack"):
            case(target, tensors)
    case("cartesian_prod", [values((2,), dtype), values((3,), dtype), values((1,), dtype)])
    for x in (*layouts((5, 4, 3), dtype), values((7,), dtype)):
        case("tensor_split.sections", x, 3)
        case("tensor_split.sections", x, 2, -1)
        case("tensor_split.indices", x, [1, 3])
        for name, at in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
            case(f"{name}.int", x, x.shape[at] if at < x.dim() else 1)
            case(f"{name}.array", x, [1, 2])
        case("atleast_3d", x)
        case("diff", x)
        case("diff", x, 2, 0)
        case("diff", x, 1, -1, x[..., :1], x[..., :2])
        case("take_along_dim", x, torch.tensor([0, 1, -1]))
        case("diagflat", x[..., 0])
    case("take_along_dim", mats[0], torch.tensor([[1], [0]]), 1)
    case("sum_to_size", values((2, 3, 4), dtype), [3, 1])
    case("sum_to_size", values((2, 3), dtype), [])
    for v in (rows[0], *mats):
        case("diag", v)
        case("diag", v, 1)
    case("inner", rows[0], rows[1])
    case("inner", mats[0], mats[1])
    case("isclose", rows[0], rows[0] + (0 if dtype == I64 else 1e-6))
    case("isreal", rows[0])
    case("float_power.Tensor_Tensor", mats[0].abs(), rows[1])
    case("matrix_H", mats[0])
for dtype in (F32, F64):
    y, x = values((3, 4), dtype), values((4,), dtype).sort().values
    for target in ("trapezoid", "trapz", "cumulative_trapezoid"):
        case(f"{target}.x", y, x)
        case(f"{target}.x", y, x.expand(3, 4).contiguous(), dim=0)
        case(f"{target}.dx", y)
        case(f"{target}.dx", y, dx=0.5, dim=0)
    for order in (1, 2):
        case("gradient.scalarint", y, edge_order=order)
        case("gradient.scalarint", y, spacing=2.0, dim=1, edge_order=order)
        case("gradient.scalararray", y, spacing=0.5, dim=[0, 1], edge_order=order)
        case("gradient.array", y, dim=[1], edge_order=order)
        case("gradient.scalarrayint", y, spacing=[2.0, 3.0], edge_order=order)
        case("gradient.scalarrayarray", y, spacing=[2.0], dim=[0], edge_order=order)
    holes = y.clone()
    holes[0, 1] = float("nan")
    case("nanmean", holes)
    case("nanmean", holes, [1], True)
    for reduction in (0, 1, 2):
        t = torch.tensor([0, 3, 2])
        case("multi_margin_loss", y, t, reduction=reduction)
        case("multi_margin_loss", y, t, 2, 0.5, values((4,), dtype, 0, 1), reduction)
    case("pdist", y)
    case("conv_transpose3d.input", values((1, 2, 2, 3, 2), dtype), values((2, 2, 2, 2, 2), dtype), None, [2], [1])
for dtype in (F32, F64):
    x, q = values((3, 4), dtype), torch.tensor([0.25, 0.75], dtype=dtype)
    hole = x.clone()
    hole[1, 2] = float("nan")
    for name in ("quantile", "nanquantile"):
        case(name, x, q)
        case(name + ".scalar", x, 0.5)
        case(name + ".scalar", values((), dtype), 0.5, keepdim=True)
        for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
            case(name, hole, q, 0, True, interpolation=interpolation)
            case(name + ".scalar", hole, 0.5, -1, interpolation=interpolation)
