/* SPDX-License-Identifier: MIT */
/* Scaled dot-product attention and its backward on the CPU. */

#include <math.h>

#include "adj-kernel-attention.h"
#include "ops/attention-private.h"
#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* query, key and value are consecutive arguments from @query; the other arguments have the same
 * names in both operators. */

static gboolean
fail_shapes (const AdjOpCall *call, guint query)
{
  g_autofree char *q = op_sizes_text (call, &adj_op_call_meta (call, query)->shape);
  g_autofree char *k = op_sizes_text (call, &adj_op_call_meta (call, query + 1)->shape);
  g_autofree char *v = op_sizes_text (call, &adj_op_call_meta (call, query + 2)->shape);

  return adj_op_call_fail (call, "query %s, key %s and value %s do not fit", q, k, v);
}

/* Whether dimension @dim of the arguments @a and @b is the same. */
static gboolean
same (const AdjOpCall *call, guint a, guint b, guint dim)
{
  return adj_size_test (op_symbols (call), ADJ_SIZE_EQ, adj_op_call_meta (call, a)->shape.size[dim],
                        adj_op_call_meta (call, b)->shape.size[dim]);
}

/* Whether query has the heads of key, or on the CPU several consecutive ones for each of them. */
static gboolean
heads_fit (const AdjOpCall *call, guint query)
{
  const AdjTensorMeta *q = adj_op_call_meta (call, query);
  AdjSize shared = adj_op_call_meta (call, query + 1)->shape.size[1];

  if (q->device.type == ADJ_DEVICE_CPU && adj_size_is_int (shared) && shared.word > 0 &&
      adj_size_is_int (q->shape.size[1]))
    return q->shape.size[1].word % shared.word == 0;
  return same (call, query, query + 1, 1);
}

/* The sizes of the scores: [B, H, L, S]. */
static void
scores_shape (const AdjOpCall *call, guint query, AdjShape *out)
{
  const AdjShape *q = &adj_op_call_meta (call, query)->shape;
  AdjSize sizes[4] = { q->size[0], q->size[1], q->size[2],
                       adj_op_call_meta (call, query + 1)->shape.size[2] };

  adj_shape_init (out, op_symbols (call), 4, sizes);
}

/* A mask is of the dtype of the query, or of float32. */
static gboolean
check_mask (const AdjOpCall *call, guint query)
{
  const AdjTensor *mask = adj_op_call_tensor_or_null (call, adj_op_call_find (call, "attn_mask"));
  const AdjTensorMeta *meta;
  AdjShape scores, spread;

  if (mask == NULL)
    return !adj_context_has_error (call->cx);
  meta = adj_tensor_get_meta (mask);
  scores_shape (call, query, &scores);
  if (meta->dtype != ADJ_DTYPE_F32 && meta->dtype != adj_op_call_meta (call, query)->dtype)
    return adj_op_call_fail (call, "the mask must have the dtype of the query, or float32");
  if ((meta->shape.rank != 2 && meta->shape.rank != 4) ||
      !adj_shape_expand (&meta->shape, op_symbols (call), &scores, &spread))
    {
      g_autofree char *a = op_sizes_text (call, &meta->shape);
      g_autofree char *b = op_sizes_text (call, &scores);

      return adj_op_call_fail (call, "mask %s does not broadcast to the scores %s", a, b);
    }
  return TRUE;
}

gboolean
op_attention_check (const AdjOpCall *call, guint query)
{
  const AdjTensorMeta *q = adj_op_call_meta (call, query);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (!adj_dtype_is_floating (q->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (q->dtype)->torch_name);
  for (guint arg = query; arg < query + 3; arg++)
    {
      const AdjTensorMeta *meta = adj_op_call_meta (call, arg);

      if (adj_context_has_error (call->cx))
        return FALSE;
      if (meta->shape.rank != 4)
        return fail_shapes (call, query);
      if (meta->dtype != q->dtype)
        return adj_op_call_fail (call, "query, key and value have different dtypes");
    }
  return (same (call, query, query + 1, 0) && same (call, query, query + 2, 0) &&
          heads_fit (call, query) && same (call, query + 1, query + 2, 1) &&
          same (call, query + 1, query + 2, 2) && same (call, query, query + 1, 3)) ||
         fail_shapes (call, query);
}

static gboolean
check_attention (const AdjOpCall *call, guint query)
{
  if (!op_attention_check (call, query))
    return FALSE;
  if (!same (call, query, query + 2, 3))
    return fail_shapes (call, query);
  if (adj_op_call_double (call, adj_op_call_find (call, "dropout_p"), 0) != 0)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "dropout_p must be 0 on the CPU");
  return check_mask (call, query);
}

