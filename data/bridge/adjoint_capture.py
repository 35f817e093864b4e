# SPDX-License-Identifier: MIT
"""Record what torch.compile makes of a program, or one graph, for Adjoint.  Four ways:

    with adjoint_capture.record("step.adjoint"):
        loss = compiled_model(x)
        loss.backward()

    model = torch.compile(model, backend=adjoint_capture.backend("step.adjoint"))

    python -m adjoint_capture [-o OUT.adjoint] script.py [ARGUMENTS]

    step = adjoint_capture.trace(train_step, (state, batch))
    outputs = adjoint_capture.run(step, (state, batch), "step.adjoint")

The last is for a graph that no compiler was given: `trace` is make_fx and keeps what it forgets, `run` runs a graph once
and records it.  Each of the others writes every compiled region with its Dynamo, joint, forward, backward, inference
and compiled-autograd graphs, what the calling thread was set to (grad mode, autocast), the real values that went in and
out of them, the state of the random generators before each call, and, for small graphs, the value of every node in
float32 and float64.  A path that does not end in `.adjoint` gets the directory form.  Under torchrun each process
writes a file of its own: `step.rank1.adjoint`.  `record` works with every backend that is built on AOTAutograd;
`backend` uses only what PyTorch documents, and runs the graphs as they are.

Of a region that is differentiated the Dynamo call also holds the gradients of its inputs, and the manifest says how it
was partitioned: partitioner, budget, settings, and what the policies of checkpoints answered.  Of what was not
compiled it says why, as Dynamo tells it.

Of a backward under compiled autograd it also holds the graph before its nodes were reordered, the autograd nodes in
the order of their visit, and why the cache missed; of a call where each input comes from, the hooks by name and place,
and the gradients that the leaves have afterwards.  Where the captured graph itself is what runs, also what each hook
gave and the values of its nodes.

Of an object of a class of C++ it holds the class, and the state that `__obj_flatten__` tells before the call; of one of
`torch._library.opaque_object` the attributes.  Where there is no state, the file says why.

A tensor that is no plain memory (sparse, nested, of a class that computes in its own way, freed, ...) is known by its
facts and the reason; the list of such kinds is UNREADABLE.

Needs nothing but torch (2.4 or later) and Python 3.9.  It never changes what the program computes: what goes
wrong in here becomes a warning and a note in the manifest.  Where torch does not have the expected hooks, what
it logs itself goes to a trace log beside the capture.

What is kept is bounded: 64 MiB per tensor, 256 MiB per side of a call, 2 GiB in all, one call per region, 16 MiB of
node values, 4 MiB of the state of an object beside its tensors; `record` takes other bounds.  Of a tensor beyond them
its shape and statistics are kept instead.  Data goes to disk at once, so that no more than one such tensor is held in
memory beside those of the program, and twice the bound on node values while these are computed at the end.
"""
import argparse
import atexit
import base64
import contextlib
import dataclasses
import enum
import functools
import gc
import hashlib
import inspect
import itertools
import json
import logging
import math
import operator
import os
import re
import runpy
import shutil
import sys
import tempfile
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
import torch.fx.experimental._backward_state
import torch.fx.experimental.proxy_tensor as proxy_tensor
import torch.utils.checkpoint
from torch._functorch._aot_autograd.logging_utils import setup_stacktrace_preservation_hooks
from torch._subclasses.fake_tensor import FakeTensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map

try:
    from torch._library import opaque_object
except ImportError:  # before 2.10
    opaque_object = None

__all__ = ["record", "backend", "trace", "run", "Limits"]

VERSION = "0.10"
FORMAT_VERSION = [1, 3]
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
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def dtype_code(dtype):
    name = str(dtype).removeprefix("torch.")
    return DTYPES[name][0] if name in DTYPES else name


def safetensors_dtype(dtype):
    return DTYPES.get(str(dtype).removeprefix("torch."), (None, None))[1]


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def in_order(items):
    """A JSON object whose keys keep the order of `items`, as do keyword arguments."""
    parts = (f"{json.dumps(k)}: {in_order(v.items()) if k == 'kwargs' else compact(v)}" for k, v in items)
    return "{" + ", ".join(parts) + "}"


# ---- values ----------------------------------------------------------------------------------------


def bytes_of(flat):
    """A copy of the elements of a row, made by torch: no pointer is followed that torch would not follow."""
    data = bytearray(flat.numel() * flat.element_size())
    if data:
        torch.frombuffer(data, dtype=torch.uint8).view(flat.dtype).copy_(flat)
    return data


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as source:
        while piece := source.read(16 * MIB):
            digest.update(piece)
    return digest.hexdigest()


class TensorFile:
    """A safetensors file in the making: data goes to disk at once, the header follows at the end."""

    def __init__(self, path):
        self.path, self.part = path, path + ".part"
        self.entries = {}  # key: (dtype, shape, offset, nbytes)
        self.size = 0

    def add(self, key, dtype, shape, data):
        with open(self.part, "r+b" if self.entries else "wb") as out:
            out.seek(self.size)  # behind the last whole entry: an earlier one may have been cut off
            out.write(data)
        self.entries[key] = (safetensors_dtype(dtype), tuple(shape), self.size, len(data))
        self.size += len(data)

    def read(self, key):
        dtype, shape, offset, nbytes = self.entries[key]
        if nbytes == 0:
            return torch.empty(shape, dtype=FROM_SAFETENSORS[dtype])
        with open(self.part, "rb") as source:
            source.seek(offset)
            data = bytearray(source.read(nbytes))
        return torch.frombuffer(data, dtype=FROM_SAFETENSORS[dtype]).reshape(shape)

    def finish(self):
        """Write the file, widest elements first so that all data is aligned; return its digest."""
        order = sorted(self.entries, key=lambda k: (-FROM_SAFETENSORS[self.entries[k][0]].itemsize, k))
        header, at = {}, 0
        for key in order:
            dtype, shape, _, nbytes = self.entries[key]
            header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + nbytes]}
            at += nbytes
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-(8 + len(text)) % 64)
        with open(self.path, "wb") as out, open(self.part, "rb") as source:
            out.write(len(text).to_bytes(8, "little") + text)
            for key in order:
                source.seek(self.entries[key][2])
                out.write(source.read(self.entries[key][3]))
        os.remove(self.part)
        return digest_of(self.path)


@dataclasses.dataclass(frozen=True)
class Limits:
    """How many bytes are kept at most."""

    tensor: int = 64 * MIB
    call: int = 256 * MIB  # of each side of a call
    total: int = 2048 * MIB
    nodes: int = 16 * MIB  # of the values of nodes, for each of both precisions
    state: int = 4 * MIB  # of the state of an object, in the text of the file


class NotRecorded(ValueError):
    """Something that a capture leaves out on purpose."""


MESSAGE_LENGTH = 4096


def readable(text):
    """Text that the file can hold: without NUL and what UTF-8 has not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def told(error):
    """What an error says, whose class may be the user's and fail at that."""
    try:
        return readable(f"{type(error).__name__}: {error}"[:MESSAGE_LENGTH])
    except Exception:
        return type(error).__name__


class Store:
    """All tensors of a capture.  Equal contents are stored once."""

    def __init__(self, folder, limits):
        self.folder, self.limits, self.files, self.total = folder, limits, {}, 0
        self.n_objects = 0
        self.remarks = {}  # what is left out of objects: an ordered set of sentences
        self.known = {}  # digest: [(file, key)]

    def file(self, file_id):
        if file_id not in self.files:
            self.files[file_id] = TensorFile(os.path.join(self.folder, file_id + ".safetensors"))
        return self.files[file_id]

    def has(self, file_id):
        return file_id in self.files and bool(self.files[file_id].entries)

    def discard(self, file_id):
        target = self.files.pop(file_id, None)
        if target and os.path.exists(target.part):
            os.remove(target.part)

    def put(self, file_id, name, flat, shape, in_use, owner):
        """Store a row of elements; return [file, key].  Within one call (`in_use`) values of different
        storages never share a key, so that a shared key means shared memory."""
        data = bytes_of(flat)
        digest = hashlib.sha256(data)
        digest.update(f"{flat.dtype}{tuple(shape)}".encode())
        places = self.known.setdefault(digest.digest(), [])
        for place in places:
            if in_use.setdefault(place, owner) == owner:
                return list(place)
        target = self.file(file_id)
        key, n = name, 1
        while key in target.entries:
            key, n = f"{name}.{n}", n + 1
        target.add(key, flat.dtype, shape, data)
        self.total += len(data)
        places.append((file_id, key))
        in_use[(file_id, key)] = owner
        return [file_id, key]

    def load(self, value):
        """The Python value that an encoded value stands for."""
        if isinstance(value, list):
            return [self.load(v) for v in value]
        if not isinstance(value, dict):
            return value
        if not next(iter(value), "").startswith("$"):
            return {k: self.load(v) for k, v in value.items()}
        [(tag, content)] = value.items()
        if tag in ("$f", "$int"):
            return float(content) if tag == "$f" else int(content)
        if tag not in ("$tensor", "$complex_tensor"):
            raise NotRecorded("an input is not recorded")
        file_id, key, *views = content
        tensor = self.files[file_id].read(key)
        if tag == "$complex_tensor":
            tensor = torch.view_as_complex(tensor)
        for view in views:
            tensor = torch.as_strided(tensor, view["size"], view["stride"], view["offset"])
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


def has_no_memory(tensor):
    storage = tensor.untyped_storage()
    if tensor.numel() == 0:
        return False  # wherever it begins
    if storage.nbytes() < span(tensor)[1] * tensor.element_size():
        return True  # it was freed: resize_(0)
    return storage.nbytes() > 0 and not torch._C._is_cow_tensor(tensor) and storage.data_ptr() == 0


# All the ways in which a tensor may not be plain memory.  The first that holds says why it is not read; each makes
# it safe to ask the next.  Not among them, since torch reads through it: conjugated and negated views, names, overlap,
# strides with gaps, memory that is shared, read-only or copied on the first write, tensors of inference mode and of
# another device.
UNREADABLE = (
    (lambda t: isinstance(t, FakeTensor), "it is a fake tensor"),
    (torch._is_functional_tensor, "it is a functional tensor"),
    (torch._C._functorch.is_functorch_wrapped_tensor, "it is wrapped by a transform of torch.func"),
    (lambda t: torch._C._dispatch_keys(t).has(torch._C.DispatchKey.Python), "its class computes in its own way"),
    (lambda t: t.is_nested, "it is nested"),
    (lambda t: t.is_quantized, "it is quantized"),
    (lambda t: t.layout != torch.strided, "its layout is not strided"),
    (lambda t: t.device.type == "meta", "it has no data"),
    (lambda t: not torch._C._has_storage(t), "it has no storage"),
    (lambda t: not t.is_complex() and safetensors_dtype(t.dtype) is None, "the file has no such elements"),
    (lambda t: not t._is_zerotensor() and has_no_memory(t), "its memory was freed"),
)


def has_names(tensor):
    """Current releases have no named dimensions any more."""
    return hasattr(tensor, "has_names") and tensor.has_names()


def read(tensor):
    """(the same elements as an ordinary tensor, None), or (None, why it cannot be read)."""
    try:
        why = next((why for holds, why in UNREADABLE if holds(tensor)), None)
        if why is not None:
            return None, why
        if tensor._is_zerotensor():  # it has no memory, but its elements are known
            return torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu"), None
        tensor = tensor.detach().as_subclass(torch.Tensor)
        return tensor.rename(None) if has_names(tensor) else tensor, None
    except Exception as error:
        return None, told(error)


