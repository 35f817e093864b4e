#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shot.sh BUILD FOLDER: screenshots of a scripted walk: light, dark, high contrast, at two scales.

set -euo pipefail

build=$1
out=$2
source=$(cd "$(dirname "$0")/../.." && pwd)

mkdir -p "$out"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_DATA_HOME=$home/data XDG_CACHE_HOME=$home/cache XDG_CONFIG_HOME=$home/config
export GSK_RENDERER=cairo GSETTINGS_BACKEND=memory GTK_A11Y=none LC_ALL=C.UTF-8
export G_DEBUG=fatal-warnings
export ADJ_LAYOUT_HELPER=${ADJ_LAYOUT_HELPER:-$PWD/$build/libexec/adjoint-layout}

# With the pointer out of the picture.
walk ()
{
  GDK_SCALE=$3 xvfb-run -a -s "-screen 0 ${4}x24" \
    bash -c 'xdotool mousemove 10000 10000; exec "$@"' - \
    "$build/tests/ui/shoot" "$source/data/graphs" "$out" "$1" "$2"
}

walk light light-1x 1 1600x1000
walk dark dark-1x 1 1600x1000
ADW_DEBUG_HIGH_CONTRAST=1 walk light contrast-1x 1 1600x1000
ADW_DEBUG_HIGH_CONTRAST=1 walk dark contrast-dark-1x 1 1600x1000
walk light light-2x 2 3200x2000
