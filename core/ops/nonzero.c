/* SPDX-License-Identifier: MIT */
/* Results of data-dependent sizes. */

#include "call/adj-constant.h"
#include "call/adj-context.h"
#include "call/adj-op-internal.h"
#include "ops/parts-private.h"
#include "ops/table-private.h"
#include "tensor/adj-symbols-internal.h"

/* 1 for each element that is not 0; the caller frees it. */
static guint8 *
mark_nonzero (const AdjOpCall *call, AdjTensor *tensor, AdjKView *dense)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);
  AdjOpCall real = *call, imaginary = *call;
  gboolean complex = op_is_complex (meta->dtype);
  guint8 *set;
  OpParts x;

  if (complex)
    {
      real.part = ADJ_PART_REAL;
      imaginary.part = ADJ_PART_IMAGINARY;
    }
  if (!op_view (&real, tensor, meta, &x.re) || !op_view (&imaginary, tensor, meta, &x.im) ||
      !op_check_temporary (call, adj_k_view_count (&x.re)))
    return NULL;
  set = op_temporary (op_queue (call), &x.re, ADJ_K_BOOL, dense);
  if (complex)
    op_mark_parts (call, dense, &x);
  else
    adj_q_copy (op_queue (call), dense, &x.re);
  return set;
}

gboolean
op_unbacked_size (const AdjOpCall *call, gint64 least, gint64 most, AdjSize *out)
{
  if (!adj_context_get_unbacked (call->cx))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "makes a size that depends on data, which a fake tensor does not "
                                "have");
  *out = adj_symbols_add_unbacked (op_symbols (call), least, most, NULL);
  return TRUE;
}

gboolean
op_count_nonzero (const AdjOpCall *call, AdjTensor *tensor, AdjSize *out)
{
  AdjSize numel = adj_shape_numel (&adj_tensor_get_meta (tensor)->shape, op_symbols (call));
  g_autofree guint8 *set = NULL;
  AdjKView dense;

  *out = ADJ_SIZE (0);
  if (adj_storage_is_fake (adj_tensor_get_storage (tensor)))
    return adj_unbacked_get (call->cx, tensor, ADJ_UNBACKED_NONZERO, 0,
                             adj_size_is_int (numel) ? numel.word : G_MAXINT64, out) ||
           adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "makes a size that depends on data, which a fake tensor does not "
                                "have");
  set = mark_nonzero (call, tensor, &dense);
  if (set == NULL)
    return FALSE;
  for (gint64 i = 0; i < adj_k_view_count (&dense); i++)
    out->word += set[i];
  return TRUE;
}

static gboolean
nonzero_meta (AdjOpCall *call)
{
  AdjTensor *self = adj_op_call_tensor (call, 0);
  AdjShape shape = { .rank = 2, .stride = { ADJ_SIZE (1) } };

  if (self == NULL || !op_count_nonzero (call, self, &shape.size[0]))
    return FALSE;
  shape.size[1] = ADJ_SIZE (adj_tensor_get_rank (self));
  shape.stride[1] = shape.size[0];
  adj_op_call_add (call, ADJ_DTYPE_I64, &shape);
  return TRUE;
}

static gboolean
nonzero_kernel (AdjOpCall *call)
{
  gint64 n = call->results[0].meta.shape.size[0].word, at = 0;
  g_autofree guint8 *set = NULL;
  AdjKView dense, out;
  gint64 *indices;

  set = mark_nonzero (call, adj_op_call_tensor (call, 0), &dense);
  if (set == NULL || !op_output (call, 0, &out))
    return FALSE;
  indices = out.data;
  for (gint64 i = 0; i < adj_k_view_count (&dense); i++)
    {
      gint64 rest = i;

      if (set[i] == 0)
        continue;
      for (guint d = dense.rank; d-- > 0; rest /= dense.size[d])
        indices[d * n + at] = rest % dense.size[d];
      at++;
    }
  return TRUE;
}

static gboolean
nonzero_static_meta (AdjOpCall *call)
{
  AdjSize sizes[] = { adj_op_call_size (call, 1, ADJ_SIZE (0)),
                      ADJ_SIZE (adj_op_call_meta (call, 0)->shape.rank) };

  if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, sizes[0], ADJ_SIZE (0)))
    return adj_op_call_fail (call, "the size is negative");
  op_add_contiguous (call, ADJ_DTYPE_I64, 2, sizes);
  return !adj_context_has_error (call->cx);
}

