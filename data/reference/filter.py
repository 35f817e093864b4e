# SPDX-License-Identifier: MIT
"""Doxygen's input filter: python3 data/reference/filter.py HEADER prints it with our comments in
doxygen's form.

A comment that stands above a declaration or behind it documents it, and with it those that follow
without an empty line.  One with an empty line below speaks of the file; dividers stay as they are.
No line moves, so that what doxygen says of a line is true of the header.
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
# A wrapper notes the line that calls it by a macro of its own name.
SAME_NAME = re.compile(r"^#define (\w+)\(cx, \.\.\.\) \1 .*$", re.MULTILINE)


def inline(text):
    """Prose: names of parameters, constants, code."""
    text = text.translate(ESCAPES)
    text = re.sub(r"%(NULL|TRUE|FALSE)\b", r"\1", text)
    text = re.sub(r"%(?=\w)", "%%", text)
    text = re.sub(r"@(\w+)", r"<em>\1</em>", text)
    text = text.replace("@", r"\@")
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def lines_of(body):
    """The lines of a comment without stars and indentation."""
    lines = body.split("\n")
    return [lines[0].lstrip("*").strip()] + [re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines[1:]]


def rows(lines):
    """Each line in doxygen's form: parameters, what is returned, tables as they stand."""
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
    """A comment in doxygen's form with as many lines as it has; @opening: "/**", "/**<" …"""
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
    """@text with every comment converted; a loose one speaks of the file, which is @name."""
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
            # In the place of the empty line above.
            out[-1] = out[-1].removesuffix("\n")
            out.append(convert(body, f"/** \\file {name}\n *"))
        else:
            out.append(indent + convert(body, "/**"))
    return "".join(out) + text[at:]


def has_own(lines):
    """Whether a comment stands behind the declaration that @lines begin with."""
    return "/**<" in "\n".join(lines).partition(";")[2].partition("\n")[0]


def share_comments(text):
    """A comment goes with each function that follows it without an empty line."""
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
