# SPDX-License-Identifier: MIT
"""Measures the house: python3 tests/lint/house.py [BUILD] prints a table to lay beside another.

Lines by folder, lengths of functions and files, what is said at the heads of files and folders,
and, of a build, what the library exports and its largest cycle of objects."""

import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from sizes import functions
from sources import read, tracked
from symbols import largest_cycle

LONG_FILE = 500
SPDX = "/* SPDX-License-Identifier: MIT */\n"


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def folder_rows(sources):
    lines = defaultdict(list)
    for path, text in sources.items():
        depth = 1 if path.parts[0] in ("app", "tests") else 2
        lines["/".join(path.parts[:-1][:depth])].append(text.count("\n"))
    for folder, counts in sorted(lines.items()):
        yield f"{folder:28} {len(counts):4} files {sum(counts):7} lines, longest {max(counts)}"


def has_head(text):
    return text.removeprefix(SPDX).lstrip("\n").startswith("/*")


def main():
    paths = tracked(*(f"{root}/*.[ch]" for root in ("core", "kernels", "ui", "app", "data", "tests")))
    sources = {path: read(path) for path in paths}
    for row in folder_rows(sources):
        print(row)
    lengths = [n for text in sources.values() for _, _, n in functions(text)]
    print(f"functions: {len(lengths)}, median {statistics.median(lengths):.0f},"
          f" p95 {percentile(lengths, 0.95)}, longest {max(lengths)} lines")
    long_files = sorted((t.count("\n"), str(p)) for p, t in sources.items()
                        if t.count("\n") > LONG_FILE and p.parts[0] != "tests")
    print(f"files of more than {LONG_FILE} lines, tests apart: {len(long_files)}")
    for lines, path in reversed(long_files):
        print(f"  {lines:5} {path}")
    code = {p: t for p, t in sources.items() if p.suffix == ".c"}
    print(f"comments at heads: {sum(map(has_head, code.values()))} of {len(code)} .c files")
    rooms = sorted({p.parent for p in sources if p.parts[0] in ("core", "kernels", "ui")
                    and len(p.parts) == 3})
    readmes = [room for room in rooms if (room / "README.md").exists()]
    print(f"READMEs: {len(readmes)} of {len(rooms)} folders; specifications:"
          f" {len(tracked('core/*/SPEC.md'))}")
    if len(sys.argv) > 1:
        library = Path(sys.argv[1], "core", "libadjoint.so")
        out = subprocess.run(["nm", "-D", "--defined-only", str(library)],
                             capture_output=True, text=True, check=True).stdout
        cycle, n = largest_cycle(Path(sys.argv[1]))
        print(f"exported symbols: {len(out.splitlines())}")
        print(f"largest cycle of objects: {len(cycle)} of {n}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
