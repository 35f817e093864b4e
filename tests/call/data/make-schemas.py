# SPDX-License-Identifier: MIT
"""Writes schemas.txt: the schema of every operator that the dispatcher of PyTorch 2.6 knows.

Left out are the four with variable arguments ("..."), which no graph can call.
"""
import torch
import torch._inductor.inductor_prims  # registers more of prims
import torch._prims

names = set(torch._C._dispatch_get_all_op_names())
schemas = []
for s in torch._C._jit_get_all_schemas():
    name = s.name + ("." + s.overload_name if s.overload_name else "")
    if name in names and "..." not in str(s):
        schemas.append(str(s))
with open("schemas.txt", "w", encoding="ascii") as f:
    f.write("\n".join(sorted(set(schemas))) + "\n")
