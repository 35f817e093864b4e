#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench-logs.py [--backend NAME] [--uncompiled] [--only NAME,...] ADJOINT FOLDER PYTHON...: of real logs, how many graphs are read, and how many of them whole.

Each PYTHON (with its PyTorch) runs the programs of logs_programs.py under TORCH_TRACE and TORCH_LOGS; FOLDER keeps
what they write.  A payload with the text of a module is a graph; "opaque" counts statements that were not understood.
The status is 1 when a graph is not read, or not whole."""
import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PROGRAMS = {
    "logs_programs.py": ("train", "compiled_autograd", "dynamic", "breaks", "checkpoint", "higher", "autocast", "export",
                         "aotinductor", "ddp", "ddp_autograd", "fsdp2", "tensor_parallel"),
    "logs_training.py": ("optimizer", "flex", "hooks", "saved_hooks", "offload", "regions", "functions", "writes",
                         "subclasses", "failing", "traced"),
    "logs_models.py": ("vision", "text", "encoder", "functional", "diffusion"),
    "logs_further.py": ("experts", "generation", "recompiles", "resumed", "loops", "rounded", "signals", "rivals",
                        "operators", "exported", "collectives", "ddp_unused"),
}
IN_RANKS = ("ddp", "ddp_autograd", "fsdp2", "tensor_parallel", "collectives", "ddp_unused")
HERE = pathlib.Path(__file__).parent
TOP = re.compile(r"^(?=\S).*class \S+\(torch\.nn\.Module\):", re.M)
MODULE = re.compile(r"^ *def forward\(", re.M)
MESSAGE = re.compile(r"[VIWEC]\d{4} [\d:.]{15} \d+ [^:]+:\d+\] ((?:\[[^\]]*\] )*)(.*)")
HEADING = re.compile(r" ?(?:\S.* )?class \S+\(torch\.nn\.Module\):")
CHANNELS = ("graph_code,aot_graphs,aot_joint_graph,compiled_autograd,compiled_autograd_verbose,post_grad_graphs,"
            "graph_breaks,recompiles,guards,output_code,schedule,fusion,graph_sizes")


def is_module(payload):
    """Whether it is the text of a module, and not JSON that quotes one."""
    return payload[:1] not in ("{", "[") and MODULE.search(payload) is not None


def payloads(path):
    """How many modules, those within others apart, the records of a log carry."""
    n, payload = 0, []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in [*log, "end"]:
            if line.startswith("\t"):
                payload.append(line[1:])
                continue
            if is_module("".join(payload)):
                n += max(len(TOP.findall("".join(payload))), 1)
            payload = []
    return n


def begins_graph(line):
    """Whether a message, or what the program printed, begins a graph here; compiled autograd says each on two channels."""
    message = MESSAGE.search(line)
    if message is None:
        return line.startswith("class ") and HEADING.match(line) is not None
    return "verbose" not in message.group(1) and HEADING.match(message.group(2)) is not None


def headings(path):
    """How many graphs a console shows."""
    with open(path, encoding="utf-8", errors="replace") as console:
        return sum(map(begins_graph, console))


def run_program(python, script, name, folder, backend, uncompiled):
    trace = folder / "trace"
    if trace.exists():
        return
    environment = {**os.environ, "TORCH_TRACE": str(trace), "TORCH_LOGS": CHANNELS, "OMP_NUM_THREADS": "1",
                   "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "NO_COLOR": "1",
                   "GLOO_SOCKET_IFNAME": "lo", "INDUCTOR_PROVENANCE": "1",
                   "ATEN_CPU_CAPABILITY": "default"}  # the graphs are the same, and scalar code is compiled sooner
    command = [python, str(HERE / script), name, backend]
    if uncompiled:
        command.insert(1, str(HERE / "uncompiled.py"))
    if name in IN_RANKS:
        command[1:1] = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "console.txt", "w", encoding="utf-8") as out:
        status = subprocess.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT).returncode
    if status != 0:
        (folder / "failed").write_text(str(status))


def read(adjoint, path):
    """(graphs, opaque statements in them and in what they call, remarks, refusal) of what @path holds."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "copy.adjoint")
        done = subprocess.run([adjoint, "convert", path, copy], capture_output=True, text=True)
        if done.returncode != 0:
            return 0, 0, [], done.stderr.strip()
        with zipfile.ZipFile(copy) as archive:
            raw = sum(archive.read(entry).decode().count('"op": "raw"') for entry in archive.namelist()
                      if entry.startswith("graphs/"))
        listed = subprocess.run([adjoint, "show", path, "--json"], capture_output=True, text=True)
        return len(json.loads(listed.stdout)["graphs"]), raw, listed.stderr.strip().splitlines(), None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--uncompiled", action="store_true")
    parser.add_argument("--only", type=lambda names: names.split(","))
    parser.add_argument("adjoint")
    parser.add_argument("folder")
    parser.add_argument("pythons", nargs="+")
    options, bad = parser.parse_args(), 0
    adjoint, folder, backend = options.adjoint, options.folder, options.backend
    programs = [(script, name) for script, names in PROGRAMS.items() for name in names
                if options.only is None or name in options.only]
    print(f"{'release':8} {'program':18} {'payloads':>8} {'read':>6} {'opaque':>6} {'console':>8} {'read':>6} {'opaque':>6}  remarks", flush=True)
    for python in options.pythons:
        release = subprocess.run([python, "-c", "import torch; print(torch.__version__.split('+')[0])"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        for script, name in programs:
            place = pathlib.Path(folder) / f"{release}-{backend}" / name
            run_program(python, script, name, place, backend, options.uncompiled)
            logs = glob.glob(str(place / "trace" / "*.log"))
            wanted = sum(payloads(log) for log in logs)
            graphs, raw, remarks, refusal = read(adjoint, str(place / "trace")) if logs else (0, 0, [], "no log")
            wanted_shown = headings(place / "console.txt")
            shown, shown_raw, _, console_refusal = read(adjoint, str(place / "console.txt"))
            notes = remarks[:2] + [text for text in (refusal if wanted else None,
                                                     console_refusal if wanted else None) if text]
            if (place / "failed").exists():
                notes.append("the program failed")
            bad += graphs != wanted or raw > 0 or shown != wanted_shown or shown_raw > 0
            print(f"{release:8} {name:18} {wanted:8} {graphs:6} {raw:6} {wanted_shown:8} {shown:6} {shown_raw:6}  {'; '.join(notes)}",
                  flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
