#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that all CUDA kernels compile, exist, and stay within the budget.

    test-cuda-compile.py NVCC KERNELS SOURCE…

The budget: no spills, at most 128 registers, at most 48 KiB of static shared memory.  Without a
compiler the test is skipped.
"""

import re
import subprocess
import sys
import tempfile

REGISTERS = 128
SHARED = 48 * 1024
ENTRY = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers(?:, used \d+ barriers)?(?:, (?:(\d+)|\d+\+\d+) bytes smem)?",
    re.DOTALL,
)


def expected_symbols(kernels):
    text = open(f"{kernels}/cuda/kernel-list.h", encoding="utf-8").read()
    symbols = set(re.findall(r"X \((\w+), \w+Args, ", text))
    for name in re.findall(r"ADJ_CUDA_CLASSES \(X, (\w+),", text):
        symbols |= {f"{name}_f32", f"{name}_f64"}
    return symbols - {"symbol"}


def compile_source(nvcc, kernels, source, folder):
    """Returns the report of ptxas."""
    command = [nvcc, "-arch=sm_80", "-cubin", "-O2", "-fmad=false", "-Xptxas", "-v", f"-I{kernels}"]
    command += ["-o", f"{folder}/{source}.cubin", f"{kernels}/cuda/{source}.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{source}.cu: {done.stderr}")
    return done.stderr + done.stdout


def main():
    nvcc, kernels, sources = sys.argv[1], sys.argv[2], sys.argv[3:]
    found, wrong = set(), []
    if not nvcc:
        print("skipped: there is no nvcc")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for symbol, stores, loads, registers, shared in ENTRY.findall(
                compile_source(nvcc, kernels, source, folder)
            ):
                found.add(symbol)
                if int(stores) or int(loads):
                    wrong.append(f"{symbol} spills {stores} + {loads} bytes")
                if int(registers) > REGISTERS:
                    wrong.append(f"{symbol} takes {registers} registers, more than {REGISTERS}")
                if int(shared or 0) > SHARED:
                    wrong.append(f"{symbol} takes {shared} bytes of shared memory")
    wrong += [f"{symbol} is in no module" for symbol in sorted(expected_symbols(kernels) - found)]
    wrong += [f"{symbol} is in no list" for symbol in sorted(found - expected_symbols(kernels))]
    print(f"kernels {len(found)}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
