#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes node-ops.inc: the backward nodes of the installed PyTorch.  Needs PyYAML.

    list-node-ops.py > node-ops.inc

Compiled autograd of PyTorch 2.7 and later writes a node as one call,
`ops.MulBackward0([gradients], [whether each is needed], attributes…)`; torchgen knows the attributes and
their order.
"""

import pathlib

import torch
import torchgen
from torchgen.packaged.autograd import gen_autograd_functions, load_derivatives

# Not derived from a formula: written in C++.
WRITTEN = {"torch::autograd::CopyBackwards": ("copy_", "self src", "src_options")}
PACKAGED = pathlib.Path(torchgen.__path__[0]) / "packaged"


def attributes(info):
    for argument in info.args_with_derivatives:
        if argument.type in gen_autograd_functions.TENSOR_LIST_LIKE_CTYPES:
            yield f"{argument.name}_size"
    for saved in (info.all_saved_inputs, info.all_saved_outputs):
        yield from sorted(str(attribute.nctype.name) for attribute in saved)
    if gen_autograd_functions.uses_retain_variables(info):
        yield "retain_variables"


def main():
    infos, _ = load_derivatives.load_derivatives(
        str(PACKAGED / "autograd/derivatives.yaml"),
        str(PACKAGED / "ATen/native/native_functions.yaml"),
        str(PACKAGED / "ATen/native/tags.yaml"),
    )
    rows = dict(WRITTEN)
    for function, by_key in infos.items():
        info = by_key.get("Default")
        if info is not None and info.has_derivatives and info.op not in rows:
            inputs = " ".join(argument.name for argument in info.args_with_derivatives)
            rows[info.op] = (str(function.name), inputs, " ".join(attributes(info)))
    print("/* SPDX-License-Identifier: MIT */")
    print(f"/* By list-node-ops.py, of PyTorch {torch.__version__.split('+')[0]}: node, operator, arguments with a")
    print(" * gradient, what it keeps. */")
    for name in sorted(rows):
        operator, inputs, kept = rows[name]
        print(f'NODE_OP ("{name}", "{operator}", "{inputs}", "{kept}")')


main()
