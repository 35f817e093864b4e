/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef enum
{
  ADJ_CHANGE_NONE,    /* the same call on aligned inputs with the same annotation */
  ADJ_CHANGE_ADDED,   /* only in b */
  ADJ_CHANGE_REMOVED, /* only in a */
  ADJ_CHANGE_CHANGED, /* aligned, but arguments, annotation or tags differ */
} AdjChangeKind;

typedef struct
{
  AdjChangeKind kind;
  AdjNodeId a, b;     /* ADJ_NO_NODE on the side where it is missing */
  const char *reason; /* what differs: "target", "args", "val", "recompute" …; %NULL for NONE */
} AdjChange;

/* Two graphs side by side. Nodes are matched by origin where one graph was made from the other,
 * then when they are the same call on matched inputs, then by name, target, annotation, place in
 * the source and inputs, then (op, inputs aligned), then name without inputs, then order within the
 * same op and stack frame, then as inputs of matched nodes in the same position; the rest stays
 * unmatched. */
typedef struct
{
  guint n_changes; /* every node of both graphs, in the order of b with removed ones in place */
  AdjChange *changes;
  guint n_added, n_removed, n_changed, n_same;
} AdjAlignment;

/* (transfer full) */
ADJ_PUBLIC AdjAlignment *adj_graph_align (const AdjGraph *a, const AdjGraph *b);
/* (transfer full): the alignment of @before with @after, which was made from it, by the origins of
 * nodes. */
ADJ_PUBLIC AdjAlignment *adj_graph_align_made (const AdjGraph *before, const AdjGraph *after);
ADJ_PUBLIC void adj_alignment_free (AdjAlignment *alignment);
/* Equal except for names of nodes and provenance. */
ADJ_PUBLIC gboolean adj_graph_equal_structure (const AdjGraph *a, const AdjGraph *b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjAlignment, adj_alignment_free)

G_END_DECLS
