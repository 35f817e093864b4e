# SPDX-License-Identifier: MIT
"""Tests the workbench without a mouse.  Prints TAP.

Every entry of the shortcuts window must be used here, or the last test but one fails; every widget that gets the
focus must have an accessible name, or the step that focused it fails.

usage: keyboard.py WORKBENCH GRAPHS, in a session bus of its own and with a display"""

import json
import os
import re
import sys
import tempfile
import zipfile

from full_screen import Manager
from walk import (Atspi, around, has, has_name, is_in, is_pressed, main, path_of, role_of, text_of,
                  until)

program, graphs = sys.argv[1:3]
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


# -- texts of the window --


def moves(walk, before):
    return lambda: walk.told() != before and ", node " in walk.told()


def changes(ask):
    before = ask()
    return lambda: ask() != before and ask()


def bar(walk, role, text):
    """Texts above the canvas, on it, and below."""
    return walk.find(role, text, around(walk.canvas(), "Canvas"))


def zoom(walk):
    return bar(walk, "push button", " %").get_name()


def in_view(walk):
    return bar(walk, "label", " in view").get_name()


def ramp(walk):
    """The labels of the legend from least to most, when the canvas is coloured by a number."""
    return bar(walk, "label", " – ")


def lacks_run(walk):
    return bar(walk, "label", "run the graph first")


def size(o):
    return o.get_component_iface().get_size()


def note(walk):
    """The note beside the tabs of the panel."""
    return text_of(walk.find("status bar", "", around(walk.canvas(), "Document")))


def log(walk, text):
    """Returns the latest entry of the log, whose page is shown, with this beginning."""
    rows = [o.get_name() or ""
            for o in walk.each(walk.find("list", "Log", around(walk.canvas(), "Document")))
            if role_of(o) == "list item"]
    return next((row for row in rows[::-1] if text in row), None)


def is_shown(walk, name):
    return any(name in (o.get_name() or "") for o in walk.each())


def open_graph(walk, file, graph):
    walk.focus()
    walk.does("Open", "ctrl+o", lambda: walk.window("Open a Graph"))
    walk.choose_file("Open a Graph", file)
    until(lambda: walk.title().startswith(os.path.basename(file)), file)
    walk.focus()
    if graph:
        walk.run(graph)
    walk.on_canvas()


def to_panel(walk):
    walk.on_canvas()
    walk.done.add("Go to the Bottom Panel")
    return walk.step("shift+F6")


def find_node(walk, query):
    walk.focus()
    walk.does("Find Nodes", "ctrl+f", lambda: walk.is_at("entry", "Find Nodes"))
    walk.key("ctrl+a")
    walk.type(query)
    walk.key("Return")
    walk.tells(query.split(":")[1])
    walk.key("Escape")
    walk.at("image", "Graph canvas")


def close_tab(walk):
    """Closes a tab with unsaved changes and discards them."""
    def question():
        return next((f.get_name() for f in walk.frames() if (f.get_name() or "").startswith("Save ")
                     and f.get_name() != "Save As"), None)

    before = walk.title()
    walk.focus()
    asked = walk.does("Close Tab", "ctrl+w", lambda: question() or walk.title() != before)
    if isinstance(asked, str):
        walk.focus(asked)
        walk.key("alt+d")
        until(lambda: walk.title() != before, "the end of the tab")
    walk.focus()


# -- files (ux 4.10, 4.12) --


def test_starts(walk):
    """The page of an empty window: a list of what can be opened."""
    until(lambda: walk.title() == "Adjoint", "the start page")
    walk.focus()
    walk.go("push button", "How do I record")
    walk.key("Return")
    until(lambda: has(walk.focused, Atspi.StateType.EXPANDED), "the answer")
    walk.go("list item", "dropout.adjoint")
    walk.key("Return")
    until(lambda: walk.title().startswith("dropout.adjoint —"), "the sample")


def test_opens(walk):
    open_graph(walk, os.path.join(graphs, "mlp.adjoint"), "0-0-joint")
    until(lambda: "Joint" in walk.title(), "the joint graph")
    walk.does("Next Tab, Previous Tab", "ctrl+Page_Up",
              lambda: walk.title().startswith("dropout.adjoint"))
    close_tab(walk)
    assert walk.title().startswith("mlp.adjoint"), walk.title()
    walk.on_canvas()


