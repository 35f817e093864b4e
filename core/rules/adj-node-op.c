/* SPDX-License-Identifier: MIT */
/* The backward nodes of PyTorch since 2.7: the operator of each, and what it saves. */

#include "rules/adj-node-op.h"

#include <stdlib.h>
#include <string.h>

#include "ops/adj-op-table.h"
#include "rules/node-op-private.h"

static const AdjNodeOp node_ops[] = {
#define NODE_OP(name, op, inputs, kept) { name, op, inputs, kept },
#include "rules/node-ops.inc"
#undef NODE_OP
};

/* Arguments that are not saved, since PyTorch's formula takes their sizes from others. */
static const struct
{
  const char *op, *arg, *as;
} alike[] = {
  { "scatter.src", "src", "index" },
  { "scatter_add", "src", "index" },
};

gboolean
node_op_find_alike (const AdjNodeOp *self, const AdjSchema *schema, guint arg, guint *index)
{
  for (guint i = 0; i < G_N_ELEMENTS (alike); i++)
    if (g_str_equal (alike[i].op, self->op) &&
        g_str_equal (alike[i].arg, schema->arguments[arg].name))
      for (*index = 0; *index < schema->n_arguments; (*index)++)
        if (g_str_equal (schema->arguments[*index].name, alike[i].as))
          return TRUE;
  return FALSE;
}

/* Operators without a record, and the operator with the same gradient. */
static const struct
{
  const char *op, *same;
} counterparts[] = {
  { "native_batch_norm", "_native_batch_norm_legit" },
};

const AdjOp *
node_op_find_operator (const AdjNodeOp *self)
{
  const char *name = self->op;
  g_autofree char *target = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (counterparts); i++)
    if (g_str_equal (counterparts[i].op, name))
      name = counterparts[i].same;
  target =
      g_strdup_printf ("torch.ops.aten.%s%s", name, strchr (name, '.') != NULL ? "" : ".default");
  return adj_op_find (target);
}

static int
compare_names (const void *name, const void *node_op)
{
  return strcmp (name, ((const AdjNodeOp *) node_op)->name);
}

const AdjNodeOp *
adj_node_op_find (const char *target)
{
  if (!g_str_has_prefix (target, NODE_OP_PREFIX))
    return NULL;
  return bsearch (target + strlen (NODE_OP_PREFIX), node_ops, G_N_ELEMENTS (node_ops),
                  sizeof *node_ops, compare_names);
}

guint
adj_node_ops_get_n (void)
{
  return G_N_ELEMENTS (node_ops);
}

const AdjNodeOp *
adj_node_ops_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (node_ops), NULL);

  return &node_ops[index];
}
