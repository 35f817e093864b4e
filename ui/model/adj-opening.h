/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "formats/adj-follower.h"
#include "model/adj-graph-set.h"
#include "model/adj-task.h"
#include "objects/adj-extensions.h"
#include "session/adj-wanted-gradients.h"

G_BEGIN_DECLS

/* Reads graphs in another thread; the result is an AdjGraphSet. */

/* Classes and operators that files may name which are opened from now on; @extensions: (nullable).
 */
void adj_opening_set_extensions (AdjExtensions *extensions);

/* A file or a folder. */
AdjTask *adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done);
/* Whether a program may still be writing what @opening, of a file, has read: a log, or a folder in
 * which there is none yet. */
gboolean adj_opening_may_grow (AdjTask *opening);
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
  const char *decompositions; /* (static) (nullable): of the joint graph */
  gboolean functionalizes;    /* a stage of its own before the joint graph */
} AdjTraceChoice;

/* Runs the pipeline on @graph of @graphs; the result is the recording as a set.
 * @choice: (nullable)
 * @done_before: (nullable): a recording of the same graph, of which the first @n_kept stages stay
 */
AdjTask *adj_opening_start_trace (GObject *owner,
                                  AdjGraphSet *graphs,
                                  const AdjBundleGraph *graph,
                                  const AdjTraceChoice *choice,
                                  AdjRecording *done_before,
                                  guint n_kept,
                                  GAsyncReadyCallback done);
/* What @follower finds by now, which was @before (nullable): a set, or nothing without an error. */
AdjTask *adj_opening_start_growth (GObject *owner,
                                   AdjFollower *follower,
                                   AdjGraphSet *before,
                                   GAsyncReadyCallback done);
/* @bundle: (nullable): what is known of @file already */
AdjFollower *adj_opening_make_follower (GFile *file, AdjBundle *bundle); /* (transfer full) */
/* Loads pasted text: graphs, a console, a log. */
AdjTask *adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done);

G_END_DECLS
