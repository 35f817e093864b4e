/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef struct _AdjViewChain AdjViewChain; /* rules/: views as data */

/* Mutations of inputs and aliasing of outputs of a function, found by running it once (aot/SPEC.md
 * §2).  Plain data: the stages edit copies of it. */

typedef enum
{
  ADJ_MUTATION_NONE,
  ADJ_MUTATION_IN_GRAPH,     /* a node of the forward graph writes the input; nothing is returned */
  ADJ_MUTATION_OUT_OF_GRAPH, /* the new value is a leading output, the epilogue applies it */
} AdjMutation;

typedef struct
{
  guint place; /* index of the user's input, or of the first one that it is made from */
  gboolean is_tensor;
  gboolean is_leaf;
  gboolean mutates_data;
  gboolean mutates_metadata;
  gboolean mutates_storage_metadata; /* set_ */
  gboolean storage_resize;
  gboolean hidden;        /* every write was hidden from autograd, or there was none */
  gboolean under_no_grad; /* there were writes, all with grad mode off */
  gboolean requires_grad; /* after the run */
  gboolean counted; /* its version changed: it or a view of it was written, or its metadata was */
  gboolean turned_back;   /* its sizes or strides were changed and changed back */
  gboolean turns_no_grad; /* every change of metadata was made with grad mode off */
  gboolean in_backward;   /* written by the backward only */
  gboolean hooked;        /* its tensor has hooks after the call, or had some during it */
  gboolean whole;         /* it shrinks: the value returned for it has all the old elements */
  AdjViewChain *turned;   /* (owned) (nullable): with @whole, the views from that value to it */
  guint64 bytes_before;   /* of the storage, if it was resized */
  guint64 bytes_after;
  AdjMutation mutation;
} AdjAotInput;

typedef enum
{
  ADJ_OUTPUT_NON_ALIAS,
  ADJ_OUTPUT_ALIAS_OF_INPUT,
  ADJ_OUTPUT_IS_INPUT,
  ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_SAVE_AS_OUTPUT,
  ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE,
  ADJ_OUTPUT_ALIAS_OF_INTERMEDIATE_BASE_IS_USER_OUTPUT,
  ADJ_OUTPUT_UNSAFE_VIEW_ALIAS,
  ADJ_OUTPUT_CUSTOM_FUNCTION_VIEW,
  ADJ_N_OUTPUT_TYPES,
} AdjOutputType;

typedef struct
{
  AdjOutputType type;
  const char *rule;  /* the row of aot/SPEC.md §2.4 that decided: "3b" */
  AdjValueKind kind; /* TENSOR, INT, SIZE … */
  gint base; /* an input, an intermediate base or an output, as @type says; -1: none.  For NON_ALIAS
                and CUSTOM_FUNCTION_VIEW the input whose memory it shows, with a history of its own
              */
  guint first; /* the first output that is the same object, possibly itself */
  gboolean requires_grad;
  gboolean hooked;      /* it has a hook that a write would drop */
  guint32 dynamic_dims; /* bit mask of symbolic sizes */
  AdjTensorMeta meta;   /* of a tensor */
  AdjViewChain *recipe; /* (owned) (nullable): the views from its base to it */
  guint n_recorded; /* number of last steps recorded by autograd; earlier ones ran with grad mode
                       off */
  AdjViewChain *turned; /* (owned) (nullable): first steps of @recipe, which were applied to the
                           base, an input, in place: after that only the rest is replayed */
} AdjAotOutput;

typedef struct
{
  guint n_inputs;
  AdjAotInput *inputs;
  guint n_outputs;
  AdjAotOutput *outputs;
  guint n_bases; /* number of intermediate bases, returned after the outputs */
  gboolean keep_input_mutations;
  gboolean is_train;
  gboolean deterministic;
  gboolean rng;            /* seed and offset are inputs, the new offset an output */
  gint grad_mode;          /* grad mode that the function leaves: 0, 1; -1: unchanged */
  guint n_tokens;          /* number of effect tokens, which are the first inputs and outputs */
  char **tokens;           /* (owned) %NULL-terminated: the effects, in order of first use */
  guint n_backward_tokens; /* tokens, the last inputs and outputs of the backward */
  guint n_tangents;
  AdjTensorMeta *tangents;
  guint n_saved_sizes; /* set by the partitioner */

  /* derived from the rest */
  guint n_mutated_runtime; /* OUT_OF_GRAPH inputs */
  guint *mutated_runtime;
  guint n_mutated_in_graph; /* IN_GRAPH inputs */
  guint *mutated_in_graph;
  guint n_aliased;                  /* outputs that are regenerated or are an input */
  guint n_aliased_to_inputs;        /* of these */
  guint n_aliased_to_intermediates; /* of these */
  gboolean dynamic_outputs;
  guint n_forward_returns; /* mutated + outputs + bases */
  guint n_forward;         /* the same, and the offset of the generator */
} AdjAotMetadata;

ADJ_PUBLIC void adj_aot_metadata_free (AdjAotMetadata *metadata); /* @metadata: (nullable) */
/* "in 0: data, rg -> OUT", one line for each input, output and tangent. */
ADJ_PUBLIC void
adj_aot_metadata_print (const AdjAotMetadata *metadata, const AdjSymbols *symbols, GString *out);

ADJ_PUBLIC const char *adj_output_type_name (AdjOutputType type); /* "alias_of_input" */

/* -- in words (explain.c) -- */

/* Its mutation in words, "is written, and leaves as output 0: every call writes it back", and why.
 * (transfer full) */
ADJ_PUBLIC char *adj_aot_metadata_explain_input (const AdjAotMetadata *metadata, guint index);
/* Its aliasing in words, "is a view of input 0: every call makes it again of the live one".
 * (transfer full) */
ADJ_PUBLIC char *adj_aot_metadata_explain_output (const AdjAotMetadata *metadata, guint index);
/* The condition of the row of aot/SPEC.md §2.4 named @rule; "" if there is none. */
ADJ_PUBLIC const char *adj_output_rule_explain (const char *rule);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjAotMetadata, adj_aot_metadata_free)

G_END_DECLS
