# SPDX-License-Identifier: MIT
from oracle import *

def convolution(x, w, bias, *options):
    case("convolution", x, w, bias, *options)
    y = torch.ops.aten.convolution(x, w, bias, *options)
    g = values(y.shape, y.dtype).contiguous(memory_format=torch.preserve_format)
    sizes = None if bias is None else list(bias.shape)
    for mask in ([True, True, bias is not None], [False, True, False], [True, False, False]):
        case("convolution_backward", g, x, w, sizes, *options, mask)


for dtype in (F32, F64):
    for x in formats((2, 4, 7, 6), dtype):
        for w in formats((6, 4, 3, 2), dtype):
            convolution(x, w, values((6,), dtype), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        convolution(x, values((6, 2, 3, 3), dtype), None, [2, 3], [2, 0], [2, 1], False, [0, 0], 2)
        if dtype == F32 or x.is_contiguous():  # the slow path of f64 uses another layout for these weights
            convolution(x, values((8, 1, 3, 3), dtype), None, [2], [1], [1], False, [0], 4)
            convolution(x, values((5, 4, 1, 1), dtype), None, [2, 2], [0, 0], [1, 1], False, [0, 0], 1)
        for w in formats((4, 3, 3, 2), dtype):
            convolution(x, w, values((3,), dtype), [2, 3], [1, 0], [1, 2], True, [1, 0], 1)
        convolution(x, values((4, 3, 3, 3), dtype), values((6,), dtype), [1, 1], [1, 1], [1, 1], True, [0, 0], 2)
    convolution(values((2, 3, 9), dtype), values((4, 3, 4), dtype), values((4,), dtype), [2], [1], [2], False, [0], 1)
    convolution(values((2, 9, 3), dtype).transpose(1, 2), values((4, 3, 4), dtype), None, [1], [3], [1], False, [0], 1)
    convolution(values((2, 3, 5), dtype), values((3, 2, 4), dtype), values((2,), dtype), [3], [1], [1], True, [2], 1)
    for x in formats((2, 3, 4, 5, 3), dtype):
        convolution(x, values((4, 3, 2, 3, 1), dtype), values((4,), dtype), [1, 2, 1], [1, 0, 1], [1, 1, 2], False, [0, 0, 0], 1)
        convolution(x, values((3, 2, 2, 3, 2), dtype), None, [2, 1, 2], [1, 0, 0], [1, 1, 1], True, [1, 0, 0], 1)
convolution(values((1, 17, 12, 12), F32), values((9, 17, 3, 3), F32), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
convolution(values((7, 6, 4, 2), F32).permute(2, 3, 0, 1), values((5, 2, 3, 3), F32), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
convolution(values((2, 4, 1, 1), F32).expand(2, 4, 5, 5), values((5, 4, 3, 3), F32), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
convolution(values((2, 4, 8), I64), values((3, 4, 3), I64), None, [1], [1], [1], False, [0], 1)
