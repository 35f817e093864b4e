# SPDX-License-Identifier: MIT
"""Checks which files include which.

A layer of core includes itself, the layers before it and the kernels; a layer of ui/ includes itself, those
before it and core; app/ includes core and ui/model.  A *-private.h stays in its folder.  A .c file includes its own header first, then
system headers, then others sorted.
"""

import re
import sys

from sources import read, tracked

# core/meson.build has the list of layers.
CORE = re.search(r"^core_layers = \[(.*?)^\]", read("core/meson.build"), re.MULTILINE | re.DOTALL)
LAYERS = ["kernels", *re.findall(r"'(\w+)'", CORE.group(1))]
# Layers in one row do not include each other.
UI_ROWS = [["model"], ["widgets"], ["canvas"], ["inspect", "sidebar", "stages", "panel"], ["window"]]
UI_LAYERS = {layer: row for row, layers in enumerate(UI_ROWS) for layer in layers}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]', re.MULTILINE)
TOOLKIT = re.compile(r"^(gtk|gdk|adwaita|gtksourceview|gsk)\b")
GRAPHVIZ = re.compile(r"^(graphviz/|gvc|cgraph)")
GLIB = re.compile(r"^(glib|gio|gobject|json-glib)")


def stands_above(target, layer):
    """Whether layer `layer` must not include layer `target`, both of ui/."""
    return target != layer and UI_LAYERS[target] >= UI_LAYERS[layer]


def layer_of(path):
    """Returns the index of a file's layer in LAYERS; None outside core and kernels."""
    if path.parts[0] == "kernels":
        return 0
    if path.parts[0] == "core" and len(path.parts) > 2:
        return LAYERS.index(path.parts[1])
    return None


def wrong_system(path, name):
    top = path.parts[0]
    if top in ("core", "kernels") and TOOLKIT.match(name):
        return "core knows no toolkit"
    if path.parts[:2] == ("ui", "model") and TOOLKIT.match(name):
        return "ui/model knows no toolkit"
    if top == "kernels" and GLIB.match(name):
        return "kernels know no GLib"
    if GRAPHVIZ.match(name) and path.parts[:3] != ("core", "layout", "helper"):
        return "only core/layout/helper links Graphviz"
    return None


def wrong_local(path, name):
    layer = layer_of(path)
    parts = name.split("/")
    target = parts[0] if len(parts) > 1 else None
    if name.endswith("-private.h") and path.parts[0] != "tests":
        folder = "/".join(path.parts[1:-1])
        if len(parts) > 1 and "/".join(parts[:-1]) != folder:
            return "a private header stays in its folder"
    if path.parts[0] == "ui" and target in UI_LAYERS and stands_above(target, path.parts[1]):
        return f"{path.parts[1]} does not stand above {target}"
    if layer is None or target is None:
        return None
    if target not in LAYERS:
        return None if layer == 0 else "not a layer"
    if LAYERS.index(target) > layer:
        return f"{LAYERS[layer]} stands below {target}"
    return None


def wrong_order(path, includes):
    """Checks the order: own header, then <system>, then "others" sorted; .inc tables may be anywhere."""
    headers = [(kind, name) for kind, name in includes if name.endswith(".h")]
    own = path.with_suffix(".h").name
    names = [name.split("/")[-1] for _, name in headers]
    if own in names:
        if names[0] != own:
            return f'"{own}" comes first'
        headers = headers[1:]
    kinds = [kind for kind, _ in headers]
    if kinds != sorted(kinds, key="<\"".index):
        return "system headers come before ours"
    ours = [name for kind, name in headers if kind == '"']
    if ours != sorted(ours):
        return "our headers are sorted"
    return None


def main():
    status = 0

    def complain(path, what):
        nonlocal status
        status = 1
        print(f"{path}: {what}")

    for path in tracked("core/*.[ch]", "core/*.inc", "kernels/*.[ch]", "ui/*.[ch]", "app/*.[ch]", "tests/*.[ch]"):
        includes = INCLUDE.findall(read(path))
        for kind, name in includes:
            what = wrong_system(path, name) if kind == "<" else wrong_local(path, name)
            if what:
                complain(path, f"includes {name}: {what}")
        what = wrong_order(path, includes) if path.suffix == ".c" else None
        if what:
            complain(path, what)
    return status


if __name__ == "__main__":
    sys.exit(main())