def test_saves(walk):
    walk.opens("Save As", "ctrl+shift+s", "Save As")
    walk.opens("Export Report", "ctrl+shift+r", "Export Report")
    walk.does("Export Picture", "ctrl+shift+e", lambda: walk.window("Export Picture"))
    picture = path("picture.svg")
    walk.choose_file("Export Picture", picture)
    until(lambda: os.path.exists(picture) and "</svg>" in open(picture).read(), picture)


def test_has_tabs(walk):
    walk.focus()
    walk.does("New Tab", "ctrl+t", lambda: walk.title() == "Adjoint")
    walk.focus()
    walk.does("Next Tab, Previous Tab", "ctrl+Page_Up",
              lambda: walk.title().startswith("mlp.adjoint"))
    walk.focus()
    walk.does("Next Tab, Previous Tab", "ctrl+Page_Down", lambda: walk.title() == "Adjoint")
    close_tab(walk)


# -- the canvas (ux 4.10) --


def test_walks_the_canvas(walk):
    walk.focus()
    walk.does("Go to the Canvas", "F6", lambda: walk.is_at("image", "Graph canvas"))
    walk.key("Escape")
    walk.tells("No node is selected")
    walk.does("Nearest Node in a Direction", "Down", lambda: ", node " in walk.told())
    text = walk.told()
    assert " input" in text and " user" in text, text
    find_node(walk, "name:addmm_1")
    for there, back in (("Down", "Up"), ("Right", "Left")):
        text = walk.told()
        walk.does("Nearest Node in a Direction", there, moves(walk, text))
        walk.does("Nearest Node in a Direction", back, moves(walk, walk.told()))


def test_follows_users(walk):
    """Follows the readers of addmm_1, one after the other, back to it, then its inputs."""
    find_node(walk, "name:addmm_1")
    value = walk.told()
    users = []
    for _ in range(int(re.search(r"(\d+) users", value).group(1))):
        walk.does("Next User of the Value", "Tab", moves(walk, walk.told()))
        users.append(walk.told())
    assert len(users) > 1 and len(set(users)) == len(users), users
    for user in users[-2::-1] + [value]:
        walk.does("Previous User, or the Value", "shift+Tab", lambda: walk.told() == user)
    walk.does("Previous User, or the Value", "shift+Tab", moves(walk, value))
    assert walk.told() not in users, walk.told()


def test_goes_to_counterparts(walk):
    find_node(walk, "name:gelu_backward")
    walk.does("Counterpart in the Other Direction", "m", lambda: walk.told().startswith("gelu,"))
    walk.does("Counterpart in the Other Direction", "m", lambda: walk.told().startswith("gelu_backward,"))


def test_opens_menus(walk):
    find_node(walk, "name:gelu_backward")
    walk.does("Context Menu", "shift+F10",
              lambda: walk.is_at("menu item", "Next User of the Value"))
    walk.go("menu item", "Counterpart", "Down")
    walk.key("Return")
    walk.tells("gelu,")
    walk.at("image", "Graph canvas")
    walk.does("Context Menu", "Menu", lambda: walk.is_at("menu item", ""))
    walk.key("Escape")
    walk.at("image", "Graph canvas")


def test_goes_back(walk):
    find_node(walk, "name:gelu")
    here = walk.told()
    walk.does("Nearest Node in a Direction", "Down", moves(walk, here))
    there = walk.told()
    walk.does("Back", "alt+Left", lambda: walk.told() == here)
    walk.does("Forward", "alt+Right", lambda: walk.told() == there)


def test_selects_several(walk):
    find_node(walk, "name:relu")
    walk.does("Select More", "shift+Down", lambda: walk.told().startswith("2 nodes are selected"))
    walk.does("Select More", "shift+Up", lambda: walk.told().startswith("2 nodes are selected"))
    walk.see("label", "2 nodes")
    walk.key("ctrl+c")  # the pasted text is checked later
    walk.does("Select All Nodes", "ctrl+a", lambda: int(walk.told().split()[0]) > 20)
    walk.does("Undo a Change", "ctrl+z",
              lambda: walk.told().startswith("2 nodes are selected"))
    walk.does("Redo", "ctrl+shift+z", lambda: int(walk.told().split()[0]) > 20)
    walk.does("Select Nothing", "Escape", lambda: "No node is selected" in walk.told())


