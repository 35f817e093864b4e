/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "call/adj-generator.h"
#include "passes/adj-recording.h"

G_BEGIN_DECLS

/* What a file holds: graphs by id, the regions that they belong to, and recorded calls.  Immutable
 * once read, counted atomically.  A small file may change or vanish afterwards.  Tensors of a large
 * one are read at first use; if it was written to meanwhile, computing with them fails. */
typedef struct _AdjBundle AdjBundle;

typedef struct
{
  const char *id; /* "0-0-joint": [r<rank>-]<frame>-<compile>[-<attempt>]-<role> */
  const char *title;
  const char *role; /* "dynamo", "joint", "forward", "backward", "inference", "compiled_autograd",
                       "subgraph", "user" */
  const char *compile_id; /* (nullable) "0/0" */
  gint rank;              /* -1: none */
  AdjGraph *graph;        /* (owned) */
} AdjBundleGraph;

/* Whether it is a joint graph, which is not yet partitioned into forward and backward. */
ADJ_PUBLIC gboolean adj_bundle_graph_is_undecided (const AdjBundleGraph *graph);

/* One compiled region: the graphs of one compile id. */
typedef struct
{
  const char *id;         /* "0-0" */
  const char *compile_id; /* (nullable) */
  gint rank;
  gint process; /* index of the writing process among those of this rank, from 0 */
  gint attempt;
  guint n_graphs;
  const AdjBundleGraph **graphs;
  gint num_fwd_outputs;     /* -1: unknown; given so, it is derived from the graphs if possible */
  const AdjValue *metadata; /* (nullable): fw_metadata as a DICT */
  /* (nullable): how PyTorch partitioned it, a DICT: "partitioner", "activation_memory_budget" and
   * "options" as partition-private.h has them */
  const AdjValue *partition;
  /* (nullable): what compiled autograd did when it captured the graph, a DICT: "nodes", "reasons",
   * as backward-private.h has them */
  const AdjValue *capture;
} AdjRegion;

/* The origin of a kept run: what computed it. */
typedef struct
{
  const char *name;     /* no two runs of a graph have the same: adj_run_name_is_valid() */
  const char *producer; /* (nullable): "adjoint 0.1.0" */
  const char *executor; /* (nullable): "interpreter" */
  gboolean float64;     /* computed in double precision */
  const char *inputs;   /* (nullable): what its inputs were: "recorded call 1", "seed 3" */
  const char *date;     /* (nullable): when, in UTC: "2026-11-22T14:09:37Z" */
  const char *graph;    /* fingerprint of the graph that ran; %NULL: the call's graph */
} AdjRunOrigin;

/* One recorded call of a graph, or a run that was kept.  Values are DATA, numbers, NONE and
 * containers of them. */
typedef struct
{
  const AdjBundleGraph *graph;
  const AdjRunOrigin *origin; /* (nullable): %NULL: PyTorch computed it */
  guint n;                    /* its number among the calls of that graph */
  gboolean derived;           /* put together from the calls of the region's other graphs */
  guint n_inputs;
  const AdjValue *inputs;
  guint n_outputs;
  const AdjValue *outputs;
  const AdjValue *rng;       /* (nullable): DICT of generator states */
  const AdjValue *gradients; /* (nullable): of each input, NONE where there is none */
  const AdjValue *tangents;  /* (nullable): of each output, what @gradients were computed from */
  /* (nullable): in a call of a graph that compiled autograd captured, a DICT: "inputs", "hooks",
   * "results" and "gradients", as backward-private.h has them */
  const AdjValue *backward;
} AdjRecordedCall;

ADJ_PUBLIC AdjBundle *adj_bundle_ref (AdjBundle *bundle); /* (transfer full) */
ADJ_PUBLIC void adj_bundle_unref (AdjBundle *bundle);     /* @bundle: (nullable) */

/* Results are valid as long as the bundle. */

/* Graphs in the order of the file. */
ADJ_PUBLIC guint adj_bundle_get_n_graphs (const AdjBundle *bundle);
ADJ_PUBLIC const AdjBundleGraph *adj_bundle_get_graph (const AdjBundle *bundle, guint index);
/* @id: a whole id, or a bare role when only one graph has it; %NULL or "": the only graph, else the
 * joint, forward, inference, dynamo or compiled-autograd graph of the first region.  %NULL
 * with ADJ_ERROR_NOT_FOUND, which lists the candidates. */
