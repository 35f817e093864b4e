# SPDX-License-Identifier: MIT
"""The workbench as those use it who see it through a screen reader and have no mouse: keys by the
X server, what is told by AT-SPI.  Prints TAP.

usage: keyboard.py WORKBENCH GRAPHS, in a session bus of its own and with a display"""

import os
import subprocess
import sys
import time
import traceback

try:
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi
except (ImportError, ValueError):
    print("1..0 # SKIP gir1.2-atspi-2.0 is not here")
    sys.exit(0)

WAIT = 20


class Walk:
    def __init__(self, program, *files):
        self.process = subprocess.Popen(
            [program, *files], env={**os.environ, "G_DEBUG": "fatal-criticals"}
        )
        try:
            self.frame = self.wait(self.find_frame, "the window")
        except AssertionError:
            self.close()
            raise

    def close(self):
        self.process.terminate()
        self.process.wait()

    def wait(self, ask, what):
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

    def find_frame(self):
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app and app.get_name() == "adjoint-workbench" and app.get_child_count():
                return app.get_child_at_index(0)

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

    def see(self, role, text):
        return self.wait(lambda: self.find(role, text), f"{role} '{text}'")

    def key(self, *names):
        subprocess.run(["xdotool", "key", "--delay", "30", *names], check=True)

    def type(self, text):
        subprocess.run(["xdotool", "type", "--delay", "15", text], check=True)

    def focus(self):
        ids = subprocess.run(
            ["xdotool", "search", "--pid", str(self.process.pid)], capture_output=True, text=True
        ).stdout.split()
        for window in ids:
            subprocess.run(["xdotool", "windowfocus", window], capture_output=True)

    def title(self):
        return self.frame.get_name()

    def canvas(self):
        return self.find("image", "Graph canvas").get_description()

    def told(self, text):
        return self.wait(lambda: text in self.canvas() and self.canvas(), f"'{text}' on the canvas")


def test_opens(walk, graphs):
    walk.wait(lambda: walk.title() == "Adjoint", "the start page")
    walk.see("label", "Open a Graph")
    walk.focus()
    walk.key("ctrl+o")
    walk.wait(lambda: walk.find("text", "") and walk.frame.get_application().get_child_count() > 1,
              "the dialog")
    time.sleep(0.5)
    walk.focus()
    walk.type(os.path.join(graphs, "mlp.adjoint"))
    walk.key("Return")
    walk.wait(lambda: walk.title().startswith("mlp.adjoint"), "the file")


def test_walks_the_canvas(walk, graphs):
    walk.focus()
    walk.key("F6")
    walk.key("Down")
    first = walk.told(", node ")
    walk.key("Down")
    walk.wait(lambda: walk.canvas() != first and ", node " in walk.canvas(), "the next node")
    walk.key("ctrl+f")
    walk.type("name:gelu_backward")
    walk.key("Return")
    walk.told("gelu_backward")
    walk.key("Escape", "F6", "m")
    walk.told("gelu,")
    walk.key("Tab")
    walk.wait(lambda: not walk.canvas().startswith("gelu,"), "a user")
    walk.key("shift+Tab")
    walk.told(", node ")
    walk.key("alt+Left")
    walk.told(", node ")
    walk.key("Escape")
    walk.told("No node is selected")


def test_reads_every_node(walk, graphs):
    walk.focus()
    walk.key("F6", "Down")
    text = walk.told(", node ")
    assert " input" in text and " user" in text, text


def test_follows_and_undoes(walk, graphs):
    walk.focus()
    walk.key("F6", "Down", "f")
    flow = walk.see("push button", "Flow")
    walk.wait(lambda: is_pressed(flow), "the flow view")
    walk.key("ctrl+z")
    mirror = walk.see("push button", "Mirror")
    walk.wait(lambda: is_pressed(mirror), "the mirror view")
    walk.key("ctrl+shift+z")
    walk.wait(lambda: is_pressed(flow), "the flow view again")
    walk.key("ctrl+z")
    walk.wait(lambda: is_pressed(mirror), "the mirror view again")


def test_runs_and_compares(walk, graphs):
    walk.focus()
    walk.key("shift+F5")
    walk.see("label", "agrees with what was recorded")
    walk.key("F5")
    walk.see("label", "Ran 0-0-")
    walk.key("F6", "c", "t")
    walk.see("label", "µs")


def test_shows_parts(walk, graphs):
    def height():
        return walk.find("image", "Graph canvas").get_component_iface().get_size().y

    def sidebar():
        return is_pressed(walk.find("push button", "Show Graphs and Modules"))

    walk.focus()
    for key, ask in [("ctrl+F10", height), ("F9", sidebar)]:
        before = ask()
        walk.key(key)
        walk.wait(lambda: ask() != before, f"what {key} does")
        walk.key(key)
        walk.wait(lambda: ask() == before, f"what {key} does again")
    walk.key("F1")
    walk.see("frame", "Shortcuts")
    walk.focus()
    walk.key("Escape")


def test_has_tabs(walk, graphs):
    walk.focus()
    walk.key("ctrl+t")
    walk.wait(lambda: walk.title() == "Adjoint", "the new tab")
    walk.key("ctrl+Page_Up")
    walk.wait(lambda: walk.title().startswith("mlp.adjoint"), "the first tab")
    walk.key("ctrl+Page_Down", "ctrl+w")
    walk.wait(lambda: walk.title().startswith("mlp.adjoint"), "the tab that is left")


def test_names_everything(walk, graphs):
    """Whatever can be pressed, chosen or typed into has a name that a person would give it; but for
    the buttons inside a tab, which libadwaita makes, and which a tab that closes still shows."""
    roles = ("push button", "toggle button", "menu button", "check box", "list", "table", "image")
    bad = []
    for o in walk.each():
        name = o.get_name() or ""
        if o.get_role_name() in roles and (
            not name or name.startswith("_") or name.startswith("Gtk") or name.startswith("Adw")
        ) and "AdwTab <" not in path_of(o):
            bad.append(f"{o.get_role_name()} '{name}' in {path_of(o)}")
    assert not bad, "\n".join(bad)


def is_pressed(o):
    states = o.get_state_set()
    return states.contains(Atspi.StateType.PRESSED) or states.contains(Atspi.StateType.CHECKED)


def path_of(o):
    names = []
    while o and o.get_role_name() != "application":
        names.append(o.get_name() or o.get_role_name())
        o = o.get_parent()
    return " < ".join(names[1:7])


TESTS = [
    test_opens,
    test_walks_the_canvas,
    test_reads_every_node,
    test_follows_and_undoes,
    test_runs_and_compares,
    test_shows_parts,
    test_has_tabs,
    test_names_everything,
]


def passes(walk, test, graphs):
    """A key is lost when another window has the focus at that moment, which nobody can rule out on
    a busy machine: then a person presses it again.  What is broken fails twice."""
    for attempt in range(2):
        try:
            walk.focus()
            walk.key("Escape", "Escape")
            test(walk, graphs)
            return True
        except Exception:
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
    return False


def start(program):
    """GTK asks for the bus of assistive technology once, when it starts; a program that got no
    answer in time, because the bus was starting too, is not seen by anybody."""
    for attempt in range(2):
        try:
            return Walk(program)
        except AssertionError:
            print("# the window did not come, once more", flush=True)
    return Walk(program)


def main():
    program, graphs = sys.argv[1:3]
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    Atspi.init()
    walk = start(program)
    for i, test in enumerate(TESTS):
        good = passes(walk, test, graphs)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {i + 1} {test.__name__[5:]}", flush=True)
    walk.close()
    return failed > 0


sys.exit(main())
