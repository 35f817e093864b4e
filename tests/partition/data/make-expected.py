# SPDX-License-Identifier: MIT
"""Writes PyTorch 2.6's partition decisions for tests/partition.

  make-expected.py random N SEED  > random.txt     joint graphs drawn at random, with decisions
  make-expected.py captures DIR   > captures.txt   decisions on the joint graphs of captures

Needs PyTorch 2.6 and networkx.  A case is the text of a joint graph, then lines "#@ key value".
"""

import json
import random
import sys
import zipfile

import networkx
import torch
import torch._functorch.config as config
import torch._functorch.partitioners as partitioners
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.shape_prop import _extract_tensor_metadata
from torch.utils.checkpoint import CheckpointPolicy

aten = torch.ops.aten
DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.bool: "b8", torch.int64: "i64"}
CODES = {**{v: k for k, v in DTYPES.items()}, "f16": torch.float16, "bf16": torch.bfloat16,
         "i32": torch.int32, "u8": torch.uint8}
CUTS = []


def record_cuts():
    real = networkx.minimum_cut

    def minimum_cut(*args, **kwargs):
        value, sides = real(*args, **kwargs)
        CUTS.append(value)
        return value, sides

    networkx.minimum_cut = minimum_cut


# -- text ----------------------------------------------------------------------------------------

def annotation(val):
    sizes = ", ".join(str(s) for s in val.shape)
    strides = ", ".join(str(s) for s in val.stride())
    return f"{DTYPES[val.dtype]}[{sizes}][{strides}]cpu"


def printed(value):
    if isinstance(value, fx.Node):
        return value.name
    if isinstance(value, (list, tuple)):
        inner = ", ".join(printed(v) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)


class Storages:
    def __init__(self):
        self.ids = {}
        self.kept = []

    def __call__(self, val):
        storage = val.untyped_storage()
        self.kept.append(storage)
        return self.ids.setdefault(storage._cdata, len(self.ids))


def facts(node, storages):
    out = []
    val = node.meta.get("val")
    if isinstance(val, (list, tuple)):
        parts = ", ".join(f"meta('{annotation(v)}', alias={storages(v)})" for v in val)
        out.append(f"val: ({parts})")
    elif isinstance(val, torch.Tensor):
        out.append(f"alias: {storages(val)}")
    if node.meta.get("recompute") is not None:
        out.append(f"recompute: {node.meta['recompute'].name}")
        out.append(f"ac: {node.meta['ac_graph_id']}")
    return "{" + ", ".join(out) + "}"


def text_of(graph):
    storages = Storages()
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    head = ", ".join(f'{n.name}: "{annotation(n.meta["val"])}"' for n in holders)
    lines = ["class GraphModule(torch.nn.Module):", f"    def forward(self, {head}):"]
    lines += [f"        # adj: {n.name} {facts(n, storages)}" for n in holders]
    for n in graph.nodes:
        if n.op == "output":
            lines.append(f"        return {printed(n.args[0])}")
        elif n.op == "call_function":
            val = n.meta["val"]
            note = f': "{annotation(val)}"' if isinstance(val, torch.Tensor) else ""
            if n.target.__name__ == "getitem":
                call = f"{n.args[0].name}[{n.args[1]}]"
            else:
                args = [printed(a) for a in n.args]
                args += [f"{k} = {printed(v)}" for k, v in n.kwargs.items()]
                call = f"torch.ops.{n.target}({', '.join(args)})"
            lines.append(f"        {n.name}{note} = {call}  # adj: {facts(n, storages)}")
    return "\n".join(lines) + "\n"


# -- random joint graphs -------------------------------------------------------------------------

UNARY = [aten.sin.default, aten.cos.default, aten.relu.default, aten.neg.default,
         aten.sigmoid.default, aten.exp.default, aten.clone.default, aten.tanh.default]
BINARY = [aten.add.Tensor, aten.mul.Tensor, aten.sub.Tensor, aten.maximum.default]


