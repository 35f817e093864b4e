/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* What the metadata pass has found so far. */
typedef struct
{
  AdjContext *cx;
  AotProgram *program;
  guint n;
  AdjValue *values; /* the inputs, fake */
  AdjValue *inputs; /* as the function sees them */
  AdjTensorMeta *before;
  AdjGradNode **nodes; /* by input (nullable) (unowned): its history at first */
  AdjValue outputs;
  AdjAotMetadata *metadata;
  GPtrArray *bases; /* of AdjTensor, unowned: intermediate bases */
  /* Once outputs are looked at: positions, from 1, of the first output that is a tensor and of the
   * last input that is it or has its storage; and what outputs have a storage. */
  GHashTable *first_outputs, *last_inputs, *inputs_by_storage, *outputs_by_storage;
} AotCollection;

/* The output at @i; %NULL: it is no tensor. */
static inline AdjTensor *
aot_collection_output (const AotCollection *collection, guint i)
{
  const AdjValue *value = &collection->outputs.items[i];

  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

/* Whether there are hooks on what input @i became, or was on the way. */
gboolean aot_collection_is_hooked_since (const AotCollection *collection, guint i);

/* Whether there are hooks between @tensor, a view, and its base: a write takes them off. */
gboolean aot_collection_has_hooked_views (const AotCollection *collection, AdjTensor *tensor);

/* From a view of an input to that: how many views were made while grad mode was on.  %FALSE: there
 * are hooks on the way, which views that are made again have not. */
gboolean aot_collection_follow_views (const AotCollection *collection,
                                      AdjTensor *tensor,
                                      AdjAotOutput *output);

/* Some views of the input were made before it was turned and others are made after. */
gboolean aot_collection_shows_hooked_view (const AotCollection *collection,
                                           const AdjAotOutput *output);

/* Whether something else than a write to input @i, or turning it, made its history stale: before or
 * after it got the hooks. */
gboolean aot_collection_loses_hooks (const AotCollection *collection, guint i);

/* Lets the outputs be looked up; before the first of them is filled in. */
void aot_collection_index_outputs (AotCollection *collection);
void aot_collection_forget_index (AotCollection *collection);

/* Fill in what output @index is. */
gboolean aot_collection_add_output (AotCollection *collection, guint index, GError **error);

void aot_collection_add_tangents (AotCollection *collection);

/* What mutated inputs, outputs and bases are made of. */
void aot_collection_describe_returns (AotCollection *collection);

G_END_DECLS
