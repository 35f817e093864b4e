# SPDX-License-Identifier: MIT
from oracle import *

for dtype in (F32, F64, BF16):
    many = [values((2, 3), dtype, 0.2, 2), values((4, 2), dtype, 0.2, 2).t(), values((), dtype, 0.2, 2)]
    more = [values(v.shape, dtype, 0.2, 2) for v in many]
    third = [values(v.shape, dtype, 0.2, 2) for v in many]
    numbers = [2, 0.5, 3.0]
    for target in family("foreach"):
        name, overload = (target.rsplit(".", 1) + [""])[:2]
        if overload == "ScalarAndTensor":
            case(target, 0.9, many)
        elif name in ("_foreach_addcmul", "_foreach_addcdiv"):
            case(target, many, more, third, numbers if overload == "ScalarList" else 0.75)
        elif name == "_foreach_lerp":
            case(target, many, more, third if overload == "List" else 0.3)
        elif name == "_foreach_norm":
            for p in (2, 1, float("inf")):
                case(target, many, p)
            case(target, many, 2, F64)
        elif name == "_foreach_copy":
            case(target, many, [v.to(F64) for v in more])
        elif name == "_foreach_copy_":
            case(target, [v.clone() for v in many], [v.to(F64) for v in more])
        else:
            others = {"List": [more], "Scalar": [1.5], "ScalarList": [numbers], "Tensor": [torch.tensor(0.25)], "": []}
            case(target, many, *others[overload])
            if target not in ("_foreach_pow.ScalarAndTensor", "_foreach_norm.Scalar", "_foreach_copy_"):
                written = [v.clone() for v in many]
                case(f"{name}_.{overload}" if overload else name + "_", written, *others[overload])
    case("_foreach_add.List", many, more, alpha=2)
    case("_foreach_add.Scalar", [torch.tensor([1, 2]), many[0]], 1)

few_digits()

for dtype in (F32, F64, BF16):
    shapes = [(2, 3), (4,), ()]
    for name, overload in (("addcmul", "Scalar"), ("addcmul", "ScalarList"), ("addcdiv", "Scalar"),
                           ("addcdiv", "ScalarList"), ("lerp", "List"), ("lerp", "Scalar")):
        many, more, third = ([values(s, dtype, 0.2, 2) for s in shapes] for _ in range(3))
        last = {"Scalar": 0.75, "ScalarList": [2, 0.5, 3.0], "List": third}[overload]
        case(f"_foreach_{name}_.{overload}", many, more, *([] if name == "lerp" else [third]), last)
