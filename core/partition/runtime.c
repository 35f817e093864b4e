/* SPDX-License-Identifier: MIT */
/* The cost of repeating a call, in floating-point operations (partition/SPEC.md §3.5). A
 * multiply-add counts as 2. */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/runtime-private.h"

typedef struct
{
  const Joint *joint;
  const AdjNode *node;
} Call;

/* The size of dimension @dim (from the end when negative) of a tensor value; 1 when unknown. */
static double
size_of (const Call *call, const AdjValue *val, gint dim)
{
  const AdjShape *shape;
  gint64 size;

  if (val == NULL || val->kind != ADJ_VALUE_META)
    return 1;
  shape = &val->meta->shape;
  dim = dim < 0 ? dim + (gint) shape->rank : dim;
  if (dim < 0 || dim >= (gint) shape->rank ||
      !adj_size_get_hint (call->joint->symbols, shape->size[dim], &size))
    return 1;
  return (double) size;
}

/* The annotation of positional argument @index; %NULL when it is no node. */
static const AdjValue *
arg_of (const Call *call, guint index)
{
  const AdjValue *args = &call->node->args;

  if (index >= args->n || args->items[index].kind != ADJ_VALUE_NODE)
    return NULL;
  return &adj_graph_get_node (call->joint->graph, args->items[index].node.index)->val;
}

static double
product (const Call *call, guint a, guint b)
{
  const AdjValue *left = arg_of (call, a), *right = arg_of (call, b);

  return 2 * size_of (call, left, -2) * size_of (call, left, -1) * size_of (call, right, -1);
}

static double
mm (const Call *call)
{
  return product (call, 0, 1);
}

static double
addmm (const Call *call)
{
  return product (call, 1, 2);
}

static double
bmm (const Call *call)
{
  return size_of (call, arg_of (call, 0), 0) * product (call, 0, 1);
}

static double
baddbmm (const Call *call)
{
  return size_of (call, arg_of (call, 1), 0) * product (call, 1, 2);
}

static double
convolution (const Call *call)
{
  const AdjValue *input = arg_of (call, 0), *weight = arg_of (call, 1);
  const AdjValue *transposed = call->node->args.n > 6 ? &call->node->args.items[6] : NULL;
  gboolean is_transposed =
      transposed != NULL && transposed->kind == ADJ_VALUE_BOOL && transposed->boolean;
  const AdjValue *spatial = is_transposed ? input : &call->node->val;
  double flops = 2 * size_of (call, input, 0);

  if (weight == NULL || weight->kind != ADJ_VALUE_META)
    return 0;
  for (guint i = 0; i < weight->meta->shape.rank; i++)
    flops *= size_of (call, weight, (gint) i) * (i >= 2 ? size_of (call, spatial, (gint) i) : 1);
  return flops;
}

static double
attention (const Call *call)
{
  const AdjValue *q = arg_of (call, 0), *k = arg_of (call, 1), *v = arg_of (call, 2);
  double heads = size_of (call, q, 0) * size_of (call, q, 1);
  double scores = heads * size_of (call, q, -2) * size_of (call, k, -2);

  return 2 * scores * (size_of (call, q, -1) + size_of (call, v, -1));
}

static const struct
{
  const char *target; /* up to the overload */
  double (*flops) (const Call *call);
  gboolean is_ours; /* PyTorch 2.6 does not count it */
} rows[] = {
  { "aten.mm.", mm, FALSE },
  { "aten.addmm.", addmm, FALSE },
  { "aten._scaled_mm.", mm, TRUE },
  { "aten.bmm.", bmm, FALSE },
  { "aten.baddbmm.", baddbmm, FALSE },
  { "aten.convolution.", convolution, FALSE },
  { "aten._convolution.", convolution, FALSE },
  { "aten._scaled_dot_product_flash_attention.", attention, FALSE },
  { "aten._scaled_dot_product_efficient_attention.", attention, FALSE },
  { "aten._scaled_dot_product_cudnn_attention.", attention, FALSE },
  { "aten._scaled_dot_product_flash_attention_for_cpu.", attention, TRUE },
};

double
runtime_flops (const Joint *joint, guint node, gboolean compat)
{
  Call call = { joint, adj_graph_get_node (joint->graph, node) };
  const char *target = call.node->target;

  if (joint->kind[node] != NODE_CALL || !g_str_has_prefix (target, "torch.ops."))
    return 0;
  target += strlen ("torch.ops.");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_has_prefix (target, rows[i].target))
      return compat && rows[i].is_ours ? 0 : rows[i].flops (&call);
  return 0;
}

double
runtime_of (const Joint *joint, guint node, const AdjPartitionOptions *options)
{
  /* PyTorch counts views like any call. */
  if (!options->compat && (joint->traits[node] & (OP_VIEW | OP_GETITEM)) != 0)
    return 0;
  if (options->runtime == ADJ_RUNTIME_MEASURED && options->node_ns != NULL)
    return (double) options->node_ns[node] / 1e6;
  if (options->runtime == ADJ_RUNTIME_UNIT)
    return 1;
  return MAX (runtime_flops (joint, node, options->compat), 1);
}
