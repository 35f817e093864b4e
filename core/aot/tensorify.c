/* SPDX-License-Identifier: MIT */
/* Floats that are read off tensors, in arithmetic: the tensors themselves take their place, as f64
 * and then in the dtype that the operator computes in, so that the graph passes no floats on.  An
 * operator without a row below keeps the float. */

#include "aot/aot-private.h"

#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "tensor/adj-promotion.h"
#include "tensor/adj-symbols-internal.h"

#define ATEN "torch.ops.aten."

/* Operators on a tensor and a number, and what they are on two tensors. */
static const struct
{
  const char *target, *of_tensors, *name;
} rows[] = {
  { ATEN "mul.Tensor", ATEN "mul.Tensor", "mul_tensor" },
  { ATEN "add.Tensor", ATEN "add.Tensor", "add_tensor" },
  { ATEN "sub.Tensor", ATEN "sub.Tensor", "sub_tensor" },
  { ATEN "div.Tensor", ATEN "div.Tensor", "div_tensor" },
  { ATEN "pow.Tensor_Tensor", ATEN "pow.Tensor_Tensor", "pow_tensor_tensor" },
  { ATEN "gt.Scalar", ATEN "gt.Tensor", "gt_tensor" },
  { ATEN "lt.Scalar", ATEN "lt.Tensor", "lt_tensor" },
  { ATEN "ge.Scalar", ATEN "ge.Tensor", "ge_tensor" },
  { ATEN "le.Scalar", ATEN "le.Tensor", "le_tensor" },
  { ATEN "eq.Scalar", ATEN "eq.Tensor", "eq_tensor" },
  { ATEN "ne.Scalar", ATEN "ne.Tensor", "ne_tensor" },
  { ATEN "clamp_min.default", ATEN "clamp_min.Tensor", "clamp_min_tensor" },
  { ATEN "clamp_max.default", ATEN "clamp_max.Tensor", "clamp_max_tensor" },
};

typedef struct
{
  const AdjGraph *in;
  AdjBuilder *builder;
  AdjNodeId *map;  /* by node of @in */
  AdjNodeId *wide; /* by node that reads a float: the tensor as f64 */
} Tensorifier;

static gboolean
is_float (const Tensorifier *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);

  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && node->val.kind == ADJ_VALUE_SIZE &&
         g_str_equal (node->target, ATEN "_local_scalar_dense.default") &&
         adj_symbols_is_float (adj_graph_get_symbols (self->in), node->val.size);
}

static gboolean
takes_float (const Tensorifier *self, const AdjNode *node)
{
  for (guint i = 0; i < node->args.n; i++)
    if (node->args.items[i].kind == ADJ_VALUE_NODE &&
        is_float (self, node->args.items[i].node.index))
      return TRUE;
  return FALSE;
}

/* The metadata of a node in the place of @node.  As in PyTorch it belongs to no pass and to no
 * checkpointed region: it is needed where its tensors are. */
static AdjNodeMeta
untag (const AdjNode *node)
{
  AdjNodeMeta meta = node->meta;

  meta.partitioner_tag = NULL;
  meta.recompute = ADJ_RECOMPUTE_NONE;
  meta.ac_graph_id = -1;
  return meta;
}

static gboolean
is_no_node (const AdjValue *value, gpointer data)
{
  return value->kind != ADJ_VALUE_NODE;
}

/* The row of a call that takes a float; -1: it stays as it is, as a call with a number in @kwargs
 * that is computed does, which PyTorch cannot compile. */
static gint
find_row (const Tensorifier *self, const AdjNode *node)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || node->val.kind != ADJ_VALUE_META ||
      !adj_value_foreach (&node->kwargs, is_no_node, NULL))
    return -1;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].target, node->target))
      return takes_float (self, node) ? (gint) i : -1;
  return -1;
}

static AdjNodeId
add (Tensorifier *self,
     const AdjNode *of,
     const char *target,
     const char *name,
     const AdjValue *args,
     guint n,
     const AdjTensorMeta *meta)
{
  const AdjNodeMeta untagged = untag (of);
  g_autofree char *unique = adj_builder_unique_name (self->builder, name);
  const AdjNodeSpec spec = {
    .name = unique,
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = target,
    .args = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args },
    .kwargs = of->kwargs,
    .val = { .kind = ADJ_VALUE_META, .meta = meta },
    .meta = &untagged,
    .origin = of->origin
  };

  return adj_builder_add (self->builder, &spec);
}

static AdjNodeId
convert (Tensorifier *self, const AdjNode *of, AdjNodeId tensor, AdjTensorMeta meta, AdjDType dtype)
{
  const AdjNode plain = { .meta = of->meta, .origin = of->origin };
  const AdjValue args[] = { ADJ_NODE (tensor), ADJ_DTYPE (dtype) };

  meta.dtype = dtype;
  meta.storage = -1;
  return add (self, &plain, "torch.ops.prims.convert_element_type.default",
              "convert_element_type_default", args, G_N_ELEMENTS (args), &meta);
}

