# SPDX-License-Identifier: MIT
"""Exports small models as .pt2 and stores PyTorch's results.

    python make.py FOLDER

writes FOLDER/NAME.pt2 and FOLDER/NAME.outputs.pt, a dict {"output_<position>": tensor} of what the exported graph
returned, mutated buffers and inputs included.  The files here were made by the release that their folder names.
"""

import linecache
import pathlib
import re
import sys

import torch
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export


def save(program, path):
    """Saves @program with the usual place of PyTorch in its stack traces, instead of that of this machine."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes:
            if "stack_trace" in node.meta:
                node.meta["stack_trace"] = re.sub(
                    r'"[^"]*/site-packages/', '"/usr/lib/python3/dist-packages/', node.meta["stack_trace"])
    torch.export.save(program, path)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 3, bias=False)

    def forward(self, x):
        return torch.log_softmax(self.fc2(torch.relu(self.fc1(x))), dim=-1)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.fc(x.mean((2, 3)))


class Attention(nn.Module):
    """Token embedding, causal attention and a head tied to the embedding."""

    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(11, 8)
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids, targets):
        x = self.norm(self.wte(ids))
        q, k, v = (t.view(2, 5, 2, 4).transpose(1, 2) for t in self.qkv(x).split(8, dim=2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(2, 5, 8)
        return nn.functional.cross_entropy(self.head(x).view(-1, 11), targets.view(-1))


class Dynamic(nn.Module):
    def forward(self, x, y):
        z = torch.cat([x, y]).view(-1)
        return z * x.shape[0], z.new_zeros(x.shape[0] + 2 * y.shape[0])


class Outputs(nn.Module):
    """Several results, some of them unused, and a list of them."""

    def forward(self, x):
        values, _ = torch.topk(x, 2)
        a, _, c = torch.split(x, [1, 2, 2], dim=1)
        return {"values": values, "pair": (a, c), "none": None, "number": 3}


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scratch", torch.arange(4.0), persistent=False)
        self.fixed = torch.tensor([1.0, -1.0, 2.0, 0.5])

    def forward(self, x):
        self.steps.add_(1)
        x.mul_(2)
        return x + self.scratch * self.fixed + torch.tensor([10.0, 20.0, 30.0, 40.0])


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.fc(x).sin(), lambda x: x - 1, (x,))


class Loop(nn.Module):
    def forward(self, n, x):
        return while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, x * 2), (n, x))


class Dtypes(nn.Module):
    """Weights in several dtypes, as views of one storage, and a model without weights."""

    def __init__(self):
        super().__init__()
        base = torch.arange(24.0).view(4, 6)
        self.register_buffer("base", base)
        self.register_buffer("turned", base.t())
        self.register_buffer("part", base[1:3, 2:])
        self.register_buffer("halves", torch.randn(3).half())
        self.brain = nn.Parameter(torch.randn(3).bfloat16())
        self.register_buffer("mask", torch.tensor([True, False, True]))
        self.register_buffer("empty", torch.zeros(0, 4))

    def forward(self, x):
        y = (self.base @ self.turned).sum() + self.part.sum() + self.empty.sum()
        z = torch.where(self.mask, self.halves.float(), self.brain.float())
        return x * y, z, self.halves + 1, self.brain * 2


class Arguments(nn.Module):
    """Nested and named inputs, constants among them, and arguments of many kinds."""

    def forward(self, x, pair, *, options, flag=True, scale=2.5):
        a, (b, c) = pair
        y = torch.clamp(x, min=-1.0, max=None).to(torch.float64) * scale
        z = torch.einsum("ij,jk->ik", a, b) + options["bias"]
        i = torch.arange(3, dtype=torch.int32, device="cpu")
        return y, z, c[:, i, 1:], torch.full((2,), float("inf")) if flag else z


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRUCell(3, 4)

    def forward(self, x):
        h = x.new_zeros(2, 4)
        for t in range(3):
            h = self.gru(x[t], h)
        return h, torch.var_mean(h, dim=0)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return y, h, c


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            scale = self.fc(x).abs().amax(-1, keepdim=True)
        return self.fc(x) / (scale + 1)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        return (self.fc(x) * self.scale).relu()


class Buffers(nn.Module):
    """Buffers of a subclass, which is stored in states, and embedding bags."""

    def __init__(self):
        super().__init__()
        self.order = nn.Buffer(torch.tensor([2, 0, 1]))
        self.bags = nn.EmbeddingBag(7, 3, mode="mean", padding_idx=-1)

    def forward(self, ids, offsets):
        return self.bags(ids, offsets)[:, self.order]


class History(nn.Module):
    """Buffers and an input that are written with what has a history, a frozen parameter, a buffer that requires grad."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.frozen = nn.Parameter(torch.randn(3), requires_grad=False)
        self.register_buffer("state", torch.zeros(2, 3))
        self.register_buffer("scratch", torch.zeros(2, 3), persistent=False)
        self.register_buffer("learned", torch.ones(3, requires_grad=True))

    def forward(self, x, scale, cache):
        y = x @ self.weight * scale
        self.state.add_(y)
        self.scratch.copy_(y)
        cache.mul_(0.5).add_(y)
        return (self.state * self.learned + self.frozen).tanh() + self.scratch, cache * 2


