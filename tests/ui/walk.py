# SPDX-License-Identifier: MIT
"""Drives the workbench like a user with a screen reader and without a mouse: keys through the X server, output
through AT-SPI."""

import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, Gio, GLib
except (ImportError, ValueError):
    print("1..0 # SKIP gir1.2-atspi-2.0 is not here")
    sys.exit(0)

WAIT = 60  # seconds; long enough for a busy machine
STOPS = 120  # Tab presses, before the focus is assumed to go round in circles
# Their content is in the names of rows; thousands of cells are not visited.
ROWS = ("table row", "list item")


def until(ask, what, seconds=WAIT):
    """Waits until ask() returns a value; it may see an incomplete change."""
    end = time.monotonic() + seconds
    while True:
        while GLib.MainContext.default().iteration(False):
            pass
        failure = None
        try:
            found = ask()
        except (GLib.Error, AttributeError, StopIteration) as error:  # the object was removed meanwhile
            found, failure = None, error
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what() if callable(what) else what} did not come") from failure
        time.sleep(0.02)


def xdotool(*args):
    return subprocess.run(["xdotool", *args], capture_output=True, text=True).stdout


def has(o, state):
    return o is not None and o.get_state_set().contains(state)


def is_pressed(o):
    return has(o, Atspi.StateType.PRESSED) or has(o, Atspi.StateType.CHECKED)


def text_of(o):
    text = o.get_text_iface()
    return Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))


# Newer versions of GTK use another role for what GTK 4.8 calls a push button.
BUTTONS = ("button", "toggle button")


def role_of(o):
    role = o.get_role_name()
    return "push button" if role in BUTTONS else role


def path_of(o):
    """Returns the object and its ancestors, innermost first."""
    names = []
    while o and role_of(o) != "application":
        names.append(f"{role_of(o)} '{o.get_name() or ''}'")
        o = o.get_parent()
    return " in ".join(names[:5])


def has_name(o):
    """Whether a person gave it a name: GTK uses the class name if there is none.  In newer versions a widget that
    shows a state has a text instead."""
    name = o.get_name() or (text_of(o) if role_of(o) == "status bar" else "")
    words = name.split(" ")
    half = len(words) // 2
    return (name != "" and not re.match("_[A-Z]|Gtk[A-Z]|Adw[A-Z]|Adj[A-Z]", name)
            and not (len(words) % 2 == 0 and words[:half] == words[half:]))


def around(o, name):
    """Returns the nearest ancestor of @o with this name."""
    while o.get_name() != name:
        o = o.get_parent()
    return o


def is_in(o, name):
    while o and o.get_name() != name:
        o = o.get_parent()
    return o is not None


