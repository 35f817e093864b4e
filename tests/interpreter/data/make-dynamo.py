# SPDX-License-Identifier: MIT
"""Writes programs as captured by Dynamo, and the ATen graphs that PyTorch 2.6 makes of them.

    python make-dynamo.py | gzip -9n > dynamo.txt.gz

Each case is a Python function and its inputs.  Interpreting the Dynamo graph under the tracer must give
AOTAutograd's graph without gradients and decompositions."""

import math
import sys

import torch
import torch.nn.functional as F
from torch._dynamo.backends.common import aot_autograd
from functorch.compile import make_boxed_func
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

CASES = []


def case(*inputs, **options):
    def add(function):
        CASES.append((function.__name__, function, inputs, options))
        return function

    return add


def f32(*sizes):
    return torch.linspace(-1, 1, math.prod(sizes)).reshape(sizes)


def i64(high, *sizes):
    return (torch.arange(math.prod(sizes)) % high).reshape(sizes)


exec(open(__file__.replace("make-dynamo.py", "dynamo-cases.py")).read())


def text_of(module, inputs):
    text = module.print_readable(print_output=False, include_stride=True, include_device=True)
    lines = [line for line in text.split("\n") if line.strip() and "# File:" not in line
             and "# No stacktrace" not in line]
    return "\n".join(lines)


def capture(function, inputs):
    graphs = {}

    def inference(module, example_inputs):
        graphs["aten"] = text_of(module, example_inputs)
        return make_boxed_func(module.forward)

    aot = aot_autograd(fw_compiler=inference, inference_compiler=inference)

    def backend(module, example_inputs):
        assert "dynamo" not in graphs, "a graph break"
        graphs["dynamo"] = text_of(module, example_inputs)
        return aot(module, example_inputs)

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(function, backend=backend, dynamic=False)(*inputs)
    return graphs


def on_cuda(function, inputs):
    """Makes the graph of a call under autocast on CUDA with fake tensors, which need no device.  Without Dynamo,
    which would need one."""
    with FakeTensorMode():
        fakes = [torch.empty(x.shape, dtype=x.dtype, device="cuda") for x in inputs]
    program = torch.fx.symbolic_trace(function)
    for node, fake in zip(program.graph.nodes, fakes):
        node.meta["val"] = fake
    head, body = text_of(program, inputs).split('cuda:0"):\n')
    fact = "        # adj: called under {autocast_cuda: f16}\n"
    graphs = {"dynamo": head + 'cuda:0"):\n' + fact + body}
    torch.set_autocast_enabled("cuda", True)
    try:
        traced = make_fx(function)(*fakes)
        traced.graph.eliminate_dead_code()
        graphs["aten"] = text_of(traced, inputs)
    finally:
        torch.set_autocast_enabled("cuda", False)
    return graphs


def main():
    wanted = sys.argv[1:]
    for name, function, inputs, options in CASES:
        if wanted and name not in wanted:
            continue
        try:
            graphs = on_cuda(function, inputs) if options.get("cuda") else capture(function, inputs)
            print(f"=== {name}\n--- dynamo\n{graphs['dynamo']}\n--- aten\n{graphs['aten']}")
        except Exception as error:
            print(f"{name}: {str(error)[:200]}", file=sys.stderr)


main()
