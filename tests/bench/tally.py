# SPDX-License-Identifier: MIT
"""Counts entries by cause, and collects the errors among them."""

import collections
import fnmatch
import os
import textwrap

STAGES = {
    "capture": "recorded", "open": "captures opened", "compare": "graphs compared with what was recorded",
    "nodes": "nodes of these graphs", "trace": "graphs traced, against PyTorch's own",
    "partition": "graphs partitioned from PyTorch's joint graph, against PyTorch's own",
}  # fmt: skip
ABORTED = ("crashed", "timed out")
LACKING = "no operator "


def read_known(name):
    """Returns [(entry, graph, node, most, reason)]: patterns, the largest relative error of PyTorch's value against
    float64 that is known ("-" for any), and the reason why PyTorch is wrong there."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as lines:
        return [line.split(None, 4) for line in lines if line.strip() and not line.startswith("#")]


def knows(known, key, graph, answer):
    """Whether the row is of this place, and PyTorch's value no further off than it says."""
    place, most = (key, graph, answer["where"]), known[3]
    return all(map(fnmatch.fnmatchcase, place, known)) and (
        most == "-" or (answer.get("error") is not None and answer["error"] <= float(most)))  # fmt: skip


def named(answer):
    return ": ".join(filter(None, (answer["outcome"], answer.get("cause"))))


class Tally:
    """Counts of answers by stage, and lists of errors by kind."""

    def __init__(self, known):
        self.known = known
        self.counts = collections.defaultdict(collections.Counter)
        self.wrong = collections.defaultdict(collections.Counter)
        self.seconds = 0

    def add(self, entry):
        key = entry["key"]
        self.seconds += entry["seconds"]
        self.counts["capture"][named(entry)] += 1
        if entry["outcome"] in (*ABORTED, "raises when recorded"):
            self.wrong[named(entry)][key] += 1
        for stage, answers in entry.get("judged", {}).items():
            if stage == "open":
                self.add_opened(key, answers, entry)
                continue
            for graph, answer in answers.items():
                self.counts[stage][self.verdict(key, graph, answer)] += 1
                if stage == "compare":
                    self.counts["nodes"].update(answer.get("nodes", {}))

    def add_opened(self, key, answer, entry):
        """A file without a graph is correct if PyTorch compiled nothing and says so."""
        self.counts["open"][named(answer)] += 1
        if answer["outcome"] != "opened" and "nothing was compiled" not in answer["cause"]:
            self.wrong[f"does not open: {answer['cause']}"][key] += 1

    def verdict(self, key, graph, answer):
        if answer["outcome"] in ABORTED:
            self.wrong[named(answer)][f"{key}#{graph}"] += 1
        if answer["outcome"] != "differs":
            return named(answer)
        reason = next((k[4].strip() for k in self.known if knows(k, key, graph, answer)), None)
        if reason:
            return f"differs, PyTorch's own defect: {reason}"
        self.wrong["differs"][f"{key}#{graph} at {answer['where']}"] += 1
        return "differs"

    # -- as text --

    def lines(self):
        for stage, title in STAGES.items():
            counts = self.counts[stage]
            if counts:
                yield from ("", f"{sum(counts.values())} {title}", *stage_lines(counts))
        yield from ("", f"{sum(sum(c.values()) for c in self.wrong.values())} wrong")
        for what, places in self.wrong.items():
            yield f"{sum(places.values()):8}  {what}"
            yield from names(places)


def stage_lines(counts):
    """Most frequent first; operators that Adjoint lacks are one line and a list."""
    lacking = collections.Counter()
    for what, number in counts.most_common():
        if LACKING in what:
            lacking[what.split(LACKING)[1]] += number
        else:
            yield f"{number:8}  {what}"
    if lacking:
        yield f"{sum(lacking.values()):8}  refused for the lack of an operator ({len(lacking)} in all):"
        yield from names(lacking)


def names(counter):
    listed = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in counter.most_common())
    return textwrap.wrap(listed, 110, initial_indent=" " * 10, subsequent_indent=" " * 10, break_on_hyphens=False)
