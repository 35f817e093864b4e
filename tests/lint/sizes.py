# SPDX-License-Identifier: MIT
"""Checks the limits beyond which a file or a function must be split along a noun."""

import re
import sys

from sources import read, tracked

MAX_LINES = {".c": 600, ".h": 300}
MAX_TEST_LINES = 800
MAX_FUNCTION = 100
EXEMPT_FUNCTIONS = re.compile(r"_class_init$")
NAME = re.compile(r"^(\w+) \(")


def functions(text):
    """Returns (name, first line, length) of each function; clang-format puts both braces in column 0."""
    name, start = None, None
    for number, line in enumerate(text.splitlines(), 1):
        match = NAME.match(line)
        if match:
            name = match.group(1)
        elif line == "{":
            start = number
        elif line == "}" and start and name:
            yield name, start, number - start - 1
            name, start = None, None


def main():
    status = 0
    for path in tracked("core/*.[ch]", "kernels/*.[ch]", "ui/*.[ch]", "app/*.[ch]", "tests/*.[ch]"):
        text = read(path)
        if not text.startswith("/* SPDX-License-Identifier: MIT */\n"):
            status = 1
            print(f"{path}:1: no SPDX line")
        lines = text.count("\n")
        limit = MAX_TEST_LINES if path.parts[0] == "tests" else MAX_LINES[path.suffix]
        if lines > limit:
            status = 1
            print(f"{path}: {lines} lines, more than {limit}")
        for name, line, length in functions(text):
            if length > MAX_FUNCTION and not EXEMPT_FUNCTIONS.search(name):
                status = 1
                print(f"{path}:{line}: {name} has {length} lines, more than {MAX_FUNCTION}")
    return status


if __name__ == "__main__":
    sys.exit(main())
