/* SPDX-License-Identifier: MIT */
/* Indexing with tensors: index, index_put, and checks of indices shared with other operators. */

#include "ops/index-private.h"

#include "ops/table-private.h"

gboolean
op_check_index (const AdjOpCall *call, const AdjTensorMeta *index)
{
  gboolean is_empty =
      adj_size_same (adj_shape_numel (&index->shape, op_symbols (call)), ADJ_SIZE (0));

  if (!is_empty && index->dtype != ADJ_DTYPE_I64 && index->dtype != ADJ_DTYPE_I32)
    return adj_op_call_fail (call, "indices must be int64 or int32, not %s",
                             adj_dtype_info (index->dtype)->torch_name);
  return !adj_context_has_error (call->cx);
}

/* The number of elements of argument @arg; 0 for a number. */
static double
count_argument (const AdjOpCall *call, guint arg)
{
  return call->args[arg].kind == ADJ_VALUE_TENSOR
             ? op_count (call, &adj_op_call_meta (call, arg)->shape)
             : 0;
}

double
op_source_reduction (const AdjOpCall *call)
{
  return 1 + MAX (count_argument (call, 2), count_argument (call, 3));
}

gboolean
op_copy_self (const AdjOpCall *call, AdjKView *out)
{
  AdjKView self;

  if (!op_input (call, 0, &self) || !op_output (call, 0, out))
    return FALSE;
  adj_q_copy (op_queue (call), out, &self);
  return TRUE;
}

/* The indices of a call, masks converted, broadcast with each other. */
typedef struct
{
  AdjValue items[ADJ_MAX_RANK]; /* TENSOR of integers, or NONE */
  guint n_items;
  AdjShape broadcast;
  guint first, n; /* first indexed dimension, and number of indexed dimensions */
  gboolean adjacent;
} Indexing;

static gboolean
is_mask (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_BOOL || dtype == ADJ_DTYPE_U8;
}

/* Adds index vectors of data-dependent length for a fake mask. */
static gboolean
add_fake_mask (const AdjOpCall *call, AdjTensor *mask, Indexing *out)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };
  AdjSize count;

  if (!op_count_nonzero (call, mask, &count))
    return FALSE;
  adj_shape_init (&meta.shape, op_symbols (call), 1, &count);
  for (guint d = 0; d < adj_tensor_get_meta (mask)->shape.rank; d++)
    out->items[out->n_items++] = ADJ_TENSOR (
        adj_scope_add (call->cx, adj_tensor_new_empty (&meta, op_symbols (call), TRUE)));
  return TRUE;
}

/* Adds the positions where the mask is not 0: one vector for each of its dimensions. */
static gboolean
add_mask (const AdjOpCall *call, AdjTensor *mask, Indexing *out)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };
  const AdjShape *shape = &adj_tensor_get_meta (mask)->shape;
  gint64 *columns[ADJ_MAX_RANK];
  g_autofree guint8 *set = NULL;
  gint64 n = 0, count, at = 0;
  AdjKView view, dense;

  if (shape->rank == 0 || out->n_items + shape->rank > self->rank)
    return adj_op_call_fail (call, "a mask of rank %u does not fit here", shape->rank);
  for (guint d = 0; d < shape->rank; d++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, shape->size[d],
                        self->size[out->n_items + d]))
      return adj_op_call_fail (call, "a mask has not the sizes of what it indexes");
  if (adj_storage_is_fake (adj_tensor_get_storage (mask)))
    return add_fake_mask (call, mask, out);
  if (op_queue (call)->device != NULL)
    {
      adj_k_queue_lacks (op_queue (call), "positions of a mask");
      return adj_op_call_fail (call, "a mask is looked at by the CPU");
    }
  if (!op_view (call, mask, adj_tensor_get_meta (mask), &view))
    return FALSE;

  count = adj_k_view_count (&view);
  if (!op_check_temporary (call, count))
    return FALSE;
  set = op_temporary (op_queue (call), &view, ADJ_K_BOOL, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  for (gint64 i = 0; i < count; i++)
    n += set[i];
  adj_shape_init_ints (&meta.shape, 1, &n);
  for (guint d = 0; d < shape->rank; d++)
    {
      AdjTensor *column = adj_tensor_new_empty (&meta, op_symbols (call), FALSE);

      columns[d] = adj_storage_write (adj_tensor_get_storage (column));
      out->items[out->n_items++] = ADJ_TENSOR (adj_scope_add (call->cx, column));
    }
  for (gint64 i = 0; i < count; i++)
    {
      gint64 rest = i;

      if (set[i] == 0)
        continue;
      for (guint d = shape->rank; d-- > 0; rest /= dense.size[d])
        columns[d][at] = rest % dense.size[d];
      at++;
    }
  return TRUE;
}

