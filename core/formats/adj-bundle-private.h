/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "formats/adj-bundle.h"

G_BEGIN_DECLS

#define BUNDLE_MAX_ID 64
#define BUNDLE_NOTES "notes.json"

typedef struct
{
  AdjRecordedCall call; /* must be first: callers hold its address.  Owns values and texts */
  gatomicrefcount refs;
  gboolean stale; /* only of a run: it was made by another version of the graph */
  AdjTapFunc get_tap;
  gpointer tap_data;
  GDestroyNotify destroy;
  GHashTable *taps[2]; /* node → AdjTensorData or NULL, in f32 and in f64 */
} BundleCall;

/* A tensor of the file that no value refers to. */
typedef struct
{
  char *file; /* id */
  char *key;
  AdjTensorData *data; /* (owned) */
} BundleTensor;

/* A fact, and the id of its region until that is known. */
typedef struct
{
  AdjBundleFact fact; /* texts in the arena */
  const char *region; /* (nullable) */
} BundleFact;

struct _AdjBundle
{
  gatomicrefcount ref_count;
  AdjArena *arena;
  GPtrArray *graphs;  /* AdjBundleGraph, in the arena */
  GPtrArray *regions; /* AdjRegion, in the arena */
  GPtrArray *calls;   /* BundleCall */
  GPtrArray *weights; /* BundleCall: known inputs of graphs without a recorded call */
  GPtrArray *runs;    /* BundleCall; replaced under @lock, never changed */
  GHashTable *by_id;
  GHashTable *texts;          /* id → GBytes */
  GHashTable *kept;           /* key → JSON */
  GHashTable *kept_in_graphs; /* id → JSON */
  GHashTable *kept_entries;   /* name → GBytes */
  GPtrArray *loose;           /* BundleTensor */
  GArray *facts;              /* BundleFact */
  gsize fact_bytes;           /* total size of the texts in @facts */
  AdjRecording *recording;    /* (owned) (nullable) */
  const char *description;
  const char *torch_version; /* (nullable): in the arena */
  gboolean has_random_source;
  AdjRandomSource random_source;
  gint64 gpu_threads;
  AdjDiags *diags;
  GMutex lock; /* guards the taps, which are loaded one by one, and replaceable members */
};

/* The bundle as built so far. (transfer none) */
const AdjBundle *bundle_builder_peek (const AdjBundleBuilder *builder);
AdjBundle *bundle_builder_get (AdjBundleBuilder *builder); /* (transfer none) */

/* (transfer full): a copy of what a log has given @builder so far, which is unchanged: the same
 * graph objects, their texts and the facts. */
AdjBundleBuilder *bundle_builder_copy (const AdjBundleBuilder *builder);

/* Graphs and regions of one rank stay in their order. */
void bundle_builder_sort_by_rank (AdjBundleBuilder *builder);

/* Keeps the known inputs of @graph_id, NONE for each unknown one.  %FALSE with ADJ_ERROR_NOT_FOUND
 * when there is no such graph, ADJ_ERROR_VERIFY when it has other inputs. */
gboolean bundle_builder_add_weights (AdjBundleBuilder *builder,
                                     const char *graph_id,
                                     const AdjValue *inputs,
                                     guint n_inputs,
                                     GError **error);

/* (transfer full): a copy of @call, without taps */
BundleCall *bundle_call_new (const AdjRecordedCall *call);
void bundle_call_unref (gpointer call);
/* As adj_bundle_builder_set_taps(). */
void bundle_call_set_taps (BundleCall *call, AdjTapFunc get, gpointer data, GDestroyNotify destroy);
/* (transfer none) (nullable) */
const AdjRecordedCall *
bundle_find_run_in (GPtrArray *runs, const AdjBundleGraph *graph, const char *name);

/* [a-z0-9_-]{1,64}: the only names that ever become parts of paths. */
gboolean bundle_is_id (const char *id);

/* Whether the run that was added last was made by another graph. */
gboolean bundle_builder_last_is_stale (const AdjBundleBuilder *builder);

void bundle_builder_set_torch_version (AdjBundleBuilder *builder, const char *version);
void bundle_builder_set_random_source (AdjBundleBuilder *builder, AdjRandomSource source);
void bundle_builder_set_gpu_threads (AdjBundleBuilder *builder, gint64 n_threads);

/* Keeps members of the manifest that are not understood, by @key ("source", …), as JSON, so that
 * saving writes them back. */
void bundle_builder_keep (AdjBundleBuilder *builder, const char *key, const char *json);
/* (nullable) */
const char *bundle_get_kept (const AdjBundle *bundle, const char *key);
/* Keys in the order of strcmp (). */
GList *bundle_list_kept (const AdjBundle *bundle); /* (transfer container) */
/* The same for the file of one graph: ", \"key\": …". */
void bundle_builder_keep_in_graph (AdjBundleBuilder *builder, const char *id, const char *json);
const char *bundle_get_kept_in_graph (const AdjBundle *bundle, const char *id); /* (nullable) */

/* Tensors that no value refers to, so that saving writes them back. */
void bundle_builder_keep_tensor (AdjBundleBuilder *builder,
                                 const char *file,
                                 const char *key,
                                 AdjTensorData *data);

/* Whole entries of an .adjoint that are kept unparsed: notes.json. */
void bundle_builder_keep_entry (AdjBundleBuilder *builder, const char *name, GBytes *bytes);
GBytes *bundle_dup_kept_entry (const AdjBundle *bundle,
                               const char *name); /* (transfer full) (nullable) */

/* Whether two calls ask the same source for values of nodes. */
gboolean bundle_shares_taps (const AdjRecordedCall *a, const AdjRecordedCall *b);
gboolean bundle_has_taps (const AdjRecordedCall *call);
/* What adj_bundle_get_tap () finds without looking at the joint graph. */
AdjTensorData *bundle_get_own_tap (const AdjBundle *bundle,
                                   const AdjRecordedCall *call,
                                   const char *node,
                                   gboolean float64);

void bundle_fact_clear (gpointer fact);
/* Finds the regions of facts; all regions have been added. */
void bundle_place_facts (AdjBundle *bundle);

/* Gives symbols of @graph, a captured backward, the hints that its text does not have. */
void captured_sizes_learn (const AdjGraph *graph);

G_END_DECLS
