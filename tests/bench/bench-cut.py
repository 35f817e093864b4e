# SPDX-License-Identifier: MIT
"""bench-cut.py BENCH_PARTITION: times cuts of the same networks by networkx, if it is installed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time


def read_network(path):
    import networkx

    lines = path.read_text().splitlines()
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(int(lines[0])))
    for line in lines[1:]:
        a, b, capacity = map(int, line.split())
        if graph.has_edge(a, b):
            graph[a][b]["capacity"] += capacity
        else:
            graph.add_edge(a, b, capacity=capacity)
    return graph


def cut(path):
    import networkx

    graph = read_network(path)
    start = time.process_time()
    value, _ = networkx.minimum_cut(graph, 0, 1)
    return value, (time.process_time() - start) * 1e3


def main():
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([sys.argv[1], folder], capture_output=True, text=True, check=True)
        try:
            import networkx
        except ImportError:
            print(json.dumps({"bench": "cut", "peer": "networkx", "missing": True}))
            return 0
        for line in map(json.loads, out.stdout.splitlines()):
            if line["bench"] != "cut":
                continue
            value, ms = cut(pathlib.Path(folder) / f"{line['layers']}.network")
            print(json.dumps({"bench": "cut", "peer": f"networkx {networkx.__version__}",
                              "layers": line["layers"], "ms": round(ms, 3),
                              "ratio": round(ms / line["ms"], 1), "same": value == line["value"]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
