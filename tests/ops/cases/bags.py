# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

rows = torch.tensor([0, 2, 1, 4, 2, 0])
for dtype in (F32, F64, BF16, F16):
    for w in layouts((5, 3), dtype):
        for mode in (0, 1, 2):
            for last in (False, True):
                offsets = torch.tensor([0, 2, 2, 6] if last else [0, 2, 2, 5])
                for pad in (-1, 2):
                    for s in (None, values((6,), dtype), values((12,), dtype)[::2]):
                        if s is not None and mode:
                            continue
                        case("_embedding_bag", w, rows, offsets, False, mode, False, s, last, pad)
                        y, bag, size, largest = torch.ops.aten._embedding_bag(
                            w, rows, offsets, False, mode, False, s, last, pad)
                        g = values(y.shape, dtype)
                        for freq in (False, True):
                            # PyTorch 2.6 divides by another index's frequency; correct if each index occurs twice
                            i = torch.tensor([0, 2, 1, 1, 2, 0]) if freq else rows
                            if not (last or freq and (mode == 2 or pad >= 0)):
                                case("_embedding_bag_backward", g, i, offsets, bag, size, largest, 5, freq, mode,
                                     False, s, pad)
                        if mode == 0 and not last:
                            case("_embedding_bag_per_sample_weights_backward", g, w, rows, offsets, bag, 0, pad)
case("_embedding_bag", values((5, 3), F32), rows.to(I32), torch.tensor([0, 2], dtype=I32), False, 1)
case("_embedding_bag", values((5, 3), F32), torch.zeros(0, dtype=I64), torch.tensor([0, 0]), False, 1)
for mode in (0, 1, 2):
    case("_embedding_bag_forward_only", values((5, 3), F32), rows, torch.tensor([0, 2]), False, mode)
for dtype in (F32, BF16, F16):
    w = values((5, 3), dtype)
    for mode in (0, 1, 2):
        for last in (False, True):
            offsets = torch.tensor([0, 2, 2, 6] if last else [0, 2, 2, 5])
            s = values((6,), dtype) if mode == 0 else None
            case("_embedding_bag_forward_only", w, rows, offsets, False, mode, False, s, last)
            case("embedding_bag", w, rows, offsets, False, mode, False, s, last)
            for pad in (None, 2, -1):
                case("embedding_bag.padding_idx", w, rows, offsets, False, mode, False, s, last, pad)
    # a number of rows that is not representable in bfloat16
    case("embedding_bag", w, torch.arange(301) % 5, torch.tensor([0, 40]), False, 1)
