# SPDX-License-Identifier: MIT
"""Captures small programs that PyTorch 2.6 compiles wrongly without an error, one for each check of test-defects.c.

  PYTHONPATH=data/bridge python tests/aot/data/make-defects.py FOLDER [NAME...]

Needs PyTorch 2.6.  Prints the difference between the compiled program and the eager one.
"""

import functools
import linecache
import os
import sys

import adjoint_capture
import torch
import torch._functorch.config as config
from torch._dynamo.backends.debugging import aot_eager
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode

PROGRAMS = """import functools
import torch
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


def overwritten_output(a, b):
    a.mul_(2)
    b.mul_(3)
    return a.sum(), b


def wrong_base(a, b, c):
    a.mul_(2)
    u, v = c * 2, c * 3
    return u.view(-1), u.view(-1), v.view(-1), v.view(-1)


def expanded_write(a, b):
    return a.expand(3, 4).add_(b)


def merged_random(x):
    return x * torch.randn_like(x) + torch.randn_like(x)


def repeated_write(x, r):
    new = r * 0.9
    y = x * new
    r.copy_(new)
    return y


def saved_reference(x, r):
    y = x * r.sin()
    r.add_(1)
    return y


def saved_twice(x):
    s = x.sin()
    return s.transpose(0, 1) @ x + s.cos()


def must_save(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.sin.default else CheckpointPolicy.PREFER_RECOMPUTE


def inner(x):
    s = x.sin()
    return s.cos() * s


def unsaved(x):
    contexts = functools.partial(create_selective_checkpoint_contexts, must_save)
    return checkpoint(inner, x, use_reentrant=False, context_fn=contexts)
"""


def load():
    """Loads the programs under a path that contains no information about this machine."""
    name = "/home/user/step.py"
    linecache.cache[name] = (len(PROGRAMS), None, PROGRAMS.splitlines(keepends=True), name)
    module = {"__name__": "step"}
    exec(compile(PROGRAMS, name, "exec"), module)
    return module


def numbers(*shape):
    return torch.linspace(0.25, 1.5, functools.reduce(lambda a, b: a * b, shape)).reshape(shape)


# name: whether each input requires a gradient, shapes, budget
CASES = {
    "overwritten_output": ((True, False), ((4,), (4,)), None),
    "wrong_base": ((True, True), ((4,), (4,)), None),
    "expanded_write": ((False, False), ((1, 4), (3, 4)), None),
    "merged_random": ((True,), ((64,),), None),
    "repeated_write": ((True, False), ((4,), (4,)), 0.0),
    "saved_reference": ((True, False), ((4,), (4,)), None),
    "saved_twice": ((True,), ((4, 4),), None),
    "unsaved": ((True,), ((4,),), 0.0),
}


# Given to AOTAutograd directly, because Dynamo would change them; for wrong_base with the first input twice.
DIRECT = {"overwritten_output": [0, 1], "wrong_base": [0, 0, 1]}


def make_inputs(wants, shapes, places=None):
    leaves = [numbers(*shape).requires_grad_(want) for want, shape in zip(wants, shapes)]
    inputs = [leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]
    return leaves, [inputs[i] for i in places or range(len(inputs))]


def compile_function(name, function, wants, shapes):
    if name not in DIRECT:
        return torch.compile(function, backend="aot_eager")
    inputs = make_inputs(wants, shapes, DIRECT[name])[1]
    with tracing(TracingContext(FakeTensorMode())):
        return aot_eager(torch.fx.symbolic_trace(function), inputs)


def run(function, wants, shapes, places):
    leaves, inputs = make_inputs(wants, shapes, places)
    torch.manual_seed(7)
    out = function(*inputs)
    out = out if isinstance(out, (tuple, list)) else (out,)
    total = sum((i + 1) * t.sum() for i, t in enumerate(out))
    if total.requires_grad:
        total.backward()
    return [t.detach().clone() for t in (*out, *inputs)] + [leaf.grad for leaf in leaves if leaf.grad is not None]


def capture(folder, name, function):
    wants, shapes, budget = CASES[name]
    path = os.path.join(folder, name.replace("_", "-") + ".adjoint")
    torch._dynamo.reset()
    try:
        eager = run(function, wants, shapes, DIRECT.get(name))
    except RuntimeError as error:
        eager = None
        print(f"{name}: refused eagerly: {error}")
    with config.patch(activation_memory_budget=1.0 if budget is None else budget), adjoint_capture.record(path):
        compiled = run(compile_function(name, function, wants, shapes), wants, shapes, DIRECT.get(name))
    for i, (a, b) in enumerate(zip(eager or compiled, compiled)):
        if a.shape != b.shape or not torch.equal(a, b):
            print(f"{name}: value {i} differs")


if __name__ == "__main__":
    module = load()
    for name in sys.argv[2:] or CASES:
        capture(sys.argv[1], name, module[name])
