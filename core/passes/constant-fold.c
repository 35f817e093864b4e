/* SPDX-License-Identifier: MIT */
/* constant-fold: computes nodes that do not depend on any input.
 *
 * Constants and factories are known; a call of a pure operator on known values is known.  A
 * computed value that is read by other nodes becomes an attribute of the graph.  Factories stay
 * calls: `zeros([1000])` is shorter than its bytes. */

#include "call/adj-context.h"
#include "call/adj-op.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "passes/adj-pass.h"
#include "rules/adj-operators.h"

#define MAX_BYTES (G_GUINT64_CONSTANT (1) << 24) /* of one constant */

typedef struct
{
  AdjGraph *in;
  AdjBuilder *builder;
  AdjPassContext *context;
  AdjContext *cx;
  AdjNodeId *map;
  AdjValue *known;   /* (owned) by node: its value; NONE: not known */
  gboolean *folded;  /* known, and neither a constant nor a factory */
  guint n_constants; /* number of attributes made */
} Folder;

static gboolean
is_computable (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && node->op != NULL &&
         adj_op_is_pure (node->op) && (node->op->flags & ADJ_OP_NO_COMPARE) == 0;
}

static gboolean
is_small (const Folder *self, const AdjNode *node)
{
  const AdjTensorMeta *meta = node->val.meta;

  if (node->val.kind != ADJ_VALUE_META)
    return FALSE;
  for (guint i = 0; i < meta->shape.rank; i++)
    if (!adj_size_is_int (meta->shape.size[i]))
      return FALSE;
  return adj_tensor_meta_bytes (meta, adj_graph_get_symbols (self->in)) <= MAX_BYTES;
}

static gboolean
put_known (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Folder *self = data;

  *out = adj_value_copy (leaf->kind == ADJ_VALUE_NODE ? &self->known[leaf->node.index] : leaf);
  return TRUE;
}

/* Computes @node if it can be; @out: its value. */
static gboolean
compute (Folder *self, const AdjNode *node, AdjValue *out)
{
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  gboolean done;

  if (!is_computable (node) || !is_small (self, node))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (self->known[node->inputs[i].index].kind == ADJ_VALUE_NONE)
      return FALSE;
  adj_value_map (&node->args, put_known, self, &args);
  adj_value_map (&node->kwargs, put_known, self, &kwargs);
  adj_scope_begin (self->cx);
  done = adj_interpret_call (self->cx, node, &args, &kwargs, out);
  adj_scope_end (self->cx);
  return done && out->kind == ADJ_VALUE_TENSOR;
}

/* Makes a constant of the graph a known value. */
static void
learn_attribute (Folder *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  const AdjValue *value = adj_graph_find_attr (self->in, node->target);

  if (value != NULL && value->kind == ADJ_VALUE_DATA)
    self->known[index] = ADJ_TENSOR (adj_tensor_new_from_data (value->data));
}

static gboolean
is_view (const AdjNode *node)
{
  return node->op != NULL && adj_schema_is_view (adj_op_get_schema (node->op));
}

static void
learn (Folder *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  AdjValue value = ADJ_NONE;

  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    learn_attribute (self, index);
  else if (compute (self, node, &value))
    {
      self->known[index] = value;
      self->folded[index] = node->n_inputs > 0 && !is_view (node);
    }
}

/* Replaces node @index by an attribute with its value. */
static void
add_constant (Folder *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  g_autofree char *attribute = g_strdup_printf ("_folded_constant%u", self->n_constants++);
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (self->known[index].tensor);
  AdjNodeSpec spec = { .name = node->name,
                       .opcode = ADJ_OPCODE_GET_ATTR,
                       .target = attribute,
                       .val = node->val,
                       .meta = &node->meta,
                       .origin = { index } };

  adj_builder_add_attr (self->builder, attribute, &ADJ_DATA (data));
  self->map[index] = adj_builder_add (self->builder, &spec);
  adj_pass_note (self->context, (AdjNodeId){ index }, self->map[index], "depends on no input");
}

/* Known nodes stay only if a node that stays and is not known reads them. */
static gboolean *
mark_staying (const Folder *self)
{
  guint n = adj_graph_get_n_nodes (self->in);
  gboolean *stays = g_new0 (gboolean, n);

  for (guint i = n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (self->in, i);

      stays[i] = self->known[i].kind == ADJ_VALUE_NONE || node->n_users == 0;
      for (guint k = 0; k < node->n_users && !stays[i]; k++)
        stays[i] = stays[node->users[k].index] && !self->folded[node->users[k].index];
    }
  return stays;
}

static void
emit (Folder *self, guint index, gboolean stays)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);

  if (!stays)
    adj_pass_note (self->context, (AdjNodeId){ index }, ADJ_NO_NODE,
                   "only constants were computed from it");
  else if (self->folded[index] && node->n_users > 0)
    add_constant (self, index);
  else
    adj_builder_copy (self->builder, self->in, index, self->map);
}

static AdjGraph *
constant_fold_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autofree AdjValue *known = g_new0 (AdjValue, n);
  g_autofree gboolean *folded = g_new0 (gboolean, n);
  Folder self = { in, builder, context, cx, map, known, folded, 0 };
  g_autofree gboolean *stays = NULL;
  gboolean failed = FALSE;

  for (guint i = 0; i < n && !failed; i++)
    {
      learn (&self, i);
      failed = adj_context_take_error (cx, error);
    }
  stays = mark_staying (&self);
  for (guint i = 0; i < n && !failed; i++)
    emit (&self, i, stays[i]);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&known[i]);
  return failed ? NULL : adj_builder_seal (builder, error);
}

const AdjPass adj_pass_constant_fold = {
  .name = "constant-fold",
  .summary = "Compute now what depends on no input",
  .explain =
      "A mask, a table of positions or a scale that only depends on constants is the same in "
      "every call.  It is computed once and becomes an attribute of the graph.  Random "
      "operators and what would be larger than 16 MiB stay.\n\n"
      "Before: `a = arange(8); m = a.unsqueeze(0) > a.unsqueeze(1); where(m, x, y)`\n\n"
      "After: `m = self._folded_constant0; where(m, x, y)`",
  .run = constant_fold_run,
};
