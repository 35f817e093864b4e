# SPDX-License-Identifier: MIT
"""Measures the source tree: python3 tests/lint/house.py [BUILD [--touch] [--scratch]] prints a table for comparison.

It reports lines by folder, lengths of functions and files, duplicate functions, missing heads of files and
folders, broken references, and, for a build, exported symbols, the largest cycle of objects and the number
of objects that include a header or list.  --touch changes four files of that build's tree one by one and
reports the cost of the builds; for an operator's record also that of building and running its tests.
--scratch builds the tree in a temporary folder.  Both bypass the compiler cache and need an idle machine.

tests/bench/results/house.md keeps the results."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import readme
import spec
from sizes import functions
from sources import ROOT, read, tracked
from symbols import largest_cycle

LONG_FILE = 500
# Functions with fewer lines can be equal by chance.
DUPLICATE = 5
# A header that everything includes, an operator's record with its tests, a file of core, one of the window.
TOUCHED = {
    "core/ir/adj-graph.h": (),
    "core/ops/activation.inc": ("op-table", "op-oracle", "op-errors"),
    "core/partition/knapsack.c": (),
    "ui/canvas/paint-box.c": (),
}
UNCACHED = {"CCACHE_DISABLE": "1"}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\"(?:[^\"\\\\]|\\\\.)*\"|\S")
KEYWORDS = {"if", "else", "for", "while", "do", "return", "switch", "case", "default", "break", "continue",
            "sizeof", "goto", "TRUE", "FALSE", "NULL"}
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


def bodies(text):
    """Returns (text, shape) of each function that is long enough: its tokens, and these with every name, number and
    string replaced."""
    lines = text.splitlines()
    for _, first, length in functions(text):
        if length < DUPLICATE:
            continue
        tokens = TOKEN.findall("\n".join(lines[first : first + length]))
        shape = [t if t in KEYWORDS or not re.match(r'[\w"]', t) else "x" for t in tokens]
        yield " ".join(tokens), " ".join(shape)


def count_duplicates(sources):
    """Counts functions that occur again, literally, and with other names only."""
    seen = ({}, {})
    for text in sources.values():
        for pair in bodies(text):
            for known, body in zip(seen, pair):
                known[body] = known.get(body, 0) + 1
    return [sum(n - 1 for n in known.values()) for known in seen]


def count_readers(build):
    """Returns by path the number of objects compiled from it, as ninja knows, and the number of all objects."""
    out = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    readers, n = defaultdict(int), 0
    for line in out.splitlines():
        if line.startswith("    "):
            readers[os.path.relpath(os.path.normpath(os.path.join(build, line.strip())), ROOT)] += 1
        elif ".o: " in line:
            n += 1
    return readers, n


def measure(*command):
    """Returns the cost of @command: (objects compiled, links, wall seconds, CPU seconds)."""
    before, began = os.times(), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | UNCACHED)
    after = os.times()
    if done.returncode != 0:
        sys.exit(done.stdout[-4000:] + done.stderr[-4000:])
    return (len(re.findall(r"\] Compiling", done.stdout)), len(re.findall(r"\] Linking", done.stdout)),
            time.monotonic() - began, after.children_user + after.children_system
            - before.children_user - before.children_system)


def print_cost(what, compiled, linked, clock, processor):
    print(f"  {what}: {compiled} compiled, {linked} linked, {clock:.1f} s, {processor:.0f} s of the processor")


def touch(build, path, tests):
    """Builds after a change of @path; builds and runs @tests first, if any."""
    content = (ROOT / path).read_text(encoding="utf-8")
    comment = "\n/* */\n" if Path(path).suffix != ".inc" else "\n\n"
    try:
        (ROOT / path).write_text(content + comment, encoding="utf-8")
        if tests:
            print_cost(f"changed, until {', '.join(tests)} passed", *measure("meson", "test", "-C", build, *tests))
        print_cost("changed, the rest" if tests else "changed", *measure("ninja", "-C", build))
    finally:
        (ROOT / path).write_text(content, encoding="utf-8")
        subprocess.run(["ninja", "-C", build], capture_output=True, check=True)


def build_from_scratch():
    with tempfile.TemporaryDirectory(prefix="adjoint-house-") as folder:
        os.environ.setdefault("CC_LD", "mold" if shutil.which("mold") else "bfd")
        subprocess.run(["meson", "setup", folder, ROOT], capture_output=True, check=True)
        print_cost("from scratch", *measure("ninja", "-C", folder))


def count_dangling():
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        out, sys.stdout = sys.stdout, nowhere
        try:
            return readme.main() + spec.main()
        finally:
            sys.stdout = out


def main():
    paths = tracked(*(f"{root}/*.[ch]" for root in ("core", "kernels", "ui", "app", "data", "tests")))
    sources = {path: read(path) for path in paths}
    for row in folder_rows(sources):
        print(row)
    lengths = [n for text in sources.values() for _, _, n in functions(text)]
    identical, alike = count_duplicates(sources)
    print(f"functions: {len(lengths)}, median {statistics.median(lengths):.0f},"
          f" p95 {percentile(lengths, 0.95)}, longest {max(lengths)} lines")
    print(f"functions of {DUPLICATE} lines and more that stand there again: {identical}; with other names: {alike}")
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
    print(f"pages with references that lead nowhere: {count_dangling()}")
    if len(sys.argv) > 1:
        library = Path(sys.argv[1], "core", "libadjoint.so")
        # Protected symbols exist only for tests of the build.
        out = subprocess.run(["readelf", "--dyn-syms", "--wide", str(library)],
                             capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in out.splitlines()]
        exported = [row for row in rows if len(row) == 8 and row[5] == "DEFAULT" and row[6] != "UND"]
        cycle, n = largest_cycle(Path(sys.argv[1]))
        print(f"exported symbols: {len(exported)}")
        print(f"largest cycle of objects: {len(cycle)} of {n}")
        readers, n = count_readers(sys.argv[1])
        for path, tests in TOUCHED.items():
            print(f"{path}: read by {readers[path]} of {n} objects")
            if "--touch" in sys.argv:
                touch(sys.argv[1], path, tests)
        if "--scratch" in sys.argv:
            build_from_scratch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
