# SPDX-License-Identifier: MIT
"""Errors planted into what was recorded: whether `compare` finds the node.

The values that PyTorch recorded of a graph's nodes go into a file of values with one node's multiplied by a little more
than one; it must be called "differs", and be the first.  One of several results is found at the node that gives them.
"""

import json
import os
import random
import tempfile
import zipfile

import torch

DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32, "F64": torch.float64}
FACTORS = {"BF16": 1 + 16 * 2**-8, "F16": 1 + 16 * 2**-11, "F32": 1 + 1e-3, "F64": 1 + 1e-9}


def givers(capture, graph):
    """{node that takes one of several results: node that gives them}"""
    with zipfile.ZipFile(capture) as file:
        nodes = json.loads(file.read(f"graphs/{graph}.json"))["graph"]["nodes"]
    taken = (node for node in nodes if node.get("target") == "operator.getitem")
    return {node["name"]: node["args"][0]["$n"] for node in taken}


def recorded_values(capture):
    """{graph: safetensors as bytes} of the joint and inference graphs whose nodes were recorded."""
    with zipfile.ZipFile(capture) as file:
        calls = json.loads(file.read("adjoint.json"))["calls"]
        taps = {c["graph"]: c["taps"]["f32"] for c in calls if "taps" in c and c["graph"].endswith(("-joint", "-inference"))}
        return {graph: file.read(f"tensors/{name}.safetensors") for graph, name in taps.items()}


def split(data):
    start = 8 + int.from_bytes(data[:8], "little")
    return start, json.loads(data[8:start])


def plantable(data):
    """Nodes of floating values that are finite and not all zero, so that a factor changes them."""
    start, header = split(data)
    for name, entry in header.items():
        if entry.get("dtype") in DTYPES and entry["data_offsets"][1] > entry["data_offsets"][0]:
            values = tensor(data, start, entry)
            if values.isfinite().all() and values.abs().sum() > 0:
                yield name


def tensor(data, start, entry):
    begin, end = entry["data_offsets"]
    return torch.frombuffer(bytearray(data[start + begin : start + end]), dtype=DTYPES[entry["dtype"]])


def multiplied(data, name):
    start, header = split(data)
    entry = header[name]
    values = tensor(data, start, entry) * FACTORS[entry["dtype"]]
    begin, end = entry["data_offsets"]
    return data[: start + begin] + values.view(torch.uint8).numpy().tobytes() + data[start + end :], entry["dtype"]


def plant(adjoint, capture, graphs, count, seed):
    """[{"graph", "node", "dtype", "found", "answer"}] of `count` nodes of each of these graphs, drawn at random."""
    drawn, answers = random.Random(seed), []
    for graph, data in recorded_values(capture).items():
        nodes = list(plantable(data)) if graph in graphs else []
        giver = givers(capture, graph)
        for node in drawn.sample(nodes, min(count, len(nodes))):
            changed, dtype = multiplied(data, node)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "values.safetensors")
                with open(path, "wb") as out:
                    out.write(changed)
                found = adjoint.compare(capture, graph, path)
            hit = found["outcome"] == "differs" and found["where"] in (node, giver.get(node))
            answers.append({"graph": graph, "node": node, "dtype": dtype, "found": hit, "answer": found["outcome"]})
    return answers