def is_unreal(value):
    """Whether somebody only traces."""
    return isinstance(value, SYMBOLIC) or (
        isinstance(value, torch.Tensor) and any(holds(value) for holds, _ in UNREADABLE[:3])
    )


# ---- opaque objects ----------------------------------------------------------------------------------


is_opaque = getattr(opaque_object, "is_custom_class", None) or getattr(opaque_object, "is_opaque_type", lambda kind: False)


def class_of(value):
    """The class, "ns::Queue" or "module.Scale", of an object that a graph hands on; None: it is no such object."""
    if isinstance(value, torch.ScriptObject):
        namespace, _, name = value._type().qualified_name().rpartition(".")
        return f"{namespace.removeprefix('__torch__.torch.classes.')}::{name}"
    if is_opaque(type(value)):
        return f"{type(value).__module__}.{type(value).__qualname__}"
    return None


def packed_state(packed):
    """A linear layer in 8 bits; its quantized weight, which no file holds, as integers."""
    weight, bias = torch.ops.quantized.linear_unpack(packed)
    if weight.qscheme() == torch.per_tensor_affine:
        scale, zero_point = torch.tensor([weight.q_scale()]).double(), torch.tensor([weight.q_zero_point()])
    else:
        scale, zero_point = weight.q_per_channel_scales(), weight.q_per_channel_zero_points()
    return ("weight", weight.int_repr()), ("scale", scale), ("zero_point", zero_point), ("bias", bias)


STATES = {"quantized::LinearPackedParamsBase": packed_state}


def state_of(value):
    """(name, value) pairs: what the class flattens itself to, else attributes."""
    if class_of(value) in STATES:
        return STATES[class_of(value)](value)
    if isinstance(value, torch.ScriptObject):
        if not hasattr(value, "__obj_flatten__"):
            raise NotRecorded("its class has no __obj_flatten__")
        return value.__obj_flatten__()
    if not hasattr(value, "__dict__"):
        raise NotRecorded("its class keeps it in no __dict__")
    return tuple(vars(value).items())


STATE_LEVELS = 12  # of containers in each other; the reader's bound is 64 brackets
TENSOR_BYTES, TEXT_BYTES, ITEM_BYTES = 256, 4096, 32  # of the file, for each at most, or about


def check_state(state, limit):
    """Raise NotRecorded for a state of more than `limit` bytes, or with too many levels, as has one in itself."""
    rest = [(state, 0)]
    while rest:
        value, level = rest.pop()
        if isinstance(value, (list, tuple, dict)):
            limit -= ITEM_BYTES * len(value)
            if level > STATE_LEVELS:
                raise NotRecorded(f"its containers have more than {STATE_LEVELS} levels")
            if limit >= 0:
                items = [*value, *value.values()] if isinstance(value, dict) else value
                rest.extend((item, level + 1) for item in items)
        elif isinstance(value, torch.Tensor):
            limit -= TENSOR_BYTES
        elif not is_plain(value):
            limit -= TEXT_BYTES
        elif isinstance(value, str):
            limit -= 6 * len(value)
        if limit < 0:
            raise NotRecorded("it is too large beside its tensors")


def describe_object(value, known, convert, limit):
    """Add to `known` the class of an object and its state, of whose values `convert` makes what the file has, or why
    there is none."""
    known["class"] = class_of(value)
    try:
        state = state_of(value)
        check_state(state, limit)
        named = [(readable(str(name)), item) for name, item in state]
        pairs = [{"$tuple": [name, convert(name, item)]} for name, item in named]
        known["state"] = {"$tuple": pairs}
    except NotRecorded as error:
        known["no_state"] = str(error)
    except Exception as error:  # of the class, which is the user's
        known["no_state"] = told(error)
    return known


def is_plain(value):
    """Whether a state of the reader can hold it: no enumeration, no integer of more than 64 bits, no text without UTF-8."""
    if isinstance(value, enum.Enum):
        return False
    if isinstance(value, str):
        return value == readable(value)
    return value is None or isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)


KEY_LENGTH = 64


def name_of(key, place):
    """How the value of a dictionary is called in the name of a tensor in it."""
    short = isinstance(key, int) or (isinstance(key, str) and len(key) <= KEY_LENGTH)
    return f"{key}" if is_plain(key) and short else f"#{place}"


def plain_value(name, value, tensor):
    """Part of a state, in which containers are what they are, and what is no plain value is its text."""
    if isinstance(value, torch.Tensor):
        return tensor(name, value)
    if isinstance(value, (list, tuple)):
        items = [plain_value(f"{name}.{i}", v, tensor) for i, v in enumerate(value)]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict):
        items = [
            (plain_value(name, k, tensor), plain_value(f"{name}.{name_of(k, i)}", v, tensor))
            for i, (k, v) in enumerate(value.items())
        ]
        return {"$dict": items}
    return encode(value) if is_plain(value) else repr(value)[:TEXT_BYTES]


def object_annotation(value, limit):
    """What stands for an object where there are no elements: its class, and its state, of `limit` bytes at most."""
    try:
        real = getattr(value, "real_obj", value)
        is_object = class_of(real) is not None
    except Exception:  # of its class, which is the user's
        is_object = False
    if not is_object:
        return None
    describe = functools.partial(plain_value, tensor=lambda name, tensor: {"$val": annotation(tensor)})
    return {"$object": describe_object(real, {}, describe, limit)}


def leaves(values):
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from leaves(v)
        else:
            yield v


def readable_tensors(values):
    return [v for v in leaves(values) if isinstance(v, torch.Tensor) and read(v)[0] is not None]


class Values:
    """Encodes the values of one side (inputs or outputs) of one call.

    Of inputs the whole storage is kept where it is not much larger than what they show of it, since a graph may look
    at the rest of it (`as_strided`); where it does (`reaches`), always."""

    def __init__(self, store, file_id, inputs=False, reaches=False):
        self.store, self.file_id, self.inputs, self.reaches = store, file_id, inputs, reaches
        self.in_use, self.places = {}, {}
        self.objects = {}  # id: what is known of the object
        self.alive = []  # tensors of states: while they live, no other tensor has their id
        self.plain = {}  # id of a tensor: (the same as an ordinary one or None, why it cannot be read)
        self.spans = {}  # storage: (first element, one past the last), where more is kept than one tensor shows
        self.left = store.limits.call

    def encode_all(self, names, values):
        geometries = {}
        tensors = [v for v in leaves(values) if isinstance(v, torch.Tensor)]
        self.plain = {id(t): read(t) for t in tensors}
        for t in [t for t, _ in self.plain.values() if t is not None]:
            geometries.setdefault(self.storage(t), {})[(span(t), tuple(t.shape), tuple(t.stride()))] = t
        for storage, group in geometries.items():
            start, stop = min(s[0] for s, _, _ in group), max(s[1] for s, _, _ in group)
            tensor = next(iter(group.values()))
            width = tensor.element_size()
            size = tensor.untyped_storage().nbytes() // width
            if self.inputs and (self.reaches or size * width <= max(4 * (stop - start) * width, MIB)):
                if (start, stop) != (0, size) or len(group) > 1:
                    self.spans[storage] = (0, size)
            elif len(group) > 1 and stop - start <= 4 * max(sum(t.numel() for t in group.values()), 1):
                self.spans[storage] = (start, stop)
        return [self.encode(name, value) for name, value in zip(names, values)]

    @staticmethod
    def storage(tensor):
        return (tensor.untyped_storage()._cdata, tensor.dtype, tensor.is_conj(), tensor.is_neg())

    def encode(self, name, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(name, value)
        if isinstance(value, (list, tuple)):
            return [self.encode(f"{name}.{i}", v) for i, v in enumerate(value)]
        if value is None or isinstance(value, (bool, str, int, float, complex, *SYMBOLIC)):
            return encode(value)
        if class_of(value) is not None:
            return self.object(name, value)
        return {"$raw": f"<{type(value).__module__}.{type(value).__qualname__}>"}

    def object(self, name, value):
        """Its class, and its state now; the number tells whether two values are one object."""
        if id(value) not in self.objects:
            self.store.n_objects += 1
            known = self.objects[id(value)] = {"id": self.store.n_objects}
            describe = functools.partial(plain_value, tensor=self.state_tensor)
            limit = self.store.limits.state
            describe_object(value, known, lambda part, item: describe(f"{name}.{part}", item), limit)
            if "no_state" in known:
                text = f"the object '{name}' of the class {known['class']} has no state here: {known['no_state']}"
                self.store.remarks[text] = None
        return {"$object": self.objects[id(value)]}

    def state_tensor(self, name, tensor):
        self.alive.append(tensor)
        self.plain.setdefault(id(tensor), read(tensor))
        known = self.tensor(name, tensor)
        return known.get("$raw", known)

    def tensor(self, name, tensor):
        """The elements of a tensor, else what is known of it and why they are missing."""
        ordinary, why = self.plain[id(tensor)]
        if ordinary is not None:
            try:
                return self.elements(name, ordinary)
            except Exception as error:  # of a device, of the disk
                why = told(error)
        return {"$raw": f"<{facts(tensor)}: not recorded, {why}>"}

    def elements(self, name, tensor):
        """A stretch of the storage and the view on it; `clone` would lose the strides.  A view that
        skips most of a large span is stored densely, and its entry says which strides it had."""
        storage, width, dense = self.storage(tensor), tensor.element_size(), dense_strides(tensor.shape)
        start, stop = self.spans.get(storage) or span(tensor)
        exact = storage in self.spans or (stop - start) * width <= max(4 * tensor.numel() * width, MIB)
        nbytes = (stop - start if exact else tensor.numel()) * width
        known = self.places.get(storage) if storage in self.spans else None
        if known is None and nbytes > min(
            self.store.limits.tensor, self.left, self.store.limits.total - self.store.total
        ):
            return {"$raw": summary(tensor)}
        view = {"size": list(tensor.shape), "stride": list(tensor.stride()), "offset": tensor.storage_offset() - start}
        if not exact:
            view.update(stride=list(dense), offset=0, original_stride=list(tensor.stride()))
        whole = storage not in self.spans and (tensor.stride() == dense or tensor.numel() == 0)
        pairs = safetensors_dtype(tensor.dtype) is None
        if known is None:
            self.left -= nbytes
            flat = tensor.as_strided((stop - start,), (1,), start) if exact else tensor.contiguous().view(-1)
            flat = torch.view_as_real(flat.cpu().resolve_conj().resolve_neg()) if pairs else flat
            shape = tensor.shape if whole and not pairs else flat.shape
            known = self.places[storage] = self.store.put(
                self.file_id, name, flat.reshape(-1), shape, self.in_use, storage
            )
        if pairs:
            return {"$complex_tensor": [*known, {**view, "dtype": dtype_code(tensor.dtype)}]}
        return {"$tensor": known if whole else [*known, view]}


def chunks(tensor, limit=4 * MIB):
    """A tensor as views of at most `limit` elements."""
    if tensor.numel() <= limit:
        return [tensor]
    halves = tensor.tensor_split(2, max(range(tensor.dim()), key=tensor.size))
    return [c for half in halves for c in chunks(half, limit)]


SUMMARIZED = 1 << 30  # elements; overlapping views may have any number


def summary(tensor):
    """What is kept of a tensor that is too large to store, found in pieces."""
    text = f"<{annotation(tensor)} too large to record"
    if not tensor.is_complex() and tensor.numel() <= SUMMARIZED:
        low, high, total, nans, infs = math.inf, -math.inf, 0.0, 0, 0
        for chunk in chunks(tensor):
            wide = chunk.double()
            low, high, total = min(low, wide.min().item()), max(high, wide.max().item()), total + wide.sum().item()
            nans, infs = nans + int(wide.isnan().sum()), infs + int(wide.isinf().sum())
        mean = total / tensor.numel()
        text += f"; min {low:g}, max {high:g}, mean {mean:g}, {nans} nan, {infs} inf"
    first = tensor[(0,) * (tensor.dim() - 1)][:64].tolist() if tensor.dim() else [tensor.item()]
    return f"{text}; begins {', '.join(format(v, 'g') for v in first)}>"


# ---- names and arguments ------------------------------------------------------------------------------


def annotation(val, limit=Limits.state):
    """The annotation that PyTorch prints for a value, a list of them, or None; states of objects up to `limit` bytes."""
    if isinstance(val, torch.Tensor):
        text = dtype_code(val.dtype)
        for numbers in (val.size, val.stride):
            with contextlib.suppress(Exception):  # nested tensors have no sizes, and as sparse ones no strides
                text += f"[{', '.join(str(n) for n in numbers())}]"
        return text + str(val.device)
    if isinstance(val, SYMBOLIC):
        return f"Sym({val})"
    return [annotation(v, limit) for v in val] if isinstance(val, (list, tuple)) else object_annotation(val, limit)


def result_annotation(val, limit):
    """The same of a call, whose numbers are constants of the trace."""
    if isinstance(val, (list, tuple)):
        return [result_annotation(v, limit) for v in val]
    return encode_number(val) if isinstance(val, (int, float)) else annotation(val, limit)


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


def facts(tensor):
    """What can be said of a tensor without its elements: "sparse_coo Tensor f32[4, 4]cpu"."""
    said = []
    with contextlib.suppress(Exception):
        said += [str(tensor.layout).removeprefix("torch.")] if tensor.layout != torch.strided else []
    said.append(type(tensor).__name__)
    with contextlib.suppress(Exception):
        said.append(annotation(tensor))
    return " ".join(said)


def encode_number(value):
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= 1 << 53 else {"$int": str(value)}
    if isinstance(value, complex):
        return {"$complex": [encode_number(value.real), encode_number(value.imag)]}
    return float(value) if math.isfinite(value) else {"$f": str(float(value))}


def encode_symbolic(value):
    entry = {"expr": str(value)}
    hint = getattr(getattr(value, "node", None), "hint", None)
    if isinstance(hint, (bool, int, float)):
        entry["hint"] = hint
    return {"$sym": entry}


ENCODERS = (  # the first that fits; a tuple is also torch.Size and a named tuple
    (torch.fx.Node, lambda v: {"$n": v.name}),
    (SYMBOLIC, encode_symbolic),
    (enum.Enum, lambda v: {"$raw": str(v)}),
    ((int, float, complex), encode_number),
    (tuple, lambda v: {"$tuple": [encode(a) for a in v]}),
    (list, lambda v: [encode(a) for a in v]),
    (dict, lambda v: {"$dict": [[encode(k), encode(a)] for k, a in v.items()]}),
    ((slice, range), lambda v: {f"${type(v).__name__}": [encode(a) for a in (v.start, v.stop, v.step)]}),
    (bytes, lambda v: {"$bytes": base64.b64encode(v).decode()}),
    (torch.dtype, lambda v: {"$dtype": dtype_code(v)}),
    (torch.device, lambda v: {"$device": str(v)}),
    (torch.layout, lambda v: {"$layout": str(v).removeprefix("torch.")}),
    (torch.memory_format, lambda v: {"$memfmt": str(v).removeprefix("torch.")}),
    (type(Ellipsis), lambda v: {"$ellipsis": True}),
    ((torch._ops.OpOverload, torch._ops.HigherOrderOperator), lambda v: {"$op": qualified_name(v)}),
)


def encode(arg):
    """An argument of a node."""
    if arg is None or isinstance(arg, (bool, str)):
        return arg
    encoder = next((encoder for kind, encoder in ENCODERS if isinstance(arg, kind)), None)
    return encoder(arg) if encoder else {"$raw": repr(arg)[:4096]}


# ---- graphs ------------------------------------------------------------------------------------------


def clean_path(source):
    """`L['self']._modules['h']._modules['0']` or `L['self'].h[0]` as `h.0`."""
    text, before = source, None
    while text != before:
        before = text
        text = re.sub(r"getattr\(([^()]*), ?['\"](\w+)['\"]\)", r"\1.\2", text)
    text = re.sub(r"\._(?:modules|parameters|buffers)\[['\"]([^'\"]+)['\"]\]", r".\1", text)
    text = re.sub(r"^[LG]\[['\"](\w+)['\"]\]", r"\1", text)
    text = re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", text)
    return re.sub(r"^(?:self|L__self__)\b\.?|^L__self___", "", text)


def module_stack(stack):
    """[[path, type name], ...], outermost first."""
    pairs = [(v[0], v[1]) if isinstance(v, tuple) else (v, "") for v in stack.values()]
    kinds = [k.__name__ if isinstance(k, type) else str(k).rsplit(".", 1)[-1] for _, k in pairs]
    return [[clean_path(str(path)), kind] for (path, _), kind in zip(pairs, kinds)]


def source_name(source):
    """An expression over the frame, such as `L['x']`; None if unknown."""
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
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    if depth < 8 and isinstance(value, dict):
        return {str(k): plain_metadata(v, depth + 1) for k, v in value.items()}
    if depth < 8 and isinstance(value, (list, tuple, set, frozenset)):
        items = [plain_metadata(v, depth + 1) for v in value]
        return items if isinstance(value, (list, tuple)) else sorted(items, key=str)
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:4096]


