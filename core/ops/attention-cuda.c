/* SPDX-License-Identifier: MIT */
/* Fused attention of GPUs: shapes by PyTorch's meta functions. */

#include "call/adj-op-internal.h"
#include "ops/attention-private.h"
#include "ops/table-private.h"

/* -- results -- */

static AdjSize
size_of (const AdjOpCall *call, guint arg, guint dim)
{
  return adj_op_call_meta (call, arg)->shape.size[dim];
}

/* A dense result like argument @arg. */
static void
add_like (AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, arg);
  AdjShape shape = meta->shape;

  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &meta->shape);
  adj_op_call_add (call, meta->dtype, &shape);
}

static void
swap_middle (AdjShape *shape)
{
  AdjSize size = shape->size[1], stride = shape->stride[1];

  shape->size[1] = shape->size[2];
  shape->stride[1] = shape->stride[2];
  shape->size[2] = size;
  shape->stride[2] = stride;
}

/* The same through a transpose (1, 2), which differs where PRESERVE falls back to contiguous. */
static void
add_like_transposed (AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, arg);
  AdjShape swapped = meta->shape, shape;

  swap_middle (&swapped);
  shape = swapped;
  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &swapped);
  swap_middle (&shape);
  adj_op_call_add (call, meta->dtype, &shape);
}

/* Two numbers of the random generator. */
static void
add_seed_and_offset (AdjOpCall *call)
{
  op_add_contiguous (call, ADJ_DTYPE_I64, 0, NULL);
  op_add_contiguous (call, ADJ_DTYPE_I64, 0, NULL);
}

/* Adds the results of FlashAttention and cuDNN from logsumexp to the offset. */
static void
add_middle (AdjOpCall *call)
{
  op_add_contiguous (call, ADJ_DTYPE_F32, 3, adj_op_call_meta (call, 0)->shape.size);
  adj_op_call_add_none (call);
  adj_op_call_add_none (call);
  adj_op_call_add_size (call, size_of (call, 0, 2));
  adj_op_call_add_size (call, size_of (call, 1, 2));
  add_seed_and_offset (call);
}

/* @size rounded up to a multiple of @step. */
static AdjSize
round_up (const AdjOpCall *call, AdjSize size, gint64 step)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize up = adj_size_add (symbols, size, ADJ_SIZE (step - 1));

  return adj_size_mul (symbols, adj_size_floordiv (symbols, up, ADJ_SIZE (step)), ADJ_SIZE (step));
}

/* -- shape rules -- */

/* The probabilities after dropout, in whole blocks as the kernel writes them. */
static void
add_debug_mask (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize sizes[4] = { query->shape.size[0], query->shape.size[1], query->shape.size[2] };
  AdjSize keys = size_of (call, 1, 2);

  if (!adj_op_call_bool (call, adj_op_call_find (call, "return_debug_mask")))
    {
      const AdjSize none = ADJ_SIZE (0);

      op_add_contiguous (call, query->dtype, 1, &none);
      return;
    }
  if (adj_size_test (symbols, ADJ_SIZE_LE, keys, ADJ_SIZE (128)))
    sizes[3] = ADJ_SIZE (128);
  else if (adj_size_test (symbols, ADJ_SIZE_LE, keys, ADJ_SIZE (256)))
    sizes[3] = ADJ_SIZE (256);
  else
    {
      gint64 block =
          adj_size_test (symbols, ADJ_SIZE_GT, query->shape.size[3], ADJ_SIZE (64)) ? 128 : 256;
      AdjSize up = adj_size_add (symbols, query->shape.size[2], ADJ_SIZE (block - 1));

      sizes[3] = adj_size_floordiv (symbols, up, ADJ_SIZE (block));
    }
  op_add_contiguous (call, query->dtype, 4, sizes);
}

static gboolean
flash_meta (AdjOpCall *call)
{
  if (!op_attention_check (call, 0))
    return FALSE;
  add_like_transposed (call, 0);
  add_middle (call);
  add_debug_mask (call);
  return TRUE;
}

static gboolean
flash_backward_meta (AdjOpCall *call)
{
  if (!op_attention_check (call, 1))
    return FALSE;
  for (guint i = 1; i < 4; i++)
    add_like_transposed (call, i);
  return TRUE;
}

static gboolean
cudnn_meta (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0);
  AdjSize sizes[4];

  if (!op_attention_check (call, 0))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    sizes[i] = query->shape.size[i];
  sizes[3] = size_of (call, 2, 3);
  op_add_contiguous (call, query->dtype, 4, sizes);
  add_middle (call);
  adj_op_call_add_none (call);
  return TRUE;
}

