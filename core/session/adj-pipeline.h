/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "formats/adj-bundle.h"
#include "partition/adj-partition.h"
#include "session/adj-release.h"

G_BEGIN_DECLS

/* -- the passes, in the order of lists and menus -- */

/* The table of passes. */
ADJ_PUBLIC guint adj_passes_get_n (void);
ADJ_PUBLIC const AdjPass *adj_passes_get (guint index);
/* (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which lists the passes that there
 * are. */
ADJ_PUBLIC const AdjPass *adj_pass_find (const char *name, GError **error);

/* -- running several -- */

typedef struct
{
  /* (nullable) Passes and partitioners by name, "decompose=core,cse,min-cut"; "" for none; %NULL:
   * the usual ones for a graph of that role.  For a program the first may be "compiled-autograd":
   * it captures the backwards, and the steps after it run on each. */
  const char *steps;
  /* (nullable) The partitioner that runs last where @steps names none, "none" for no partitioner;
   * %NULL: min-cut where there is a backward. */
  const char *partitioner;
  const char *usual_partitioner;        /* (nullable): default that replaces min-cut */
  const AdjPartitionOptions *partition; /* (nullable) */
  const AdjRelease *release; /* (nullable): that .compat of @partition follows; %NULL: 2.6 */
  AdjDiags *diags;           /* (nullable): gets each warning once */
  /* (nullable) Called before each step, and once at the end with @done == @total. */
  void (*progress) (guint done, guint total, const char *step, gpointer data);
  gpointer data;
} AdjPipelineOptions;

/* A captured backward. */
typedef struct
{
  char *reason;    /* (owned): why it was captured */
  guint64 n_runs;  /* how many backwards ran the captured graph */
  guint first, n;  /* its stages in the recording */
  guint n_capture; /* the first @n_capture of these were made by compiled autograd, the others by
                      later steps */
} AdjPipelineCapture;

typedef struct
{
  AdjRecording *recording; /* (owned) */
  AdjPartition *partition; /* (owned) (nullable): what the last partitioner decided */
  GArray *captures;        /* (owned) (nullable): AdjPipelineCapture; their stages come last */
  guint64 n_hits;          /* backwards that ran a graph captured before */
  guint64 n_fallbacks;     /* backwards that ran eagerly */
  char *fallback_reason;   /* (owned) (nullable): why the last of these ran eagerly */
} AdjPipelineResult;

/* Frees the members of @result, not @result itself. */
ADJ_PUBLIC void adj_pipeline_result_clear (AdjPipelineResult *result);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjPipelineResult, adj_pipeline_result_clear)

/**
 * adj_pipeline_run:
 * @role: of @graph, "dynamo", "joint" …: names the first stage and chooses the default steps
 * @options: (nullable)
 * @result: (out caller-allocates): every stage; where a step failed its stage is the last and says
 *   why
 *
 * Runs the steps one after the other, each on what the one before it made.  A partitioner makes two
 * stages of one, "forward" and "backward", and ends the list.
 *
 * Returns: %FALSE with ADJ_ERROR_NOT_FOUND or ADJ_ERROR_UNSUPPORTED when the steps cannot be read,
 *   ADJ_ERROR_UNSUPPORTED when @graph holds what was not understood, G_IO_ERROR_CANCELLED
 */
ADJ_PUBLIC gboolean adj_pipeline_run (AdjGraph *graph,
                                      const char *role,
                                      const AdjPipelineOptions *options,
                                      AdjPipelineResult *result,
                                      GCancellable *cancellable,
                                      GError **error);

/**
 * adj_pipeline_result_to_bundle:
 * @source: (nullable): the file that the first stage comes from, for its region, its calls and
 *   the runs of it that were kept
 * @graph: (nullable): that stage in @source
 *
 * The recording as a file: the graphs are named by their stages, "0-0-joint", in one region.
 *
 * Returns: (transfer full)
 */
ADJ_PUBLIC AdjBundle *adj_pipeline_result_to_bundle (const AdjPipelineResult *result,
                                                     AdjBundle *source,
                                                     const AdjBundleGraph *graph);

G_END_DECLS
