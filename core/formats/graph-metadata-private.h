/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"
#include "formats/graph-json-private.h"

G_BEGIN_DECLS

/* What one node says beside its call, all in @value.arena. */
typedef struct
{
  ValueReader value;
  AdjNodeMeta meta;
  AdjTensorMeta *tensor; /* (nullable): the annotation, to be completed */
  AdjNodeId origin;
  GArray *extra; /* AdjValue: key, value, key, value … */
} NodeMetadata;

/* Reads the type and the metadata of @item, a node. */
gboolean graph_read_metadata (NodeMetadata *metadata, const JsonItem *item, GError **error);

G_END_DECLS
