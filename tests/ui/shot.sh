#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shot.sh BUILD FOLDER: screenshots of a scripted walk, light and dark, at two scales.

set -euo pipefail

build=$1
out=$2
source=$(cd "$(dirname "$0")/../.." && pwd)

mkdir -p "$out"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_DATA_HOME=$home/data XDG_CACHE_HOME=$home/cache
export GSK_RENDERER=cairo GSETTINGS_BACKEND=memory GTK_A11Y=none LC_ALL=C.UTF-8
export ADJ_LAYOUT_HELPER=${ADJ_LAYOUT_HELPER:-$PWD/$build/libexec/adjoint-layout}

walk ()
{
  GDK_SCALE=$2 xvfb-run -a -s "-screen 0 ${3}x24" \
    "$build/tests/ui/shoot" "$source/data/graphs/gpt2.adjoint" "$out" "$1" "$1-${2}x" gelu
}

walk light 1 1600x1000
walk dark 1 1600x1000
walk light 2 3200x2000
