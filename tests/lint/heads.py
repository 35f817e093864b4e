# SPDX-License-Identifier: MIT
"""Checks that every .c begins with a comment that describes it in one to three lines; more may follow after a
blank line of that comment."""

import re
import sys

from sources import read, tracked

SPDX = "/* SPDX-License-Identifier: MIT */\n"
MAX_LINES = 3
HEAD = re.compile(r"/\*[^*].*?\*/", re.DOTALL)


def fault(text):
    """Returns the error in the head of @text, or None."""
    if not text.startswith(SPDX):
        return None  # reported by sizes.py
    head = HEAD.match(text[len(SPDX) :].lstrip("\n"))
    if not head:
        return "no head comment that says what the file is for"
    job = re.split(r"\n \*[ ]*\n", head.group())[0]
    lines = job.count("\n") + 1
    if lines > MAX_LINES:
        return f"the head says its job in {lines} lines, more than {MAX_LINES}"
    return None


def main():
    status = 0
    for path in tracked("*.c"):
        said = fault(read(path))
        if said:
            status = 1
            print(f"{path}:2: {said}")
    return status


if __name__ == "__main__":
    sys.exit(main())