static gboolean
read_items (const AdjOpCall *call, guint arg, Indexing *out)
{
  const AdjValue *list = &call->args[arg];
  guint rank = adj_op_call_meta (call, 0)->shape.rank;

  if (!adj_value_is_container (list))
    return adj_op_call_fail (call, "needs a list of indices");
  for (guint i = 0; i < list->n; i++)
    {
      const AdjValue *item = &list->items[i];

      if (out->n_items >= rank)
        return adj_op_call_fail (call, "too many indices for a tensor of rank %u", rank);
      if (item->kind != ADJ_VALUE_TENSOR)
        {
          out->items[out->n_items++] = ADJ_NONE;
          continue;
        }
      if (is_mask (adj_tensor_get_meta (item->tensor)->dtype))
        {
          if (!add_mask (call, item->tensor, out))
            return FALSE;
          continue;
        }
      if (!op_check_index (call, adj_tensor_get_meta (item->tensor)))
        return FALSE;
      out->items[out->n_items++] = *item;
    }
  return TRUE;
}

static gboolean
read_indexing (const AdjOpCall *call, guint arg, Indexing *out)
{
  const AdjShape *shapes[ADJ_MAX_RANK];
  GError *error = NULL;
  guint last = 0;

  *out = (Indexing){ .first = G_MAXUINT };
  if (!read_items (call, arg, out))
    return FALSE;
  for (guint i = 0; i < out->n_items; i++)
    if (out->items[i].kind == ADJ_VALUE_TENSOR)
      {
        out->first = MIN (out->first, i);
        last = i;
        shapes[out->n++] = &adj_tensor_get_meta (out->items[i].tensor)->shape;
      }
  if (out->n == 0)
    return adj_op_call_fail (call, "needs at least one index");
  out->adjacent = last - out->first + 1 == out->n;
  return adj_shape_pointwise (&out->broadcast, op_symbols (call), shapes, out->n, &error) ||
         adj_op_call_fail_with (call, error);
}

/* Sizes of self[indices]. */
static gboolean
indexed_shape (const AdjOpCall *call, const Indexing *indexing, AdjShape *out)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  const AdjShape *broadcast = &indexing->broadcast;
  AdjSize sizes[2 * ADJ_MAX_RANK];
  guint at = indexing->adjacent ? indexing->first : 0;
  guint n = 0;

  for (guint i = 0; i <= self->rank; i++)
    {
      gboolean indexed = i < indexing->n_items && indexing->items[i].kind == ADJ_VALUE_TENSOR;

      if (i == at)
        for (guint k = 0; k < broadcast->rank; k++)
          sizes[n++] = broadcast->size[k];
      if (i < self->rank && !indexed)
        sizes[n++] = self->size[i];
    }
  if (n > ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the result has more than %d dimensions", ADJ_MAX_RANK);
  adj_shape_init (out, op_symbols (call), n, sizes);
  return TRUE;
}

static gboolean
index_meta (AdjOpCall *call)
{
  Indexing indexing;
  AdjShape shape;

  if (!read_indexing (call, 1, &indexing) || !indexed_shape (call, &indexing, &shape))
    return FALSE;
  adj_op_call_add (call, adj_op_call_meta (call, 0)->dtype, &shape);
  return TRUE;
}

/* Views of the indices, expanded to their common sizes; @views has room for one per dimension. */
static gboolean
view_indices (const AdjOpCall *call, const Indexing *indexing, AdjKIndex *out, AdjKView *views)
{
  for (guint i = 0; i < ADJ_K_MAX_RANK; i++)
    out->idx[i] = NULL;
  for (guint i = 0; i < indexing->n_items; i++)
    {
      const AdjValue *item = &indexing->items[i];
      AdjTensorMeta meta;

      if (item->kind != ADJ_VALUE_TENSOR)
        continue;
      meta = *adj_tensor_get_meta (item->tensor);
      adj_shape_expand (&adj_tensor_get_meta (item->tensor)->shape, op_symbols (call),
                        &indexing->broadcast, &meta.shape);
      if (!op_view (call, item->tensor, &meta, &views[i]))
        return FALSE;
      out->idx[i] = &views[i];
    }
  return TRUE;
}

