#!/bin/bash
# SPDX-License-Identifier: MIT
#
# keyboard.sh WORKBENCH GRAPHS: keyboard.py on a display, a bus and a home of its own.

set -euo pipefail

for tool in xvfb-run dbus-run-session xdotool; do
  if ! command -v $tool >/dev/null; then
    echo "1..0 # SKIP $tool is not here"
    exit 0
  fi
done

here=$(cd "$(dirname "$0")" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
unset NO_AT_BRIDGE G_DEBUG MALLOC_PERTURB_
# Telling our leaks from GTK's needs full stacks, which are too slow for tests that wait for answers.
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
export HOME=$home TMPDIR=$home PYTHONDONTWRITEBYTECODE=1
export XDG_DATA_HOME=$home/data XDG_CACHE_HOME=$home/cache XDG_CONFIG_HOME=$home/config
export GTK_A11Y=atspi GSK_RENDERER=cairo LC_ALL=C.UTF-8

mkdir -p "$home/config/gtk-4.0"
printf '[Settings]\ngtk-enable-animations=false\n' >"$home/config/gtk-4.0/settings.ini"

# The system's Python: it has the bindings.  What the bus starts must not write among our lines; it
# closes every other descriptor that it inherits.
xvfb-run -a -s "-screen 0 1600x1000x24" dbus-run-session -- bash -c '"$@" >"$0"' /proc/$$/fd/1 \
  /usr/bin/python3 "$here/keyboard.py" "$@" >/dev/null 2>"$home/errors" ||
  { cat "$home/errors" >&2; exit 1; }
