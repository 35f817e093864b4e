# SPDX-License-Identifier: MIT
"""Minimum cuts that networkx finds, for tests/partition/test-max-flow.c.

  make-cuts.py N SEED > cuts.txt

A line is a network: number of vertices, source, sink, value, vertices with the sink in the cut
nearest to it, and edges "from-to-capacity".
"""

import random
import sys

import networkx


def draw(rand):
    n = rand.randint(2, rand.choice([4, 6, 12]))
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    limit = rand.choice([1, 2, 3, 5, 10, 99, 2**40])
    for _ in range(rand.randint(1, 3 * n)):
        a, b = rand.randrange(n), rand.randrange(n)
        if a != b:
            graph.add_edge(a, b, capacity=rand.randint(0, limit))
    return graph


def line(graph):
    source, sink = 0, graph.number_of_nodes() - 1
    value, (_, side) = networkx.minimum_cut(graph, source, sink)
    edges = " ".join(f"{a}-{b}-{d['capacity']}" for a, b, d in graph.edges(data=True))
    mask = sum(1 << v for v in side)
    return f"{sink + 1} {source} {sink} {value} {mask} {edges}"


if __name__ == "__main__":
    drawn = random.Random(int(sys.argv[2]))
    for _ in range(int(sys.argv[1])):
        print(line(draw(drawn)))
