#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the capture module and what it writes.

    check.py [MODEL...]       train with and without the capture module and compare, bit for bit, compiled or under
                              compiled autograd; then two processes that record to one path
    check.py --file X...      check captures: container, tensors, graphs, calls, and the recorded values
                              against those that PyTorch computes from the graph files alone

Exit status 1 if something differs.
"""
import contextlib
import functools
import hashlib
import json
import math
import operator
import os
import re
import struct
import subprocess
import sys
import tempfile
import types

import torch
import torch._inductor.inductor_prims  # noqa: F401  registers the operators of Inductor's graphs

HERE = os.path.dirname(os.path.abspath(__file__))
BACKENDS = ("aot_eager", "inductor", "capture")  # the last is the backend of the capture module
CAPTURED = ("as it is", "compiled")  # how a backward runs under compiled autograd

# ---- with and without ------------------------------------------------------------------------------


class Counting(torch.nn.Module):
    """A model with dropout and a buffer that each call changes in place."""

    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(16, 16)
        self.fc2 = torch.nn.Linear(16, 16)
        self.drop = torch.nn.Dropout(0.25)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(16))

    def forward(self, x, target):
        self.calls.add_(1)
        h = self.drop(torch.relu(self.fc1(x)))
        self.mean.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        return torch.nn.functional.mse_loss(self.fc2(h - self.mean) + x, target)


def counting():
    torch.manual_seed(3)
    return Counting(), (torch.randn(8, 16), torch.randn(8, 16))


class Logging(Counting):
    """Has a region whose inference graph is empty."""

    def forward(self, x, target):
        loss = super().forward(x, target)
        torch._dynamo.graph_break()
        torch._C._log_api_usage_once("adjoint.check")
        torch._dynamo.graph_break()
        return loss


def empty():
    torch.manual_seed(3)
    return Logging(), (torch.randn(8, 16), torch.randn(8, 16))


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


class Hooked(torch.nn.Module):
    """Has hooks of every kind in the backward; one of them is an optimizer."""

    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(4, 4)
        self.fc2 = torch.nn.Linear(4, 4)
        self.fc1.weight.register_post_accumulate_grad_hook(self.update)
        self.fc2.weight.register_post_accumulate_grad_hook(self.halve)
        self.fc2.bias.register_hook(functools.partial(torch.mul, 2))

    @staticmethod
    def halve(parameter):
        parameter.grad.mul_(0.5)

    @staticmethod
    def update(parameter):
        with torch.no_grad():
            parameter.sub_(parameter.grad, alpha=0.1)
        parameter.grad = None

    def forward(self, x, target):
        h = Cubed.apply(self.fc1(x))
        h.register_hook(lambda grad: grad.clamp(-1, 1))
        out = torch.relu(self.fc2(h))
        out.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
        out.grad_fn.register_hook(lambda grads, _: (grads[0] + 1,))
        return torch.nn.functional.mse_loss(out, target)


def hooked():
    torch.manual_seed(3)
    return Hooked(), (torch.randn(3, 4), torch.randn(3, 4))


OWN = {"dropout": counting, "empty": empty}


def digest(*tensors):
    state = hashlib.sha256()
    for t in tensors:
        state.update(repr((t.dtype, tuple(t.shape))).encode())
        state.update(t.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return state.hexdigest()


def train(name, backend, path):
    """Three training steps in this process, the first one recorded if there is a path."""
    sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "graphs")]
    import adjoint_capture
    import models

    torch.set_num_threads(1)
    model, inputs = {**models.ALL, **OWN, "hooked": hooked}[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recording = contextlib.nullcontext()
    if backend == "capture":
        backend = adjoint_capture.backend(path) if path else "aot_eager"
        if path:
            recording = contextlib.closing(backend)
    elif path:
        recording = adjoint_capture.record(path)
    compiled, enabled = model, contextlib.nullcontext
    if backend in CAPTURED:
        compiler = functools.partial(torch.compile, backend="aot_eager") if backend == "compiled" else lambda graph: graph
        enabled = functools.partial(torch._dynamo.compiled_autograd._enable, compiler)
    else:
        compiled = torch.compile(model, backend=backend)
    losses, gradients = [], []

    def step():
        optimizer.zero_grad()
        loss = compiled(*inputs)
        with enabled():
            loss.backward()
        losses.append(loss.detach().clone())
        gradients.extend(p.grad.clone() for p in model.parameters() if p.grad is not None)
        optimizer.step()

    with recording as session:
        step()
    step()
    step()
    stats = torch._dynamo.utils.counters["stats"]
    result = {
        "losses": digest(*losses), "RNG state": digest(torch.get_rng_state()),
        "gradients": digest(*gradients), "state": digest(*model.state_dict().values()),
        "graphs": stats["unique_graphs"] + torch._dynamo.utils.counters["compiled_autograd"]["captures"],
    }  # fmt: skip
    if session is not None:
        session = getattr(session, "session", session)
        result["notes"], result["failures"] = session.notes, session.failures
    print(json.dumps(result))


def run_child(*args):
    command = [sys.executable, os.path.abspath(__file__), "--train", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout.splitlines()[-1])


def compare(folder, names):
    good = True
    print(f"torch {torch.__version__}")
    for name in names:
        for backend in CAPTURED if name == "hooked" else BACKENDS:
            path = os.path.join(folder, f"{name}-{backend}.adjoint")
            without, captured = run_child(name, backend), run_child(name, backend, path)
            keys = ("losses", "RNG state", "gradients", "state", "graphs")
            verdict = [f"{k} {'same' if without.get(k) == captured.get(k) is not None else 'DIFFERENT'}" for k in keys]
            errors = without.get("error", []) + captured.get("error", [])
            problems, counts = check_file(path, exact=backend != "inductor")
            same = not any("DIFFERENT" in v for v in verdict)
            good = good and same and not problems and not errors and not captured.get("failures")
            print(f"{name} {backend}: {', '.join(verdict)} ({captured.get('graphs')}); file: {counts}")
            for line in [*captured.get("notes", []), *errors, *problems]:
                print(f"    {line}")
    return good


def together(folder):
    """Records from two processes to one path at once: as two ranks into two files, else one of them writes a complete
    file."""
    good = True
    for ranks, expected in (((0, 1), ("both.rank0.adjoint", "both.rank1.adjoint")), ((None, None), ("both.adjoint",))):
        path = os.path.join(folder, "both.adjoint")
        command = [sys.executable, os.path.abspath(__file__), "--train", "mlp", "aot_eager", path]
        places = [{} if r is None else {"RANK": str(r), "WORLD_SIZE": str(len(ranks))} for r in ranks]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **p}) for p in places]
        codes = [process.wait() for process in running]
        found = sorted(name for name in os.listdir(folder) if name.startswith("both"))
        problems = [line for name in found for line in check_file(os.path.join(folder, name))[0]]
        same = codes == [0, 0] and found == list(expected) and not problems
        good = good and same
        print(f"two processes, ranks {ranks}: {', '.join(found)}: {'whole' if same else 'DIFFERENT'}", *problems)
        for name in found:
            os.remove(os.path.join(folder, name))
    return good


# ---- files: written from the format's description, not from the writer --------------------------------


def read_container(data):
    """{name: bytes} of a stored ZIP whose data is aligned; problems as ValueError."""
    end = data.rfind(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<HII", data, end + 10)
    if data[30:42] != b"adjoint.json" or data[64:65] != b"{":
        raise ValueError("adjoint.json does not stand at bytes 30 and 64")
    entries, at = {}, start
    for _ in range(count):
        method, crc, packed, plain = struct.unpack_from("<H4xIII", data, at + 10)
        name_length, extra_length, comment_length = struct.unpack_from("<HHH", data, at + 28)
        local = struct.unpack_from("<I", data, at + 42)[0]
        name = data[at + 46 : at + 46 + name_length].decode()
        begin = local + 30 + sum(struct.unpack_from("<HH", data, local + 26))
        if method != 0 or packed != plain or begin % 64 or name in entries:
            raise ValueError(f"{name}: method {method}, data at {begin}")
        entries[name] = data[begin : begin + plain]
        at += 46 + name_length + extra_length + comment_length
    if at != start + size or at != end:
        raise ValueError("bytes between the directory and its end")
    return entries


DTYPES = {
    "BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32,
    "I64": torch.int64, "F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32,
    "F64": torch.float64, "C64": torch.complex64,
}  # fmt: skip
CODES = {
    "b8": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "c32": torch.complex32, "c64": torch.complex64, "c128": torch.complex128,
}  # fmt: skip


def read_tensors(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    base, at, tensors = 8 + length, 0, {}
    if base % 64:
        raise ValueError(f"data at {base}")
    for key, entry in sorted(header.items(), key=lambda kv: kv[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        if begin != at or stop - begin != math.prod(entry["shape"]) * dtype.itemsize or begin % dtype.itemsize:
            raise ValueError(f"{key}: [{begin}, {stop}) after {at}")
        raw = bytearray(data[base + begin : base + stop])
        tensor = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        tensors[key], at = tensor.reshape(entry["shape"]), stop
    if base + at != len(data):
        raise ValueError("bytes after the last tensor")
    return tensors


class NotRecorded(ValueError):
    """A value that the capture omits, with the reason."""


class Capture:
    """A capture as described by its files, and the problems found in it."""

    def __init__(self, path):
        self.problems, self.tensors, self.graphs = [], {}, {}
        with open(path, "rb") as source:
            self.entries = read_container(source.read())
        self.manifest = json.loads(self.entries["adjoint.json"])
        for table, folder, suffix in (("tensors", "tensors", "safetensors"), ("graphs", "graphs", "json")):
            for item in self.manifest[table]:
                name = f"{folder}/{item['id']}.{suffix}"
                if hashlib.sha256(self.entries[name]).hexdigest() != item["sha256"]:
                    self.problem(f"{name}: digest")
                if table == "tensors":
                    self.tensors[item["id"]] = read_tensors(self.entries[name])
                else:
                    self.read_graph(item["id"], self.entries[name].decode())

    def problem(self, text):
        self.problems.append(text)

    def read_graph(self, graph_id, text):
        graph = json.loads(text)
        nodes, known = graph["graph"]["nodes"], set()
        if sum(line.startswith('{"name": ') for line in text.splitlines()) != len(nodes):
            self.problem(f"{graph_id}: not one node per line")
        for node in nodes:
            for used in re.findall(r'\{"\$n": "(\w+)"\}', json.dumps([node.get("args"), node.get("kwargs")])):
                if used not in known:
                    self.problem(f"{graph_id}: {used} used by {node['name']} before its definition")
            if node["name"] in known or not node["name"].isidentifier():
                self.problem(f"{graph_id}: name {node['name']}")
            known.add(node["name"])
        printed = self.entries[f"text/{graph_id}.txt"].decode()
        own = re.split(r"\n +class ", printed)[0]
        expected = [n["name"] for n in nodes if n["op"] not in ("placeholder", "output")]
        found = [f for f in re.findall(r'^        (\w+)(?:: "[^"]*")? = ', own, re.M) if f in expected]
        if found != expected and not re.search(r'"operator\.(setitem|i\w+)"', text):
            self.problem(f"{graph_id}: {len(expected)} nodes, {len(found)} statements in the text")
        self.graphs[graph_id] = graph

    def value(self, encoded):
        if isinstance(encoded, list):
            return [self.value(v) for v in encoded]
        if not isinstance(encoded, dict):
            return encoded
        if "$f" in encoded or "$int" in encoded:
            return float(encoded["$f"]) if "$f" in encoded else int(encoded["$int"])
        if "$complex" in encoded:
            return complex(*map(self.value, encoded["$complex"]))
        if "$tensor" not in encoded and "$complex_tensor" not in encoded:
            raise NotRecorded("a value is not recorded")
        file_id, key, *view = encoded.get("$tensor") or encoded["$complex_tensor"]
        tensor = self.tensors[file_id][key]
        tensor = torch.view_as_complex(tensor) if "$complex_tensor" in encoded else tensor
        return torch.as_strided(tensor, view[0]["size"], view[0]["stride"], view[0]["offset"]) if view else tensor


TAGS = {
    "$tuple": lambda v, go: tuple(go(x) for x in v),
    "$dict": lambda v, go: {go(k): go(x) for k, x in v},
    "$slice": lambda v, go: slice(*(go(x) for x in v)),
    "$f": lambda v, go: float(v),
    "$int": lambda v, go: int(v),
    "$dtype": lambda v, go: CODES[v],
    "$device": lambda v, go: torch.device(v),
    "$layout": lambda v, go: getattr(torch, v),
    "$memfmt": lambda v, go: getattr(torch, v),
    "$ellipsis": lambda v, go: ...,
}


def fresh(value):
    """Returns a copy that a graph may change, including all memory that it can read."""
    if not isinstance(value, torch.Tensor):
        return value
    whole = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage()).clone()
    return whole.as_strided(value.shape, value.stride(), value.storage_offset())


def function_of(target):
    root, *path = target.split(".")
    try:
        return functools.reduce(getattr, path, {"operator": operator, "torch": torch}[root])
    except AttributeError:  # compiled autograd defines functions for each node while it captures
        raise NotRecorded(f"{target} is only where it was captured") from None


def replay(capture, graph, inputs, given=None):
    """Runs a graph from its file; returns its outputs and the value of each node.  `given` maps nodes to results that
    replace their calls."""
    env, waiting = {}, iter(inputs)

    def go(arg):
        if isinstance(arg, list):
            return [go(a) for a in arg]
        if not isinstance(arg, dict):
            return arg
        [(tag, value)] = arg.items()
        return env[value] if tag == "$n" else TAGS[tag](value, go)

    for node in graph["graph"]["nodes"]:
        args = [go(a) for a in node.get("args", [])]
        kwargs = {k: go(v) for k, v in node.get("kwargs", {}).items()}
        target = node.get("target")
        if node["op"] == "placeholder":
            env[node["name"]] = next(waiting)
        elif node["op"] == "get_attr" and target in graph["subgraphs"]:
            env[node["name"]] = capture.graphs[graph["subgraphs"][target]]
        elif node["op"] == "get_attr":
            env[node["name"]] = fresh(capture.value(graph["attrs"][target]))
        elif node["op"] == "output":
            return args[0], env
        elif node["op"] == "call_module":
            raise NotRecorded("it calls a module")  # as Dynamo's graphs do up to 2.4
        elif node["op"] == "call_method":
            env[node["name"]] = getattr(args[0], target)(*args[1:], **kwargs)
        elif target in ("torch.ops.higher_order.tag_activation_checkpoint", "torch.ops.higher_order.invoke_subgraph"):
            operands = args[1:] if target.endswith("checkpoint") else args[2:]
            env[node["name"]] = replay(capture, args[0], operands)[0]
        elif node["name"] in (given or {}):
            env[node["name"]] = given[node["name"]](*args)
        else:
            env[node["name"]] = function_of(target)(*args, **kwargs)
    return None, env


def geometry(value):
    return (value.dtype, tuple(value.shape), tuple(value.stride())) if isinstance(value, torch.Tensor) else value


def difference(got, wanted):
    if not isinstance(wanted, torch.Tensor):
        return 0.0 if got == wanted else math.inf
    if wanted.numel() == 0 or torch.equal(got, wanted):
        return 0.0
    return (got.double() - wanted.double()).abs().max().item()


def graph_role(capture, call):
    return next(g["role"] for g in capture.manifest["graphs"] if g["id"] == call["graph"])


def check_call(capture, call, exact):
    """Returns the problems of one call, and the largest differences of its outputs and node values."""
    if "backward" in call:
        return check_backward(capture, call)
    graph, where = capture.graphs[call["graph"]], f"{call['graph']} call {call['n']}"
    placeholders = [n for n in graph["graph"]["nodes"] if n["op"] == "placeholder"]
    inputs, outputs = capture.value(call["inputs"]), capture.value(call["outputs"])
    if len(placeholders) != len(inputs):
        return [f"{where}: {len(inputs)} values, {len(placeholders)} placeholders"], 0, 0
    problems = []
    for node, value in zip(placeholders, inputs):
        if isinstance(value, torch.Tensor):
            code = next(c for c, t in CODES.items() if t == value.dtype)
            entry = call["inputs"][placeholders.index(node)]
            view = next((v[2] for v in entry.values() if len(v) > 2), {})
            said = f"{code}{list(value.shape)}{view.get('original_stride', list(value.stride()))}cpu"
            if said != node["val"] and "s" not in node["val"].split("cpu")[0]:
                problems.append(f"{where}: {node['name']} is {said}, not {node['val']}")
    torch.set_rng_state(capture.value(call["rng"]["cpu"]))
    results, env = replay(capture, graph, [fresh(v) for v in inputs])
    if len(results) != len(outputs):
        return [*problems, f"{where}: {len(outputs)} outputs, the graph has {len(results)}"], 0, 0
    if exact and [geometry(r) for r in results] != [geometry(o) for o in outputs]:
        problems.append(f"{where}: geometry of outputs")
    worst = max((difference(r, o) for r, o in zip(results, outputs)), default=0.0)
    decomposed = graph_role(capture, call) == "dynamo" and capture.manifest["source"]["decompositions"] != "none"
    if exact and worst > (1e-5 if decomposed else 0):
        problems.append(f"{where}: outputs differ by {worst:g}")
    tap_worst = 0.0
    for width, file_id in call.get("taps", {}).items():
        for name, value in capture.tensors[file_id].items():
            name, _, pairs = name.partition(".")
            value = torch.view_as_complex(value) if pairs else value
            if name not in env:
                continue  # a node of the joint graph that this half lacks
            error = difference(value, env[name])
            if width == "f32" and exact and error:
                problems.append(f"{where}: recorded value of {name} differs by {error:g}")
            elif width == "f64" and torch.is_floating_point(value):
                finite = value[value.isfinite()].abs()
                tap_worst = max(tap_worst, error / max(finite.max().item() if finite.numel() else 0.0, 1e-6))
    return problems, worst, tap_worst


def stand_in(capture, node, result):
    """Reproduces a hook: returns its recorded result, or applies its change to the leaf whose gradient was
    accumulated."""
    if node.get("kwargs", {}).get("hook_type") != "post_acc_grad_hook":
        return lambda *_: capture.value(result)

    def change(_, leaf):
        leaf.grad = fresh(capture.value(result["grad"]))
        if "leaf" in result:
            leaf.data.copy_(capture.value(result["leaf"]))
        return leaf

    return change


def check_backward(capture, call):
    """Returns the problems of a call of a captured backward: from its recorded inputs, without its hooks, it gives the
    recorded gradients."""
    graph, known = capture.graphs[call["graph"]], call["backward"]
    inputs, *others = capture.value(call["inputs"][:-1])
    inputs = [fresh(v).requires_grad_(k["from"] == "leaf") for v, k in zip(inputs, known["inputs"])]
    for value, origin in zip(inputs, known["inputs"]):
        if origin["from"] == "grad":
            inputs[origin["of"]].grad = value
    given, problems = {}, []
    for node in graph["graph"]["nodes"]:
        if (node.get("target") or "").endswith("_exec_final_callbacks_stub"):
            given[node["name"]] = lambda: None
        elif (node.get("target") or "").endswith(("call_hook", "call_backward", "self_invoke")):
            if node["name"] not in known["results"]:
                raise NotRecorded("what its hooks gave is not recorded")
            given[node["name"]] = stand_in(capture, node, known["results"][node["name"]])
    torch.set_rng_state(capture.value(call["rng"]["cpu"]))
    hooks = [None] * len(known["hooks"])
    with torch.no_grad():
        results, env = replay(capture, graph, [list(inputs), *others, hooks], given)
    for result, wanted in zip(results, capture.value(call["outputs"]), strict=True):
        if difference(result, wanted):
            problems.append(f"{call['graph']}: an output differs")
    for after in known["gradients"]:
        leaf, wanted = inputs[after["of"]], capture.value(after["grad"])
        if (leaf.grad is None) != (wanted is None) or (wanted is not None and difference(leaf.grad, wanted)):
            problems.append(f"{call['graph']}: the gradient of input {after['of']} differs")
    for file_id in call.get("taps", {}).values():
        for name, value in capture.tensors[file_id].items():
            if difference(value, env[name]):
                problems.append(f"{call['graph']}: recorded value of {name} differs")
    return problems, 0.0, 0.0


def check_file(path, exact=True):
    """Returns the problems of a capture, and a line that describes its contents."""
    try:
        capture = Capture(path)
        skipped, worst, tap_worst = [], 0.0, 0.0
        for call in capture.manifest["calls"]:
            try:
                problems, call_worst, call_tap_worst = check_call(capture, call, exact)
            except Exception as error:
                if exact and not isinstance(error, NotRecorded):
                    raise
                skipped.append(f"{call['graph']} not replayed: {str(error).splitlines()[0][:60]}")
                continue  # not all of Inductor's own operators can run outside of Inductor
            capture.problems += problems
            worst, tap_worst = max(worst, call_worst), max(tap_worst, call_tap_worst)
        ids = [g["id"] for g in capture.manifest["graphs"]]
        sizes = ", ".join(f"{i} {len(capture.graphs[i]['graph']['nodes'])}" for i in ids)
        taps = sum(len(t) for i, t in capture.tensors.items() if i.startswith("tap32"))
        calls = len(capture.manifest["calls"]) - len(skipped)
        sizes = "; ".join([f"{sizes} nodes", *skipped])
        text = f"{sizes}; {calls} calls replayed, outputs differ by {worst:g}"
        text += f"; {taps} node values, f32 from f64 {tap_worst:.1e}"
        return capture.problems, f"{text}; {os.path.getsize(path)} bytes"
    except Exception as error:
        return [f"{path}: {type(error).__name__}: {error}"], "unreadable"


def whole_step(folder):
    """A step traced by make_fx is divided into its parts, and returns what the function returns."""
    import adjoint_capture

    model, inputs = counting()
    model.eval()
    names = [name for name, _ in model.named_parameters()]
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}

    def step(state, x, target):
        loss = torch.func.functional_call(model, state, (x, target))
        gradients = torch.autograd.grad(loss, [state[name] for name in names])
        return loss.detach(), [state[n].detach() - 0.1 * g for n, g in zip(names, gradients)]

    arguments = (state, *inputs)
    wanted = step({k: v.clone().detach().requires_grad_(v.requires_grad) for k, v in state.items()}, *inputs)
    path = os.path.join(folder, "whole.adjoint")
    module = adjoint_capture.trace(step, arguments, tracing_mode="fake")
    engine = [bool(n.meta.get("autograd_backward")) for n in module.graph.nodes if n.op == "call_function"]
    first, last = engine.index(True), len(engine) - engine[::-1].index(True)
    with torch.no_grad():
        got = adjoint_capture.run(module, arguments, path)
    problems, text = check_file(path)
    if not (0 < first < last < len(engine)):
        problems.append(f"the engine made calls {first} to {last} of {len(engine)}")
    if not all(engine[first:last]):
        problems.append("what the engine made does not stand together")
    if digest(got[0], *got[1]) != digest(wanted[0], *wanted[1]):
        problems.append("it gives other values")
    print(f"a whole step: {text}", *problems, sep="\n    ")
    return not problems


class Silent(Exception):
    """Fails when it is asked what went wrong."""

    def __str__(self):
        raise Silent


class Unwilling:
    """Fails when it is asked for its text."""

    def __repr__(self):
        raise Silent


class Held:
    def __init__(self, part):
        self.part = part


def states():
    """What objects say of themselves may fail, or be nothing that a file can hold."""
    sys.path.insert(0, HERE)
    import adjoint_capture

    describe = functools.partial(adjoint_capture.plain_value, tensor=lambda name, tensor: name)
    tensor, key = torch.zeros(1), "x" * 100_000
    cases = (
        (Unwilling(), None),
        ("a\0\ud800", repr("a\0\ud800")),
        ({key: tensor, 0: tensor}, {"$dict": [(key, "part.#0"), (0, "part.0")]}),
    )
    good = True
    for part, wanted in cases:
        known = adjoint_capture.describe_object(Held(part), {}, describe, 2**20)
        if wanted is None:
            fine = known.get("no_state") == "Silent"
        else:
            fine = known.get("state") == {"$tuple": [{"$tuple": ["part", wanted]}]}
        if not fine:
            print(f"an object with a {type(part).__name__}: {str(known)[:200]}")
        good = good and fine
    print(f"states: {'as they should be' if good else 'not as they should be'}")
    return good


def limited():
    """The state of an object that a graph mentions is bounded by the limit of the session."""
    import adjoint_capture

    weight = torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8)
    graph = torch.fx.Graph()
    packed = graph.placeholder("packed")
    packed.meta["val"] = torch.ops.quantized.linear_prepack(weight, torch.ones(2))
    graph.output(packed)
    module, texts = torch.fx.GraphModule(torch.nn.Module(), graph), {}
    good = True
    for limit, wanted in ((100, "no_state"), (2**20, "state")):
        limits = adjoint_capture.Limits(state=limit)
        session = types.SimpleNamespace(limits=limits, write=texts.__setitem__, rename=str)
        region = types.SimpleNamespace(session=session, all_graphs=[], facts=lambda *_: {})
        adjoint_capture.Graph(region, "packed", "dynamo", module)
        node, _ = json.loads(texts["graphs/packed.json"])["graph"]["nodes"]
        if wanted not in node["val"]["$object"]:
            print(f"a state under a limit of {limit} bytes: {str(node)[:200]}")
            good = False
    print(f"limits of states: {'as they should be' if good else 'not as they should be'}")
    return good


class Told(torch.nn.Module):
    """Prints; the token of the effect comes before the inputs of the joint graph."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        torch.ops.aten._print("printed by the program")
        return (x * self.weight + self.bias).sin()


