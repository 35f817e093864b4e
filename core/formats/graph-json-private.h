/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* One file graphs/<id>.json of .adjoint (formats/SPEC.md §5.3). */

typedef struct
{
  const char *name; /* begins messages */
  AdjSymbols *symbols;
  const JsonItem *strings; /* (nullable) */
  ValueTensorFunc get_tensor;
  ValueGraphFunc get_graph;
  ValueObjectFunc get_object;
  gpointer data;
} GraphSource;

/* Node by node, so that the document is never in memory as a tree.  @kept gets top-level members
 * that we do not know, as JSON: ", \"key\": …". */
AdjGraph *graph_read_json (const GraphSource *source, GBytes *bytes, GString *kept, GError **error);

typedef struct
{
  GHashTable *strings; /* (nullable) text → number + 1: stack traces go there */
  GPtrArray *string_list;
  gboolean (*put_tensor) (gpointer data, AdjTensorData *tensor, GString *out, GError **error);
  gboolean (*put_graph) (gpointer data, AdjGraph *graph, GString *out, GError **error);
  const AdjValue *(*get_state) (gpointer data, AdjOpaque *object, guint *id, GError **error);
  gpointer data;
  gboolean origins; /* nodes name the node of the previous stage that they were made from */
  const char *kept; /* (nullable) */
} GraphSink;

gboolean
graph_write_json (const GraphSink *sink, const AdjGraph *graph, GString *out, GError **error);

G_END_DECLS
