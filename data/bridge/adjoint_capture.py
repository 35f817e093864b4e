# SPDX-License-Identifier: MIT
"""Record what torch.compile makes of a program, for Adjoint.

    import adjoint_capture

    with adjoint_capture.record("step.adjoint"):
        loss = compiled_model(x)
        loss.backward()

writes every compiled region with its Dynamo, joint, forward, backward, inference and compiled-autograd
graphs, the real values that went in and out of them, the state of the random generators before each
call, and, for small graphs, the value of every node in float32 and float64.  A path that does not end in
`.adjoint` gets the directory form.  Needs nothing but torch (2.6 or later), works with every backend
that is built on AOTAutograd, and never changes what the program computes: what goes wrong in here
becomes a warning and a note in the manifest.
"""
import base64
import collections.abc
import contextlib
import ctypes
import dataclasses
import enum
import functools
import hashlib
import inspect
import json
import math
import os
import re
import shutil
import sys
import threading
import types
import warnings
import zipfile

import torch
import torch._dynamo  # the hook points below live in modules that torch imports lazily
import torch._dynamo.backends.common as common
import torch._dynamo.compiled_autograd as compiled_autograd
import torch._dynamo.output_graph as output_graph
import torch._functorch.config as functorch_config
import torch.fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["record"]

VERSION = "0.1"
FORMAT_VERSION = [1, 0]
MIB = 1 << 20

DTYPES = {  # name in torch: (name in annotations, name in safetensors, None where it has none)
    "bool": ("b8", "BOOL"), "uint8": ("u8", "U8"), "int8": ("i8", "I8"), "int16": ("i16", "I16"),
    "int32": ("i32", "I32"), "int64": ("i64", "I64"), "uint16": ("u16", "U16"),
    "uint32": ("u32", "U32"), "uint64": ("u64", "U64"), "float16": ("f16", "F16"),
    "bfloat16": ("bf16", "BF16"), "float32": ("f32", "F32"), "float64": ("f64", "F64"),
    "complex32": ("c32", None), "complex64": ("c64", "C64"), "complex128": ("c128", None),
    "float8_e4m3fn": ("f8e4m3fn", "F8_E4M3"), "float8_e5m2": ("f8e5m2", "F8_E5M2"),
    "float8_e4m3fnuz": ("f8e4m3fnuz", "F8_E4M3FNUZ"), "float8_e5m2fnuz": ("f8e5m2fnuz", "F8_E5M2FNUZ"),
    "float8_e8m0fnu": ("f8e8m0fnu", "F8_E8M0"),
}  # fmt: skip
FROM_SAFETENSORS = {s: getattr(torch, t) for t, (_, s) in DTYPES.items() if s and hasattr(torch, t)}
TABLES = (
    ("inductor", "torch._inductor.decomposition", "select_decomp_table"),
    ("core_aten", "torch._decomp", "core_aten_decompositions"),
)
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def dtype_code(dtype):
    name = str(dtype).removeprefix("torch.")
    return DTYPES[name][0] if name in DTYPES else name


def safetensors_dtype(dtype):
    return DTYPES.get(str(dtype).removeprefix("torch."), (None, None))[1]


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def in_order(items):
    """A JSON object whose keys keep the order of `items`."""
    return "{" + ", ".join(f"{json.dumps(k)}: {compact(v)}" for k, v in items) + "}"


# ---- values ----------------------------------------------------------------------------------------


class TensorFile:
    """A safetensors file in the making: data goes to disk at once, the header follows at the end."""

    def __init__(self, path):
        self.path = path
        self.entries = {}  # key: (dtype, shape, offset, nbytes)
        self.size = 0

    def add(self, key, dtype, shape, data):
        with open(self.path + ".part", "ab") as out:
            out.write(data)
        self.entries[key] = (dtype, tuple(shape), self.size, len(data))
        self.size += len(data)

    def read(self, key):
        dtype, shape, offset, nbytes = self.entries[key]
        if nbytes == 0:
            return torch.empty(shape, dtype=FROM_SAFETENSORS[dtype])
        with open(self.path + ".part", "rb") as source:
            source.seek(offset)
            data = bytearray(source.read(nbytes))
        return torch.frombuffer(data, dtype=FROM_SAFETENSORS[dtype]).reshape(shape)

    def finish(self):
        """Write the file, widest elements first so that all data is aligned; return its digest."""
        width = {s: t.itemsize for s, t in FROM_SAFETENSORS.items()}
        order = sorted(self.entries, key=lambda k: (-width[self.entries[k][0]], k))
        header, at = {}, 0
        for key in order:
            dtype, shape, _, nbytes = self.entries[key]
            header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + nbytes]}
            at += nbytes
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-(8 + len(text)) % 64)
        digest = hashlib.sha256()
        part = self.path + ".part"
        data = open(part, "rb") if self.size else contextlib.nullcontext()
        with open(self.path, "wb") as out, data as source:
            for piece in self._pieces(len(text).to_bytes(8, "little") + text, order, source):
                digest.update(piece)
                out.write(piece)
        if os.path.exists(part):
            os.remove(part)
        return digest.hexdigest()

    def _pieces(self, head, order, source):
        yield head
        for key in order:
            _, _, offset, nbytes = self.entries[key]
            if nbytes:
                source.seek(offset)
            while nbytes:
                piece = source.read(min(nbytes, 16 * MIB))
                nbytes -= len(piece)
                yield piece