# What only computes: the namespaces of operators, and the operators that call nothing but graphs.
COMPUTING = ("aten", "prims", "prim", "inductor_prims", "rngprims", "quantized_decomposed")
CALLING_GRAPHS = ("cond", "while_loop", "map_impl", "scan", "associative_scan", "invoke_subgraph", "flex_attention",
                  "flex_attention_backward", "wrap", "wrap_with_set_grad_enabled", "wrap_with_autocast",
                  "tag_activation_checkpoint", "wrap_activation_checkpoint", "run_and_save_rng_state",
                  "run_with_rng_state")  # fmt: skip


def may_have_effects(node):
    """Whether it is not known of a node that it may run twice: operators of others may count, print or communicate."""
    if node.op == "call_module" or isinstance(node.target, torch._ops.OpOverload):
        return node.op == "call_module" or node.target.namespace not in COMPUTING
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() not in CALLING_GRAPHS


def is_token(node):
    """Whether a placeholder is the token that orders the effects of the forward; 2.6 says it of none."""
    if node.op != "placeholder" or node.name.startswith("tangents"):
        return False
    name = "torch.ops.higher_order.with_effects"
    return type(node.meta.get("desc")).__name__ == "ForwardTokenAOTInput" or any(
        qualified_name(user.target) == name and user.args[:1] == (node,) for user in node.users
    )


def is_uninitialised(target):
    """Whether an operator gives memory as it finds it, which no two runs have in common."""
    return isinstance(target, torch._ops.OpOverload) and re.match(r"\w+::(new_)?empty", target._schema.name)


def ambient():
    """What the thread that calls a graph is set to, where that differs from a new thread."""
    found = {}
    with contextlib.suppress(Exception):
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                found[f"autocast_{device}"] = dtype_code(torch.get_autocast_dtype(device))
        if not torch.is_grad_enabled():
            found["grad"] = "off"
    return found


def policy_body(node):
    """The body of a checkpoint whose policy is a function, which Dynamo's graph does not show; else None."""
    if not str(node.target).endswith("tag_activation_checkpoint") or not isinstance(node.args[0], torch.fx.Node):
        return None
    body = getattr(node.graph.owning_module, str(node.args[0].target), None)
    return body if "_checkpoint_context_fn" in getattr(body, "meta", {}) else None


def watched(context_fn, runs):
    """A `context_fn` that also appends to `runs` what the policy answers, a list for each time it is used."""
    mode = getattr(torch.utils.checkpoint, "_CachingTorchDispatchMode", ())

    def contexts():
        found = context_fn()
        decide = getattr(found[0], "policy_fn", None) if isinstance(found, tuple) and found else None
        if decide is not None and isinstance(found[0], mode):
            runs.append(answers := [])

            def policy(context, operator, *args, **kwargs):
                answer = decide(context, operator, *args, **kwargs)
                answers.append((operator, answer))
                return answer

            found[0].policy_fn = policy
        return found

    return contexts


@contextlib.contextmanager
def policies_watched(session, module):
    """Until the module is compiled; gives {node: what its policy answered, run by run}."""
    found, watching = {}, []

    def watch():
        for node in module.graph.nodes:
            body = policy_body(node)
            if body is not None:
                runs = found.setdefault(node.name, [])
                watching.append((body, body.meta["_checkpoint_context_fn"]))
                body.meta["_checkpoint_context_fn"] = watched(watching[-1][1], runs)

    session.safely(watch)
    try:
        yield found
    finally:
        for body, context_fn in watching:
            body.meta["_checkpoint_context_fn"] = context_fn


def policy_table(answers):
    """What a policy answered by operator, in the order of calls; one answer where it was always the same.  What may
    be recomputed is left out: so may all that it was not asked about."""
    table = {}
    for target, answer in answers:
        name = ("PREFER_RECOMPUTE", "MUST_SAVE")[answer] if isinstance(answer, bool) else answer.name
        table.setdefault(qualified_name(target), []).append(name)
    table = {k: v[0] if len(set(v)) == 1 else v for k, v in table.items()}
    return {"$dict": [[{"$op": k}, v] for k, v in table.items() if v != "PREFER_RECOMPUTE"]}


