/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Steps through the shown graph: selects the next call in order of execution (@step 1) or the
 * previous one (-1), from the selected node on.  Without results the first step runs the graph, so
 * that values can be shown. */
void adj_playback_step (AdjDocument *document, gint step);

G_END_DECLS
