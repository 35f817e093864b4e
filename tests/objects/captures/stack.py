# SPDX-License-Identifier: MIT
"""What PyTorch makes of a stack, of averages and of an operator that takes a stack.

    python3 stack.py OUT

Compiles stack.cpp against the headers of the wheel that runs this, and writes OUT/2.6-stack.txt …: sections, each
behind a line "#: case kind". A kind is "fx" (make_fx), "tokens" (AOTAutograd of the function), "dynamo" (of the
frontend), "forward" and "backward" (AOTAutograd of that), or "values": what the function gives, then the tensors of
each object afterwards, a line each. And OUT/2.6-stack.pt2 …: torch.export of the module with an object that is called
with another one.
"""

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_export_module, aot_module_simplified
from torch._higher_order_ops.torchbind import enable_torchbind_tracing
from torch._library import register_fake_class
from torch.fx.experimental.proxy_tensor import make_fx

HERE = Path(__file__).parent
RELEASE = ".".join(torch.__version__.split(".")[:2])


def build():
    library = Path(tempfile.mkdtemp()) / "stack.so"
    root = Path(torch.__file__).parent
    subprocess.run(
        ["g++", "-O0", "-shared", "-fPIC", "-std=c++17" if RELEASE == "2.6" else "-std=c++20",
         f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
         f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include",
         f"-I{sysconfig.get_paths()['include']}",
         str(HERE / "stack.cpp"), "-o", str(library), f"-L{root}/lib", "-lc10", "-ltorch_cpu", "-ltorch"],
        check=True)
    torch.classes.load_library(str(library))


build()


@register_fake_class("unseen::Stack")
class FakeStack:
    def __init__(self, items, limit):
        self.items, self.limit = list(items), limit

    @classmethod
    def __obj_unflatten__(cls, flattened):
        return cls(**dict(flattened))

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def peek(self, depth):
        return self.items[-1 - depth]

    def swap(self, one, other):
        self.items[one], self.items[other] = self.items[other], self.items[one]

    def all(self):
        return list(self.items)

    def full(self):
        return len(self.items) >= self.limit

    def peek_and_depth(self):
        return self.items[-1], len(self.items)


@register_fake_class("unseen::Average")
class FakeAverage:
    def __init__(self, sums, counts, decay, name):
        self.sums, self.counts, self.factor, self.name = sums, counts, decay, name

    @classmethod
    def __obj_unflatten__(cls, flattened):
        return cls(**dict(flattened))

    def update(self, row, x):
        self.sums, self.counts = torch.empty_like(self.sums), torch.empty_like(self.counts)

    def mean(self, row):
        return self.sums.select(0, row) / self.counts.select(0, row)

    def maybe(self, give):
        return self.sums.clone() if give else None

    def decay(self):
        return self.factor


@torch.library.register_fake("unseen::add_top")
def _(stack, x):
    return torch.empty_like(x)


# -- the functions --


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return (self.function(*arguments),)


def stack(s, x):
    s.push(x.cos())
    s.push(x.sin())
    s.swap(0, 1)
    under, top = s.peek(1), s.pop()
    y = under * s.peek(0) + top
    for item in s.all():
        y = y + item
    return y * 2 if s.full() else y


def averages(m, x):
    m.update(0, x)
    m.update(1, x * 2)
    y = m.mean(0) + m.mean(1) * m.decay()
    sums = m.maybe(True)
    m.maybe(False)
    return y + sums.sum()


def both(s, m, x):
    s.push(x)
    m.update(0, s.pop())
    s.push(m.mean(0))
    m.update(1, s.peek(0))
    return m.mean(1) + s.peek(0)


def operator(s, x):
    y = torch.ops.unseen.add_top(s, x)
    s.push(y)
    return torch.ops.unseen.add_top(s, y)


def depth(s, x):
    s.push(x)
    top, n = s.peek_and_depth()
    return top * n


