#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check what the capture module makes of every kind of tensor: check_tensors.py [-v]

Each kind is passed to the module itself, which must record its elements or give the reason why it cannot, and through a
compiled function with and without the module, with equal results.  Each check runs in its own process, so that a
crash is reported as such.  Exit status 1 if something is wrong.
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import adjoint_capture  # noqa: E402

RECORDED = None
NAMES = hasattr(torch.Tensor, "has_names")  # current releases have no named dimensions any more


class Named(torch.Tensor):
    """A subclass with its own memory."""


class Wrapper(torch.Tensor):
    """A subclass without memory of its own."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, strides=inner.stride(), dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, kinds, args=(), kwargs=None):
        raise RuntimeError("nobody may compute with me")


class Dispatching(torch.Tensor):
    """A subclass with memory whose meaning only its class knows."""

    @classmethod
    def __torch_dispatch__(cls, function, kinds, args=(), kwargs=None):
        raise RuntimeError("nobody may compute with me")


def freed():
    t = torch.randn(8)
    t.untyped_storage().resize_(0)
    return t


def part_freed():
    t = torch.randn(8)
    t.untyped_storage().resize_(12)
    return t


def from_file():
    path = os.path.join(tempfile.mkdtemp(), "mapped")
    with open(path, "wb") as out:
        out.write(bytes(range(32)))
    return torch.from_file(path, shared=False, size=8, dtype=torch.float32)


def without_grad():
    base = torch.randn(4, 4, requires_grad=True)
    with torch.no_grad():
        return base[1:, ::2]


def inference():
    with torch.inference_mode():
        return torch.randn(3) * 2


def functional():
    t = torch._to_functional_tensor(torch.randn(3))
    return t


def jagged():
    parts = [torch.randn(2, 3), torch.randn(4, 3)]
    return torch.nested.nested_tensor(parts, layout=torch.jagged)


def quantized():
    return torch.quantize_per_tensor(torch.randn(4), 0.1, 0, torch.qint8)


def per_channel():
    scales, zeros = torch.tensor([0.1, 0.2]), torch.zeros(2, dtype=torch.int64)
    return torch.quantize_per_channel(torch.randn(2, 3), scales, zeros, 0, torch.quint8)


def mesh_tensor():
    import torch.distributed as dist
    from torch.distributed._tensor import DeviceMesh, Replicate, distribute_tensor
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    return distribute_tensor(torch.randn(4), DeviceMesh("cpu", [0]), [Replicate()])


def of_dtype(name):
    return lambda: torch.arange(6).to(getattr(torch, name))


# {kind: (how to make it, why it cannot be read, or RECORDED)}
KINDS = {
    "plain": (lambda: torch.randn(3, 4), RECORDED),
    "transposed": (lambda: torch.randn(3, 4).t(), RECORDED),
    "view with offset": (lambda: torch.randn(20)[7:12], RECORDED),
    "gaps": (lambda: torch.randn(20)[1::3], RECORDED),
    "gaps in much": (lambda: torch.randn(1 << 20)[:: 1 << 15], RECORDED),
    "expanded": (lambda: torch.randn(3, 1).expand(3, 5), RECORDED),
    "overlapping": (lambda: torch.randn(9).unfold(0, 3, 1), RECORDED),
    "scalar": (lambda: torch.tensor(2.5), RECORDED),
    "empty": (lambda: torch.empty(0, 3), RECORDED),
    "empty view": (lambda: torch.randn(4)[4:], RECORDED),
    "part of nothing": (lambda: torch.empty(0, 3, 2).select(2, 1), RECORDED),
    "leaf": (lambda: torch.randn(3, requires_grad=True), RECORDED),
    "result": (lambda: torch.randn(3, requires_grad=True) * 2, RECORDED),
    "view without grad": (without_grad, RECORDED),
    "inference": (inference, RECORDED),
    "conjugated": (lambda: torch.randn(3, dtype=torch.complex64).conj(), RECORDED),
    "conjugated part": (lambda: torch.randn(3, 4, dtype=torch.complex128).conj()[1:, ::2], RECORDED),
    "negated": (lambda: torch.randn(3, dtype=torch.complex64).conj().imag, RECORDED),
    "zero tensor": (lambda: torch._efficientzerotensor((3, 2)), RECORDED),
    **({"named": (lambda: torch.randn(2, 3, names=("N", "C")), RECORDED)} if NAMES else {}),
    "shared": (lambda: torch.randn(3).share_memory_(), RECORDED),
    "mapped": (from_file, RECORDED),
    "copied on write": (lambda: torch.randn(3)._lazy_clone(), RECORDED),
    "parameter": (lambda: torch.nn.Parameter(torch.randn(3)), RECORDED),
    "buffer": (lambda: torch.nn.Buffer(torch.randn(3)) if hasattr(torch.nn, "Buffer") else torch.randn(3), RECORDED),
    "subclass": (lambda: torch.randn(3).as_subclass(Named), RECORDED),
    **{
        name: (of_dtype(name), RECORDED)
        for name in adjoint_capture.DTYPES
        if hasattr(torch, name) and name != "float8_e8m0fnu"
    },
    "bits": (lambda: torch.zeros(3, dtype=torch.uint8).view(torch.bits8), "the file has no such elements"),
    "freed": (freed, "its memory was freed"),
    "partly freed": (part_freed, "its memory was freed"),
    "meta": (lambda: torch.empty(3, device="meta"), "it has no data"),
    "fake": (lambda: FakeTensorMode().from_tensor(torch.randn(3)), "it is a fake tensor"),
    "functional": (functional, "it is a functional tensor"),
    "wrapper": (lambda: Wrapper(torch.randn(3)), "its class computes in its own way"),
    "dispatching": (
        lambda: torch.Tensor._make_subclass(Dispatching, torch.randn(3)), "its class computes in its own way"
    ),
    "of a mesh": (mesh_tensor, "its class computes in its own way"),
    "not initialised": (lambda: torch.nn.UninitializedParameter(), RECORDED),
    "sparse": (lambda: torch.eye(3).to_sparse(), "its layout is not strided"),
    "sparse rows": (lambda: torch.eye(3).to_sparse_csr(), "its layout is not strided"),
    "sparse columns": (lambda: torch.eye(3).to_sparse_csc(), "its layout is not strided"),
    "sparse blocks": (lambda: torch.eye(4).to_sparse_bsr((2, 2)), "its layout is not strided"),
    "mkldnn": (lambda: torch.randn(3, 3).to_mkldnn(), "its layout is not strided"),
    "quantized": (quantized, "it is quantized"),
    "quantized by channel": (per_channel, "it is quantized"),
    "nested": (lambda: torch.nested.nested_tensor([torch.randn(2), torch.randn(3)]), "it is nested"),
    "nested rows": (jagged, "its class computes in its own way"),
}  # fmt: skip


def recorded(tensor, folder):
    """Returns what the module writes for a tensor, and the tensor that it reads back."""
    store = adjoint_capture.Store(folder, adjoint_capture.Limits())
    with torch.no_grad(), adjoint_capture._disable_current_modes(), torch._C.DisableTorchFunction():
        [value] = adjoint_capture.Values(store, "v", inputs=True).encode_all(["x"], [tensor])
        return value, store.load(value) if "$raw" not in value else None


def same_bits(a, b):
    def dense(t):
        t = (t.rename(None) if NAMES else t).resolve_conj().resolve_neg()
        return torch.zeros(t.shape, dtype=t.dtype) if t._is_zerotensor() else t.contiguous().reshape(-1)

    return torch.equal(dense(a).view(torch.uint8).reshape(-1), dense(b).view(torch.uint8).reshape(-1))


def wrong_by_itself(make, why, folder):
    torch.manual_seed(0)
    value, again = recorded(tensor := make(), folder)
    if why is not RECORDED:
        return None if why in value.get("$raw", "") else f"{value}, not: {why}"
    if again is None:
        return str(value)
    with torch._C.DisableTorchFunction():
        tensor = tensor.detach().as_subclass(torch.Tensor)
    if again.dtype != tensor.dtype or again.shape != tensor.shape:
        return f"read as {adjoint_capture.annotation(again)}"
    return None if same_bits(tensor, again) else "other elements"


def through(make):
    """Returns the result of a compiled function for a tensor, as text."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    tensor = make()
    try:
        out = torch.compile(lambda t, x: (x.sin() * 2, t), backend="aot_eager")(tensor, torch.ones(3))
    except Exception as error:
        return type(error).__name__
    return f"{out[0]} {type(out[1]).__name__} {torch.get_rng_state().sum()}"