class Graph:
    """A graph: written at once, since the compiler may edit it afterwards, and what is remembered of it."""

    def __init__(self, region, graph_id, role, module, ambient=None):
        self.region, self.id, self.role, self.session = region, graph_id, role, region.session
        region.all_graphs.append(self)
        self.reaches = any("as_strided" in str(n.target) for n in module.graph.nodes)  # beyond what an input shows
        self.ambient = ambient
        self.inputs = []  # of each placeholder: {"name", "device", and what is known of it}
        self.tokens = sum(is_token(n) for n in module.graph.nodes)  # AOTAutograd puts them before its inputs
        self.taps = set()  # nodes whose value is new memory
        self.floating = set()  # nodes whose value is a floating-point tensor
        seeded = torch.Tag.nondeterministic_seeded
        self.random = any(seeded in getattr(n.target, "tags", ()) for n in module.graph.nodes)
        self.effects = next((n.target for n in module.graph.nodes if may_have_effects(n)), None)
        self.tap_bytes = 0  # of the taps, as far as their sizes are numbers
        self.storages, self.owned = {}, set()  # {storage: its number}, those that an earlier node showed
        self.names = tuple(n.name for n in module.graph.nodes)
        self.module = frozen_copy(module) if role in ("joint", "inference") else None
        self.write(module)

    def facts(self, name):
        return next((i for i in self.inputs if i["name"] == name), {})

    def write(self, module):
        nodes = ",\n".join(self.node(n) for n in module.graph.nodes)
        pytree = getattr(getattr(module.graph, "_codegen", None), "pytree_info", None)
        head = [("ambient", self.ambient)] if self.ambient else []
        head += [("class", module._get_name() if hasattr(module, "_get_name") else type(module).__name__)]
        head += [("codegen", "pytree")] if pytree else []
        placeholders = [str(n.target) for n in module.graph.nodes if n.op == "placeholder"]
        head.append(("inputs", list(pytree.orig_args) if pytree else placeholders))
        tail = f'"subgraphs": {compact(self.subgraphs(module))}, "attrs": {compact(self.attributes(module))}'
        text = f'{{"graph": {in_order(head)[:-1]},\n"nodes": [\n{nodes}\n]}},\n{tail}}}\n'
        self.session.write(f"graphs/{self.id}.json", text)
        self.text = text if "policy of " in text else None
        text = module.print_readable(print_output=False, include_stride=True, include_device=True)
        self.session.write(f"text/{self.id}.txt", self.session.rename(text))

    def add_policies(self, policies):
        """Write what was answered in place of the functions that answered; the last run is that of the joint graph."""
        text = self.text
        for node, runs in policies.items():
            known = compact(policy_table(runs[-1])) if runs else None
            place = compact({"$raw": f"policy of {node}"})
            text = text.replace(place, known) if known else re.sub(r'(, )?"context_fn": ' + re.escape(place), "", text)
            if not known:
                self.session.note(f"{self.id}: the policy of {node} is not known", failure=False)
        self.session.write(f"graphs/{self.id}.json", text)
        self.text = None

    def node(self, node):
        value = node.meta.get("val", node.meta.get("example_value"))
        annotate = result_annotation if node.op == "call_function" else annotation
        items = [
            ("name", node.name),
            ("op", node.op),
            ("target", None if node.op == "output" else qualified_name(node.target)),
            ("args", [encode(a) for a in node.args] or None),
            ("kwargs", {**{k: encode(v) for k, v in node.kwargs.items()}, **self.policy(node)} or None),
            ("type", None if node.type is None else torch.fx.node._type_repr(node.type)),
            ("val", annotate(value, self.session.limits.state)),
            ("meta", self.meta(node, value) or None),
        ]
        return in_order((k, v) for k, v in items if v is not None)

    def policy(self, node):
        """The place for what a policy answers, which is not known yet."""
        return {"context_fn": {"$raw": f"policy of {node.name}"}} if policy_body(node) is not None else {}

    def meta(self, node, value):
        source, meta = node.meta, {}
        if source.get("stack_trace"):
            meta["stack"] = {"$str": self.session.string(self.session.rename(source["stack_trace"]))}
        for key, stack in (("modules", "nn_module_stack"), ("fwd_modules", "fwd_nn_module_stack")):
            if source.get(stack):
                meta[key] = module_stack(source[stack])
        captured = self.role.startswith(BackwardRegion.ROLE)  # there they speak of when it was captured
        for key in ("seq_nr", "ac_graph_id") if not captured else ():
            if isinstance(source.get(key), int) and source[key] <= 1 << 53:  # of an AccumulateGrad it is 2**64 - 1
                meta[key] = source[key]
        if isinstance(source.get("memory_budget"), (int, float)):
            meta["memory_budget"] = float(source["memory_budget"])
        if source.get("original_aten") is not None and not captured:
            meta["original_aten"] = qualified_name(source["original_aten"])
        if source.get("autograd_backward") and not captured and not source.get("partitioner_tag"):
            meta["autograd_backward"] = True
        for key in ("partitioner_tag", "recompute"):
            if source.get(key) is not None:
                meta[key] = source[key].name if isinstance(source[key], enum.Enum) else str(source[key])
        if isinstance(value, torch.Tensor):
            self.storage_facts(node, value, meta)
        if node.op == "placeholder":
            self.placeholder(node, value, meta)
        return meta

    def storage_facts(self, node, value, meta):
        """The number of its storage, in order of appearance: tensors that share it are views of each other."""
        storage = None
        with contextlib.suppress(Exception):  # not every tensor has one
            storage = self.storages.setdefault(value.untyped_storage()._cdata, len(self.storages))
            meta["alias"] = storage
            if str(value.storage_offset()) != "0":
                offset = value.storage_offset()
                meta["offset"] = offset if type(offset) is int else str(offset)
        if node.op == "call_function" and storage not in self.owned and not is_uninitialised(node.target):
            self.taps.add(node.name)
            if all(type(size) is int for size in value.shape):
                self.tap_bytes += math.prod(value.shape) * value.dtype.itemsize
        if storage is not None:
            self.owned.add(storage)
        if value.dtype.is_floating_point:
            self.floating.add(node.name)

    def placeholder(self, node, value, meta):
        facts = self.region.facts(self.role, node.name, len(self.inputs) - self.tokens)
        source = getattr(node.meta.get("grapharg"), "source", None) or getattr(node, "_dynamo_source", None)
        source = source_name(source)
        if source:
            facts["source"] = source
            if isinstance(value, torch.nn.Parameter) or re.search(r"_(parameters|buffers)\[", source):
                facts["param"] = clean_path(source)
        if isinstance(value, torch.Tensor) and "example_value" in node.meta and value.requires_grad:
            facts["requires_grad"] = True
        meta.update({k: v for k, v in facts.items() if v})
        device = str(value.device) if isinstance(value, torch.Tensor) else "cpu"
        self.inputs.append({**facts, "name": node.name, "device": device})

    def subgraphs(self, module):
        found = {}
        for name, child in module.named_children():
            if isinstance(child, torch.fx.GraphModule):
                found[name] = re.sub(r"[^a-z0-9_-]", "_", f"{self.id}-{name}".lower())[:64]
                self.session.graphs[found[name]] = Graph(self.region, found[name], "subgraph", child)
        return found

    def attributes(self, module):
        found = {}
        for target in {n.target: None for n in module.graph.nodes if n.op == "get_attr"}:
            value = functools.reduce(lambda o, k: getattr(o, k, None), target.split("."), module)
            known = class_of(value) is not None or (isinstance(value, torch.Tensor) and not is_unreal(value))
            if known:
                values = Values(self.session.store, f"c{self.region.id}", inputs=True, reaches=self.reaches)
                found[target] = values.encode_all([target], [value])[0]
            elif value is not None and not isinstance(value, torch.fx.GraphModule):
                found[target] = {"$raw": f"<{type(value).__module__}.{type(value).__qualname__}>"}
        return found


def frozen_copy(module):
    """A graph module over the same constants whose nodes the compiler cannot edit."""
    graph, known = torch.fx.Graph(), {}
    graph.output(graph.graph_copy(module.graph, known))
    for old, new in known.items():
        new.name, new.meta = old.name, {}
    return torch.fx.GraphModule(module, graph)


# ---- values of nodes -------------------------------------------------------------------------------


def node_values(graph, inputs):
    """Run a recorded graph in float32 and in float64 side by side; yields (node, value, value).  Random numbers,
    and what operators over graphs give, come from the float32 run."""
    narrow, wide, waiting = {}, {}, iter(inputs)
    for node in graph.module.graph.nodes:
        if node.op == "call_function":
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), narrow.__getitem__)
            narrow[node] = node.target(*args, **kwargs)
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), wide.__getitem__)
            wide[node] = wide_call(graph, node, args, dict(kwargs), narrow[node])
            yield node, narrow[node], wide[node]
        elif node.op == "output":
            yield node, torch.fx.map_arg(node.args[0], narrow.__getitem__), None
        else:
            value = next(waiting) if node.op == "placeholder" else operator.attrgetter(node.target)(graph.module)
            narrow[node], wide[node] = copy_of(value), copy_of(value, promote)


def wide_call(graph, node, args, kwargs, drawn):
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        if target is torch.ops.aten.native_dropout.default:
            return args[0] * drawn[1] / (1 - args[1]) if args[1] < 1 else args[0] * 0, drawn[1]
        if torch.Tag.nondeterministic_seeded in target.tags:
            return tree_map(promote, drawn)
        parameters = [a.name for a in target._schema.arguments]
        args, kwargs = tree_map(promote_dtype, args), tree_map(promote_dtype, kwargs)
        if node.name in graph.floating and "dtype" in parameters[len(args) :] and kwargs.get("dtype") is None:
            of_complex = any(isinstance(a, torch.Tensor) and a.is_complex() for a in args)
            kwargs["dtype"] = torch.complex128 if of_complex else torch.float64
    elif isinstance(target, torch._ops.HigherOrderOperator):
        return tree_map(promote, drawn)
    return target(*args, **kwargs)


def copy_of(value, change=torch.clone):
    """A copy of a tensor, and of all that it could look at: its storage."""
    if not isinstance(value, torch.Tensor):
        return value
    size = value.untyped_storage().nbytes() // value.element_size()
    flat = change(value.as_strided((size,), (1,), 0))
    return flat.as_strided(value.shape, value.stride(), value.storage_offset())


def promote(value):
    """A copy in double precision; of what has none the value itself, but for tensors."""
    if not isinstance(value, torch.Tensor):
        return value
    wide = torch.complex128 if value.is_complex() else torch.float64 if value.is_floating_point() else value.dtype
    return value.to(wide, copy=True)


def promote_dtype(arg):
    if not isinstance(arg, torch.dtype) or not (arg.is_floating_point or arg.is_complex):
        return arg
    return torch.complex128 if arg.is_complex else torch.float64


@contextlib.contextmanager
def again(states):
    """Run as when a call was recorded: from the states of its generators; without autocast, which has been traced."""
    devices = [torch.device(name) for name in states if name != "cpu"]
    with torch.random.fork_rng(devices=devices), torch._C._DisableAutocast():
        torch.set_rng_state(states["cpu"])
        for device in devices:
            torch.cuda.set_rng_state(states[str(device)], device)
        yield


def agree(results, recorded):
    """Whether results are the recorded ones but for rounding."""
    pairs = [(a, b) for a, b in zip(leaves(results), leaves(recorded)) if isinstance(b, torch.Tensor)]
    close = functools.partial(torch.allclose, rtol=1e-2, atol=1e-2, equal_nan=True)
    return all(close(promote(a.cpu()), promote(b)) for a, b in pairs)


# ---- regions and calls -----------------------------------------------------------------------------


