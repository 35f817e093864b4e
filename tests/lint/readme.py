# SPDX-License-Identifier: MIT
"""Checks that names on the README pages exist, and that each layer of core has such a page, with a picture of
its data flow, and a SPEC.md.

Checked on every page, in pictures too: functions, types and constants `adj_…`, `Adj…`, `ADJ_…`, and names
before "()"; in backticks: files and, with a slash at their end, folders, relative to the page, to core/ or to
the top, or built there by its meson.build; a file name without a folder matches any file. A star and the
words KIND and NAME match anything. Also checked are the targets of links.

In the tables of core/README.md `folder/file.c` is a file of core/; a name after a colon behind it,
`adj_trace`, occurs in that file.
"""

import fnmatch
import re
import sys

from sources import ROOT, read, tracked

MAP = "core/README.md"
FILE = re.compile(r"`([\w-]+/[\w./-]+\.(?:c|h|inc|md))`((?:: `\w+`)?)")
SYMBOL = re.compile(r"(?<![\w-])(?:(?:adj|ADJ)_|Adj[A-Z])\w*\*?")
CALLED = re.compile(r"(?<![\w.-])([A-Za-z_]\w+) ?\(\)")
PATH = re.compile(r"`([\w./*-]+\.(?:c|h|inc|py|md|ui|css|txt|json|build|sh|\*)|[\w./*-]+/)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
WORD = re.compile(r"\b[A-Za-z_]\w+")
PAGES = ("kernels", "app", "ui", "tests", "data", "data/programs")


def wrong_cells(number, line):
    for path, named in FILE.findall(line):
        name = named.strip(": `")
        if not (ROOT / "core" / path).exists() and not (ROOT / path).exists():
            yield f"{MAP}:{number}: there is no core/{path}"
        elif name and not re.search(rf"\b{name}\b", read(f"core/{path}")):
            yield f"{MAP}:{number}: core/{path} has no {name}"


def is_made(path):
    build = path.parent / "meson.build"
    return build.exists() and f"'{path.name}'" in build.read_text(encoding="utf-8")


def exists(page, path, names):
    if "/" not in path and fnmatch.filter(names, path):
        return True
    starts = (ROOT / page.parent, ROOT / "core", ROOT)
    return any(any(start.glob(path.rstrip("/"))) or is_made(start / path) for start in starts)


def open_ends(text):
    return re.sub("KIND|NAME", "*", text)


def wrong_names(page, line, words, names):
    for name in SYMBOL.findall(line):
        if name not in words and not fnmatch.filter(words, open_ends(name)):
            yield f"there is no {name}"
    for name in CALLED.findall(line):
        if name not in words:
            yield f"there is no {name}()"
    for path in PATH.findall(open_ends(line)):
        if path[0] != "/" and not exists(page, path, names):
            yield f"there is no {path}"
    for path in LINK.findall(line):
        if not (ROOT / page.parent / path).exists():
            yield f"there is no {path}"


def main():
    pages = tracked("*README.md")
    sources = tracked("*.c", "*.h", "*.inc", "*.in", "*.py")
    words = {word for path in sources for word in WORD.findall(read(path))}
    names = {path.name for path in tracked()}
    layers = {path.parent.as_posix() for path in tracked("core/*/meson.build") if len(path.parts) == 3}
    complaints = [
        f"{folder}: there is no README.md"
        for folder in sorted(layers.union(PAGES))
        if not any(page.parent.as_posix() == folder for page in pages)
    ]
    complaints += [f"{folder}: there is no SPEC.md" for folder in sorted(layers) if not (ROOT / folder / "SPEC.md").exists()]
    complaints += [f"{page}: has no picture" for page in pages
                   if page.parent.as_posix() in layers and "```" not in read(page)]
    for page in pages:
        for number, line in enumerate(read(page).splitlines(), 1):
            complaints += [f"{page}:{number}: {what}" for what in wrong_names(page, line, words, names)]
            if page.as_posix() == MAP and line.startswith("|"):
                complaints += wrong_cells(number, line)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
