#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the captures of this folder:  make.py OUTPUT_FOLDER [NAME...]

Needs PyTorch 2.6.  One training step of each model of models.py under torch.compile(backend="aot_eager"),
that is without decompositions.
"""
import linecache
import os
import site
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "bridge"))

import adjoint_capture  # noqa: E402
import torch  # noqa: E402


def load_models():
    """models.py under a path that says nothing about the machine that made the captures."""
    name = "/home/user/models.py"
    with open(os.path.join(HERE, "models.py"), encoding="utf-8") as source:
        text = source.read()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = types.ModuleType("models")
    sys.modules["models"] = module
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def main(folder, names):
    models = load_models()
    rename = {path + os.sep: "" for path in site.getsitepackages()}
    for name in names or models.ALL:
        torch._dynamo.reset()
        model, inputs = models.ALL[name]()
        with adjoint_capture.record(os.path.join(folder, name + ".adjoint"), rename=rename) as session:
            torch.compile(model, backend="aot_eager")(*inputs).backward()
        if session is None or session.notes:
            sys.exit(f"{name}: {session and session.notes}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    main(sys.argv[1], sys.argv[2:])
