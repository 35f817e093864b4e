#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""leaks.py COMMAND…: runs a test under AddressSanitizer and fails on leaks of our code.

Leaks of the toolkit are ignored.  A list of suppressions cannot do that: the toolkit calls everything the
window does, so its name is in the stacks of our own leaks too."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LEAK = re.compile(r"Direct leak of .*")
FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ +(?:in (\S+) )?(.*)")
OURS = re.compile(r"\.\./(core|kernels|ui|app|tests)/")
TOOLKIT = "libgtk-4"
THREAD = "start_thread"


def is_ours(leak):
    """Whether our code made the allocation, also through a public function of the toolkit.  A stack without our code
    that ends where a thread begins belongs to a library's own thread; other such stacks were cut off."""
    public = False
    for name, where in FRAME.findall(leak):
        if OURS.match(where):
            return True
        if TOOLKIT in where:
            if public or not name:
                return False
            public = True
    return THREAD not in leak


def problems(log):
    """Returns the reports in a process's log that are no leaks of the toolkit."""
    if "ERROR: LeakSanitizer" not in log:
        return [log] if log.strip() else []
    blocks = log.split("\n\n")
    return [block for block in blocks if LEAK.match(block.strip()) and is_ours(block)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        for name, value in (
            ("ASAN_OPTIONS", f"abort_on_error=1:log_path={folder}/log"),
            ("LSAN_OPTIONS", "exitcode=0"),
        ):
            environment[name] = ":".join(filter(None, (os.environ.get(name), value)))
        status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        for path in sorted(Path(folder).iterdir()):
            for problem in problems(path.read_text(errors="replace")):
                print(problem, file=sys.stderr)
                status = status or 1
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