class Walk:
    def __init__(self, program, *files):
        self.canvases = None
        self.done = set()  # titles of shortcuts that were used
        self.focused = None
        self.listener = Atspi.EventListener.new(self.on_focused)
        self.listener.register("object:state-changed:focused")
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([program, *files], stderr=self.said)
        self.frame = until(self.find_frame, "the window")

    def on_focused(self, event):
        if event.detail1:
            self.focused = event.source

    def complaints(self):
        """Warnings of the window, except those about an object that GTK 4.8 had just closed, and about libadwaita
        1.7's measuring of the heading of its message dialog."""
        self.said.seek(0)
        return [line for line in self.said if re.search(r"-(WARNING|CRITICAL) \*\*", line)
                and "g_variant_is_object_path" not in line
                and "Trying to measure GtkLabel" not in line]

    def close(self):
        self.process.terminate()
        self.process.wait()

    # -- output --

    def app(self):
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app and app.get_name() == "adjoint-workbench" and app.get_child_count():
                return app
        return None

    def frames(self):
        app = self.app()
        return [app.get_child_at_index(i) for i in range(app.get_child_count())]

    def find_frame(self):
        return self.frames()[0]

    def each(self, root=None, depth=0):
        root = root or self.frame
        yield root
        if depth > 40 or (depth > 0 and role_of(root) in ROWS):
            return
        for i in range(min(root.get_child_count(), 250)):
            child = root.get_child_at_index(i)
            if child:
                yield from self.each(child, depth + 1)

    def everywhere(self):
        """Includes dialogs, which are frames of their own."""
        for frame in self.frames():
            if frame:
                yield from self.each(frame)

    def find(self, role, text, root=None):
        for o in self.each(root) if root else self.everywhere():
            if role_of(o) == role and text in (o.get_name() or ""):
                return o
        return None

    def see(self, role, text, root=None):
        return until(lambda: self.find(role, text, root), f"{role} '{text}'")

    def window(self, title):
        return next((frame for frame in self.frames() if frame and frame.get_name() == title), None)

    def title(self):
        return self.frame.get_name()

    def canvas(self):
        """The canvas of the visible tab."""
        if not self.is_there(self.canvases):
            self.canvases = self.find("image", "Graph canvas", self.frame)
        return self.canvases

    @staticmethod
    def is_there(found):
        """Whether it is still shown; asking for a removed object fails."""
        try:
            return found is not None and found.get_parent() is not None
        except GLib.Error:
            return False

    def told(self):
        """Returns the canvas's description of the selection."""
        return self.canvas().get_description()

    def tells(self, text):
        return until(lambda: text in self.told() and self.told(),
                     lambda: f"'{text}' instead of '{self.told()}' on the canvas")

    def describe(self):
        try:
            return (f"'{self.title()}', the canvas tells '{self.told()}',"
                    f" the focus is on {path_of(self.focused)}")
        except (GLib.Error, AttributeError) as error:
            return str(error)

    # -- input --

    def windows(self, title):
        ids = xdotool("search", "--onlyvisible", "--pid", str(self.process.pid), "--name",
                      f"^{re.escape(title)}$").split()
        return [i for i in ids if xdotool("getwindowname", i).rstrip("\n") == title]

    def focus(self, title=None):
        """Gives the keyboard focus to the window with this title, by default that of the document, because there is no
        window manager; waits until the X server confirms it."""
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

    def is_at(self, role, text):
        """None for a role that differs between versions of GTK."""
        return (self.focused is not None and role in (None, role_of(self.focused))
                and text in (self.focused.get_name() or "")
                and has(self.focused, Atspi.StateType.FOCUSED) and self.focused)

    def at(self, role, text):
        return until(lambda: self.is_at(role, text),
                     lambda: f"the focus on {role} '{text}' instead of {path_of(self.focused)}")

    def step(self, key):
        """Presses a key that moves the focus; returns the focused object, which has a name."""
        before = self.focused
        self.key(key)
        until(lambda: self.focused != before and has(self.focused, Atspi.StateType.FOCUSED),
              lambda: f"the focus that {key} moves from {path_of(self.focused)}")
        # The name of a row arrives together with its content.
        until(lambda: has_name(self.focused), lambda: f"a name of {path_of(self.focused)}")
        return self.focused

    def go(self, role, text, key="Tab"):
        """Presses the key until the wanted object has the focus."""
        passed = []
        while not self.is_at(role, text):
            o = self.step(key)
            passed.append(f"{role_of(o)} '{o.get_name()}'")
            assert len(passed) < STOPS, f"{key} leads past {role} '{text}': {passed[-30:]}"
        return self.focused

    def on_canvas(self):
        """That of the visible tab: others are in the tree too."""
        self.focus()
        self.key("F6")
        self.canvases = self.at("image", "Graph canvas")

    def does(self, titles, keys, ask, what=None):
        """Presses the shortcut with this title in the shortcuts window, and checks its visible effect."""
        self.key(*keys.split())
        result = until(ask, what or f"what {titles} does")
        self.done.update(titles if isinstance(titles, (list, tuple)) else [titles])
        return result

    def opens(self, title, keys, window):
        """Presses the key, which opens a window with this title, and closes it by Escape."""
        self.does(title, keys, lambda: self.window(window), window)
        self.focus(window)
        self.key("Escape")
        until(lambda: not self.window(window), f"the end of {window}")
        self.focus()

    def choose_file(self, title, path):
        """Chooses a file in the dialog with this title."""
        until(lambda: self.takes(title, path), f"the end of {title}")
        self.focus()

    def entry(self, title):
        return next((o for o in self.each(self.window(title))
                     if role_of(o) == "text" and has(o, Atspi.StateType.FOCUSED)), None)

    def takes(self, title, path):
        """While the dialog reads a folder it forgets typed text and ignores Enter."""
        entry = self.entry(title)
        if entry is None or text_of(entry) != path:
            self.focus(title)
            self.key("ctrl+l")
            until(lambda: self.entry(title), "the entry")
            self.key("ctrl+a")
            self.type(path)
            self.key("shift+End", "Delete")  # GTK 4.18's completion, which it leaves behind the cursor
        self.key("Return")
        try:
            return until(lambda: not self.windows(title), "the end", seconds=1)
        except AssertionError:
            return False

    def run(self, *words):
        """Runs a command through the palette."""
        self.focus()
        self.does("Find a Command", "ctrl+k", lambda: self.is_at("text", "Command, Graph"))
        entry = self.focused
        self.type(" ".join(words))
        until(lambda: words[0].lower() in entry.get_description().lower(), f"{words} in the palette")
        self.key("Return")
        until(lambda: self.focused != entry and has(self.focused, Atspi.StateType.FOCUSED),
              "the end of the palette")


def start_bus():
    """Starts the accessibility bus, which GTK looks up once at its start."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None,
                  Gio.DBusCallFlags.NONE, WAIT * 1000)
    Atspi.init()
    Atspi.set_timeout(WAIT * 1000, WAIT * 1000)
    until(lambda: Atspi.get_desktop(0).get_name() is not None, "the registry")


def passes(walk, test):
    try:
        test(walk)
        assert not walk.complaints(), walk.complaints()
        return True
    except Exception:
        told = traceback.format_exc() + walk.describe()
        print("# " + told.replace("\n", "\n# "), flush=True)
        return False


def main(program, tests):
    """Runs the tests in one window, one after the other; each continues from the state of the previous one."""
    print(f"1..{len(tests)}", flush=True)
    start_bus()
    walk = Walk(program)
    for i, test in enumerate(tests):
        begun = time.monotonic()
        good = passes(walk, test)
        print(f"{'ok' if good else 'not ok'} {i + 1} {test.__name__[5:]}"
              f" # {time.monotonic() - begun:.1f} s", flush=True)
        if not good:
            print(f"Bail out! {test.__name__[5:]}", flush=True)
            break
    walk.close()
    return not good
