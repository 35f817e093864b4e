# SPDX-License-Identifier: MIT
from oracle import *

for dtype, complex_dtype in ((F32, C64), (F64, C128)):
    for n in (1, 2, 5, 8, 12, 67, 70):
        for norm in (0, 1, 2):
            case("_fft_r2c", values((2, n), dtype), [1], norm, True)
            case("_fft_c2r", values((2, n // 2 + 1), complex_dtype), [1], norm, n)
            case("_fft_c2c", values((2, n), complex_dtype), [1], norm, True)
        case("_fft_r2c", values((2, n), dtype), [1], 0, False)
        case("_fft_c2c", values((2, n), complex_dtype), [1], 0, False)
x, c = (2, 3, 4), C64
for dims in ([0], [1], [-1], [0, 1], [0, 2], [1, 2], [2, 1], [0, 1, 2], [2, 0, 1]):
    for real in layouts(x, F32):
        case("_fft_r2c", real, dims, 1, True)
        case("_fft_r2c", real, dims, 0, False)
    for number in layouts(x, C64):
        case("_fft_c2c", number, [dim % 3 for dim in dims], 2, False)
        case("_fft_c2r", number, dims, 2, 2 * (number.shape[dims[-1]] - 1))
        case("_fft_c2r", number, dims, 0, 2 * number.shape[dims[-1]] - 1)
case("_fft_c2c", values((3,), C64), [], 0, True)
for n in (1, 4, 5):
    for d in (1.0, 0.25, 3.0):
        case("fft_fftfreq", n, d)
        case("fft_rfftfreq", n, d, dtype=F64)