class Store:
    """All tensors of a capture.  Equal contents are stored once."""

    TENSOR_LIMIT, CALL_LIMIT, TOTAL_LIMIT = 64 * MIB, 256 * MIB, 2048 * MIB

    def __init__(self, folder):
        self.folder = folder
        self.files = {}
        self.known = {}  # digest: [(file, key)]
        self.total = 0

    def file(self, file_id):
        if file_id not in self.files:
            self.files[file_id] = TensorFile(os.path.join(self.folder, file_id + ".safetensors"))
        return self.files[file_id]

    def discard(self, file_id):
        part = self.files.pop(file_id, TensorFile(os.path.join(self.folder, file_id))).path + ".part"
        if os.path.exists(part):
            os.remove(part)

    def put(self, file_id, name, flat, shape, in_use=None, owner=None):
        """Store a dense CPU tensor; return [file, key].  Within one call (`in_use`) values of different
        storages never share a key, so that a shared key means shared memory."""
        nbytes = flat.numel() * flat.element_size()
        data = ctypes.string_at(flat.data_ptr(), nbytes) if nbytes else b""
        dtype = safetensors_dtype(flat.dtype)
        digest = hashlib.sha256(data + f"{dtype}{tuple(shape)}".encode()).digest()
        places = self.known.setdefault(digest, [])
        for place in places:
            if in_use is None or in_use.setdefault(place, owner) == owner:
                return list(place)
        target = self.file(file_id)
        key, n = name, 1
        while key in target.entries:
            key, n = f"{name}.{n}", n + 1
        target.add(key, dtype, shape, data)
        self.total += nbytes
        places.append((file_id, key))
        if in_use is not None:
            in_use[(file_id, key)] = owner
        return [file_id, key]

    def load(self, value):
        """The Python value that an encoded value stands for; ValueError if it was not recorded."""
        if isinstance(value, list):
            return [self.load(v) for v in value]
        if not isinstance(value, dict):
            return value
        if "$f" in value or "$int" in value:
            return float(value["$f"]) if "$f" in value else int(value["$int"])
        if "$tensor" not in value:
            raise ValueError(f"not recorded: {value}")
        file_id, key, *view = value["$tensor"]
        tensor = self.files[file_id].read(key)
        if view:
            tensor = torch.as_strided(tensor, view[0]["size"], view[0]["stride"], view[0]["offset"])
        return tensor


def dense_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def span(tensor):
    """First and one past the last element of the storage that a tensor touches."""
    start = tensor.storage_offset()
    if tensor.numel() == 0:
        return start, start
    return start, start + 1 + sum((n - 1) * d for n, d in zip(tensor.shape, tensor.stride()))


def copy_span(tensor, start, stop):
    """The elements [start, stop) of a tensor's storage, on the CPU.  `clone` would lose the strides."""
    return torch.as_strided(tensor, (stop - start,), (1,), start).to("cpu", copy=True)


def is_plain(tensor):
    return (
        tensor.layout == torch.strided
        and not tensor.is_quantized
        and not tensor.is_nested
        and tensor.device.type != "meta"
        and not hasattr(tensor, "__tensor_flatten__")
        and safetensors_dtype(tensor.dtype) is not None
    )


def is_unreal(value):
    if not isinstance(value, torch.Tensor):
        return False
    return isinstance(value, FakeTensor) or torch._is_functional_tensor(value)


def leaves(values):
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from leaves(v)
        else:
            yield v


class Values:
    """Encodes the values of one side (inputs or outputs) of one call."""

    def __init__(self, store, file_id):
        self.store, self.file_id = store, file_id
        self.in_use = {}
        self.spans = {}  # (storage, dtype): (first element, one past the last, number of geometries)
        self.shared = {}  # (storage, dtype): place of the stored span
        self.left = store.CALL_LIMIT

    def encode_all(self, names, values):
        geometries = {}
        for t in leaves(values):
            if isinstance(t, torch.Tensor) and is_plain(t):
                geometries.setdefault(self.storage(t), {})[(span(t), tuple(t.shape), tuple(t.stride()))] = t
        for storage, group in geometries.items():
            touched = [s for s, _, _ in group]
            start, stop = min(s[0] for s in touched), max(s[1] for s in touched)
            if len(group) > 1 and stop - start <= 4 * max(sum(t.numel() for t in group.values()), 1):
                self.spans[storage] = (start, stop)
        return [self.encode(name, value) for name, value in zip(names, values)]

    @staticmethod
    def storage(tensor):
        return (tensor.untyped_storage()._cdata, tensor.dtype)

    def encode(self, name, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(name, value.detach())
        if isinstance(value, (list, tuple)):
            return [self.encode(f"{name}.{i}", v) for i, v in enumerate(value)]
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, SYMBOLIC):
            return {"$sym": {"expr": str(value)}}
        if isinstance(value, (int, float, complex)):
            return encode_number(value)
        return {"$raw": f"<{type(value).__module__}.{type(value).__qualname__}>"}

    def tensor(self, name, tensor):
        if not is_plain(tensor):
            return {"$raw": f"<{type(tensor).__name__} {annotation(tensor)}>"}
        tensor = tensor.resolve_conj().resolve_neg()
        storage = self.storage(tensor)
        start, stop = self.spans.get(storage) or span(tensor)
        dense = tuple(tensor.stride()) == dense_strides(tensor.shape) or tensor.numel() == 0
        dense = dense and storage not in self.spans
        sparse = stop - start > 4 * max(tensor.numel(), 1) and storage not in self.spans
        nbytes = (tensor.numel() if sparse else stop - start) * tensor.element_size()
        if nbytes > min(self.store.TENSOR_LIMIT, self.left, self.store.TOTAL_LIMIT - self.store.total):
            return {"$raw": summary(tensor)}
        self.left -= nbytes
        if dense or sparse:  # a view that skips most of its storage is stored without its strides
            flat = tensor.contiguous().reshape(-1).to("cpu", copy=True)
            return {"$tensor": self.store.put(self.file_id, name, flat, tensor.shape, self.in_use, storage)}
        place = self.shared.get((storage, start, stop))
        if place is None:
            flat = copy_span(tensor, start, stop)
            place = self.store.put(self.file_id, name, flat, flat.shape, self.in_use, storage)
            self.shared[(storage, start, stop)] = place
        offset = tensor.storage_offset() - start
        view = {"size": list(tensor.shape), "stride": list(tensor.stride()), "offset": offset}
        return {"$tensor": [*place, view]}


def summary(tensor):
    """What is kept of a tensor that is too large to store."""
    text = f"<{annotation(tensor)} too large to record"
    if tensor.is_floating_point():
        t = tensor.double()
        text += f"; min {t.min():g}, max {t.max():g}, mean {t.mean():g}"
        text += f", {int(t.isnan().sum())} nan, {int(t.isinf().sum())} inf"
    return text + ">"


# ---- graphs ----------------------------------------------------------------------------------------


def annotation(val):
    """The annotation that PyTorch prints for a value, a list of them, or None."""
    if isinstance(val, torch.Tensor):
        text = f"{dtype_code(val.dtype)}[{', '.join(str(s) for s in val.shape)}]"
        with contextlib.suppress(Exception):  # sparse and nested tensors have no strides
            text += f"[{', '.join(str(s) for s in val.stride())}]"
        return text + str(val.device)
    if isinstance(val, SYMBOLIC):
        return f"Sym({val})"
    if isinstance(val, (list, tuple)):
        return [annotation(v) for v in val]
    return None


