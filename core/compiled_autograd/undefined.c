/* SPDX-License-Identifier: MIT */
/* Runs a captured graph with gradients that turn out to be undefined.
 *
 * Handlers that replace calls of a captured graph.  A gradient may be undefined if a custom
 * backward or a hook returns none: results computed from it are undefined too, and nothing is
 * accumulated (compiled_autograd/SPEC.md §6.2).  A gradient that only post hooks read after its
 * accumulation is taken over without a copy, as by the engine. */

#include "call/adj-op.h"
#include "compiled_autograd/compiled-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-gradient.h"
#include "rules/adj-rule.h"

/* -- undefined gradients -- */

/* Whether the argument is None now, but was not in the capture. */
static gboolean
is_missing (const AdjValue *promised, const AdjValue *given)
{
  return given->kind == ADJ_VALUE_NONE && promised->kind == ADJ_VALUE_NODE;
}

/* Whether an argument is None where the operator needs a tensor. */
static gboolean
lacks_tensor (const AdjNode *node, const AdjValue *args)
{
  const AdjSchema *schema = adj_op_get_schema (node->op);

  for (guint i = 0; i < args->n && i < schema->n_arguments; i++)
    if (is_missing (&node->args.items[i], &args->items[i]) &&
        schema->arguments[i].type.kind == ADJ_TYPE_KIND_TENSOR &&
        !schema->arguments[i].type.is_list && !schema->arguments[i].type.optional)
      return TRUE;
  return FALSE;
}

/* In a sum with an undefined operand, the result is the other one. */
static gboolean
give_undefined (const AdjNode *node, const AdjValue *args, AdjValue *value)
{
  if (node->op == adj_op (ADJ_OP_add_Tensor))
    *value = adj_value_copy (&args->items[args->items[0].kind == ADJ_VALUE_NONE]);
  return TRUE;
}

/* Whether zeros were made for an undefined input of the backward node that @node belongs to. */
static gboolean
stands_for_nothing (const AdjGraph *graph, const AdjNode *node, const AdjValue *item)
{
  const AdjNode *made =
      item->kind == ADJ_VALUE_NODE ? adj_graph_get_node (graph, item->node.index) : NULL;

  return made != NULL && made->op == adj_op (ADJ_OP_zeros) &&
         g_strcmp0 (made->meta.stack_trace, node->meta.stack_trace) == 0;
}

/* The first list of tensors that lacks one; @all (out): it lacks all.  G_MAXUINT: no list lacks
 * one. */
static guint
find_list (const AdjGraph *graph, const AdjNode *node, const AdjValue *args, gboolean *all)
{
  for (guint i = 0; i < args->n; i++)
    {
      const AdjValue *list = &args->items[i];
      gboolean any = FALSE;

      *all = TRUE;
      for (guint k = 0; adj_value_is_container (list) && k < list->n; k++)
        {
          const AdjValue *promised = &node->args.items[i].items[k];
          gboolean missing = is_missing (promised, &list->items[k]);

          any |= missing;
          *all &= missing || stands_for_nothing (graph, node, promised);
        }
      if (any)
        return i;
    }
  return G_MAXUINT;
}

/* (nullable): zeros with the metadata that the node had in the capture. */
static AdjTensor *
make_zeros (const CaptureRun *run, const AdjNode *promised)
{
  AdjSymbols *symbols = adj_graph_get_symbols (run->capture->graph);
  const AdjTensorMeta *meta = promised->val.kind == ADJ_VALUE_META ? promised->val.meta : NULL;
  AdjTensorMeta known;

  if (meta == NULL)
    return NULL;
  known = *meta;
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      gint64 size;

      if (!sizes_evaluate (run->capture->rules, run->sizes, symbols, meta->shape.size[i], &size))
        return NULL;
      known.shape.size[i] = ADJ_SIZE (size);
    }
  return adj_gradient_make_zeros (run->cx, &known);
}