def test_pastes(walk):
    walk.focus()
    # The copied names are text, not a graph.
    walk.does(["Paste a Graph as Text", "Copy Names of Selected Nodes"], "ctrl+v",
              lambda: walk.title() == "Pasted Text")
    walk.see("label", "This File Cannot Be Shown")
    close_tab(walk)
    walk.on_canvas()


def test_copies_links(walk):
    find_node(walk, "name:relu")
    walk.key("ctrl+shift+c")
    walk.key("Escape")
    walk.tells("No node is selected")
    # Pasting a link goes back.
    walk.does("Copy Link", "ctrl+v", lambda: walk.told().startswith("relu,"))


def test_folds(walk):
    find_node(walk, "name:addmm_1")
    walk.does("Open or Close the Module", "space", lambda: ", which is closed" in walk.told())
    walk.does("Undo a Change", "ctrl+z", lambda: "closed" not in walk.told())
    walk.does("Redo", "ctrl+shift+z", lambda: ", which is closed" in walk.told())
    walk.does("Open or Close the Module", "space", lambda: "closed" not in walk.told())


def test_colours(walk):
    walk.on_canvas()
    title = "Colour by Role, Bytes, Time, Error"
    walk.does(title, "c b", lambda: "KiB" in ramp(walk).get_name())
    walk.does("Undo a Change", "ctrl+z", lambda: not ramp(walk))
    walk.does("Redo", "ctrl+shift+z", lambda: ramp(walk))
    walk.does(title, "c t", lambda: lacks_run(walk))
    walk.does(title, "c r", lambda: not ramp(walk) and not lacks_run(walk))
    walk.does(title, "c e", lambda: lacks_run(walk))
    walk.does(title, "c r", lambda: not lacks_run(walk))


def test_follows_the_flow(walk):
    find_node(walk, "name:gelu")
    flow, mirror = walk.see("push button", "Flow"), walk.see("push button", "Mirror")
    walk.does("Flow of the Selection", "f", lambda: is_pressed(flow))
    walk.does("Undo a Change", "ctrl+z", lambda: is_pressed(mirror))
    walk.does("Redo", "ctrl+shift+z", lambda: is_pressed(flow))
    walk.does("Undo a Change", "ctrl+z", lambda: is_pressed(mirror))


def test_zooms(walk):
    find_node(walk, "name:relu")
    walk.does("Original Size", "ctrl+0", lambda: zoom(walk) == "100 %")
    walk.does("Zoom In", "ctrl+plus", lambda: zoom(walk) == "125 %")
    walk.does("Zoom Out", "ctrl+minus", lambda: zoom(walk) == "100 %")
    walk.does("Fit All", "Home", changes(lambda: zoom(walk)))
    walk.does("Fit the Selection", "ctrl+9", changes(lambda: zoom(walk)))
    walk.does("Fit All", "ctrl+Home", changes(lambda: zoom(walk)))


def test_scrolls(walk):
    walk.does("Original Size", "ctrl+0", lambda: zoom(walk) == "100 %")
    for there, back in (("Page_Down", "Page_Up"), ("ctrl+Down", "ctrl+Up"),
                        ("ctrl+Right", "ctrl+Left")):
        # Until other nodes come into view: not every step shows new ones.
        for keys in (there, back):
            before = in_view(walk)
            for _ in range(12):
                walk.key(keys)
                if in_view(walk) != before:
                    break
            walk.does("Scroll", keys, lambda: in_view(walk) != before)
    walk.does("Fit All", "Home", changes(lambda: zoom(walk)))


def test_shows_source(walk):
    find_node(walk, "name:relu")
    walk.does("Source of the Node", "Return", lambda: walk.find("list item", "models.py"))


# -- search (ux 4.11) --