/* A tensor without dimensions on the device of the tensor that node @read reads. */
static AdjTensorMeta
describe_number (const Tensorifier *self, const AdjNode *read)
{
  const AdjNode *source = adj_graph_get_node (self->in, read->inputs[0].index);

  return (AdjTensorMeta){ .dtype = source->val.meta->dtype,
                          .device = source->val.meta->device,
                          .has_strides = TRUE,
                          .storage = -1 };
}

static void
add_wide (Tensorifier *self, guint index)
{
  const AdjNode *read = adj_graph_get_node (self->in, index);
  const AdjNode *source = adj_graph_get_node (self->in, read->inputs[0].index);
  const AdjTensorMeta meta = describe_number (self, read);
  const AdjValue args[] = { ADJ_NODE (self->map[read->inputs[0].index]),
                            { .kind = ADJ_VALUE_LIST } };
  AdjNodeId tensor = args[0].node;

  if (source->val.meta->shape.rank > 0)
    tensor = add (self, read, ATEN "reshape.default", "reshape_default", args, G_N_ELEMENTS (args),
                  &meta);
  self->wide[index] = convert (self, read, tensor, meta, ADJ_DTYPE_F64);
}

static AdjDType
compute_dtype (AdjDType dtype)
{
  if (dtype == ADJ_DTYPE_C32)
    return ADJ_DTYPE_C64;
  return dtype == ADJ_DTYPE_F16 || dtype == ADJ_DTYPE_BF16 ? ADJ_DTYPE_F32 : dtype;
}

/* The tensor for float @index in a call @of that computes in @compute; bool: it compares. */
static AdjNodeId
take_float (Tensorifier *self, const AdjNode *of, guint index, AdjDType compute)
{
  const AdjNode *read = adj_graph_get_node (self->in, index);

  if (compute == ADJ_DTYPE_BOOL || compute == ADJ_DTYPE_F64)
    return self->wide[index];
  return convert (self, of, self->wide[index], describe_number (self, read), compute);
}

/* Adds @node with a tensor in the place of each float. */
static void
add_call (Tensorifier *self, guint index, gint row)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  AdjTensorMeta meta = *node->val.meta;
  const AdjDType dtype = meta.dtype, compute = compute_dtype (dtype);
  g_autofree AdjValue *args = g_memdup2 (node->args.items, node->args.n * sizeof *args);
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  for (guint i = 0; i < node->args.n; i++)
    if (args[i].kind == ADJ_VALUE_NODE && is_float (self, args[i].node.index))
      {
        adj_promotion_add_tensor (&promotion, compute, 0);
        args[i].node = take_float (self, node, args[i].node.index, compute);
      }
    else if (args[i].kind == ADJ_VALUE_NODE)
      {
        const AdjValue *val = &adj_graph_get_node (self->in, args[i].node.index)->val;

        if (val->kind == ADJ_VALUE_META)
          adj_promotion_add_tensor (&promotion, val->meta->dtype, val->meta->shape.rank);
        args[i].node = self->map[args[i].node.index];
      }
  if (compute != ADJ_DTYPE_BOOL)
    meta.dtype = adj_promotion_result (&promotion);
  self->map[index] =
      add (self, node, rows[row].of_tensors, rows[row].name, args, node->args.n, &meta);
  if (compute != dtype)
    self->map[index] = convert (self, node, self->map[index], meta, dtype);
}

/* Whether a user of float @index takes it as a tensor; @passed (out): whether one does not. */
static gboolean
is_replaced (const Tensorifier *self, guint index, gboolean *passed)
{
  const AdjNode *read = adj_graph_get_node (self->in, index);
  gboolean replaced = FALSE;

  *passed = FALSE;
  for (guint i = 0; i < read->n_users; i++)
    if (find_row (self, adj_graph_get_node (self->in, read->users[i].index)) >= 0)
      replaced = TRUE;
    else
      *passed = TRUE;
  return replaced;
}

static void
add_node (Tensorifier *self, guint index)
{
  const AdjNode *node = adj_graph_get_node (self->in, index);
  gint row = find_row (self, node);
  gboolean passed = TRUE, replaced = is_float (self, index) && is_replaced (self, index, &passed);

  if (row >= 0)
    add_call (self, index, row);
  else if (passed)
    adj_builder_copy_with_origin (self->builder, self->in, index, self->map);
  if (replaced)
    add_wide (self, index);
}

gboolean
aot_tensorify (AdjGraph **graph, GError **error)
{
  guint n = adj_graph_get_n_nodes (*graph);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (*graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autofree AdjNodeId *wide = g_new0 (AdjNodeId, n);
  Tensorifier self = { *graph, builder, map, wide };
  AdjGraph *tensorified;

  for (guint i = 0; i < n; i++)
    add_node (&self, i);
  tensorified = adj_builder_seal (builder, error);
  if (tensorified == NULL)
    return FALSE;
  adj_graph_unref (*graph);
  *graph = tensorified;
  return TRUE;
}
