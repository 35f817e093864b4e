/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* The findings of the metadata pass so far. */
typedef struct
{
  AdjContext *cx;
  AotProgram *program;
  guint n;
  AdjValue *values; /* the inputs, fake */
  AdjValue *inputs; /* wrapped, as passed to the function */
  AdjTensorMeta *before;
  AdjGradNode **nodes; /* by input (nullable) (unowned): its node before the call */
  AdjValue outputs;
  AdjAotMetadata *metadata;
  GPtrArray *bases; /* of AdjTensor, unowned: intermediate bases */
  /* Indexes of outputs: positions, from 1, of the first output that is a tensor and of the last
   * input that is it or has its storage; and counts of outputs by storage. */
  GHashTable *first_outputs, *last_inputs, *inputs_by_storage, *outputs_by_storage;
} AotCollection;

/* The output at @i; %NULL: it is no tensor. */
static inline AdjTensor *
aot_collection_output (const AotCollection *collection, guint i)
{
  const AdjValue *value = &collection->outputs.items[i];

  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

/* Whether the history of input @i since the call began has hooks. */
gboolean aot_collection_is_hooked_since (const AotCollection *collection, guint i);

/* Whether the history from @tensor, a view, to its base has hooks, which a write would drop. */
gboolean aot_collection_has_hooked_views (const AotCollection *collection, AdjTensor *tensor);

/* Sets @output's n_recorded: the number of views from an input to @tensor made with grad mode on.
 * %FALSE: the history has hooks, which recreated views would not have. */
gboolean aot_collection_follow_views (const AotCollection *collection,
                                      AdjTensor *tensor,
                                      AdjAotOutput *output);

/* Whether views were made before and after the input, which has hooks, was changed in place. */
gboolean aot_collection_shows_hooked_view (const AotCollection *collection,
                                           const AdjAotOutput *output);

/* Whether the history of input @i with hooks becomes stale by something other than a write or
 * metadata change of @i itself. */
gboolean aot_collection_loses_hooks (const AotCollection *collection, guint i);

/* Builds the indexes of outputs; before the first one is added. */
void aot_collection_index_outputs (AotCollection *collection);
void aot_collection_forget_index (AotCollection *collection);

/* Sets type and properties of output @index. */
gboolean aot_collection_add_output (AotCollection *collection, guint index, GError **error);

void aot_collection_add_tangents (AotCollection *collection);

/* Describes how mutated inputs, outputs and bases are composed of dense tensors. */
void aot_collection_describe_returns (AotCollection *collection);

G_END_DECLS
