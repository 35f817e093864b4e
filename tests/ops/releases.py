# SPDX-License-Identifier: MIT
"""Lists differences between the derivatives of two releases of PyTorch: releases.py OLD NEW

OLD and NEW are their folders torchgen, OLD that of 2.6 for the records of core/ops.  Printed are the formulas of backward
that differ, and which operators NEW alone differentiates: what core/ops/releases.inc is written from.  Needs PyYAML.
"""
import os
import re
import sys

import yaml

FORWARD = ("result", "output_differentiability", "dispatch", "name")


def formulas(folder):
    """Returns {operator: {arguments: formula}} of a release."""
    found = {}
    for entry in yaml.safe_load(open(os.path.join(folder, "packaged/autograd/derivatives.yaml"))):
        rules = {**entry, **entry.get("dispatch", {}).get("Default", {})}
        outputs = set(re.findall(r"\w+", re.sub(r".*->", "", entry["name"])))
        found[entry["name"].split("(")[0]] = {
            arguments: " ".join(str(formula).split()) for arguments, formula in rules.items()
            if arguments not in FORWARD and arguments not in outputs}  # fmt: skip
    return found


def main(old, new):
    then, now = formulas(old), formulas(new)
    for name in sorted(then.keys() & now.keys()):
        for arguments in sorted(then[name].keys() | now[name].keys()):
            before, after = then[name].get(arguments), now[name].get(arguments)
            if before != after:
                print(f"{name}: {arguments}\n  - {before}\n  + {after}")
    print("differentiated in the new one alone:", *sorted(now.keys() - then.keys()))


main(*sys.argv[1:])
