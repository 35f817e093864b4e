/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/pt2-private.h"
#include "ir/adj-builder.h"

G_BEGIN_DECLS

/* One graph of a program in the making; subgraphs have one of their own. */
typedef struct
{
  const Pt2Scope *scope;
  const JsonItem *graph;
  AdjBuilder *builder;
  GHashTable *tensors;     /* name of a value → its TensorMeta */
  GHashTable *numbers;     /* name of a value → its SymInt, SymBool or SymFloat */
  GHashTable *taken;       /* (owned) names that nodes have or will have */
  const AdjNodeMeta *meta; /* (nullable): of the call that is being read */
  guint depth;             /* subgraphs around this one */
  guint n_samples;         /* of the inputs so far */
} Pt2Graph;

/* -- pt2-arguments.c -- */

/* Reads an Argument; a value that it names must exist already. */
gboolean pt2_read_argument (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error);
/* (nullable): the name of the value that an input or output is. */
const char *pt2_name_of (const JsonItem *argument);
/* Sets the annotation of the value @name: META, a number, or NONE. */
gboolean pt2_read_annotation (Pt2Graph *graph, const char *name, AdjValue *out, GError **error);

/* -- pt2-meta.c -- */

/* The "metadata" of a node; texts are borrowed or in the arena. */
void pt2_read_node_meta (const Pt2Scope *scope, const JsonItem *metadata, AdjNodeMeta *out);

/* -- pt2-graph.c -- */

/* A name of @stem that no value has: in the arena. */
const char *pt2_graph_fresh_name (Pt2Graph *graph, const char *stem);
/* (transfer full) (nullable) */
AdjGraph *pt2_graph_read_nested (Pt2Graph *around, const JsonItem *graph, GError **error);

G_END_DECLS
