/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "model/adj-task.h"
#include "session/adj-wanted-gradients.h"

G_BEGIN_DECLS

/* Reads graphs in another thread; the result is an AdjGraphSet. */

/* A file or a folder. */
AdjTask *adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done);
/* How a joint graph is to be taken apart. */
typedef struct
{
  const char *partitioner; /* static */
  double budget;
  gboolean compat; /* as PyTorch decides */
  gint num_fwd_outputs;
} AdjPartitionChoice;

/* How a graph is to be traced. */
typedef struct
{
  AdjPartitionChoice partition; /* without a partitioner: as it comes */
  AdjGradientsChoice gradients;
} AdjTraceChoice;

/* Runs the default pipeline on @graph of @bundle; the result is the recording as a set.
 * @choice: (nullable) */
AdjTask *adj_opening_start_trace (GObject *owner,
                                  AdjBundle *bundle,
                                  const AdjBundleGraph *graph,
                                  const AdjTraceChoice *choice,
                                  GAsyncReadyCallback done);
/* Loads pasted text: graphs, a console, a log. */
AdjTask *adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done);

G_END_DECLS
