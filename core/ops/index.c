/* SPDX-License-Identifier: MIT */
#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
check_index (const AdjOpCall *call, const AdjTensorMeta *index)
{
  if (index->dtype != ADJ_DTYPE_I64 && index->dtype != ADJ_DTYPE_I32)
    return adj_op_call_fail (call, "indices must be int64 or int32, not %s",
                             adj_dtype_info (index->dtype)->torch_name);
  return !adj_context_has_error (call->cx);
}

static gint64
count (const AdjOpCall *call, guint arg)
{
  gint64 n = 0;

  if (call->args[arg].kind == ADJ_VALUE_TENSOR)
    adj_size_get_hint (op_symbols (call),
                       adj_shape_numel (&adj_op_call_meta (call, arg)->shape, op_symbols (call)),
                       &n);
  return n;
}

/* A tensor without dimensions is a row of one element. */
static void
need_dim (AdjKView *view)
{
  if (view->rank > 0)
    return;
  view->rank = 1;
  view->size[0] = 1;
  view->stride[0] = 1;
}

/* A contiguous result with the sizes and dtype of self. */
static gboolean
add_like_self (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

static gboolean
copy_self (const AdjOpCall *call, AdjKView *out)
{
  AdjKView self;

  if (!op_input (call, 0, &self) || !op_output (call, 0, out))
    return FALSE;
  adj_k_copy (out, &self);
  return TRUE;
}

/* -- embedding -- */

static gboolean
embedding_meta (AdjOpCall *call)
{
  const AdjTensorMeta *weight = adj_op_call_meta (call, 0);
  const AdjTensorMeta *indices = adj_op_call_meta (call, 1);
  AdjSize sizes[ADJ_MAX_RANK + 1];
  guint rank = indices->shape.rank;

  if (!check_index (call, indices))
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
  return adj_k_embedding (&out, &weight, &indices, &bad) || op_bad_index (call, bad);
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

  if (!check_index (call, indices))
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
  gint64 bad;

  if (!op_input (call, 0, &e.g) || !op_input (call, 1, &e.indices) || !op_output (call, 0, &e.gw))
    return FALSE;
  return adj_k_embedding_backward (&e, &bad) || op_bad_index (call, bad);
}

static double
embedding_reduction (const AdjOpCall *call)
{
  return (double) count (call, 1);
}

/* -- one dimension, slices -- */

/* Argument @arg names slices of @self: a vector, or one index; a 0-d @self has one slice only. */
static gboolean
check_slices (const AdjOpCall *call, guint arg, const AdjTensorMeta *self, AdjSize *n)
{
  const AdjTensorMeta *index = adj_op_call_meta (call, arg);

  if (!check_index (call, index))
    return FALSE;
  if (index->shape.rank > 1)
    return adj_op_call_fail (call, "the index must be a vector");
  *n = index->shape.rank == 1 ? index->shape.size[0] : ADJ_SIZE (1);
  if (self->shape.rank == 0 && !adj_size_is (op_symbols (call), *n, 1))
    return adj_op_call_fail (call, "a scalar takes one index only");
  return TRUE;
}

static gboolean
index_select_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  guint dim = op_dim (call, 1, self->shape.rank);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjSize n;

  if (!check_slices (call, 2, self, &n))
    return FALSE;
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = i == dim ? n : self->shape.size[i];
  op_add_contiguous (call, self->dtype, self->shape.rank, sizes);
  return TRUE;
}

static gboolean
index_select_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView self, index, out;
  gint64 bad;

  if (!op_input (call, 0, &self) || !op_input (call, 2, &index) || !op_output (call, 0, &out))
    return FALSE;
  need_dim (&self);
  need_dim (&out);
  return adj_k_index_select (&out, &self, (int) dim, &index, &bad) || op_bad_index (call, bad);
}

static gboolean
index_add_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *source = adj_op_call_meta (call, 3);
  guint dim = op_dim (call, 1, self->shape.rank);
  gboolean fits = source->shape.rank == self->shape.rank && source->dtype == self->dtype;
  AdjSize n;

  if (!check_slices (call, 2, self, &n))
    return FALSE;
  for (guint i = 0; fits && i < self->shape.rank; i++)
    fits = adj_size_test (op_symbols (call), ADJ_SIZE_EQ, source->shape.size[i],
                          i == dim ? n : self->shape.size[i]);
  return fits ? add_like_self (call)
              : adj_op_call_fail (call, "the source does not fit self and the index");
}

