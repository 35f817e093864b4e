/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Which boxes and edges of a scene are lit while others are dimmed. */
typedef struct _AdjHighlight AdjHighlight;

/* Highlights the neighbourhood of a node: makers, users, its counterpart, its recompute copy, its
 * bridges, and the chain of effect tokens that it is on. */
AdjHighlight *
adj_highlight_new_for_node (const AdjScene *scene, const AdjGraph *graph, AdjNodeId node);
/* @nodes: of guint32; @chosen: as a selection, with the lines between them */
AdjHighlight *
adj_highlight_new_for_nodes (const AdjScene *scene, const GArray *nodes, gboolean chosen);
/* All boxes of one role. */
AdjHighlight *adj_highlight_new_for_role (const AdjScene *scene, AdjRole role);
void adj_highlight_free (AdjHighlight *highlight);

gboolean adj_highlight_has_box (const AdjHighlight *highlight, guint box);
/* Whether it is one of several selected boxes. */
gboolean adj_highlight_has_chosen (const AdjHighlight *highlight, guint box);
gboolean adj_highlight_has_edge (const AdjHighlight *highlight, guint edge);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjHighlight, adj_highlight_free)

G_END_DECLS
