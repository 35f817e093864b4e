# SPDX-License-Identifier: MIT
"""Plants errors into recorded values and tests whether `compare` finds the node.

PyTorch's recorded node values are written to a file of values, with those of one node multiplied by slightly more than
one, or one of its elements changed relative to the largest; the node must be the first that "differs".  An error in one
of several results is found at the node that computes them.
"""

import json
import os
import random
import tempfile
import zipfile

import torch

DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32, "F64": torch.float64}
ROUNDOFF = {"BF16": 2**-8, "F16": 2**-11, "F32": 2**-24, "F64": 2**-53}
UNITS = {"BF16": 8, "F16": 8, "F32": 32, "F64": 32}  # size of a factor in u; tolerances reach it in f32 and f64
ELEMENT = 80  # error of one element, in units of the largest one


def givers(capture, graph):
    """Returns {node that takes one of several results: node that computes them}."""
    with zipfile.ZipFile(capture) as file:
        nodes = json.loads(file.read(f"graphs/{graph}.json"))["graph"]["nodes"]
    taken = (node for node in nodes if node.get("target") == "operator.getitem")
    return {node["name"]: node["args"][0]["$n"] for node in taken}


def recorded_values(capture):
    """Returns {graph: safetensors as bytes} for the joint and inference graphs with recorded nodes."""
    with zipfile.ZipFile(capture) as file:
        calls = json.loads(file.read("adjoint.json"))["calls"]
        taps = {c["graph"]: c["taps"]["f32"] for c in calls if "taps" in c and c["graph"].endswith(("-joint", "-inference"))}
        return {graph: file.read(f"tensors/{name}.safetensors") for graph, name in taps.items()}


def split(data):
    start = 8 + int.from_bytes(data[:8], "little")
    return start, json.loads(data[8:start])


def plantable(data):
    """Nodes with floating-point values that are finite and not all zero, so that a factor changes them."""
    start, header = split(data)
    for name, entry in header.items():
        if entry.get("dtype") in DTYPES and entry["data_offsets"][1] > entry["data_offsets"][0]:
            values = tensor(data, start, entry)
            if values.isfinite().all() and values.double().abs().sum() > 0:
                yield name


def tensor(data, start, entry):
    begin, end = entry["data_offsets"]
    return torch.frombuffer(bytearray(data[start + begin : start + end]), dtype=DTYPES[entry["dtype"]])


def multiplied(values, dtype, drawn):
    return values * (1 + UNITS[dtype] * ROUNDOFF[dtype])


def off_in_one(values, dtype, drawn):
    place = drawn.choice(values.nonzero().flatten().tolist())
    values[place] += ELEMENT * ROUNDOFF[dtype] * values.abs().max()
    return values


ERRORS = {"factor": multiplied, "element": off_in_one}


def spoiled(data, name, error, drawn):
    """Returns the file with that error in the values of one node, and their dtype."""
    start, header = split(data)
    entry = header[name]
    values = ERRORS[error](tensor(data, start, entry).double(), entry["dtype"], drawn).to(DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    return data[: start + begin] + values.view(torch.uint8).numpy().tobytes() + data[start + end :], entry["dtype"]


def plant(adjoint, capture, graphs, count, seed):
    """Returns [{"graph", "node", "dtype", "error", "found", "answer"}]: each error in `count` random nodes of each of
    these graphs."""
    drawn, answers = random.Random(seed), []
    for graph, data in recorded_values(capture).items():
        nodes = list(plantable(data)) if graph in graphs else []
        giver = givers(capture, graph)
        chosen = [(node, error) for error in ERRORS for node in drawn.sample(nodes, min(count, len(nodes)))]
        for node, error in chosen:
            changed, dtype = spoiled(data, node, error, drawn)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "values.safetensors")
                with open(path, "wb") as out:
                    out.write(changed)
                found = adjoint.compare(capture, graph, path)
            hit = found["outcome"] == "differs" and found["where"] in (node, giver.get(node))
            answers.append({"graph": graph, "node": node, "dtype": dtype, "error": error, "found": hit, "answer": found["outcome"]})
    return answers