def qualified_name(target):
    """The name by which a callable is printed in the code of a graph."""
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    try:
        name = torch.fx.node._get_qualified_name(target)
    except Exception:
        name = f"{getattr(target, '__module__', None) or 'unknown'}.{getattr(target, '__qualname__', repr(target))}"
    return re.sub(r"^_operator\.", "operator.", name)


def encode_number(value):
    if isinstance(value, int):
        return value if abs(value) <= 1 << 53 else {"$int": str(value)}
    if isinstance(value, complex):
        return {"$complex": [encode_number(value.real), encode_number(value.imag)]}
    if math.isnan(value):
        return {"$f": "nan"}
    return float(value) if math.isfinite(value) else {"$f": "inf" if value > 0 else "-inf"}


def encode_symbolic(value):
    entry = {"expr": str(value)}
    hint = getattr(getattr(value, "node", None), "hint", None)
    if isinstance(hint, (bool, int, float)):
        entry["hint"] = hint
    return {"$sym": entry}


def encode_argument(arg):
    if arg is None or isinstance(arg, (bool, str)):
        return arg
    if isinstance(arg, torch.fx.Node):
        return {"$n": arg.name}
    if isinstance(arg, SYMBOLIC):
        return encode_symbolic(arg)
    if isinstance(arg, enum.Enum):
        return {"$raw": str(arg)}
    if isinstance(arg, (int, float, complex)):
        return encode_number(arg)
    if isinstance(arg, tuple):  # also torch.Size and named tuples
        return {"$tuple": [encode_argument(a) for a in arg]}
    if isinstance(arg, list):
        return [encode_argument(a) for a in arg]
    if isinstance(arg, dict):
        return {"$dict": [[encode_argument(k), encode_argument(v)] for k, v in arg.items()]}
    if isinstance(arg, (slice, range)):
        return {f"${type(arg).__name__}": [encode_argument(a) for a in (arg.start, arg.stop, arg.step)]}
    if isinstance(arg, bytes):
        return {"$bytes": base64.b64encode(arg).decode()}
    if isinstance(arg, torch.dtype):
        return {"$dtype": dtype_code(arg)}
    if isinstance(arg, torch.device):
        return {"$device": str(arg)}
    if isinstance(arg, torch.layout):
        return {"$layout": str(arg).removeprefix("torch.")}
    if isinstance(arg, torch.memory_format):
        return {"$memfmt": str(arg).removeprefix("torch.")}
    if arg is Ellipsis:
        return {"$ellipsis": True}
    if isinstance(arg, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return {"$op": qualified_name(arg)}
    return {"$raw": repr(arg)[:4096]}


def clean_path(source):
    """`L['self']._modules['h']._modules['0']` or `L['self'].h[0]` as `h.0`."""
    text, before = source, None
    while text != before:
        before = text
        text = re.sub(r"getattr\(([^()]*), ?['\"](\w+)['\"]\)", r"\1.\2", text)
    text = re.sub(r"\._(?:modules|parameters|buffers)\[['\"]([^'\"]+)['\"]\]", r".\1", text)
    text = re.sub(r"^[LG]\[['\"](\w+)['\"]\]", r"\1", text)
    text = re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", text)
    text = re.sub(r"^(?:self|L__self__)\b\.?|^L__self___", "", text)
    return text


def module_stack(stack):
    """[[path, type name], ...], outermost first."""
    result = []
    for value in stack.values():
        path, kind = (value[0], value[1]) if isinstance(value, tuple) else (value, "")
        kind = kind.__name__ if isinstance(kind, type) else str(kind).rsplit(".", 1)[-1]
        result.append([clean_path(str(path)), kind])
    return result


def input_source(node):
    """Where Dynamo took an input from, as an expression over the frame; None if unknown."""
    source = getattr(node.meta.get("grapharg"), "source", None) or getattr(node, "_dynamo_source", None)
    name = getattr(source, "name", None)
    return name() if callable(name) else name


def plain_metadata(value, depth=0):
    """fw_metadata as JSON: data classes as objects, what JSON cannot say as text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (int, float)):
        return encode_number(value)
    if isinstance(value, torch.Tensor):
        return annotation(value)
    if depth < 8:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [f.name for f in dataclasses.fields(value)]
            return {f: plain_metadata(getattr(value, f, None), depth + 1) for f in fields}
        if isinstance(value, (list, tuple)):
            return [plain_metadata(v, depth + 1) for v in value]
        if isinstance(value, (set, frozenset)):
            return sorted((plain_metadata(v, depth + 1) for v in value), key=str)
        if isinstance(value, dict):
            return {str(k): plain_metadata(v, depth + 1) for k, v in value.items()}
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:4096]


class GraphRecord:
    """What is remembered of a graph after it has been written."""

    def __init__(self, graph_id, role, region):
        self.id, self.role, self.region = graph_id, role, region
        self.names = ()  # of all nodes
        self.inputs = []  # of each placeholder: {"name", "device", and what is known of it}
        self.taps = set()  # nodes whose value is new memory
        self.floating = set()  # nodes whose value is a floating-point tensor
        self.module = None  # a copy that the compiler cannot touch, for the values of nodes

    def facts(self, name):
        return next((i for i in self.inputs if i["name"] == name), {})


class GraphWriter:
    """Writes one graph: `graphs/<id>.json` and `text/<id>.txt`."""

    FACTS = ("param", "requires_grad", "source")

    def __init__(self, session, record, module, facts):
        self.session, self.record, self.module, self.facts = session, record, module, facts
        self.storages = {}  # storage: class
        self.owned = set()  # classes that a node before this one showed

    def write(self):
        graph, record = self.module.graph, self.record
        lines = [self.node(n) for n in graph.nodes]
        record.names = tuple(n.name for n in graph.nodes)
        codegen = getattr(getattr(graph, "_codegen", None), "pytree_info", None)
        placeholders = [str(n.target) for n in graph.nodes if n.op == "placeholder"]
        head = [("class", self.class_name()), ("inputs", placeholders)]
        if codegen is not None:
            head = [("class", self.class_name()), ("codegen", "pytree"), ("inputs", list(codegen.orig_args))]
        head = in_order(head)[:-1]
        tail = f'"subgraphs": {compact(self.subgraphs())}, "attrs": {compact(self.attributes())}'
        body = ",\n".join(lines)
        self.session.write(f"graphs/{record.id}.json", f'{{"graph": {head},\n"nodes": [\n{body}\n]}},\n{tail}}}\n')
        text = self.module.print_readable(print_output=False, include_stride=True, include_device=True)
        self.session.write(f"text/{record.id}.txt", self.session.rename(text))

    def class_name(self):
        return type(self.module).__name__ if not hasattr(self.module, "_get_name") else self.module._get_name()

    def node(self, node):
        items = [("name", node.name), ("op", node.op)]
        if node.op != "output":
            items.append(("target", qualified_name(node.target)))
        if node.args:
            items.append(("args", [encode_argument(a) for a in node.args]))
        if node.kwargs:
            items.append(("kwargs", {k: encode_argument(v) for k, v in node.kwargs.items()}))
        if node.type is not None:
            items.append(("type", torch.fx.node._type_repr(node.type)))
        value = node.meta.get("val", node.meta.get("example_value"))
        val = annotation(value)
        if val is not None:
            items.append(("val", val))
        meta = self.meta(node, value)
        if meta:
            items.append(("meta", meta))
        return in_order_with_kwargs(items)

    def meta(self, node, value):
        source, meta = node.meta, {}
        if source.get("stack_trace"):
            meta["stack"] = {"$str": self.session.string(self.session.rename(source["stack_trace"]))}
        for key, stack in (("modules", "nn_module_stack"), ("fwd_modules", "fwd_nn_module_stack")):
            if source.get(stack):
                meta[key] = module_stack(source[stack])
        for key in ("seq_nr", "ac_graph_id"):
            if isinstance(source.get(key), int):
                meta[key] = source[key]
        if source.get("original_aten") is not None:
            meta["original_aten"] = qualified_name(source["original_aten"])
        if source.get("partitioner_tag") is not None:
            meta["partitioner_tag"] = str(source["partitioner_tag"])
        if source.get("recompute") is not None:
            choice = source["recompute"]
            meta["recompute"] = choice.name if isinstance(choice, enum.Enum) else str(choice)
        self.storage_facts(node, value, meta)
        if node.op == "placeholder":
            self.placeholder(node, value, meta)
        return meta

    def storage_facts(self, node, value, meta):
        if isinstance(value, torch.Tensor):
            storage = self.storage(value)
            if storage is not None:
                meta["alias"] = storage
                with contextlib.suppress(Exception):
                    offset = value.storage_offset()
                    if str(offset) != "0":
                        meta["offset"] = offset if type(offset) is int else str(offset)
            if node.op == "call_function" and storage not in self.owned and not is_uninitialised(node.target):
                self.record.taps.add(node.name)
            if storage is not None:
                self.owned.add(storage)
            if value.dtype.is_floating_point:
                self.record.floating.add(node.name)

    def storage(self, value):
        """A number for the storage of a tensor, in order of appearance; tensors that share it are views."""
        try:
            key = value.untyped_storage()._cdata
        except Exception:
            return None
        return self.storages.setdefault(key, len(self.storages))

    def placeholder(self, node, value, meta):
        facts = dict(self.facts(node.name, len(self.record.inputs)))
        source = input_source(node)
        if source:
            facts["source"] = source
            is_state = isinstance(value, torch.nn.Parameter) or re.search(r"_(parameters|buffers)\[", source)
            if is_state:
                facts["param"] = clean_path(source)
        if isinstance(value, torch.Tensor) and "example_value" in node.meta and value.requires_grad:
            facts["requires_grad"] = True
        meta.update({k: facts[k] for k in self.FACTS if facts.get(k)})
        device = str(value.device) if isinstance(value, torch.Tensor) else "cpu"
        self.record.inputs.append({**facts, "name": node.name, "device": device})

    def subgraphs(self):
        found = {}
        for name, child in self.module.named_children():
            if isinstance(child, torch.fx.GraphModule):
                child_id = re.sub(r"[^a-z0-9_-]", "_", f"{self.record.id}-{name}".lower())[:64]
                self.session.add_graph(child_id, "subgraph", self.record.region, child)
                found[name] = child_id
        return found

    def attributes(self):
        found = {}
        for node in self.module.graph.nodes:
            if node.op != "get_attr" or node.target in found:
                continue
            value = functools.reduce(lambda o, k: getattr(o, k, None), node.target.split("."), self.module)
            if isinstance(value, torch.fx.GraphModule) or value is None:
                continue
            found[node.target] = self.session.constant(self.record.region, node.target, value)
        return found


def is_uninitialised(target):
    """Whether an operator gives memory as it finds it, which no two runs have in common."""
    return isinstance(target, torch._ops.OpOverload) and re.match(r"\w+::(new_)?empty", target._schema.name)


def in_order_with_kwargs(items):
    """A node's line: keyword arguments keep their order, meta is sorted."""
    parts = []
    for key, value in items:
        text = in_order(value.items()) if key == "kwargs" else compact(value)
        parts.append(f'"{key}": {text}')
    return "{" + ", ".join(parts) + "}"


def frozen_copy(module):
    """A graph module over the same constants whose nodes the compiler cannot edit."""
    graph, known = torch.fx.Graph(), {}
    result = graph.graph_copy(module.graph, known)
    graph.output(result)
    for old, new in known.items():
        new.name, new.meta = old.name, {}
    return torch.fx.GraphModule(module, graph)


# ---- values of nodes -------------------------------------------------------------------------------


class Taps(torch.fx.Interpreter):
    """Runs a recorded graph and keeps the value of each node that is not a view of another one."""

    def __init__(self, record, keep, wide=None):
        super().__init__(record.module)
        self.record, self.keep, self.wide, self.node = record, keep, wide, None
        self.random = {}  # results of random nodes, which the wide run takes from the narrow one

    def run_node(self, node):
        self.node = node
        value = super().run_node(node)
        if node.name in self.record.taps and isinstance(value, torch.Tensor):
            self.keep(node.name, value)
        return value

    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        return promote(value) if self.wide else value

    def call_function(self, target, args, kwargs):
        random = isinstance(target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in target.tags
        if not self.wide:
            value = super().call_function(target, args, kwargs)
            if random:
                self.random[self.node.name] = torch.utils._pytree.tree_map(
                    lambda v: v.clone() if isinstance(v, torch.Tensor) else v, value
                )
            return value
        if random:
            return self.replay_random(target, args)
        args, kwargs = promote_dtypes(args), promote_dtypes(kwargs)
        if isinstance(target, torch._ops.OpOverload) and self.node.name in self.record.floating:
            parameters = {a.name for a in target._schema.arguments}
            if "dtype" in parameters and kwargs.get("dtype") is None and len(args) < len(target._schema.arguments):
                kwargs = {**kwargs, "dtype": torch.float64}
        return super().call_function(target, args, kwargs)

    def replay_random(self, target, args):
        drawn = self.wide.random[self.node.name]
        if target is torch.ops.aten.native_dropout.default:
            keep = drawn[1]
            return args[0] * keep / (1 - args[1]) if args[1] < 1 else args[0] * 0, keep
        return torch.utils._pytree.tree_map(promote, drawn)


def promote(value):
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            return value.double()
        if value.is_complex():
            return value.to(torch.complex128)
    return value


class OtherRandomNumbers(ValueError):
    """A graph that draws random numbers does not give what was recorded."""


def agree(results, recorded):
    """Whether results are the recorded ones but for rounding."""

    def one(a, b):
        if not isinstance(b, torch.Tensor):
            return True
        return torch.allclose(a.cpu().double(), b.double(), rtol=1e-2, atol=1e-2, equal_nan=True)

    return all(one(a, b) for a, b in zip(leaves(results), leaves(recorded)))


def promote_dtypes(args):
    def one(arg):
        return torch.float64 if isinstance(arg, torch.dtype) and arg.is_floating_point else arg

    return torch.utils._pytree.tree_map(one, args)


# ---- regions and calls -----------------------------------------------------------------------------


class Region:
    """One compiled region: its graphs and the calls that were recorded of them."""

    def __init__(self, session, region_id, compile_id, attempt):
        self.session, self.id, self.compile_id, self.attempt = session, region_id, compile_id, attempt
        self.graphs = {}  # role: GraphRecord
        self.inputs = []  # facts of the inputs that AOTAutograd gets, in its order
        self.num_fwd_outputs = None
        self.fw_metadata = None
        self.decompositions, self.table = 0, "none"
        self.symbols = {}  # each region has its own: names are not unique in a file
        self.aot = False  # AOTAutograd has started on it
        self.counts = {}  # role: number of calls so far
        self.calls = {}  # (role, n): call
        self.pending = []  # (n, saved storages) of forward calls whose backward has not come yet

    def facts(self, role):
        """What is known of the placeholder `name` at position `index` of a graph of this role."""
        joint = self.graphs.get("joint")

        def by_name(name, index):
            known = joint.facts(name) if joint else {}
            return {k: v for k, v in known.items() if k in ("param", "requires_grad")}

        def by_position(name, index):
            if index < len(self.inputs) and not name.startswith("tangents"):
                return {k: v for k, v in self.inputs[index].items() if k in ("param", "requires_grad")}
            return {}

        if role in ("joint", "inference"):
            return by_position
        return by_name if role in ("forward", "backward") else lambda name, index: {}

    def add_graph(self, role, module):
        known = self.graphs.get(role)
        if known is not None and known.names == tuple(n.name for n in module.graph.nodes):
            return
        record = self.session.add_graph(f"{self.id}-{role}", role, self, module, self.facts(role))
        if role in ("joint", "inference"):
            record.module = frozen_copy(module)
        self.graphs[role] = record

    def pair_inputs(self, module, count):
        """AOTAutograd's inputs are the parameters and buffers that the module still has, then Dynamo's."""
        state = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
        self.inputs = [{"param": clean_path(name), "requires_grad": t.requires_grad} for name, t in state]
        dynamo = self.graphs.get("dynamo")
        if dynamo is not None and len(dynamo.inputs) == count:
            self.inputs += dynamo.inputs
        elif dynamo is not None:  # as below compiled autograd, where Dynamo sees one list
            found = f"{len(dynamo.inputs)} of Dynamo, {count} of AOTAutograd"
            self.session.note(f"{self.id}: inputs are not paired with their sources: {found}", failure=False)

    # ---- calls

    def before(self, role, args):
        """Record the inputs of a call; returns the call, or None when it is not to be recorded."""
        n = self.backward_number(args) if role == "backward" else self.counts.get(role, 0)
        self.counts[role] = self.counts.get(role, 0) + 1
        if n is None or n >= self.session.calls_per_region:
            return None
        graph = self.graphs.get(role)
        if graph is None or any(is_unreal(v) for v in leaves(args)):
            return None
        names = [i["name"] for i in graph.inputs]
        if len(names) != len(args):
            self.session.note(f"{graph.id}: {len(args)} values for {len(names)} placeholders, call not recorded")
            return None
        file_id = f"v{self.id}-{n}"
        call = {"graph": graph.id, "n": n, "rng": self.session.rng(file_id, args)}
        call["inputs"] = Values(self.session.store, file_id).encode_all(names, args)
        return role, n, file_id, call

    def after(self, token, outputs):
        role, n, file_id, call = token
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        prefix = {"forward": "out", "inference": "out", "backward": "grad"}.get(role, f"{role}_out")
        names = [f"{prefix}_{i}" for i in range(len(outputs))]
        call["outputs"] = Values(self.session.store, file_id).encode_all(names, outputs)
        self.calls[(role, n)] = call
        if role == "forward" and self.num_fwd_outputs is not None:
            self.pending.append((n, storages(outputs[self.num_fwd_outputs :])))

    def backward_number(self, args):
        """Number of the recorded forward call that this backward call belongs to: it saved these tensors."""
        for i, (n, saved) in enumerate(self.pending):
            given = {t.untyped_storage()._cdata for t in leaves(args) if isinstance(t, torch.Tensor) and is_plain(t)}
            if all(not ref.expired() and ref.cdata in given for ref in saved) or self.counts.get("forward") == 1:
                del self.pending[i]
                return n
        return None

    def derive_joint_calls(self):
        """PyTorch never calls the joint graph; its values are those of the forward and the backward call."""
        joint, forward, backward = (self.graphs.get(r) for r in ("joint", "forward", "backward"))
        if not (joint and forward and backward) or self.num_fwd_outputs is None:
            return
        for (role, n), call in list(self.calls.items()):
            back = self.calls.get(("backward", n))
            if role != "forward" or back is None:
                continue
            known = dict(zip((i["name"] for i in backward.inputs), back["inputs"]))
            known.update(zip((i["name"] for i in forward.inputs), call["inputs"]))
            missing = [i["name"] for i in joint.inputs if i["name"] not in known]
            if missing:
                self.session.note(f"{joint.id}: no call, no value for {', '.join(missing)}")
                continue
            self.calls[("joint", n)] = {
                "graph": joint.id, "n": n, "derived": True, "rng": call["rng"],
                "inputs": [known[i["name"]] for i in joint.inputs],
                "outputs": call["outputs"][: self.num_fwd_outputs] + back["outputs"],
            }  # fmt: skip

    def record_taps(self):
        for role, served in (("joint", ("joint", "forward", "backward")), ("inference", ("inference",))):
            for (_, n), call in [(k, c) for k, c in self.calls.items() if k[0] == role]:
                taps = self.session.tap(self, self.graphs[role], n, call)
                for other in served:
                    if taps and (other, n) in self.calls:
                        self.calls[(other, n)]["taps"] = taps

    def manifest(self):
        entry = {"id": self.id, "compile_id": self.compile_id, "rank": self.session.rank, "attempt": self.attempt}
        entry["graphs"] = {role: record.id for role, record in self.graphs.items()}
        entry["decompositions"] = self.decompositions
        if self.symbols:
            entry["symbols"] = self.symbols
        if self.num_fwd_outputs is not None:
            entry["num_fwd_outputs"] = self.num_fwd_outputs
        if self.fw_metadata is not None:
            entry["fw_metadata"] = self.fw_metadata
        return entry


def table_name(table):
    """Whose decompositions a table holds."""
    if not table:
        return "none"
    if isinstance(table, collections.abc.Mapping):
        for name, module, function in TABLES:
            known = getattr(sys.modules.get(module), function, None)  # what is not imported is not in use
            if known is not None and known().keys() == table.keys():
                return name
    return "custom"


def storages(values):
    from torch.multiprocessing.reductions import StorageWeakRef

    return [StorageWeakRef(t.untyped_storage()) for t in leaves(values) if isinstance(t, torch.Tensor) and is_plain(t)]


# ---- the session -----------------------------------------------------------------------------------


def guarded(function):
    """A method of the session that may fail without harm: what goes wrong becomes a note."""

    @functools.wraps(function)
    def run(self, *args, **kwargs):
        if not self.active:
            return None
        try:
            with self.lock, torch.no_grad(), _disable_current_modes(), torch._C.DisableTorchFunction():
                return function(self, *args, **kwargs)
        except Exception as error:
            self.note(f"{function.__name__}: {type(error).__name__}: {error}")
            return None

    return torch._dynamo.disable(run)


class Session:
    """One `record` block."""

    TAP_LIMIT = 16 * MIB
    TAP_NODES = 5000

    def __init__(self, path, calls, taps, rename):
        self.path, self.single = path, path.endswith(".adjoint")
        self.folder = path + ".partial" if self.single else path
        self.calls_per_region, self.with_taps, self.prefixes = calls, taps, rename
        self.active, self.lock = True, threading.RLock()
        self.notes, self.failures, self.strings, self.string_index = [], 0, [], {}
        self.graphs, self.regions, self.written, self.symbols = {}, {}, {}, {}
        self.rank = None
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.rank = torch.distributed.get_rank()
        if os.path.exists(self.folder):
            if os.path.exists(os.path.join(self.folder, "adjoint.json")) or self.single or not os.listdir(self.folder):
                shutil.rmtree(self.folder)
            else:
                raise FileExistsError(f"{self.folder} exists and is not a capture")
        for name in ("graphs", "tensors", "text"):
            os.makedirs(os.path.join(self.folder, name))
        self.store = Store(os.path.join(self.folder, "tensors"))

    def note(self, text, failure=True):
        """Say in the manifest what is missing and why; a failure is a warning too."""
        if text not in self.notes:
            self.notes.append(text)
            if failure:
                self.failures += 1
                warnings.warn(f"adjoint_capture: {text}", stacklevel=3)

    def string(self, text):
        if text not in self.string_index:
            self.string_index[text] = len(self.strings)
            self.strings.append(text)
        return self.string_index[text]

    def rename(self, text):
        for old, new in self.prefixes.items():
            text = text.replace(old, new)
        return text

    def write(self, name, text):
        data = text.encode("utf-8", "backslashreplace")
        with open(os.path.join(self.folder, name), "wb") as out:
            out.write(data)
        self.written[name] = hashlib.sha256(data).hexdigest()

    def rng(self, file_id, args):
        values = Values(self.store, file_id)
        state = {"cpu": values.encode("rng_cpu", torch.get_rng_state())}
        for device in {t.device for t in leaves(args) if isinstance(t, torch.Tensor) and t.device.type == "cuda"}:
            name = str(device)
            state[name] = values.encode(f"rng_{name.replace(':', '_')}", torch.cuda.get_rng_state(device))
        return state

    def constant(self, region, name, value):
        if not isinstance(value, torch.Tensor) or is_unreal(value):
            return {"$raw": f"<{type(value).__module__}.{type(value).__qualname__}>"}
        return Values(self.store, f"c{region.id}").encode_all([name], [value])[0]

    def add_graph(self, graph_id, role, region, module, facts=lambda name, index: {}):
        record = GraphRecord(graph_id, role, region)
        GraphWriter(self, record, module, facts).write()
        self.graphs[graph_id] = record
        return record

    # ---- regions

    def region(self, restart):
        """The region of the current compile id; a new one when it was recorded before or is `restart`ed."""
        trace = torch._guards.CompileContext.current_trace_id()
        compile_id = str(trace.compile_id) if trace else None
        attempt = trace.attempt if trace else 0
        if compile_id is None:
            base = f"x{len(self.regions)}"
        else:
            base = re.sub(r"^!", "ca", compile_id).replace("/", "-") + (f"-{attempt}" if attempt else "")
        base = base if self.rank is None else f"r{self.rank}-{base}"
        region_id, part = base, 0
        while region_id in self.regions:
            known = self.regions[region_id]
            if not known.counts and (restart or not known.aot):
                break
            part += 1
            region_id = f"{base}-p{part}"
        if restart or region_id not in self.regions:
            self.regions[region_id] = Region(self, region_id, compile_id, attempt)
        return self.regions[region_id]

    @guarded
    def dynamo_compiled(self, module):
        region = self.region(restart=True)
        region.add_graph("dynamo", module)
        self.read_symbols(region)
        return region

    @guarded
    def aot_started(self, arguments):
        region = self.region(restart=False)
        region.aot = True
        table = arguments.get("decompositions") or {}
        region.decompositions, region.table = len(table), table_name(table)
        region.pair_inputs(arguments["mod"], len(arguments["args"]))
        return region

    @guarded
    def partitioning(self, region, joint, joint_inputs, num_fwd_outputs):
        if "joint" in region.graphs or not joint_inputs:
            self.note(f"{region.id}: nested joint graph not recorded")
            return False
        region.num_fwd_outputs = num_fwd_outputs
        region.add_graph("joint", joint)
        return True

    @guarded
    def partitioned(self, region, forward, backward):
        region.add_graph("forward", forward)
        region.add_graph("backward", backward)

    @guarded
    def compiling(self, region, role, module):
        region.add_graph(role, module)
        context = torch._guards.TracingContext.try_get()
        if context is not None and context.fw_metadata is not None and region.fw_metadata is None:
            region.fw_metadata = plain_metadata(context.fw_metadata)

    @guarded
    def calling(self, region, role, args):
        if any(t.device.type == "cuda" for t in leaves(args) if isinstance(t, torch.Tensor)):
            if torch.cuda.is_current_stream_capturing():
                return None
        return region.before(role, args)

    @guarded
    def called(self, token, outputs):
        token[1].after(token[0], outputs)

    @guarded
    def compiled_autograd_traced(self, module):
        number = sum(r.startswith("ca") and r[2:].isdigit() for r in self.regions)
        region = Region(self, f"ca{number}", f"!{number}", 0)
        self.regions[region.id] = region
        region.add_graph("compiled_autograd", module)
        return region

    def read_symbols(self, region):
        context = torch._guards.TracingContext.try_get()
        env = getattr(getattr(context, "fake_mode", None), "shape_env", None)
        if env is None:
            return
        hints = env.backed_var_to_val if hasattr(env, "backed_var_to_val") else env.var_to_val
        for symbol, hint in hints.items():
            entry = {"hint": int(hint)} if re.fullmatch(r"-?\d+", str(hint)) else {}
            bounds = getattr(env, "var_to_range", {}).get(symbol)
            if bounds is not None:
                limits = [str(bounds.lower), str(bounds.upper)]
                entry["range"] = [int(b) if re.fullmatch(r"-?\d{1,15}", b) else None for b in limits]
            sources = getattr(env, "var_to_sources", {}).get(symbol) or []
            for source in sources[:1]:
                entry["source"] = source.name() if callable(source.name) else source.name
            region.symbols[str(symbol)] = entry
        self.symbols.update(region.symbols)

    # ---- values of nodes

    def tap(self, region, record, n, call):
        """Run a recorded graph again on its recorded inputs, in float32 and in float64."""
        if not self.with_taps or record.module is None or len(record.names) > self.TAP_NODES:
            return None
        files = {"f32": f"tap32-{region.id}-{n}", "f64": f"tap64-{region.id}-{n}"}
        try:
            inputs = self.store.load(call["inputs"])
            inputs = [v.to(i["device"]) if isinstance(v, torch.Tensor) else v for v, i in zip(inputs, record.inputs)]
            state = self.store.load(call["rng"]["cpu"])
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(state)
                narrow = Taps(record, self.keeper(files["f32"]))
                outputs = narrow.run(*[copy_of(v) for v in inputs], enable_io_processing=False)
                if narrow.random and not agree(outputs, self.store.load(call["outputs"])):
                    raise OtherRandomNumbers("the compiler draws other random numbers than PyTorch")
                wide = Taps(record, self.keeper(files["f64"]), narrow)
                wide.run(*[promote(copy_of(v)) for v in inputs], enable_io_processing=False)
        except Exception as error:
            failure = not isinstance(error, OtherRandomNumbers)
            self.note(f"{record.id}: no values of nodes: {type(error).__name__}: {error}", failure)
            for name in files.values():
                self.store.discard(name)
            return None
        return files

    def keeper(self, file_id):
        target = self.store.file(file_id)

        def keep(name, value):
            flat = value.detach().contiguous().reshape(-1).cpu()
            nbytes = flat.numel() * flat.element_size()
            dtype = safetensors_dtype(flat.dtype)
            if dtype is None:
                return
            if target.size + nbytes > self.TAP_LIMIT:
                raise ValueError("they are too large")
            target.add(name, dtype, value.shape, ctypes.string_at(flat.data_ptr(), nbytes) if nbytes else b"")

        return keep

    # ---- the end

    @guarded
    def collect(self):
        for region in self.regions.values():
            region.derive_joint_calls()
            region.record_taps()

    def finish(self):
        self.collect()
        self.active = False
        with self.lock:
            live = [r for r in self.regions.values() if r.graphs]
            tensors = [{"id": k, "sha256": f.finish()} for k, f in sorted(self.store.files.items())]
            calls = [c for r in live for c in r.calls.values()]
            self.write("adjoint.json", self.manifest(live, tensors, calls))
        for graph in self.graphs.values():
            graph.module = None  # compiled functions keep our wrappers, and through them this session
        if self.single:
            pack(self.folder, self.path)
            shutil.rmtree(self.folder)

    def manifest(self, live, tensors, calls):
        graphs = [
            {
                "id": g.id, "title": f"{g.region.compile_id or g.region.id} {g.role.replace('_', ' ')}", "role": g.role,
                "compile_id": g.region.compile_id, "rank": self.rank, "sha256": self.written[f"graphs/{g.id}.json"],
            }
            for g in self.graphs.values()
        ]  # fmt: skip
        tables = sorted({r.table for r in live if r.aot})
        source = {
            "kind": "capture", "name": os.path.basename(self.path), "torch_version": torch.__version__,
            "torch_git": torch.version.git_version, "decompositions": ", ".join(tables) or "none",
        }  # fmt: skip
        items = {
            "format": "adjoint", "version": FORMAT_VERSION, "requires": [], "source": source,
            "producer": {"name": "adjoint_capture", "version": VERSION}, "notes": self.notes,
            "graphs": graphs, "tensors": tensors, "regions": [r.manifest() for r in live], "calls": calls,
            "strings": self.strings, "symbols": self.symbols,
        }  # fmt: skip
        lines = []
        for key, value in items.items():
            text = compact(value)
            if isinstance(value, list) and value and key != "version":
                text = "[\n" + ",\n".join(compact(v) for v in value) + "\n]"
            lines.append(f'"{key}": {text}')
        return "{" + ",\n".join(lines) + "}\n"


def copy_of(value):
    """A copy of a tensor that keeps its strides."""
    if not isinstance(value, torch.Tensor):
        return value
    start, stop = span(value)
    flat = torch.as_strided(value, (stop - start,), (1,), start).clone()
    return torch.as_strided(flat, value.shape, value.stride(), 0)


def pack(folder, path):
    """The single-file form: a ZIP of stored entries, manifest first, all data aligned to 64 bytes."""
    names = sorted(
        os.path.relpath(os.path.join(where, name), folder).replace(os.sep, "/")
        for where, _, found in os.walk(folder)
        for name in found
    )
    names.sort(key=lambda n: n != "adjoint.json")
    partial = path + ".zip"
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as out:
        for name in names:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            padding = -(out.fp.tell() + 30 + len(name.encode())) % 64
            padding += 64 if 0 < padding < 4 else 0
            if padding:
                entry.extra = b"FB" + (padding - 4).to_bytes(2, "little") + b"Z" * (padding - 4)
            with open(os.path.join(folder, name), "rb") as source:
                out.writestr(entry, source.read())
    os.replace(partial, path)


# ---- hooks -----------------------------------------------------------------------------------------


def hook_dynamo(session):
    original = output_graph.OutputGraph.call_user_compiler

    def call_user_compiler(self, gm, *args, **kwargs):
        session.dynamo_compiled(gm)
        return original(self, gm, *args, **kwargs)

    return output_graph.OutputGraph, "call_user_compiler", call_user_compiler


def hook_aot(session):
    original = common.aot_module_simplified
    signature = inspect.signature(original)
    missing = {"mod", "args", "fw_compiler", "bw_compiler", "partition_fn"} - set(signature.parameters)
    if missing:
        raise TypeError(f"aot_module_simplified has no {', '.join(sorted(missing))}")

    @functools.wraps(original)
    def aot_module_simplified(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        region = session.aot_started(arguments)
        if region is not None:
            forward = arguments["fw_compiler"]
            backward = arguments.get("bw_compiler") or forward
            inference = arguments.get("inference_compiler") or forward
            arguments["partition_fn"] = wrap_partition(session, region, arguments["partition_fn"])
            arguments["inference_compiler"] = wrap_compiler(session, region, "inference", inference)
            arguments["bw_compiler"] = wrap_compiler(session, region, "backward", backward)
            arguments["fw_compiler"] = wrap_compiler(session, region, "forward", forward)
        return original(*bound.args, **bound.kwargs)

    return common, "aot_module_simplified", aot_module_simplified


def wrap_partition(session, region, partition):
    @functools.wraps(partition)
    def wrapped(joint, joint_inputs, **kwargs):
        ours = session.partitioning(region, joint, joint_inputs, kwargs.get("num_fwd_outputs"))
        forward, backward = partition(joint, joint_inputs, **kwargs)
        if ours:
            session.partitioned(region, forward, backward)
        return forward, backward

    return wrapped


def wrap_compiler(session, region, role, compiler):
    def wrapped(module, example_inputs):
        session.compiling(region, role, module)  # before the compiler, which may edit the graph in place
        inner = compiler(module, example_inputs)
        boxed = getattr(inner, "_boxed_call", False)

        def call(args):
            token = session.calling(region, role, args)
            out = inner(args) if boxed else inner(*args)
            if token is not None:
                session.called((token, region), out)
            return out

        if not boxed:
            return lambda *args: call(list(args))
        call._boxed_call = True
        return call

    return wrapped


def hook_compiled_autograd(session):
    original = compiled_autograd.AutogradCompilerInstance.__init__

    def __init__(self, compiler_fn, *args, **kwargs):
        def wrapped(module):
            region = session.compiled_autograd_traced(module)
            compiled = compiler_fn(module)

            @torch._dynamo.disable  # a backward may run under an active frame callback
            def run(inputs, *rest):
                token = session.calling(region, "compiled_autograd", [inputs, *rest]) if region else None
                out = compiled(inputs, *rest)
                if token is not None:
                    session.called((token, region), out)
                return out

            return run

        original(self, wrapped, *args, **kwargs)

    return compiled_autograd.AutogradCompilerInstance, "__init__", __init__


@contextlib.contextmanager
def without_aot_cache():
    """A hit of this cache would skip the joint trace, and with it everything there is to record."""
    names = ("enable_autograd_cache", "enable_remote_autograd_cache", "bundled_autograd_cache")
    changes = {n: False for n in names if hasattr(functorch_config, n)}
    with functorch_config.patch(changes):
        yield


@contextlib.contextmanager
def record(path, *, calls=1, taps=True, rename=types.MappingProxyType({})):
    """Record all regions that are compiled inside the block into `path`.

    calls   how many calls of each region are recorded with their values
    taps    whether the value of every node of small graphs is recorded
    rename  {text: replacement} for the paths in stack traces, to share a capture without them

    Regions compiled before the block are not seen; call torch._dynamo.reset() first to have them
    compiled again.
    """
    session, undo = None, []
    try:
        session = Session(os.fspath(path), calls, taps, dict(rename))
    except Exception as error:
        warnings.warn(f"adjoint_capture: nothing is recorded: {error}", stacklevel=3)
    for hook in (hook_dynamo, hook_aot, hook_compiled_autograd) if session else ():
        try:
            owner, name, replacement = hook(session)
            undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, replacement)
        except Exception as error:
            session.note(f"{hook.__name__} is not possible here: {type(error).__name__}: {error}")
    try:
        with without_aot_cache():
            yield session
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)
        if session is not None:
            try:
                session.finish()
            except Exception as error:
                session.active = False
                warnings.warn(f"adjoint_capture: {path} was not written: {error}", stacklevel=3)
