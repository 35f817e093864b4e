# SPDX-License-Identifier: MIT
"""An LSTM layer in one direction.  Its workspace is private to oneDNN: only the forward's sizes are compared."""

import torch

from oracle import F32, case, needs_cuda, values

LSTM, WIDTH, HIDDEN = 2, 3, 2


def operands(steps, batch, biases):
    gates = 4 * HIDDEN
    bias = values((gates,), F32) if biases else torch.zeros(gates)
    weights = (values((gates, WIDTH), F32), values((gates, HIDDEN), F32), bias, bias * 0.5)
    x = values((steps, batch, WIDTH), F32)
    return (x, *weights, values((batch, HIDDEN), F32), values((batch, HIDDEN), F32) * 0.5)


CASES = (
    (1, 1, False, True, (True, True, True)),
    (4, 2, False, True, (True, False, False)),
    (3, 2, True, True, (True, True, True)),
    (2, 3, False, False, (False, True, False)),
)
for steps, batch, reverse, biases, given in CASES:
    tensors = operands(steps, batch, biases)
    needs_cuda("mkldnn_rnn_layer", *tensors, reverse, [], LSTM, HIDDEN, 1, biases, False, False, False)
    results = torch.ops.aten.mkldnn_rnn_layer(*tensors, reverse, [], LSTM, HIDDEN, 1, biases, False, False, True)
    grads = [values(x.shape, F32) if there else None for x, there in zip(results, given)]
    case("mkldnn_rnn_layer_backward", *tensors, *results[:3], *grads, reverse, LSTM, HIDDEN, 1, biases, True, False, [],
         False, results[3])
