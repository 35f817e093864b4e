/* SPDX-License-Identifier: MIT */
/* masked_select and masked_scatter: results and sources with one element per set mask element. */

#include <string.h>

#include "call/adj-context-internal.h"
#include "ops/create-private.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* Sizes that self and mask broadcast to. */
static gboolean
read_sizes (const AdjOpCall *call, AdjShape *out)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *mask = adj_op_call_meta (call, 1);
  const AdjShape *shapes[] = { &self->shape, &mask->shape };
  GError *error = NULL;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (mask->dtype != ADJ_DTYPE_BOOL && mask->dtype != ADJ_DTYPE_U8)
    return adj_op_call_fail (call, "argument 'mask' must be bool, not %s",
                             adj_dtype_info (mask->dtype)->torch_name);
  return adj_shape_pointwise (out, op_symbols (call), shapes, 2, &error) ||
         adj_op_call_fail_with (call, error);
}

/* The mask as bytes in row-major order, and the number of set elements. */
static guint8 *
read_mask (const AdjOpCall *call, const AdjShape *shape, gint64 *n_set)
{
  AdjKView mask, dense;
  guint8 *set;

  *n_set = 0;
  if (!op_input_as (call, 1, shape, &mask, NULL))
    return NULL;
  set = op_temporary (op_queue (call), &mask, ADJ_K_BOOL, &dense);
  adj_q_copy (op_queue (call), &dense, &mask);
  for (gint64 i = 0; i < adj_k_view_count (&mask); i++)
    *n_set += set[i] != 0;
  return set;
}

/* -- reading -- */

/* Adds a result of data-dependent size, at most the elements of @shape. */
static gboolean
add_unbacked (AdjOpCall *call, const AdjShape *shape)
{
  AdjSize numel = adj_shape_numel (shape, op_symbols (call)), size;

  if (!adj_context_get_unbacked (call->cx))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "makes a size that depends on data, which a fake tensor does not "
                                "have");
  size = adj_symbols_add_unbacked (op_symbols (call), 0,
                                   adj_size_is_int (numel) ? numel.word : G_MAXINT64, NULL);
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, 1, &size);
  return TRUE;
}

static gboolean
masked_select_meta (AdjOpCall *call)
{
  g_autofree guint8 *set = NULL;
  AdjSize size;
  AdjShape shape;
  gint64 n;

  if (!read_sizes (call, &shape))
    return FALSE;
  if (op_is_fake (call, 1))
    return add_unbacked (call, &shape);
  set = read_mask (call, &shape, &n);
  if (set == NULL)
    return FALSE;
  size = ADJ_SIZE (n);
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, 1, &size);
  return TRUE;
}

static gboolean
masked_select_kernel (AdjOpCall *call)
{
  g_autofree guint8 *set = NULL;
  g_autofree char *elements = NULL;
  AdjKView self, dense, out, from, to;
  AdjShape shape;
  gint64 n, at = 0;

  if (!read_sizes (call, &shape) || !op_input_as (call, 0, &shape, &self, NULL) ||
      !op_output (call, 0, &out))
    return FALSE;
  set = read_mask (call, &shape, &n);
  if (set == NULL || n != out.size[0])
    return FALSE;
  elements = op_temporary (op_queue (call), &self, self.type, &dense);
  adj_q_copy (op_queue (call), &dense, &self);
  from = (AdjKView){ .data = elements, .type = self.type, .rank = 1, .size = { 1 } };
  to = (AdjKView){ .data = out.data, .type = out.type, .rank = 1, .size = { 1 } };
  for (gint64 i = 0; at < n; i++)
    if (set[i] != 0)
      {
        from.data = elements + (gsize) i * adj_k_type_get_size (self.type);
        to.data =
            (char *) out.data + (gsize) (at++ * out.stride[0]) * adj_k_type_get_size (out.type);
        adj_q_copy (op_queue (call), &to, &from);
      }
  return TRUE;
}

