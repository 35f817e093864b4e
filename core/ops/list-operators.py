# SPDX-License-Identifier: MIT
"""Lists the families and the ids of their records: list-operators.py OUTPUT FAMILY.inc…

OUTPUT has one FAMILY (name) for each file, in the order given, and behind it one OP (id) for each of
its records.  It is rewritten only when it changes, so that editing a record compiles its family alone.
"""

import re
import sys
from pathlib import Path

RECORD = re.compile(r"^OP \((\w+),", re.MULTILINE)


def rows(path):
    yield f"FAMILY ({path.stem.replace('-', '_')})"
    for name in RECORD.findall(path.read_text(encoding="utf-8")):
        yield f"OP ({name})"


def main(output, *families):
    text = "".join(f"{row}\n" for family in families for row in rows(Path(family)))
    path = Path(output)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


main(*sys.argv[1:])
