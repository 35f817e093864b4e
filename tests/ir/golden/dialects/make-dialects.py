# SPDX-License-Identifier: MIT
"""Makes the texts of small graphs in all forms that the installed PyTorch can print:

    make-dialects.py OUTPUT_FOLDER

Each is written to OUTPUT_FOLDER/<form>-<release>.txt; the numbers of placeholders and
other nodes are printed, and kept in `nodes`.  The texts beside this script were made by 2.1.2, 2.4.1, 2.6.0 and 2.15.0.
"""
import os
import site
import sys
import warnings

import torch
import torch.fx
from torch.fx.experimental.proxy_tensor import make_fx

folder = sys.argv[1]
here = os.path.abspath(__file__)
release = ".".join(torch.__version__.split(".")[:2])
os.makedirs(folder, exist_ok=True)


def nodes_of(graph):
    """Counts placeholders, and other nodes except the output."""
    ops = [node.op for node in graph.nodes]
    return ops.count("placeholder"), len(ops) - ops.count("placeholder") - ops.count("output")


def attempt(form, make):
    """Writes the graph and text returned by `make`; a release may lack the form."""
    try:
        graph, text = make()
    except Exception as error:
        print(f"# {form}: {type(error).__name__}: {error}"[:100])
        return
    text = text.replace(here, "/home/user/make-dialects.py")
    for path in site.getsitepackages():
        text = text.replace(path, "/usr/lib/python3/dist-packages")
    name = f"{form}-{release}.txt"
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as out:
        out.write(text)
    print(name, *nodes_of(graph))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x, k=1):
        y = self.net(x) * self.scale
        a, b = y.split(2, dim=1)
        return {"sum": a + k, "parts": (b.t(), x.size(0))}


def symbolic():
    return torch.fx.symbolic_trace(Net())


def pytree():
    from torch.fx._symbolic_trace import PH

    class Trees(torch.nn.Module):
        def forward(self, x, y):
            return {"out": x[0] + x[1] * y["b"], "x": x}

    return torch.fx.symbolic_trace(Trees(), concrete_args={"x": [PH, PH], "y": {"b": PH}})


def joint(**options):
    def f(primals, tangents):
        a, b = primals
        y = (a @ b).relu()
        return y, torch.autograd.grad(y, [a, b], tangents[0])

    a, b, t = torch.randn(2, 3, requires_grad=True), torch.randn(3, 4, requires_grad=True), torch.randn(2, 4)
    return make_fx(f, **options)([a, b], [t])


def exported():
    if release == "2.1":
        return torch.export.export(Net().eval(), (torch.randn(5, 3),))
    batch = torch.export.Dim("batch", min=2, max=64)
    return torch.export.export(Net().eval(), (torch.randn(5, 3),), dynamic_shapes={"x": {0: batch}})


def captured(scope=torch.enable_grad):
    """Captures forward and backward of a small function, part of it in `scope`."""
    from functorch.compile import aot_function

    def f(x, w):
        with scope():
            y = (x @ w).sin()
        return y * 2, y.sum(0)

    graphs = {}

    def keep(name):
        def compiler(gm, inputs):
            graphs[name] = gm
            return gm

        return compiler

    g = aot_function(f, keep("forward"), keep("backward"))
    x, w = torch.randn(2, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    y, s = g(x, w)
    (y.sum() + s.sum()).backward()
    return graphs


def readable(gm, **options):
    return gm.graph, gm.print_readable(print_output=False, **options)


def annotated():
    return captured(lambda: torch.fx.traceback.annotate({"stage": 0, "note": "it's \"quoted\""}))


def show_meta():
    os.environ["FX_GRAPH_SHOW_META"] = "1"
    try:
        return readable(captured()["forward"])
    finally:
        del os.environ["FX_GRAPH_SHOW_META"]


def boxed():
    from torch.fx.graph import _BoxedCodeGen

    gm = captured()["forward"]
    gm.graph.set_codegen(_BoxedCodeGen())
    gm.recompile()
    return readable(gm, **everything)


def branches():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    return make_fx(f)(torch.randn(3))


def console(gm):
    """The text with program output around it and Windows line ends."""
    return gm.graph, ("epoch 1\n" + readable(gm)[1] + "\nepoch 2: loss 0.5\n").replace("\n", "\r\n")


warnings.simplefilter("ignore")
everything = {"include_stride": True, "include_device": True} if release != "2.1" else {}
attempt("symbolic", lambda: readable(symbolic()))
attempt("symbolic-code", lambda: (symbolic().graph, symbolic().code))
attempt("symbolic-console", lambda: console(symbolic()))
attempt("symbolic-lines", lambda: (symbolic().graph, str(symbolic().graph) + "\n"))
attempt("joint-lines", lambda: (joint().graph, str(joint().graph) + "\n"))
attempt("pytree-plain", lambda: readable(pytree()))
attempt("pytree-expanded", lambda: readable(pytree(), expanded_def=True))
attempt("joint-plain", lambda: readable(joint()))
attempt("joint-symbolic", lambda: readable(joint(tracing_mode="symbolic"), **everything))
attempt("joint-colored", lambda: readable(joint(), colored=True, **everything))
attempt("joint-expanded", lambda: readable(joint(), expanded_def=True, **everything))
attempt("exported", lambda: (exported().graph, str(exported())))
attempt("exported-module", lambda: readable(exported().module(), **everything))
attempt("forward-expanded", lambda: readable(captured()["forward"], expanded_def=True, **everything))
attempt("backward-expanded", lambda: readable(captured()["backward"], expanded_def=True, **everything))
attempt("annotated", lambda: readable(annotated()["forward"], **everything))
attempt("show-meta", show_meta)
attempt("boxed", boxed)
attempt("additional-meta", lambda: readable(captured()["backward"], additional_meta=["seq_nr", "partitioner_tag"]))
attempt("branches", lambda: readable(branches(), **everything))
