# SPDX-License-Identifier: MIT
"""Records samples in a child process and judges them, and keeps a state of finished samples."""

import hashlib
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time

from verdicts import judge

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.normpath(os.path.join(HERE, "..", "..", "data", "bridge", "adjoint_capture.py"))


class Worker:
    """The child process: one line of JSON out for each line in; restarted after a crash."""

    def __init__(self, script, *arguments, seconds=180):
        self.command = [sys.executable, os.path.join(HERE, script), *arguments]
        self.seconds = seconds
        self.start()

    def start(self):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.hello = self.read()

    def read(self):
        if not select.select([self.process.stdout], [], [], self.seconds)[0]:
            self.process.kill()
            self.process.wait()
            return {"outcome": "timed out", "cause": f"no answer in {self.seconds} s"}
        text = self.process.stdout.readline()
        while text and not text.startswith(b"{"):  # skip text printed while PyTorch is imported
            text = self.process.stdout.readline()
        if text:
            return json.loads(text)
        return {"outcome": "crashed", "cause": f"the process that records ended with {self.process.wait()}"}

    def ask(self, job):
        if self.process.poll() is not None:
            self.start()
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class State:
    """Results of this build so far: entries by key, one line of JSON each, in one file for each shard."""

    def __init__(self, kind, options):
        os.makedirs(options.state, exist_ok=True)
        build = hashlib.sha256()
        for path in (options.adjoint, options.module):
            with open(path, "rb") as source:
                build.update(source.read())
        self.folder, self.kind, self.build = options.state, kind, build.hexdigest()[:12]
        self.path = os.path.join(self.folder, f"{kind}-{options.shard.replace('/', 'of')}.jsonl")

    def entries(self):
        """Returns the entries of all shards."""
        found = {}
        for name in sorted(os.listdir(self.folder)):
            if re.fullmatch(rf"{self.kind}-\d+of\d+\.jsonl", name):
                with open(os.path.join(self.folder, name), encoding="utf-8") as lines:
                    entries = [json.loads(line) for line in lines if line.endswith("\n")]  # else it is incomplete
                found.update({entry["key"]: entry for entry in entries if entry["build"] == self.build})
        return found

    def add(self, entry):
        with open(self.path, "a", encoding="utf-8") as out:
            out.write(json.dumps({**entry, "build": self.build}) + "\n")


def recorded(worker, job, again):
    """Returns the worker's answer, or the stored one of a kept capture."""
    note = job["path"] + ".json"
    if again and os.path.exists(note):
        with open(note, encoding="utf-8") as text:
            return json.load(text)
    answer = worker.ask(job)
    with open(note, "w", encoding="utf-8") as text:
        json.dump(answer, text)
    return answer


def examine(adjoint, worker, key, job, options, more=None):
    """Records one job and judges it: an entry for the state.  `more` adds results for a capture that opens."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        job["path"] = os.path.join(options.keep or scratch, re.sub(r"[^\w-]", "_", key) + ".adjoint")
        entry = {"key": key, **recorded(worker, job, options.again)}
        if entry["outcome"] == "captured":
            entry["judged"] = judge(adjoint, job["path"])
            if more and "compare" in entry["judged"]:
                entry.update(more(job["path"], entry["judged"]["compare"]))
    return {**entry, "seconds": round(time.monotonic() - start, 2)}


def add_options(parser):
    parser.add_argument("adjoint")
    parser.add_argument("state", help="folder of what was found so far")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="every N-th, beginning with I")
    parser.add_argument("--only", default="", metavar="REGEX", help="by name")
    parser.add_argument("--module", default=MODULE, metavar="FILE", help="the capture module")
    parser.add_argument("--keep", metavar="DIR", help="keep the captures there")
    parser.add_argument("--again", action="store_true", help="judge the captures that --keep kept, where there are any")
    parser.add_argument("--table", metavar="FILE", help="write the table there, too")


def of_shard(names, options):
    index, count = map(int, options.shard.split("/"))
    return [name for name in names[index::count] if re.search(options.only, name)]


def show_table(text, path):
    print(text, end="")
    if path:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