static gboolean
nonzero_static_kernel (AdjOpCall *call)
{
  gint64 fill = adj_op_call_int (call, 2, -1), at = 0, n;
  g_autofree guint8 *set = NULL;
  AdjKView dense, out;
  gint64 *indices;

  set = mark_nonzero (call, adj_op_call_tensor (call, 0), &dense);
  if (set == NULL || !op_output (call, 0, &out))
    return FALSE;
  indices = out.data;
  n = out.size[0];
  for (gint64 i = 0; i < adj_k_view_count (&dense) && at < n; i++)
    {
      gint64 rest = i;

      if (set[i] == 0)
        continue;
      for (guint d = dense.rank; d-- > 0; rest /= dense.size[d])
        indices[at * dense.rank + d] = rest % dense.size[d];
      at++;
    }
  for (gint64 i = at * dense.rank; i < n * dense.rank; i++)
    indices[i] = fill;
  return TRUE;
}

/* -- repeats -- */

/* The repeats and their sum; the caller frees them; %NULL: the call failed. */
static double *
read_repeats (const AdjOpCall *call, gint64 *sum)
{
  g_autofree double *repeats = op_read_numbers (call, 0);
  AdjKView view;

  if (repeats == NULL || !op_input (call, 0, &view))
    return NULL;
  *sum = 0;
  for (gint64 i = 0; i < adj_k_view_count (&view); *sum += (gint64) repeats[i++])
    if (repeats[i] < 0 || repeats[i] > G_MAXINT32)
      {
        adj_op_call_fail (call, "repeats number %" G_GINT64_FORMAT " is %g", i, repeats[i]);
        return NULL;
      }
  return g_steal_pointer (&repeats);
}

static gboolean
fail_for_sum (const AdjOpCall *call)
{
  return adj_op_call_fail (call, "output_size is not the sum of the repeats");
}

static gboolean
repeats_meta (AdjOpCall *call)
{
  const AdjTensorMeta *repeats = adj_op_call_meta (call, 0);
  AdjSize size = adj_op_call_size (call, 1, ADJ_SIZE (-1));
  g_autofree double *known = NULL;
  gint64 sum;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (repeats->shape.rank != 1 ||
      (repeats->dtype != ADJ_DTYPE_I64 && repeats->dtype != ADJ_DTYPE_I32))
    return adj_op_call_fail (call, "repeats must be a vector of int32 or int64");
  if (!op_is_fake (call, 0))
    {
      known = read_repeats (call, &sum);
      if (known == NULL)
        return FALSE;
      if (call->args[1].kind != ADJ_VALUE_NONE && size.word != sum)
        return fail_for_sum (call);
      size = ADJ_SIZE (sum);
    }
  else if (call->args[1].kind == ADJ_VALUE_NONE && !op_unbacked_size (call, 0, G_MAXINT64, &size))
    return FALSE;
  op_add_contiguous (call, repeats->dtype, 1, &size);
  return TRUE;
}

static gboolean
repeats_kernel (AdjOpCall *call)
{
  gint64 at = 0, sum;
  g_autofree double *repeats = read_repeats (call, &sum);
  g_autofree gint64 *places = NULL;
  AdjKView out, dense;

  if (repeats == NULL || !op_output (call, 0, &out))
    return FALSE;
  if (out.size[0] != sum)
    return fail_for_sum (call);
  places = op_temporary (NULL, &out, ADJ_K_I64, &dense);
  for (gint64 i = 0; at < sum; i++)
    for (gint64 k = 0; k < (gint64) repeats[i]; k++)
      places[at++] = i;
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- what a program says of sizes -- */

static gboolean
constrain (AdjOpCall *call, gint64 least)
{
  const AdjValue *value = &call->args[0];
  gint64 min = MAX (adj_op_call_int (call, 1, G_MININT64), least);
  gint64 max = adj_op_call_int (call, 2, G_MAXINT64);
  g_autoptr (GString) text = NULL;
  AdjSize size;

  if (!adj_value_get_size (value, &size) ||
      adj_symbols_restrict (op_symbols (call), size, min, max))
    return !adj_context_has_error (call->cx);
  text = g_string_new (NULL);
  adj_size_print (op_symbols (call), size, text);
  return adj_op_call_fail (call, "%s is not between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                           text->str, min, max);
}

static gboolean
constrain_meta (AdjOpCall *call)
{
  return constrain (call, G_MININT64);
}

static gboolean
constrain_size_meta (AdjOpCall *call)
{
  return constrain (call, 0);
}

/* Restricts the range of a symbol to the asserted bounds. */
static gboolean
assert_meta (AdjOpCall *call)
{
  const AdjValue *value = &call->args[0];
  gboolean holds = value->kind == ADJ_VALUE_SIZE
                       ? adj_symbols_assume (op_symbols (call), value->size)
                       : adj_op_value_is_true (value);

  return holds || adj_op_call_fail (call, "%s", adj_op_call_string (call, 1, ""));
}

static gboolean
constrain_kernel (AdjOpCall *call)
{
  return TRUE;
}

static const AdjOp ops[] = {
#define OP(id, ...) { __VA_ARGS__ },
#include "ops/nonzero.inc"
#undef OP
};

const OpFamily adj_family_nonzero = { ops, G_N_ELEMENTS (ops) };
