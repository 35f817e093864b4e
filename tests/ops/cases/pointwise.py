# SPDX-License-Identifier: MIT
from oracle import *

# PyTorch's CPU kernel reads the buffer, ours recomputes it: it must be the correct one.
x = values((2, 3), F32)
y, buffer = torch.ops.aten.log_sigmoid_forward(x)
case("log_sigmoid_backward", values((2, 3), F32), x, buffer)
# cases with specific degrees, orders and numbers of decimals are below
OWN = ("log_sigmoid_backward", "polygamma", "mvlgamma", "clamp.Tensor", "round.decimals", "special_zeta.self_scalar",
       "nan_to_num", "special_zeta.other_scalar", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1")
for target in family("pointwise") + family("activation") + family("special"):
    if target not in OWN and "polynomial" not in target:
        pointwise(target)

for name in ("and", "or", "xor"):
    for dtype in (I64, I8, U8, B8):
        case(f"bitwise_{name}.Scalar", values((2, 3), dtype, -9, 9), 6)
        case(f"bitwise_{name}.Scalar", values((2, 3), dtype, -9, 9), True)
        case(f"bitwise_{name}.Scalar_Tensor", 6, values((2, 3), dtype, -9, 9))

few_digits()

case("digamma", torch.tensor([-0.5, -2.25, -7.75, 0.0, -1.0, 1e-3, 40.0]))

for dtype in (F32, F64, BF16, I64):
    case("remainder.Scalar_Tensor", 7, values((2, 3), dtype, 1, 5))
for dtype in (F32, F64, BF16):
    for n in (0, 1, 2, 3, 5):
        if n == 1 and dtype == F64:
            continue  # PyTorch has ten correct digits
        for x in layouts((3, 4), dtype, 0.2, 6):
            case("polygamma", n, x)
        case("polygamma", n, torch.tensor([1e-3, 0.5, 1.0, 9.5, 40.0, 1e4], dtype=dtype))
case("polygamma", 1, torch.tensor([-0.5, -2.25, -7.75]))
for p in (1, 2, 4):
    for dtype in (F32, F64, BF16):
        for x in layouts((3, 4), dtype, 2, 8):
            case("mvlgamma", x, p)
for dtype in (F32, F64, BF16, I64):
    for decimals in (0, 2, -1):
        case("round.decimals", values((3, 4), dtype, -30, 30), decimals=decimals)
for dtype in (F32, F64, BF16, I64):
    low, x, high = values((4,), dtype, -2, 0), values((3, 4), dtype), values((3, 1), dtype, -1, 2)
    case("clamp.Tensor", x, low, high)
    case("clamp.Tensor", x.t(), low[:3], high[:1, :1])
    case("clamp.Tensor", x, low)
    case("clamp.Tensor", x, None, high)
case("clamp.Tensor", SPECIAL, torch.tensor(-1.0), SPECIAL.flip(0))
for target in family("special"):
    if "polynomial" in target:
        for dtype in (F32, F64):
            x, n = values((2, 6), dtype, -1.5, 1.5), torch.tensor([0, 1, 2, 3, 7, 12])
            if target.endswith(".x_scalar"):
                case(target, 0.75, n.to(dtype))
                case(target, 0.75, n)
            elif target.endswith(".n_scalar"):
                case(target, x, 5)
                case(target, x.t(), 0)
            else:
                case(target, x, n.to(dtype))
                case(target, x, n)
                case(target, torch.tensor([1.0, -1.0, 0.5], dtype=dtype), torch.tensor([4, 5, -1]))
# in float64 PyTorch has seven correct digits of these
for name in ("j0", "j1", "y0", "y1"):
    for x in layouts((3, 4), F32, 0.1, 5):
        case(f"special_bessel_{name}", x)
    case(f"special_bessel_{name}", torch.tensor([0.0, 1e-4, 1.0, 5.0, 100.0]))
    case(f"special_bessel_{name}", values((2, 3), I64, 1, 5))
for dtype in (F32, F64):
    case("special_zeta.other_scalar", values((2, 3), dtype, 1.5, 9), 0.75)
    case("special_zeta.self_scalar", 2.5, values((2, 3), dtype, 0.3, 9))
    case("special_zeta", torch.tensor([2.0, 2.0, 3.0, 1.0, 0.5, 4.0], dtype=dtype),
         torch.tensor([-0.5, -1.0, -2.25, 3.0, 3.0, 1e3], dtype=dtype))
    case("special_ndtri", torch.tensor([0.0, 1.0, 0.5, 1e-20, 1e-5, 0.999, -1.0, 2.0], dtype=dtype))
    case("erfinv", torch.tensor([0.0, 1.0, -1.0, 0.5, 1e-20, 0.9999, 2.0, -0.25], dtype=dtype))
    case("special_log_ndtr", torch.tensor([-9.0, -5.0, -1.0, 0.0, 1.0, 9.0], dtype=dtype))
    case("special_erfcx", torch.tensor([-30.0, -3.0, 0.0, 1.0, 5.9, 6.1, 30.0, 1e8], dtype=dtype))
    for name in ("i0", "special_i0e", "special_i1", "special_i1e", "special_modified_bessel_k0",
                 "special_modified_bessel_k1", "special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1"):
        case(name, torch.tensor([0.0, 0.01, 0.5, 2.0, 7.9, 8.1, 29.0, 31.0, 60.0, 1e4], dtype=dtype))
for name in ("logit", "logit_backward"):
    for eps in (None, 0.1):
        for dtype in (F32, F64, BF16):
            x = values((2, 3), dtype, 0, 1)
            case(name, *([values((2, 3), dtype)] if name != "logit" else []), x, eps)
        case(name, *([torch.ones(6)] if name != "logit" else []), torch.tensor([0.0, 1.0, -0.5, 1.5, 0.05, 0.95]), eps)
for numbers in ((None, None, None), (1.5, 2.0, -2.0)):
    for dtype in (F32, F64, BF16):
        case("nan_to_num", SPECIAL[:12].to(dtype), *numbers)
        for x in layouts((2, 1, 3, 2), dtype):
            case("nan_to_num", x, *numbers)
    case("nan_to_num", values((2, 3), I64), *numbers)
for name in ("gcd", "lcm"):
    for dtype in (I64, I32, I8, U8):
        case(name, values((3, 4), dtype, -30, 30), values((4,), dtype, -12, 12))
for side in ("left", "right"):
    for dtype in (I64, I32, I8, U8):
        x, n = values((2, 4), dtype, -99, 99), torch.tensor([0, 1, 3, 70]).to(dtype)
        case(f"bitwise_{side}_shift.Tensor", x, n)
        case(f"bitwise_{side}_shift.Tensor_Scalar", x, 2)
        case(f"bitwise_{side}_shift.Scalar_Tensor", 9 if dtype == U8 else -9, n)
        case(f"__{side[0]}shift__.Tensor", x, n)
        case(f"__{side[0]}shift__.Scalar", x, 2)
