#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the texts in this folder: captures of small programs by compiled autograd of PyTorch 2.6.

    make.py [NAME...]

The programs are in programs.py and counts.py.  Each one of programs.py runs twice, in eager mode and under compiled
autograd with the captured graph itself as the compiled function.  Of a program NAME there are

    NAME.txt            the graph as it runs: nodes reordered, dead nodes removed
    NAME-captured.txt   the graph as it was captured, if it differs
    NAME.json           node calls in the order of their visit, the reasons for cache misses, the inputs,
                        the gradients and the arguments of each hook, in both modes

A second capture of the same program is NAME-2.txt, and so on.

counts.txt has a line for each program of counts.py: name | program | calls of backward | captures | in which calls,
from 1.

The tests read these files and need no PyTorch.
"""

import itertools
import json
import logging
import pathlib
import sys
import warnings

import torch
import torch._dynamo
import torch._dynamo.compiled_autograd as compiled_autograd
import torch._functorch.aot_autograd
from torch._logging import set_logs

import counts
import programs

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {str(pathlib.Path(torch.__path__[0]).parent): "/usr/lib/python3/dist-packages", str(HERE): "/home/user"}
Instance = compiled_autograd.AutogradCompilerInstance


def neutral(text):
    for old, new in PACKAGES.items():
        text = text.replace(old, new)
    return text


def readable(module):
    return neutral(module.print_readable(print_output=False, include_stride=True, include_device=True))


def values(thing):
    """Numbers as text: seven digits of each."""
    if isinstance(thing, (list, tuple)):
        return [values(item) for item in thing]
    if isinstance(thing, torch.Tensor):
        return values(thing.detach().tolist())
    return float(f"{thing:.7g}") if isinstance(thing, float) else thing


# ---- the arguments of a program ---------------------------------------------------------------------


class Trace:
    """The leaves of a program and the arguments of its hooks."""

    def __init__(self):
        self.named, self.calls, self.kept = {}, [], []

    def leaf(self, name, *data, shape=None, requires_grad=True):
        data = torch.tensor(data) if shape is None else pattern(shape, len(self.named))
        return self.name(name, data.requires_grad_(requires_grad))

    def name(self, name, tensor):
        self.named[name] = tensor
        return tensor

    def hook(self, name, function=lambda *_: None):
        """Returns a hook that records its arguments."""

        def call(*arguments):
            self.calls.append([name, *(values(a) for a in arguments)])
            return function(*arguments)

        call.__name__ = name
        return call

    def accumulator(self, leaf):
        node = torch.autograd.graph.get_gradient_edge(leaf).node
        self.kept.append(node)  # the leaf holds only a weak reference
        return node

    def note(self, name):
        self.calls.append([name])

    def gradients(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # non-leaves have none
            return {n: values(t.grad) for n, t in self.named.items() if t.requires_grad}


def pattern(shape, seed):
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7 + 3 * seed) % 11 - 5).reshape(shape) / 8


# ---- recording ---------------------------------------------------------------------------------------


class Recorder(logging.Handler):
    """Records all captures and runs of compiled autograd while it is installed."""

    def __init__(self):
        super().__init__()
        self.captures, self.runs, self.reasons, self.trace = [], [], [], None

    def emit(self, record):
        message = record.getMessage()
        if message.startswith("Cache miss"):
            self.reasons.append(message)

    def begin(self, inputs, origins):
        named = {id(t): n for n, t in self.trace.named.items()}
        named.update({id(t.grad): n + ".grad" for n, t in self.trace.named.items() if t.is_leaf and t.grad is not None})
        described = []
        for tensor, (call, node) in zip(inputs, origins[0]):
            described.append({"origin": f"{node} (NodeCall {call})", "shape": list(tensor.shape)})
            if id(tensor) in named:
                described[-1]["name"] = named[id(tensor)]
            if tensor.numel() <= 8:
                described[-1]["values"] = values(tensor)
        self.captures.append({"calls": [], "reasons": self.reasons, "inputs": described})
        self.reasons = []

    def compile(self, module):
        capture, number = self.captures[-1], len(self.captures)
        capture["graph"] = readable(module)

        def run(inputs, sizes, scalars, hooks):
            names = [getattr(h, "__name__", type(h).__name__) for h in hooks]
            self.runs.append({"capture": number, "sizes": list(sizes), "scalars": list(scalars), "hooks": names})
            return module(inputs, sizes, scalars, hooks)

        return run


def install(recorder):
    """Replaces methods of PyTorch; returns a function that restores them."""
    begin_capture, set_node_origin, rename = (
        getattr(Instance, name) for name in ("begin_capture", "set_node_origin", "rename_aot_dispatcher_nodes")
    )

    def begin_and_record(self, inputs, sizes, scalars, origins):
        recorder.begin(inputs, origins)
        self.recorded_header = False
        result = begin_capture(self, inputs, sizes, scalars, origins)
        self.recorded_header = True
        return result

    def originate_and_record(self, node_name, nodecall_index, pyobj):
        if self.recorded_header:
            recorder.captures[-1]["calls"].append(node_name)
            assert len(recorder.captures[-1]["calls"]) == nodecall_index + 1
        return set_node_origin(self, node_name, nodecall_index, pyobj)

    def rename_and_record(self):
        rename(self)
        before = torch.fx.GraphModule(self.fx_tracer.root, self.fx_tracer.graph, "CompiledAutograd")
        recorder.captures[-1]["captured"] = readable(before)

    def undo():
        Instance.begin_capture, Instance.set_node_origin = begin_capture, set_node_origin
        Instance.rename_aot_dispatcher_nodes = rename
        compiled_autograd.verbose_log.removeHandler(recorder)

    Instance.begin_capture, Instance.set_node_origin = begin_and_record, originate_and_record
    Instance.rename_aot_dispatcher_nodes = rename_and_record
    compiled_autograd.verbose_log.addHandler(recorder)
    return undo


def start_anew():
    torch._dynamo.reset()
    torch._C._dynamo.compiled_autograd.clear_cache()
    torch._functorch.aot_autograd.AOT_COUNTER = itertools.count()
    torch.manual_seed(1)


def run(program, recorder=None):
    trace = Trace()
    start_anew()
    result = {}
    try:
        if recorder is None:
            returned = program(trace)
        else:
            recorder.trace = trace
            undo = install(recorder)
            try:
                with compiled_autograd._enable(recorder.compile):
                    returned = program(trace)
            finally:
                undo()
        if returned is not None:
            result["returned"] = values(returned)
    except Exception as error:
        result["error"] = neutral(str(error).split("\n")[0])
    return {**result, "gradients": trace.gradients(), "hooks": trace.calls}


def text_of(item, indent=""):
    """Returns JSON with one item per line, down to items that fit into a line."""
    line = json.dumps(item)
    if len(indent) + len(line) <= 116 or not isinstance(item, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(item, dict):
        parts = [f"{inner}{json.dumps(k)}: {text_of(v, inner)}" for k, v in item.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + text_of(v, inner) for v in item) + f"\n{indent}]"


def write(name, program):
    for old in HERE.glob(f"{name}*"):
        if old.stem in (name, f"{name}-captured") or old.stem.removeprefix(name + "-")[:1].isdigit():
            old.unlink()
    recorder = Recorder()
    eager, captured = run(program), run(program, recorder)
    for number, capture in enumerate(recorder.captures, 1):
        stem = name if number == 1 else f"{name}-{number}"
        before, after = capture.pop("captured", None), capture.pop("graph", None)
        for text, file in ((after, f"{stem}.txt"), (before if before != after else None, f"{stem}-captured.txt")):
            if text is not None:
                (HERE / file).write_text(text)
    facts = {"program": " ".join(program.__doc__.split()), "captures": recorder.captures, "runs": recorder.runs}
    facts.update(eager=eager, compiled_autograd=captured)
    (HERE / f"{name}.json").write_text(text_of(facts) + "\n")


def main(names):
    warnings.filterwarnings("ignore", "Trying to prepend a node to itself")
    set_logs(compiled_autograd_verbose=True)
    for channel in (compiled_autograd.verbose_log, logging.getLogger("torch")):
        channel.propagate = False
        channel.handlers.clear()
    for name, program in programs.ALL.items():
        if not names or name in names:
            write(name, program)
    if not names or "w1" in names:
        (HERE / "w1.txt").write_text(readable(programs.traced_w1()))
    if not names or "counts" in names:
        (HERE / "counts.txt").write_text(counts.table(start_anew))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
