# SPDX-License-Identifier: MIT
"""Writes <name>.txt: PyTorch 2.6's functionalized form of each graph of programs.txt.

    python make.py FOLDER
"""

import pathlib
import re
import sys

import torch
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "b8": torch.bool}


def inputs_of(text):
    """Returns zeros according to the annotations of the placeholders."""
    header = re.search(r"def forward\(self, (.*)\):", text).group(1)
    for dtype, sizes in re.findall(r'"(\w+)\[([\d, ]*)\]', header):
        yield torch.zeros([int(n) for n in sizes.split(",") if n.strip()], dtype=DTYPES[dtype])


def main():
    folder = pathlib.Path(sys.argv[1])
    programs = (folder / "programs.txt").read_text()
    for text in re.split(r"(?m)^(?=class )", programs)[1:]:
        names = {"torch": torch, "device": torch.device}
        exec(text, names)
        name = re.match(r"class (\w+)", text).group(1)
        module = names[name]()

        def run(*args):
            return module.forward(*args)

        # make_fx uses the names of the function's parameters.
        parameters = ", ".join(re.findall(r'(\w+): "', re.search(r"forward\(self, (.*)\):", text).group(1)))
        function = eval(f"lambda {parameters}: run({parameters})", {"run": run})
        function.__name__ = name
        graph = make_fx(functionalize(function, remove="mutations"), tracing_mode="fake")(*inputs_of(text))
        out = graph.print_readable(print_output=False, include_stride=True, include_device=True)
        out = re.sub(r"^class .*?\(", f"class {name}(", out)
        # It computes the result of resize_, which has no reader.
        out = re.sub(r".*aten\.resize\.default.*\bresize = None\n", "", out)
        (folder / f"{name}.txt").write_text(out + "\n")


main()
