# SPDX-License-Identifier: MIT
"""Tests a GPU: every operator against the CPU, every bundled graph node by node against the interpreter,
with times, memory after 1,000 runs, NVIDIA's memory and race checkers if installed, and training steps
compared with PyTorch if installed; prints tables at the end.

usage: gpu.py BUILD DEVICE OUT.md GRAPH.adjoint…   (exit 1: one of them differs)
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROLES = ["dynamo", "joint", "forward", "backward", "compiled_autograd"]


def ask(program, *arguments):
    """Returns the output of `adjoint … --json`; None and the exit status if it fails."""
    run = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode > 1:
        return None, run.stderr.strip()
    return json.loads(run.stdout), run.returncode


def device_name(program, device):
    rows, _ = ask(program, "devices")
    return next((row["name"] for row in rows if row.get("device") == device and row["available"]), None)


def graphs_of(program, file):
    """Returns FILE#ID of each runnable graph."""
    shown, _ = ask(program, "show", file)
    return [f"{file}#{graph['id']}" for graph in shown["graphs"] if graph["role"] in ROLES]


def limits(program, graph, model):
    """Returns bytes, arithmetic and the least seconds of all regions of a graph's plan on a GPU of that model; None:
    the model is not known, or the interpreter runs the graph."""
    plan, _ = ask(program, "plan", graph, "--device-model", model)
    if plan is None or "regions" not in plan:
        return None
    regions = plan["regions"]
    least = [max(region["memory_seconds"], region["arithmetic_seconds"]) for region in regions]
    return {
        "regions": len(regions),
        "bytes": sum(region["bytes"] for region in regions),
        "flops": sum(region["flops"] for region in regions),
        "seconds": sum(least),
        "by_arithmetic": sum(region["arithmetic_seconds"] > region["memory_seconds"] for region in regions),
    }


def model_of(name):
    """The name of a device's model for --device-model: "h200" of "NVIDIA H200"."""
    return next((word for word in name.lower().split() if re.search(r"\d", word)), name.lower())


def measure(program, device, graph, model):
    compared, status = ask(program, "compare", f"{graph}@interpreter", f"{graph}@cuda", "--device", device, "--nodes")
    if compared is None:
        return f"| {Path(graph).name} | {status} | | | | |", True
    timed, why = ask(program, "bench", graph, "--executor", "planned", "--executor", "cuda", "--device", device)
    if timed is None:
        return f"| {Path(graph).name} | {why} | | | | |", True
    cpu, gpu = timed["timings"]
    least = limits(program, graph, model)
    row = f"| {Path(graph).name} | {'differs' if status else 'agrees'} | {cpu['median_ms']:.3f} | {gpu.get('device_ms', gpu['median_ms']):.3f} "
    row += f"| {1e3 * least['seconds']:.4f} " if least else "| "
    return row + f"| {gpu.get('note', '')} |", status != 0


def sweep(build, device, case):
    """Runs one test of tests/plan/test-operators-gpu.c on the device: its output, and whether it fails."""
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


def check(tool, program, device, graph):
    """Two runs under compute-sanitizer: its findings in kernels."""
    checker = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(checker, os.X_OK):
        return f"{tool}: skipped, there is no compute-sanitizer", False
    command = [checker, "--tool", tool, "--error-exitcode", "9", program, "bench", graph, "--executor", "cuda"]
    run = subprocess.run(
        [*command, "--device", device, "--repeat", "3"], capture_output=True, text=True, timeout=300, check=False
    )
    found = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith("=========")]
    if run.returncode == 9:
        print("\n".join(found[:40]), flush=True)
    return f"{tool}: {Path(graph).name}: {''.join(found[-1:])}", run.returncode == 9


def peers(program, device, flags):
    """Rows of bench-peer.py with this Python's PyTorch: lines of a table."""
    command = [sys.executable, str(Path(__file__).with_name("bench-peer.py")), program, "--device", device, *flags]
    told = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False).stdout
    for line in map(json.loads, filter(lambda line: line.startswith("{"), told.splitlines())):
        if "failed" in line:
            yield f"| {line['row']} | failed: {line['failed'].strip().splitlines()[-1]} | | | | |"
            continue
        ms, ratio = line["ms"], line["by_adjoint"]
        cells = [f"{ms[name][0]:.3f}" if name in ms else "" for name in ("eager", "inductor", "adjoint")]
        cells += [f"{ratio[name][0]:.2f}" if name in ratio else "" for name in ("eager", "inductor")]
        yield f"| {line['row']} | {' | '.join(cells)} |"


def beside_torch(program, device):
    """Returns tables, or the reason why there are none."""
    try:
        import torch  # PyTorch is optional
    except ImportError:
        return ["", "PyTorch is not here: nothing was timed beside it."]
    lines = ["", f"Forward and backward beside PyTorch {torch.__version__}, ms by the clock of the GPU; above 1 the plan is faster."]
    for what, flags in [
        ("f32", ["--no-inductor", "--rounds", "3"]),
        ("bf16", ["--no-inductor", "--rounds", "1", "--dtype", "bf16"]),
        ("f32, Inductor with CUDA graphs", ["--rows", "softmax,norm,chain-c,llama", "--rounds", "3"]),
    ]:
        lines += ["", f"| {what} | eager | inductor | cuda | eager by cuda | inductor by cuda |", "|---|---|---|---|---|---|"]
        for row in peers(program, device, flags):
            print(row, flush=True)
            lines.append(row)
    return lines


def main():
    build, device, out, *files = sys.argv[1:]
    program = f"{build}/app/adjoint"
    name = device_name(program, device)
    if name is None:
        print(f"gpu: no device {device} here")
        return 3
    rows, notes, wrong = [], [], False
    checks = [lambda: sweep(build, device, "operators"), lambda: sweep(build, device, "leaks")]
    for tool in ("memcheck", "racecheck"):
        checks.append(lambda tool=tool: check(tool, program, device, f"{files[0]}#joint"))
    for one in checks:
        note, is_wrong = one()
        wrong = wrong or is_wrong
        notes.append(f"- {note}")
        print(note, flush=True)
    for file in files:
        for graph in graphs_of(program, file):
            row, is_wrong = measure(program, device, graph, model_of(name))
            wrong = wrong or is_wrong
            rows.append(row)
            print(row, flush=True)
    head = [
        "| graph | against the interpreter | planned, ms | cuda, ms of the GPU | its limits, ms | how |",
        "|---|---|---|---|---|---|",
    ]
    beside = beside_torch(program, device)
    Path(out).write_text("\n".join([f"# {name}", "", *notes, "", *head, *rows, *beside, ""]), encoding="utf-8")
    print(f"gpu: {len(rows)} graphs, written to {out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
