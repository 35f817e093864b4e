# SPDX-License-Identifier: MIT
"""Makes objects-2.6.adjoint or objects-2.15.adjoint, by the torch that runs this: make-objects.py, in this folder.

Objects that a graph is called with, for each way in which a state is recorded or left out. 2.6 has packed parameters and
a class of C++ that tells no state, the newest release one of torch._library.opaque_object."""

import enum
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, os.pardir, "data", "bridge"))

import torch  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import adjoint_capture  # noqa: E402

RELEASE = ".".join(torch.__version__.split(".")[:2])
PATH = os.path.join(HERE, f"objects-{RELEASE}.adjoint")
NAMES = {path: "" for path in (HERE + os.sep, os.path.dirname(torch.__path__[0]) + os.sep)}


class Speed(enum.IntEnum):
    SLOW = 1


def cyclic():
    items = [1]
    items.append(items)
    return items


def nested(levels):
    items = 7
    for _ in range(levels):
        items = {"in": items}
    return items


STATES = {
    "plain": {"n": 3, "rate": 0.5, "name": "a", "none": None, "on": True, "sums": torch.ones(2)},
    "tables": {"by_key": {"a": [1, (2.5, torch.zeros(1))], Speed.SLOW: Speed.SLOW, 3: 2**70}},
    "odd": {"of": torch.nn.Identity()},
    "within": {"items": list(range(5)), "in": nested(11)},
    "large": {"items": list(range(200000))},
    "text": {"text": "x" * (1 << 20)},
    "deep": {"in": nested(12)},
    "cyclic": {"items": cyclic()},
}


def capture_2_6():
    packed = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(torch.eye(3), 0.5, 0, torch.qint8), None)
    silent = torch.classes.profiling._ScriptProfile()

    module = make_fx(lambda x: x + 1)(torch.ones(3))
    for name in ("silent", "packed"):
        with module.graph.inserting_before(next(iter(module.graph.nodes))):
            module.graph.placeholder(name)
    module.recompile()
    adjoint_capture.run(module, (packed, silent, torch.ones(3)), PATH, rename=NAMES)


def capture_newest():
    from torch._library.opaque_object import CustomClassBase, register_custom_class

    class Box(CustomClassBase):
        def __init__(self, state):
            vars(self).update(state)

    Box.__qualname__ = "Box"
    boxes = [Box(state) for state in STATES.values()]
    register_custom_class(Box, typ="symbolic")

    def look(x: torch.Tensor, box: Box) -> torch.Tensor:
        return x + 1

    look = torch.library.custom_op("mine::look", look, mutates_args=())
    look.register_fake(lambda x, box: torch.empty_like(x))

    def function(x, first, *others):
        for box in (first, *others, first):
            x = look(x, box)
        return x

    with adjoint_capture.record(PATH, rename=NAMES) as session:
        torch.compile(function, backend="aot_eager", fullgraph=True)(torch.ones(3), *boxes)
    print(*session.store.remarks, sep="\n")


capture_2_6() if RELEASE == "2.6" else capture_newest()
