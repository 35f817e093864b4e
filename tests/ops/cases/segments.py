# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16):
    for reduce in ("max", "mean", "min", "sum", "prod"):
        for initial in (None, 1.5):
            x = values((7, 3), dtype)
            lengths = torch.tensor([2, 0, 4, 1])
            offsets = torch.tensor([0, 2, 2, 6, 7])
            rows = values((2, 5), dtype).round()
            for data, axis, places in ((x, 0, {"lengths": lengths}), (x, 0, {"offsets": offsets}),
                                       (x.t().contiguous().t(), 0, {"lengths": lengths}),
                                       (rows, 1, {"lengths": torch.tensor([[2, 3], [1, 4]])})):
                case("segment_reduce", data, reduce, **places, axis=axis, unsafe=True, initial=initial)
                y = torch.ops.aten.segment_reduce(data, reduce, **places, axis=axis, unsafe=True, initial=initial)
                case("_segment_reduce_backward", values(y.shape, dtype), y, data, reduce, **places, axis=axis,
                     initial=initial)
    for sizes in ((5, 3), (5, 1)):
        case("_jagged_to_padded_dense_forward", values(sizes, dtype), [torch.tensor([0, 2, 2, 5])], [3], 0.5)
    for offsets in ([0, 2, 2, 5], [0, 3, 4, 7]):
        for dense in (values((3, 3, 2), dtype), values((3, 3), dtype), values((2, 3, 3), dtype).permute(1, 2, 0)):
            for total in ([], [offsets[-1]]):
                case("_padded_dense_to_jagged_forward", dense, [torch.tensor(offsets)], *total)
