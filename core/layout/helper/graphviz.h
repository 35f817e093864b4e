/* SPDX-License-Identifier: MIT */
#pragma once

#include <graphviz/gvc.h>

#include "layout/adj-placement.h"

/* Lays out one block with Graphviz; %NULL when it fails. */
AdjPlacement *dot_place (GVC_t *context, const AdjBlockGraph *graph);
