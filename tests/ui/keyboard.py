# SPDX-License-Identifier: MIT
"""The workbench as those use it who see it through a screen reader and have no mouse: keys by the
X server, what is told by AT-SPI.  Prints TAP.

Whatever the window of shortcuts lists must have been done here, or the last test fails.

usage: keyboard.py WORKBENCH GRAPHS, in a session bus of its own and with a display"""

import os
import re
import subprocess
import sys
import time
import traceback

try:
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, Gio
except (ImportError, ValueError):
    print("1..0 # SKIP gir1.2-atspi-2.0 is not here")
    sys.exit(0)

WAIT = 60  # for anything: on a machine that is busy all takes long
NAMED = (
    "push button", "toggle button", "menu button", "check box", "list", "table", "image",
    "spin button", "combo box", "text",
)


def start_bus():
    """GTK asks for the bus of assistive technology once, when it starts: it has to be there."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None,
                  Gio.DBusCallFlags.NONE, WAIT * 1000)
    Atspi.init()
    until(lambda: Atspi.get_desktop(0).get_name() is not None, "the registry")


def until(ask, what):
    """Until ask() gives something; it may see half of a change."""
    end = time.time() + WAIT
    while time.time() < end:
        try:
            found = ask()
        except Exception:  # the object went meanwhile
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come")


def xdotool(*args):
    return subprocess.run(["xdotool", *args], capture_output=True, text=True).stdout


def has(o, state):
    return o is not None and o.get_state_set().contains(state)


def is_pressed(o):
    return has(o, Atspi.StateType.PRESSED) or has(o, Atspi.StateType.CHECKED)


def path_of(o):
    names = []
    while o and o.get_role_name() != "application":
        names.append(o.get_name() or o.get_role_name())
        o = o.get_parent()
    return " < ".join(names[1:7])


class Walk:
    def __init__(self, program, graphs, *files):
        self.graphs = graphs
        self.seen = None
        self.done = set()  # titles of what keys did
        self.process = subprocess.Popen(
            [program, *files], env={**os.environ, "G_DEBUG": "fatal-warnings"}
        )
        self.frame = until(self.find_frame, "the window")

    def close(self):
        self.process.terminate()
        self.process.wait()

    # -- what is told --

    def app(self):
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app and app.get_name() == "adjoint-workbench" and app.get_child_count():
                return app
        return None

    def find_frame(self):
        app = self.app()
        return app.get_child_at_index(0) if app else None

    def each(self, root=None, depth=0):
        root = root or self.frame
        yield root
        if depth > 40:
            return
        for i in range(min(root.get_child_count(), 250)):
            child = root.get_child_at_index(i)
            if child:
                yield from self.each(child, depth + 1)

    def everywhere(self):
        """With dialogs, which are frames of their own."""
        app = self.frame.get_application()
        for i in range(app.get_child_count()):
            child = app.get_child_at_index(i)
            if child:
                yield from self.each(child)

    def find(self, role, text):
        for o in self.everywhere():
            if o.get_role_name() == role and text in (o.get_name() or ""):
                return o
        return None

    def window(self, title):
        app = self.frame.get_application()
        for i in range(app.get_child_count()):
            child = app.get_child_at_index(i)
            if child and child.get_name() == title:
                return child
        return None

    def see(self, role, text):
        return until(lambda: self.find(role, text), f"{role} '{text}'")

    def gone(self, role, text):
        until(lambda: self.find(role, text) is None, f"the end of {role} '{text}'")

    def title(self):
        return self.frame.get_name()

    def view(self):
        """The canvas of the tab that is shown; the tree is walked only when it is another."""
        if self.seen is None or not self.seen.get_parent():
            self.seen = self.find("image", "Graph canvas")
        return self.seen

    def canvas(self):
        return self.view().get_description()

    def told(self, text):
        return until(lambda: text in self.canvas() and self.canvas(), f"'{text}' on the canvas")

    # -- what is pressed --

    def windows(self, title):
        ids = xdotool("search", "--onlyvisible", "--pid", str(self.process.pid), "--name",
                      f"^{re.escape(title)}$").split()
        return [i for i in ids if xdotool("getwindowname", i).rstrip("\n") == title]

    def focus(self, title=None):
        """Nobody manages windows here: the one of that title, of the document when there is none
        given, gets the keys; until the server says so."""
        def ask():
            for window in self.windows(title or self.title()):
                if xdotool("getwindowfocus").strip() == window:
                    return True
                xdotool("windowfocus", "--sync", window)
            return False

        until(ask, f"the focus on {title or 'the window'}")

    def key(self, *names):
        xdotool("key", "--delay", "20", *names)

    def type(self, text):
        xdotool("type", "--delay", "10", text)

    def on_canvas(self):
        """That of the tab that is shown: others are in the tree too."""
        self.focus()
        self.key("F6")
        self.seen = until(lambda: self.find_focused("image", "Graph canvas"), "the canvas")

    def find_focused(self, role, text):
        for o in self.each():
            if o.get_role_name() == role and text in (o.get_name() or "") and has(
                    o, Atspi.StateType.FOCUSED):
                return o
        return None

    def does(self, title, keys, ask, what=None):
        """The key of that title, in the window of shortcuts, and what can be seen of it."""
        self.key(*keys.split())
        result = until(ask, what or f"what {title} does")
        self.done.update(title if isinstance(title, (list, tuple)) else [title])
        return result

    def opens(self, title, keys, window):
        """The key opens a window of that title, which Escape closes."""
        self.does(title, keys, lambda: self.window(window), window)
        self.focus(window)
        self.key("Escape")
        until(lambda: not self.window(window), f"the end of {window}")
        self.focus()

    def run(self, *words):
        """By the palette, as everything can be."""
        self.focus()
        self.does("Find a Command", "ctrl+k", lambda: self.find_palette())
        self.type(" ".join(words))
        until(lambda: words[0].lower() in self.find_palette().get_description().lower(),
              f"{words} in the palette")
        self.key("Return")
        until(lambda: not self.find_palette(), "the end of the palette")

    def find_palette(self):
        return self.find("text", "Command, Graph, Module or Node")

    def open_graph(self, name, graph):
        path = os.path.join(self.graphs, name)
        self.focus()
        self.does("Open", "ctrl+o", lambda: self.window("Open a Graph"))
        self.focus("Open a Graph")
        self.key("ctrl+l")
        self.type(path)
        self.key("Return")
        until(lambda: self.title().startswith(name), name)
        self.focus()
        if graph:
            self.run(graph)


def moves(walk, before):
    return lambda: walk.canvas() != before and ", node " in walk.canvas()


def test_opens(walk):
    until(lambda: walk.title() == "Adjoint", "the start page")
    walk.see("label", "Open a Graph")
    walk.open_graph("mlp.adjoint", "0-0-joint")
    until(lambda: "Joint" in walk.title(), "the joint graph")


def test_walks_the_canvas(walk):
    walk.focus()
    walk.does("Go to the Canvas", "F6",
              lambda: has(walk.view(), Atspi.StateType.FOCUSED))
    walk.key("Escape")
    walk.told("No node is selected")
    walk.does("Nearest Node in a Direction", "Down", lambda: ", node " in walk.canvas())
    text = walk.canvas()
    assert " input" in text and " user" in text, text
    walk.does("Nearest Node in a Direction", "Down", moves(walk, text))


def find_node(walk, query):
    walk.focus()
    walk.does("Find Nodes", "ctrl+f",
              lambda: has(walk.find("entry", "GtkSearchEntry"), Atspi.StateType.FOCUSED))
    walk.type(query)
    walk.key("Return")
    walk.told(query.split(":")[1])
    walk.key("Escape")
    until(lambda: has(walk.view(), Atspi.StateType.FOCUSED), "the canvas")


def test_finds(walk):
    find_node(walk, "name:gelu_backward")
    walk.does("Twin in the Other Direction", "m", lambda: walk.canvas().startswith("gelu,"))
    walk.does("Next User of the Value", "Tab", lambda: not walk.canvas().startswith("gelu,"))
    before = walk.canvas()
    walk.does("First Input", "shift+Tab", moves(walk, before))
    before = walk.canvas()
    walk.does("Back", "alt+Left", moves(walk, before))
    walk.does("Forward", "alt+Right", lambda: walk.canvas() == before)
    find_node(walk, "name:view")
    before = walk.canvas()
    walk.does("Next Found Node", "ctrl+g", moves(walk, before))
    walk.does("Previous Found Node", "ctrl+shift+g", lambda: walk.canvas() == before)
    walk.on_canvas()
    walk.does("Select Nothing", "Escape", lambda: "No node is selected" in walk.canvas())


def test_opens_menus(walk):
    def first():
        return walk.find_focused("menu item", "Next User of the Value")

    find_node(walk, "name:gelu_backward")
    walk.does("Context Menu", "shift+F10", first)
    walk.key("Down", "Down", "Return")  # to the twin
    walk.told("gelu,")
    walk.does("Context Menu", "Menu", first)
    walk.key("Escape")
    until(lambda: has(walk.view(), Atspi.StateType.FOCUSED), "the canvas")


def test_copies_links(walk):
    find_node(walk, "name:relu")
    walk.key("ctrl+shift+c")
    walk.key("Escape")
    walk.told("No node is selected")
    # A link that is pasted leads back.
    walk.does("Copy Link", "ctrl+v", lambda: walk.canvas().startswith("relu,"))


def test_selects_several(walk):
    find_node(walk, "name:relu")
    walk.does("Select More", "shift+Down", lambda: walk.canvas().startswith("2 nodes are selected"))
    walk.see("label", "2 nodes")
    walk.key("ctrl+c")  # what there is to paste tells
    walk.does("Select All Nodes", "ctrl+a", lambda: int(walk.canvas().split()[0]) > 20)
    walk.does("Undo a Change of the View", "ctrl+z",
              lambda: walk.canvas().startswith("2 nodes are selected"))
    walk.does("Redo", "ctrl+shift+z", lambda: int(walk.canvas().split()[0]) > 20)
    walk.key("ctrl+z")
    walk.told("2 nodes are selected")


def test_follows_and_undoes(walk):
    find_node(walk, "name:gelu")
    flow, mirror = walk.see("push button", "Flow"), walk.see("push button", "Mirror")
    walk.does("Flow of the Selection", "f", lambda: is_pressed(flow))
    walk.does("Undo a Change of the View", "ctrl+z", lambda: is_pressed(mirror))
    walk.does("Redo", "ctrl+shift+z", lambda: is_pressed(flow))
    walk.does("Undo a Change of the View", "ctrl+z", lambda: is_pressed(mirror))


def zoom(walk):
    for o in walk.each():
        name = o.get_name() or ""
        if name.endswith(" %") and o.get_role_name() == "label":
            return name
    raise AssertionError("no zoom is told")


def changes(ask):
    before = ask()
    return lambda: ask() != before


def test_zooms(walk):
    find_node(walk, "name:relu")
    walk.does("Original Size", "ctrl+0", lambda: zoom(walk) == "100 %")
    walk.does("Zoom In", "ctrl+plus", lambda: zoom(walk) == "125 %")
    walk.does("Zoom Out", "ctrl+minus", lambda: zoom(walk) == "100 %")
    walk.does("Fit All", "Home", changes(lambda: zoom(walk)))
    walk.does("Fit the Selection", "ctrl+9", changes(lambda: zoom(walk)))
    walk.does("Fit All", "ctrl+Home", changes(lambda: zoom(walk)))


def test_runs_and_compares(walk):
    walk.focus()
    walk.does("Run", "F5", lambda: walk.find("label", "Ran 0-0-joint"))
    walk.does("Compare with Recorded", "shift+F5",
              lambda: walk.find("label", "agrees with what was recorded"))
    walk.on_canvas()
    walk.does("Colour by Role, Bytes, Time, Error", "c b", lambda: walk.find("label", "KiB –")
              or walk.find("label", "bytes –"))
    walk.key("c", "r")
    walk.does("Choose How to Run", "ctrl+F5",
              lambda: has(walk.find("combo box", "Inputs"), Atspi.StateType.FOCUSED))
    walk.on_canvas()
    walk.does("Go to the Bottom Panel", "shift+F6",
              lambda: not has(walk.view(), Atspi.StateType.FOCUSED))


def is_there(walk, name):
    return any(name in (o.get_name() or "") for o in walk.each())


def test_shows_parts(walk):
    def height():
        return walk.view().get_component_iface().get_size().y

    def sidebar():
        return is_pressed(walk.find("push button", "Show Graphs and Modules"))

    def inspector():
        return walk.view().get_component_iface().get_size().x

    find_node(walk, "name:relu")
    for title, key, ask in [("Show or Hide the Bottom Panel", "ctrl+F10", height),
                            ("Show or Hide Graphs and Modules", "F9", sidebar),
                            ("Show or Hide the Inspector", "ctrl+F9", inspector)]:
        before = ask()
        walk.does(title, key, lambda: ask() != before)
        walk.does(title, key, lambda: ask() == before)
    walk.on_canvas()
    walk.does("Source of the Node", "Return", lambda: is_there(walk, "models.py"))
    walk.does("Main Menu", "F10", lambda: is_there(walk, "Keyboard Shortcuts"))
    walk.key("Escape")
    until(lambda: not is_there(walk, "Keyboard Shortcuts"), "the end of the menu")


def test_asks(walk):
    walk.focus()
    walk.opens("Preferences", "ctrl+comma", "Preferences")
    walk.opens("Save As", "ctrl+shift+s", "Save As")
    walk.opens("Export Report", "ctrl+shift+r", "Export Report")
    walk.opens("Export Picture", "ctrl+shift+e", "Export Picture")


def test_traces(walk):
    walk.focus()
    walk.run("0-0-dynamo")
    until(lambda: "Captured" in walk.title(), "the captured graph")
    walk.does("Trace and Differentiate", "ctrl+d", lambda: "traced" in walk.title())
    until(lambda: "—" in walk.title(), "the traced graph")
    walk.does("Stage by Number", "alt+1", lambda: "Captured" in walk.title() or "stage" in
              walk.title().lower() or "—" in walk.title())
    before = walk.title()
    walk.does("Next Stage", "bracketright", lambda: walk.title() != before)
    walk.on_canvas()
    before = walk.canvas()
    walk.does("Next Change or Difference", "n", moves(walk, before))
    before = walk.canvas()
    walk.key("n")
    until(moves(walk, before), "the next change")
    walk.does("Previous Change or Difference", "p", lambda: walk.canvas() == before)
    before = walk.title()
    walk.does("Previous Stage", "bracketleft", lambda: walk.title() != before)
    walk.opens("Save", "ctrl+s", "Save As")  # no file has a trace
    question = "Save mlp.adjoint, traced?"
    walk.does("Close Tab", "ctrl+w", lambda: walk.window(question))
    walk.focus(question)
    walk.key("alt+d")
    until(lambda: "traced" not in walk.title(), "the end of the tab")


def test_has_tabs(walk):
    walk.focus()
    walk.does("New Tab", "ctrl+t", lambda: walk.title() == "Adjoint")
    walk.focus()
    walk.does("Next Tab, Previous Tab", "ctrl+Page_Up",
              lambda: walk.title().startswith("mlp.adjoint"))
    walk.focus()
    walk.does("Next Tab, Previous Tab", "ctrl+Page_Down", lambda: walk.title() == "Adjoint")
    walk.focus()
    # The names that were copied: text, but no graph.
    walk.does(["Paste a Graph as Text", "Copy Names of Selected Nodes"], "ctrl+v",
              lambda: walk.title() == "Pasted Text")
    walk.see("label", "This File Cannot Be Shown")
    walk.focus()
    walk.does("Close Tab", "ctrl+w", lambda: walk.title().startswith("mlp.adjoint"))
    walk.focus()


def test_names_everything(walk):
    """Whatever can be pressed, chosen or typed into has a name that a person would give it; but for
    the buttons inside a tab, which libadwaita makes, and which a tab that closes still shows."""
    bad = []
    for o in walk.each():
        name = o.get_name() or ""
        if o.get_role_name() in NAMED[:7] and (
            not name or name.startswith("_") or name.startswith("Gtk") or name.startswith("Adw")
        ) and "AdwTab <" not in path_of(o):
            bad.append(f"{o.get_role_name()} '{name}' in {path_of(o)}")
    assert not bad, "\n".join(bad)


def test_does_everything(walk):
    """What the window of shortcuts lists was done above."""
    walk.focus()
    walk.does("Keyboard Shortcuts", "F1", lambda: walk.window("Keyboard Shortcuts"))
    listed = walk.window("Keyboard Shortcuts")
    titles = set(list_titles(walk, listed))
    assert len(titles) > 40, titles
    walk.focus("Keyboard Shortcuts")
    walk.key("Escape")
    missing = titles - walk.done - ELSEWHERE
    assert not missing, f"not done by keyboard: {sorted(missing)}"


def list_titles(walk, window):
    """What stands after keys."""
    after = False
    for o in walk.each(window):
        if o.get_name() == "GtkShortcutLabel":
            after = True
        elif after and o.get_role_name() == "label" and (
                o.get_parent().get_name() != "GtkShortcutLabel"):
            after = False
            yield o.get_name()


# A window manager does these, or they end the program; tests/ui/test-commands.c activates them.
ELSEWHERE = {"Full Screen", "New Window", "Quit", "Stop", "Scroll", "Open or Close the Module"}
ELSEWHERE |= {"Find a Row of a List"}  # tests/ui/test-quick-find.c

TESTS = [
    test_opens,
    test_walks_the_canvas,
    test_finds,
    test_opens_menus,
    test_copies_links,
    test_selects_several,
    test_follows_and_undoes,
    test_zooms,
    test_runs_and_compares,
    test_shows_parts,
    test_asks,
    test_traces,
    test_has_tabs,
    test_names_everything,
    test_does_everything,
]


def passes(walk, test):
    try:
        test(walk)
        return True
    except Exception:
        print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
        return False


def main():
    program, graphs = sys.argv[1:3]
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    start_bus()
    walk = Walk(program, graphs)
    for i, test in enumerate(TESTS):
        begun = time.time()
        good = passes(walk, test)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i + 1} {test.__name__[5:]}"
              f" # {time.time() - begun:.1f} s", flush=True)
        if not good:
            walk.close()
            print(f"Bail out! {test.__name__[5:]}", flush=True)
            return True
    walk.close()
    return failed > 0


sys.exit(main())
