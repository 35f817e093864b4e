# SPDX-License-Identifier: MIT
"""A GPU on trial: every operator against the CPU, every bundled graph node by node against the
interpreter and timed, memory after 1,000 runs, NVIDIA's memory checker where it is; a table at the end.

usage: gpu.py BUILD DEVICE OUT.md GRAPH.adjoint…   (exit 1: one of them differs)
"""

import json
import os
import re
import shutil
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


def sweep(build, device, case):
    """One test of tests/plan/test-operators-gpu.c on the device: what it says, whether it fails."""
    tests = Path(__file__).resolve().parent.parent
    environment = dict(os.environ, ADJ_TEST_GPU=device, G_TEST_SRCDIR=str(tests), G_TEST_BUILDDIR=f"{build}/tests")
    command = [f"{build}/tests/plan/test-plan-operators-gpu", "-p", f"/plan/gpu/{case}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=420, check=False, env=environment)
    said = [line[2:] for line in run.stdout.splitlines() if line.startswith("# ")]
    for line in said:
        if re.search(r"\.gz:\d+: ", line) or "by the CPU: " in line:
            print(line, flush=True)
    told = [line for line in said if re.search(r"need nothing of the CPU|cases differ|bytes free", line)]
    told += run.stderr.strip().splitlines()[-1:] if run.returncode < 0 else []
    return f"{case}: {'; '.join(told) or run.stderr.strip()}", run.returncode != 0


def check_memory(program, device, graph):
    """A run under compute-sanitizer, which kernels that reach outside their memory do not pass."""
    checker = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(checker, os.X_OK):
        return "memcheck: skipped, there is no compute-sanitizer", False
    command = [checker, "--tool", "memcheck", "--error-exitcode", "9", program, "run", graph, "--device", device]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    last = (run.stdout + run.stderr).strip().splitlines()[-1:]
    return f"memcheck: {Path(graph).name}: {''.join(last)}", run.returncode == 9


def main():
    build, device, out, *files = sys.argv[1:]
    program = f"{build}/app/adjoint"
    name = device_name(program, device)
    if name is None:
        print(f"gpu: no device {device} here")
        return 3
    rows, notes, wrong = [], [], False
    checks = [lambda: sweep(build, device, "operators"), lambda: sweep(build, device, "leaks")]
    checks += [lambda: check_memory(program, device, f"{files[0]}#joint")]
    for check in checks:
        note, is_wrong = check()
        wrong = wrong or is_wrong
        notes.append(f"- {note}")
        print(note, flush=True)
    for file in files:
        for role in ROLES:
            row, is_wrong = measure(program, device, f"{file}#{role}")
            wrong = wrong or is_wrong
            rows.append(row)
            print(row, flush=True)
    head = ["| graph | against the interpreter | planned, ms | cuda, ms | how |", "|---|---|---|---|---|"]
    Path(out).write_text("\n".join([f"# {name}", "", *notes, "", *head, *rows, ""]), encoding="utf-8")
    print(f"gpu: {len(rows)} graphs, written to {out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
