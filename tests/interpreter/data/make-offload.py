# SPDX-License-Identifier: MIT
"""Writes offload-2.15.txt: forward and backward graphs of one step by PyTorch 2.15: without activation offloading, with
offloading by copies (prims.device_put), and by asynchronous copies (ao.*)."""
import sys

import torch
import torch._functorch.config as config
from functorch.compile import aot_function, make_boxed_func, min_cut_rematerialization_partition

texts = []


def kept(graph, _inputs):
    texts.append(graph.print_readable(print_output=False, include_stride=True, include_device=True))
    if any("ao." in str(node.target) for node in graph.graph.nodes):  # these run only on a GPU
        returned = list(graph.graph.nodes)[-1].args[0]
        return make_boxed_func(lambda *inputs: [torch.zeros(node.meta["val"].shape) for node in returned])
    return make_boxed_func(graph.forward)


def partition(joint, inputs, **options):
    for node in joint.graph.nodes:
        if node.target is torch.ops.aten.tanh.default:
            node.meta["should_offload"] = True
    return min_cut_rematerialization_partition(joint, inputs, **options)


def step(x, w):
    return (x @ w).tanh().mul(x).sin().sum()


for offloads, beside in ((False, False), (True, False), (True, True)):
    with config.patch(enable_activation_offloading=offloads, activation_offload_separate_stream=beside,
                      activation_offload_sink_wait=beside):
        torch.manual_seed(0)
        x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
        aot_function(step, kept, kept, partition_fn=partition)(x, w).backward()
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("\n".join(texts))