static gboolean
index_add_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView index, source, out;
  gint64 bad;

  if (!copy_self (call, &out) || !op_input (call, 2, &index) || !op_input (call, 3, &source))
    return FALSE;
  need_dim (&out);
  need_dim (&source);
  return adj_k_index_add (&out, (int) dim, &index, &source, adj_op_call_double (call, 4, 1),
                          &bad) ||
         op_bad_index (call, bad);
}

/* -- one dimension, elements -- */

/* A 0-d tensor counts as one of size 1. */
static AdjSize
size_at (const AdjShape *shape, guint dim)
{
  return shape->rank == 0 ? ADJ_SIZE (1) : shape->size[dim];
}

/* The index may be smaller than @other; only in @free may it be larger. */
static gboolean
check_within (const AdjOpCall *call, const AdjShape *index, const AdjShape *other, gint free)
{
  guint rank = MAX (index->rank, 1);
  gboolean fits = rank == MAX (other->rank, 1);

  for (guint i = 0; fits && i < rank; i++)
    fits = (gint) i == free ||
           adj_size_test (op_symbols (call), ADJ_SIZE_LE, size_at (index, i), size_at (other, i));
  if (!fits)
    {
      g_autofree char *a = op_sizes_text (call, index);
      g_autofree char *b = op_sizes_text (call, other);

      return adj_op_call_fail (call, "an index of shape %s does not fit into %s", a, b);
    }
  return TRUE;
}

static gboolean
gather_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *index = adj_op_call_meta (call, 2);
  guint dim = op_dim (call, 1, self->shape.rank);

  if (!check_index (call, index) || !check_within (call, &index->shape, &self->shape, (gint) dim))
    return FALSE;
  op_add_contiguous (call, self->dtype, index->shape.rank, index->shape.size);
  return TRUE;
}

static gboolean
gather_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView self, index, out;
  gint64 bad;

  if (!op_input (call, 0, &self) || !op_input (call, 2, &index) || !op_output (call, 0, &out))
    return FALSE;
  need_dim (&self);
  need_dim (&index);
  need_dim (&out);
  return adj_k_gather (&out, &self, (int) dim, &index, &bad) || op_bad_index (call, bad);
}

static gboolean
scatter_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *index = adj_op_call_meta (call, 2);
  guint dim = op_dim (call, 1, self->shape.rank);

  if (!check_index (call, index) || !check_within (call, &index->shape, &self->shape, (gint) dim))
    return FALSE;
  if (call->args[3].kind == ADJ_VALUE_TENSOR)
    {
      const AdjTensorMeta *src = adj_op_call_meta (call, 3);

      if (!check_within (call, &index->shape, &src->shape, -1))
        return FALSE;
      if (src->dtype != self->dtype)
        return adj_op_call_fail (call, "self and src have different dtypes");
    }
  return add_like_self (call);
}

/* The number in argument @arg as one element of type @type, kept in @element. */
static gboolean
number_view (const AdjOpCall *call, guint arg, AdjKType type, double *element, AdjKView *out)
{
  *out = (AdjKView){ .data = element, .type = type };
  if (call->args[arg].kind == ADJ_VALUE_FLOAT)
    adj_k_fill_f64 (out, call->args[arg].number);
  else
    adj_k_fill_i64 (out, adj_op_call_int (call, arg, 0));
  return !adj_context_has_error (call->cx);
}

typedef bool (*ScatterKernel) (
    const AdjKView *, int, const AdjKView *, const AdjKView *, int64_t *);

static gboolean
scatter (AdjOpCall *call, ScatterKernel kernel)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  gboolean is_tensor = call->args[3].kind == ADJ_VALUE_TENSOR;
  AdjKView index, src, out;
  double number;
  gint64 bad;

  if (!copy_self (call, &out) || !op_input (call, 2, &index))
    return FALSE;
  if (is_tensor ? !op_input (call, 3, &src) : !number_view (call, 3, out.type, &number, &src))
    return FALSE;
  need_dim (&out);
  need_dim (&index);
  src.rank = index.rank;
  for (gint i = 0; i < index.rank; i++)
    {
      src.size[i] = index.size[i];
      if (!is_tensor || adj_op_call_meta (call, 3)->shape.rank == 0)
        src.stride[i] = 0;
    }
  return kernel (&out, (int) dim, &index, &src, &bad) || op_bad_index (call, bad);
}

