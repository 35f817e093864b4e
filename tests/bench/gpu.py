# SPDX-License-Identifier: MIT
"""Every bundled graph on a GPU: node by node against the interpreter, then timed; a table at the end.

usage: gpu.py ADJOINT DEVICE OUT.md GRAPH.adjoint…   (exit 1: one of them differs)
"""

import json
import subprocess
import sys
from pathlib import Path

ROLES = ["dynamo", "joint", "forward", "backward"]


def ask(program, *arguments):
    """What `adjoint … --json` prints; None where it fails, with its exit status."""
    run = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode > 1:
        return None, run.stderr.strip()
    return json.loads(run.stdout), run.returncode


def device_name(program, device):
    rows, _ = ask(program, "devices")
    return next((row["name"] for row in rows if row.get("device") == device and row["available"]), None)


def measure(program, device, graph):
    compared, status = ask(program, "compare", f"{graph}@interpreter", f"{graph}@cuda", "--device", device, "--nodes")
    if compared is None:
        return f"| {Path(graph).name} | {status} | | | |", True
    timed, why = ask(program, "bench", graph, "--executor", "planned", "--executor", "cuda", "--device", device)
    if timed is None:
        return f"| {Path(graph).name} | {why} | | | |", True
    cpu, gpu = timed["timings"]
    row = f"| {Path(graph).name} | {'differs' if status else 'agrees'} | {cpu['median_ms']:.3f} | {gpu['median_ms']:.3f} "
    return row + f"| {gpu.get('note', '')} |", status != 0


def main():
    program, device, out, *files = sys.argv[1:]
    name = device_name(program, device)
    if name is None:
        print(f"gpu: no device {device} here")
        return 3
    rows, wrong = [], False
    for file in files:
        for role in ROLES:
            row, is_wrong = measure(program, device, f"{file}#{role}")
            wrong = wrong or is_wrong
            rows.append(row)
            print(row, flush=True)
    head = ["| graph | against the interpreter | planned, ms | cuda, ms | how |", "|---|---|---|---|---|"]
    Path(out).write_text("\n".join([f"# {name}", "", *head, *rows, ""]), encoding="utf-8")
    print(f"gpu: {len(rows)} graphs, written to {out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
