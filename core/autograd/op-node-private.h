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
  /* By argument and by result: NONE where the rule does not look, META where it looks at no more,
   * and for each tensor that is saved a NODE, its index in @saved. */
  AdjValue *args;
  AdjValue *results;
  guint n_results;
  GPtrArray *saved;                       /* of Saved */
  guint n_entry_edges[ADJ_MAX_ARGUMENTS]; /* edges of each entry: 1, or the length of the list */
  gboolean in_place; /* the first argument is written, whatever the schema says */
  AdjRuleUse use;    /* what is saved */
  AdjValue
      *kept; /* (owned) (nullable): by argument, what PyTorch's node keeps beside (op-form.c) */
  gboolean released;
};

extern const GradNodeClass op_node_class;

/* Before the call, once the arguments are saved: what PyTorch's node keeps of them, and the rule
 * does not read. */
void op_node_keep_for_form (OpNode *op_node, const AdjOpCall *call);

G_END_DECLS
