# SPDX-License-Identifier: MIT
"""Checks the public interface: an installed header includes only installed headers; every function in it is
exported and has a comment, which gives the ownership of a returned pointer and, with a GError **, the
error code or another function with the same errors.  Comments mention only existing parameters (@name)
and functions.

A comment counts for the declarations that follow it without an empty line, or for the one in front of it.
A pointer to const is never owned by the caller, so its ownership need not be stated.
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
# An error code, or a function whose comment names codes.
FAILURE = re.compile(r"\b(?:ADJ_ERROR|G_\w*ERROR)_[A-Z]+|\bG_IO_ERROR\b|\b[Aa]s (?:of )?adj_\w+\(\)|\berrors of adj_\w+\(\)")


def installed():
    """Lists what core/meson.build installs in addition to adjoint.h, relative to core/."""
    table = HEADERS.search(read("core/meson.build")).group(1)
    for layer, names in re.findall(r"'(\w+)': \[(.*?)\]", table, re.DOTALL):
        for name in re.findall(r"'([\w-]+\.(?:h|inc))'", names):
            yield f"{layer}/{name}"


def hide(match):
    """Replaces a comment by blanks and keeps its lines."""
    return re.sub(r"[^\n]", " ", match.group(0))


def comment_of(text, start, end):
    """Returns the comments about the declaration at text[start:end]."""
    line_end = text.find("\n", end)
    behind = text[end:line_end]
    before = text[:start]
    block = before[before.rfind("\n\n") + 2 :]
    return " ".join(COMMENT.findall(block)[-1:] + COMMENT.findall(behind))


def block_of(text, start, end):
    """Returns the declarations adjacent to text[start:end], without an empty line between."""
    last = text.find("\n\n", end)
    return text[text.rfind("\n\n", 0, start) : last if last >= 0 else len(text)]


def strangers(comment, block):
    """Returns names that a comment uses as parameters although the functions in @block lack them."""
    return [name for name in re.findall(r"@(\w+)", comment) if not re.search(rf"\b{name}\b", block)]


def mentions(path, text, functions):
    """Returns functions mentioned in comments that users of the header cannot call."""
    for comment in COMMENT.finditer(text):
        for name in re.findall(r"\b(adj_\w+) ?\(", comment[0]):
            if name not in functions:
                line = text.count("\n", 0, comment.start()) + 1
                yield f"{path}:{line}: speaks of {name}(), which no installed header declares"


def declared(names):
    """Returns every function that installed headers declare, and every function-like macro."""
    return {name for header in names if header.endswith(".h") and not header.startswith("wrappers/")
            for name in re.findall(r"\b(adj_\w+) ?\(", COMMENT.sub("", read(f"core/{header}")))}


def check(path, known):
    text = read(path)
    yield from mentions(path, text, declared(known))
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
            continue
        for name in strangers(comment, block_of(bare, match.start(), match.end())):
            yield f"{place} has no parameter {name}, of which its comment speaks"
        if "GError **" in match[0] and not FAILURE.search(comment):
            yield f"{place} has a GError, and no comment says with which code it fails"
        if match["type"].strip().endswith("*") and "const" not in match["type"].split():
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
