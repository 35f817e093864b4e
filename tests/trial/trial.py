# SPDX-License-Identifier: MIT
"""Adds one thing of each kind to a copy of the tree: trial.py BUILD [KIND...], as ./dev trial runs it.

KIND/ contains the additions at their paths: a new file, or lines to append to a list.  The kinds are added one after
the other, built as far as their tests need it, and tested; a line reports the cost.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The tests for each kind, including its own.
TESTS = {
    "pass": ["trial-pass", "trace", "documents", "transcripts"],
    "check": ["trial-check", "aot-defects", "transcripts"],
    "format": ["trial-format", "text", "transcripts"],
    "executor": ["trial-executor", "transcripts"],
    "command": ["documents", "streams", "transcripts"],
    "program": ["programs", "aot-lessons"],
    # last, because files that these tests do not build would count for the next kind
    "operator": ["op-table", "op-oracle", "op-errors", "autograd-derivatives", "autograd-gradients",
                 "autograd-precision", "autograd-special", "wrappers"],
}
# Kinds that change transcripts which list or count things; those are updated by ./dev bless.
BLESSED = ("check", "format", "executor")


class Failed(Exception):
    """An error message, with the printed output."""


def run(command, what, **environment):
    done = subprocess.run(command, env=os.environ | environment, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failed(f"{what}\n{done.stdout[-8000:]}")
    return done.stdout


def copy_tree(build, tree):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    shutil.copytree(build, tree / "build", symlinks=True)
    run(["meson", "setup", "--reconfigure", tree / "build", tree], "cannot configure the copy")


def take_out(kind, tree):
    """Removes an existing operator of the tree, to be added again: no simple one is missing."""
    for path in filter(Path.is_file, (HERE / kind).rglob("*")):
        target = tree / path.relative_to(HERE / kind)
        if not target.exists():
            continue
        if path.suffix == ".gz":
            target.unlink()
        else:
            target.write_text(target.read_text().replace(path.read_text(), ""))


def add(kind, tree):
    """Adds the files; returns the former content by path, None for a new file."""
    before = {}
    for path in filter(Path.is_file, sorted((HERE / kind).rglob("*"))):
        target = tree / path.relative_to(HERE / kind)
        before[target] = target.read_bytes() if target.exists() else None
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "ab") as f:
            f.write(path.read_bytes())
    return before


def take_back(before):
    for target, content in before.items():
        if content is None:
            target.unlink()
        else:
            target.write_bytes(content)


def targets_of(tests, build):
    """Returns the executables of the named tests."""
    def introspect(what):
        return json.loads(run(["meson", "introspect", what, build], f"meson introspect {what} fails"))

    files = {target["id"]: target["filename"] for target in introspect("--targets")}
    known = {test["name"]: test for test in introspect("--tests")}
    for name in tests:
        if name not in known:
            raise Failed(f"there is no test {name}")
        yield from (os.path.relpath(f, build) for d in known[name]["depends"] for f in files.get(d, []))
        yield os.path.relpath(known[name]["cmd"][0], build)


def build_and_test(kind, build):
    """Returns the seconds that the build took, and the number of compiled objects."""
    began = time.monotonic()
    run(["ninja", "-C", build, "build.ninja"], "cannot configure")
    out = run(["ninja", "-C", build, *sorted(set(targets_of(TESTS[kind], build)))], "the build fails")
    seconds = time.monotonic() - began
    test = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--timeout-multiplier", "4"]
    if kind in BLESSED:
        run([*test, "transcripts"], "the transcripts cannot be written", ADJ_BLESS="transcripts")
    run([*test, *TESTS[kind]], "a test fails")
    return seconds, len(re.findall(r"\] Compiling C object", out))


def main(build, kinds):
    tree = Path(tempfile.mkdtemp(prefix="adjoint-trial-"))
    status = 0
    try:
        copy_tree(Path(build).resolve(), tree)
        take_out("operator", tree)
        run(["ninja", "-C", tree / "build"], "the copy does not build")
        for kind in kinds or TESTS:
            before = add(kind, tree)
            try:
                seconds, n = build_and_test(kind, tree / "build")
                print(f"{kind:<9} {seconds:5.0f} s, {n:3} objects rebuilt, {len(TESTS[kind])} tests passed", flush=True)
            except Failed as failure:
                print(f"{kind:<9} failed: {failure}", flush=True)
                take_back(before)
                status = 1
    finally:
        shutil.rmtree(tree)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