/* -- writing -- */

static gboolean
masked_scatter_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *source = adj_op_call_meta (call, 2);
  AdjShape shape;

  if (!read_sizes (call, &shape))
    return FALSE;
  if (self->dtype != source->dtype)
    return adj_op_call_fail (call, "argument 'source' is %s, self %s",
                             adj_dtype_info (source->dtype)->torch_name,
                             adj_dtype_info (self->dtype)->torch_name);
  op_add_contiguous (call, self->dtype, shape.rank, shape.size);
  return TRUE;
}

/* Copies elements where @set; with @spread to the selected elements of @to, else from those of
 * @from. */
static void
move_set (AdjKQueue *queue,
          const AdjKView *to,
          const AdjKView *from,
          const guint8 *set,
          gint64 n,
          gboolean spread)
{
  gsize size = adj_k_type_get_size (to->type);
  AdjKView source = { .type = from->type, .rank = 1, .size = { 1 } };
  AdjKView target = { .type = to->type, .rank = 1, .size = { 1 } };
  gint64 at = 0;

  for (gint64 i = 0; at < n; i++)
    if (set[i] != 0)
      {
        source.data = (char *) from->data + (gsize) (spread ? at : i) * size;
        target.data = (char *) to->data + (gsize) (spread ? i : at) * size;
        adj_q_copy (queue, &target, &source);
        at++;
      }
}

static gboolean
masked_scatter_kernel (AdjOpCall *call)
{
  g_autofree guint8 *set = NULL;
  g_autofree char *elements = NULL;
  g_autofree char *results = NULL;
  AdjKView self, source, from, out, to;
  gint64 n;

  if (!op_input_as (call, 0, &call->results[0].meta.shape, &self, NULL) ||
      !op_input (call, 2, &source) || !op_output (call, 0, &out))
    return FALSE;
  set = read_mask (call, &call->results[0].meta.shape, &n);
  if (set == NULL)
    return FALSE;
  if (n > adj_k_view_count (&source))
    return adj_op_call_fail (call, "argument 'source' has fewer elements than are set in the mask");
  elements = op_temporary (op_queue (call), &source, out.type, &from);
  results = op_temporary (op_queue (call), &out, out.type, &to);
  adj_q_copy (op_queue (call), &from, &source);
  adj_q_copy (op_queue (call), &to, &self);
  move_set (op_queue (call), &to, &from, set, n, TRUE);
  adj_q_copy (op_queue (call), &out, &to);
  return TRUE;
}

static gboolean
masked_scatter_backward_meta (AdjOpCall *call)
{
  AdjShape shape;

  if (!read_sizes (call, &shape) || !op_new_shape (call, 2, &shape))
    return FALSE;
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, shape.rank, shape.size);
  return TRUE;
}

static gboolean
masked_scatter_backward_kernel (AdjOpCall *call)
{
  g_autofree guint8 *set = NULL;
  g_autofree char *elements = NULL;
  g_autofree char *results = NULL;
  AdjKView grad, from, out, to;
  AdjShape shape;
  gint64 n;

  if (!read_sizes (call, &shape) || !op_input_as (call, 0, &shape, &grad, NULL) ||
      !op_output (call, 0, &out))
    return FALSE;
  set = read_mask (call, &shape, &n);
  if (set == NULL)
    return FALSE;
  elements = op_temporary (op_queue (call), &grad, out.type, &from);
  results = op_temporary (op_queue (call), &out, out.type, &to);
  adj_q_copy (op_queue (call), &from, &grad);
  memset (results, 0, (gsize) adj_k_view_count (&to) * adj_k_type_get_size (to.type));
  move_set (op_queue (call), &to, &from, set, MIN (n, adj_k_view_count (&to)), FALSE);
  adj_q_copy (op_queue (call), &out, &to);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/mask.inc"
};

const OpFamily adj_family_mask = { ops, G_N_ELEMENTS (ops) };
