#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that `adjoint` prints one sentence about a driver that does not start, and continues on the CPU.

    test-start.py ADJOINT GRAPH [STUB]

STUB is tests/device/stub-driver.c as a library; without it the program has no CUDA, and the test is skipped.
"""

import os
import subprocess
import sys

STARTS = [
    ({"STUB_INIT": "100"}, "the NVIDIA driver finds no GPU"),
    ({"STUB_VERSION": "12040"}, "the NVIDIA driver is too old: it knows CUDA 12.4, this program needs "),
    ({"STUB_INIT": "803"}, "the NVIDIA driver was updated and not restarted: "),
    ({"STUB_INIT": "46"}, "the GPU is reserved by another process"),
    ({"STUB_INIT": "999"}, "CUDA does not start: "),
    ({}, "CUDA does not start: "),
]


def ask(stub, start, *command):
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(stub), **start)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def check(program, graph, stub, start, sentence):
    devices = ask(stub, start, program, "devices")
    refused = ask(stub, start, program, "run", graph, "--device", "cuda")
    by_cpu = ask(stub, start, program, "run", graph)
    wrong = []
    if devices.returncode != 0 or not any(
        line.startswith("cuda ") and sentence in line for line in devices.stdout.splitlines()
    ):
        wrong.append(f"devices: {devices.returncode}: {devices.stdout}{devices.stderr}")
    if refused.returncode in (0, 1) or sentence not in refused.stderr or refused.stderr.count("\n") > 1:
        wrong.append(f"run --device cuda: {refused.returncode}: {refused.stderr}")
    if by_cpu.returncode != 0:
        wrong.append(f"run: {by_cpu.returncode}: {by_cpu.stderr}")
    return [f"{start}: {text}" for text in wrong]


def main():
    program, graph, *stubs = sys.argv[1:]
    if not stubs:
        print("skipped: this build has no CUDA")
        sys.exit(77)
    wrong = []
    for start, sentence in STARTS:
        wrong += check(program, graph, stubs[0], start, sentence)
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    wrong += [f"linked dynamically: {line}" for line in libraries.splitlines() if "cuda" in line or "cublas" in line]
    sys.exit("\n".join(wrong) if wrong else 0)


main()
