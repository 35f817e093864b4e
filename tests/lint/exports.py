# SPDX-License-Identifier: MIT
"""Counts the callers of exported functions: python3 tests/lint/exports.py [--list].

Of the functions that installed headers declare beside the generated wrappers: how many are called
from outside core (ui, app, data, the README, tests that include installed headers alone), how many
by other tests only, and how many by core alone; those of adjoint.h, then those that
adjoint-extend.h adds.  --list names the latter two.  What an inline function or a macro of an
installed header calls counts as called from outside.

Fails if more functions than LIMITS are called by core only: a function without callers outside of core is no
interface and belongs into a header that is not installed."""

import re
import sys
from pathlib import Path

from api import COMMENT, FUNCTION, INLINE, hide, installed
from sources import read, tracked

INCLUDE = re.compile(r'^#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)
WORD = re.compile(r"\badj_\w+")
MACRO = re.compile(r"^#define (?:.*\\\n)*.*\n", re.MULTILINE)
CORE = {"/".join(path.parts[1:]) for path in tracked("core/*.h")}
TESTS = set(tracked("tests/*.[ch]"))
LIMITS = {"adjoint.h": 46, "adjoint-extend.h beside it": 42}
PUBLIC = {"adjoint.h", "adjoint-extend.h", "wrappers/adj-wrappers.h", *installed()}


def exported():
    """By name: the installed header that declares the function."""
    owner = {}
    for header in installed():
        text = INLINE.sub(hide, COMMENT.sub(hide, read(f"core/{header}")))
        for match in FUNCTION.finditer(text):
            if match["public"]:
                owner[match["name"]] = header
    return owner


def words(text):
    return set(WORD.findall(COMMENT.sub("", text)))


def by_headers():
    """Functions called by inline functions, macros and clean-up declarations of installed headers."""
    found = set()
    for header in installed():
        text = COMMENT.sub(hide, read(f"core/{header}"))
        for piece in [*INLINE.findall(text), *MACRO.findall(text)]:
            found |= words(piece)
        found |= set(re.findall(r"^G_DEFINE_AUTO\w+ \(\w+, (adj_\w+)\)", text, re.MULTILINE))
    return found


def beside(path, name):
    """Returns the test header that @path includes as @name."""
    for folder in (path.parent, Path("tests")):
        if folder / name in TESTS:
            yield folder / name


def looks_inside(path):
    """Whether a test includes headers of core that are not installed, itself or through test headers."""
    seen, todo = set(), [path]
    while todo:
        at = todo.pop()
        seen.add(at)
        for name in INCLUDE.findall(read(at)):
            if name in CORE - PUBLIC or name.startswith("adj-kernel"):
                return True
            todo += [found for found in beside(at, name) if found not in seen]
    return False


def closure(name):
    """Returns the headers of core that @name includes, directly or indirectly."""
    seen, todo = set(), [name]
    while todo:
        at = todo.pop()
        seen.add(at)
        todo += [found for found in INCLUDE.findall(read(f"core/{at}")) if found in CORE - seen]
    return seen


def callers():
    """Returns the functions called from outside core, and by tests that look inside."""
    outside, inside = by_headers(), set()
    for path in tracked("ui/*.[ch]", "app/*.[ch]", "data/*.[ch]", "README.md"):
        outside |= words(read(path))
    for path in TESTS:
        (inside if looks_inside(path) else outside).update(words(read(path)))
    return outside, inside - outside


def main():
    owner = exported()
    user = closure("adjoint.h")
    outside, inside = callers()
    status = 0
    for title, names in (("adjoint.h", [n for n in owner if owner[n] in user]),
                         ("adjoint-extend.h beside it", [n for n in owner if owner[n] not in user])):
        test = sorted((owner[n], n) for n in names if n in inside)
        core = sorted((owner[n], n) for n in names if n not in outside | inside)
        print(f"{title}: {len(names)} functions exported, {len(names) - len(test) - len(core)} called from outside"
              f" core, {len(test)} by tests that look inside only, {len(core)} by core alone")
        if "--list" in sys.argv:
            for who, rows in (("tests", test), ("core", core)):
                for header, name in rows:
                    print(f"  {who:6} {header:42} {name}")
        if len(core) > LIMITS[title]:
            status = 1
            print(f"{title}: at most {LIMITS[title]} may be called by core alone")
    return status


if __name__ == "__main__":
    sys.exit(main())
