# SPDX-License-Identifier: MIT
"""Checks that each symbol an object of BUILD uses is defined in its layer or one before it.

The layers are those of includes.py; a repeated declaration or a pointer can avoid an include, but not
the linker.  symbols.py BUILD [--cycles] also prints the
objects of the largest cycle.
"""

import subprocess
import sys
from pathlib import Path

from includes import LAYERS, stands_above


def members(build, library):
    """Returns the objects of a thin archive, which stores relative paths."""
    name = str(library.relative_to(build))
    out = subprocess.run(["ar", "t", name], cwd=build, capture_output=True, text=True, check=True)
    return [build / line for line in out.stdout.splitlines()]


def objects(build):
    """Returns the layer of each object of the library and the window: "ir", "ui/canvas"."""
    layers = {}
    for library in build.glob("core/libadj-*.a"):
        for path in members(build, library):
            layers[path] = library.stem.removeprefix("libadj-")
    for library in build.glob("ui/libadj-*.a"):
        for path in members(build, library):
            if not path.name.startswith("meson-generated"):
                layers[path] = "ui/" + path.name.split("_")[0]
    return layers


def uses(paths):
    """For each object and each symbol that it uses: the object that defines it."""
    defined, wanted = {}, {}
    for path in paths:
        out = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in out.splitlines()]
        defined.update((row[-1], path) for row in rows if row[-2] in "TDRBV")
        wanted[path] = [row[-1] for row in rows if row[-2] == "U"]
    return {
        path: {name: defined[name] for name in names if name in defined}
        for path, names in wanted.items()
    }


def is_upward(layer, target):
    if layer.startswith("ui/"):
        return target.startswith("ui/") and stands_above(target[3:], layer[3:])
    return target.startswith("ui/") or LAYERS.index(target) > LAYERS.index(layer)


def find_cycle(edges):
    """Returns the largest strongly connected set (Tarjan, without recursion)."""
    index, low, on_stack, stack, best = {}, {}, set(), [], []
    for root in edges:
        if root in index:
            continue
        pending = [(root, None)]
        while pending:
            node, following = pending[-1]
            if following is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                following = iter(edges[node])
                pending[-1] = (node, following)
            target = next((t for t in following if t not in index or t in on_stack), None)
            if target is None:
                pending.pop()
                if pending:
                    parent = pending[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    best = max(best, stack[cut:], key=len)
                    on_stack -= set(stack[cut:])
                    del stack[cut:]
            elif target in index:
                low[node] = min(low[node], index[target])
            else:
                pending.append((target, None))
    return best


def largest_cycle(build):
    """Returns the objects of core's largest cycle, and the number of core's objects."""
    edges = {
        path: set(targets.values()) - {path}
        for path, targets in uses(p for p in objects(build) if "core" in p.parts).items()
    }
    return find_cycle(edges), len(edges)


def main(build, *options):
    layers = objects(build)
    if not layers:
        print(f"{build}: nothing is built here")
        return 1
    wrong = [
        f"{path.name}: {layers[path]} takes {name} from {layers[target]}"
        for path, targets in uses(layers).items()
        for name, target in targets.items()
        if is_upward(layers[path], layers[target])
    ]
    print("\n".join(sorted(wrong)), end="\n" if wrong else "")
    if "--cycles" in options:
        cycle, n = largest_cycle(build)
        print(f"{len(cycle)} of {n} objects:", *sorted(path.name for path in cycle))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
