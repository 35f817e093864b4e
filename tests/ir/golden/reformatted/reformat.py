#!/usr/bin/env python3
"""Writes the texts in this folder: goldens as `black` and `yapf3` leave them.

    reformat.py                      # the texts of NAMES, again
    reformat.py --check ADJOINT      # every text of the goldens, through the program ADJOINT

The tests read what is written here and need neither formatter.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent
FORMATTERS = {"black": ["black", "-q", "-"], "yapf": ["yapf3"]}
NAMES = [
    "autocast-dynamo", "forms", "mlp-backward", "mlp-dynamo", "mlp-joint", "trace-compiled-autograd",
    "trace-dynamo-list", "trace-inference", "trace-joint", "worked-example",
    "dialects/annotated-2.15", "dialects/backward-expanded-2.15", "dialects/boxed-2.15",
    "dialects/branches-2.6", "dialects/exported-module-2.6", "dialects/forward-expanded-2.15",
    "dialects/pytree-expanded-2.15", "dialects/show-meta-2.6", "dialects/symbolic-2.6",
]


def reformat(text, formatter):
    """None where the text is no Python: with colours, or annotations of PyTorch 2.1."""
    plain = text.replace("class <lambda>(", "class lambda_(")
    done = subprocess.run(FORMATTERS[formatter], input=plain, capture_output=True, text=True)
    return done.stdout.replace("class lambda_(", "class <lambda>(") if done.returncode == 0 else None


def write():
    for name in NAMES:
        for formatter in FORMATTERS:
            text = reformat((GOLDEN / f"{name}.txt").read_text(), formatter)
            target = f"{formatter}-{pathlib.Path(name).name}.txt"
            (HERE / target).write_text(text)


def show(adjoint, text):
    path = HERE / "shown.tmp.txt"
    path.write_text(text)
    done = subprocess.run([adjoint, "show", str(path), "--as", "text"], capture_output=True, text=True)
    path.unlink()
    return done.stdout + re.sub(r":\d+:\d+:", "", done.stderr)


def check(adjoint):
    n_same = n_other = 0
    for path in sorted(GOLDEN.glob("**/*.txt")):
        text = path.read_text()
        if path.parent == HERE or not re.search(r"^\s*class ", text, re.M):
            continue
        for formatter in FORMATTERS:
            changed = reformat(text, formatter)
            if changed is None:
                print(f"{formatter} cannot read {path.name}")
            elif show(adjoint, changed) == show(adjoint, text):
                n_same += 1
            else:
                n_other += 1
                print(f"{formatter}: {path.name} is another graph")
    print(f"{n_same} the same, {n_other} not")
    return n_other > 0


if __name__ == "__main__":
    sys.exit(check(sys.argv[2]) if sys.argv[1:2] == ["--check"] else write())
