# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16, I64, B8):
    for x in layouts((3, 4, 2), dtype):
        for dim, n in ((1, 4), (-1, 2), (0, 3)):
            index = torch.tensor([n - 1, 0])
            size = list(x.shape)
            size[dim] = 2
            case("index_fill.int_Scalar", x, dim, index, 2)
            case("index_fill.int_Tensor", x, dim, torch.tensor([0, 1]), values((), dtype))
            case("index_copy", x, dim, index, values(size, dtype))
        case("take", x, torch.tensor([[0, 23, -1], [5, 5, -24]]))
        case("take", x, torch.zeros((0,), dtype=I64))
        case("put", x, torch.tensor([[1, 22], [-3, 4]]), values((4,), dtype))
        if dtype != B8:
            case("put", x, torch.tensor([1, 1, -24, 0]), values((2, 2), dtype), True)
        case("narrow_copy", x, 1, 1, 2)
        case("narrow_copy", x, 0, -2, 1)
for dtype in (F32, I64):
    case("index_fill.int_Scalar", values((), dtype), 0, torch.tensor([0]), 3)
    case("index_copy", values((), dtype), 0, torch.tensor([0]), values((), dtype))
    case("take", values((), dtype), torch.tensor([0, -1]))
for dtype in (F32, F64, BF16, I64):
    for x in layouts((3, 4), dtype):
        rows, columns = torch.tensor([[0], [2], [5]]), torch.tensor([[1, 3, -9]])
        mask = torch.tensor([[True, False, True], [False, True, True], [True, True, False]])
        case("_unsafe_masked_index", x, mask, [rows, columns], 1.5 if dtype.is_floating_point else 2)
        case("_unsafe_masked_index", x, mask[0], [rows[:, 0], columns[0]], 0)
        case("_unsafe_masked_index_put_accumulate", x, mask, [rows, columns], values((3, 3), dtype))
    for x in (values((), dtype), values((4,), dtype), *layouts((2, 3), dtype)):
        case("nonzero_static", (x > 0).to(dtype), size=3)
        case("nonzero_static", (x > 0).to(dtype), size=9, fill_value=7)
