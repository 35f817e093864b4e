# SPDX-License-Identifier: MIT
"""What the tables of core/README.md name exists: files, and what is said to stand in them.

In a cell, `folder/file.c` is a file of core/; a name behind a colon after it, `adj_trace`, occurs in
that file.
"""

import re
import sys

from sources import ROOT, read

PAGE = "core/README.md"
FILE = re.compile(r"`([\w-]+/[\w./-]+\.(?:c|h|inc|md))`((?:: `\w+`)?)")


def check(number, cell):
    for path, named in FILE.findall(cell):
        name = named.strip(": `")
        if not (ROOT / "core" / path).exists() and not (ROOT / path).exists():
            yield f"{PAGE}:{number}: there is no core/{path}"
        elif name and not re.search(rf"\b{name}\b", read(f"core/{path}")):
            yield f"{PAGE}:{number}: core/{path} has no {name}"


def main():
    complaints = [
        complaint
        for number, line in enumerate(read(PAGE).splitlines(), 1)
        if line.startswith("|")
        for complaint in check(number, line)
    ]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