static gboolean
index_kernel (AdjOpCall *call)
{
  AdjKIndex index = { .accumulate = false };
  AdjKView views[ADJ_K_MAX_RANK];
  Indexing indexing;
  gint64 bad;

  if (!read_indexing (call, 1, &indexing) || !view_indices (call, &indexing, &index, views) ||
      !op_input (call, 0, &index.x) || !op_output (call, 0, &index.values))
    return FALSE;
  return adj_q_index (op_queue (call), &index, &bad) || op_bad_index (call, bad);
}

/* Whether a mask among the indices is fake, so that the number of selected elements is unknown. */
static gboolean
has_fake_mask (const AdjValue *indices)
{
  for (guint i = 0; i < indices->n; i++)
    {
      AdjTensor *index =
          indices->items[i].kind == ADJ_VALUE_TENSOR ? indices->items[i].tensor : NULL;

      if (index != NULL && adj_storage_is_fake (adj_tensor_get_storage (index)) &&
          is_mask (adj_tensor_get_meta (index)->dtype))
        return TRUE;
    }
  return FALSE;
}

/* self with the values of argument @arg written at @places; (nullable): their shape is unknown. */
static gboolean
add_put (AdjOpCall *call, guint arg, const AdjShape *places)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *values = adj_op_call_meta (call, arg);
  AdjShape result = self->shape, spread;

  if (values->dtype != self->dtype)
    return adj_op_call_fail (call, "self and values have different dtypes");
  if (places != NULL && !adj_shape_expand (&values->shape, op_symbols (call), places, &spread))
    return adj_op_call_fail (call, "the values do not broadcast to the indexed elements");
  adj_shape_set_format (&result, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  result.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &result);
  return TRUE;
}

static gboolean
index_put_meta (AdjOpCall *call)
{
  Indexing indexing;
  AdjShape shape;

  if (has_fake_mask (&call->args[1]))
    return add_put (call, 2, NULL);
  return read_indexing (call, 1, &indexing) && indexed_shape (call, &indexing, &shape) &&
         add_put (call, 2, &shape);
}

static gboolean
index_put_kernel (AdjOpCall *call)
{
  AdjKIndex index = { .accumulate = adj_op_call_bool (call, 3) };
  AdjKView views[ADJ_K_MAX_RANK];
  Indexing indexing;
  AdjShape shape;
  double number;
  gint64 bad;

  if (!read_indexing (call, 1, &indexing) || !indexed_shape (call, &indexing, &shape) ||
      !view_indices (call, &indexing, &index, views) || !op_copy_self (call, &index.x) ||
      !op_input_as (call, 2, &shape, &index.values, &number))
    return FALSE;
  return adj_q_index_put (op_queue (call), &index, &bad) || op_bad_index (call, bad);
}

/* -- where a mask is set -- */

/* The sizes of self[indices]; checks that the mask broadcasts to them. */
static gboolean
masked_shape (const AdjOpCall *call, Indexing *indexing, AdjShape *out)
{
  AdjShape spread;

  if (!read_indexing (call, 2, indexing) || !indexed_shape (call, indexing, out))
    return FALSE;
  if (adj_op_call_meta (call, 1)->dtype != ADJ_DTYPE_BOOL)
    return adj_op_call_fail (call, "the mask must be bool");
  return adj_shape_expand (&adj_op_call_meta (call, 1)->shape, op_symbols (call), out, &spread) ||
         adj_op_call_fail (call, "the mask does not broadcast to the indexed elements");
}

static gboolean
masked_index_meta (AdjOpCall *call)
{
  Indexing indexing;
  AdjShape shape;

  if (!masked_shape (call, &indexing, &shape))
    return FALSE;
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, shape.rank, shape.size);
  return TRUE;
}

static gboolean
masked_put_meta (AdjOpCall *call)
{
  Indexing indexing;
  AdjShape shape;

  return masked_shape (call, &indexing, &shape) && add_put (call, 3, &shape);
}

/* Copies of the indices, clamped to their dimension. */
static void
clamp_indices (const AdjOpCall *call,
               const AdjKView *self,
               AdjKView *views,
               AdjKIndex *index,
               gpointer *memory)
{
  for (gint d = 0; d < self->rank; d++)
    {
      AdjKView dense;
      gint64 *places;

      if (index->idx[d] == NULL)
        continue;
      places = memory[d] = op_temporary (op_queue (call), &views[d], ADJ_K_I64, &dense);
      adj_q_copy (op_queue (call), &dense, &views[d]);
      for (gint64 i = 0; i < adj_k_view_count (&dense); i++)
        places[i] = CLAMP (places[i], -self->size[d], self->size[d] - 1);
      views[d] = dense;
    }
}

