# SPDX-License-Identifier: MIT
"""More programs whose logs bench-logs.py reads, of training: logs_training.py NAME [BACKEND].

Features that a release of PyTorch lacks are left out of its program."""
import contextlib
import sys
from typing import List

import torch
import torch._functorch.config
from torch import nn

from logs_programs import Conv, Net, compiled, step


@contextlib.contextmanager
def newer(*kinds):
    """Ignores errors of features that older releases lack or refuse."""
    try:
        yield
    except (ImportError, AttributeError, TypeError, NotImplementedError, *kinds) as error:
        print("left out:", type(error).__name__, str(error).splitlines()[:1])


def optimizer():
    for make in (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
                 lambda p: torch.optim.Adam(p, torch.tensor(1e-3)),
                 lambda p: torch.optim.AdamW(p, 1e-3, amsgrad=True, foreach=True),
                 lambda p: torch.optim.Adagrad(p, 0.1),
                 lambda p: torch.optim.RMSprop(p, 0.1, centered=True)):
        model = Net()
        chosen = make(model.parameters())
        update = compiled(chosen.step)
        for _ in range(2):
            step(model, torch.randn(4, 16))
            update()
            chosen.zero_grad()


def flex():
    with newer():
        flex_attend()


def flex_attend():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    fast = torch.compile(flex_attention, backend="aot_eager")
    q, k, v = (torch.randn(1, 2, 128, 16) for _ in range(3))
    mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 128, 128, device="cpu")
    fast(q, k, v, block_mask=mask)
    fast(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1)
    bias = torch.randn(2, requires_grad=True)
    with newer(Exception):
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        fast(*leaves, score_mod=lambda score, b, h, i, j: score * bias[h], block_mask=mask).sum().backward()


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x, by)
        return x * by, x + by

    @staticmethod
    def backward(ctx, g, h):
        x, by = ctx.saved_tensors
        return g * by + h, (g * x + h).sum(0)


def halve(p):
    p.grad.mul_(0.5)


def hooks():
    @compiled
    def inside(x, w):
        y = (x @ w).sin()
        y.register_hook(lambda g: g.clamp(-1, 1))
        return (y * 2).sum()

    w = torch.randn(16, 16, requires_grad=True)
    w.register_post_accumulate_grad_hook(halve)
    inside(torch.randn(4, 16), w).backward()
    model = Net()
    model.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    model.up.register_full_backward_hook(lambda module, into, out: None)
    model.register_forward_hook(lambda module, args, out: out + 1)
    enable = getattr(torch._dynamo.compiled_autograd, "_enable", None) or torch._dynamo.compiled_autograd.enable
    for again in range(2):
        with enable(torch.compile(backend="aot_eager", dynamic=bool(again))):
            x = torch.randn(4 + again, 16, requires_grad=True)
            y = model(x)
            a, b = Scaled.apply(y, w[0])
            a.grad_fn.register_prehook(lambda grads: grads)
            a.grad_fn.register_hook(lambda into, out: None)
            (a * b).sum().backward()
    with enable(torch.compile(backend="aot_eager")):
        step(compiled(Net()), torch.randn(4, 16))


def saved_hooks():
    pack = torch.fx.symbolic_trace(lambda x: x.to(torch.bfloat16))
    unpack = torch.fx.symbolic_trace(lambda x: x.to(torch.float32))
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.half(), lambda x: x.float()):
        step(compiled(Net()), torch.randn(4, 16))
    with newer(Exception), torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        step(compiled(Net()), torch.randn(4, 16))
    with torch.autograd.graph.save_on_cpu():
        step(compiled(Conv()), torch.randn(2, 3, 8, 8))


def offload():
    torch._functorch.config.activation_memory_budget = 0.3
    step(compiled(nn.Sequential(Net(), Net(), Net())), torch.randn(4, 16))
    torch._functorch.config.activation_memory_budget = 1.0
    with newer(Exception):
        torch._functorch.config.enable_activation_offloading = True
        step(compiled(nn.Sequential(Net(512), Net(512))), torch.randn(64, 512))


