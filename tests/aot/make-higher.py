# SPDX-License-Identifier: MIT
"""Higher-order operators by PyTorch 2.6, for test-higher.c: writes <folder>/<name>.txt.

    python make-higher.py FOLDER [NAME...]

Each file has the inputs, the eager results of the function and the gradients of the sum of its
floating-point results, then the graph that Dynamo captures and, unless 2.6 is wrong about it, the
graph that AOTAutograd makes of that.  Those of NEWER are PyTorch 2.15's and must be named.
"""

import pathlib
import re
import sys

import torch
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch._functorch.partitioners import default_partition
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.invoke_subgraph import mark_compile_region
from torch._higher_order_ops.map import map as map_along
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch._higher_order_ops.wrap import wrap
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

X = [0.5, -1.0, 2.0]
Y = [-0.5, -1.5, 1.0]  # the sum is negative
W = [0.25, 3.0, -2.0]
ROWS = [[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]]


def zero():
    return torch.zeros((), dtype=torch.int64)


def cond(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


def cond_closure(x, w):
    return torch.cond(
        x.sum() > 0, lambda x: (x * w, x.sin()), lambda x: (x + w, x.cos()), (x,)
    )


def cond_temporary(x):
    def write(x):
        y = x.clone()
        y.add_(1)
        return y

    return torch.cond(x.sum() > 0, write, lambda x: x.cos(), (x,))


def cond_nested(x):
    def inner(x):
        return torch.cond(x[0] > 0, lambda x: x * 2, lambda x: x * 3, (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x.cos(), (x,))


def cond_uneven(x, w):
    return torch.cond(
        x.sum() > 0, lambda x, w: x.sin() * w, lambda x, w: x.cos(), (x, w)
    )


def cond_index(x, i):
    return torch.cond(
        x.sum() > 0, lambda x, i: x.sin() * i, lambda x, i: x.cos() * 2, (x, i)
    )


def cond_between(x):
    y = x * 2
    return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,)) + y


def loop(x):
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (zero(), x))


def loop_closure(x, w):
    return while_loop(
        lambda i, x: (i < 5) & (x.sum() < 100),
        lambda i, x: (i + 1, x * w),
        (zero(), x),
    )


def loop_nested(x):
    def body(i, x):
        inner = while_loop(lambda j, x: j < 2, lambda j, x: (j + 1, x.sin()), (zero(), x))
        return i + 1, inner[1]

    return while_loop(lambda i, x: i < 3, body, (zero(), x))


def loop_never(x):
    return while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), (zero(), x))


@mark_compile_region
def region(x, y):
    return x.sin() * y


@mark_compile_region
def region_sum(x):
    return x.sum()


@mark_compile_region
def region_several(x, y):
    return x.sin() * y, x.cos(), y > 0


def subgraph(x, w):
    return region(x, w) + region(x * 2, w)


def subgraph_sum(x):
    return region_sum(x * 2) + 1


def subgraph_several(x, w):
    a, b, c = region_several(x, w)
    return a + b, c


def mapped(rows, w):
    return map_along(lambda x, w: x.sin() * w, rows, w)


def scanned(start, rows):
    return scan(lambda c, x: (c + x, c * x), start, rows, dim=0)


def scanned_back(start, rows):
    return scan(lambda c, x: (c + x, c * x), start, rows, dim=0, reverse=True)


def recurrence(rows, values):
    """a[i] · before + b[i], for pairs (a, b)."""
    return associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (rows, values), 0)


def wrapped(x, w):
    return wrap(lambda x: x.sin() * w, x) + 1


def checkpointed(x, w):
    return checkpoint(lambda x: (x.sin() * w).cos(), x, use_reentrant=False) + 1


