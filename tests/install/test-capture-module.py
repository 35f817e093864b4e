# SPDX-License-Identifier: MIT
"""Installs the capture module from the tree with pip, without a network, and checks its name, version and
requirements.  Prints TAP."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BRIDGE = pathlib.Path(__file__).resolve().parents[2] / "data" / "bridge"
NAME = "/install/capture-module-by-pip"
NEEDED = ("pip", "setuptools", "wheel")


def find_python():
    """Returns a suitable Python, or None and what the last one lacks."""
    for python in (sys.executable, "/usr/bin/python3"):
        probe = f"import importlib.util as u; print(*[n for n in {NEEDED} if u.find_spec(n) is None])"
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True)
        lacking = done.stdout.strip() if done.returncode == 0 else "python3"
        if not lacking:
            return python, None
    return None, lacking


def install(python, folder):
    """Installs a copy of the module's folder, because setuptools writes into it."""
    source, target = folder / "bridge", folder / "installed"
    shutil.copytree(BRIDGE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    subprocess.run(
        [python, "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-cache-dir", "--quiet", "install"]
        + ["--no-index", "--no-deps", "--no-build-isolation", "--root-user-action=ignore", "--target", target, source],
        check=True,
    )
    return target


def faults(target):
    module = (BRIDGE / "adjoint_capture.py").read_text(encoding="utf-8")
    version = re.search(r'^VERSION = "(.+)"$', module, re.MULTILINE).group(1)
    modules = sorted(path.name for path in target.glob("*.py"))
    if modules != ["adjoint_capture.py"]:
        yield f"installed are {modules}"
    elif (target / modules[0]).read_text(encoding="utf-8") != module:
        yield "the installed module is another"
    found = list(importlib.metadata.distributions(path=[str(target)]))
    names = [(each.metadata["Name"].replace("_", "-"), each.version) for each in found]
    if names != [("adjoint-capture", version)]:
        yield f"distributions are {names}, not adjoint-capture {version}"
    elif [re.sub("[ ()]", "", need) for need in found[0].requires or []] != ["torch>=2.4"]:
        yield f"it needs {found[0].requires}"


def main():
    python, lacking = find_python()
    print("1..1")
    if python is None:
        print(f"ok 1 - {NAME} # SKIP no Python with pip, setuptools and wheel: {lacking} is missing")
        return
    with tempfile.TemporaryDirectory() as name:
        complaints = list(faults(install(python, pathlib.Path(name))))
    for complaint in complaints:
        print(f"# {complaint}")
    print(f"{'not ok' if complaints else 'ok'} 1 - {NAME}")


main()