def test_finds(walk):
    walk.on_canvas()
    walk.does("Find Nodes", "slash", lambda: walk.is_at("entry", "Find Nodes"))
    walk.key("ctrl+a")
    walk.type("op:mm bytes>100 line:models.py")
    part = around(walk.focused, "Search")
    found = walk.find("list", "Found Nodes", part)
    count = until(lambda: next(o for o in walk.each(part) if role_of(o) == "label"
                               and re.fullmatch(r"\d+", o.get_name() or "")), "the count")
    until(lambda: found.get_child_count() == int(count.get_name()) > 3, "the list")
    walk.key("Return")
    walk.tells("mm")
    before = walk.told()
    walk.key("Return")  # the next one
    until(moves(walk, before), "the next found node")
    walk.go("push button", "Regular Expression")
    walk.key("space")
    walk.go("entry", "Find Nodes", "shift+Tab")
    walk.key("ctrl+a")
    walk.type("^(re|ge)lu$")
    until(lambda: found.get_child_count() == 2, "what matches")
    walk.go("list item", "gelu")
    walk.key("Return")
    walk.tells("gelu,")
    walk.go("push button", "Select All")
    walk.key("Return")
    walk.tells("2 nodes are selected")
    walk.on_canvas()
    walk.does("Next Found Node", "ctrl+g", moves(walk, walk.told()))
    before = walk.told()
    walk.does("Next Found Node", "ctrl+g", moves(walk, before))
    walk.does("Previous Found Node", "ctrl+shift+g", lambda: walk.told() == before)
    walk.does("Find Nodes", "ctrl+f", lambda: walk.is_at("entry", "Find Nodes"))
    walk.go("push button", "Regular Expression")
    walk.key("space")
    walk.key("Escape")
    walk.at("image", "Graph canvas")


def test_has_a_palette(walk):
    """The palette lists commands, graphs, modules and nodes; arrows choose, Escape closes."""
    walk.on_canvas()
    walk.run("0-0-backward")
    until(lambda: "Backward" in walk.title(), "the graph of that name")
    walk.run("0-0-joint")
    until(lambda: "Joint" in walk.title(), "the graph of that name")
    walk.run("fc2")
    walk.tells("node ")
    walk.run("gelu_backward")
    walk.tells("gelu_backward,")
    walk.does("Find a Command", "ctrl+k", lambda: walk.is_at("text", "Command, Graph"))
    entry = walk.focused
    walk.type("zoom")
    first = until(lambda: "Zoom" in entry.get_description() and entry.get_description(), "a command")
    walk.key("Down")
    until(lambda: entry.get_description() != first, "the next command")
    walk.key("Up")
    until(lambda: entry.get_description() == first, "the first command")
    walk.step("Escape")
    assert walk.is_at("image", "Graph canvas")


# -- running (ux 4.6) --


def test_runs(walk):
    walk.focus()
    walk.does("Run", "F5", lambda: note(walk).startswith("Ran 0-0-joint"))
    walk.does("Compare with Recorded", "shift+F5",
              lambda: walk.find("label", "agrees with what was recorded"))
    walk.on_canvas()
    walk.does("Colour by Role, Bytes, Time, Error", "c t",
              lambda: "s" in ramp(walk).get_name())
    walk.does("Colour by Role, Bytes, Time, Error", "c r", lambda: not ramp(walk))


def test_steps_through_run(walk):
    walk.does("Next Step of the Run", "period", moves(walk, walk.told()))
    first = walk.told()
    walk.does("Next Step of the Run", "period", moves(walk, first))
    walk.does("Previous Step of the Run", "comma", lambda: walk.told() == first)


def test_follows_effects(walk):
    open_graph(walk, os.path.join(os.path.dirname(__file__), "../aot/effects/says_backward-joint.txt"),
               None)
    walk.does("Next Effect", "x", moves(walk, walk.told()))
    first = walk.told()
    walk.does("Next Effect", "x", moves(walk, first))
    walk.does("Previous Effect", "shift+x", lambda: walk.told() == first)
    close_tab(walk)
    walk.on_canvas()


def choose(walk, row, option, key="Down"):
    """In a focused drop-down list: opens it, goes to the option, chooses it."""
    walk.go("combo box", row)
    walk.key("space")
    until(lambda: role_of(walk.focused) == "list item", f"the list of {row}")
    walk.go("list item", option, key)
    walk.key("Return")
    walk.at("combo box", row)