def wrong_in_program(make, folder):
    without = through(make)
    with adjoint_capture.record(os.path.join(folder, "x.adjoint")) as session:
        with_it = through(make)
    if with_it != without:
        return f"{with_it}, and without the module {without}"
    return f"failed: {session.notes}" if session.failures else None


def wrapped_in_transform():
    """Returns the reason why the module does not read tensors wrapped by a torch.func transform."""
    found = []

    def look(x):
        found.append(adjoint_capture.read(x)[1])
        return x.sum()

    torch.vmap(look)(torch.randn(2, 3))
    torch.func.grad(look)(torch.randn(3))
    return found


def as_error():
    """An error in the module is no error of the program, even if warnings are errors."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        with adjoint_capture.record(os.path.join(folder, "x.adjoint")) as session:
            session.note("something went wrong")
            os.rmdir(os.path.join(session.folder, "graphs"))
            return torch.compile(lambda x: x.cos(), backend="aot_eager")(torch.zeros(2)).tolist() == [1.0, 1.0]


def child():
    torch.set_num_threads(1)
    good = True
    for kind, (make, why) in KINDS.items():
        print(kind, flush=True)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for wrong in (wrong_by_itself(make, why, folder), wrong_in_program(make, folder)):
                if wrong:
                    good = False
                    print(f"WRONG {kind}: {wrong}", flush=True)
    print("transforms", flush=True)
    if set(wrapped_in_transform()) != {"it is wrapped by a transform of torch.func"}:
        good = bool(print("WRONG transforms", flush=True))
    print("warnings as errors", flush=True)
    with contextlib.redirect_stderr(open(os.devnull, "w")):
        if not as_error():
            good = bool(print("WRONG warnings as errors", flush=True))
    return 0 if good else 1


def main():
    if sys.argv[1:] == ["--child"]:
        return child()
    done = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "--child"], stdout=subprocess.PIPE, text=True, check=False
    )
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("WRONG")]
    for line in lines if "-v" in sys.argv else wrong:
        print(line)
    if done.returncode not in (0, 1) or len(lines) - len(wrong) != len(KINDS) + 2:
        print(f"killed by {lines[-1] if lines else 'its start'}: {done.returncode}")
        return 1
    print(f"{len(KINDS) + 2} kinds, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
