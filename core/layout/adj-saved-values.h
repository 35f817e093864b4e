/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What backward reads of forward, each storage once: the meaning of "saved" in the picture, the
 * sidebar, the memory page and reports.  Inputs and parameters exist anyway and are counted apart;
 * values marked to be recomputed are not saved. */
typedef struct
{
  guint n;
  gint64 *of;         /* per node: bytes of the storage that it allocates and backward reads */
  gint64 bytes;       /* all of them */
  gint64 offloaded;   /* of these, offloaded to the memory of the CPU */
  gint64 input_bytes; /* inputs, without parameters, that backward reads */
  guint turn;         /* index of the first call of backward, copies included; n: there is none */
} AdjSavedValues;

/* (transfer none): valid as long as @graph.  Computed once, by the thread that asks first. */
const AdjSavedValues *adj_graph_get_saved_values (const AdjGraph *graph);

G_END_DECLS
