# SPDX-License-Identifier: MIT
from oracle import *

few_digits()

INTEGER = ("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "gcd", "shift_left", "shift_right_arithmetic")
WITHIN = {**{name: (0.1, 5) for name in ("log", "log2", "log10", "rsqrt", "sqrt", "pow", "igamma", "igammac", "lgamma",
                                         "digamma", "acosh", "bessel_j0", "bessel_j1", "spherical_bessel_j0")},
          **{name: (-0.9, 0.9) for name in ("asin", "acos", "atanh", "erf_inv", "log1p", "tan")},
          "ndtri": (0.1, 0.9), "zeta": (1.5, 6)}
for name in prims():
    low, high = WITHIN.get(name, (-3, 3))
    n = len(find(f"prims::{name}")._schema.arguments)
    for dtype in (I64, I32, U8) if name in INTEGER else (F32, F64, BF16):
        if dtype == F64 and name in ("bessel_j0", "bessel_j1"):
            continue  # PyTorch has seven correct digits of these
        shift = (0, 5) if name.startswith("shift") else (low, high)
        case(f"prims::{name}", *[values((2, 3), dtype, *(shift if i else (low, high))) for i in range(n)])
        case(f"prims::{name}", *[values((3, 2), dtype, *(shift if i else (low, high))).t() for i in range(n)])
    if n == 2 and name not in INTEGER:
        case(f"prims::{name}", values((2, 3), F32, low, high), values((), F32, low, high))
for dtype in (I64, I32):
    case("prims::div", values((2, 3), dtype, -9, 9), torch.tensor([2, -2, 5], dtype=dtype))
for name in ("abs", "neg", "sign", "add", "sub", "mul", "maximum", "eq", "lt"):
    n = len(find(f"prims::{name}")._schema.arguments)
    case(f"prims::{name}", *[values((2, 3), I64, -9, 9) for _ in range(n)])
for name in ("abs", "exp", "mul", "conj_physical", "conj", "real", "imag"):
    n = len(find(f"prims::{name}")._schema.arguments)
    case(f"prims::{name}", *[values((2, 3), C64) for _ in range(n)])
    case(f"prims::{name}", *[values((3, 2), C64).t() for _ in range(n)])

cpu = torch.device("cpu")
x, y, z = values((2, 3, 4), F32), values((4, 3, 2), F32).permute(2, 1, 0), values((2, 1, 4, 1), F32)
for v in (x, y, x.double(), x.bfloat16()):
    for dims in ([0], [0, 2], [0, 1, 2]):
        for name in ("sum", "amax", "amin", "prod"):
            case(f"prims::{name}", v, dims)
        case("prims::var", v, dims, 0.0)
        case("prims::var", v, dims, 1.0)
    case("prims::clone", v)
    case("prims::clone", v, memory_format=torch.contiguous_format)
    case("prims::rev", v, [0, 2])
    case("prims::transpose", v, [1, 2, 0])
    case("prims::cat", [v, v[:, :1]], 1)
    case("prims::fill", v, 1.5)
    case("prims::full_like", v, 2.5, dtype=v.dtype, device=cpu, requires_grad=False)
    case("prims::where", v > 0, v, v.flip(0))
    case("prims::device_put", v, cpu)
    case("prims::view_of", v)
    case("prims::reshape", v, [6, 4])
    case("prims::copy_strided", v, [1, 2, 6])
    case("prims::collapse", v, 1, 2)
    case("prims::broadcast_in_dim", v, [2, 5, 3, 4], [0, 2, 3])
    case("prims::as_strided_scatter", v, values((2, 2), v.dtype), [2, 2], [5, 2], 1)
case("prims::collapse_view", x, 0, 1)
case("prims::split_dim", x, 2, 2)
case("prims::squeeze", z, [1, 3])
case("prims::broadcast_in_dim", z, [2, 5, 4, 3], [0, 1, 2, 3])
case("prims::view_of_dtype", x, I32)
for dtype in (F32, I64):
    case("prims::full", [2, 3], 3, dtype=dtype, device=cpu, requires_grad=False)
    case("prims::scalar_tensor", 2, dtype=dtype, device=cpu)
for dim in ([0], [0, 2]):
    case("prims::fft_r2c", x, dim=dim, onesided=True)
    case("prims::fft_r2c", x, dim=dim, onesided=False)
    case("prims::fft_c2c", values((2, 3, 4), C64), dim=dim, forward=True)
    case("prims::fft_c2c", values((2, 3, 4), C64), dim=dim, forward=False)
    case("prims::fft_c2r", values((2, 3, 4), C64), dim=dim, last_dim_size=4)
for full in (True, False):
    case("prims::svd", values((3, 3), F64), full_matrices=full)
case("prims::svd", values((4, 3), F64), full_matrices=False)
for name, numbers in (("normal", {"mean": 1.0, "std": 2.0}), ("uniform", {"low": -1.0, "high": 2.0})):
    more = {"requires_grad": False} if name == "normal" else {}
    for shape in ([3], [4, 8]):
        drawn(3, f"prims::{name}", shape, **numbers, dtype=F32, device=cpu, **more)
