/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-compare.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* Another graph laid beside the one that a document shows: its picture, and which node stands for
 * which.  Both are found in another thread.
 * Signals: "changed": there is another picture, or none any more. */
#define ADJ_TYPE_BESIDE (adj_beside_get_type ())
G_DECLARE_FINAL_TYPE (AdjBeside, adj_beside, ADJ, BESIDE, GObject)

AdjBeside *adj_beside_new (void); /* (transfer full) */
/* Lays @graph of @graphs (nullable: nothing) beside what @document shows now. */
void adj_beside_set (AdjBeside *self,
                     AdjDocument *document,
                     AdjGraphSet *graphs,
                     const AdjBundleGraph *graph);
/* (nullable): as long as there is none */
AdjScene *adj_beside_get_scene (AdjBeside *self);
AdjGraph *adj_beside_get_graph (AdjBeside *self); /* of the scene */
const AdjAlignment *
adj_beside_get_alignment (AdjBeside *self); /* of it (a) with the shown one (b) */
/* The node of the other graph beside node @own of the shown one; ADJ_NO_NODE: none. */
AdjNodeId adj_beside_find_other (AdjBeside *self, AdjNodeId own);
AdjNodeId adj_beside_find_own (AdjBeside *self, AdjNodeId other);
/* "approximate: 'tanh' → 'none'", from the other to the shown one; "": the same.  (transfer full)
 */
char *adj_beside_describe (AdjBeside *self, AdjNodeId own);
/* What both sides computed where they were run, and what that was compared with: "Left: computed
 * 0.1, −2, …, recorded 0.1, −2.1, …", a line each; "": neither was.  (transfer full) */
char *adj_beside_describe_values (AdjBeside *self, AdjDocument *document, AdjNodeId own);

G_END_DECLS