static gboolean
scatter_kernel (AdjOpCall *call)
{
  return scatter (call, adj_k_scatter);
}

static gboolean
scatter_add_kernel (AdjOpCall *call)
{
  return scatter (call, adj_k_scatter_add);
}

static double
source_reduction (const AdjOpCall *call)
{
  return 1 + (double) MAX (count (call, 2), count (call, 3));
}

/* -- several dimensions -- */

/* The indices of a call, masks taken apart, broadcast against one another. */
typedef struct
{
  AdjValue items[ADJ_MAX_RANK]; /* TENSOR of integers, or NONE */
  guint n_items;
  AdjShape broadcast;
  guint first, n; /* the first indexed dimension; how many are */
  gboolean adjacent;
} Indexing;

/* Vectors of as many positions as data say. */
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

/* Where the mask is not 0: one vector of positions for each of its dimensions. */
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
  if (!op_view (call, mask, adj_tensor_get_meta (mask), &view))
    return FALSE;

  count = adj_k_view_count (&view);
  if (!op_check_temporary (call, count))
    return FALSE;
  set = op_temporary (&view, ADJ_K_BOOL, &dense);
  adj_k_copy (&dense, &view);
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
read_items (const AdjOpCall *call, Indexing *out)
{
  const AdjValue *list = &call->args[1];
  guint rank = adj_op_call_meta (call, 0)->shape.rank;

  if (!adj_value_is_container (list))
    return adj_op_call_fail (call, "needs a list of indices");
  for (guint i = 0; i < list->n; i++)
    {
      const AdjValue *item = &list->items[i];
      AdjDType dtype;

      if (out->n_items >= rank)
        return adj_op_call_fail (call, "too many indices for a tensor of rank %u", rank);
      if (item->kind != ADJ_VALUE_TENSOR)
        {
          out->items[out->n_items++] = ADJ_NONE;
          continue;
        }
      dtype = adj_tensor_get_meta (item->tensor)->dtype;
      if (dtype == ADJ_DTYPE_BOOL || dtype == ADJ_DTYPE_U8)
        {
          if (!add_mask (call, item->tensor, out))
            return FALSE;
          continue;
        }
      if (!check_index (call, adj_tensor_get_meta (item->tensor)))
        return FALSE;
      out->items[out->n_items++] = *item;
    }
  return TRUE;
}

static gboolean
read_indexing (const AdjOpCall *call, Indexing *out)
{
  const AdjShape *shapes[ADJ_MAX_RANK];
  GError *error = NULL;
  guint last = 0;

  *out = (Indexing){ .first = G_MAXUINT };
  if (!read_items (call, out))
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

  if (!read_indexing (call, &indexing) || !indexed_shape (call, &indexing, &shape))
    return FALSE;
  adj_op_call_add (call, adj_op_call_meta (call, 0)->dtype, &shape);
  return TRUE;
}

/* Index views spread over their common sizes; @views has room for one per dimension. */
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

  if (!read_indexing (call, &indexing) || !view_indices (call, &indexing, &index, views) ||
      !op_input (call, 0, &index.x) || !op_output (call, 0, &index.values))
    return FALSE;
  return adj_k_index (&index, &bad) || op_bad_index (call, bad);
}

static gboolean
index_put_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *values = adj_op_call_meta (call, 2);
  AdjShape result = self->shape;
  AdjShape shape, spread;
  Indexing indexing;

  if (!read_indexing (call, &indexing) || !indexed_shape (call, &indexing, &shape))
    return FALSE;
  if (values->dtype != self->dtype)
    return adj_op_call_fail (call, "self and values have different dtypes");
  if (!adj_shape_expand (&values->shape, op_symbols (call), &shape, &spread))
    return adj_op_call_fail (call, "the values do not broadcast to the indexed elements");
  adj_shape_set_format (&result, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  result.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &result);
  return TRUE;
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

  if (!read_indexing (call, &indexing) || !indexed_shape (call, &indexing, &shape) ||
      !view_indices (call, &indexing, &index, views) || !copy_self (call, &index.x) ||
      !op_input_as (call, 2, &shape, &index.values, &number))
    return FALSE;
  return adj_k_index_put (&index, &bad) || op_bad_index (call, bad);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/index.inc"
};

const OpFamily adj_family_index = { ops, G_N_ELEMENTS (ops) };
