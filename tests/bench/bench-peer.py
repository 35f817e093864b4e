# SPDX-License-Identifier: MIT
"""Times plans against PyTorch, forward and backward: bench-peer.py ADJOINT [--rows NAME,…] [--rounds N] …

Runs under the Python whose PyTorch is the peer.  Each row of peer_rows.py is captured, and then timed in turns: a few
steps of eager, of Inductor, and of `adjoint bench` on the captured graphs, all with the same number of threads.  It
prints a JSON line per row: milliseconds (medians over the turns) and the ratios of each turn, median and quartiles, so
that other load on the machine affects both sides equally.  PyTorch is timed by its wall clock around the whole
step; Adjoint by the sum of its graphs, which make up the step.  On a busy machine `--threads 1 --clock cpu`
measures the CPU time of the process instead.

`--device cuda:0`: PyTorch and the executor `cuda` on a GPU, both by its clock, from the first kernel of a graph or step
to the last; Inductor with CUDA graphs, and full f32 on both sides.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import peer_rows
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "data/bridge"))
import adjoint_capture  # noqa: E402

GRAPHS = ("forward", "backward", "inference")


WARM_UP = 5000  # milliseconds of eager steps

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def device_steps_ms(step, n):
    """Returns the median time of n steps by the GPU's clock."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2 * n)]
    for i in range(n):
        marks[2 * i].record()
        step()
        marks[2 * i + 1].record()
    torch.cuda.synchronize()
    return statistics.median(marks[2 * i].elapsed_time(marks[2 * i + 1]) for i in range(n))


def steps_ms(step, n, clock):
    """Returns the median time of n steps."""
    if clock == "device":
        return device_steps_ms(step, n)
    now, times = CLOCKS[clock], []
    for _ in range(n):
        start = now()
        step()
        times.append(1e3 * (now() - start))
    return statistics.median(times)


def capture(row, path):
    """Writes the row's capture to path; returns the ids of its graphs."""
    torch._dynamo.reset()
    step = row.step(lambda function: torch.compile(function, backend="aot_eager", dynamic=False))
    with adjoint_capture.record(str(path)):
        step()
    torch._dynamo.reset()
    return path


def graphs_of(adjoint, path):
    """Returns the graphs that one step runs."""
    shown = subprocess.run([adjoint, "show", str(path), "--json"], check=True, capture_output=True, text=True).stdout
    return [graph["id"] for graph in json.loads(shown)["graphs"] if graph["role"] in GRAPHS]


def adjoint_ms(arguments, path, graphs, n, flags):
    """Returns the sum of the medians of all graphs of one step, and the notes."""
    told = subprocess.run(
        [arguments.adjoint, "bench", *(f"{path}#{graph}" for graph in graphs), "-n", str(n), "--json",
         *flags], check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    timings = json.loads(told)["timings"]
    key = {"wall": "median_ms", "cpu": "cpu_ms", "device": "device_ms"}[arguments.clock]
    return sum(timing[key] for timing in timings), [timing["note"] for timing in timings if "note" in timing]


def spread(values):
    """Returns median and quartiles."""
    values = sorted(values)
    n = len(values)
    return [round(values[i], 3) for i in (n // 2, n // 4, n - 1 - n // 4)]


def ratios(turns, ours):
    """Returns each other mode's time divided by ours in the same turn."""
    return {name: spread([t / o for t, o in zip(times, turns[ours])]) for name, times in turns.items() if name != ours}


def bench_row(arguments, row, folder):
    """Returns the line of one row."""
    line = {"bench": "peer", "torch": torch.__version__, "threads": arguments.threads, "row": row.name,
            "malloc": arguments.malloc, "clock": arguments.clock, "dtype": arguments.dtype}  # fmt: skip
    path = capture(row, folder / f"{row.name}.adjoint")
    graphs = graphs_of(arguments.adjoint, path)
    with torch.device(arguments.device or "cpu"):
        peers = {"eager": row.step(lambda function: function)}
        if not arguments.no_inductor:
            mode = "reduce-overhead" if arguments.device else "default"
            peers["inductor"] = row.step(lambda function: torch.compile(function, dynamic=False, mode=mode))
    for step in peers.values():
        step(), step()
    taken = max(steps_ms(peers["eager"], 2, arguments.clock), 0.01)
    n = max(2, min(50, int(150 / taken)))
    modes = {"adjoint": ["-e", "cuda", "--device", arguments.device] if arguments.device else ["-e", "planned"]}
    if arguments.fast:
        modes["adjoint_fast"] = ["-e", "fast"]
    for flags in modes.values():  # kernels compiled in the background are ready afterwards, as with Inductor
        adjoint_ms(arguments, path, graphs, max(n, min(5000, int(WARM_UP / taken))), flags)
    turns = {name: [] for name in (*peers, *modes)}
    for _ in range(arguments.rounds):
        for name, step in peers.items():
            turns[name].append(steps_ms(step, n, arguments.clock))
        for name, flags in modes.items():
            taken, notes = adjoint_ms(arguments, path, graphs, n, flags)
            turns[name].append(taken)
            if notes:
                line["notes"] = notes
    line["ms"] = {name: spread(times) for name, times in turns.items()}
    for mode in modes:
        line[f"by_{mode}"] = ratios(turns, mode)
    return line


def main():
    """Runs all requested rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("adjoint")
    parser.add_argument("--rows", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--malloc", choices=["default", "tuned"], default="default")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--device", help="cuda:N")
    arguments = parser.parse_args()
    if arguments.device:
        arguments.clock = "device"
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    torch.set_num_threads(arguments.threads)
    wanted = arguments.rows.split(",") if arguments.rows else None
    with tempfile.TemporaryDirectory() as folder:
        for row in peer_rows.rows(torch.bfloat16 if arguments.dtype == "bf16" else torch.float32):
            if wanted and row.name.split("-")[0] not in wanted and row.name not in wanted:
                continue
            try:
                line = bench_row(arguments, row, pathlib.Path(folder))
            except Exception as error:  # a row that fails on one side is reported, and the others go on
                line = {"bench": "peer", "torch": torch.__version__, "row": row.name,
                        "failed": str(getattr(error, "stderr", None) or error)[-2000:]}  # fmt: skip
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
