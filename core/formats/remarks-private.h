/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "formats/json-private.h"

G_BEGIN_DECLS

/* What a capture says of itself in its manifest:
 *
 *   "frames": 3,                                        functions that Dynamo was given
 *   "breaks": [{"frame": "forward (model.py:12)",       where known: one that was not compiled, or
 *               "what": "graph break", "why": "…"}],    not whole
 *   "notes": ["0-0-joint: no values of nodes: …"]       what is missing, and why
 *
 * Each member may be missing, and what is malformed in them is passed over: they are for people. */

/* Adds each as a note. */
void remarks_read (const JsonItem *manifest, AdjDiags *diags);
/* (transfer full) (nullable): why a capture holds no graph, "nothing was compiled: …"; %NULL: it
 * does not say. */
char *remarks_why_empty (const JsonItem *manifest);

G_END_DECLS
