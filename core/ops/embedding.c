/* SPDX-License-Identifier: MIT */
/* embedding and its backward, a sum of gradients by row. */

#include "ops/index-private.h"
#include "ops/table-private.h"

static gboolean
embedding_meta (AdjOpCall *call)
{
  const AdjTensorMeta *weight = adj_op_call_meta (call, 0);
  const AdjTensorMeta *indices = adj_op_call_meta (call, 1);
  AdjSize sizes[ADJ_MAX_RANK + 1];
  guint rank = indices->shape.rank;

  if (!op_check_index (call, indices))
    return FALSE;
  if (weight->shape.rank != 2 || rank == ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the weight must be a matrix");
  for (guint i = 0; i < rank; i++)
    sizes[i] = indices->shape.size[i];
  sizes[rank] = weight->shape.size[1];
  op_add_contiguous (call, weight->dtype, rank + 1, sizes);
  return TRUE;
}

static gboolean
embedding_kernel (AdjOpCall *call)
{
  AdjKView weight, indices, out;
  gint64 bad;

  if (!op_input (call, 0, &weight) || !op_input (call, 1, &indices) || !op_output (call, 0, &out))
    return FALSE;
  return adj_q_embedding (op_queue (call), &out, &weight, &indices, &bad) ||
         op_bad_index (call, bad);
}

static gboolean
embedding_backward_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *indices = adj_op_call_meta (call, 1);
  guint rank = indices->shape.rank;
  gboolean fits = grad->shape.rank == rank + 1;
  AdjSize sizes[2];

  if (!op_check_index (call, indices))
    return FALSE;
  for (guint i = 0; fits && i < rank; i++)
    fits = adj_size_test (symbols, ADJ_SIZE_EQ, grad->shape.size[i], indices->shape.size[i]);
  if (!fits)
    return adj_op_call_fail (call, "the gradient has not the sizes of the indices");
  sizes[0] = adj_op_call_size (call, 2, ADJ_SIZE (0));
  sizes[1] = grad->shape.size[rank];
  if (adj_size_test (symbols, ADJ_SIZE_LT, sizes[0], ADJ_SIZE (0)))
    return adj_op_call_fail (call, "the number of weights is negative");
  op_add_contiguous (call, grad->dtype, 2, sizes);
  return TRUE;
}

static gboolean
embedding_backward_kernel (AdjOpCall *call)
{
  AdjKEmbeddingBackward e = {
    .padding_idx = adj_op_call_int (call, 3, -1),
    .by_freq = adj_op_call_bool (call, 4),
  };
  gint64 bad = G_MININT64;

  if (!op_input (call, 0, &e.g) || !op_input (call, 1, &e.indices) || !op_output (call, 0, &e.gw))
    return FALSE;
  return adj_q_embedding_backward (op_queue (call), &e, &bad) ||
         (bad == G_MININT64 ? op_no_memory (call) : op_bad_index (call, bad));
}

static double
embedding_reduction (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 1)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/embedding.inc"
};

const OpFamily adj_family_embedding = { ops, G_N_ELEMENTS (ops) };
