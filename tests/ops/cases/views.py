# SPDX-License-Identifier: MIT
from oracle import *

x = values((2, 3, 4), F32)
y = values((4, 3, 2), F32).permute(2, 1, 0)
for v in (x, y, x[:, :, 1:3], x[:, :1].expand(2, 3, 4), values((), F32)):
    for sizes in ([6, 4], [-1, 4], [2, 12], [24], [2, 3, 4], [1, 2, 1, 3, 4], [2, 3, 2, 2], [-1]):
        case("view", v, sizes)
        case("_unsafe_view", v, sizes)
    case("_reshape_alias", v, [*v.shape, 1], [*v.stride(), 1])
    case("t", v)
    for dims in ([2, 0, 1], [-1, -2, -3], [0, 1, 2]):
        case("permute", v, dims)
        case("permute_copy", v, dims)
    for a, b in ((0, 1), (-1, 0), (1, 1)):
        case("transpose.int", v, a, b)
    for dim in range(-3, 4):
        case("unsqueeze", v, dim)
        case("squeeze.dim", v, dim)
        case("select.int", v, dim, -1)
        case("select.int", v, dim, 1)
        case("unbind.int", v, dim)
        case("split.Tensor", v, 2, dim)
        for start, end, step in ((0, 9223372036854775807, 1), (1, -1, 1), (-2, None, 2),
                                 (None, 1, 1), (3, 1, 1), (0, 4, 3)):
            case("slice.Tensor", v, dim, start, end, step)
    case("split_with_sizes", v, [1, 3], 2)
    case("split_with_sizes", v, [1, 1], 2)
    case("diagonal", v)
    case("diagonal", v, 1, 1, 2)
    case("diagonal", v, -2, 2, 1)
    case("unfold", v, 2, 2, 1)
    case("unfold", v, 1, 3, 2)
    case("alias", v)
    case("detach", v)
    case("squeeze", v)
    case("squeeze.dims", v, [0, 1])
    case("as_strided", v, [2, 2], [1, 2], 1)
    for sizes in ([2, 3, 4], [5, 2, 3, 4], [-1, 3, -1], [4]):
        case("expand", v, sizes)
        case("view_copy", v, sizes)
one = values((1, 3, 1), F32)
case("squeeze", one)
case("squeeze.dim", one, 0)
case("squeeze.dims", one, [0, 2])
case("expand", one, [4, 3, 2])
case("expand", one, [2, 4, -1, 2])
case("t", values((2, 3), F32))
case("t", values((3,), F32))
case("view", values((0, 3), F32), [3, 0])
