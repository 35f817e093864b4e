# SPDX-License-Identifier: MIT
"""bench-budgets.py [-j N] ADJOINT PATH...: compares `optimal` plans with PyTorch's budget points.

A PATH is a capture, or a folder of captures.  At eleven budgets of every joint graph, PyTorch's plan (`--compat`) is
compared with the plan of lowest peak that recomputes no more.  A point whose plan computes something else, for a reason
that `adjoint` gives, is left out.  The last line is the sum; the status is 1 if any of our peaks is higher.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys


def read_json(*command):
    """Returns (parsed output of the command, None), or (None, error)."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), None


def judge(theirs, ours):
    if theirs["wrong"] is not None:
        return "wrong"
    if ours is None or ours["recompute_flops"] > theirs["recompute_flops"]:
        return "above"
    peaks = ours["peak_bytes"], theirs["peak_bytes"]
    return "below" if peaks[0] < peaks[1] else "on" if peaks[0] == peaks[1] else "above"


def measure(adjoint, path, graph):
    """Prints one line for a joint graph."""
    line = {"bench": "budgets", "graph": f"{path.name}#{graph}"}
    front, why = read_json(adjoint, "trace", f"{path}#{graph}", "--pareto", "--json")
    if front is None:
        return line | {"failed": why}
    by = {(point["by"], point["budget"]): point for point in front["points"]}
    counts, ratios, reasons = collections.Counter(), [], collections.Counter()
    for (who, budget), theirs in by.items():
        if who != "PyTorch":
            continue
        ours = by.get(("optimal", budget))
        verdict = judge(theirs, ours)
        counts[verdict] += 1
        reasons[theirs["wrong"]] += theirs["wrong"] is not None
        if verdict != "wrong" and ours is not None and theirs["peak_bytes"] > 0:
            ratios.append(ours["peak_bytes"] / theirs["peak_bytes"])
    return line | {k: counts[k] for k in ("below", "on", "above", "wrong")} | {
        "reasons": dict(+reasons), "ratios": ratios}


def measure_file(adjoint, path):
    listing, why = read_json(adjoint, "show", str(path), "--json")
    if listing is None:
        return [{"bench": "budgets", "graph": path.name, "failed": why}]
    joints = [graph["id"] for graph in listing["graphs"] if graph["role"] == "joint"]
    return [measure(adjoint, path, joint) for joint in joints]


def list_files(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(path.glob("*.adjoint")) if path.is_dir() and path.suffix != ".adjoint" else [path]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("adjoint")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    total, ratios, reasons = collections.Counter(), [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for lines in pool.map(lambda path: measure_file(options.adjoint, path), list_files(options.paths)):
            for line in lines:
                ratios += line.pop("ratios", [])
                reasons.update(line.pop("reasons", {}))
                total.update({k: v for k, v in line.items() if isinstance(v, int)})
                total["graphs"] += "failed" not in line
                total["failed"] += "failed" in line
                print(json.dumps(line), flush=True)
    keys = ("graphs", "failed", "below", "on", "above", "wrong")
    print(json.dumps({"bench": "budgets", "total": {k: total[k] for k in keys}, "reasons": dict(reasons),
                      "peak": {"median": round(statistics.median(ratios), 3), "least": round(min(ratios), 3),
                               "most": round(max(ratios), 3)} if ratios else None}))
    return 1 if total["above"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
