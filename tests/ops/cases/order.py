# SPDX-License-Identifier: MIT
from oracle import *

x = values((1, 1, 4, 4), F32)
x[0, 0, 1, 1] = x[0, 0, 0, 1] = float("nan")
x[0, 0, 2:, 2:] = float("-inf")
order = torch.tensor([[3.0, float("nan"), -1.0, 3.5], [0.0, float("inf"), -0.5, float("-inf")]])
for v in (x.detach(), values((3, 5), F64).t(), values((2, 3, 4), BF16)[:, ::2], order, values((), F32),
          torch.tensor([[4, -2, 9, 0, 7], [3, 1, 2, 8, -5]]), values((0, 3), F32), values((1, 1500), F64)):
    for dim in (-1, 0):
        for flag in (False, True):
            case("sort", v, dim, flag)
            case("sort.stable", v, stable=True, dim=dim, descending=flag)
            if not v.is_floating_point() or v.numel() == 0 or v.flatten().unique().numel() == v.numel():
                case("topk", v, min(2, v.shape[dim] if v.dim() else 1), dim, flag)
ties = torch.tensor([[2, 1, 2, 1, 0], [5, 5, 5, 5, 5]])
case("sort.stable", ties, stable=True, dim=1)
case("sort.stable", ties.to(F32), stable=True, dim=1, descending=True)
case("topk", values((3, 40), F32), 5)
case("topk", values((3, 40), F32), 0)

picture = values((2, 3, 4), F32)
for v in (picture, values((4, 3, 2), F32).permute(2, 1, 0)):
    rows, cells = torch.tensor([True, False]), v > 0.5
    for mask in (cells, cells.to(U8)):
        case("index.Tensor", picture, [mask])
        case("index_put", v, [mask], torch.tensor(2.5))
        case("index_put", v, [mask], values((int(cells.sum()),), F32), True)
    case("index.Tensor", picture, [rows])
    case("index.Tensor", picture, [None, torch.tensor([True, False, True])])
    case("index.Tensor", picture, [rows, torch.tensor([2])])
    case("index.Tensor", picture, [torch.tensor([0, 1, 1]), None, torch.tensor([True, False, True, True])])
    case("index.Tensor", picture, [None, picture[0] > 0])
    case("index.Tensor", picture, [picture > 100])
    case("index_put_", v.clone(), [cells], torch.tensor(-1.0))

for dtype in (F32, F64, I64):
    whole = values((2, 7, 3), dtype)
    for dim, size, step in ((1, 3, 2), (1, 3, 1), (-1, 2, 1), (0, 1, 1), (1, 2, 4)):
        windows = whole.unfold(dim, size, step)
        case("unfold_backward", values(windows.shape, dtype), [2, 7, 3], dim, size, step)
        case("unfold_backward", values(windows[:1].shape, dtype), [2, 7, 3], dim, size, step)
for v in (values((2, 4), F32), values((4, 2), F32).t(), values((2, 8), F32)[:, 2:6], values((3,), F64),
          values((2, 8), U8), values((3, 4), I64), values((), F32)):
    for dtype in (I32, I64, U8, F16, F64, B8):
        case("view.dtype", v, dtype)
for dtype in (F32, F64, BF16):
    for v in layouts((2, 4, 6), dtype):
        for dim in (1, -1):
            case("glu", v, dim)
            half = list(v.shape)
            half[dim] //= 2
            case("glu_backward", values(half, dtype), v, dim)
    masked = values((3, 4), dtype)
    masked[1] = float("-inf")
    masked[2, 1:] = float("-inf")
    for dim in (1, 0):
        case("_safe_softmax", masked, dim)
        case("_safe_softmax", masked, dim, F64)
    case("_safe_softmax", values((2, 3), dtype).t(), 0)
