#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C file that holds the text of kernels, as the array of AdjKSource that HEADER declares:
embed-sources.py OUTPUT DEPFILE HEADER ARRAY KERNELS SOURCE…

Each source is followed by the files that it includes from KERNELS, directly or indirectly, with their paths there.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"|_ROWS "([^"]+)"', re.MULTILINE)


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def find(root, name, includer):
    """Returns the file in root that an include names; None: it is not in root."""
    for path in (name, os.path.join(os.path.dirname(includer), name)):
        if os.path.exists(os.path.join(root, path)):
            return os.path.normpath(path)
    return None


def collect(root, names):
    """Returns the texts of names and of everything they include, by path."""
    texts = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in texts:
            continue
        text = read(root, name)
        for one, other in INCLUDE.findall(text):
            path = find(root, one or other, name)
            if path is not None:
                text = text.replace(f'"{one or other}"', f'"{path}"')
                waiting.append(path)
        texts[name] = text
    return texts


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(f'    "{line}\\n"' for line in escaped.splitlines())


def main():
    output, depfile, header, array, root = sys.argv[1:6]
    texts = collect(root, [os.path.relpath(path, root) for path in sys.argv[6:]])
    with open(depfile, "w", encoding="utf-8") as out:
        out.write(f"{output}: {' '.join(os.path.join(root, name) for name in sorted(texts))}\n")
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'#include "{header}"\n\nconst AdjKSource {array}[] = {{\n')
        for name in sorted(texts):
            out.write(f'  {{ "{name}",\n{quoted(texts[name])} }},\n')
        out.write("  { NULL, NULL }\n};\n")


main()
