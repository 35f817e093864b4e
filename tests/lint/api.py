# SPDX-License-Identifier: MIT
"""What programs see of the library: an installed header includes installed headers alone; every
function in it is exported and has a comment, and that of one that returns a pointer says whose it is.

A comment counts for the declarations that follow it without an empty line, or for the one that it
stands behind.  A pointer to something const is never the caller's, so nothing needs to be said.
"""

import re
import sys

from sources import read

HEADERS = re.compile(r"^public_headers = \{(.*?)^\}", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INLINE = re.compile(r"^static inline .*?^\}\n", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(
    r"^(?P<public>ADJ_PUBLIC\s+)?(?P<type>(?!typedef)[A-Za-z_][\w *]*?)\n?"
    r"\b(?P<name>adj_\w+) \([^;{]*?\)(?:\s*G_GNUC_\w+(?: \([^)]*\))?)*;",
    re.MULTILINE,
)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
OWNER = re.compile(r"\(transfer (full|none|container)\)")


def installed():
    """What core/meson.build installs beside adjoint.h, relative to core/."""
    table = HEADERS.search(read("core/meson.build")).group(1)
    for layer, names in re.findall(r"'(\w+)': \[(.*?)\]", table, re.DOTALL):
        for name in re.findall(r"'([\w-]+\.(?:h|inc))'", names):
            yield f"{layer}/{name}"


def hide(match):
    """A comment as blanks, its lines kept."""
    return re.sub(r"[^\n]", " ", match.group(0))


def comment_of(text, start, end):
    """The comments that speak of the declaration at text[start:end]."""
    line_end = text.find("\n", end)
    behind = text[end:line_end]
    before = text[:start]
    block = before[before.rfind("\n\n") + 2 :]
    return " ".join(COMMENT.findall(block)[-1:] + COMMENT.findall(behind))


def check(path, known):
    text = read(path)
    for name in INCLUDE.findall(text):
        if name not in known:
            yield f"{path}: includes {name}, which is not installed"
    bare = INLINE.sub(hide, COMMENT.sub(hide, text))
    for match in FUNCTION.finditer(bare):
        line = text.count("\n", 0, match.start("name")) + 1
        place = f"{path}:{line}: {match['name']}()"
        comment = comment_of(text, match.start(), match.end())
        if not match["public"]:
            yield f"{place} is not exported: ADJ_PUBLIC, or a header that is not installed"
        if not comment:
            yield f"{place} has no comment"
        elif match["type"].strip().endswith("*") and "const" not in match["type"].split():
            if not OWNER.search(comment):
                yield f"{place} returns a pointer, and no comment says (transfer full) or (transfer none)"


def main():
    known = ["adjoint.h", *installed(), "wrappers/adj-wrappers.h"]
    paths = ["core/adjoint.h", "core/adjoint-extend.h", *(f"core/{name}" for name in installed() if name.endswith(".h"))]
    complaints = [complaint for path in paths for complaint in check(path, known)]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
