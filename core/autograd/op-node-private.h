/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/autograd-private.h"
#include "rules/adj-node-op.h"

G_BEGIN_DECLS

struct _OpNode
{
  AdjGradNode parent;
  const AdjOp *op;
  const AdjRule *rule; /* (nullable): the operator has no gradient */
  guint n_results;
  guint in_place : 1; /* the first argument is written, whatever the schema says */
  guint released : 1;
  AdjValue *results; /* by result, as @args */
  GPtrArray *saved;  /* of Saved */
  guint *
      n_entry_edges; /* (nullable): edges of each entry, where there are lists; else each has one */
  AdjValue
      *kept; /* (owned) (nullable): by argument, what PyTorch's node keeps beside (op-form.c) */
  AdjRuleUse use; /* what is saved */
  /* By argument: NONE where the rule does not look, META where it looks at no more, and for each
   * tensor that is saved a NODE, its index in @saved. */
  AdjValue args[];
};

/* Edges of entry @entry of the rule: 1, or the length of the list. */
static inline guint
op_node_count_edges (const OpNode *op_node, guint entry)
{
  return op_node->n_entry_edges != NULL ? op_node->n_entry_edges[entry] : 1;
}

extern const GradNodeClass op_node_class;

/* For adj_value_map(): of a tensor what it looks like; anything else as it is. */
gboolean op_node_describe_leaf (const AdjValue *leaf, AdjValue *out, gpointer data);

/* Whether the gradient of result @index counts. */
gboolean op_node_is_differentiable (const OpNode *op_node, const AdjOpCall *call, guint index);

/* Sets the edges and @needed (by entry, or one for all arguments without a rule); returns whether
 * any argument requires a gradient. */
gboolean op_node_connect_args (OpNode *op_node, const AdjOpCall *call, gboolean *needed);
/* Whether what @call writes may be written; else the context is in error. */
gboolean op_node_check_written (const AdjOpCall *call, const AdjRule *rule);
/* The results get their history. */
gboolean op_node_connect_results (OpNode *op_node, const AdjOpCall *call);

/* Before the arguments are saved: as a release (adj_context_set_release()), what PyTorch's node
 * keeps and no entry of the rule does is saved too. */
void op_node_use_form (OpNode *op_node, const AdjOpCall *call);
/* Before the call, once the arguments are saved: what PyTorch's node keeps of them, and the rule
 * does not read. */
void op_node_keep_for_form (OpNode *op_node, const AdjOpCall *call);

G_END_DECLS