class Drawer:
    def __init__(self, rand, mode):
        self.rand, self.mode = rand, mode
        self.graph = fx.Graph()

    def call(self, target, *args, **kwargs):
        node = self.graph.call_function(target, args, kwargs)
        with self.mode:
            node.meta["val"] = target(*fx.map_arg(args, lambda n: n.meta["val"]),
                                      **fx.map_arg(kwargs, lambda n: n.meta["val"]))
        if isinstance(node.meta["val"], torch.Tensor):
            node.meta["tensor_meta"] = _extract_tensor_metadata(node.meta["val"])
        return node

    def item(self, node, index):
        import operator
        return self.call(operator.getitem, node, index)

    def placeholder(self, name, size):
        node = self.graph.placeholder(name)
        with self.mode:
            node.meta["val"] = torch.empty(size)
        node.meta["tensor_meta"] = _extract_tensor_metadata(node.meta["val"])
        return node

    def pick(self, values, rank=None):
        """Chooses a value of that rank, mostly a recent one."""
        fit = [v for v in values if rank is None or v.meta["val"].dim() == rank]
        if self.rand.random() < 0.6:
            fit = fit[-4:]
        return self.rand.choice(fit)

    def square(self, values):
        """Like pick(), with the full size."""
        fit = [v for v in values if tuple(v.meta["val"].shape) == (8, 8)]
        return self.rand.choice(fit[-5:] if self.rand.random() < 0.6 else fit)

    def step(self, values):
        r = self.rand.random()
        a, b = self.square(values), self.square(values)
        if r < 0.34:
            return [self.call(self.rand.choice(UNARY), a)]
        if r < 0.56:
            return [self.call(self.rand.choice(BINARY), a, b)]
        if r < 0.66:
            return [self.call(aten.mm.default, a, b)]
        if r < 0.72:
            return [self.call(self.rand.choice([aten.t.default, aten.detach.default,
                                                aten.alias.default]), a)]
        if r < 0.79:
            s = self.call(self.rand.choice([aten.sum.dim_IntList, aten.amax.default]), a, [1], True)
            return [s] if self.rand.random() < 0.3 else [s, self.call(aten.sub.Tensor, a, s)]
        if r < 0.84:
            pair = self.call(aten.var_mean.correction, a, [1], correction=0, keepdim=True)
            first, second = self.item(pair, 0), self.item(pair, 1)
            return [first, second, self.call(aten.mul.Tensor, a, second)]
        if r < 0.88:
            c = self.call(aten.cat.default, [a, b])
            return [c, self.call(aten.slice.Tensor, c, 0, 0, 8)]
        if r < 0.92:
            return [self.call(aten.expand.default, self.call(aten.view.default, a, [1, 8, 8]),
                              [2, 8, 8])]
        if r < 0.96:
            return [self.call(aten.lt.Scalar, a, 0)]
        ones = self.call(aten.full.default, [8, 8], 1.5)
        return [ones, self.call(aten.add.Tensor, a, ones)]


def floating(values):
    return [v for v in values if v.meta["val"].dtype == torch.float32]


def draw(rand):
    drawer = Drawer(rand, FakeTensorMode())
    n_primals = rand.randint(2, 4)
    primals = [drawer.placeholder(f"primals_{i + 1}", (8, 8)) for i in range(n_primals)]
    n_outputs = rand.randint(1, 2)
    tangents = [drawer.placeholder(f"tangents_{i + 1}", (8, 8)) for i in range(n_outputs)]
    forward = list(primals)
    for _ in range(rand.randint(3, 14)):
        forward += floating(drawer.step(forward)) or []
    made = [n for n in drawer.graph.nodes if n.op == "call_function"]
    squares = [v for v in forward[n_primals:] if tuple(v.meta["val"].shape) == (8, 8)]
    outputs = [drawer.square(squares or forward) for _ in range(n_outputs)]
    helpers, grads = list(forward), list(tangents)
    for _ in range(rand.randint(3, 12)):
        r = rand.random()
        if r < 0.25:
            helpers += floating(drawer.step(helpers))
        elif r < 0.45:
            grads.append(drawer.call(aten.mm.default, drawer.square(grads),
                                     drawer.call(aten.t.default, drawer.square(helpers))))
        elif r < 0.8:
            grads.append(drawer.call(aten.mul.Tensor, drawer.square(grads), drawer.square(helpers)))
        else:
            grads += [g for g in floating(drawer.step(grads))]
    results = [None if rand.random() < 0.1 else drawer.pick(grads[-4:]) for _ in primals]
    if rand.random() < 0.08:
        results[0] = drawer.square(forward)
    drawer.graph.output(outputs + results)
    tag(rand, made)
    return fx.GraphModule(torch.nn.Module(), drawer.graph), n_outputs


def tag(rand, nodes):
    if rand.random() < 0.5 or not nodes:
        return
    region = 1
    policies = list(CheckpointPolicy) if rand.random() < 0.5 else [CheckpointPolicy.PREFER_RECOMPUTE]
    on = False
    for n in nodes:
        if rand.random() < 0.25:
            on = not on
            region += on
        if on:
            n.meta["recompute"] = rand.choice(policies)
            n.meta["ac_graph_id"] = region


# -- decisions -----------------------------------------------------------------------------------

FLAGS = {"no-far": {"ban_recompute_used_far_apart": False},
         "no-long": {"ban_recompute_long_fusible_chains": False},
         "no-materialized": {"ban_recompute_materialized_backward": False},
         "no-allowlist": {"ban_recompute_not_in_allowlist": False},
         "no-reduction": {"ban_recompute_reductions": False},
         "views": {"recompute_views": True},
         "aggressive": {"aggressive_recomputation": True},
         "no-cse": {"cse": False}}


def names(graph, op):
    return [n.name for n in graph.nodes if n.op == op]


