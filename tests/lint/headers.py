# SPDX-License-Identifier: MIT
"""Checks that each header compiles as the first include of a file."""

import concurrent.futures
import os
import subprocess
import sys

from sources import ROOT, tracked

PACKAGES = ["gio-unix-2.0", "json-glib-1.0", "pangocairo", "libadwaita-1", "libcgraph", "libgvc"]
FOLDERS = ["core", "ui", "kernels", "tests", "tests/emulator", "build/core", "build/ui", "."]


def flags():
    cflags = subprocess.run(
        ["pkg-config", "--cflags", *PACKAGES], check=True, capture_output=True, text=True
    ).stdout.split()
    return ["-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Werror", *cflags] + [
        f"-I{ROOT / folder}" for folder in FOLDERS
    ]


def compile_alone(path, options):
    return subprocess.run(
        ["cc", *options, "-x", "c", "-"],
        input=f'#include "{ROOT / path}"\n',
        capture_output=True,
        text=True,
    ).stderr


def main():
    options = flags()
    headers = tracked("core/*.h", "kernels/*.h", "ui/*.h", "app/*.h", "tests/*.h")
    status = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, errors in zip(headers, pool.map(lambda path: compile_alone(path, options), headers)):
            if errors:
                status = 1
                print(f"{path} does not compile alone:\n{errors}", end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
