# SPDX-License-Identifier: MIT
"""Lists the records of the operator families: list-operators.py FAMILIES OPERATORS FAMILY.inc…

FAMILIES gets one FAMILY (name) for each file, in the order given, OPERATORS one OP (id) for each of their
records.  Each is rewritten only when it changes, so that editing a record recompiles only its family, and a
new record recompiles the callers of operators by id.
"""

import re
import sys
from pathlib import Path

RECORD = re.compile(r"^OP \((\w+),", re.MULTILINE)


def write(path, rows):
    text = "".join(f"{row}\n" for row in rows)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(families, operators, *names):
    paths = [Path(name) for name in names]
    write(Path(families), [f"FAMILY ({path.stem.replace('-', '_')})" for path in paths])
    write(Path(operators), [f"OP ({name})" for path in paths for name in RECORD.findall(path.read_text(encoding="utf-8"))])


main(*sys.argv[1:])
