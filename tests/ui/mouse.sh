#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mouse.sh TEST: a test that moves the mouse, on a display of its own: others run at the same time.

set -euo pipefail

for tool in xvfb-run xdotool; do
  if ! command -v $tool >/dev/null; then
    echo "1..0 # SKIP $tool is not here"
    exit 0
  fi
done

exec xvfb-run -a -s "-screen 0 1440x1000x24" "$@"
