# SPDX-License-Identifier: MIT
"""What PyTorch makes of a queue of tensors, of packed parameters and of prints.

    python3 capture.py OUT

Compiles queue.cpp against the headers of the wheel that runs this, and writes graphs as text, one
file each, named by the release: OUT/2.6-queue.txt …
"""

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import torch
from torch._higher_order_ops.torchbind import enable_torchbind_tracing
from torch._library import register_fake_class
from torch.fx.experimental.proxy_tensor import make_fx

HERE = Path(__file__).parent
RELEASE = ".".join(torch.__version__.split(".")[:2])


def build_queue():
    library = Path(tempfile.mkdtemp()) / "queue.so"
    root = Path(torch.__file__).parent
    subprocess.run(
        ["g++", "-O0", "-shared", "-fPIC", "-std=c++17" if RELEASE == "2.6" else "-std=c++20",
         f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
         f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include",
         f"-I{sysconfig.get_paths()['include']}",
         str(HERE / "queue.cpp"), "-o", str(library), f"-L{root}/lib", "-lc10", "-ltorch_cpu", "-ltorch"],
        check=True)
    torch.classes.load_library(str(library))


def register_fake_queue():
    @register_fake_class("_TorchScriptTesting::_TensorQueue")
    class FakeQueue:
        def __init__(self, init_tensor, queue):
            self.init_tensor, self.queue = init_tensor, list(queue)

        @classmethod
        def __obj_unflatten__(cls, flattened):
            return cls(**dict(flattened))

        def push(self, x):
            self.queue.append(x)

        def pop(self):
            return self.queue.pop(0) if self.queue else self.init_tensor

        def size(self):
            return len(self.queue)


def program(queue, x):
    queue.push(x.cos())
    queue.push(x.sin())
    first = queue.pop() + queue.size()
    second = queue.pop() - queue.size()
    return first, second, queue


def write(out, name, graph):
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    text = text.replace(str(HERE) + "/", "")
    (out / f"{RELEASE}-{name}.txt").write_text(text.rstrip() + "\n")


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return (self.function(*arguments),)


def main(out):
    build_queue()
    register_fake_queue()
    queue = torch.classes._TorchScriptTesting._TensorQueue(torch.empty(0))
    x = torch.tensor([1.0, 2.0, 3.0])
    with enable_torchbind_tracing():
        write(out, "queue", make_fx(program, tracing_mode="fake")(queue, x))
    assert queue.size() == 0

    from torch._functorch.aot_autograd import aot_export_module

    class Module(torch.nn.Module):
        def forward(self, queue, x):
            first, second, _ = program(queue, x)
            return first, second

    packed = torch.ops.quantized.linear_prepack(
        torch.quantize_per_tensor(torch.arange(6.0).reshape(2, 3), 0.1, 0, torch.qint8), torch.ones(2))

    def linear(packed, x):
        return torch.ops.quantized.linear_dynamic(x, packed), packed.bias()

    with enable_torchbind_tracing():
        write(out, "packed", make_fx(linear, tracing_mode="real")(packed, torch.ones(1, 3)))
    # as torch.ao.quantization.quantize_dynamic makes layers; what quantizes, packs or unpacks can be traced by neither
    # release: their fake tensors have no quantized dtypes
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.packed = packed

        def forward(self, x):
            return torch.ops.quantized.linear_dynamic(x, self.packed, reduce_range=True).relu()

    write(out, "packed-attribute", make_fx(Layer(), tracing_mode="fake")(torch.ones(1, 3)))
    # 2.15 asks two packed parameters whether they are equal, which they do not say
    if RELEASE == "2.6":
        graph, _ = aot_export_module(Function(Layer()), (torch.ones(1, 3),), trace_joint=False)
        write(out, "packed-tokens", graph)
    with enable_torchbind_tracing():
        graph, _ = aot_export_module(Module(), (queue, x), trace_joint=False)
        write(out, "queue-tokens", graph)


main(Path(sys.argv[1]))