class Twice(torch.autograd.Function):
    """Its backward returns a gradient that is not the true one: twice that."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.sin() * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * x.cos() * w * 2, g * x.sin() * 2


class Exponential(torch.autograd.Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Rounded(torch.autograd.Function):
    """Several outputs, one of them without a gradient, and an argument that is not a tensor."""

    @staticmethod
    def forward(ctx, x, scale):
        y = torch.round(x * scale)
        fraction = x * scale - y
        ctx.mark_non_differentiable(fraction)
        return y / scale, fraction

    @staticmethod
    def backward(ctx, g, of_fraction):
        return g, None


def function(x, w):
    return Twice.apply(x * 2, w) + x


def function_result(x):
    return Exponential.apply(x / 2) * 3


def function_several(x):
    y, fraction = Rounded.apply(x * 3, 4.0)
    return y * x, fraction


def narrow_product(a, b):
    return out_dtype(torch.ops.aten.mm.default, torch.int32, a, b)


def narrow_eager(a, b):
    return torch.mm(a.int(), b.int())


def flex(query, key, value):
    def score(s, b, h, i, j):
        return torch.where(i >= j, s * (h + 1), -float("inf"))

    return flex_attention(query, key, value, score_mod=score)


def flex_grouped(query, key, value, slopes):
    def score(s, b, h, i, j):
        return s + slopes[h] * (j - i)

    def seen(b, h, i, j):
        return (i > 0) & (i >= j)  # excludes the first row

    mask = create_block_mask(seen, None, None, 3, 3, device="cpu")
    return flex_attention(query, key, value, score, mask, scale=0.5, enable_gqa=True)


def heads(n, first):
    """[1, n, 3, 2], of numbers exact in 24 bits."""
    return [[[[((first + 5 * (6 * h + 2 * i + j)) % 23 - 11) / 8 for j in range(2)]
              for i in range(3)] for h in range(n)]]


# function, inputs, indices that require a gradient, whether the graph counts, eager stand-in
CASES = [
    ("cond", cond, [X], [], True),
    ("cond_false", cond, [Y], [], True),
    ("cond_grad", cond, [X], [0], True),
    ("cond_grad_false", cond, [Y], [0], True),
    ("cond_closure", cond_closure, [X, W], [0, 1], True),
    ("cond_closure_false", cond_closure, [Y, W], [0, 1], True),
    ("cond_temporary", cond_temporary, [X], [], True),
    ("cond_nested", cond_nested, [X], [0], False),  # here PyTorch turns the list into a tuple
    ("cond_uneven", cond_uneven, [X, W], [0, 1], False),  # PyTorch loses a gradient
    ("cond_uneven_false", cond_uneven, [Y, W], [0, 1], False),
    ("cond_index", cond_index, [X, [1, 2, 3]], [0], True),
    ("cond_between", cond_between, [X], [0], True),
    ("while_loop", loop, [X], [], True),
    ("while_loop_closure", loop_closure, [X, W], [], True),
    ("while_loop_nested", loop_nested, [X], [], True),
    ("while_loop_never", loop_never, [X], [], True),
    ("invoke_subgraph", subgraph, [X, W], [], True),
    ("invoke_subgraph_grad", subgraph, [X, W], [0, 1], True),
    ("invoke_subgraph_sum", subgraph_sum, [ROWS], [0], True),
    ("invoke_subgraph_several", subgraph_several, [X, W], [0, 1], False),  # PyTorch fails an assertion
    ("map", mapped, [ROWS, [3.0, -0.5]], [], False),  # PyTorch gives strides of 0
    ("map_grad", mapped, [ROWS, [3.0, -0.5]], [0, 1], False),
    ("scan", scanned, [[0.0, 1.0], ROWS], [], True),
    ("scan_reverse", scanned_back, [[0.0, 1.0], ROWS], [], True),
    ("wrap", wrapped, [X, W], [0, 1], True),
    ("checkpoint", checkpointed, [X, W], [0, 1], True),
    ("function", function, [X, W], [0, 1], True),
    ("function_inference", function, [X, W], [], True),
    ("function_result", function_result, [X], [0], False),  # Adjoint saves it detached
    ("function_several", function_several, [X], [0], True),
    ("flex", flex, [heads(2, 0), heads(2, 3), heads(2, 8)], [0, 1, 2], True),
    ("flex_grouped", flex_grouped, [heads(2, 1), heads(1, 4), heads(1, 9), [0.5, -0.25]],
     [0, 1, 2, 3], True),
    ("out_dtype", narrow_product, ["narrow"], [], True),
]
NEWER = [
    ("scan_newest", scanned, [[0.0, 1.0], ROWS], [], True),
    ("scan_reverse_newest", scanned_back, [[0.0, 1.0], ROWS], [], True),
    ("associative_scan", recurrence, [ROWS, [[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]]], [], True),
]


def make_inputs(values, wanted):
    if values == ["narrow"]:
        a = torch.tensor([[100, -100], [3, 4]], dtype=torch.int8)
        return [a, a.clone()]
    return [
        torch.tensor(value, requires_grad=index in wanted) for index, value in enumerate(values)
    ]


def text_of(graph):
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    lines = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("#")]
    return "\n".join(lines) + "\n"


def without_blocks(graph):
    """Keeps only the graph of flex_attention's block masks, which determines them."""
    if not any("flex_attention" in node.name for node in graph.graph.nodes):
        return graph
    nodes = torch.fx.Graph()
    nodes.output(nodes.graph_copy(graph.graph, {}))
    graph = torch.fx.GraphModule(graph, nodes)
    for node in graph.graph.nodes:
        if node.op == "call_function" and "flex_attention" in node.name:
            node.args = tuple(
                (None, a[-1]) if isinstance(a, (tuple, list)) and len(a) > 9 else a
                for a in node.args
            )
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def capture(function, inputs):
    """Returns Dynamo's graph, and AOTAutograd's graph of it as far as that succeeds."""
    seen = {}

    def backend(graph, examples):
        seen["dynamo"] = text_of(graph)
        seen["names"] = [n.name for n in graph.graph.nodes if n.op == "placeholder"]
        def partition(joint, *args, **kwargs):
            seen["aot"] = text_of(without_blocks(joint))
            return default_partition(joint, *args, **kwargs)

        def inference(graph, examples):
            seen["aot"] = text_of(graph)
            return make_boxed_func(graph.forward)

        def nothing(graph, examples):
            return make_boxed_func(graph.forward)

        return aot_module_simplified(
            graph,
            examples,
            fw_compiler=nothing,
            bw_compiler=nothing,
            inference_compiler=inference,
            partition_fn=partition,
        )

    torch._dynamo.reset()
    try:
        torch.compile(function, backend=backend, fullgraph=True)(*inputs)
    except torch._dynamo.exc.BackendCompilerFailed:  # not supported by 2.6: see CASES
        pass
    return seen


