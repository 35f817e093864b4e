# SPDX-License-Identifier: MIT
"""Writes streams-2.15.txt: every call of streams and events that PyTorch 2.15 puts into graphs."""
import sys

import torch
import torch._dynamo.variables.streams  # registers them
from torch.fx.experimental.proxy_tensor import make_fx

streams = torch.ops.streams


def step(x, w):
    streams.fork.default(0, 1)
    y = torch.mm(x, w)
    streams.record_event.default(2, 1)
    streams.join.default(1, 0)
    streams.wait_event.default(2, 0)
    z = y.sin()
    streams.record_stream.default(y, 0)
    streams.sync_dealloc.default(2, 0, y)
    streams.synchronize_event.default(2)
    streams.synchronize_stream.default(1)
    streams.wait_stream.default(0, 1)
    streams.synchronize_device.default("cuda", None)
    return z


graph = make_fx(step, tracing_mode="fake")(torch.randn(4, 4), torch.randn(4, 4))
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write(graph.print_readable(print_output=False, include_stride=True, include_device=True))
