# SPDX-License-Identifier: MIT
"""PyTorch's operator database as an oracle: bench-opdb.py ADJOINT STATE [--dtype float32] [--sample-of 100] ...

Some samples of each operator, spread over PyTorch's samples, are recorded by the capture module as a compiled training
step; `adjoint` opens the capture, compares all its graphs with the recorded values, traces them, and diffs the traced
graphs against PyTorch's own.  STATE is a folder with one line of JSON for each sample, so that an interrupted run of
the same build goes on, and several shards fill one table.  The status is 1 after a crash, a file that does
not open, a graph that "differs" and is not named in opdb-known.txt as PyTorch's own defect.  Without PyTorch the
benchmark is skipped (status 77).
"""

import argparse
import hashlib
import importlib.util
import json
import os
import sys

from recorder import State, Worker, add_options, examine, of_shard, show_table
from tally import Tally, read_known
from verdicts import Adjoint


def chosen(names, options):
    """Chooses the operators of this run deterministically."""
    by_hash = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    end = options.after + options.sample_of if options.sample_of else None
    return of_shard(sorted(by_hash[options.after : end]), options)


def run(worker, state, options):
    """Examines samples missing from the state; notes operators with fewer samples."""
    adjoint, found = Adjoint(options.adjoint), state.entries()
    names = chosen(worker.hello["ops"], options)
    for number, op in enumerate(names):
        for pick in range(options.samples):
            key = f"{op}-{pick}"
            if key not in found:
                found[key] = examine(adjoint, worker, key, {"op": op, "pick": pick, "of": options.samples}, options)
                state.add(found[key])
            if found[key]["outcome"] in ("none", "no samples"):
                break
        print(f"\r{number + 1} of {len(names)} operators", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def table(hello, found, options):
    tally = Tally(read_known("opdb-known.txt"))
    entries = [entry for entry in found.values() if entry["outcome"] != "none"]
    for entry in entries:
        tally.add(entry)
    operators = len({entry["key"].rpartition("-")[0] for entry in entries})
    sample = f" behind the first {options.after}" if options.after else ""
    title = (f"PyTorch {hello['torch']}, {options.dtype}, backend aot_eager: {operators} of the {len(hello['ops'])} entries "
             f"of its operator database{sample}, {tally.seconds / 60:.0f} min")  # fmt: skip
    return "\n".join([title, *tally.lines()]) + "\n", bool(tally.wrong)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sample-of", type=int, metavar="N", help="N operators, always the same")
    parser.add_argument("--after", type=int, default=0, metavar="N", help="the sample behind the first N operators")
    parser.add_argument("--samples", type=int, default=3, metavar="N", help="samples of each operator (3)")
    return parser.parse_args()


def main():
    if importlib.util.find_spec("torch") is None:
        print(json.dumps({"bench": "opdb", "skipped": "PyTorch is not installed"}))
        return 77
    options = parse()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    state = State(f"opdb-{options.dtype}", options)
    worker = Worker("opdb-capture.py", options.module, options.dtype)
    if "ops" not in worker.hello:
        print(f"the operator database does not load: {worker.hello['cause']}", file=sys.stderr)
        return 2
    run(worker, state, options)
    worker.close()
    text, wrong = table(worker.hello, state.entries(), options)
    show_table(text, options.table)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
