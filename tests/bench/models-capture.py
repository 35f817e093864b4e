# SPDX-License-Identifier: MIT
"""Records training steps of models: models-capture.py MODULE, jobs as in jobs.py.

A job is {"model", "variant", "path"}: the model of one of the files zoo_*.py, recorded into `path` by the capture module
MODULE in that variant (VARIANTS below), or {"optimiser", "path"}: one step of an optimiser, compiled.
"""

import contextlib
import functools
import sys

import torch
import torch._dynamo.config as dynamo_config
import torch._functorch.config as functorch_config
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import zoo_chance
import zoo_further
import zoo_layers
import zoo_libraries
import zoo_networks
import zoo_regular
import zoo_science
import zoo_trained
import zoo_written
from jobs import line, load, record, serve

ZOOS = (
    zoo_written,
    zoo_science,
    zoo_further,
    zoo_networks,
    zoo_chance,
    zoo_layers,
    zoo_regular,
    zoo_trained,
    zoo_libraries,
)
MODELS = {name: make for zoo in ZOOS for name, make in zoo.MODELS.items()}
OPTIMISERS = {**zoo_further.OPTIMISERS, **zoo_layers.OPTIMISERS}


# -- variants: (change of the model, context of the step) --


def half(model):
    return model.to(torch.bfloat16)


def checkpointed(model, around=checkpoint):
    """Checkpoints each entry of the model's lists and sequences separately, or the whole model if there are none."""
    lists = [m for m in model.modules() if isinstance(m, (torch.nn.ModuleList, torch.nn.Sequential)) and len(m) > 0]
    inner = {id(n) for m in lists for child in m for n in child.modules()}
    parts = [child for m in lists if id(m) not in inner for child in m] or [model]
    for part in parts:
        part.forward = under_checkpoint(part.forward, around)
    return model


def under_checkpoint(forward, around):
    def run(*args, **kwargs):
        return around(forward, *args, use_reentrant=False, **kwargs)

    return run


def policy(context, op, *args, **kwargs):
    """Saves products, prefers to recompute reductions, and recomputes cheap operators."""
    name = str(op)
    if any(product in name for product in (".mm.", ".addmm.", ".bmm.", ".convolution.")):
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE if "sum" in name or "softmax" in name else CheckpointPolicy.MUST_RECOMPUTE


def selective(model):
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    return checkpointed(model, functools.partial(checkpoint, context_fn=contexts))


def autocast():
    return torch.autocast("cpu", torch.bfloat16)


def budget():
    return functorch_config.patch(activation_memory_budget=0.5)


def as_it_is(model):
    return model


VARIANTS = {
    "f32": (as_it_is, contextlib.nullcontext),
    "bf16": (half, contextlib.nullcontext),
    "f16": (torch.nn.Module.half, contextlib.nullcontext),
    "autocast": (as_it_is, autocast),
    "checkpoint": (checkpointed, contextlib.nullcontext),
    "checkpoint-bf16": (lambda model: half(checkpointed(model)), contextlib.nullcontext),
    "policy": (selective, contextlib.nullcontext),
    "budget": (as_it_is, budget),
    "dynamic": (as_it_is, contextlib.nullcontext),
    "eval": (torch.nn.Module.eval, torch.no_grad),
}  # fmt: skip


def build(name, variant):
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model = VARIANTS[variant][0](model.train())
    narrow = torch.bfloat16 if variant.endswith("bf16") else torch.float16 if variant == "f16" else None
    if narrow:
        inputs = tree_map(lambda x: x.to(narrow) if isinstance(x, torch.Tensor) and x.is_floating_point() else x, inputs)
    return model, inputs


def floats(value):
    """The differentiable tensors of a result; results of Transformers are dictionary subclasses."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in floats(v)]
    found = tree_leaves(value) if not isinstance(value, torch.Tensor) else [value]
    return [t for t in found if isinstance(t, torch.Tensor) and t.requires_grad]


def step(model, inputs, surroundings):
    """Runs forward, and backward of the mean of all results with fixed weights."""
    torch.manual_seed(1)
    with surroundings():
        result = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
        sums = [(t * torch.arange(1, t.numel() + 1).reshape(t.shape).cos().to(t.dtype)).mean() for t in floats(result)]
    if sums:
        sum(s.float() for s in sums).backward()


def answer(module, job):
    try:
        model, inputs = build(job["model"], job["variant"])
    except Exception as error:
        return {"outcome": "not built", "cause": line(error)}
    surroundings, dynamic = VARIANTS[job["variant"]][1], job["variant"] == "dynamic"
    return record(module, job["path"], model, lambda called: step(called, inputs, surroundings), dynamic)


def answer_optimiser(module, job):
    """Records a step after an uncompiled one, so that the optimiser has a state."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 6, bias=False), torch.nn.Linear(6, 2, bias=False))
    optimiser = OPTIMISERS[job["optimiser"]](net.parameters())
    net(torch.randn(3, 4)).square().sum().backward()
    optimiser.step()
    return record(module, job["path"], lambda: optimiser.step(), lambda called: called())


def main(path):
    module = load(path)
    dynamo_config.allow_rnn = True  # otherwise Dynamo compiles nothing of a model with a recurrent layer
    hello = {"torch": torch.__version__, "models": [*MODELS], "optimisers": [*OPTIMISERS], "variants": [*VARIANTS]}
    serve(hello, lambda job: (answer_optimiser if "optimiser" in job else answer)(module, job))


if __name__ == "__main__":
    main(*sys.argv[1:])
