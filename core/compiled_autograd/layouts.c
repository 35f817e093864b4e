/* SPDX-License-Identifier: MIT */
/* Strides are not guarded: gradients and saved tensors may have other ones than in the capture.
 * Operators that depend on strides get inputs with those of the capture. */

#include "compiled_autograd/compiled-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* The layout that @arg had in the capture; %FALSE: unknown. */
static gboolean
get_promised (const CaptureRun *run, const AdjGraph *graph, const AdjValue *arg, AdjShape *shape)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  const AdjNode *node =
      arg->kind == ADJ_VALUE_NODE ? adj_graph_get_node (graph, arg->node.index) : NULL;
  gint64 offset, size, stride;

  if (node == NULL || node->val.kind != ADJ_VALUE_META)
    return FALSE;
  *shape = node->val.meta->shape;
  if (!sizes_evaluate (run->capture->rules, run->sizes, symbols, shape->offset, &offset))
    return FALSE;
  shape->offset = ADJ_SIZE (offset);
  for (guint i = 0; i < shape->rank; i++)
    {
      if (!sizes_evaluate (run->capture->rules, run->sizes, symbols, shape->size[i], &size) ||
          !sizes_evaluate (run->capture->rules, run->sizes, symbols, shape->stride[i], &stride))
        return FALSE;
      shape->size[i] = ADJ_SIZE (size);
      shape->stride[i] = ADJ_SIZE (stride);
    }
  return TRUE;
}

static gboolean
lies_so (const AdjTensor *tensor, const AdjShape *promised)
{
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;

  if (shape->rank != promised->rank)
    return FALSE;
  for (guint i = 0; i < shape->rank; i++)
    if (shape->size[i].word != 1 && shape->stride[i].word != promised->stride[i].word)
      return FALSE;
  return TRUE;
}

static gboolean
has_offset (const AdjTensor *tensor, const AdjShape *promised)
{
  return adj_tensor_get_meta (tensor)->shape.offset.word == promised->offset.word;
}

static AdjTensor *
lay_out (AdjContext *cx, AdjTensor *tensor, const AdjShape *promised)
{
  AdjArena *arena = adj_arena_new ();
  AdjTensor *copy = ADJ_APPLY (cx, ADJ_OP_new_empty_strided, ADJ_TENSOR (tensor),
                               adj_rule_list_sizes (arena, promised->size, promised->rank),
                               adj_rule_list_sizes (arena, promised->stride, promised->rank));

  adj_arena_free (arena);
  return copy != NULL ? ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (copy), ADJ_TENSOR (tensor)) : NULL;
}

/* Fails for a layout with a storage offset, which cannot be recreated. */
static gboolean
check_offset (const AdjNode *node, AdjContext *cx, const AdjShape *promised)
{
  if (promised->offset.word != 0)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "%s: its argument lies in memory in another way than when the backward was "
                      "captured",
                      node->target);
  return promised->offset.word == 0;
}

static gboolean
looks_at_layout (const AdjNode *node)
{
  return node->op == adj_op (ADJ_OP_as_strided) || node->op == adj_op (ADJ_OP_as_strided_scatter);
}

/* A view if possible, else a view of a copy. */
static void
view (AdjContext *cx, const AdjValue *args, AdjValue *value)
{
  AdjTensor *tensor = ADJ_APPLY (cx, ADJ_OP_reshape, args->items[0], args->items[1]);

  if (tensor != NULL)
    *value = ADJ_TENSOR (adj_tensor_ref (tensor));
}

static void
call_laid_out (AdjContext *cx,
               const AdjNode *node,
               const AdjValue *args,
               const AdjShape *promised,
               AdjValue *value)
{
  AdjTensor *copy = lay_out (cx, args->items[0].tensor, promised);
  g_autofree AdjValue *items = g_memdup2 (args->items, args->n * sizeof *items);
  AdjValue laid = *args;

  if (copy == NULL)
    return;
  items[0] = ADJ_TENSOR (copy);
  laid.items = items;
  adj_interpret_call (cx, node, &laid, &node->kwargs, value);
}

gboolean
layout_replace (const CaptureRun *run,
                const AdjGraph *graph,
                const AdjNode *node,
                const AdjValue *args,
                AdjValue *value)
{
  const gboolean views =
      node->op == adj_op (ADJ_OP_view) || node->op == adj_op (ADJ_OP__unsafe_view);
  AdjShape promised;

  if ((!views && !looks_at_layout (node)) || args->n < 2 ||
      args->items[0].kind != ADJ_VALUE_TENSOR ||
      !get_promised (run, graph, &node->args.items[0], &promised) ||
      (lies_so (args->items[0].tensor, &promised) &&
       (views || has_offset (args->items[0].tensor, &promised))))
    return FALSE;
  if (views)
    view (run->cx, args, value);
  else if (check_offset (node, run->cx, &promised))
    call_laid_out (run->cx, node, args, &promised, value);
  return TRUE;
}
