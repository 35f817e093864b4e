# SPDX-License-Identifier: MIT
from oracle import *

like = values((3, 7, 2), F32).permute(2, 0, 1)
for dtype in (None, F32, F64, F16, BF16):
    kw = {} if dtype is None else {"dtype": dtype}
    for name in ("rand", "randn"):
        for sizes in ([], [3], [4, 4], [17], [5, 7], [1100], [0]):
            drawn(len(Recording.cases), name, sizes, **kw)
        for v in (like, like.to(F64), values((4, 9), BF16), values((4, 9), F32)[:, ::2]):
            drawn(len(Recording.cases), name + "_like", v, **kw)
            drawn(len(Recording.cases), name + "_like", v, memory_format=torch.contiguous_format, **kw)
for dtype in (I64, I32, U8, B8, F32, F16):
    drawn(11, "randint", 2, [40], dtype=dtype)
    drawn(12, "randint.low", -5, 100, [4, 5], dtype=dtype)
    if not dtype.is_floating_point:  # outside of their range PyTorch warns when it draws integers
        drawn(13, "randint", 1 << 40, [9], dtype=dtype)
        drawn(14, "randint.low", -(1 << 20), 1 << 20, [9], dtype=dtype)
    drawn(15, "randperm", 12, dtype=dtype)
drawn(16, "randint", 10, [3])
drawn(16, "randint.low", -(1 << 62), (1 << 62) - 1, [3])
for n in (0, 1, 2, 700):
    drawn(n + 3, "randperm", n)
for dtype in (F32, F64, F16, BF16):
    for v in (values((2, 5, 3), dtype, 0, 1), values((3, 2, 5), dtype, 0, 1).permute(1, 2, 0)):
        drawn(len(Recording.cases), "bernoulli", v)
        for p in (0.0, 0.2, 0.5, 1.0):
            drawn(len(Recording.cases), "bernoulli.p", v, p)
            drawn(len(Recording.cases), "native_dropout", v, p, True)
        drawn(len(Recording.cases), "native_dropout", v, 0.3, None)
        drawn(len(Recording.cases), "native_dropout", v, 0.3, False)
    drawn(1 << 40, "native_dropout", values((33, 50), dtype), 0.1, True)
drawn(5, "bernoulli.p", values((33, 50), I64), 0.4)

for v in (like, like.to(I64), values((4, 9), I32)[:, ::2], values((3, 5), U8)):
    for kw in ({}, {"dtype": I64}, {"memory_format": torch.contiguous_format}):
        drawn(17, "randint_like", v, 50, **kw)
        drawn(18, "randint_like.low_dtype", v, 2, 90, **kw)
drawn(18, "randint_like.low_dtype", like.to(I64), -(1 << 40), 1 << 40)

few_digits()

for dtype in (F32, F64):
    mean, std = values((3, 7), dtype), values((3, 7), dtype, 0.1, 2)
    for m, s in ((mean, std), (mean.t(), std.t()), (mean[:, :1], std[0]), (mean[0, 0], std[1]), (mean[:0], std[:0])):
        drawn(31, "normal.Tensor_Tensor", m, s)
        drawn(32, "normal.Tensor_float", m, 0.5)
        drawn(33, "normal.Tensor_float", m)
        drawn(34, "normal.float_Tensor", 1.5, s)
    weights = values((4, 6), dtype, 0, 1)
    weights[:, 2] = 0
    for w in (weights, weights[1], weights.t(), weights[:, ::2]):
        for n in (1, 2):
            drawn(35 + n, "multinomial", w, n)
            drawn(37 + n, "multinomial", w, n, True)
        drawn(40, "multinomial", w, 30, True)

for dtype in (F32, F64, F16, BF16):
    for x in (values((3, 5), dtype), values((17,), dtype), values((4, 9), dtype).t(), values((), dtype)):
        for suffix in ("", "_"):
            drawn(21, "exponential" + suffix, x.clone())
            drawn(22, "exponential" + suffix, x.clone(), 2.5)
            drawn(23, "cauchy" + suffix, x.clone(), 1.5, 0.25)
            drawn(24, "log_normal" + suffix, x.clone(), 0.5, 0.75)
            drawn(25, "geometric" + suffix, x.clone(), 0.3)
for dtype in (I64, I32, U8):
    drawn(26, "geometric", values((40,), dtype), 0.2)
drawn(27, "exponential", values((1100,), F32))
