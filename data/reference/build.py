# SPDX-License-Identifier: MIT
"""The reference of the installed headers: python3 data/reference/build.py BUILD writes HTML into
BUILD/docs.  A warning from doxygen is an error.

Meson lists the headers.  The first page lists them by layer, with the layer's description in
core/README.md, its README and its SPEC."""

import html
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LAYER = re.compile(r"^\| `(\w+)/` \| (.*) \|$", re.MULTILINE)


def installed(build):
    """The headers, from the source tree and the build folder."""
    out = subprocess.run(["meson", "introspect", str(build), "--installed"],
                         check=True, capture_output=True, text=True).stdout
    found = (pathlib.Path(source) for source, target in json.loads(out).items()
             if "/include/adjoint/" in target)
    return sorted(path for path in found if path.suffix == ".h")


def code(text):
    """Returns a cell of the README with its code and without its links."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", html.escape(text, quote=False))
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text).replace("@", r"\@").replace("#", r"\#")


def page_links(folder):
    for name in ("README.md", "SPEC.md"):
        if (folder / name).exists():
            yield f'<a href="{(folder / name).as_uri()}">{name}</a>'


def main_page(headers):
    """The text of the first page."""
    layers = dict(LAYER.findall((ROOT / "core/README.md").read_text(encoding="utf-8")))
    yield "/** \\mainpage Adjoint"
    yield "\\link core/adjoint.h adjoint.h \\endlink is for programs that use the library,"
    yield "\\link core/adjoint-extend.h adjoint-extend.h \\endlink for those that add to it."
    yield "<dl>"
    for layer, says in layers.items():
        files = [path.name for path in headers if path.parent.name == layer]
        if files:
            yield f"<dt><b>{layer}</b> {' '.join(page_links(ROOT / 'core' / layer))}</dt><dd>{code(says)}<br>"
            yield ", ".join(f"\\link {layer}/{name} {name} \\endlink" for name in files)
            yield "</dd>"
    yield "</dl> */"


def settings(build, headers):
    docs = build / "docs"
    yield (HERE / "Doxyfile").read_text(encoding="utf-8")
    yield f'OUTPUT_DIRECTORY = "{docs}"'
    yield "HTML_OUTPUT = ."
    yield f'FILTER_PATTERNS = "*.h=python3 {HERE / "filter.py"}"'
    for key, folders in (("STRIP_FROM_PATH", [ROOT / "core", build / "core"]),
                         ("INCLUDE_PATH", [ROOT / "core", build / "core"]),
                         ("INPUT", [docs / "main.dox", *headers])):
        yield f"{key} = " + " ".join(f'"{path}"' for path in folders)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    headers = installed(build)
    (build / "docs").mkdir(exist_ok=True)
    (build / "docs" / "main.dox").write_text("\n".join(main_page(headers)) + "\n", encoding="utf-8")
    return subprocess.run(["doxygen", "-"], input="\n".join(settings(build, headers)), text=True).returncode


if __name__ == "__main__":
    sys.exit(main())
