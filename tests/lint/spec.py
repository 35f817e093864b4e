# SPDX-License-Identifier: MIT
"""Checks references to SPEC.md pages: the named pages, sections and goldens exist.

A reference is `ir/SPEC.md §5.2`: the page core/ir/SPEC.md has a heading "### 5.2 …". Within a page,
`§5.2` alone is a section of that page. Any other § is an invalid reference. A page names the
goldens of its statements in a separate paragraph,

    Goldens: `tests/aot/goldens.txt`: G1-G30, G85.

where the path is a file or a folder, and a name is a letter and a number; what follows the number
(G18-back-to-back, C18b) is a variant, G01 and the file g01.txt are G1. Each of these occurs there,
and each name with such a letter that a test of this folder (tests/aot) cites is on a page. What
stands as `tests/…`, `core/…` or `data/…` on a page exists, and so does each function, type or
constant `adj_…`, `Adj…`, `ADJ_…`.

Recorded files are not checked: files in folders called data or golden that are neither C nor Python, and
files that are not text.
"""

import re
import sys

from sources import ROOT, read, tracked

HEADING = re.compile(r"^#{2,4} (\d+(?:\.\d+)*)\.? ", re.MULTILINE)
GAP = r"(?:\s|\*|#|//)"  # between a page and its section, also if a comment continues on the next line
REFERENCE = re.compile(rf"(?<![\w.-])(?:core/)?([\w/]+)/SPEC\.md(?:`?{GAP}*§(\d+(?:\.\d+)*))?")
SECTION = re.compile(r"§(\d+(?:\.\d+)*)?")
GOLDENS = re.compile(r"^Goldens: `(tests/[^`]+)`:((?:.*\n)+?)(?:\n|\Z)", re.MULTILINE)
DECLARED = re.compile(r"\b([A-Z])(\d{1,2})[a-z]?(?:[-–][A-Z]?(\d{1,2}))?(?![\w-])")
CITED = re.compile(r"(?<![\w.])([A-Z])(\d{1,2})(?=[a-z]?(?!\w))")
STEM = re.compile(r"([a-z])(\d{1,2})(?!\d)")
DTYPES = {"F16", "F32", "F64", "I16", "I32", "I64", "U16", "U32", "U64", "C64"}
PATH = re.compile(r"`((?:tests|core|data)/[\w./-]+)`")
NAME = re.compile(r"`((?:adj|ADJ)_\w+|Adj[A-Z]\w+)(?: \(\))?`")
RECORDED = {"data", "golden"}


def is_written(path):
    """Whether @path was written by a person, not recorded by a program."""
    return path.suffix in (".c", ".h", ".py", ".inc") or not (
        path.parts[0] == "tests" and RECORDED & set(path.parts)
    )


def texts(*patterns):
    for path in tracked(*patterns):
        try:
            yield path, read(path)
        except UnicodeDecodeError:
            pass


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def layer(page):
    return page.parent.as_posix().removeprefix("core/")


def sections(pages):
    return {layer(path): set(HEADING.findall(text)) for path, text in pages.items()}


def wrong_references(path, text, known):
    """Returns pages and sections that do not exist, and each § that is not a reference."""
    good = set()
    for match in REFERENCE.finditer(text):
        page, section = match.groups()
        if page not in known:
            yield match.start(), f"there is no {page}/SPEC.md"
        elif section and section not in known[page]:
            yield match.start(), f"{page}/SPEC.md has no section {section}"
        if section:
            good.add(match.start(2) - 1)
    own = known[layer(path)] if path.name == "SPEC.md" else None
    for match in SECTION.finditer(text):
        if match.start() in good:
            continue
        if own is None:
            yield match.start(), f"{match.group()} of which page? Write layer/SPEC.md before it"
        elif match.group(1) not in own:
            yield match.start(), f"this page has no section {match.group(1)}"


def declared(text):
    """Returns (where, path, names) of each paragraph that names goldens."""
    for match in GOLDENS.finditer(text):
        names = set()
        for letter, first, last in DECLARED.findall(match.group(2)):
            names |= {f"{letter}{n}" for n in range(int(first), int(last or first) + 1)}
        yield match.start(), match.group(1), names


def cited(path, text):
    """Returns the names that a test cites: words of its text, and the name of its file."""
    words = CITED.findall(text)
    stem = STEM.match(path.stem)
    if stem:
        words.append((stem.group(1).upper(), stem.group(2)))
    return {f"{letter}{int(number)}" for letter, number in words if letter + number not in DTYPES}


def wrong_goldens(pages):
    tests = {
        path: cited(path, text) for path, text in texts("tests") if path.suffix in (".c", ".h", ".txt", ".json", ".py")
    }
    by_folder = {}
    for page, text in pages.items():
        on_page = set().union(*(names for _, _, names in declared(text)))
        letters = {name[0] for name in on_page}
        for name in sorted(name for name in cited(page, text) - on_page if name[0] in letters):
            yield f"{page}: {name} is in no paragraph of goldens"
        for offset, where, names in declared(text):
            by_folder.setdefault("/".join(where.split("/")[:2]), set()).update(names)
            found = set().union(*(tests[p] for p in tests if f"{p}/".startswith(f"{where.rstrip('/')}/")))
            for name in sorted(names - found):
                yield f"{page}:{line_of(text, offset)}: {where} has no {name}"
    for path, names in tests.items():
        known = by_folder.get("/".join(path.parts[:2]), set())
        letters = {name[0] for name in known}
        for name in sorted(name for name in names - known if name[0] in letters):
            yield f"{path}: {name} is on no page"


def wrong_names(page, text, symbols):
    for match in PATH.finditer(text):
        if not (ROOT / match.group(1)).exists():
            yield f"{page}:{line_of(text, match.start())}: there is no {match.group(1)}"
    for match in NAME.finditer(text):
        if match.group(1) not in symbols:
            yield f"{page}:{line_of(text, match.start())}: there is no {match.group(1)}"


def main():
    pages = dict(texts("core/*SPEC.md", "kernels/SPEC.md"))
    known = sections(pages)
    code = "".join(text for _, text in texts("core/*.[ch]", "core/*.inc", "kernels/*.[ch]", "data/programs/*.c", "tests/wrappers/*.c"))
    symbols = set(re.findall(r"\b(?:adj_|ADJ_|Adj[A-Z])\w+", code))
    complaints = [
        f"{path}:{line_of(text, offset)}: {what}"
        for path, text in texts()
        if is_written(path) and path.name != "spec.py"
        for offset, what in wrong_references(path, text, known)
    ]
    complaints += wrong_goldens(pages)
    for page, text in pages.items():
        complaints += wrong_names(page, text, symbols)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