class Region:
    """One compiled region: its graphs and the calls that were recorded of them."""

    TAP_NODES = 5000

    def __init__(self, session, region_id, compile_id, attempt=0):
        self.session, self.id, self.compile_id, self.attempt = session, region_id, compile_id, attempt
        self.graphs = {}  # role: Graph
        self.nested = 0  # number of joint graphs of subgraphs
        self.inputs = []  # facts of the inputs that AOTAutograd gets, in its order
        self.num_fwd_outputs = self.fw_metadata = self.partition = None
        self.decompositions, self.table = 0, "none"
        self.symbols = {}  # each region has its own: names are not unique in a file
        self.aot = False  # AOTAutograd has started on it
        self.counts = {}  # role: number of calls so far
        self.all_graphs = []  # those of roles, and subgraphs
        self.calls = {}  # (role, n): call
        self.differentiable = {}  # n: of each output of that Dynamo call, whether a gradient can come in there
        self.pending = []  # (n, saved storages) of forward calls whose backward has not come yet

    def facts(self, role, name, index):
        """What is known of the placeholder `name` of a graph of this role, input `index` of AOTAutograd's."""
        known = {}
        if role in ("joint", "inference") and 0 <= index < len(self.inputs) and not name.startswith("tangents"):
            known = self.inputs[index]
        elif role in ("forward", "backward") and "joint" in self.graphs:
            known = self.graphs["joint"].facts(name)
        return {k: known[k] for k in ("param", "requires_grad") if known.get(k)}

    def add_graph(self, role, module, ambient=None):
        known = self.graphs.get(role)
        if known is None or known.names != tuple(n.name for n in module.graph.nodes):
            graph_id = f"{self.id}-{role}"
            self.graphs[role] = self.session.graphs[graph_id] = Graph(self, graph_id, role, module, ambient)

    def start_aot(self, module, count, decompositions):
        """AOTAutograd's inputs are the parameters and buffers that the module still has, then Dynamo's."""
        self.aot = True
        self.decompositions, self.table = len(decompositions or {}), table_name(decompositions)
        state = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
        self.inputs = [{"param": clean_path(name), "requires_grad": t.requires_grad} for name, t in state]
        dynamo = self.graphs.get("dynamo")
        if dynamo is not None and len(dynamo.inputs) == count:
            self.inputs += dynamo.inputs
        elif dynamo is not None:  # as below compiled autograd, where Dynamo sees one list
            found = f"{len(dynamo.inputs)} of Dynamo, {count} of AOTAutograd"
            self.session.note(f"{self.id}: inputs are not paired with their sources: {found}", failure=False)

    def add_joint(self, joint, joint_inputs, num_fwd_outputs):
        """Returns the number of the subgraph that it belongs to, 0 for the region itself."""
        if "joint" in self.graphs or not joint_inputs:
            self.nested += 1
            self.add_nested("joint", joint, self.nested)
            return self.nested
        self.num_fwd_outputs = num_fwd_outputs
        self.add_graph("joint", joint)
        return 0

    def add_nested(self, role, module, number):
        graph_id = f"{self.id}-sub{number}-{role}"
        self.session.graphs[graph_id] = Graph(self, graph_id, "subgraph", module)

    def add_halves(self, number, forward, backward, partition):
        self.partition = self.partition or partition_facts(partition)
        for role, module in (("forward", forward), ("backward", backward)):
            if number == 0:
                self.add_graph(role, module)
            elif number is not None:
                self.add_nested(role, module, number)

    def add_compiled(self, role, module):
        self.add_graph(role, module)
        metadata = getattr(torch._guards.TracingContext.try_get(), "fw_metadata", None)
        if metadata is not None and self.fw_metadata is None:
            self.fw_metadata = plain_metadata(metadata)

    # ---- calls

    def is_done(self, role):
        """Whether all calls of a graph that shall be recorded have been."""
        return not self.pending if role == "backward" else self.counts.get(role, 0) >= self.session.calls_per_region

    def before(self, role, args):
        """Record the inputs of a call; returns the call, or None when it is not to be recorded."""
        if self.is_done(role):  # before anything is looked at: most calls end here
            self.counts[role] = self.counts.get(role, 0) + 1
            return None
        on_gpu = any(isinstance(t, torch.Tensor) and t.device.type == "cuda" for t in leaves(args))
        if any(is_unreal(v) for v in leaves(args)) or (on_gpu and torch.cuda.is_current_stream_capturing()):
            return None
        n = self.backward_number(args) if role == "backward" else self.counts.get(role, 0)
        self.counts[role] = self.counts.get(role, 0) + 1
        graph = self.graphs.get(role)
        if graph is None or n is None or n >= self.session.calls_per_region:
            return None
        names = [i["name"] for i in graph.inputs]
        if len(names) != len(args):
            self.session.note(f"{graph.id}: {len(args)} values for {len(names)} placeholders, call not recorded")
            return None
        file_id = f"v{self.id}-{n}"
        call = {"graph": graph.id, "n": n, "rng": self.session.rng(file_id, args)}
        reaches = any(known.reaches for known in self.all_graphs)
        call["inputs"] = Values(self.session.store, file_id, inputs=True, reaches=reaches).encode_all(names, args)
        return role, n, file_id, call

    def after(self, token, outputs):
        role, n, file_id, call = token
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        prefix = {"forward": "out", "inference": "out", "backward": "grad"}.get(role, f"{role}_out")
        names = [f"{prefix}_{i}" for i in range(len(outputs))]
        call["outputs"] = Values(self.session.store, file_id).encode_all(names, outputs)
        self.calls[(role, n)] = call
        if role == "dynamo":
            self.differentiable[n] = [isinstance(v, torch.Tensor) and v.requires_grad for v in outputs]
        if role == "forward" and self.num_fwd_outputs is not None:
            saved = readable_tensors(outputs[self.num_fwd_outputs :])
            self.pending.append((n, [StorageWeakRef(t.untyped_storage()) for t in saved]))

    def backward_number(self, args):
        """Number of the recorded forward call that this backward call belongs to: it saved these tensors."""
        given = {t.untyped_storage()._cdata for t in readable_tensors(args)}
        for i, (n, saved) in enumerate(self.pending):
            if all(not ref.expired() and ref.cdata in given for ref in saved) or self.counts.get("forward") == 1:
                del self.pending[i]
                return n
        return None

    def derive_joint_calls(self):
        """PyTorch never calls the joint graph; its values are those of the forward and the backward call."""
        joint, forward, backward = (self.graphs.get(r) for r in ("joint", "forward", "backward"))
        both = sorted(n for role, n in self.calls if role == "forward" and ("backward", n) in self.calls)
        for n in both if joint and forward and backward and self.num_fwd_outputs is not None else ():
            call, back = self.calls[("forward", n)], self.calls[("backward", n)]
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

    def derive_gradients(self):
        """The gradients of the inputs of a Dynamo call are those of AOTAutograd's inputs, which are the same tensors;
        where one tensor is several inputs, the first of them has its gradient."""
        for n, differentiable in self.differentiable.items():
            call, joint = self.calls[("dynamo", n)], self.calls.get(("joint", n))
            if joint is None:
                continue
            gradients = joint["outputs"][self.num_fwd_outputs :]
            primals, tangents = joint["inputs"][: len(gradients)], joint["inputs"][len(gradients) :]
            if len(tangents) != sum(differentiable):  # inputs that are changed have tangents too
                self.session.note(f"{call['graph']}: no gradients, its tangents are not those of its outputs", False)
                continue
            waiting, known = iter(tangents), {}
            for primal, gradient in zip(primals, gradients):
                known.setdefault(compact(primal), []).append(gradient)
            if primals == call["inputs"]:
                call["gradients"] = gradients
            else:
                call["gradients"] = [(known.get(compact(v)) or [None]).pop(0) for v in call["inputs"]]
            call["tangents"] = [next(waiting) if d else None for d in differentiable]

    def record_taps(self):
        for role, served in (("joint", ("joint", "forward", "backward")), ("inference", ("inference",))):
            for n in [n for other, n in self.calls if other == role]:
                taps = self.tap(self.graphs[role], n, self.calls[(role, n)])
                for other in served:
                    if taps and (other, n) in self.calls:
                        self.calls[(other, n)]["taps"] = taps

    def tap(self, graph, n, call):
        """Run a recorded graph again on its recorded inputs and keep the values of its nodes."""
        if len(graph.names) > self.TAP_NODES or graph.tap_bytes > self.session.limits.nodes:
            return None
        if graph.effects:
            self.session.note(
                f"{graph.id}: no values of nodes: {graph.effects} may do more than compute", failure=False
            )
            return None
        store, files = self.session.store, {"f32": f"tap32-{self.id}-{n}", "f64": f"tap64-{self.id}-{n}"}
        try:
            inputs = store.load(call["inputs"])
            inputs = [copy_of(v, operator.methodcaller("to", i["device"])) for v, i in zip(inputs, graph.inputs)]
            with again(store.load(call["rng"])):
                for node, *values in node_values(graph, inputs):
                    if node.name in graph.taps:
                        for file_id, value in zip(files.values(), values):
                            self.keep(store.file(file_id), node.name, value)
            if not graph.random or agree(values[0], store.load(call["outputs"])):
                return {width: name for width, name in files.items() if store.has(name)} or None
            raise NotRecorded("the compiler draws other random numbers")
        except Exception as error:
            known = isinstance(error, NotRecorded)
            text = str(error) if known else told(error)
            self.session.note(f"{graph.id}: no values of nodes: {text}", failure=not known)
        for name in files.values():
            store.discard(name)
        return None

    def keep(self, target, name, value):
        """Complex numbers that safetensors does not know go as pairs, under a name that says so: "mul.c128"."""
        ordinary, _ = read(value)
        if ordinary is None:
            return
        if target.size + ordinary.numel() * ordinary.element_size() > self.session.limits.nodes:
            raise NotRecorded("they are too large")
        ordinary = ordinary.cpu().contiguous()
        if safetensors_dtype(ordinary.dtype) is None:
            name = f"{name}.{dtype_code(ordinary.dtype)}"
            ordinary = torch.view_as_real(ordinary.resolve_conj().resolve_neg())
        target.add(name, ordinary.dtype, ordinary.shape, bytes_of(ordinary.reshape(-1)))

    def manifest(self):
        entry = {"id": self.id, "compile_id": self.compile_id, "rank": self.session.rank, "attempt": self.attempt}
        entry["graphs"] = {role: graph.id for role, graph in self.graphs.items()}
        entry["decompositions"] = self.decompositions
        optional = {"symbols": self.symbols or None, "num_fwd_outputs": self.num_fwd_outputs}
        optional.update(fw_metadata=self.fw_metadata, partition=self.partition)
        return {**entry, **{k: v for k, v in optional.items() if v is not None}}



# ---- compiled autograd -----------------------------------------------------------------------------