/* Replaces undefined entries of a list by zeros, unless all are undefined. */
static gboolean
call_with_zeros (const CaptureRun *run,
                 const AdjGraph *graph,
                 const AdjNode *node,
                 const AdjValue *args,
                 guint index,
                 AdjValue *value)
{
  const AdjValue *list = &args->items[index];
  g_autofree AdjValue *all = g_memdup2 (args->items, args->n * sizeof *all);
  g_autofree AdjValue *items = g_memdup2 (list->items, list->n * sizeof *items);
  AdjValue tuple = *args;

  for (guint k = 0; k < list->n; k++)
    if (is_missing (&node->args.items[index].items[k], &list->items[k]))
      {
        AdjNodeId promised = node->args.items[index].items[k].node;
        AdjTensor *zeros = make_zeros (run, adj_graph_get_node (graph, promised.index));

        if (zeros == NULL)
          return FALSE;
        items[k] = ADJ_TENSOR (zeros);
      }
  all[index].items = items;
  tuple.items = all;
  return adj_interpret_call (run->cx, node, &tuple, &node->kwargs, value);
}

static gboolean
replace_undefined (const CaptureRun *run,
                   const AdjGraph *graph,
                   const AdjNode *node,
                   const AdjValue *args,
                   AdjValue *value)
{
  gboolean all;
  guint list;

  if ((node->op->flags & ADJ_OP_UNDEFINED) != 0)
    return FALSE;
  if (lacks_tensor (node, args))
    return give_undefined (node, args, value);
  list = find_list (graph, node, args, &all);
  if (list == G_MAXUINT)
    return FALSE;
  return all || call_with_zeros (run, graph, node, args, list, value);
}

/* -- accumulation -- */

static gboolean
is_hook_behind_leaf (const AdjNode *node)
{
  return g_str_equal (node->target, ADJ_TARGET_CALL_HOOK) && node->args.n == 3 &&
         node->args.items[1].kind == ADJ_VALUE_LIST && node->args.items[1].n == 0;
}

/* Whether only post-accumulate hooks read @grad after node @index. */
static gboolean
only_hooks_follow (const AdjGraph *graph, const AdjNode *grad, guint index)
{
  for (guint i = 0; i < grad->n_users; i++)
    if (grad->users[i].index > index &&
        !is_hook_behind_leaf (adj_graph_get_node (graph, grad->users[i].index)))
      return FALSE;
  return grad->n_users > 0 && grad->users[grad->n_users - 1].index > index;
}

/* Accumulates the gradient in call_accumulate_grad, whose result is not read here. */
static gboolean
accumulate_node (const CaptureRun *run,
                 const AdjGraph *graph,
                 AdjNodeId id,
                 const AdjNode *node,
                 const AdjValue *args)
{
  const AdjNode *grad = adj_graph_get_node (graph, node->args.items[2].node.index);
  AdjTensor *added = args->items[2].kind == ADJ_VALUE_TENSOR ? args->items[2].tensor : NULL;

  leaf_add (run->cx, args->items[0].tensor, added,
            only_hooks_follow (graph, grad, id.index) ? 2 : 1);
  return TRUE;
}

/* torch.add of gradients, one of which is undefined. */
static gboolean
add_undefined (const AdjValue *args, AdjValue *value)
{
  if (args->items[0].kind != ADJ_VALUE_NONE && args->items[1].kind != ADJ_VALUE_NONE)
    return FALSE;
  *value = adj_value_copy (&args->items[args->items[0].kind == ADJ_VALUE_NONE]);
  return TRUE;
}

/* Takes the gradient over: only the graph and this call hold it. */
static gboolean
take_over (const CaptureRun *run,
           const AdjGraph *graph,
           AdjNodeId id,
           const AdjNode *node,
           const AdjValue *args)
{
  const AdjNode *grad = adj_graph_get_node (graph, node->args.items[1].node.index);

  if (args->items[1].kind != ADJ_VALUE_TENSOR || !only_hooks_follow (graph, grad, id.index))
    return FALSE;
  leaf_add (run->cx, args->items[0].tensor, args->items[1].tensor, 2);
  return TRUE;
}

gboolean
capture_replace (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data)
{
  const CaptureRun *run = data;
  const AdjNode *node = adj_graph_get_node (graph, id.index);

  *value = ADJ_NONE;
  if (node->op != NULL)
    return replace_undefined (run, graph, node, args, value) ||
           layout_replace (run, graph, node, args, value);
  if (g_str_equal (node->target, ADJ_TARGET_ACCUMULATE))
    return take_over (run, graph, id, node, args);
  if (g_str_equal (node->target, ADJ_TARGET_CALL_ACCUMULATE))
    return accumulate_node (run, graph, id, node, args);
  if (g_str_equal (node->target, "torch.add"))
    return add_undefined (args, value);
  return g_str_equal (node->target, GETITEM) && args->n > 0 &&
         args->items[0].kind == ADJ_VALUE_NONE;
}
