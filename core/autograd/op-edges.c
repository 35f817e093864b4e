/* SPDX-License-Identifier: MIT */
/* The edges of an operator's node to the nodes of its arguments, and the history of its results. */

#include "autograd/op-node-private.h"
#include "call/adj-op.h"

/* Appends the edges of the tensors in @value; returns whether any requires a gradient. */
static gboolean
collect_edges (AdjContext *cx, const AdjValue *value, GArray *edges)
{
  const AdjValue *items = adj_value_is_container (value) ? value->items : value;
  guint n = adj_value_is_container (value) ? value->n : 1;
  gboolean found = FALSE;

  for (guint i = 0; i < n; i++)
    {
      GradEdge edge = { NULL, 0 };

      if (items[i].kind == ADJ_VALUE_TENSOR)
        edge = variable_get_edge (cx, items[i].tensor);
      found |= edge.node != NULL;
      g_array_append_val (edges, edge);
    }
  return found;
}

static void
set_edges (OpNode *op_node, guint entry, guint n)
{
  const guint n_entries = op_node->rule->n_entries;

  if (op_node->n_entry_edges == NULL && n == 1)
    return;
  if (op_node->n_entry_edges == NULL)
    {
      op_node->n_entry_edges = g_new (guint, n_entries);
      for (guint i = 0; i < n_entries; i++)
        op_node->n_entry_edges[i] = 1;
    }
  op_node->n_entry_edges[entry] = n;
}

gboolean
op_node_connect_args (OpNode *op_node, const AdjOpCall *call, gboolean *needed)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, TRUE, sizeof (GradEdge));
  gboolean found = FALSE;

  if (op_node->rule != NULL)
    for (guint i = 0; i < op_node->rule->n_entries; i++)
      {
        guint before = edges->len;

        needed[i] = collect_edges (call->cx, &call->args[op_node->rule->entries[i].arg], edges);
        set_edges (op_node, i, edges->len - before);
        found |= needed[i];
      }
  else
    for (guint i = 0; i < call->schema->n_arguments; i++)
      found |= collect_edges (call->cx, &call->args[i], edges);
  grad_node_set_edges (&op_node->parent, (gconstpointer) edges->data, edges->len);
  return found;
}

gboolean
op_node_check_written (const AdjOpCall *call, const AdjRule *rule)
{
  if (rule == NULL && adj_schema_mutates (call->schema))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "writes its result, and one of the arguments requires grad: there "
                                "is no gradient of that");
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjArgument *argument = &call->schema->arguments[i];
      g_autofree char *reason = NULL;
      g_autoptr (GString) meta = NULL;

      if (argument->type.written && call->args[i].kind == ADJ_VALUE_TENSOR)
        reason = variable_why_not_write (call->args[i].tensor);
      if (reason == NULL)
        continue;
      meta = g_string_new (NULL);
      adj_tensor_meta_print (adj_tensor_get_meta (call->args[i].tensor),
                             adj_context_get_symbols (call->cx), meta);
      return adj_op_call_fail (call, "argument '%s', %s: %s", argument->name, meta->str, reason);
    }
  return TRUE;
}

/* The edge to the argument that result @index is; the number of edges if there is none. */
static guint
find_self (const OpNode *op_node, const AdjOpCall *call, guint index)
{
  guint edge = 0;

  for (guint i = 0; i < op_node->rule->n_entries; i++)
    {
      if ((gint) op_node->rule->entries[i].arg == call->results[index].alias_of)
        return edge;
      edge += op_node_count_edges (op_node, i);
    }
  return edge;
}

gboolean
op_node_connect_results (OpNode *op_node, const AdjOpCall *call)
{
  AdjGradNode *node = &op_node->parent;

  grad_node_set_inputs (node, call->n_results);
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjTensor *tensor = call->results[i].tensor;
      const AdjType *type = &call->schema->returns[call->returns_list ? 0 : i].type;

      if (!op_node_is_differentiable (op_node, call, i))
        continue;
      if ((!type->written && !op_node->in_place) || (call->op->flags & ADJ_OP_METADATA) != 0)
        variable_set_history (tensor, node, i);
      else if (!variable_rebase_history (call->cx, tensor, node, i, find_self (op_node, call, i)))
        return FALSE;
    }
  return TRUE;
}
