# SPDX-License-Identifier: MIT
"""The tracked C sources of the tree, for the checks beside this file."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    """Returns the paths, relative to ROOT, of tracked files that still exist."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return sorted(pathlib.Path(name) for name in names if name and (ROOT / name).exists())


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")
