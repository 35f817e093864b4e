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
  AdjValue *results;    /* by result, as @args */
  GPtrArray *saved;     /* of Saved */
  guint *n_entry_edges; /* (nullable): edges of each entry, if there are lists; else one each */
  AdjValue *kept;       /* (owned) (nullable): by argument, saved for PyTorch's form (op-form.c) */
  AdjRuleUse use;       /* what the needed entries read */
  /* By argument: NONE if the rule does not read it, META if it only reads metadata, and a NODE for
   * each saved tensor, its index in @saved. */
  AdjValue args[];
};

/* Edges of entry @entry of the rule: 1, or the length of the list. */
static inline guint
op_node_count_edges (const OpNode *op_node, guint entry)
{
  return op_node->n_entry_edges != NULL ? op_node->n_entry_edges[entry] : 1;
}

extern const GradNodeClass op_node_class;

/* For adj_value_map(): replaces a tensor by its metadata. */
gboolean op_node_describe_leaf (const AdjValue *leaf, AdjValue *out, gpointer data);

/* Whether result @index has a gradient. */
gboolean op_node_is_differentiable (const OpNode *op_node, const AdjOpCall *call, guint index);

/* Sets the edges and @needed (by entry, or one for all arguments without a rule); returns whether
 * any argument requires a gradient. */
gboolean op_node_connect_args (OpNode *op_node, const AdjOpCall *call, gboolean *needed);
/* Checks that @call may write its written arguments; else the context is in error. */
gboolean op_node_check_written (const AdjOpCall *call, const AdjRule *rule);
/* Gives the results their history. */
gboolean op_node_connect_results (OpNode *op_node, const AdjOpCall *call);

/* Before arguments are saved: if the context follows a release (adj_context_set_release()), tensors
 * that only PyTorch's node saves are saved too. */
void op_node_use_form (OpNode *op_node, const AdjOpCall *call);
/* After arguments are saved, before the call: keeps metadata that PyTorch's node saves and the rule
 * does not read. */
void op_node_keep_for_form (OpNode *op_node, const AdjOpCall *call);

G_END_DECLS
