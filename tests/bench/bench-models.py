# SPDX-License-Identifier: MIT
"""Real models, none of which is bundled: bench-models.py ADJOINT STATE [--variants f32,bf16,autocast] [--plant 3] ...

A training step of each model of zoo_written.py, zoo_science.py, zoo_further.py, zoo_networks.py, zoo_chance.py,
zoo_layers.py, zoo_regular.py, zoo_trained.py and zoo_libraries.py (libraries that are not installed are left out) is
recorded in each variant, and a step of each optimiser; every graph is compared with the recorded values, traced and
partitioned, and compared with PyTorch's own graphs.  Then errors are planted into recorded values of single nodes
(planted.py), each of which must be found.  STATE is as for bench-opdb.py, and so is what ends the run with status 1; the
defects of PyTorch are in models-known.txt.  Without PyTorch the benchmark is skipped (status 77).
"""

import argparse
import collections
import importlib.util
import json
import os
import sys

from recorder import State, Worker, add_options, examine, of_shard, show_table
from tally import Tally, read_known
from verdicts import Adjoint


def plant_each(adjoint, key, count):
    """examine() calls this with each capture that opens."""
    from planted import plant

    def more(capture, compared):
        right = [graph for graph, answer in compared.items() if answer["outcome"] in ("equal", "within")]
        return {"planted": plant(adjoint, capture, right, count, key)}

    return more


def run(worker, state, options):
    adjoint, found = Adjoint(options.adjoint), state.entries()
    variants = options.variants.split(",")
    jobs = {f"{model}-{v}": {"model": model, "variant": v} for model in worker.hello["models"] for v in variants}
    jobs.update({f"{name}-step": {"optimiser": name} for name in worker.hello["optimisers"]})
    names = of_shard(list(jobs), options)
    for number, key in enumerate(names):
        if key not in found:
            state.add(examine(adjoint, worker, key, jobs[key], options, plant_each(adjoint, key, options.plant)))
        print(f"\r{number + 1} of {len(names)} steps", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


# -- the table --


def row(entry):
    """Returns one line of figures for one step."""
    judged = entry.get("judged", {})
    if "compare" not in judged:
        return f"{entry['key']:32} {entry['outcome']}: {entry.get('cause', judged.get('open', {}).get('cause'))}"
    nodes = collections.Counter()
    for answer in judged["compare"].values():
        nodes.update(answer.get("nodes", {}))
    verdicts = collections.Counter(answer["outcome"] for answer in judged["compare"].values())
    planted = entry.get("planted", [])
    figures = [*(nodes[v] for v in ("equal", "within", "differs", "unrecorded")), len(judged["compare"]),
               *(verdicts[v] for v in ("equal", "within", "differs"))]  # fmt: skip
    same = [f"{sum(a['outcome'] == 'same' for a in judged[s].values())}/{len(judged[s])}" for s in ("trace", "partition")]
    found = f"{sum(p['found'] for p in planted)}/{len(planted)}"
    return f"{entry['key']:32} " + " ".join(f"{figure:>7}" for figure in (*figures, *same, found))


HEAD = f"{'':32} {'nodes:':>7} {'':23} {'graphs:':>7} {'':23} {'same:':>7}\n{'step':32} " + " ".join(
    f"{title:>7}" for title in ("equal", "within", "differ", "unrec.", "all", "equal", "within", "differ", "traced", "part.", "planted")
)  # fmt: skip


def planted_lines(entries):
    titles = {"factor": "multiplied", "element": "off in one element"}
    counts = collections.defaultdict(lambda: [0, 0])
    for planted in (planted for entry in entries for planted in entry.get("planted", [])):
        found = counts[planted["dtype"], planted["error"]]
        found[0] += planted["found"]
        found[1] += 1
    for (dtype, error), (found, count) in sorted(counts.items()):
        yield f"{count:8}  nodes of {dtype} {titles[error]}, {found} of them found"


def table(hello, entries, options):
    tally = Tally(read_known("models-known.txt"))
    for entry in entries:
        tally.add(entry)
    title = f"PyTorch {hello['torch']}: {len(entries)} training steps, {tally.seconds / 60:.0f} min"
    lines = [title, *tally.lines(), "", "planted", *planted_lines(entries), "", HEAD, *map(row, entries)]
    return "\n".join(lines) + "\n", bool(tally.wrong)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--variants", default="f32,bf16,autocast,checkpoint,budget,eval", metavar="NAMES")
    parser.add_argument("--plant", type=int, default=3, metavar="N", help="nodes of each graph that get an error (3)")
    return parser.parse_args()


def main():
    if importlib.util.find_spec("torch") is None:
        print(json.dumps({"bench": "models", "skipped": "PyTorch is not installed"}))
        return 77
    options = parse()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    state = State("models", options)
    worker = Worker("models-capture.py", options.module, seconds=600)
    if "models" not in worker.hello:
        print(f"the models do not load: {worker.hello['cause']}", file=sys.stderr)
        return 2
    run(worker, state, options)
    worker.close()
    text, wrong = table(worker.hello, list(state.entries().values()), options)
    show_table(text, options.table)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
