# SPDX-License-Identifier: MIT
"""Prints the man page: make-man.py ADJOINT PAGE.

PAGE describes commands and passes by hand.  Those that it does not describe get the text of ADJOINT's own help,
in place of the lines COMMANDS and PASSES.
"""
import json
import os
import re
import subprocess
import sys

COMMON = ("help", "json", "graph", "plugin")  # described once for all commands


def adjoint(*arguments):
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    return subprocess.run([sys.argv[1], *arguments], env=environment, check=True, capture_output=True, text=True).stdout


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def paragraph(name, summary):
    """Returns the paragraph of a command: its usage, its summary, and each option with its text from --help."""
    text = adjoint(name, "--help")
    usage = re.search(rf"^  adjoint {name} \[OPTION…\] ?(.*)$", text, re.MULTILINE)[1]
    lines = [".TP", f".BR {name} \" {roff(usage)}\"", roff(summary) + "."]
    for option, says in re.findall(r"^  (?:-\w, )?--([\w-]+(?:=\S+)?) +(.*)$", text, re.MULTILINE):
        if option not in COMMON:
            lines += [f".B \\-\\-{roff(option)}", f"({roff(says)})"]
    return lines


def commands(page):
    for name, summary in re.findall(r"^  ([a-z]+) +(.*)$", adjoint("--help"), re.MULTILINE):
        if not re.search(rf"^\.BR? {name}\b", page, re.MULTILINE):
            yield from paragraph(name, summary)


def passes(page):
    known = re.search(r"^\.BR passes\b.*?^\.TP", page, re.MULTILINE | re.DOTALL)[0].replace("\\-", "-")
    for each in json.loads(adjoint("passes", "--json")):
        if not re.search(rf"(?<![\w-]){each['name']}(?![\w-])", known):
            argument = f" [= {roff(each['argument'])} ]" if "argument" in each else ""
            yield from (".IP", f".BR {roff(each['name'])}{argument}:", roff(each["summary"]) + ".")


def main():
    page = open(sys.argv[2], encoding="utf-8").read()
    for line in page.splitlines():
        lines = {'.\\" COMMANDS': commands, '.\\" PASSES': passes}.get(line, lambda page: [line])(page)
        for out in lines:
            sys.stdout.buffer.write((out + "\n").encode())


main()