def tokens(folder):
    """What is known of an input is said of that input, not of the token before it."""
    import adjoint_capture

    path, good = os.path.join(folder, "told.adjoint"), True
    torch._dynamo.reset()
    with adjoint_capture.record(path):
        torch.compile(Told(), backend="aot_eager")(torch.ones(3)).sum().backward()
    for name, graph in Capture(path).graphs.items():
        nodes = [n for n in graph["graph"]["nodes"] if n["op"] == "placeholder"]
        known = {n["name"]: n["meta"]["param"] for n in nodes if "param" in n["meta"]}
        wanted = {"joint": {"primals_2": "weight", "primals_4": "bias"}}.get(name.rpartition("-")[2])
        if wanted not in (None, known):
            print(f"{name} with a token: {known}")
            good = False
    print(f"inputs after a token: {'as they should be' if good else 'not as they should be'}")
    return good


def main(args):
    if args[:1] == ["--train"]:
        train(args[1], args[2], args[3] if len(args) > 3 else None)
        return 0
    torch.set_num_threads(1)
    if args[:1] == ["--file"]:
        good = True
        for path in args[1:]:
            problems, counts = check_file(path)
            print(f"{path}: {counts}", *problems, sep="\n    ")
            good = good and not problems
        return 0 if good else 1
    if any(a.startswith("-") for a in args):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        good = compare(folder, args or ("mlp", "gpt2", *OWN, "hooked"))
        return 0 if states() and limited() and tokens(folder) and together(folder) and whole_step(folder) and good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