class Reasons(logging.Handler):
    """Why compiled autograd captures again, as it says to its verbose logger, whether that is on or not."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.texts = []
        self.logger = logging.Logger("adjoint_capture")  # the engine does not own what it is given

    def emit(self, record):
        if isinstance(record.msg, str) and record.msg.startswith("Cache miss"):
            self.texts.append(record.getMessage())

    def take(self):
        texts, self.texts = self.texts, []
        return texts

    def listen(self, end):
        """Until `end`, an exit stack, is closed."""
        theirs = compiled_autograd.verbose_log  # what is said goes to it where the program asked for that
        for logger in (self.logger, theirs):
            logger.addHandler(self)
        end.callback(theirs.removeHandler, self)
        set_logger = torch._C._dynamo.compiled_autograd.set_verbose_logger
        set_logger(self.logger)
        end.callback(lambda: set_logger(theirs if compiled_autograd.snapshot_verbose_logging_enabled() else None))


def copied(root, graph, name):
    """A graph module of the same nodes, with the same names and facts, and {node: its copy}."""
    copy, known = torch.fx.Graph(), {}
    copy.output(copy.graph_copy(graph, known))
    for old, new in known.items():
        new.name = old.name
    return torch.fx.GraphModule(root, copy, name), known


class Capture:
    """What one capture of compiled autograd does: the nodes that it visits, and the graph before it is reordered."""

    def __init__(self, session):
        self.session, self.nodes, self.origins, self.header = session, [], [], False
        self.reasons, self.before, self.instance = session.reasons.take(), None, None

    def watch(self, instance):
        """Sees what the engine calls and what the instance does at the end; methods of its class stay as they are."""
        self.instance = instance
        begin, origin = instance.begin_capture, instance.set_node_origin
        rename = getattr(instance, "rename_aot_dispatcher_nodes", None)
        delay = getattr(instance, "delay_unpack_hook_nodes", None)  # the first move, since 2.7

        def begin_capture(*args):
            self.header = True
            self.origins = [call for call, _ in args[3][0]] if len(args) > 3 else []
            try:
                return begin(*args)
            finally:
                self.header = False

        def set_node_origin(name, index, *args):
            if not self.header:
                self.nodes.append(name)
            return origin(name, index, *args)

        def rename_aot_dispatcher_nodes():
            rename()
            self.session.safely(self.keep_before)

        def delay_unpack_hook_nodes():
            self.session.safely(self.keep_before)
            delay()

        instance.begin_capture, instance.set_node_origin = begin_capture, set_node_origin
        if rename is not None:
            instance.rename_aot_dispatcher_nodes = rename_aot_dispatcher_nodes
        if delay is not None:
            instance.delay_unpack_hook_nodes = delay_unpack_hook_nodes

    def keep_before(self):
        tracer = self.instance.fx_tracer
        self.before, _ = copied(tracer.root, tracer.graph, "CompiledAutograd")

    def manifest(self):
        return {"nodes": self.nodes, "reasons": self.reasons}


HOOKS = ("call_hook", "call_backward", "self_invoke")  # what calls a function of the program


def is_call_of(node, *names):
    return node.op == "call_function" and getattr(node.target, "__name__", None) in names


def callable_facts(session, value):
    """{"name", "where"} of a hook or of the backward of a Function, as far as these are known."""
    function, name = value, None
    if getattr(type(value), "_forward_cls", None) is not None:
        function = type(value)._forward_cls.backward
        name = f"{type(value)._forward_cls.__module__}.{type(value)._forward_cls.__qualname__}"
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    kind = function if hasattr(function, "__qualname__") else type(function)
    code = getattr(function, "__code__", None)
    found = {"name": name or f"{kind.__module__}.{kind.__qualname__}"}
    if code is not None:
        found["where"] = session.rename(f"{code.co_filename}:{code.co_firstlineno}")
    return found


def parameter_names():
    """{id: its name in the outermost module that has it} of all parameters of modules that are alive."""
    modules = [o for o in gc.get_objects() if issubclass(type(o), torch.nn.Module)]
    inner = {id(child) for module in modules for child in module.children()}
    names = {}
    for module in modules:
        if id(module) not in inner and not isinstance(module, torch.fx.GraphModule):
            for name, parameter in module.named_parameters():
                names.setdefault(id(parameter), clean_path(name.removeprefix("_orig_mod.")))
    return names


class BackwardRegion(Region):
    """A graph that compiled autograd captured, with what surrounds its calls."""

    ROLE = "compiled_autograd"

    def __init__(self, session, region_id, compile_id, module, capture):
        super().__init__(session, region_id, compile_id)
        self.module, self.capture = module, capture
        nodes = list(module.graph.nodes)
        uses = [(n.kwargs.get("bw_state", n.args[0]), n) for n in nodes if is_call_of(n, *HOOKS)]
        self.hook_uses = {item.args[1]: n for item, n in uses if self.is_item(item, "hooks")}
        accumulated = [n.args[0] for n in nodes if "accumulate_grad" in str(n.target)]
        self.leaf_inputs = sorted({n.args[1] for n in accumulated if self.is_item(n, "inputs")})
        self.leaves = {}  # n: leaves of that call whose gradients are accumulated, and what version they have

    @staticmethod
    def is_item(node, of):
        item = isinstance(node, torch.fx.Node) and node.target is operator.getitem
        return item and str(getattr(node.args[0], "target", "")) == of

    def plain(self, role, args):
        """`args` with sizes as numbers: since 2.7 PyTorch passes a size as the second one of a tensor without elements."""
        names = [i["name"] for i in self.graphs[role].inputs] if role in self.graphs else []
        given = itertools.zip_longest(names, args)
        return [[self.plain_size(v) for v in arg] if name == "sizes" else arg for name, arg in given]

    @staticmethod
    def plain_size(value):
        wrapped = isinstance(value, torch.Tensor) and value.dim() == 2 and value.shape[0] == 0
        return int(value.shape[1]) if wrapped else value

    def before(self, role, args):
        token = super().before(role, self.plain(role, args))
        if token is not None:
            _, n, _, call = token
            given = dict(zip((i["name"] for i in self.graphs[role].inputs), args))
            inputs = list(given["inputs"])
            self.leaves[n] = {i: (inputs[i], inputs[i]._version) for i in self.leaf_inputs}
            call["backward"] = {"inputs": self.inputs_facts(inputs), "hooks": self.hooks_facts(given["hooks"]), "results": {}}
        return token

    def inputs_facts(self, inputs):
        """Where each comes from: a gradient of an output, a leaf, the gradient that a leaf has, or saved by a node."""
        leaves = {id(t): i for i, t in enumerate(inputs) if t.is_leaf and t.requires_grad}
        grads = {id(inputs[i].grad): i for i in leaves.values() if inputs[i].grad is not None}
        names = parameter_names() if leaves else {}
        found = []
        for i, tensor in enumerate(inputs):
            node = self.capture.origins[i] if i < len(self.capture.origins) else None
            facts = {"from": "saved"}
            if id(tensor) in leaves:
                facts = {"from": "leaf", "name": names.get(id(tensor))}
            elif id(tensor) in grads:
                facts = {"from": "grad", "of": grads[id(tensor)]}
            elif node == 0:
                facts = {"from": "gradient"}
            found.append({k: v for k, v in {**facts, "node": node}.items() if v is not None})
        return found

    def hooks_facts(self, hooks):
        found = []
        for i, hook in enumerate(hooks):
            facts, use = callable_facts(self.session, hook), self.hook_uses.get(i)
            if isinstance(hook, torch.fx.experimental._backward_state.BackwardState):
                facts["holds"] = [callable_facts(self.session, v) for v in vars(hook).values() if callable(v)]
            if use is not None:
                facts.update(type=use.kwargs.get("hook_type", use.target.__name__), call=use.name)
            found.append(facts)
        return found

    def observed(self, token, compiled):
        """What runs in place of `compiled` for one call that is recorded: the same, and where that is the captured
        graph itself, it also shows the values of its nodes as soon as they are there."""
        if compiled is not self.module and getattr(compiled, "__self__", None) is not self.module:
            if self.hook_uses:
                self.session.note(f"{self.id}: what hooks gave is not known, the graph was compiled", failure=False)
            return compiled
        graph = self.graphs[self.ROLE]
        module, known = copied(self.module, self.module.graph, self.module._get_name())
        for old, new in known.items():
            given = self.is_item(old, "inputs") or self.is_item(old, "sizes")
            if is_call_of(old, *HOOKS) or (old.name in graph.taps and not given):
                with module.graph.inserting_after(new):
                    module.graph.call_function(self.observer(token, old), (new,))
        module.recompile()
        return module

    def observer(self, token, node):
        _, n, file_id, call = token
        if is_call_of(node, *HOOKS):
            return lambda value: self.session.safely(self.keep_result, call, n, file_id, node, value)
        return lambda value: self.session.safely(self.keep_tap, call, n, node.name, value)

    def keep_result(self, call, n, file_id, node, value):
        values = Values(self.session.store, file_id)
        if node.kwargs.get("hook_type") != "post_acc_grad_hook":
            call["backward"]["results"][node.name] = values.encode_all([node.name], [value])[0]
            return
        leaf, version = next(known for known in self.leaves[n].values() if known[0] is value)
        changed = {"grad": leaf.grad, **({"leaf": leaf.detach()} if leaf._version != version else {})}
        names = [f"{node.name}.{k}" for k in changed]
        call["backward"]["results"][node.name] = dict(zip(changed, values.encode_all(names, changed.values())))

    def keep_tap(self, call, n, name, value):
        file_id = f"tap32-{self.id}-{n}"
        if not self.session.with_taps or call.get("taps") == {}:
            return
        try:
            self.keep(self.session.store.file(file_id), name, value)
            call["taps"] = {"f32": file_id}
        except NotRecorded as why:
            self.session.note(f"{self.id}: no values of nodes: {why}", failure=False)
            self.session.store.discard(file_id)
            call["taps"] = {}

    def after(self, token, outputs):
        _, n, file_id, call = token
        leaves = self.leaves.pop(n)
        values = Values(self.session.store, file_id)
        grads = values.encode_all([f"grad_of_{i}" for i in leaves], [leaf.grad for leaf, _ in leaves.values()])
        call["backward"]["gradients"] = [{"of": i, "grad": grad} for i, grad in zip(leaves, grads)]
        if not call.get("taps"):
            call.pop("taps", None)
        super().after(token, outputs)

    def manifest(self):
        return {**super().manifest(), "capture": self.capture.manifest()}


def recording_backward(session, region, compiled):
    """A callable whose calls are recorded, which keeps no reference to what its caller gives up."""
    if region is None:
        return compiled

    def call(*args):
        token = session.safely(region.before, region.ROLE, args)
        shown = session.safely(region.observed, token, compiled) if token is not None else None
        out = (compiled if shown is None else shown)(*args)
        if token is not None:
            session.safely(region.after, token, out)
        return out

    return call


# What decides in torch._functorch.config what is saved for backward, in any release.
PARTITION_OPTIONS = (
    "activation_memory_budget_runtime_estimator", "activation_memory_budget_solver", "aggressive_recomputation",
    "ban_recompute_long_fusible_chains", "ban_recompute_materialized_backward", "ban_recompute_not_in_allowlist",
    "ban_recompute_reductions", "ban_recompute_used_far_apart", "cse", "enable_activation_offloading",
    "functionalize_rng_ops", "graphsafe_rng_functionalization", "max_dist_from_bw", "recompute_views",
    "treat_parameters_as_free_to_save",
)  # fmt: skip
PARTITIONERS = {"min_cut_rematerialization_partition": "min-cut", "default_partition": "default"}


def random_numbers():
    """Where this build takes masks of dropout from: `mkl`, a stream that one draw of the generator starts, or
    `generator`, which then is drawn from for each element."""
    drawn, once = torch.Generator().manual_seed(0), torch.Generator().manual_seed(0)
    torch.empty(64).bernoulli_(0.5, generator=drawn)
    torch.empty(1, dtype=torch.int64).random_(0, 2, generator=once)
    return "mkl" if torch.equal(drawn.get_state(), once.get_state()) else "generator"


def gpu_threads():
    """How many threads fit at once on the GPU in use, which decides what it draws; 0: there is none."""
    if not torch.cuda.is_available():
        return 0
    facts = torch.cuda.get_device_properties(torch.cuda.current_device())
    return facts.multi_processor_count * facts.max_threads_per_multi_processor


def partition_facts(partition):
    """Which partitioner, under which budget and settings."""
    while isinstance(partition, functools.partial):
        partition = partition.func
    name = getattr(partition, "__name__", type(partition).__name__)
    inductor = getattr(partition, "__module__", "") == "torch._inductor.compile_fx"  # a closure around that of min-cut
    options = {n: getattr(functorch_config, n) for n in PARTITION_OPTIONS if hasattr(functorch_config, n)}
    texts = {
        n: getattr(v, "__name__", repr(v)) for n, v in options.items() if not isinstance(v, (bool, int, float, str))
    }
    return {
        "partitioner": "min-cut" if inductor else PARTITIONERS.get(name, name),
        "activation_memory_budget": float(getattr(functorch_config, "activation_memory_budget", 1.0)),
        "options": {**options, **texts},
    }


def table_name(table):
    """Whose decompositions a table holds."""
    inductor = sys.modules.get("torch._inductor.decomposition")  # what is not imported is not in use
    if table and inductor and set(table) == set(inductor.select_decomp_table()):
        return "inductor"
    return "custom" if table else "none"


def warn(text):
    """A warning that is none of the program's: where these are errors, it is lost."""
    with contextlib.suppress(Exception):
        warnings.warn(f"adjoint_capture: {text}", stacklevel=4)


# ---- the session -----------------------------------------------------------------------------------