class Attribute(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.s = make_stack()

    def forward(self, t, x):
        self.s.push(x * 2)
        t.push(self.s.peek(0))
        return (t.pop() + self.s.pop(),)


class Exported(Attribute):
    def forward(self, t, x):
        (y,) = super().forward(t, x)
        return (y * 2 if self.s.full() else y,)


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))

    def forward(self, s, x):
        y = x * self.w
        s.push(y)
        z = s.peek(0)
        s.swap(0, 1)
        return ((y * z).sum(),)


def beside_cond(s, p, x):
    s.push(x)
    return torch.cond(p, lambda y: y + 1, lambda y: y - 1, (s.peek(0),)) + s.pop()


# -- what they are given --


def make_stack():
    return torch.classes.unseen.Stack([torch.zeros(3)], 3)


def make_average():
    return torch.classes.unseen.Average(torch.zeros(2, 3), torch.ones(2, 1), 0.5, "ema")


def make_x():
    return torch.tensor([1.0, 2.0, 3.0])


CASES = {
    "stack": (lambda: Function(stack), make_stack, make_x),
    "averages": (lambda: Function(averages), make_average, make_x),
    "both": (lambda: Function(both), make_stack, make_average, make_x),
    "operator": (lambda: Function(operator), make_stack, make_x),
    "attribute": (Attribute, make_stack, make_x),
    "depth": (lambda: Function(depth), make_stack, make_x),
    "loss": (Loss, make_stack, make_x),
    "beside-cond": (lambda: Function(beside_cond), make_stack, lambda: torch.tensor(True), make_x),
}
# what a method gives as a tuple AOTAutograd takes for one result and asserts that it is; parameters are no inputs of make_fx
ONLY_FX, ONLY_DYNAMO = {"depth"}, {"loss", "beside-cond"}


# -- the captures --


class Sections:
    def __init__(self, case):
        self.case, self.text = case, []

    def add(self, kind, text):
        self.text.append(f"#: {self.case} {kind}\n{text.rstrip()}\n")

    def add_graph(self, kind, graph):
        text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        self.add(kind, "\n".join(lines))


def capture_dynamo(sections, module, inputs):
    def compiler(kind):
        def compile(graph, inputs):
            sections.add_graph(kind, graph)
            return make_boxed_func(graph.forward)
        return compile

    def backend(graph, inputs):
        sections.add_graph("dynamo", graph)
        return aot_module_simplified(graph, inputs, fw_compiler=compiler("forward"), bw_compiler=compiler("backward"))

    torch._dynamo.reset()
    result = torch.compile(module, backend=backend, fullgraph=True)(*inputs)[0]
    if result.requires_grad:
        result.backward()


def tensors_of(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    return [tensor for item in thing for tensor in tensors_of(item)] if isinstance(thing, (tuple, list)) else []


def write_values(sections, module, inputs):
    result = module(*inputs)[0]
    objects = [thing for thing in [*inputs, getattr(module, "s", None)] if hasattr(thing, "__obj_flatten__")]
    lines = [[result]] + [tensors_of(thing.__obj_flatten__()) for thing in objects]
    sections.add("values", "\n".join(
        " ".join(repr(number) for tensor in line for number in tensor.detach().flatten().tolist()) for line in lines))


def capture(case, make_module, *make_inputs):
    def fresh():
        return make_module(), [make() for make in make_inputs]

    sections = Sections(case)
    if case not in ONLY_DYNAMO:
        module, inputs = fresh()
        with enable_torchbind_tracing():
            sections.add_graph("fx", make_fx(module, tracing_mode="fake")(*inputs))
    if case not in ONLY_DYNAMO | ONLY_FX:
        module, inputs = fresh()
        with enable_torchbind_tracing():
            sections.add_graph("tokens", aot_export_module(module, tuple(inputs), trace_joint=False)[0])
    if case not in ONLY_FX:
        capture_dynamo(sections, *fresh())
    write_values(sections, *fresh())
    return "".join(sections.text)


torch.export.save(torch.export.export(Exported(), (make_stack(), make_x()), strict=False),
                  Path(sys.argv[1], f"{RELEASE}-stack.pt2"))
Path(sys.argv[1], f"{RELEASE}-stack.txt").write_text("".join(capture(case, *of) for case, of in CASES.items()))
