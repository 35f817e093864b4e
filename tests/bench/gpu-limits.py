#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicts how long a GPU needs for graphs at least: bytes and arithmetic of every region of their plans against the
rates of a GPU's data sheet.  Needs no GPU; tests/bench/results keeps what it printed.

usage: gpu-limits.py ADJOINT MODEL OUT.md FILE…
"""

import sys
from pathlib import Path

from gpu import graphs_of, limits


def row_of(program, graph, model):
    least = limits(program, graph, model)
    if least is None:
        return f"| {Path(graph).name} | by the interpreter | | | | |"
    return (
        f"| {Path(graph).name} | {least['regions']} | {least['bytes'] / 1e6:.3f} | {least['flops'] / 1e9:.4f} "
        f"| {1e9 * least['seconds']:.1f} | {least['by_arithmetic']} |"
    )


def main():
    program, model, out, *files = sys.argv[1:]
    lines = [
        f"# Limits of graphs on a GPU: {model}",
        "",
        "What `tests/bench/gpu-limits.py` predicts without a GPU: for each region of a plan the longer of the times for its",
        "bytes and for its arithmetic by the data sheet, summed; launches come on top, a few µs each outside a captured graph.",
        "",
        "| graph | regions | MB | GFLOP | at least, ns | regions that arithmetic bounds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for file in files:
        lines += [row_of(program, graph, model) for graph in graphs_of(program, file)]
    Path(out).write_text("\n".join([*lines, ""]), encoding="utf-8")


main()
