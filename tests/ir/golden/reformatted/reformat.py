#!/usr/bin/env python3
"""Writes the texts in this folder: goldens as `black` and `yapf3` leave them.

    reformat.py                                # the texts of NAMES, again
    reformat.py --check ADJOINT [BUNDLE ...]   # every text of the goldens, and of the graphs of bundles, through ADJOINT

The tests read what is written here and need neither formatter.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

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
    """What is read of a text and said about it, without places."""
    with tempfile.NamedTemporaryFile("w", prefix="shown-", suffix=".txt") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([adjoint, "show", file.name, "--as", "text"], capture_output=True, text=True)
    return done.stdout + re.sub(r":\d+:\d+:", "", done.stderr).replace(file.name, "shown")


def golden_texts():
    for path in sorted(GOLDEN.glob("**/*.txt")):
        text = path.read_text()
        if path.parent != HERE and re.search(r"^\s*class ", text, re.M):
            yield path.name, text


def bundled_texts(adjoint, bundle):
    listing = subprocess.run([adjoint, "show", bundle, "--json"], capture_output=True, text=True, check=True)
    for graph in json.loads(listing.stdout)["graphs"]:
        name = f"{bundle}#{graph['id']}"
        yield name, subprocess.run([adjoint, "show", name, "--as", "text"], capture_output=True, text=True, check=True).stdout


def check(adjoint, bundles):
    n_same = n_other = 0
    for name, text in [*golden_texts(), *(named for bundle in bundles for named in bundled_texts(adjoint, bundle))]:
        for formatter in FORMATTERS:
            changed = reformat(text, formatter)
            if changed is None:
                print(f"{formatter} cannot read {name}")
            elif show(adjoint, changed) == show(adjoint, text):
                n_same += 1
            else:
                n_other += 1
                print(f"{formatter}: {name} is another graph", flush=True)
    print(f"{n_same} the same, {n_other} not")
    return n_other > 0


if __name__ == "__main__":
    sys.exit(check(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--check"] else write())
