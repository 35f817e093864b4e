# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16, I64, B8):
    for x in (*layouts((2, 3, 2), dtype), *layouts((1, 2, 3, 2), dtype)):
        for k in (-1, 0, 1, 2, 3, 6):
            case("rot90", x, k)
            case("rot90", x, k, [2, 0])
    for x in (*layouts((2, 6, 3, 2), dtype), values((1, 4, 3), dtype)):
        case("channel_shuffle", x, 2)
        case("channel_shuffle", x, 1)
    blocks = [values((2, 3), dtype), values((3,), dtype), values((), dtype), values((4, 1), dtype).t()]
    case("block_diag", blocks)
    case("block_diag", blocks[:1])
    for trailing in ((), (2,)):
        rows = [values((n, *trailing), dtype) for n in (2, 4, 1)]
        case("pad_sequence", rows)
        case("pad_sequence", rows, True, 2.0)
        case("pad_sequence", rows, True, 0.0, "left")
        case("pad_sequence", rows[:1], padding_side="left")
    for shape in ((3, 3), (2, 4), (3, 2), (2, 2, 2)):
        case("fill_diagonal_", values(shape, dtype), 1)
    case("fill_diagonal_", values((3, 4), dtype).t(), 0)
for dtype in (F32, F64, I64):
    for start, end in ((0.5, 3.5), (2, -1)):
        a, b = torch.tensor(start, dtype=F64), torch.tensor(end)
        for steps in (0, 1, 4, 5):
            case("linspace.Tensor_Tensor", a, b, steps, dtype=dtype)
            case("linspace.Tensor_Scalar", a, end, steps, dtype=dtype)
            case("linspace.Scalar_Tensor", start, b, steps, dtype=dtype)
            if dtype != I64:
                case("logspace", start, end, steps, dtype=dtype)
                case("logspace.Tensor_Tensor", a, b, steps, dtype=dtype)
                case("logspace.Tensor_Scalar", a, end, steps, 2.0, dtype=dtype)
                case("logspace.Scalar_Tensor", start, b, steps, 3.0, dtype=dtype)
for sizes in ((3, 4), (4, 3), (0, 2), (1, 5)):
    for offset in (-2, 0, 1, 9):
        case("tril_indices", *sizes, offset)
        case("triu_indices", *sizes, offset, dtype=I32)
for dtype in (F32, F64, BF16):
    a, b, v = values((3, 4), dtype), values((2, 3, 4), dtype), values((4,), dtype)
    for beta, alpha in ((1, 1), (0.5, 2)):
        case("addmv", values((3,), dtype), a, v, beta=beta, alpha=alpha)
        case("addmv", values((), dtype), a, v, beta=beta, alpha=alpha)
        case("addr", values((3, 4), dtype), values((3,), dtype), v, beta=beta, alpha=alpha)
        case("addr", v, values((3,), dtype), v, beta=beta, alpha=alpha)
        case("addbmm", values((3, 5), dtype), b, values((2, 4, 5), dtype), beta=beta, alpha=alpha)
    case("addmv", values((3,), dtype), values((4, 3), dtype).t(), v)
    if dtype == BF16:
        continue
    for p in (0, 1, 2, 3, float("inf")):
        x = values((4, 3), dtype)
        d = torch.ops.aten._pdist_forward(x, float(p))
        case("_pdist_forward", x, float(p))
        if p:
            case("_pdist_backward", values(d.shape, dtype), x, float(p), d)
        case("dist", values((2, 3), dtype), values((3,), dtype), p)
        if p:
            case("renorm", values((2, 3, 2), dtype), p, 1, 2.5)
            case("renorm", values((3, 2), dtype).t(), p, -1, 0.5)
    for reduction in (0, 1, 2):
        x, t = values((2, 3), dtype), values((2, 3), dtype).sign()
        case("soft_margin_loss", x, t, reduction)
        g = values((2, 3) if reduction == 0 else (), dtype)
        case("soft_margin_loss_backward", g, x, t, reduction)
for dtype in (F32, F64, BF16, I64, B8):
    many = [values((2, 5, 3), dtype), values((2, 4, 2), dtype), values((2, 1, 4), dtype)[..., ::2], values((2, 7), dtype)]
    for dim, chunks in ((1, 2), (1, 3), (1, 8)):
        case("_chunk_cat", many, dim, chunks)
    case("_chunk_cat", [values((5, 2), dtype), values((3,), dtype)], 0, 4)
