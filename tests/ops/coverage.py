# SPDX-License-Identifier: MIT
"""How many operators of an installed PyTorch have a record here: coverage.py ADJOINT [--missing]

The lists are made from that release: those tagged core, functional ATen operators on tensors, those that Inductor has
a lowering for, and the prims.  Left out are overloads for named dimensions and those only for TorchScript, which do not
occur in graphs.  An operator is covered by a record of its own, as a variant, or by the interpreter.
--missing lists operators that are not covered.
"""
import argparse
import json
import subprocess

import torch
import torch._inductor.lowering as lowering
import torch._prims


DISPATCHED = set(torch._C._dispatch_get_all_op_names())  # TorchScript has further ones


def overloads(space):
    """Returns all operators of a namespace."""
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith(space + "::")]
    for schema in schemas:
        name = schema.name.split("::")[1]
        packet = getattr(getattr(torch.ops, space), name, None)
        overload = getattr(packet, schema.overload_name or "default", None)
        named = "dimname" in schema.overload_name.lower() or "names" in schema.overload_name
        if isinstance(overload, torch._ops.OpOverload) and not named and overload.name() in DISPATCHED:
            yield overload


def is_functional(op):
    """Whether it takes a tensor, writes nothing, returns a value, and is no variant of another operator."""
    arguments, returns = op._schema.arguments, op._schema.returns
    if any(a.alias_info and a.alias_info.is_write for a in arguments) or not returns:
        return False
    return any("Tensor" in str(a.type) for a in arguments) and all(name not in str(op) for name in ("sparse", "quantiz"))


def lists():
    aten = list(overloads("aten"))
    lowered = {op for op in lowering.lowerings if isinstance(op, torch._ops.OpOverload)}
    yield "core", [op for op in aten if torch.Tag.core in op.tags]
    yield "lowered by Inductor, functional, on tensors", [op for op in aten if op in lowered and is_functional(op)]
    yield "functional, on tensors", [op for op in aten if is_functional(op)]
    yield "prims", list(overloads("prims"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adjoint")
    parser.add_argument("--missing", action="store_true", help="name what has no record")
    options = parser.parse_args()
    listed = subprocess.run([options.adjoint, "ops", "--json"], capture_output=True, check=True).stdout
    known = {row["target"].removeprefix("torch.ops.") for row in json.loads(listed)}
    print(f"PyTorch {torch.__version__}, {len(known)} records and variants")
    for title, ops in lists():
        names = sorted({str(op) for op in ops})
        lacking = [name for name in names if name not in known]
        print(f"{len(names) - len(lacking):5} of {len(names):5}  {title}")
        if options.missing:
            print("".join(f"             {name}\n" for name in lacking), end="")


main()