/* Copies @from to @to where @mask equals @set; all have the same sizes. */
static void
copy_masked (const AdjOpCall *call,
             const AdjKView *to,
             const AdjKView *from,
             const guint8 *mask,
             gboolean set)
{
  gint64 n = adj_k_view_count (to);

  for (gint64 i = 0; i < n; i++)
    {
      AdjKView a = { .type = to->type }, b = { .type = from->type };
      gint64 rest = i, at = 0, to_at = 0;

      if (mask[i] != set)
        continue;
      for (gint d = from->rank; d-- > 0; rest /= from->size[d])
        {
          at += rest % from->size[d] * from->stride[d];
          to_at += rest % from->size[d] * to->stride[d];
        }
      a.data = (char *) to->data + (gssize) to_at * (gssize) adj_k_type_get_size (to->type);
      b.data = (char *) from->data + (gssize) at * (gssize) adj_k_type_get_size (from->type);
      adj_q_copy (op_queue (call), &a, &b);
    }
}

/* The mask as bytes, expanded to @shape; the caller frees them. */
static guint8 *
read_mask (const AdjOpCall *call, const AdjShape *shape)
{
  AdjKView mask, dense;
  guint8 *bytes;

  if (!op_input_as (call, 1, shape, &mask, NULL) ||
      !op_check_temporary (call, adj_k_view_count (&mask)))
    return NULL;
  bytes = op_temporary (op_queue (call), &mask, ADJ_K_BOOL, &dense);
  adj_q_copy (op_queue (call), &dense, &mask);
  return bytes;
}

static void
free_indices (gpointer *memory)
{
  for (guint i = 0; i < ADJ_K_MAX_RANK; i++)
    g_free (memory[i]);
}

static gboolean
masked_index_kernel (AdjOpCall *call)
{
  AdjKIndex index = { .accumulate = false };
  AdjKView views[ADJ_K_MAX_RANK], fill;
  gpointer memory[ADJ_K_MAX_RANK] = { NULL };
  g_autofree guint8 *mask = NULL;
  Indexing indexing;
  AdjShape shape;
  double number;
  gint64 bad;
  gboolean done;

  if (!masked_shape (call, &indexing, &shape) || !view_indices (call, &indexing, &index, views) ||
      !op_input (call, 0, &index.x) || !op_output (call, 0, &index.values) ||
      !op_input_as (call, 3, &shape, &fill, &number))
    return FALSE;
  mask = read_mask (call, &shape);
  if (mask == NULL)
    return FALSE;
  if (adj_k_view_count (&index.x) == 0)
    {
      adj_q_copy (op_queue (call), &index.values, &fill);
      return TRUE;
    }
  clamp_indices (call, &index.x, views, &index, memory);
  done = adj_q_index (op_queue (call), &index, &bad) || op_bad_index (call, bad);
  if (done)
    copy_masked (call, &index.values, &fill, mask, FALSE);
  free_indices (memory);
  return done;
}

static gboolean
masked_put_kernel (AdjOpCall *call)
{
  AdjKIndex index = { .accumulate = true };
  AdjKView views[ADJ_K_MAX_RANK], values;
  gpointer memory[ADJ_K_MAX_RANK] = { NULL };
  g_autofree guint8 *mask = NULL;
  g_autofree gpointer kept = NULL;
  Indexing indexing;
  AdjShape shape;
  double number;
  gint64 bad;
  gboolean done;

  if (!masked_shape (call, &indexing, &shape) || !view_indices (call, &indexing, &index, views) ||
      !op_copy_self (call, &index.x) || !op_input_as (call, 3, &shape, &values, &number))
    return FALSE;
  mask = read_mask (call, &shape);
  if (mask == NULL)
    return FALSE;
  if (adj_k_view_count (&index.x) == 0)
    return TRUE;
  kept = op_temporary (op_queue (call), &values, values.type, &index.values);
  copy_masked (call, &index.values, &values, mask, TRUE);
  clamp_indices (call, &index.x, views, &index, memory);
  done = adj_q_index_put (op_queue (call), &index, &bad) || op_bad_index (call, bad);
  free_indices (memory);
  return done;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/index.inc"
};

const OpFamily adj_family_index = { ops, G_N_ELEMENTS (ops) };
