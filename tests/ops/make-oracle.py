# SPDX-License-Identifier: MIT
"""Writes data/oracle/: what PyTorch 2.6 computes on the CPU for the operators of core/ops, a file for each.

    make-oracle.py             all of them
    make-oracle.py NAME...     these alone, by their names in the schema: relu, add.Tensor, prims::fma

The calls are those of cases/*.py; of cases/newest.py, what 2.6 has not got, with the newest release.  A file begins with the line
    by PyTorch VERSION CAPABILITY     (what it was made with: ../support/pinned.py)
and one case is
    case TARGET
    a VALUE            (an argument by position)
    k NAME VALUE       (an argument by name)
    r VALUE            (a result; several results and lists are flattened)
    w VALUE            (a written argument after the call, unless it is returned)
    x                  (instead of values: PyTorch has none on the CPU, results are those of meta tensors)
    g SEED             (of torch.manual_seed() before the call)
    e INT              (what Tensor.random_() of an int32 gives after the call)
and a VALUE is one of
    n | b 0|1 | i INT | f FLOAT | z FLOAT FLOAT (complex) | s TEXT | d DTYPE | m FORMAT | c (cpu) | l N VALUE...
    t DTYPE RANK SIZE... STRIDE... OFFSET HEX
where HEX is the storage of an argument, and the elements in row-major order of a result.

Cases that PyTorch refuses are left out.
"""
import glob
import gzip
import os
import sys

import oracle
import torch
from oracle import HERE, Recording, find
from variants import variants

OUT = os.path.join(HERE, "data/oracle")


def read_cases():
    """Returns the files of cases/ for the installed release, compiled, by name."""
    newest = os.path.join(HERE, "cases/newest.py")
    paths = sorted(glob.glob(os.path.join(HERE, "cases/*.py")))
    for path in [p for p in paths if p != newest] if torch.__version__.startswith("2.6.") else [newest]:
        yield os.path.splitext(os.path.basename(path))[0], compile(open(path).read(), path, "exec")


def run(files, op):
    Recording.cases, Recording.calls = [], []
    for name, code in files:
        oracle.begin(op, name)
        exec(code, {})
    return Recording.cases + variants(op, Recording.calls) if op else []


def operators(files):
    """Returns the operators that are called, and by which files."""
    users = {}
    for file in files:
        Recording.noted = {}
        run([file], None)
        for op in Recording.noted:
            users.setdefault(op, []).append(file)
    return users


def write(op, cases):
    lines = "\n".join([f"by {oracle.pinned.MADE_BY}", *dict.fromkeys(cases)]) + "\n"
    with open(os.path.join(OUT, f"{op}.txt.gz"), "wb") as f:
        f.write(gzip.compress(lines.encode("ascii"), 9, mtime=0))


def main(names):
    files = list(read_cases())
    users = {find(name): files for name in names} or operators(files)
    if None in users:
        sys.exit("this release has not got all of these")
    counts = {}
    os.makedirs(OUT, exist_ok=True)
    for op, callers in users.items():
        cases = run(callers, op)
        if not cases:
            sys.exit(f"no file of cases/ calls {op}, or PyTorch refuses all of its calls")
        write(op, cases)
        counts[op] = len(dict.fromkeys(cases))
        if names:
            print(f"{op}: {counts[op]} cases")
    for path in [] if names or "newest" in dict(files) else glob.glob(os.path.join(OUT, "*.txt.gz")):
        name = os.path.basename(path).removesuffix(".txt.gz")
        space, rest = name.split(".", 1)
        if name not in map(str, users) and find(f"{space}::{rest}") is not None:
            os.remove(path)
    print(len(counts), "operators,", sum(counts.values()), "cases")


main(sys.argv[1:])
