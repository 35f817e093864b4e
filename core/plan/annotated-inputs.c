/* SPDX-License-Identifier: MIT */
/* Describes the inputs of a graph by their annotations. */

#include "ir/adj-graph.h"
#include "plan/adj-plan.h"

static gboolean
make_concrete (AdjSymbols *symbols, AdjSize *size)
{
  return adj_size_get_hint (symbols, *size, &size->word);
}

static gboolean
concrete_meta (AdjSymbols *symbols, AdjTensorMeta *meta)
{
  gboolean known = make_concrete (symbols, &meta->shape.offset);

  for (guint i = 0; i < meta->shape.rank; i++)
    known = make_concrete (symbols, &meta->shape.size[i]) &&
            make_concrete (symbols, &meta->shape.stride[i]) && known;
  return known;
}

/* Sizes take the values of their hints; @metas owns the descriptions. */
static gboolean
take_annotation (const AdjNode *node, AdjSymbols *symbols, GPtrArray *metas, AdjValue *out)
{
  AdjSize size;
  gint64 hint;

  if (node->val.kind == ADJ_VALUE_META)
    {
      AdjTensorMeta *meta = g_memdup2 (node->val.meta, sizeof *meta);

      g_ptr_array_add (metas, meta);
      *out = (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
      return concrete_meta (symbols, meta);
    }
  if (adj_value_get_size (&node->val, &size) && adj_size_get_hint (symbols, size, &hint))
    {
      *out = ADJ_INT (hint);
      return TRUE;
    }
  return FALSE;
}

AdjPlan *
adj_plan_new_annotated (AdjGraph *graph, AdjPlanFlags flags, GError **error)
{
  guint n;
  g_autofree AdjValue *inputs = NULL;
  g_autoptr (GPtrArray) metas = g_ptr_array_new_with_free_func (g_free);

  g_return_val_if_fail (graph != NULL, NULL);

  n = adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      if (take_annotation (node, adj_graph_get_symbols (graph), metas, &inputs[i]))
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                   "the graph does not say what its input '%s' looks like, and nothing was "
                   "recorded for it",
                   node->name);
      return NULL;
    }
  return adj_plan_new (graph, inputs, n, flags, error);
}
