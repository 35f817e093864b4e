/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "formats/adj-bundle-private.h"
#include "formats/entries-private.h"
#include "formats/objects-private.h"
#include "formats/tensor-files-private.h"
#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* What a file .adjoint is read with. */

#define LOADER_MAX_GRAPHS 65536

typedef enum
{
  GRAPH_UNREAD,
  GRAPH_BEING_READ,
  GRAPH_READ,
} GraphState;

typedef struct
{
  const JsonItem *item; /* in the manifest */
  guint place;
  GraphState state;
  AdjGraph *graph;     /* (owned) */
  AdjSymbols *symbols; /* (owned) (nullable): symbols of its region, where they differ from those of
                          the file */
} GraphEntry;

typedef struct
{
  const char *path; /* for messages */
  Entries *entries;
  AdjArena *arena;
  JsonReader json; /* of the manifest: its name, for messages */
  const JsonItem *manifest;
  AdjSymbols *symbols;
  AdjSymbols *within; /* (unowned): symbols of the graph that is read, and of its subgraphs */
  AdjDiags *diags;
  AdjBundleBuilder *builder;
  GHashTable *graphs; /* id → GraphEntry */
  TensorFiles *files;
  ReadObjects *objects;
  GCancellable *cancellable;
  guint depth;
} Loader;

void loader_free_graph (gpointer entry);
/* Makes the entries of .graphs, unread. */
gboolean loader_list_graphs (Loader *loader, GError **error);
/* Reads all graphs, in the order of the manifest. */
gboolean loader_read_graphs (Loader *loader, GError **error);
/* The entries of an array of objects; absent is empty. */
gboolean loader_get_objects (
    Loader *loader, const char *key, guint max, const JsonItem **out, GError **error);
/* A reader of values that refer to tensors, graphs and objects of the file; @plain: of values
 * without references. */
ValueReader loader_read_values (Loader *loader, gboolean plain);
gint loader_get_rank (const JsonItem *item); /* -1: none */

G_END_DECLS
