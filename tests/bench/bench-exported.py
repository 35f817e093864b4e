#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench-exported.py [--only NAME,...] ADJOINT FOLDER PYTHON...: programs of torch.export, compared with PyTorch's results.

Each PYTHON (with its PyTorch) exports the models of exported_models.py; FOLDER keeps what it writes.  Prints the status
of "compare" and of "trace"; its own is 1 when one of the former is not 0."""
import argparse
import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).parent / "exported_models.py"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return done.returncode, said[-1] if said else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("adjoint")
    parser.add_argument("folder")
    parser.add_argument("pythons", nargs="+")
    options, bad = parser.parse_args(), 0
    print(f"{'release':8} {'model':14} {'compare':>7} {'trace':>5}  remarks")
    for python in options.pythons:
        release = subprocess.run([python, "-c", "import torch; print(torch.__version__.split('+')[0])"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        place = pathlib.Path(options.folder) / release
        subprocess.run([python, MODELS, place, *([options.only] if options.only else [])], check=True)
        for values in sorted(place.glob("*.outputs.pt")):
            name = values.name.removesuffix(".outputs.pt")
            program = f"{place / name}.pt2#model"
            compared, said = run(options.adjoint, "compare", program, values)
            traced, error = run(options.adjoint, "trace", program)
            bad += compared != 0
            print(f"{release:8} {name:14} {compared:7} {traced:5}  {said}{'; ' + error if traced else ''}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