def regions():
    with newer(Exception):
        mark = getattr(torch.compiler, "nested_compile_region", None) or \
            torch._higher_order_ops.invoke_subgraph.mark_compile_region
        block, w = mark(lambda x, w: (x @ w).relu()), torch.randn(16, 16, requires_grad=True)
        compiled(lambda x: block(block(x, w), w).sum())(torch.randn(4, 16)).backward()
    with newer(Exception):
        from torch._higher_order_ops.map import map as map_each
        compiled(lambda x, y: map_each(lambda a, b: a.sin() + b, x, y))(torch.randn(3, 4), torch.randn(4))
    with newer(Exception):
        from torch._higher_order_ops.scan import scan
        compiled(lambda x: scan(lambda c, a: (c + a, c * a), torch.zeros(4), x))(torch.randn(3, 4))
    with newer(Exception):
        from torch._higher_order_ops.associative_scan import associative_scan
        compiled(lambda x: associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic"))(torch.randn(8, 4))
    with newer(Exception):
        from torch._higher_order_ops.hints_wrap import hints_wrapper
        compiled(lambda x: hints_wrapper(lambda a: a.sin(), (x,), {}, hints={"quiet": True}))(torch.randn(4))


def functions():
    @torch.library.custom_op("logs::scale", mutates_args=())
    def scale(x: torch.Tensor, by: float, flags: List[int], name: str) -> torch.Tensor:
        return x * by

    @torch.library.custom_op("logs::fill", mutates_args={"out"})
    def fill(out: torch.Tensor, x: torch.Tensor) -> None:
        out.copy_(x)

    scale.register_fake(lambda x, by, flags, name: torch.empty_like(x))
    scale.register_autograd(lambda ctx, g: (g * 2, None, None, None))

    def use(x, out):
        y = scale(x, 2.0, [1, 2], "it's # one: ");
        fill(out, y.detach())
        return y.sum()

    compiled(use)(torch.randn(4, requires_grad=True), torch.empty(4)).backward()
    compiled(lambda x, w: sum(t.sum() for t in Scaled.apply(x, w)))(
        torch.randn(4, 3, requires_grad=True), torch.randn(3, requires_grad=True)).backward()


def writes():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(2))
            self.rnn, self.table = nn.GRU(8, 8, batch_first=True), nn.Embedding(10, 8)

        def forward(self, index, y):
            self.seen += 1
            y[:, 1:].mul_(self.seen[0])
            return self.rnn(self.table(index))[0].sum() + y.t_().sum()

    compiled(Counts())(torch.randint(10, (2, 5)), torch.ones(4, 3)).backward()
    compiled(lambda x: torch.view_as_complex(x).abs().sum())(torch.randn(4, 2, requires_grad=True)).backward()
    compiled(lambda x: (x + torch.rand_like(x), nn.functional.dropout(x, 0.5), torch.randperm(4)))(torch.randn(4))
    compiled(lambda x: x.to(torch.float8_e4m3fn).to(torch.float32) * float("inf"))(torch.randn(4))
    compiled(lambda x: torch.ops.aten.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize())(torch.randn(4))


def subclasses():
    from torch.testing._internal.two_tensor import TwoTensor

    x = TwoTensor(torch.randn(4, 4), torch.randn(4, 4)).requires_grad_()
    compiled(lambda x: (x @ x).sin().sum())(x).backward()
    rows = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged, requires_grad=True)
    with newer(Exception):
        compiled(lambda x: (x * 2).sin().values().sum())(rows).backward()


def failing():
    @torch.library.custom_op("logs::unknown", mutates_args=())
    def unknown(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    for bad in (lambda x: unknown(x.sin()), lambda x: torch.ones(3) @ x.sin()[:2].repeat(2)):
        with contextlib.suppress(Exception):
            compiled(bad, fullgraph=True)(torch.randn(4, requires_grad=True))
    with contextlib.suppress(Exception):
        torch.fx.experimental.proxy_tensor.make_fx(lambda x: int(x.sin().sum()) + x, tracing_mode="symbolic")(torch.randn(4))
    with contextlib.suppress(Exception):
        compiled(lambda x: x.data_ptr() + x.sum(), fullgraph=True)(torch.randn(4))
    for n in range(10):
        compiled_once(torch.randn(2, 2 + n), n)


def _by_number(x, n):
    return (x * n).sin()


def compiled_once(x, n):
    return torch.compile(_by_number, backend="eager", dynamic=False)(x, n)


def traced():
    """Whole steps, and functions traced without Dynamo."""
    from torch.fx.experimental.proxy_tensor import make_fx

    model = Net()
    parameters = dict(model.named_parameters())

    def whole(parameters, x):
        loss = torch.func.functional_call(model, parameters, (x,)).square().mean()
        return [p - 0.1 * g for p, g in zip(parameters.values(), torch.autograd.grad(loss, list(parameters.values())))]

    make_fx(whole, tracing_mode="fake")(parameters, torch.randn(4, 16)).print_readable()
    with newer(Exception):
        from functorch.compile import aot_module
        from torch._dynamo.backends.common import aot_autograd
        aot_module(Net(), lambda graph, inputs: graph)(torch.randn(4, 16)).sum().backward()
    with newer(Exception):
        from torch._functorch.aot_autograd import aot_export_joint_simple, aot_export_module
        aot_export_module(Net(), (torch.randn(4, 16),), trace_joint=False)
        aot_export_joint_simple(lambda x: (x.sin() * 2,), (torch.randn(4, requires_grad=True),), trace_joint=True)
    with newer(Exception):
        from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
        with contextlib.ExitStack() as stack:
            aot_export_joint_with_descriptors(stack, Net(), (torch.randn(4, 16),))


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
