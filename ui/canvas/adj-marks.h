/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The verdicts of a comparison for the boxes of a scene; a box of several nodes has the worst.
 * Immutable. */
typedef struct _AdjMarks AdjMarks;

/* @comparison must have nodes and be of the graph that @scene shows. */
AdjMarks *adj_marks_new (const AdjScene *scene, const AdjComparison *comparison);
void adj_marks_free (AdjMarks *marks);

/* %FALSE when no node of the box was compared. */
gboolean adj_marks_get (const AdjMarks *marks, guint box, AdjVerdict *verdict);
/* The largest absolute difference in the box; NaN when there is none. */
double adj_marks_get_max_abs (const AdjMarks *marks, guint box);
/* The box with the first node in order of execution that differs, or ADJ_NO_BOX. */
guint adj_marks_get_first (const AdjMarks *marks);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjMarks, adj_marks_free)

G_END_DECLS
