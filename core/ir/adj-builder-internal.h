/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-builder.h"

G_BEGIN_DECLS

/* Makes the sealed graph hold a reference to @graph, so that metadata of its nodes is shared and
 * not copied. */
void adj_builder_share (AdjBuilder *builder, const AdjGraph *graph);
/* Makes the sealed graph hold the references in @value, whose texts and items are in its arena
 * already. */
void adj_builder_keep (AdjBuilder *builder, const AdjValue *value);
/* The arena of the sealed graph, for values that are made piece by piece. (transfer none) */
AdjArena *adj_builder_get_arena (AdjBuilder *builder);
/* As adj_builder_unique_name(), without a copy. (transfer none) */
const char *adj_builder_take_name (AdjBuilder *builder, const char *candidate);
/* Reserves @name as it is. (transfer none): the builder's copy */
const char *adj_builder_hold_name (AdjBuilder *builder, const char *name);
/* Makes room for @n_nodes more. */
void adj_builder_reserve (AdjBuilder *builder, guint n_nodes);

/* As adj_builder_copy(), with storage number i of @from replaced by @storages[i]. @storages:
 * (nullable): array of gint32; numbers beyond its end are kept. */
AdjNodeId adj_builder_copy_renumbered (
    AdjBuilder *builder, const AdjGraph *from, guint index, AdjNodeId *map, const GArray *storages);

/* As adj_builder_copy(), with the origin of the node: for a graph that takes the place of @from. */
AdjNodeId adj_builder_copy_with_origin (AdjBuilder *builder,
                                        const AdjGraph *from,
                                        guint index,
                                        AdjNodeId *map);

/* The name of node @id, which @builder has. */
const char *adj_builder_get_name (AdjBuilder *builder, AdjNodeId id);

/* Sets the thread settings under which the graph is called. */
void adj_builder_set_thread_state (AdjBuilder *builder, const AdjThreadState *thread_state);

G_END_DECLS
