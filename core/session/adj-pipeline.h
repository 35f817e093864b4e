/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "formats/adj-bundle.h"
#include "partition/adj-partition.h"
#include "session/adj-release.h"

G_BEGIN_DECLS

/* -- the passes, in the order of lists and menus -- */

/* Their records. */
ADJ_PUBLIC guint adj_passes_get_n (void);
ADJ_PUBLIC const AdjPass *adj_passes_get (guint index);
/* (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
ADJ_PUBLIC const AdjPass *adj_pass_find (const char *name, GError **error);

/* -- running several -- */

typedef struct
{
  /* (nullable) Passes and partitioners by name, "decompose=core,cse,min-cut"; "" for none; %NULL:
   * what a graph of that role asks for.  Of a program "compiled-autograd" as the first one captures
   * its backwards; what follows is done to each. */
  const char *steps;
  /* (nullable) Who comes last where @steps name nobody, "none" for nobody; %NULL: min-cut
   * where there is a backward. */
  const char *partitioner;
  const char *usual_partitioner;        /* (nullable): in the place of min-cut */
  const AdjPartitionOptions *partition; /* (nullable) */
  const AdjRelease *release; /* (nullable): that .compat of @partition means; %NULL: 2.6 */
  AdjDiags *diags;           /* (nullable): gets what was warned of, once */
  /* (nullable) Called before each step, and once at the end with @done == @total. */
  void (*progress) (guint done, guint total, const char *step, gpointer data);
  gpointer data;
} AdjPipelineOptions;

/* A backward that a program ran, captured. */
typedef struct
{
  char *reason;    /* (owned): why it was */
  guint64 n_runs;  /* backwards that ran it */
  guint first, n;  /* its stages */
  guint n_capture; /* those of them that are compiled autograd's own; others are steps after it */
} AdjPipelineCapture;

typedef struct
{
  AdjRecording *recording; /* (owned) */
  AdjPartition *partition; /* (owned) (nullable): what the last partitioner decided */
  GArray *captures;        /* (owned) (nullable): AdjPipelineCapture; their stages come last */
  guint64 n_hits;          /* backwards that ran what had been captured before */
  guint64 n_fallbacks;     /* backwards that ran eagerly */
  char *fallback_reason;   /* (owned) (nullable): why the last of these did */
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
 * What a recording is as a file: its graphs by name of their stage, "0-0-joint", in one region.
 *
 * Returns: (transfer full)
 */
ADJ_PUBLIC AdjBundle *adj_pipeline_result_to_bundle (const AdjPipelineResult *result,
                                                     AdjBundle *source,
                                                     const AdjBundleGraph *graph);

G_END_DECLS
