/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle-private.h"
#include "formats/json-private.h"
#include "formats/save-meter-private.h"
#include "formats/tensor-store-private.h"
#include "formats/zip-private.h"

G_BEGIN_DECLS

/* A bundle on its way into an .adjoint. */

/* A graph to write: one of the bundle, or a subgraph that has no entry there. */
typedef struct
{
  const char *id;
  const char *role;
  const AdjBundleGraph *known; /* (nullable) */
  AdjGraph *graph;
  guint item;
} SavedGraph;

typedef struct
{
  AdjBundle *bundle;
  GPtrArray *runs;   /* AdjRecordedCall: those that the bundle keeps */
  AdjArena *arena;   /* ids */
  GArray *graphs;    /* SavedGraph; grows while subgraphs are found */
  GHashTable *ids;   /* AdjGraph → id */
  GHashTable *taken; /* ids in use */
  TensorStore *store;
  GHashTable *strings; /* text → number + 1 */
  GPtrArray *string_list;
  GArray *items;   /* ZipItem; the manifest first */
  GPtrArray *sums; /* SHA-256 of each item, in hexadecimal */
  GArray *tensors; /* guint: which items hold tensors */
  SaveMeter meter;
} AdjointSaver;

/* Callbacks of value_write (): where a tensor went, and which id a graph has. */
gboolean saver_put_tensor (gpointer saver, AdjTensorData *tensor, GString *out, GError **error);
gboolean saver_put_graph (gpointer saver, AdjGraph *graph, GString *out, GError **error);
/* What an object is saved as. */
const AdjValue *saver_get_state (gpointer saver, AdjOpaque *object, guint *id, GError **error);
/* The file of the values of a run. */
#define SAVED_RUN_VALUES "run-%u"

/* The first call whose taps call @index shares; its number is part of the file's id. */
guint saver_find_tap_leader (AdjointSaver *saver, guint index);

/* adjoint.json; everything it names has been written. */
gboolean saver_put_manifest (AdjointSaver *saver, GString *out, GError **error);

G_END_DECLS
