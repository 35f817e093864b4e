/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-compare.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* Another graph beside the one that a document shows: its picture, and the alignment of their
 * nodes. Both are computed in another thread. Signals: "changed": the picture was replaced or
 * removed. */
#define ADJ_TYPE_BESIDE (adj_beside_get_type ())
G_DECLARE_FINAL_TYPE (AdjBeside, adj_beside, ADJ, BESIDE, GObject)

AdjBeside *adj_beside_new (void); /* (transfer full) */
/* Aligns @graph of @graphs (nullable: nothing) with the graph that @document shows now. */
void adj_beside_set (AdjBeside *self,
                     AdjDocument *document,
                     AdjGraphSet *graphs,
                     const AdjBundleGraph *graph);
/* (nullable): %NULL until it is computed */
AdjScene *adj_beside_get_scene (AdjBeside *self);
AdjGraph *adj_beside_get_graph (AdjBeside *self); /* of the scene */
const AdjAlignment *
adj_beside_get_alignment (AdjBeside *self); /* of the other graph (a) with the shown one (b) */
/* The node of the other graph beside node @own of the shown one; ADJ_NO_NODE: none. */
AdjNodeId adj_beside_find_other (AdjBeside *self, AdjNodeId own);
AdjNodeId adj_beside_find_own (AdjBeside *self, AdjNodeId other);
/* How the node of the other graph differs from the shown one, "approximate: 'tanh' → 'none'"; "":
 * not at all.  (transfer full) */
char *adj_beside_describe (AdjBeside *self, AdjNodeId own);
/* The values of both nodes where they were run, and the values that they were compared with: "Left:
 * computed 0.1, −2, …, recorded 0.1, −2.1, …", a line each; "": neither was run.  (transfer full)
 */
char *adj_beside_describe_values (AdjBeside *self, AdjDocument *document, AdjNodeId own);

G_END_DECLS