def decide(module, n_outputs, budget, flags, which):
    """Returns decisions as (key, value) lines; the module is modified."""
    CUTS.clear()
    patch = {"activation_memory_budget": budget}
    for flag in flags:
        patch.update(FLAGS[flag])
    run = partitioners.default_partition if which == "default" else (
        partitioners.min_cut_rematerialization_partition)
    out = [("fwd", n_outputs), ("partitioner", which), ("budget", budget),
           ("flags", " ".join(flags))]
    try:
        with config.patch(patch):
            forward, backward = run(module, None, num_fwd_outputs=n_outputs)
    except (RuntimeError, AssertionError, ModuleNotFoundError, networkx.NetworkXUnbounded):
        # ModuleNotFoundError: PyTorch tries to draw the network that has no cut.
        return out + [("infeasible", "")]
    saved = [a.name for a in list(forward.graph.nodes)[-1].args[0][n_outputs:]]
    calls = names(forward.graph, "call_function")
    order = names(backward.graph, "call_function")
    return out + [("cut", int(CUTS[-1]) if CUTS else -1), ("saved", " ".join(saved)),
                  ("recomputed", " ".join(n for n in calls if n in set(order))),
                  ("order", " ".join(order))]


def print_case(lines):
    for key, value in lines:
        print(f"#@ {key} {value}".rstrip())


def random_cases(n, seed):
    for i in range(n):
        rand = random.Random(f"{seed}/{i}")
        module, n_outputs = draw(rand)
        print(text_of(module.graph), end="")
        flags = [rand.choice(list(FLAGS))] if rand.random() < 0.3 else []
        budget = rand.choice([1, 1, 1, 0.75, 0.5, 0.25, 0.1, 0])
        which = "default" if rand.random() < 0.15 else "min-cut"
        if which == "default":
            flags, budget = [], 1
        print_case(decide(module, n_outputs, budget, flags, which))


# -- captures ------------------------------------------------------------------------------------

def split_list(text):
    return [int(s) for s in text.strip("[]").split(",") if s.strip()]


def read_meta(text):
    code, rest = text.split("[", 1)
    sizes, strides = rest.split("]", 1)
    return CODES[code], split_list(sizes), split_list(strides.split("]")[0])


class CaptureReader:
    def __init__(self, nodes, mode):
        self.mode, self.bases, self.graph, self.by_name = mode, {}, fx.Graph(), {}
        for node in nodes:
            self.read(node)

    def tensor(self, text, alias):
        dtype, sizes, strides = read_meta(text)
        with self.mode:
            if alias is None:
                return torch.empty_strided(sizes, strides, dtype=dtype)
            base = self.bases.setdefault(alias, torch.empty(0, dtype=torch.uint8))
            view = torch.empty(0, dtype=dtype)
            view.set_(base.untyped_storage(), 0, sizes, strides)
            return view

    def value(self, arg):
        if isinstance(arg, list):
            return [self.value(a) for a in arg]
        if isinstance(arg, dict):
            if "$n" in arg:
                return self.by_name[arg["$n"]]
            return str(arg)
        return arg

    def read(self, node):
        import operator
        args = tuple(self.value(a) for a in node.get("args", []))
        kwargs = {k: self.value(v) for k, v in node.get("kwargs", {}).items()}
        if node["op"] == "output":
            self.graph.output(args[0])
            return
        target = node["target"]
        if node["op"] == "call_function":
            if target == "operator.getitem":
                target = operator.getitem
            else:
                _, _, space, packet, overload = target.split(".")
                target = getattr(getattr(getattr(torch.ops, space), packet), overload)
        made = self.graph.create_node(node["op"], target, args, kwargs, name=node["name"])
        self.by_name[node["name"]] = made
        meta = node.get("meta", {})
        val = node.get("val")
        if isinstance(val, str):
            made.meta["val"] = self.tensor(val, meta.get("alias"))
            made.meta["tensor_meta"] = _extract_tensor_metadata(made.meta["val"])
        elif isinstance(val, list):
            made.meta["val"] = [self.tensor(v, None) for v in val if isinstance(v, str)]
        if "recompute" in meta:
            made.meta["recompute"] = CheckpointPolicy[meta["recompute"]]
            made.meta["ac_graph_id"] = meta["ac_graph_id"]


def captures(folder, chosen):
    for name in chosen:
        with zipfile.ZipFile(f"{folder}/{name}.adjoint") as archive:
            nodes = json.loads(archive.read("graphs/0-0-joint.json"))["graph"]["nodes"]
            n_outputs = json.loads(archive.read("adjoint.json"))["regions"][0]["num_fwd_outputs"]
        for budget in (1, 0.75, 0.5, 0.25, 0):
            reader = CaptureReader(nodes, FakeTensorMode())
            module = fx.GraphModule(torch.nn.Module(), reader.graph)
            print_case([("capture", name)] + decide(module, n_outputs, budget, [], "min-cut"))


if __name__ == "__main__":
    record_cuts()
    if sys.argv[1] == "random":
        random_cases(int(sys.argv[2]), int(sys.argv[3]))
    else:
        captures(sys.argv[2], sys.argv[3:])