ADJ_PUBLIC const AdjBundleGraph *
adj_bundle_find_graph (const AdjBundle *bundle, const char *id, GError **error);
/* (transfer none) (nullable): the entry of this very graph. */
ADJ_PUBLIC const AdjBundleGraph *adj_bundle_find_entry (const AdjBundle *bundle,
                                                        const AdjGraph *graph);
ADJ_PUBLIC guint adj_bundle_get_n_regions (const AdjBundle *bundle);
ADJ_PUBLIC const AdjRegion *adj_bundle_get_region (const AdjBundle *bundle, guint index);
ADJ_PUBLIC const AdjRegion *adj_bundle_find_region (const AdjBundle *bundle,
                                                    const AdjBundleGraph *graph); /* (nullable) */
ADJ_PUBLIC guint adj_bundle_get_n_calls (const AdjBundle *bundle);
ADJ_PUBLIC const AdjRecordedCall *adj_bundle_get_call (const AdjBundle *bundle, guint index);
/* The @n-th call of @graph; %NULL when it was not recorded. */
ADJ_PUBLIC const AdjRecordedCall *
adj_bundle_find_call (const AdjBundle *bundle, const AdjBundleGraph *graph, guint n);

/* The recorded value of a node during @call, in float64 when asked; %NULL when not recorded.  Taps
 * of a recorded call of a joint graph also serve the forward and backward graphs of its region, by
 * node name. */
ADJ_PUBLIC AdjTensorData *adj_bundle_get_tap (const AdjBundle *bundle,
                                              const AdjRecordedCall *call,
                                              const char *node,
                                              gboolean float64); /* (transfer none) (nullable) */

/* "capture of torch 2.6.0, no decompositions": for lists. */
ADJ_PUBLIC const char *adj_bundle_get_description (const AdjBundle *bundle);
/* "2.6.0+cpu": the release of PyTorch that the graphs come from. (transfer none) (nullable) */
ADJ_PUBLIC const char *adj_bundle_get_torch_version (const AdjBundle *bundle);
/* Where the PyTorch that recorded took random numbers from; %FALSE: the file does not say. */
ADJ_PUBLIC gboolean adj_bundle_get_random_source (const AdjBundle *bundle, AdjRandomSource *source);
/* Diagnostics of the reader: hand-edited entries, records that could not be read. */
ADJ_PUBLIC const AdjDiags *adj_bundle_get_diags (const AdjBundle *bundle);
/* The recording of the stages by which graphs of the file were made. (transfer none) (nullable) */
ADJ_PUBLIC AdjRecording *adj_bundle_get_recording (const AdjBundle *bundle);
/* The content of notes.json: a JSON object of annotations, with the state of the view under "view".
 * It may be replaced as a whole; readers keep the bytes that they got. (transfer full) (nullable)
 */
ADJ_PUBLIC GBytes *adj_bundle_dup_notes (const AdjBundle *bundle);
ADJ_PUBLIC void adj_bundle_set_notes (AdjBundle *bundle, GBytes *notes);
/* -- runs that were kept: what PyTorch did not compute, and none of the calls above -- */

/* Kept runs, in the order in which they were kept.  Like the notes the list may be replaced as a
 * whole. (transfer full) (element-type AdjRecordedCall): not to be changed */
ADJ_PUBLIC GPtrArray *adj_bundle_dup_runs (const AdjBundle *bundle);
/* @runs: each of a graph of @bundle; not to be changed from then on */
ADJ_PUBLIC void adj_bundle_set_runs (AdjBundle *bundle, GPtrArray *runs);
/* (transfer full) (element-type AdjRecordedCall): a copy of @runs without the run @name of @graph;
 * the caller may add to it before handing it on. */
ADJ_PUBLIC GPtrArray *
adj_runs_without (GPtrArray *runs, const AdjBundleGraph *graph, const char *name);
/* (transfer full) (nullable): the run @name of @graph; %NULL with ADJ_ERROR_NOT_FOUND, which lists
 * the names that there are. */
ADJ_PUBLIC AdjRecordedCall *adj_bundle_find_run (const AdjBundle *bundle,
                                                 const AdjBundleGraph *graph,
                                                 const char *name,
                                                 GError **error);
/* (transfer full): a deep copy of @call, to be kept as a run.  @values (nullable): node →
 * AdjTensorData; values of inputs are left out. */