def rank_of_process():
    """Of several processes that torch.distributed, or torchrun before it is set up, says there are; else None."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    several = re.fullmatch(r"\d+", os.environ.get("WORLD_SIZE", "")) and int(os.environ["WORLD_SIZE"]) > 1
    return int(os.environ["RANK"]) if several and re.fullmatch(r"\d+", os.environ.get("RANK", "")) else None


def path_of_rank(path, rank):
    """ "step.adjoint" → "step.rank1.adjoint", so that no process writes over another's."""
    stem, suffix = os.path.splitext(os.path.realpath(path))  # a link stays one
    return stem + suffix if rank is None else f"{stem}.rank{rank}{suffix}"


def replace_folder(folder, path):
    """Move the directory form to where it shall stand, in place of an older capture."""
    os.chmod(folder, os.stat(os.path.join(folder, "graphs")).st_mode)  # as any new folder; ours was for us alone
    old = folder + ".old"
    if os.path.exists(path):
        os.rename(path, old)
    os.rename(folder, path)
    shutil.rmtree(old, ignore_errors=True)


class Session:
    """One capture in the making."""

    def __init__(self, path, calls=1, taps=True, reordering=True, rename=types.MappingProxyType({}), limits=None):
        self.limits = limits or Limits()
        self.rank, self.process = rank_of_process(), os.getpid()
        self.path, self.single = path_of_rank(path, self.rank), os.fspath(path).endswith(".adjoint")
        if not self.single and os.path.isdir(self.path) and os.listdir(self.path):
            if not os.path.exists(os.path.join(self.path, "adjoint.json")):
                raise FileExistsError(f"{self.path} exists and is not a capture")
        self.calls_per_region, self.with_taps, self.with_reordering = calls, taps, reordering
        self.prefixes = dict(rename)
        self.active, self.lock = True, threading.RLock()
        self.notes, self.failures, self.hooks, self.strings = [], 0, [], {}
        self.random_numbers = random_numbers()
        self.reasons = Reasons()
        self.graphs, self.regions, self.written, self.symbols = {}, {}, {}, {}
        # a folder of our own: another process may record to the same path
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.folder = tempfile.mkdtemp(".partial", os.path.basename(self.path) + ".", os.path.dirname(self.path))
        for name in ("graphs", "tensors", "text"):
            os.makedirs(os.path.join(self.folder, name))
        self.store = Store(os.path.join(self.folder, "tensors"), self.limits)
        self.config, self.dynamo = changed_config(), Dynamo()

    def note(self, text, failure=True):
        """Say in the manifest what is missing and why; a failure is a warning too."""
        if text not in self.notes:
            self.notes.append(text)
            self.failures += failure
            if failure:
                warn(text)

    @torch._dynamo.disable
    def safely(self, function, *args):
        """Call what only records: what goes wrong in it becomes a note, never an error of the program."""
        if not self.active or os.getpid() != self.process:  # a forked child has the session of its parent
            return None
        try:
            with self.lock, torch.no_grad(), _disable_current_modes(), torch._C.DisableTorchFunction():
                return function(*args)
        except Exception as error:
            self.note(f"{function.__name__}: {told(error)}")
            return None

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

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
        devices = {t.device for t in leaves(args) if isinstance(t, torch.Tensor) and t.device.type == "cuda"}
        states = {"cpu": torch.get_rng_state(), **{str(d): torch.cuda.get_rng_state(d) for d in devices}}
        names = [f"rng_{d.replace(':', '_')}" for d in states]
        return dict(zip(states, Values(self.store, file_id).encode_all(names, states.values())))

    # ---- regions

    def region(self, restart):
        """The region of the current compile id; a new one when it was recorded before or is `restart`ed."""
        trace = torch._guards.CompileContext.current_trace_id()
        compile_id, attempt = (str(trace.compile_id), trace.attempt) if trace else (None, 0)
        base = re.sub(r"^!", "ca", compile_id).replace("/", "-") if trace else f"x{len(self.regions)}"
        base = (f"r{self.rank}-" if self.rank is not None else "") + base + (f"-{attempt}" if attempt else "")
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

    def dynamo_region(self, module, ambient, restart=True):
        region = self.region(restart)
        region.add_graph("dynamo", module, ambient)
        self.read_symbols(region)
        return region

    def graph_region(self, module, ambient):
        """A region that is one graph: of operators, or of Python's calls as Dynamo leaves them."""
        nodes = module.graph.nodes
        values = leaves([n.meta.get("val", n.meta.get("example_value")) for n in nodes])
        sizes = leaves([list(v.shape) if isinstance(v, torch.Tensor) else v for v in values])
        symbol = next((size for size in sizes if isinstance(size, torch.SymInt)), None)
        of_operators = any(isinstance(n.target, torch._ops.OpOverload) for n in nodes)
        region = self.region(restart=True)
        region.add_graph("inference" if of_operators else "dynamo", module, ambient)
        self.read_symbols(region, symbol.node.shape_env if symbol is not None else None)
        return region

    def compiled_autograd_region(self, module, capture):
        base = (f"r{self.rank}-" if self.rank is not None else "") + "ca"
        number = sum(r.startswith(base) and r[len(base) :].isdigit() for r in self.regions)
        region = BackwardRegion(self, f"{base}{number}", f"!{number}", module, capture)
        self.regions[region.id] = region
        names = [n.name for n in module.graph.nodes]
        if self.with_reordering and capture.before is not None and [n.name for n in capture.before.graph.nodes] != names:
            region.add_graph("compiled_autograd_pre_reordering", capture.before)
        region.add_graph(region.ROLE, module)
        self.read_symbols(region, getattr(capture.instance, "shape_env", None))
        capture.before = capture.instance = None
        return region

    def read_symbols(self, region, env=None):
        context = torch._guards.TracingContext.try_get()
        env = env or getattr(getattr(context, "fake_mode", None), "shape_env", None)
        hints = env.backed_var_to_val if hasattr(env, "backed_var_to_val") else getattr(env, "var_to_val", {})
        for symbol, hint in hints.items():
            entry = {"hint": int(hint)} if re.fullmatch(r"-?\d+", str(hint)) else {}
            bounds = getattr(env, "var_to_range", {}).get(symbol)
            if bounds is not None:
                limits = [str(bounds.lower), str(bounds.upper)]
                entry["range"] = [int(b) if re.fullmatch(r"-?\d{1,15}", b) else None for b in limits]
            for source in (getattr(env, "var_to_sources", {}).get(symbol) or [])[:1]:
                entry["source"] = source_name(source)
            region.symbols[str(symbol)] = entry
        self.symbols.update(region.symbols)

    # ---- the end

    def collect(self):
        for region in self.regions.values():
            region.derive_joint_calls()
            region.derive_gradients()
            if self.with_taps:
                region.record_taps()

    def finish(self):
        """Write the capture; a failure is a warning.  Compiled functions go on without recording."""
        if not self.active or os.getpid() != self.process:
            return
        self.safely(self.collect)
        try:
            with self.lock:
                tensors = [{"id": k, "sha256": f.finish()} for k, f in sorted(self.store.files.items()) if f.entries]
                self.write("adjoint.json", self.manifest(tensors))
                self.active = False
                if self.single:
                    pack(self.folder, self.path)
                    shutil.rmtree(self.folder)
                else:
                    replace_folder(self.folder, self.path)
        except Exception as error:
            warn(f"{self.path} was not written: {error}")
            self.active = False
            shutil.rmtree(self.folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.remove(self.folder + ".zip")
        self.graphs.clear()  # compiled functions keep our wrappers, and through them this session
        self.regions.clear()

    def manifest(self, tensors):
        live = [r for r in self.regions.values() if r.graphs]
        graphs = [
            {
                "id": g.id, "title": f"{g.region.compile_id or g.region.id} {g.role.replace('_', ' ')}",
                "role": g.role, "compile_id": g.region.compile_id, "rank": self.rank,
                "sha256": self.written[f"graphs/{g.id}.json"],
            }
            for g in self.graphs.values()
        ]  # fmt: skip
        source = {
            "kind": "capture", "name": os.path.basename(self.path), "torch_version": torch.__version__,
            "torch_git": torch.version.git_version, "random_numbers": self.random_numbers,
            "gpu_threads": gpu_threads(), "hooks": self.hooks,
            "decompositions": ", ".join(sorted({r.table for r in live if r.aot})) or "none",
            "config": self.config, "limits": dataclasses.asdict(self.limits),
        }  # fmt: skip
        breaks = self.safely(self.dynamo.breaks) or []
        items = {
            "format": "adjoint", "version": FORMAT_VERSION, "requires": [], "source": source,
            "producer": {"name": "adjoint_capture", "version": VERSION}, "notes": [*self.notes, *self.store.remarks],
            "breaks": breaks, "frames": self.safely(self.dynamo.frames),
            "graphs": graphs, "tensors": tensors, "regions": [r.manifest() for r in live],
            "calls": [c for r in live for c in r.calls.values()],
            "strings": list(self.strings), "symbols": self.symbols,
        }  # fmt: skip
        lines = []
        for key, value in items.items():
            text = compact(value)
            if isinstance(value, list) and value and key != "version":
                text = "[\n" + ",\n".join(compact(v) for v in value) + "\n]"
            lines.append(f'"{key}": {text}')
        return self.rename("{" + ",\n".join(lines) + "}\n")


class Dynamo:
    """What Dynamo compiled, and why not more, from now on."""

    def __init__(self):
        self.before = self.metrics()
        self.counted = {k: dict(v) for k, v in torch._dynamo.utils.counters.items()}

    @staticmethod
    def metrics():
        return list(torch._dynamo.utils.get_compilation_metrics())

    def counts(self, kind):
        known = self.counted.get(kind, {})  # the program may have set them back
        now = torch._dynamo.utils.counters.get(kind, {})
        return {k: n - known.get(k, 0) if n >= known.get(k, 0) else n for k, n in now.items()}

    def frames(self):
        """How many frames Dynamo was given."""
        known = set(map(id, self.before))
        compiled = [m for m in self.metrics() if id(m) not in known]
        return max(self.counts("frames").get("total", 0), len(compiled))

    def breaks(self):
        """[{"frame", "what", "why"}]: functions that were not compiled, or not whole; `frame` where it is known."""
        known = set(map(id, self.before))
        found = [one for m in self.metrics() if id(m) not in known for one in self.of_frame(m)]
        for kind in ("graph_break", "unimplemented"):
            for why, n in self.counts(kind).items():
                if n > 0 and not any(clean_reason(why) == one["why"] for one in found):
                    found.append({"what": "graph break", "why": clean_reason(why)})
        return found[:100]

    @staticmethod
    def of_frame(metrics):
        get = functools.partial(getattr, metrics)
        if not get("is_forward", True) or get("co_name", None) is None:
            return
        where = f"{get('co_filename', None)}:{get('co_firstlineno', None)}"
        frame = {"frame": f"{get('co_name', None)} ({where})"}
        for why in sorted(get("restart_reasons", None) or ()):
            yield {**frame, "what": "graph break", "why": clean_reason(why)}
        if get("fail_reason", None):
            yield {
                **frame,
                "what": "not compiled",
                "why": clean_reason(f"{get('fail_type', '')}: {get('fail_reason', '')}"),
            }
        elif get("graph_op_count", None) is None:
            yield {**frame, "what": "skipped", "why": "nothing of it was compiled"}


def clean_reason(text):
    """In one line, and not too long."""
    return re.sub(r"\s+", " ", text).strip(" '\"")[:400]


def changed_config():
    """What differs from torch's defaults, as statements.  torch also lists what has only been looked at."""
    lines = []
    for name in ("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config"):
        module = sys.modules.get(name)
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for line in module.codegen_config().splitlines():
                key = line.split(" = ")[0].removeprefix(name + ".")
                default = getattr(module._config.get(key), "default", module)  # up to 2.4 there is only the value
                if not key.startswith("_") and default != getattr(module, key):
                    lines.append(line)
    return lines


def pack(folder, path):
    """The single-file form: a ZIP of stored entries, manifest first, all data aligned to 64 bytes."""
    names = [os.path.join(where, name) for where, _, found in os.walk(folder) for name in found]
    names = [os.path.relpath(name, folder).replace(os.sep, "/") for name in names]
    partial = folder + ".zip"
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as out:
        for name in sorted(names, key=lambda n: (n != "adjoint.json", n)):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            entry.file_size = os.path.getsize(os.path.join(folder, name))
            padding = -(out.fp.tell() + 30 + len(name.encode())) % 64
            padding += 64 if 0 < padding < 4 else 0
            if padding:
                entry.extra = b"FB" + (padding - 4).to_bytes(2, "little") + b"Z" * (padding - 4)
            with open(os.path.join(folder, name), "rb") as source, out.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    os.replace(partial, path)


# ---- hooks -----------------------------------------------------------------------------------------


def recording(session, region, role, compiled, boxed=False):
    """A callable whose calls are recorded.  Not functools.wraps: Dynamo would unwrap it again."""
    if region is None:
        return compiled

    def call(args):
        token = session.safely(region.before, role, args)
        out = compiled(args) if boxed else compiled(*args)
        if token is not None:
            session.safely(region.after, token, out)
        return out

    call._boxed_call = True
    return call if boxed else lambda *args: call(list(args))


def wrap_compilers(session, region, arguments):
    """Replace the compilers and the partitioner among AOTAutograd's arguments."""

    def wrap(role, compiler):
        def compile_and_record(module, example_inputs):
            session.safely(region.add_compiled, role, module)  # before the compiler, which may edit it in place
            compiled = compiler(module, example_inputs)
            return recording(session, region, role, compiled, getattr(compiled, "_boxed_call", False))

        return compile_and_record

    def partition_and_record(joint, joint_inputs, **kwargs):
        number = session.safely(region.add_joint, joint, joint_inputs, kwargs.get("num_fwd_outputs"))
        forward, backward = partition(joint, joint_inputs, **kwargs)
        session.safely(region.add_halves, number, forward, backward, partition)
        return forward, backward

    partition, forward = arguments["partition_fn"], arguments["fw_compiler"]
    arguments.update(
        partition_fn=functools.wraps(partition)(partition_and_record),
        fw_compiler=wrap("forward", forward),
        bw_compiler=wrap("backward", arguments.get("bw_compiler") or forward),
        inference_compiler=wrap("inference", arguments.get("inference_compiler") or forward),
    )


def hook_dynamo(session):
    original = output_graph.OutputGraph.call_user_compiler

    def call_user_compiler(self, gm, *args, **kwargs):
        region = session.safely(session.dynamo_region, gm, ambient())
        with policies_watched(session, gm) as policies:
            compiled = original(self, gm, *args, **kwargs)
        if region is not None and policies:
            session.safely(region.graphs["dynamo"].add_policies, policies)
        plain = inspect.isroutine(compiled) or isinstance(compiled, torch.nn.Module)  # not what can be saved to disk
        return recording(session, region, "dynamo", compiled) if plain else compiled

    return output_graph.OutputGraph, "call_user_compiler", call_user_compiler


def hook_aot(session):
    original = common.aot_module_simplified
    signature = inspect.signature(original)
    missing = {"mod", "args", "fw_compiler", "bw_compiler", "partition_fn"} - set(signature.parameters)
    if missing:
        raise TypeError(f"aot_module_simplified has no {', '.join(sorted(missing))}")

    def start(arguments):
        region = session.region(restart=False)
        region.start_aot(arguments["mod"], len(arguments["args"]), arguments.get("decompositions"))
        return region

    @functools.wraps(original)
    def aot_module_simplified(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        region = session.safely(start, bound.arguments)
        if region is not None:
            wrap_compilers(session, region, bound.arguments)
        return original(*bound.args, **bound.kwargs)

    return common, "aot_module_simplified", aot_module_simplified


def hook_compiled_autograd(session):
    original = compiled_autograd.AutogradCompilerInstance.__init__

    def __init__(self, compiler_fn, *args, **kwargs):
        def compile_and_record(module):
            region = session.safely(session.compiled_autograd_region, module, capture)
            run = recording_backward(session, region, compiler_fn(module))
            return torch._dynamo.disable(run)  # a backward may run under an active frame callback

        original(self, compile_and_record, *args, **kwargs)
        capture = Capture(session)
        session.safely(capture.watch, self)

    return compiled_autograd.AutogradCompilerInstance, "__init__", __init__


def log_instead(session):
    """Let torch write its own trace log beside the capture; returns what ends that."""
    from torch._logging._internal import TorchLogsFormatter, trace_log

    handler = logging.FileHandler(os.path.splitext(session.path)[0] + ".log", "w", encoding="utf-8")
    handler.setFormatter(TorchLogsFormatter(trace=True))
    trace_log.addHandler(handler)
    session.note(f"torch's own trace is in {os.path.basename(handler.baseFilename)}", failure=False)

    def end():
        trace_log.removeHandler(handler)
        handler.close()

    return end


def install(session, end):
    """Set the hooks until `end`, an exit stack, is closed."""
    if torch.__version__ >= "2.6":  # before, it calls what it is given
        session.safely(session.reasons.listen, end)
    for hook in (hook_dynamo, hook_aot, hook_compiled_autograd):
        name = hook.__name__.removeprefix("hook_")
        try:
            owner, attribute, replacement = hook(session)
            end.callback(setattr, owner, attribute, getattr(owner, attribute))
            setattr(owner, attribute, replacement)
            session.hooks.append(name)
        except Exception as error:
            session.note(f"{name} is not recorded: {told(error)}")
    # a hit of this cache would skip the joint trace, and with it everything there is to record
    caches = ("enable_autograd_cache", "enable_remote_autograd_cache", "bundled_autograd_cache")
    end.enter_context(functorch_config.patch({n: False for n in caches if hasattr(functorch_config, n)}))
    if len(session.hooks) < 3:
        end.callback(log_instead(session))


@contextlib.contextmanager
def record(path, **options):
    """Record all regions that are compiled inside the block into `path`.

    calls   how many calls of each region are recorded with their values (1)
    taps    whether the value of every node of small graphs is recorded (True)
    reordering  whether of what compiled autograd captures there is also the graph before it was reordered (True)
    rename  {text: replacement} for the paths in stack traces, to share a capture without them
    limits  how many bytes are kept at most (a Limits)

    Regions compiled before the block are not seen; call torch._dynamo.reset() first to have them compiled again.
    """
    session = None
    with contextlib.ExitStack() as end:
        try:
            session = Session(path, **options)
            end.callback(session.finish)
            install(session, end)
        except Exception as error:
            warn(f"not everything is recorded: {error}")
        yield session


class Backend:
    """A backend of torch.compile that runs the graphs of AOTAutograd as they are.  The capture is written by
    `close`, at the latest when the process ends."""

    __name__ = "adjoint_capture"

    def __init__(self, path, options):
        self.session = None
        try:
            self.session = Session(path, **options)
            self.session.hooks.append("backend")
            atexit.register(self.close)
        except Exception as error:
            warn(f"nothing is recorded: {error}")

    def close(self):
        if self.session is not None:
            self.session.finish()

    def __call__(self, module, example_inputs, **_):
        from functorch.compile import min_cut_rematerialization_partition

        def interpret(graph, _inputs):
            def run(args):
                return torch.fx.Interpreter(graph).boxed_run(args)

            run._boxed_call = True
            return run

        called_under = ambient()

        def start():
            region = self.session.dynamo_region(module, called_under, restart=False)  # a graph may come in parts
            region.start_aot(module, len(example_inputs), None)
            return region

        arguments = {"fw_compiler": interpret, "partition_fn": min_cut_rematerialization_partition}
        region = self.session.safely(start) if self.session is not None else None
        if region is None:
            return common.aot_autograd(**arguments, keep_inference_input_mutations=True)(module, example_inputs)
        wrap_compilers(self.session, region, arguments)
        with policies_watched(self.session, module) as policies:
            compiled = common.aot_autograd(**arguments, keep_inference_input_mutations=True)(module, example_inputs)
        if policies:
            self.session.safely(region.graphs["dynamo"].add_policies, policies)
        return recording(self.session, region, "dynamo", compiled)


def backend(path, **options):
    """A backend for torch.compile that records into `path`; the options are those of `record`."""
    return Backend(path, options)


def trace(function, inputs, **options):
    """What make_fx makes of a function; of each node where it stood, and whether the autograd engine made it and for
    which node, so that forward, backward and update of a training step can be told apart.  The options are make_fx's.
    """

    def run_backward(tensors, *args, **kwargs):
        mode = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY)
        if mode is None:
            return engine(tensors, *args, **kwargs)
        before = len(mode.tracer.graph.nodes)
        setup_stacktrace_preservation_hooks([t.grad_fn for t in tensors if t.grad_fn is not None])
        result = engine(tensors, *args, **kwargs)
        for node in itertools.islice(mode.tracer.graph.nodes, before, None):
            node.meta["autograd_backward"] = True
        return result

    engine = torch.autograd._engine_run_backward
    if "record_stack_traces" in inspect.signature(proxy_tensor.make_fx).parameters:
        options.setdefault("record_stack_traces", True)
    with contextlib.ExitStack() as end:
        for owner, name, value in (
            (torch.autograd, "_engine_run_backward", run_backward),
            (proxy_tensor.PythonKeyTracer, "record_stack_traces", True),
        ):
            end.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        end.enter_context(torch.fx.traceback.preserve_node_meta())
        end.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # that anomaly mode is on, which keeps where a node of autograd was made
        end.enter_context(torch.autograd.detect_anomaly(check_nan=False))
        return proxy_tensor.make_fx(function, **options)(*inputs)


def run(module, inputs, path, **options):
    """Run a graph module once, record it and the call into `path`, and return what it gives.

    For a graph that torch.compile was not given, as make_fx makes it of a whole training step.  `inputs` are those of
    `module`; the options are those of `record`.
    """
    flat, _ = tree_flatten(inputs)
    called_under = ambient()
    with contextlib.ExitStack() as end:
        region = None
        try:
            session = Session(path, **options)
            end.callback(session.finish)
            session.hooks.append("run")
            region = session.safely(session.graph_region, module, called_under)
        except Exception as error:
            warn(f"nothing is recorded: {error}")
        if region is None:
            return module(*inputs)
        interpreter = torch.fx.Interpreter(module)
        compiled = functools.partial(interpreter.run, enable_io_processing=False)
        outputs = recording(session, region, *region.graphs, compiled)(*flat)
        return module.graph.process_outputs(outputs)


def main():
    parser = argparse.ArgumentParser("python -m adjoint_capture", description="Record what a script compiles.")
    parser.add_argument("-o", "--output", metavar="OUT.adjoint", help="default: the script's name, here")
    parser.add_argument("--calls", type=int, default=1, help="calls of each region to record (default 1)")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not os.path.isfile(options.script):
        parser.error(f"{options.script}: no such file")
    output = options.output or os.path.splitext(os.path.basename(options.script))[0] + ".adjoint"
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    with record(output, calls=options.calls):
        runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
