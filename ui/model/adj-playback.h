/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Goes through what the shown graph computes, node by node: selects the call that comes next in
 * order of execution (@step 1) or came before (-1), from the selected node on.  Without results the
 * first step runs the graph, so that there are values to look at. */
void adj_playback_step (AdjDocument *document, gint step);

G_END_DECLS
