# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

for dtype in (F32, F64, BF16):
    q, k, v = values((2, 4, 5, 8), dtype), values((2, 4, 7, 8), dtype), values((2, 4, 7, 6), dtype)
    name = "_scaled_dot_product_attention_math"
    case(name, q, k, v)
    case(name, q, k, v, None, 0.0, True, scale=0.3)
    case(name, q, k, v, values((5, 7), dtype))
    case(name, q, k, v, values((2, 1, 5, 7), B8))
    case(name, q, k[:, :2], v[:, :2], enable_gqa=True)
    case(name, q, k, v, None, 0.25, False, values((2, 4, 5, 7), B8))
    case(name, q[0], k[0], v[0])
    drawn(31, name, q, k, v, None, 0.5)
    mask = values((2, 1, 5, 7), B8)
    mask[0, 0, 1] = False
    for m in (None, mask, values((5, 7), dtype)):
        case("scaled_dot_product_attention", q, k, v, m)
        case("scaled_dot_product_attention", q, k[:, :2], v[:, :2], m, enable_gqa=True)
        case("scaled_dot_product_attention", q, k, k, m, scale=0.7)
    case("scaled_dot_product_attention", q, k, k, None, 0.0, True)
    case("scaled_dot_product_attention", q, k, v, None, 0.0, True)
for dtype in (F32, F64):
    wave, window, _ = values((40,), dtype), values((8,), dtype, 0.1, 1), values((2, 40), dtype)
    spectrum = torch.stft(wave, 12, 4, 8, window, return_complex=True)
    case("istft", spectrum, 12, 4, 8, window, True)
    case("istft", spectrum, 12, 4, 8, window, True, True, True, 30)
    case("istft", torch.stft(values((2, 40), dtype), 8, 2, window=window, onesided=False, return_complex=True), 8, 2, window=window, onesided=False)
    case("istft", torch.stft(wave, 8, 4, return_complex=True), 8, 4)
    case("special_ndtr", values((3, 5), dtype))
    for weight in (values((3,), dtype), None):
        case("instance_norm", values((2, 3, 4, 5), dtype), weight, weight, values((3,), dtype), values((3,), dtype, 0.5, 2),
             True, 0.3, 1e-5, True)
    case("cross", values((4, 3, 3), dtype), values((4, 3, 3), dtype))
    case("prelu", values((5,), dtype), values((), dtype))
    case("prelu", values((), dtype), values((1,), dtype))
for dtype in (F32, F64, BF16, F16):
    for name in ("hardshrink", "softshrink"):
        case(name, values((3, 5), dtype))
        case(name, values((3, 5), dtype).t(), 0.2)