def line_of(name, tensor):
    values = " ".join(repr(v) for v in tensor.detach().reshape(-1).tolist())
    return f"{name}: {values}"


def main():
    folder = pathlib.Path(sys.argv[1])
    named = [case for case in CASES + NEWER if case[0] in sys.argv[2:]]
    for name, function, values, wanted, counts in named or CASES:
        inputs = make_inputs(values, wanted)
        seen = capture(function, inputs)
        eager = make_inputs(values, wanted)
        results = tree_leaves((narrow_eager if function is narrow_product else function)(*eager))
        floating = [r for r in results if r.requires_grad]
        if floating:
            sum(r.sum() for r in floating).backward()
        names = seen["names"]
        order = [
            next(i for i, p in enumerate(function.__code__.co_varnames) if n == f"l_{p}_")
            for n in names
        ]
        lines = [line_of("input", eager[i]) for i in order]
        lines += [line_of("output", r) for r in results]
        for i in order:
            if i in wanted:  # a branch that is not taken gives None, a joint graph gives zeros
                grad = eager[i].grad
                lines.append(line_of("gradient", torch.zeros_like(eager[i]) if grad is None else grad))
        facts = "".join(
            f"        # adj: {n} {{requires_grad: True}}\n"
            for n, i in zip(names, order)
            if i in wanted
        )
        dynamo = re.sub(r"(    def forward\(.*\n)", lambda m: m.group(1) + facts, seen["dynamo"], count=1)
        text = "\n".join(lines) + "\n=== dynamo\n" + dynamo
        if counts:
            text += "=== aot\n" + seen["aot"]
        (folder / f"{name}.txt").write_text(text)


main()
