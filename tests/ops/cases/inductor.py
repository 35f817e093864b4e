# SPDX-License-Identifier: MIT
from oracle import *

x = values((2, 3, 4), F32)
y = values((4, 3, 2), F32).permute(2, 1, 0)
for dtype in (I64, I32, F32):
    case("prims::iota", 5, start=2, step=3, dtype=dtype, device=torch.device("cpu"), requires_grad=False)
    case("prims::iota", 0, start=-2, step=-1, dtype=dtype, device=torch.device("cpu"), requires_grad=False)
for v in (x, y, x[:, :, ::2], values((2, 3), I64), values((3,), B8), SPECIAL[:8]):
    for dtype in (F32, F64, F16, BF16, I64, I32, U8, B8):
        case("prims::convert_element_type", v, dtype)
# PyTorch's own prims.fma rounds twice; with fractions a single rounding gives the same
for n in (1, 40):
    a, b, c = (values((n,), F64) for _ in range(3))
    c[: n // 2] = -(a * b)[: n // 2]
    exact = [Fraction(p) * Fraction(q) + Fraction(r) for p, q, r in zip(a.tolist(), b.tolist(), c.tolist())]
    result = torch.tensor([float(e) for e in exact], dtype=F64)
    fma = find("prims::fma")
    record(fma, [*call_lines(fma, (a, b, c), {}), value_line("r", result)])

few_digits()

for dtype in (F32, BF16, F64):
    for x in [*formats((2, 3, 7, 6), dtype), values((3, 6, 5), dtype)]:
        for o in (([2, 2], [2, 2], [0, 0], [1, 1], False), ([3, 2], [2, 1], [1, 1], [1, 1], False),
                  ([3, 3], [2, 2], [1, 0], [1, 1], True)):
            name = "prims::_low_memory_max_pool2d_"
            case(name + "with_offsets", x, *o)
            y, offsets = torch.ops.prims._low_memory_max_pool2d_with_offsets(x, *o)
            case(name + "offsets_to_indices", offsets, o[0][1], x.shape[-1], o[1], o[2])
cpu = torch.device("cpu")
# PyTorch's wrapper draws twice, once for the shape; seeds are those of Inductor's code
for target, args, sizes in (("inductor_seed", (cpu,), []), ("inductor_seeds", (5, cpu), [5]),
                            ("inductor_seeds", (0, cpu), [0])):
    torch.manual_seed(21)
    result = torch.ops.aten.randint.low(-(2 ** 63) if sizes else 0, 2 ** 63 - 1, sizes)
    op = find("prims::" + target)
    lines = call_lines(op, args, {})
    record(op, [lines[0], "g 21", *lines[1:], value_line("r", result), f"e {torch.randint(0, 2 ** 31, (1,)).item()}"])
for i in (0, 2, -1):
    seeds = torch.tensor([5, -7, 1 << 60])  # PyTorch refuses its own result, a view
    op = find("prims::inductor_lookup_seed")
    record(op, [*call_lines(op, (seeds, i), {}), value_line("r", seeds[i].clone())])
zero = torch.zeros((), dtype=I64)
op = find("rngprims::philox_rand")
record(op, [*call_lines(op, ([2, 3], zero, zero, None, cpu, F32), {}), "x",
            value_line("r", torch.empty(2, 3, device="meta")), value_line("r", zero.to("meta"))])
# PyTorch's own kernels ignore the seed: these values are those of Inductor's code
torch.compiler.reset()  # each run of this file has its own globals
compiled = torch.compile(lambda: (torch.rand(33, 40), torch.randn(5, 7, 9), torch.randint(-5, 100, (40,)),
                                  torch.rand(()), torch.randint(1 << 40, (3, 3))))
drawing = [find("prims::inductor_random"), find("prims::inductor_randint")]
for seed in (5, 6) if any([is_recorded(op) for op in drawing]) else ():
    torch.manual_seed(seed)
    got = compiled()
    torch.manual_seed(seed)
    seeds = torch.ops.aten.randint.low(-(2 ** 63), 2 ** 63 - 1, [5])
    for i, args in enumerate((([33, 40], seeds[0].clone(), "rand"), ([5, 7, 9], seeds[1].clone(), "randn"),
                              (-5, 100, [40], seeds[2].clone()), ([], seeds[3].clone(), "rand"),
                              (0, 1 << 40, [3, 3], seeds[4].clone()))):
        op = drawing[len(args) == 4]
        record(op, [*call_lines(op, args, {}), value_line("r", got[i])])