void
op_attention_add_swapped (AdjOpCall *call, AdjDType dtype, const AdjSize *like, guint rank)
{
  AdjSize sizes[4] = { like[0], like[2], like[1] };
  AdjShape shape;
  AdjSize stride;

  if (rank == 4)
    sizes[3] = like[3];
  adj_shape_init (&shape, op_symbols (call), rank, sizes);
  stride = shape.stride[1];
  shape.size[1] = like[1];
  shape.size[2] = like[2];
  shape.stride[1] = shape.stride[2];
  shape.stride[2] = stride;
  adj_op_call_add (call, dtype, &shape);
}

static gboolean
attention_meta (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0);
  const AdjShape *operand = &query->shape;
  AdjShape shape;

  if (!check_attention (call, 0))
    return FALSE;
  adj_shape_pointwise (&shape, op_symbols (call), &operand, 1, NULL);
  adj_op_call_add (call, query->dtype, &shape);
  op_attention_add_swapped (call, query->dtype == ADJ_DTYPE_F64 ? ADJ_DTYPE_F64 : ADJ_DTYPE_F32,
                            query->shape.size, 3);
  return TRUE;
}

static gboolean
attention_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 1);
  AdjShape lse;

  if (!check_attention (call, 1))
    return FALSE;
  adj_shape_init (&lse, op_symbols (call), 3, query->shape.size);
  if (!adj_shape_same_sizes (&adj_op_call_meta (call, 0)->shape, &query->shape,
                             op_symbols (call)) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 4)->shape, &query->shape,
                             op_symbols (call)) ||
      !adj_shape_same_sizes (&adj_op_call_meta (call, 5)->shape, &lse, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient, out or logsumexp has not the sizes of the "
                                   "forward results");
  for (guint i = 1; i < 4; i++)
    op_attention_add_swapped (call, query->dtype, adj_op_call_meta (call, i)->shape.size, 4);
  return TRUE;
}

/* -- kernels -- */

static gboolean
read_attention (const AdjOpCall *call, guint query, AdjKAttention *out, AdjKView *mask)
{
  guint mask_arg = adj_op_call_find (call, "attn_mask");
  const AdjShape *q = &adj_op_call_meta (call, query)->shape;
  AdjShape scores;

  *out = (AdjKAttention){
    .causal = adj_op_call_bool (call, adj_op_call_find (call, "is_causal")),
    .scale = adj_op_call_double (call, adj_op_call_find (call, "scale"),
                                 1 / sqrt ((double) q->size[3].word)),
  };
  if (call->args[mask_arg].kind != ADJ_VALUE_NONE)
    {
      scores_shape (call, query, &scores);
      if (!op_input_as (call, mask_arg, &scores, mask, NULL))
        return FALSE;
      out->mask = mask;
    }
  return op_input (call, query, &out->q) && op_input (call, query + 1, &out->k) &&
         op_input (call, query + 2, &out->v);
}

static gboolean
attention_kernel (AdjOpCall *call)
{
  AdjKAttention attention;
  AdjKView mask, out, lse;

  if (!read_attention (call, 0, &attention, &mask) || !op_output (call, 0, &out) ||
      !op_output (call, 1, &lse))
    return FALSE;
  return adj_q_attention (op_queue (call), &attention, &out, &lse) || op_no_memory (call);
}

static gboolean
attention_backward_kernel (AdjOpCall *call)
{
  AdjKAttentionBackward backward;
  AdjKView mask;

  if (!read_attention (call, 1, &backward.forward, &mask) || !op_input (call, 0, &backward.g) ||
      !op_input (call, 4, &backward.out) || !op_input (call, 5, &backward.lse) ||
      !op_output (call, 0, &backward.gq) || !op_output (call, 1, &backward.gk) ||
      !op_output (call, 2, &backward.gv))
    return FALSE;
  return adj_q_attention_backward (op_queue (call), &backward) || op_no_memory (call);
}

/* -- costs -- */

/* B · H · L · S · D */
static double
products (const AdjOpCall *call)
{
  guint query = adj_op_call_find (call, "query");
  gint64 depth = 1;
  AdjShape scores;

  scores_shape (call, query, &scores);
  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, query)->shape.size[3], &depth);
  return op_count (call, &scores) * (double) depth;
}

double
op_attention_flops (const AdjOpCall *call)
{
  return 4 * products (call);
}

double
op_attention_backward_flops (const AdjOpCall *call)
{
  return 10 * products (call);
}

double
op_attention_reduction (const AdjOpCall *call)
{
  guint query = adj_op_call_find (call, "query");
  gint64 depth = 1, length = 1;

  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, query)->shape.size[3], &depth);
  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, query + 1)->shape.size[2], &length);
  return (double) depth * (double) length;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/attention.inc"
};

const OpFamily adj_family_attention = { ops, G_N_ELEMENTS (ops) };
