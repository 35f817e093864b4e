#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times listing and running files of a gigabyte: a capture, made here, and a torch.export program if
PyTorch is installed; and the report of a graph of 100,000 nodes.

    python3 bench-large.py ADJOINT FOLDER [MIB]

FOLDER keeps the files.  Prints, for each: seconds of the fastest of three "show", seconds of one run,
and the largest resident size of both; of the report its bytes and seconds of CPU, too."""
import hashlib
import json
import multiprocessing
import os
import resource
import struct
import subprocess
import sys
import time
import zipfile


def tensors(entries):
    header = {name: {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
              for name, shape, begin, end in entries}
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) + -len(text) % 64 + 56) + text + b" " * (-len(text) % 64 + 56)


def write_capture(path, n_layers, width):
    """Writes a chain of products and its inputs: @n_layers weights of @width x @width."""
    size = width * width * 4
    entries = [("x", [4, width], 0, 16 * width)]
    for i in range(n_layers):
        entries.append((f"w{i}", [width, width], entries[-1][3], entries[-1][3] + size))
    head = tensors(entries)
    block = bytes(16 * width) if width < 1024 else os.urandom(1 << 20)
    checksum = hashlib.sha256(head)
    whole = path + ".safetensors"
    with open(whole, "wb") as file:
        file.write(head)
        left = entries[-1][3]
        while left > 0:
            piece = block[:min(left, len(block))]
            file.write(piece)
            checksum.update(piece)
            left -= len(piece)
    nodes = [{"name": "x", "op": "placeholder", "target": "x", "val": f"f32[4, {width}]"}]
    nodes += [{"name": f"w{i}", "op": "placeholder", "target": f"w{i}",
               "val": f"f32[{width}, {width}]"} for i in range(n_layers)]
    last = "x"
    for i in range(n_layers):
        nodes.append({"name": f"mm_{i}", "op": "call_function", "target": "torch.ops.aten.mm.default",
                      "args": [{"$n": last}, {"$n": f"w{i}"}], "val": f"f32[4, {width}]"})
        last = f"mm_{i}"
    nodes.append({"name": "output", "op": "output", "args": [[{"$n": last}]]})
    graph = json.dumps({"graph": {"class": "GraphModule", "nodes": nodes}}).encode()
    inputs = [{"$tensor": ["t0", name]} for name, *_ in entries]
    manifest = {"format": "adjoint", "version": [1, 0], "requires": [],
                "graphs": [{"id": "g", "title": "chain", "role": "inference",
                            "sha256": hashlib.sha256(graph).hexdigest()}],
                "tensors": [{"id": "t0", "sha256": checksum.hexdigest()}],
                "calls": [{"graph": "g", "inputs": inputs, "outputs": []}]}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("adjoint.json", json.dumps(manifest))
        archive.writestr("graphs/g.json", graph)
        archive.write(whole, "tensors/t0.safetensors")
    os.unlink(whole)


def write_program(path, n_layers, width):
    import torch

    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(n_layers)]
    program = torch.export.export(torch.nn.Sequential(*layers), (torch.randn(4, width),))
    torch.export.save(program, path)


def write_chain(path, n_nodes):
    """Writes a graph of products, sums and functions, each of the one before it."""
    calls = ("mul.Tensor(%s, a)", "add.Tensor(%s, b)", "sin.default(%s)", "tanh.default(%s)", "neg.default(%s)")
    last = "x"
    with open(path, "w", encoding="utf-8") as file:
        file.write("class GraphModule(torch.nn.Module):\n"
                   "    def forward(self, x: \"f32[8][1]\", a: \"f32[8][1]\", b: \"f32[8][1]\"):\n")
        for i in range(n_nodes):
            file.write(f"        v{i}: \"f32[8][1]\" = torch.ops.aten.{calls[i % len(calls)] % last}\n")
            last = f"v{i}"
        file.write(f"        return ({last},)\n")


def report(adjoint, folder):
    chain, page = os.path.join(folder, "chain.txt"), os.path.join(folder, "chain.html")
    write_chain(chain, 100000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = measure(adjoint, "report", chain, "-o", page)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"report of 100,000 nodes: {os.path.getsize(page)} bytes, {wall:.2f} s, {cpu:.2f} s of CPU")


def measure(*command):
    started = time.monotonic()
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        print(" ".join(command), "->", result.returncode, result.stderr.strip())
    return time.monotonic() - started


def main():
    adjoint, folder = sys.argv[1:3]
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    print("file                 show s   run s   MiB resident")
    for name, write in (("large.adjoint", write_capture), ("large.pt2", write_program)):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            maker = multiprocessing.Process(target=write, args=(path, size // 16, 2048))
            maker.start()
            maker.join()
        if not os.path.exists(path):
            print(f"{name}: could not be made")
            continue
        show = min(measure(adjoint, "show", path) for _ in range(3))
        shown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        run = measure(adjoint, "run", path)
        ran = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print(f"{name:20} {show:6.2f}  {run:6.2f}   {shown}, {ran}", flush=True)
    report(adjoint, folder)


if __name__ == "__main__":
    main()