def save_unsampled(folder):
    """Removes the sample inputs from an exported program."""
    program = export(Scaled(), (torch.randn(2, 4),))
    program._example_inputs = None
    save(program, folder / "unsampled.pt2")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x, *, scale=2.0):
        return x @ self.weight * scale, x + 1


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x):
        y, z = self.first(x, scale=3.0)
        return self.second(y)[0] + z


def save_called(folder):
    """Keeps how a module is called."""
    save(export(Blocks(), (torch.randn(2, 4),), preserve_module_call_signature=("first",)), folder / "called.pt2")


class Guarded(torch.nn.Module):
    def forward(self, x, y):
        if x.shape[0] * 2 == y.shape[0] and x.shape[1] % 2 == 0:
            return x.sum() + y.sum()
        return x - 1


def save_guarded(folder):
    """Compares sizes that are dynamic: a guard for each comparison.  2.6 keeps none."""
    if "_guards_code" in torch.export.ExportedProgram.__annotations__:
        shapes = ({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO})
        save(export(Guarded(), (torch.ones(3, 4), torch.ones(6, 2)), dynamic_shapes=shapes), folder / "guarded.pt2")


def models():
    """name → (model, args, kwargs, dynamic shapes)"""
    f = torch.randn
    rows = Dim("rows", min=2, max=64)
    return {
        "mlp": (Mlp(), (f(4, 6),), {}, None),
        "conv": (Conv().eval(), (f(2, 2, 6, 6),), {}, ({0: rows},)),
        "attention": (Attention(), (torch.randint(11, (2, 5)), torch.randint(11, (2, 5))), {}, None),
        "dynamic": (Dynamic(), (f(3, 4), f(5, 4)), {}, ({0: Dim("a", min=2)}, {0: Dim("b", min=2, max=99)})),
        "outputs": (Outputs(), (f(3, 5),), {}, None),
        "counter": (Counter(), (f(4),), {}, None),
        "branch": (Branch(), (f(2, 4),), {}, None),
        "loop": (Loop(), (torch.tensor(3), f(2)), {}, None),
        "dtypes": (Dtypes(), (f(2),), {}, None),
        "arguments": (Arguments(), (f(3), (f(2, 3), (f(3, 4), f(2, 3, 4)))), {"options": {"bias": f(4)}}, None),
        "recurrent": (Recurrent(), (f(3, 2, 3),), {}, None),
        "lstm": (Lstm(), (f(3, 2, 3),), {}, None),
        "nograd": (NoGrad(), (f(2, 3),), {}, None),
        "buffers": (Buffers(), (torch.tensor([0, 6, 2, 5, 5]), torch.tensor([0, 3])), {}, None),
        "history": (History(), (f(2, 3, requires_grad=True), 0.5, f(2, 3)), {}, None),
    }


def outputs_of(program, args, kwargs):
    flat = program._graph_module_flat_inputs(args, kwargs)
    flat = [t.detach().clone() if isinstance(t, torch.Tensor) else t for t in flat]
    found = program.graph_module(*flat)
    return {f"output_{i}": t.detach() for i, t in enumerate(found) if isinstance(t, torch.Tensor)}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    save_unsampled(folder)
    save_called(folder)
    save_guarded(folder)
    torch.manual_seed(0)
    for name, (model, args, kwargs, shapes) in models().items():
        program = export(model, args, kwargs, dynamic_shapes=shapes, strict=name == "loop")
        save(program, folder / f"{name}.pt2")
        torch.save(outputs_of(program, args, kwargs), folder / f"{name}.outputs.pt")


if __name__ == "__main__":
    # Stack traces are part of the files: use a path that contains no information about this machine.
    home = "/home/user/models.py"
    if __file__ == home:
        main()
    else:
        text = pathlib.Path(__file__).read_text()
        linecache.cache[home] = (len(text), None, text.splitlines(True), home)
        exec(compile(text, home, "exec"), {"__name__": "__main__", "__file__": home})