ADJ_PUBLIC AdjRecordedCall *adj_run_new (const AdjRecordedCall *call, GHashTable *values);
/* Counted atomically. */
ADJ_PUBLIC AdjRecordedCall *adj_run_ref (AdjRecordedCall *run); /* (transfer full) */
ADJ_PUBLIC void adj_run_unref (AdjRecordedCall *run);           /* @run: (nullable) */
/* How many nodes have a value that is kept with it. */
ADJ_PUBLIC guint adj_run_get_n_values (const AdjBundle *bundle, const AdjRecordedCall *run);
/* Whether the run was made by another version of its graph than the bundle has. */
ADJ_PUBLIC gboolean adj_run_is_stale (const AdjRecordedCall *run);
/* One line of text, of 1 to 100 bytes. */
ADJ_PUBLIC gboolean adj_run_name_is_valid (const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjRecordedCall, adj_run_unref)

/* A text of the file beside its graphs: the reason of a graph break, guards, generated code. */
typedef struct
{
  const char *name;        /* as the file calls it: "dynamo_graph_break_reason" */
  const AdjRegion *region; /* (nullable): the region that it is about */
  GBytes *text;            /* UTF-8 */
  const char *file;        /* (nullable): its file in a log of several files, with its line: */
  guint line;              /* 0: not known */
} AdjBundleFact;

/* In the order of the file. */
ADJ_PUBLIC guint adj_bundle_get_n_facts (const AdjBundle *bundle);
ADJ_PUBLIC const AdjBundleFact *adj_bundle_get_fact (const AdjBundle *bundle, guint index);

/* The original text of a graph when the file kept it. */
ADJ_PUBLIC GBytes *adj_bundle_get_text (const AdjBundle *bundle,
                                        const char *id); /* (transfer none) (nullable) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBundle, adj_bundle_unref)

/* -- making one -- */

typedef struct _AdjBundleBuilder AdjBundleBuilder;

ADJ_PUBLIC AdjBundleBuilder *adj_bundle_builder_new (void);          /* (transfer full) */
ADJ_PUBLIC void adj_bundle_builder_free (AdjBundleBuilder *builder); /* not after its end */
/* One line for lists. */
ADJ_PUBLIC void adj_bundle_builder_set_description (AdjBundleBuilder *builder, const char *text);
/* Texts are copied, the graph is referenced; the id must be new and of [a-z0-9_-]{1,64}:
 * else %FALSE with ADJ_ERROR_VERIFY. */
ADJ_PUBLIC gboolean adj_bundle_builder_add_graph (AdjBundleBuilder *builder,
                                                  const AdjBundleGraph *graph,
                                                  GError **error);
/* Region and call name graphs by id.  A call with an origin becomes one of the runs.  %FALSE with
 * ADJ_ERROR_NOT_FOUND when there is no such graph, ADJ_ERROR_VERIFY when a call stands twice. */
ADJ_PUBLIC gboolean adj_bundle_builder_add_region (AdjBundleBuilder *builder,
                                                   const AdjRegion *region,
                                                   const char *const *graph_ids,
                                                   GError **error);
ADJ_PUBLIC gboolean adj_bundle_builder_add_call (AdjBundleBuilder *builder,
                                                 const AdjRecordedCall *call,
                                                 const char *graph_id,
                                                 GError **error);
/* Serves taps of the call that was added last: @get is asked once per node and dtype. */
typedef AdjTensorData *(*AdjTapFunc) (const char *node,
                                      gboolean float64,
                                      gpointer data); /* (transfer full) (nullable) */
ADJ_PUBLIC void adj_bundle_builder_set_taps (AdjBundleBuilder *builder,
                                             AdjTapFunc get,
                                             gpointer data,
                                             GDestroyNotify destroy);
ADJ_PUBLIC void
adj_bundle_builder_set_text (AdjBundleBuilder *builder, const char *graph_id, GBytes *text);
/* Copies the texts.  @region (nullable): the id of a region that is added before the end; with an
 * unknown id the fact belongs to no region.  %FALSE: left out, since facts exceed 64 MiB in all. */
ADJ_PUBLIC gboolean adj_bundle_builder_add_fact (AdjBundleBuilder *builder,
                                                 const AdjBundleFact *fact,
                                                 const char *region);
/* Its graphs must be graphs of the bundle. */
ADJ_PUBLIC void adj_bundle_builder_set_recording (AdjBundleBuilder *builder,
                                                  AdjRecording *recording);
/* (transfer full): ends and frees @builder; @diags (nullable) (transfer full). */
ADJ_PUBLIC AdjBundle *adj_bundle_builder_end (AdjBundleBuilder *builder, AdjDiags *diags);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBundleBuilder, adj_bundle_builder_free)

G_END_DECLS
