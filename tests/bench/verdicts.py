# SPDX-License-Identifier: MIT
"""Adjoint's answers on a capture: every graph compared with the recorded values, traced, partitioned, and diffed.

Each answer is a small dictionary whose "outcome" is one word and whose "cause" gives the reason, so that answers can be
counted; "where" and "what" name the first node.
"""

import json
import os
import re
import subprocess
import tempfile

COMPARED = ("dynamo", "joint", "forward", "backward", "inference")
EXITS = {0: "done", 1: "different", 2: "refused", 3: "nothing recorded"}


NOISE = (
    (r"^(\S*\.adjoint\S*: )+|pass '[^']*': | \(node .*$|; the nearest is .*$|; \w+: \w+\[.*$", ""),
    (r"adjoint\.json:\d+:\d+: |\w+ \(\S*\.py:\d+\): ", ""),
    (r"(?<!\w)/\S*/(?=\w)", ""),
    (r"cannot run '([^']*)' \(call_\w+\): Adjoint has no such operator", r"no operator \1"),
    (r"'[^'.:]*'", "'…'"),
    (r"(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?!\w)", "N"),
)


def cause_of(message):
    """Returns a message without names, shapes, numbers and paths of one file; operator names stay."""
    for pattern, other in NOISE:
        message = re.sub(pattern, other, message.strip())
    return message[:160]


class Adjoint:
    """Calls of the command line."""

    def __init__(self, program, timeout=300):
        self.program, self.timeout = program, timeout

    def call(self, *arguments):
        """Returns (exit status, standard output, last message)."""
        try:
            done = subprocess.run([self.program, *arguments], capture_output=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return "timed out", "", f"timed out after {self.timeout} s"
        said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        if done.returncode < 0:
            return "crashed", "", f"crashed by signal {-done.returncode}"
        return EXITS.get(done.returncode, "refused"), done.stdout.decode(errors="replace"), said[-1]

    def graphs(self, capture):
        """Returns [(id, role)] of a file, or the answer that gives the reason why it does not open."""
        how, out, said = self.call("show", capture, "--json")
        if how != "done":
            return {"outcome": how, "cause": cause_of(said)}
        return [(g["id"], g["role"]) for g in json.loads(out)["graphs"]]

    def compare(self, capture, graph, other="recorded"):
        how, out, said = self.call("compare", f"{capture}#{graph}", other, "--nodes", "--json")
        if how not in ("done", "different"):
            return {"outcome": how, "cause": cause_of(said)}
        found = json.loads(out)
        counts = {}
        for node in found["nodes"]:
            verdict = "unrecorded" if node.get("without_value") else node["verdict"]
            counts[verdict] = counts.get(verdict, 0) + 1
        answer = {"outcome": found["verdict"], "nodes": counts}
        if "failure" in found:
            answer.update(outcome="refused", cause=cause_of(found["failure"]))
        elif how == "different":
            first = found.get("first") or next(v["node"] for v in found["outputs"] if v["verdict"] == "differs")
            answer.update(outcome="differs", cause="differs", where=first)
            errors = [node.get("peer_to_float64") for node in found["nodes"] if node["node"] == first]
            answer["error"] = max((error for error in errors if error is not None), default=None)
        return answer

    def trace(self, capture, graph, out, *options):
        how, _, said = self.call("trace", f"{capture}#{graph}", *options, "-o", out)
        return None if how == "done" else {"outcome": how, "cause": cause_of(said)}

    def diff(self, ours, theirs, *options):
        how, out, said = self.call("diff", ours, theirs, *options, "--json")
        if how not in ("done", "different"):
            return {"outcome": how, "cause": cause_of(said)}
        found = json.loads(out)
        if how == "done":
            return {"outcome": "same", "same": found["same"]}
        first = found["changes"][0]
        return {"outcome": "other", "cause": cause_of(first["reason"]), "same": found["same"],
                "changes": len(found["changes"]), "where": first.get("b") or first.get("a")}


def diff_each(adjoint, capture, graph, roles, options, modulo):
    """Traces one graph and compares the result with the recorded graphs of these roles: {role: answer}."""
    region = graph.rpartition("-")[0]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "traced.adjoint")
        refused = adjoint.trace(capture, graph, out, *options)
        if refused:
            return {role: refused for role in roles}
        return {role: adjoint.diff(f"{out}#{region}-{role}", f"{capture}#{region}-{role}", *modulo) for role in roles}


def judge(adjoint, capture):
    """{"open": answer, "compare": {graph: answer}, "trace": {graph: answer}, "partition": {graph: answer}}.

    Dynamo's graphs are traced and compared with PyTorch's joint or inference graph; PyTorch's joint graphs are
    partitioned in compat mode and compared with its forward and backward graphs.
    """
    graphs = adjoint.graphs(capture)
    if isinstance(graphs, dict):
        return {"open": graphs}
    there = {name for name, _ in graphs}
    answers = {"open": {"outcome": "opened"}, "compare": {}, "trace": {}, "partition": {}}
    for name, role in graphs:
        region = name.rpartition("-")[0]
        if role in COMPARED:
            answers["compare"][name] = adjoint.compare(capture, name)
        if role == "dynamo":
            roles = [r for r in ("joint", "inference") if f"{region}-{r}" in there]
            for r, answer in diff_each(adjoint, capture, name, roles, ("--compat",), ("--modulo", "aot")).items():
                answers["trace"][f"{region}-{r}"] = answer
        if role == "joint":
            roles = [r for r in ("forward", "backward") if f"{region}-{r}" in there]
            for r, answer in diff_each(adjoint, capture, name, roles, ("--compat",), ()).items():
                answers["partition"][f"{region}-{r}"] = answer
    return answers
