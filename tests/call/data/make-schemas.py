# SPDX-License-Identifier: MIT
"""Writes schemas.txt: the schema of every operator that the dispatcher of PyTorch 2.6 knows.

Left out are the four with variable arguments ("..."), which no graph can call.  Under a later release
it writes schemas-later.txt: the operators that 2.6 lacks, in the same and in new namespaces.
"""
import torch
import torch._inductor.inductor_prims  # registers further operators of prims
import torch._prims

SPACES = ("aten::", "prims::", "rngprims::", "ao::", "streams::")

later = tuple(map(int, torch.__version__.split(".")[:2])) > (2, 6)
if later:
    import torch._functorch._activation_offloading.offload_ops
    import torch._dynamo.variables.streams
names = set(torch._C._dispatch_get_all_op_names())
before = set(open("schemas.txt", encoding="ascii").read().split("\n")) if later else set()
schemas = []
for s in torch._C._jit_get_all_schemas():
    name = s.name + ("." + s.overload_name if s.overload_name else "")
    if name in names and "..." not in str(s) and (not later or s.name.startswith(SPACES)) and str(s) not in before:
        schemas.append(str(s))
with open("schemas-later.txt" if later else "schemas.txt", "w", encoding="ascii") as f:
    f.write("\n".join(sorted(set(schemas))) + "\n")
