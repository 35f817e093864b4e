# SPDX-License-Identifier: MIT
"""How often programs of several backward calls are captured by compiled autograd.

A program is a generator that yields after each call of backward."""

import itertools

import torch
import torch._dynamo.compiled_autograd as compiled_autograd
from torch._dynamo.utils import counters

ALL = []


def program(function):
    ALL.append(function)
    return function


def linear(n_in=4, n_out=4):
    return torch.nn.Linear(n_in, n_out)


def leaf(*size):
    return torch.ones(*size, requires_grad=True)


@program
def fresh_models():
    """three models of the same shape, one call each"""
    for _ in range(3):
        model = torch.nn.Sequential(linear(), torch.nn.ReLU(), linear())
        model(torch.ones(2, 4)).sum().backward()
        yield


@program
def one_size():
    """sin(x[n]).sum() at n = 10, 100, 10, 15, 20, 25"""
    for n in (10, 100, 10, 15, 20, 25):
        leaf(n).sin().sum().backward()
        yield


@program
def sizes_zero_and_one():
    """sin(x[n]).sum() at n = 0, 1, 2, 3"""
    for n in (0, 1, 2, 3):
        leaf(n).sin().sum().backward()
        yield


@program
def batches():
    """Linear, ReLU, Linear, ReLU at batches of 10, 20, ... 90"""
    model = torch.nn.Sequential(linear(), torch.nn.ReLU(), linear(), torch.nn.ReLU())
    for batch in range(10, 100, 10):
        model.zero_grad()
        model(torch.ones(batch, 4)).sum().backward()
        yield


@program
def batches_with_view():
    """Linear, then view(2*batch, 2), at batches of 10, 20, ... 90"""
    model = linear()
    for batch in range(10, 100, 10):
        model.zero_grad()
        model(torch.ones(batch, 4)).view(2 * batch, 2).sum().backward()
        yield


@program
def accumulating():
    """ten steps without zeroing gradients"""
    model = linear()
    for _ in range(10):
        model(torch.ones(2, 4)).sum().backward()
        yield


@program
def preset_gradients():
    """ten steps, gradients are set to fresh tensors before each"""
    model = linear()
    for _ in range(10):
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        model(torch.ones(2, 4)).sum().backward()
        yield


@program
def zeroed_gradients():
    """ten steps, gradients are set to None before each"""
    model = linear()
    for _ in range(10):
        model.zero_grad(set_to_none=True)
        model(torch.ones(2, 4)).sum().backward()
        yield


@program
def shared_layer():
    """one of two layers is trained, then both: ABAB, gradients are set to None before each"""
    first, second = linear(), linear()
    for both in (False, True, False, True):
        for layer in (first, second):
            layer.zero_grad()
            layer.requires_grad_(both or layer is first)
        second(first(torch.ones(2, 4))).sum().backward()
        yield


def function_class():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Double


@program
def alternating_classes():
    """two Function classes of the same code, ABAB"""
    for function in (function_class(), function_class()) * 2:
        function.apply(leaf(3)).sum().backward()
        yield


@program
def class_per_step():
    """a Function class made anew in each of three steps"""
    for _ in range(3):
        function_class().apply(leaf(3)).sum().backward()
        yield


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        torch._dynamo.graph_break()
        return grad * x.cos()


@program
def graph_break():
    """a Function whose backward breaks graphs, at n = 10, 100, 10, 15, 20, 25"""
    for n in (10, 100, 10, 15, 20, 25):
        Broken.apply(leaf(n)).sum().backward()
        yield


@program
def inputs_x_then_y():
    """(x*y).sum().backward(inputs=[x]), then inputs=[y]"""
    for which in (0, 1):
        leaves = leaf(3), leaf(3)
        (leaves[0] * leaves[1]).sum().backward(inputs=[leaves[which]])
        yield


@program
def retained():
    """one graph, three backwards with retain_graph, the gradient is set to a fresh tensor before each"""
    x = leaf(3)
    loss = x.sin().sum()
    for _ in range(3):
        x.grad = torch.zeros(3)
        loss.backward(retain_graph=True)
        yield


@program
def hooks_on_leaf():
    """no hook, one, two on the leaf"""
    for count in range(3):
        x = leaf(3)
        for _ in range(count):
            x.register_hook(lambda grad: grad)
        x.sin().sum().backward()
        yield


@program
def other_hook():
    """another hook function in each of three steps"""
    for factor in (1, 2, 3):
        x = leaf(3)
        x.register_hook(lambda grad, factor=factor: grad * factor)
        x.sin().sum().backward()
        yield


@program
def other_kind_of_hook():
    """tensor hook, prehook of the accumulator, post-accumulate hook"""
    for kind in range(3):
        x = leaf(3)
        node = torch.autograd.graph.get_gradient_edge(x).node
        if kind == 0:
            x.register_hook(lambda grad: grad)
        elif kind == 1:
            node.register_prehook(lambda grads: grads)
        else:
            x.register_post_accumulate_grad_hook(lambda parameter: None)
        x.sin().sum().backward()
        yield


@program
def other_strides():
    """a leaf of strides (3, 1), then one of (1, 2)"""
    for x in (torch.ones(2, 3), torch.ones(3, 2).t()):
        x.requires_grad_().sin().sum().backward()
        yield


@program
def other_dtype():
    """float32, then float64"""
    for dtype in (torch.float32, torch.float64):
        torch.ones(3, dtype=dtype, requires_grad=True).sin().sum().backward()
        yield


@program
def scalar_factor():
    """(x*k).sum() at k = 2, 3"""
    for k in (2, 3):
        (leaf(3) * k).sum().backward()
        yield


@program
def scalar_exponent():
    """(x**k).sum() at k = 2, 3"""
    for k in (2, 3):
        (leaf(3) ** k).sum().backward()
        yield


@program
def another_rank():
    """sin(x).sum() of x[3], x[3,3], x[3]"""
    for size in ((3,), (3, 3), (3,)):
        leaf(*size).sin().sum().backward()
        yield


@program
def squared_or_product():
    """(x*x).sum(), then (x*y).sum(): which tensors are the same"""
    x = leaf(3)
    (x * x).sum().backward()
    yield
    x.grad = None
    (x * leaf(3)).sum().backward()
    yield


@program
def with_prefix():
    """x.sin().sum(), x.sin().exp().sum(), x.exp().sum(), all again: what begins alike shares a path"""
    for _ in range(2):
        for function in (lambda x: x.sin(), lambda x: x.sin().exp(), lambda x: x.exp()):
            function(leaf(3)).sum().backward()
            yield


def measure(function):
    """Returns the number of captures after each call of backward."""
    counters.clear()
    after = []
    with compiled_autograd._enable(lambda module: module):
        for _ in function():
            after.append(counters["compiled_autograd"]["captures"])
    return after


def table(start_anew):
    rows = []
    for function in ALL:
        start_anew()
        after = measure(function)
        which = [str(i) for i, (old, new) in enumerate(itertools.pairwise([0, *after]), 1) if new > old]
        name = function.__name__.replace("_", "-")
        rows.append(f"{name} | {function.__doc__} | {len(after)} | {after[-1]} | {' '.join(which)}\n")
    return "".join(rows)