def test_chooses_how_to_run(walk):
    walk.on_canvas()
    walk.does("Choose How to Run", "ctrl+F5", lambda: walk.is_at("combo box", "Inputs"))
    choose(walk, "Inputs", "Random numbers")
    walk.go("spin button", "Seed")
    walk.key("ctrl+a")
    walk.type("7")
    walk.key("Return")
    walk.see("label", "random inputs, seed 7")
    walk.go("combo box", "Executor")
    walk.go("check box", "Double precision")
    walk.key("space")
    walk.see("label", "float64")
    choose(walk, "Compare with", "Forward and Backward")
    choose(walk, "Tolerance", "Relative and absolute")
    walk.go("text", "Absolute")
    walk.key("ctrl+a")
    walk.type("0.001")
    walk.key("Return")
    walk.go("push button", "Run")
    walk.key("Return")
    walk.see("label", "agrees with 0-0-forward+backward")
    walk.go("table row", "t_13")
    walk.key("Return")
    walk.tells("t_13,")
    to_panel(walk)
    walk.go("check box", "Double precision")
    walk.key("space")
    walk.go("combo box", "Inputs", "shift+Tab")
    choose(walk, "Inputs", "Recorded call 1", "Up")
    until(lambda: not walk.find("label", "seed 7"), "the recorded inputs")


