/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What backward reads of what forward made, each storage once: what "saved" counts wherever the
 * picture, the sidebar, the page of memory and reports say it.  Inputs and parameters are there
 * anyway and stand apart; what is marked to be computed again is not saved. */
typedef struct
{
  guint n;
  gint64 *of;         /* of each node: bytes of the storage that it makes and backward reads */
  gint64 bytes;       /* all of them */
  gint64 offloaded;   /* those of them that wait in the memory of the CPU */
  gint64 input_bytes; /* inputs, without parameters, that backward reads */
  guint turn;         /* the first call of backward, copies included; n: there is none */
} AdjSavedValues;

/* (transfer none): valid as long as @graph.  Found once, by whichever thread asks first. */
const AdjSavedValues *adj_graph_get_saved_values (const AdjGraph *graph);

G_END_DECLS
