# SPDX-License-Identifier: MIT
"""Makes the captures that the tests of formats read: make-captures.py, in this folder; needs torch 2.6.

There is a program for each fact that only the capture module writes."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, os.pardir, "data", "bridge"))

import torch  # noqa: E402
from torch.testing._internal.two_tensor import TwoTensor  # noqa: E402
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts  # noqa: E402

import adjoint_capture  # noqa: E402

NAMES = {path: "" for path in (HERE + os.sep, os.path.dirname(torch.__path__[0]) + os.sep)}


def square(z):
    return z * z


def window(x):
    return torch.as_strided(x, (2, 3), (3, 1), 2) * x.sum()


def twice(x):
    return x * 2


def loop(x):
    for _ in range(2):
        torch._dynamo.graph_break()
    return x


def broken(x):
    x = x.sin()
    torch._dynamo.graph_break()
    return x.cos()


class Alternating:
    """Saves every second product: a stateful policy."""

    def __init__(self):
        self.products = 0

    def __call__(self, context, operator, *args, **kwargs):
        if operator is not torch.ops.aten.mm.default:
            return CheckpointPolicy.PREFER_RECOMPUTE
        self.products += 1
        return CheckpointPolicy.MUST_SAVE if self.products % 2 else CheckpointPolicy.PREFER_RECOMPUTE


def contexts():
    return create_selective_checkpoint_contexts(Alternating())


def products(x):
    return torch.sin(torch.sin(x @ x) @ x)


def counting(x):
    return checkpoint(products, x, use_reentrant=False, context_fn=contexts).sum()


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


def clamp(grad):
    return grad.clamp(-1, 1)


def update(parameter):
    with torch.no_grad():
        parameter.sub_(parameter.grad, alpha=0.5)
    parameter.grad = None


class Hooked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 3, bias=False)
        self.second = torch.nn.Linear(3, 2, bias=False)
        self.first.weight.register_post_accumulate_grad_hook(update)

    def forward(self, x):
        h = Cubed.apply(self.first(x))
        h.register_hook(clamp)
        return self.second(h)


def backward(name):
    """Two steps under compiled autograd; the second adds to existing gradients and has a larger batch."""
    torch._dynamo.reset()
    torch.manual_seed(1)
    model = Hooked()
    with adjoint_capture.record(os.path.join(HERE, name + ".adjoint"), rename=NAMES) as session:
        with torch._dynamo.compiled_autograd._enable(lambda graph: graph):
            for batch in (2, 5):
                model(torch.randn(batch, 4)).sum().backward()
    print(name, session.notes)


def capture(name, function, make, budget=1.0):
    torch._dynamo.reset()
    torch.manual_seed(1)
    value = make()
    with torch._functorch.config.patch(activation_memory_budget=budget):
        with adjoint_capture.record(os.path.join(HERE, name + ".adjoint"), rename=NAMES) as session:
            out = torch.compile(function, backend="aot_eager")(value)
            if out.requires_grad and not out.is_complex():
                out.sum().backward()
    print(name, session.notes)


backward("compiled-autograd")
capture("complex-taps", square, lambda: torch.randn(3, dtype=torch.complex64))
capture("strided-input", window, lambda: torch.arange(20.0)[7:9])
capture("unreadable", twice, lambda: TwoTensor(torch.randn(3), torch.randn(3)))
capture("zero-tensor", torch.sgn, lambda: torch.randn(3, requires_grad=True))
capture("nothing-compiled", loop, lambda: torch.randn(3))
capture("graph-break", broken, lambda: torch.randn(3))
capture("counting-policy", counting, lambda: torch.randn(4, 4, requires_grad=True), budget=0.5)
