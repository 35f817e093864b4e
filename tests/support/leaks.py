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

# Frames of an allocation in the first run.  Walking the stack takes most of a window's time, and this many tell nearly
# always whose a leak is.
SHORT = 8


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


def run(command, output=None, **options):
    """Runs a test; returns its status and the problems that the sanitizer found."""
    with tempfile.TemporaryDirectory() as folder:
        options |= {"abort_on_error": 1, "log_path": f"{folder}/log"}
        environment = dict(os.environ)
        for name, values in (("ASAN_OPTIONS", options), ("LSAN_OPTIONS", {"exitcode": 0})):
            given = [f"{key}={value}" for key, value in values.items()]
            environment[name] = ":".join(filter(None, [os.environ.get(name), *given]))
        status = subprocess.run(command, env=environment, stdout=output, check=False).returncode
        texts = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
        return status, [problem for text in texts for problem in problems(text)]


def main():
    status, found = run(sys.argv[1:], malloc_context_size=SHORT)
    if status == 0 and found and not any(OURS.search(problem) for problem in found):
        print("leaks.py: short stacks do not say whose some leaks are: once more with whole stacks", file=sys.stderr)
        status, found = run(sys.argv[1:], output=sys.stderr)
    for problem in found:
        print(problem, file=sys.stderr)
        status = status or 1
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