def plant(name):
    """Writes the joint graph with relu in place of gelu, and the recorded value of gelu."""
    with zipfile.ZipFile(os.path.join(graphs, "mlp.adjoint")) as old, \
            zipfile.ZipFile(path(name), "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "graphs/0-0-joint.json":
                graph = json.loads(data)
                node = next(n for n in graph["graph"]["nodes"] if n["name"] == "gelu")
                node["target"] = "torch.ops.aten.relu.default"
                data = json.dumps(graph).encode()
            new.writestr(info, data)
    return path(name)


def test_shows_the_first_difference(walk):
    open_graph(walk, plant("planted.adjoint"), "0-0-joint")
    # The warning about another program's changes of the file is shown, and is closed.
    walk.go("push button", "Details", "shift+Tab")
    walk.key("Return")
    walk.on_canvas()
    walk.does("Compare with Recorded", "shift+F5",
              lambda: walk.find("label", "first difference: gelu, its inputs agree"))
    walk.tells("gelu,")
    walk.see("label", "Differs")
    # The next node in execution order, and back.
    walk.on_canvas()
    before = walk.told()
    walk.does("Next Change or Difference", "n", moves(walk, before))
    walk.does("Previous Change or Difference", "p", lambda: walk.told() == before)
    assert role_of(to_panel(walk)) == "table row"
    # The picture of the difference is navigated by keys.
    walk.go("image", "Difference map")
    chart = walk.focused
    walk.key("Right")
    before = until(lambda: "apart" in chart.get_description() and chart.get_description(),
                   "the difference of an element")
    walk.key("Down")
    until(lambda: chart.get_description() != before, "another element")
    walk.go("push button", "Worst Element")
    walk.key("Return")
    until(lambda: "apart" in chart.get_description(), "the worst element")
    close_tab(walk)
    walk.on_canvas()


LAYERS = 60
WIDE = 2048


def write_long(name):
    """Writes many products of large matrices, so that a run takes long."""
    with open(path(name), "w") as file:
        file.write("class GraphModule(torch.nn.Module):\n"
                   f"    def forward(self, x: \"f32[{WIDE}, {WIDE}]\"):\n")
        for i in range(LAYERS):
            file.write(f"        m{i}: \"f32[{WIDE}, {WIDE}]\" = "
                       f"torch.ops.aten.mm.default({f'm{i - 1}' if i else 'x'}, x)\n")
        file.write(f"        return (m{LAYERS - 1},)\n")
    return path(name)


def test_stops(walk):
    open_graph(walk, write_long("long.txt"), None)
    walk.run("Show Log")
    until(lambda: log(walk, "Laid out"), "the picture")
    walk.on_canvas()
    walk.key("F5")
    walk.see("push button", "Stop (")
    walk.does("Stop", "Escape", lambda: log(walk, "Stopped"))
    walk.see("push button", "Run on CPU")
    assert log(walk, "Ran ") is None
    close_tab(walk)
    walk.on_canvas()


# -- the rest of the window (ux 4.1) --


def test_shows_parts(walk):
    def sidebar():
        return is_pressed(walk.find("push button", "Show Graphs and Modules", walk.frame))

    find_node(walk, "name:relu")
    for title, key, ask in [
            ("Show or Hide the Bottom Panel", "ctrl+F10", lambda: size(walk.canvas()).y),
            ("Show or Hide Graphs and Modules", "F9", sidebar),
            ("Show or Hide the Inspector", "ctrl+F9", lambda: size(walk.canvas()).x)]:
        before = ask()
        walk.does(title, key, lambda: ask() != before)
        walk.does(title, key, lambda: ask() == before)


def test_lists_graphs_and_modules(walk):
    walk.on_canvas()
    walk.key("Escape")
    walk.tells("No node is selected")
    walk.go("list item", "Joint Graph", "shift+Tab")
    walk.step("Down")
    until(lambda: "Forward" in walk.title(), "the graph below")
    walk.step("Up")
    until(lambda: "Joint" in walk.title(), "the graph above")
    walk.go(None, "fc2")
    walk.key("Return")
    walk.tells("node ")


def test_chooses_the_view(walk):
    """Uses the buttons above the canvas and its menu."""
    walk.on_canvas()
    walk.key("Escape")
    walk.tells("No node is selected")
    for name in ("Stacked", "Mirror"):
        walk.go("push button", name, "shift+Tab")
        button = walk.focused
        walk.key("space")
        until(lambda: is_pressed(button), name)
    walk.go("push button", "Colours and Labels", "shift+Tab")
    walk.key("Return")
    walk.go("menu item", "Bytes", "Down")
    walk.key("Return")
    until(lambda: "KiB" in ramp(walk).get_name(), "the ramp of bytes")
    walk.on_canvas()
    walk.does("Colour by Role, Bytes, Time, Error", "c r", lambda: not ramp(walk))
    walk.go("push button", "read by backward")
    lit = walk.focused
    walk.key("space")
    until(lambda: is_pressed(lit), "the role in the legend")
    walk.key("space")
    until(lambda: not is_pressed(lit), "all roles")


def test_inspects(walk):
    """Goes from a node to its inputs through the inspector."""
    find_node(walk, "name:gelu")
    to_panel(walk)
    walk.go("push button", "addmm_1", "shift+Tab")
    walk.key("Return")
    walk.tells("addmm_1,")


def test_shows_pages(walk):
    """Shows every bottom page with arrow keys on its tabs."""
    walk.on_canvas()
    walk.run("Show Source")
    to_panel(walk)
    walk.go(None, "Panel, Source", "shift+Tab")
    tabs = walk.focused
    for page in ("Run", "Values", "Memory", "Backward", "Text", "Changes", "Contract", "Partitions",
                 "Findings", "Facts", "Log"):
        walk.key("Right")
        until(lambda: page in tabs.get_name(), page)


def test_reads_source(walk):
    find_node(walk, "name:relu")
    walk.run("Show Source")
    to_panel(walk)
    walk.go("list item", "models.py")
    walk.go("list item", "relu")


def test_reads_values(walk):
    """For a graph that was not run with the chosen inputs, the page says how to run it."""
    walk.run("Show Values")
    to_panel(walk)
    walk.go("push button", "Compare with Recorded")
    walk.key("Return")
    walk.see("label", "agrees with what was recorded")
    to_panel(walk)
    walk.go("table row", "addmm")
    walk.key("space")
    walk.tells("addmm")
    before = walk.told()
    walk.step("Down")
    until(moves(walk, before), "the node of the row below")


def test_reads_memory(walk):
    walk.run("Show Memory")
    to_panel(walk)
    walk.go("image", "Memory over Time")
    chart = walk.focused
    peak = until(lambda: chart.get_description(), "the peak")
    assert "peak of" in peak, peak
    walk.key("Home")
    walk.key("Left")
    before = until(lambda: " at step " in chart.get_description() and chart.get_description(),
                   "a step")
    walk.key("Right")
    until(lambda: chart.get_description() != before, "the step after it")
    walk.key("Return")
    walk.tells(until(lambda: chart.get_description(), "the step").rsplit(", ", 1)[1])
    to_panel(walk)
    walk.go("table row", ", saved for backward")
    name = walk.focused.get_name().split(",")[0]
    walk.key("space")
    walk.tells(f"{name},")


def test_reads_backward(walk):
    """Goes to the first step whose position changed, and to its node."""
    open_graph(walk, os.path.join(graphs, "mlp-ddp.adjoint"), "r0-ca0-compiled_autograd")
    until(lambda: walk.title().startswith("mlp-ddp"), "the captured backward")
    walk.run("Show Backward")
    to_panel(walk)
    walk.go("list item", "AddmmBackward0")
    walk.go("image", "Orders and Live Ranges")
    chart = walk.focused
    walk.key("Home")
    until(lambda: "accumulate fc3.bias runs as step 5, was 22" in chart.get_description(),
          "the first step that moved")
    walk.key("Return")
    walk.tells("accumulate_grad__5")
    walk.does(["Set or Remove a Breakpoint", "Run the Backward to the Next Breakpoint"], "ctrl+F8 shift+F8",
              lambda: walk.find("label", "before: accumulate fc3.bias"), "the breakpoint")
    walk.does("Next Event of the Backward", "F8", lambda: walk.find("label", "after: accumulate fc3.bias"))
    close_tab(walk)


def test_compares_partitions(walk):
    walk.run("Show Partitions")
    chart = walk.see("image", "Peak Memory against", around(walk.canvas(), "Document"))
    until(lambda: ": peak " in chart.get_description(), "the curve")
    to_panel(walk)
    walk.go("image", "Peak Memory against Recomputation")
    assert walk.focused == chart
    walk.key("End")
    last = until(lambda: ": peak " in chart.get_description() and chart.get_description(), "a plan")
    walk.key("Home")
    until(lambda: chart.get_description() != last, "the first plan")
    walk.key("Right")
    walk.key("Return")
    until(lambda: "partitioned" in walk.title() or "Forward and Backward" in walk.title(),
          "the graphs of the plan")
    close_tab(walk)
    walk.on_canvas()


# -- stages (ux 4.5) --


def test_steps_through_stages(walk):
    walk.focus()
    walk.run("0-0-dynamo")
    until(lambda: "Captured" in walk.title(), "the captured graph")
    walk.does("Trace and Differentiate", "ctrl+d", lambda: "traced" in walk.title())
    until(lambda: "—" in walk.title(), "the traced graph")
    walk.focus()
    walk.does("Stage by Number", "alt+1", lambda: "Captured" in walk.title())
    first = walk.title()
    walk.focus()
    walk.does("Stage by Number", "alt+2", lambda: walk.title() != first)
    second = walk.title()
    walk.focus()
    walk.does("Next Stage", "bracketright", lambda: walk.title() not in (first, second))
    walk.focus()
    walk.does("Previous Stage", "bracketleft", lambda: walk.title() == second)
    walk.on_canvas()
    walk.key("Escape")
    walk.go("push button", "nodes", "shift+Tab")


def test_steps_through_changes(walk):
    walk.on_canvas()
    before = walk.told()
    walk.does("Next Change or Difference", "n", moves(walk, before))
    first = walk.told()
    walk.does("Next Change or Difference", "n", moves(walk, first))
    walk.does("Previous Change or Difference", "p", lambda: walk.told() == first)
    walk.run("Show Changes")
    to_panel(walk)
    walk.go("list item", "+")
    walk.key("Return")
    walk.tells("node ")
    walk.opens("Save", "ctrl+s", "Save As")  # a trace has no file
    close_tab(walk)
    walk.on_canvas()


# -- assistive technology (ux 5.2) --


def is_gone_to(walk, o):
    """Excludes widgets that libadwaita makes for a tab or inside a closed drop-down list, text that is not shown, and
    containers that pass the focus to a child."""
    return (has(o, Atspi.StateType.FOCUSABLE) and role_of(o) not in ("label", "alert")
            and not is_in(o, "Tabs") and not is_closed_list(o) and not hands_on(walk, o))


def is_closed_list(o):
    """An item of a drop-down list, which GTK gives the role filler inside the button."""
    roles = []
    while o and role_of(o) != "frame":
        roles.append(role_of(o))
        o = o.get_parent()
    return "combo box" in roles[1:] and ("list item" in roles or roles[0] == "filler")


def hands_on(walk, o):
    return role_of(o) in ("panel", "scroll pane") and any(
        part != o and has(part, Atspi.StateType.FOCUSABLE) for part in walk.each(o))


def test_names_everything(walk):
    """Everything focusable, on every page, has a name given by a person."""
    bad = {path_of(o) for o in walk.each()
           if not has_name(o) and is_gone_to(walk, o)}
    assert not bad, "\n".join(sorted(bad))


# -- dialogs, menus and windows (ux 4.10) --


def test_asks(walk):
    walk.focus()
    walk.does("Preferences", "ctrl+comma", lambda: walk.window("Preferences"))
    walk.focus("Preferences")
    walk.go("check box", "Restore Views")
    toggle, before = walk.focused, is_pressed(walk.focused)
    walk.key("space")
    until(lambda: is_pressed(toggle) != before, "the preference")
    walk.key("space")
    until(lambda: is_pressed(toggle) == before, "the preference")
    walk.key("Escape")
    until(lambda: not walk.window("Preferences"), "the end of the preferences")
    walk.focus()
    walk.opens("Keyboard Shortcuts", "F1", "Keyboard Shortcuts")
    walk.opens("Keyboard Shortcuts", "ctrl+question", "Keyboard Shortcuts")


def test_has_a_menu(walk):
    walk.on_canvas()
    walk.does("Original Size", "ctrl+0", lambda: zoom(walk) == "100 %")
    walk.does("Main Menu", "F10", lambda: role_of(walk.focused) == "menu item")
    walk.go("menu item", "Zoom In", "Down")
    walk.key("Return")
    until(lambda: zoom(walk) == "125 %", "what the menu item does")
    walk.on_canvas()


def test_fills_the_screen(walk):
    manager = Manager()
    before = size(walk.frame)

    def grown():
        manager.serve()
        return size(walk.frame).x - before.x, size(walk.frame).y - before.y

    walk.does("Full Screen", "F11", lambda: min(grown()) > 0)
    assert grown() == (manager.screen[0] - manager.before[0],
                       manager.screen[1] - manager.before[1]), grown()
    walk.does("Full Screen", "F11", lambda: grown() == (0, 0))


def test_does_everything(walk):
    """Every entry of the shortcuts window was used above, except those that quit."""
    walk.focus()
    walk.does("New Window", "ctrl+n", lambda: len(walk.frames()) == 2)
    walk.focus("Adjoint")
    walk.does("Close Tab", "ctrl+w", lambda: len(walk.frames()) == 1)
    walk.focus()
    walk.does("Open Folder", "ctrl+shift+o", lambda: walk.window("Open a Folder"))
    walk.focus("Open a Folder")
    walk.key("Escape")
    until(lambda: not walk.window("Open a Folder"), "no question for a folder")
    walk.focus()
    walk.does("Keyboard Shortcuts", "F1", lambda: walk.window("Keyboard Shortcuts"))
    walk.focus("Keyboard Shortcuts")
    titles = set()
    for _ in range(SHORTCUT_PAGES):  # newer versions of GTK report only the visible one
        before = len(titles)
        until(lambda: titles.update(list_titles(walk, walk.window("Keyboard Shortcuts")))
              or len(titles) > before, "a page of shortcuts")
        if len(titles) > 40:
            break
        walk.key("ctrl+Page_Down")
    assert len(titles) > 40, titles
    walk.key("Escape")
    missing = titles - walk.done - ELSEWHERE
    assert not missing, f"not done by keyboard: {sorted(missing)}"


SHORTCUT_PAGES = 4


def is_keys(o):
    """Recognizes a shortcut: newer versions of GTK give its role instead of a class name."""
    return o.get_name() == "GtkShortcutLabel" or (
        role_of(o) == "grouping" and role_of(o.get_parent().get_parent()) == "label")


def list_titles(walk, window):
    """Returns the titles that follow keys."""
    after = False
    for o in walk.each(window):
        if is_keys(o):
            after = True
        elif after and role_of(o) == "label" and not is_keys(o.get_parent()):
            after = False
            yield o.get_name()


# The first one is done below, the others in tests/ui: test-quick-find.c, test-beside.c, test-strip.c; what Print opens
# is the toolkit's.
ELSEWHERE = {"Quit", "Find a Row of a List", "Compare Side by Side", "Print", "Only What Changed"}


def test_quits(walk):
    walk.focus()
    walk.key("ctrl+q")
    until(lambda: walk.process.poll() is not None, "the end")
    assert walk.process.returncode == 0, walk.process.returncode


# In the order of the design's sections: files, canvas, search, runs, window, stages, dialogs.
TESTS = [test for name, test in list(globals().items()) if name.startswith("test_")]

sys.exit(main(program, TESTS))