static gboolean
cudnn_backward_meta (AdjOpCall *call)
{
  if (!op_attention_check (call, 1))
    return FALSE;
  for (guint i = 1; i < 4; i++)
    add_like (call, i);
  return TRUE;
}

static gboolean
efficient_meta (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0);
  AdjSize sizes[4], logarithms[3];

  if (!op_attention_check (call, 0))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    sizes[i] = logarithms[i] = query->shape.size[i];
  sizes[3] = size_of (call, 2, 3);
  op_attention_add_swapped (call, query->dtype, sizes, 4);
  logarithms[2] = adj_op_call_bool (call, 4) ? round_up (call, sizes[2], 32) : ADJ_SIZE (0);
  op_add_contiguous (call, ADJ_DTYPE_F32, 3, logarithms);
  add_seed_and_offset (call);
  return TRUE;
}

/* The gradient of argument @bias, with rows padded to multiples of 16 as the kernel writes them. */
static void
add_bias_gradient (AdjOpCall *call, guint bias)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, bias);
  AdjSize sizes[ADJ_MAX_RANK];
  guint last = meta->shape.rank - 1;
  AdjOpResult *result;

  for (guint i = 0; i <= last; i++)
    sizes[i] = meta->shape.size[i];
  sizes[last] = round_up (call, sizes[last], 16);
  result = op_add_contiguous (call, meta->dtype, meta->shape.rank, sizes);
  result->meta.shape.size[last] = meta->shape.size[last];
}

static gboolean
wants_bias (const AdjOpCall *call, guint bias, guint mask)
{
  return call->args[bias].kind == ADJ_VALUE_TENSOR && adj_value_is_container (&call->args[mask]) &&
         call->args[mask].n == 4 && adj_op_value_is_true (&call->args[mask].items[3]) &&
         adj_op_call_meta (call, bias)->shape.rank > 0;
}

static gboolean
efficient_backward_meta (AdjOpCall *call)
{
  if (!op_attention_check (call, 1))
    return FALSE;
  for (guint i = 1; i < 4; i++)
    op_attention_add_swapped (call, adj_op_call_meta (call, i)->dtype,
                              adj_op_call_meta (call, i)->shape.size, 4);
  if (wants_bias (call, 4, 10))
    add_bias_gradient (call, 4);
  else
    adj_op_call_add_none (call);
  return TRUE;
}

static gboolean
overrideable_backward_meta (AdjOpCall *call)
{
  if (!op_attention_check (call, 1))
    return FALSE;
  for (guint i = 1; i < 4; i++)
    add_like_transposed (call, i);
  if (wants_bias (call, 4, 5))
    add_like (call, 4);
  else
    adj_op_call_add_none (call);
  return TRUE;
}

/* -- of (batch, length, heads, width), or (all lengths, heads, width) with offsets -- */

/* Sizes of query and key. */
typedef struct
{
  AdjSize batch, heads, n_queries, n_keys; /* maximal sequence lengths */
} Lengths;

/* Reads offsets and maximal lengths of the sequences: arguments @offsets and @offsets + 2 for
 * queries, the next ones for keys. */
static gboolean
read_lengths (const AdjOpCall *call, guint query, guint offsets, Lengths *out)
{
  const AdjShape *q = &adj_op_call_meta (call, query)->shape;
  const AdjShape *k = &adj_op_call_meta (call, query + 1)->shape;
  gboolean packed = call->args[offsets].kind == ADJ_VALUE_TENSOR;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (q->rank < 3 || q->rank > 4 || q->rank != k->rank || (q->rank == 3 && !packed))
    return adj_op_call_fail (call, "needs a query and a key of batch, length, heads and width");
  out->heads = q->size[q->rank - 2];
  out->batch = q->size[0];
  if (packed)
    out->batch = adj_size_sub (op_symbols (call), adj_op_call_meta (call, offsets)->shape.size[0],
                               ADJ_SIZE (1));
  out->n_queries = packed ? adj_op_call_size (call, offsets + 2, ADJ_SIZE (0)) : q->size[1];
  out->n_keys = call->args[offsets + 1].kind == ADJ_VALUE_TENSOR
                    ? adj_op_call_size (call, offsets + 3, ADJ_SIZE (0))
                    : k->size[1];
  return !adj_context_has_error (call->cx);
}

