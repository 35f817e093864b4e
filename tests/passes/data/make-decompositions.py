#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes decompositions.txt: graphs of single operators, and PyTorch 2.6's decompositions of them with its
two tables.  Run with PyTorch 2.6: make-decompositions.py > decompositions.txt"""
import sys

import torch
from torch._decomp import core_aten_decompositions
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx

a = torch.ops.aten
torch.manual_seed(0)


def f(*size):
    return torch.rand(*size) + 0.5


def i(high, *size):
    return torch.randint(0, high, size)


x, y = f(2, 3), f(2, 3)
norm = (f(2, 4, 3), [3], f(3), f(3))
ln = a.native_layer_norm(*norm, 1e-5)
image = f(2, 4, 5, 5)
bn = a.native_batch_norm(image, f(4), f(4), f(4), f(4), True, 0.1, 1e-5)
gn = a.native_group_norm(image, f(4), f(4), 2, 4, 25, 2, 1e-5)
target = i(3, 2)
nll = a.nll_loss_forward(x, target, None, 1, -100)

CASES = [
    (a._softmax.default, (x, -1, False)),
    (a._softmax.default, (f(2, 3, 4), 1, False)),
    (a._softmax_backward_data.default, (x, y, -1, torch.float32)),
    (a._log_softmax.default, (x, 1, False)),
    (a._log_softmax_backward_data.default, (x, y, 1, torch.float32)),
    (a._safe_softmax.default, (x, -1)),
    (a.gelu.default, (x,)),
    (a.gelu.default, (x,), dict(approximate="tanh")),
    (a.gelu_backward.default, (x, y)),
    (a.gelu_backward.default, (x, y), dict(approximate="tanh")),
    (a.silu.default, (x,)),
    (a.sigmoid_backward.default, (x, y)),
    (a.tanh_backward.default, (x, y)),
    (a.threshold_backward.default, (x, y, 0)),
    (a.hardtanh.default, (x, -1.0, 1.0)),
    (a.hardtanh_backward.default, (x, y, -1.0, 1.0)),
    (a.hardsigmoid.default, (x,)),
    (a.hardsigmoid_backward.default, (x, y)),
    (a.hardswish.default, (x,)),
    (a.hardswish_backward.default, (x, y)),
    (a.leaky_relu.default, (x, 0.01)),
    (a.leaky_relu_backward.default, (x, y, 0.01, False)),
    (a.elu.default, (x,)),
    (a.elu_backward.default, (x, 1.0, 1, 1, False, y)),
    (a.softplus.default, (x,)),
    (a.softplus_backward.default, (x, y, 1, 20)),
    (a.mish.default, (x,)),
    (a.glu.default, (f(2, 4), -1)),
    (a.glu_backward.default, (f(2, 2), f(2, 4), -1)),
    (a.log_sigmoid_forward.default, (x,)),
    (a.log_sigmoid_backward.default, (x, y, y)),
    (a._prelu_kernel.default, (x, y)),
    (a._prelu_kernel_backward.default, (x, y, y)),
    (a.native_layer_norm.default, norm + (1e-5,)),
    (a.native_layer_norm_backward.default,
     (f(2, 4, 3), norm[0], [3], ln[1], ln[2], norm[2], norm[3], [True, True, True])),
    (a.native_batch_norm_backward.default,
     (image, image, f(4), None, None, bn[1], bn[2], True, 1e-5, [True, True, True])),
    (a.native_group_norm.default, (image, f(4), f(4), 2, 4, 25, 2, 1e-5)),
    (a.native_group_norm_backward.default,
     (image, image, gn[1], gn[2], f(4), 2, 4, 25, 2, [True, True, True])),
    (a._native_batch_norm_legit_functional.default, (image, f(4), f(4), f(4), f(4), True, 0.1, 1e-5)),
    (a._native_batch_norm_legit_no_training.default, (image, f(4), f(4), f(4), f(4), 0.1, 1e-5)),
    (a._native_batch_norm_legit.no_stats, (image, f(4), f(4), True, 0.1, 1e-5)),
    (a.nll_loss_forward.default, (x, target, None, 1, -100)),
    (a.nll_loss_backward.default, (f(()), x, target, None, 1, -100, nll[1])),
    (a.mse_loss.default, (x, y)),
    (a.mse_loss_backward.default, (f(()), x, y, 1)),
    (a.huber_loss.default, (x, y)),
    (a.huber_loss_backward.default, (f(()), x, y, 1, 1.0)),
    (a.smooth_l1_loss.default, (x, y)),
    (a.smooth_l1_loss_backward.default, (f(()), x, y, 1, 1.0)),
    (a.binary_cross_entropy_with_logits.default, (x, y)),
    (a.embedding_dense_backward.default, (f(2, 3), i(5, 2), 5, -1, False)),
    (a.addcmul.default, (x, x, y)),
    (a.addcdiv.default, (x, x, y)),
    (a.lerp.Scalar, (x, y, 0.25)),
    (a.lerp.Tensor, (x, y, x)),
    (a.xlogy.Tensor, (x, y)),
    (a.rsub.Scalar, (x, 2)),
    (a.floor_divide.default, (x, y)),
    (a.clamp_min.default, (x, 0)),
    (a.clamp_max.default, (x, 0)),
    (a.sgn.default, (x,)),
    (a.masked_fill.Scalar, (x, y > 1, 0)),
    (a.masked_fill.Tensor, (x, y > 1, torch.tensor(0.0))),
    (a.t.default, (x,)),
    (a.transpose.int, (f(2, 3, 4), 1, 2)),
    (a.detach.default, (x,)),
    (a._unsafe_view.default, (x, [6])),
    (a.squeeze.default, (f(2, 1, 3),)),
    (a.squeeze.dim, (f(2, 1, 3), 1)),
    (a.unbind.int, (x, 0)),
    (a.split.Tensor, (x, 1, 1)),
    (a.stack.default, ([x, y],)),
    (a.roll.default, (x, [1], [1])),
    (a.tril.default, (x,)),
    (a.triu.default, (x,)),
    (a.select_backward.default, (f(3), [2, 3], 0, 1)),
    (a.slice_backward.default, (f(1, 3), [2, 3], 0, 0, 1, 1)),
    (a.diagonal_backward.default, (f(2), [2, 2], 0, 0, 1)),
    (a.select_scatter.default, (x, f(3), 0, 1)),
    (a.unfold_backward.default, (f(2, 2, 2), [2, 3], 1, 2, 1)),
    (a.sum.default, (x,)),
    (a.all.default, (x > 1,)),
    (a.all.dim, (x > 1, 1)),
    (a.logsumexp.default, (x, [1])),
    (a.std.correction, (x, [1])),
    (a.mv.default, (x, f(3))),
    (a.dot.default, (f(3), f(3))),
    (a.baddbmm.default, (f(2, 3, 3), f(2, 3, 4), f(2, 4, 3))),
    (a.index_add.default, (x, 0, i(2, 2), y)),
    (a.index_add.default, (f(3, 3), 1, i(3, 3), f(3, 3))),
    (a.native_dropout_backward.default, (x, y > 1, 2.0)),
    (a.zeros_like.default, (x,)),
    (a.ones_like.default, (x,)),
    (a.zeros.default, ([2, 3],)),
    (a.ones.default, ([2, 3],)),
    (a.new_zeros.default, (x, [2])),
    (a.new_ones.default, (x, [2])),
    (a.new_full.default, (x, [2], 3)),
    (a.full_like.default, (x, 3)),
    (a.arange.default, (4,), dict(device="cpu", pin_memory=False)),
    (a.arange.start, (1, 4), dict(device="cpu", pin_memory=False)),
    (a._to_copy.default, (x,), dict(dtype=torch.float64)),
    (a.fill.Scalar, (x, 3)),
]


def trace(op, args, kwargs, table):
    """The operator's tensors become inputs; all other arguments are constants of the graph."""
    tensors = []

    def take(value):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return len(tensors) - 1, "tensor"
        if isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            return [take(item) for item in value], "list"
        return value, "plain"

    def give(taken, inputs):
        value, kind = taken
        if kind == "tensor":
            return inputs[value]
        return [give(item, inputs) for item in value] if kind == "list" else value

    taken = [take(value) for value in args]

    def call(*inputs):
        return op(*[give(value, inputs) for value in taken], **kwargs)

    with torch.no_grad():
        graph = make_fx(call, decomposition_table=table, tracing_mode="fake")(*tensors)
    return graph.print_readable(print_output=False, include_stride=True, include_device=True)


def main():
    tables = {"": {}, "core": core_aten_decompositions(), "inductor": select_decomp_table()}
    for case in CASES:
        op, args, kwargs = case + ({},) * (3 - len(case))
        plain = trace(op, args, kwargs, {})
        for name in ("core", "inductor"):
            if op not in tables[name]:
                continue
            print(f"== {op} {name}")
            print(plain.rstrip())
            print("--")
            print(trace(op, args, kwargs, tables[name]).rstrip())


if __name__ == "__main__":
    if not torch.__version__.startswith("2.6"):
        sys.exit("this table is PyTorch 2.6's")
    main()
