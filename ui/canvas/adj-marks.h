/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"

G_BEGIN_DECLS

/* Verdicts of a comparison by node, for painting.  Immutable, counted atomically. */
typedef struct _AdjMarks AdjMarks;

/* @comparison must have nodes; @n_nodes: of its graph. */
AdjMarks *adj_marks_new (const AdjComparison *comparison, guint n_nodes);
AdjMarks *adj_marks_ref (AdjMarks *marks);
void adj_marks_unref (AdjMarks *marks);

/* %FALSE when the node was not compared. */
gboolean adj_marks_get (const AdjMarks *marks, AdjNodeId node, AdjVerdict *verdict);
/* The first node in order of execution that differs, or ADJ_NO_NODE. */
AdjNodeId adj_marks_get_first (const AdjMarks *marks);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjMarks, adj_marks_unref)

G_END_DECLS
