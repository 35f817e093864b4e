# SPDX-License-Identifier: MIT
"""Doxygen's input filter: python3 data/reference/filter.py HEADER prints it with our comments in
doxygen's form.

A comment above or behind a declaration documents it and the declarations that follow without an
empty line.  One with an empty line below documents the file; dividers are not changed.  The number
of lines stays the same, so that doxygen's line numbers are those of the header.
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"[ \t]*/\*(.*?)\*/", re.DOTALL)
DIVIDER = re.compile(r"\s*-- .* --\s*$", re.DOTALL)
NAMED = re.compile(r"^(\w+):\s*(?:$|\n)")
PARAMETER = re.compile(r"^@([\w.]+): ?(.*)$")
RETURNS = re.compile(r"^Returns: ?(.*)$")
ESCAPES = str.maketrans({"\\": r"\\", "<": "&lt;", ">": "&gt;", "#": r"\#", "&": "&amp;", '"': "&quot;"})
# A wrapper records the line of its caller by a macro of its own name.
SAME_NAME = re.compile(r"^#define (\w+)\(cx, \.\.\.\) \1 .*$", re.MULTILINE)


def inline(text):
    """Converts prose: names of parameters, constants, code."""
    text = text.translate(ESCAPES)
    text = re.sub(r"%(NULL|TRUE|FALSE)\b", r"\1", text)
    text = re.sub(r"%(?=\w)", "%%", text)
    text = re.sub(r"@(\w+)", r"<em>\1</em>", text)
    text = text.replace("@", r"\@")
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def lines_of(body):
    """Returns the lines of a comment without stars and indentation."""
    lines = body.split("\n")
    return [lines[0].lstrip("*").strip()] + [re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines[1:]]


def rows(lines):
    """Returns each line in doxygen's form: parameters, return values, tables unchanged."""
    verbatim = False
    for number, line in enumerate(lines):
        indented = line.startswith("  ") and not (number and lines[number - 1].startswith(("@", "Returns")))
        table = indented and (verbatim or number == 0 or lines[number - 1] == "" or
                              lines[number - 1].endswith(":"))
        if table != verbatim:
            verbatim = table
            yield (r"\verbatim " if table else r"\endverbatim ") + (line if table else inline(line))
        elif verbatim:
            yield line
        elif match := PARAMETER.match(line):
            yield rf"\param {match[1]} {inline(match[2])}"
        elif match := RETURNS.match(line):
            yield rf"\return {inline(match[1])}"
        else:
            yield inline(line)
    if verbatim:
        yield r"\endverbatim"


def convert(body, opening):
    """Returns a comment in doxygen's form with the same number of lines; @opening: "/**", "/**<" …"""
    named = body.startswith("*")
    lines = lines_of(body)
    if named and len(lines) > 1 and NAMED.match(lines[1]):
        lines[1] = ""
    if not named:
        lines = [re.sub(r"^@(\w+): ", r"`\1`: ", line) for line in lines]
    if len(lines) == 1:
        return f"{opening} {inline(lines[0])} */"
    out = list(rows(lines))
    last = out[len(lines) - 1:]
    return f"{opening} " + "\n * ".join(out[: len(lines) - 1] + [" ".join(last)]) + " */"


def replace_comments(text, name):
    """Returns @text with every comment converted; a free-standing one documents the file @name."""
    out, at = [], 0
    for match in COMMENT.finditer(text):
        body, before, behind = match[1], text[at:match.start()], text[match.end():]
        out.append(before)
        at = match.end()
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        indent = match[0][: match[0].index("/")]
        if DIVIDER.match(body) or body.startswith(" SPDX") or line.lstrip().startswith("#"):
            out.append(match[0])
        elif line.strip():
            out.append(indent + convert(body, "/**<"))
        elif behind.startswith("\n\n"):
            # In place of the empty line above.
            out[-1] = out[-1].removesuffix("\n")
            out.append(convert(body, f"/** \\file {name}\n *"))
        else:
            out.append(indent + convert(body, "/**"))
    return "".join(out) + text[at:]


def has_own(lines):
    """Whether a comment follows the declaration that @lines begins with."""
    return "/**<" in "\n".join(lines).partition(";")[2].partition("\n")[0]


def share_comments(text):
    """Repeats a comment for each function that follows it without an empty line."""
    shared, taken, inside, out = None, False, False, []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if inside:
            inside = "*/" not in line
        elif line == "":
            shared = None
        elif match := re.match(r"/\*\* (?!\\file)(.*?)\*/", "\n".join(lines[number:]), re.DOTALL):
            shared, taken = re.sub(r"\s*\n \*\s*", " ", match[1]), False
            inside = "*/" not in line
        elif line.startswith("ADJ_PUBLIC") and shared and taken and not has_own(lines[number:]):
            line = f"/** {shared}*/ {line}"
        elif not line.startswith(" "):
            taken = True
        out.append(line)
    return "\n".join(out)


def main():
    path = pathlib.Path(sys.argv[1])
    text = SAME_NAME.sub("//", path.read_text(encoding="utf-8"))
    print(share_comments(replace_comments(text, "/".join(path.parts[-2:]))), end="")


if __name__ == "__main__":
    main()