/* The probabilities after dropout, in whole blocks; empty if they are not requested. */
static void
add_long_mask (AdjOpCall *call, const Lengths *lengths)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize sizes[] = { lengths->batch, lengths->heads, lengths->n_queries, ADJ_SIZE (0) };
  const AdjSize none = ADJ_SIZE (0);
  gint64 block =
      adj_size_test (symbols, ADJ_SIZE_GT, query->shape.size[query->shape.rank - 1], ADJ_SIZE (64))
          ? 128
          : 256;

  if (!adj_op_call_bool (call, 9))
    {
      op_add_contiguous (call, query->dtype, 1, &none);
      return;
    }
  sizes[3] = adj_size_floordiv (
      symbols, adj_size_add (symbols, lengths->n_queries, ADJ_SIZE (block - 1)), ADJ_SIZE (block));
  if (adj_size_test (symbols, ADJ_SIZE_LE, lengths->n_keys, ADJ_SIZE (128)))
    sizes[3] = ADJ_SIZE (128);
  else if (adj_size_test (symbols, ADJ_SIZE_LE, lengths->n_keys, ADJ_SIZE (256)))
    sizes[3] = ADJ_SIZE (256);
  op_add_contiguous (call, query->dtype, 4, sizes);
}

static gboolean
flash_forward_meta (AdjOpCall *call)
{
  Lengths lengths;

  if (!read_lengths (call, 0, 3, &lengths))
    return FALSE;
  add_like (call, 0);
  op_add_contiguous (call, ADJ_DTYPE_F32, 3,
                     (const AdjSize[]){ lengths.batch, lengths.heads, lengths.n_queries });
  add_seed_and_offset (call);
  add_long_mask (call, &lengths);
  return TRUE;
}

static gboolean
long_backward_meta (AdjOpCall *call)
{
  for (guint i = 1; i < 4; i++)
    add_like (call, i);
  return !adj_context_has_error (call->cx);
}

static gboolean
efficient_forward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *query = adj_op_call_meta (call, 0), *value = adj_op_call_meta (call, 2);
  AdjSize rows = ADJ_SIZE (0);
  Lengths lengths;

  if (query->shape.rank != 4 || value->shape.rank != 4)
    return adj_op_call_fail (call, "needs batch, length, heads and width");
  if (!read_lengths (call, 0, 4, &lengths))
    return FALSE;
  if (call->args[7].kind != ADJ_VALUE_NONE)
    lengths.n_keys = adj_op_call_size (call, 7, lengths.n_keys);
  if (adj_op_call_bool (call, 10))
    rows = round_up (call, lengths.n_queries, 32);
  op_add_contiguous (call, query->dtype, 4,
                     (const AdjSize[]){ query->shape.size[0], query->shape.size[1],
                                        query->shape.size[2], value->shape.size[3] });
  op_add_contiguous (call, ADJ_DTYPE_F32, 3,
                     (const AdjSize[]){ lengths.batch, lengths.heads, rows });
  add_seed_and_offset (call);
  adj_op_call_add_size (call, lengths.n_queries);
  adj_op_call_add_size (call, lengths.n_keys);
  return !adj_context_has_error (call->cx);
}

static gboolean
efficient_long_backward_meta (AdjOpCall *call)
{
  guint shared = adj_op_call_find (call, "shared_storage_dqdkdv");

  if (adj_op_call_bool (call, shared))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "is not known to give gradients in one piece of memory");
  if (!long_backward_meta (call))
    return FALSE;
  if (call->args[4].kind == ADJ_VALUE_TENSOR && adj_op_call_meta (call, 4)->shape.rank > 0)
    add_bias_gradient (call, 4);
  else
    op_add_contiguous (call, ADJ_DTYPE_F32, 0, NULL);
  return TRUE;
}

/* Two products forward, five backward, of each query with each key. */
static double
long_attention_flops (const AdjOpCall *call)
{
  guint query = adj_op_call_find (call, "query");
  const AdjShape *k = &adj_op_call_meta (call, query + 1)->shape;
  gint64 n_keys = 0;

  adj_size_get_hint (op_symbols (call), k->size[k->rank - 3], &n_keys);
  return (query == 0 ? 4 : 10) * op_count (call, &adj_op_call_meta (call, query)->shape) *
         (double) n_keys;
}

static gboolean
cuda_kernel (AdjOpCall *call)
{
  return op_needs_cuda (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/attention-cuda.inc"
};

const OpFamily adj_family_attention_cuda = { ops, G_N_ELEMENTS (ops) };
