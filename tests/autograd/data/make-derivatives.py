# SPDX-License-Identifier: MIT
"""Writes derivatives.txt: which arguments of the operators of core/ops PyTorch 2.6 differentiates.

One line is
    NAMESPACE::NAME[.OVERLOAD] ARGUMENT,...     it has a derivative for these
    NAMESPACE::NAME[.OVERLOAD] - REASON         it has none
as read by the package's own code generator from derivatives.yaml.  Operators that 2.6 lacks keep their lines; the
newest release adds missing ones.
"""
import glob
import os
import re
import sys

import torch
import torchgen

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGED = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
sys.path.insert(0, PACKAGED)

from torchgen.api.autograd import match_differentiability_info
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd import gen_trace_type, gen_variable_type
from torchgen.packaged.autograd.load_derivatives import load_derivatives

NATIVE = [os.path.join(PACKAGED, "ATen", "native", name) for name in ("native_functions.yaml", "tags.yaml")]
# written by hand in PyTorch
BY_HAND = {"copy_": ["self", "src"]}


def records():
    """Returns name and schema of each record of core/ops."""
    for path in sorted(glob.glob(os.path.join(HERE, "../../../core/ops/*.inc"))):
        for body in re.split(r"\nOP \(", open(path).read())[1:]:
            found = re.search(r'\.schema = ((?:"(?:[^"\\]|\\.)*"\s*)+)', body)
            schema = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1]))
            yield schema.split("(")[0], schema


def composite(name):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd")


def derivative(function):
    """Returns the arguments with a derivative, and a reason when there are none."""
    info = function.info.get("Default") if function is not None and function.info else None
    if info is None:
        return [], None
    if info.output_differentiability is not None and not any(info.output_differentiability):
        return [], "no result is differentiable"
    arguments = [(name, d.formula) for d in info.derivatives for name in d.var_names]
    if not arguments:
        return [], "no argument is differentiable"
    have = [name for name, formula in arguments if "not_implemented" not in formula and formula != "Tensor()"]
    return have, None if have else "not implemented"


def row(name, schema, functions):
    space, rest = name.split("::")
    if space != "aten":
        return "- not implemented" if "Tensor" in schema.split(" -> ")[0] else "- no tensor goes in"
    base = rest.split(".")[0]
    if rest in BY_HAND:
        return ",".join(BY_HAND[rest])
    if "Tensor" not in schema.split(" -> ")[0]:
        return "- no tensor goes in"
    if composite(name):
        return "- composite"
    have, reason = derivative(functions.get(rest))
    if have:
        return ",".join(have)
    if reason is None:
        listed = base in gen_variable_type.DONT_REQUIRE_DERIVATIVE
        reason = "no result is differentiable" if listed else "not implemented"
    if base in gen_trace_type.MANUAL_AUTOGRAD:
        reason = "by hand"
    return "- " + reason


native = parse_native_yaml(*NATIVE).native_functions
infos, _ = load_derivatives(os.path.join(PACKAGED, "autograd", "derivatives.yaml"), *NATIVE)
functions = {str(f.func.func.name): f for f in match_differentiability_info(native, infos)}
path = os.path.join(HERE, "derivatives.txt")
kept = dict(line.rstrip("\n").split(" ", 1) for line in open(path))
if torch.__version__.startswith("2.6."):
    kept = {name: line for name, line in kept.items() if name.startswith("aten::") and name[6:] not in functions}
lines = [f"{name} {kept.get(name) or row(name, schema, functions)}\n" for name, schema in sorted(records())
         if name in kept or not name.startswith("aten::") or name[6:] in functions]
with open(path, "w") as f:
    f.writelines(lines)
