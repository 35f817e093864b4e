/* SPDX-License-Identifier: MIT */
/* Tensors put together, repeated, padded and turned round. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-promotion.h"

static const AdjTensorMeta *
item_meta (const AdjOpCall *call, guint i)
{
  return adj_tensor_get_meta (call->args[0].items[i].tensor);
}

static AdjDType
promote_items (const AdjOpCall *call)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  for (guint i = 0; i < call->args[0].n; i++)
    adj_promotion_add_tensor (&promotion, item_meta (call, i)->dtype,
                              item_meta (call, i)->shape.rank);
  return adj_promotion_result (&promotion);
}

static gboolean
check_items (const AdjOpCall *call)
{
  if (!adj_value_is_container (&call->args[0]) || call->args[0].n == 0)
    return adj_op_call_fail (call, "needs at least one tensor");
  return TRUE;
}

/* -- cat -- */

/* Vectors without elements are left out, whatever the rank of the others. */
static gboolean
is_skipped (const AdjOpCall *call, guint i)
{
  const AdjShape *shape = &item_meta (call, i)->shape;

  return shape->rank == 1 && adj_size_is (op_symbols (call), shape->size[0], 0);
}

/* The first tensor that counts; the first of all when none does. */
static guint
find_pattern (const AdjOpCall *call)
{
  for (guint i = 0; i < call->args[0].n; i++)
    if (!is_skipped (call, i))
      return i;
  return 0;
}

static gboolean
check_item (const AdjOpCall *call, const AdjShape *pattern, const AdjShape *item, gint dim)
{
  gboolean fits = item->rank == pattern->rank;

  for (guint i = 0; fits && i < item->rank; i++)
    fits = (gint) i == dim ||
           adj_size_test (op_symbols (call), ADJ_SIZE_EQ, item->size[i], pattern->size[i]);
  if (!fits)
    {
      g_autofree char *a = op_sizes_text (call, pattern);
      g_autofree char *b = op_sizes_text (call, item);

      return adj_op_call_fail (call, "shapes %s and %s do not fit together", a, b);
    }
  return TRUE;
}

/* channels_last when every tensor suggests it. */
static AdjMemoryFormat
common_format (const AdjOpCall *call)
{
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_CONTIGUOUS;

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjMemoryFormat own;

      if (is_skipped (call, i))
        continue;
      own = adj_shape_suggest_format (&item_meta (call, i)->shape, op_symbols (call));
      if (own == ADJ_MEMORY_FORMAT_CONTIGUOUS)
        return own;
      format = own;
    }
  return format;
}

static gboolean
cat_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *pattern;
  AdjSize length = ADJ_SIZE (0);
  AdjShape shape;
  guint dim;

  if (!check_items (call))
    return FALSE;
  pattern = &item_meta (call, find_pattern (call))->shape;
  dim = op_dim (call, 1, pattern->rank);
  if (pattern->rank == 0)
    return adj_op_call_fail (call, "tensors without dimensions cannot be put in a row");
  for (guint i = 0; i < call->args[0].n; i++)
    {
      const AdjShape *item = &item_meta (call, i)->shape;

      if (is_skipped (call, i))
        continue;
      if (!check_item (call, pattern, item, (gint) dim))
        return FALSE;
      length = adj_size_add (symbols, length, item->size[dim]);
    }
  adj_shape_init (&shape, symbols, pattern->rank, pattern->size);
  shape.size[dim] = length;
  adj_shape_set_format (&shape, symbols, common_format (call), &shape);
  adj_op_call_add (call, promote_items (call), &shape);
  return TRUE;
}

/* Copies @item to position @at of @dim, as many as it has there. */
static gboolean
put_item (const AdjOpCall *call, guint i, const AdjKView *out, gint dim, gint64 at)
{
  AdjTensor *tensor = call->args[0].items[i].tensor;
  AdjKView from;
  AdjKView to = *out;

  if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
    return FALSE;
  to.size[dim] = from.size[dim];
  to.data = (char *) out->data + (gsize) (at * out->stride[dim]) * adj_k_type_get_size (out->type);
  adj_q_copy (op_queue (call), &to, &from);
  return TRUE;
}

static gboolean
cat_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, call->results[0].meta.shape.rank);
  AdjKView out;
  gint64 at = 0;

  if (!op_output (call, 0, &out))
    return FALSE;
  for (guint i = 0; i < call->args[0].n; i++)
    {
      if (is_skipped (call, i))
        continue;
      if (!put_item (call, i, &out, (gint) dim, at))
        return FALSE;
      at += item_meta (call, i)->shape.size[dim].word;
    }
  return TRUE;
}

/* -- stack -- */

static gboolean
stack_meta (AdjOpCall *call)
{
  const AdjShape *pattern;
  AdjSize sizes[ADJ_MAX_RANK];
  guint dim;

  if (!check_items (call))
    return FALSE;
  pattern = &item_meta (call, 0)->shape;
  if (pattern->rank == ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the tensors have %d dimensions already", ADJ_MAX_RANK);
  dim = op_dim (call, 1, pattern->rank + 1);
  for (guint i = 0; i < call->args[0].n; i++)
    if (!check_item (call, pattern, &item_meta (call, i)->shape, -1))
      return FALSE;
  for (guint i = 0; i <= pattern->rank; i++)
    sizes[i] = i == dim ? ADJ_SIZE (call->args[0].n) : pattern->size[i > dim ? i - 1 : i];
  op_add_contiguous (call, promote_items (call), pattern->rank + 1, sizes);
  return TRUE;
}

static gboolean
stack_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, call->results[0].meta.shape.rank);
  AdjKView out, slot;

  if (!op_output (call, 0, &out))
    return FALSE;
  slot = out;
  slot.rank--;
  for (gint i = (gint) dim; i < slot.rank; i++)
    {
      slot.size[i] = out.size[i + 1];
      slot.stride[i] = out.stride[i + 1];
    }
  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjTensor *tensor = call->args[0].items[i].tensor;
      AdjKView from;

      if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
        return FALSE;
      slot.data =
          (char *) out.data + (gsize) (i * out.stride[dim]) * adj_k_type_get_size (out.type);
      adj_q_copy (op_queue (call), &slot, &from);
    }
  return TRUE;
}

/* -- flip and roll: one dimension after the other -- */

/* Index i of dimension @dim of the result comes from index order[i]. */
static void
reorder (const AdjOpCall *call, AdjKView *view, gpointer *memory, gint dim, gint64 *order)
{
  AdjKView index = { .data = (gpointer) op_constant (op_queue (call), order,
                                                     (gsize) view->size[dim] * sizeof *order),
                     .type = ADJ_K_I64,
                     .rank = 1 };
  AdjKView out;
  gpointer fresh = op_temporary (op_queue (call), view, view->type, &out);
  gint64 bad;

  index.size[0] = view->size[dim];
  index.stride[0] = 1;
  adj_q_index_select (op_queue (call), &out, view, dim, &index, &bad);
  g_free (*memory);
  *memory = fresh;
  *view = out;
}

static gboolean
flip_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  adj_op_call_dims (call, 1, shape.rank);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  return !adj_context_has_error (call->cx);
}

static gboolean
flip_kernel (AdjOpCall *call)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank;
  guint32 dims = adj_op_call_dims (call, 1, rank);
  g_autofree gpointer memory = NULL;
  AdjSize list[ADJ_MAX_RANK];
  AdjKView view, out;

  if (adj_op_call_sizes (call, 1, list) == 0)
    dims = 0;
  if (!op_input (call, 0, &view) || !op_output (call, 0, &out))
    return FALSE;
  for (guint dim = 0; dim < rank; dim++)
    {
      gint64 n = view.size[dim];
      g_autofree gint64 *order = g_new (gint64, MAX (n, 1));

      for (gint64 i = 0; i < n; i++)
        order[i] = n - 1 - i;
      if ((dims & (1u << dim)) != 0)
        reorder (call, &view, &memory, (gint) dim, order);
    }
  adj_q_copy (op_queue (call), &out, &view);
  return TRUE;
}

static gboolean
roll_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize list[ADJ_MAX_RANK];
  guint n_shifts = adj_op_call_sizes (call, 1, list);
  guint n_dims = adj_op_call_sizes (call, 2, list);
  AdjShape shape = self->shape;

  if (n_shifts != n_dims && !(n_shifts == 1 && n_dims == 0))
    return adj_op_call_fail (call, "%u shifts but %u dimensions", n_shifts, n_dims);
  if (n_dims > 0)
    adj_op_call_dims (call, 2, shape.rank);
  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, op_symbols (call),
                        n_dims > 0 ? adj_shape_suggest_format (&self->shape, op_symbols (call))
                                   : ADJ_MEMORY_FORMAT_CONTIGUOUS,
                        &self->shape);
  adj_op_call_add (call, self->dtype, &shape);
  return !adj_context_has_error (call->cx);
}

static void
roll_dim (const AdjOpCall *call, AdjKView *view, gpointer *memory, gint dim, gint64 shift)
{
  gint64 n = view->size[dim];
  g_autofree gint64 *order = g_new (gint64, MAX (n, 1));

  if (n > 0)
    shift = ((shift % n) + n) % n;
  for (gint64 i = 0; i < n; i++)
    order[i] = (i - shift + n) % n;
  reorder (call, view, memory, dim, order);
}

static void
flatten (const AdjOpCall *call, AdjKView *view, gpointer *memory)
{
  AdjKView dense;
  gpointer fresh = op_temporary (op_queue (call), view, view->type, &dense);

  adj_q_copy (op_queue (call), &dense, view);
  g_free (*memory);
  *memory = fresh;
  dense.size[0] = adj_k_view_count (&dense);
  dense.stride[0] = 1;
  dense.rank = 1;
  *view = dense;
}

static gboolean
roll_kernel (AdjOpCall *call)
{
  g_autofree gpointer memory = NULL;
  AdjSize shifts[ADJ_MAX_RANK], dims[ADJ_MAX_RANK];
  guint n_dims = adj_op_call_sizes (call, 2, dims);
  AdjKView view, out;

  adj_op_call_sizes (call, 1, shifts);
  if (!op_input (call, 0, &view) || !op_output (call, 0, &out))
    return FALSE;
  if (n_dims == 0)
    {
      flatten (call, &view, &memory);
      roll_dim (call, &view, &memory, 0, shifts[0].word);
      out.size[0] = view.size[0];
      out.stride[0] = 1;
      out.rank = 1;
    }
  for (guint i = 0; i < n_dims && view.rank > 0; i++)
    roll_dim (call, &view, &memory,
              (gint) (dims[i].word < 0 ? dims[i].word + view.rank : dims[i].word), shifts[i].word);
  adj_q_copy (op_queue (call), &out, &view);
  return TRUE;
}

/* -- repeat -- */

static gboolean
repeat_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize repeats[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, repeats);
  guint extra = rank - self->shape.rank;

  if (rank < self->shape.rank || rank + self->shape.rank > ADJ_MAX_RANK)
    return adj_op_call_fail (call, "%u repeats do not fit a tensor of rank %u", rank,
                             self->shape.rank);
  for (guint i = 0; i < rank; i++)
    {
      if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, repeats[i], ADJ_SIZE (0)))
        return adj_op_call_fail (call, "a number of repeats is negative");
      if (i >= extra)
        repeats[i] = adj_size_mul (op_symbols (call), repeats[i], self->shape.size[i - extra]);
    }
  op_add_contiguous (call, self->dtype, rank, repeats);
  return TRUE;
}

/* Dimension d of size r·n is seen as (r, n): the copy repeats over r. */
static gboolean
repeat_kernel (AdjOpCall *call)
{
  AdjSize repeats[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, repeats);
  AdjKView in, out, from, to;
  gint n = 0;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  from = in;
  to = out;
  for (guint i = 0; i < rank; i++)
    {
      gint own = (gint) i - ((gint) rank - in.rank);

      to.size[n] = from.size[n] = repeats[i].word;
      to.stride[n] = own >= 0 ? in.size[own] * out.stride[i] : out.stride[i];
      from.stride[n++] = 0;
      if (own < 0)
        continue;
      to.size[n] = from.size[n] = in.size[own];
      to.stride[n] = out.stride[i];
      from.stride[n++] = in.stride[own];
    }
  from.rank = to.rank = n;
  adj_q_copy (op_queue (call), &to, &from);
  return TRUE;
}

/* -- padding -- */

/* Left and right padding of every dimension; the list begins with the last one. */
static gboolean
read_padding (const AdjOpCall *call, guint rank, AdjSize *left, AdjSize *right)
{
  const AdjValue *list = &call->args[1];

  for (guint i = 0; i < rank; i++)
    left[i] = right[i] = ADJ_SIZE (0);
  if (!adj_value_is_container (list) || list->n % 2 != 0 || list->n / 2 > rank)
    return adj_op_call_fail (call, "the padding does not fit a tensor of rank %u", rank);
  for (guint i = 0; i < list->n / 2; i++)
    {
      adj_value_get_size (&list->items[2 * i], &left[rank - 1 - i]);
      adj_value_get_size (&list->items[2 * i + 1], &right[rank - 1 - i]);
    }
  return TRUE;
}

static gboolean
pad_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize left[ADJ_MAX_RANK], right[ADJ_MAX_RANK];
  AdjShape shape = self->shape;

  if (!read_padding (call, shape.rank, left, right))
    return FALSE;
  for (guint i = 0; i < shape.rank; i++)
    {
      shape.size[i] =
          adj_size_add (symbols, adj_size_add (symbols, shape.size[i], left[i]), right[i]);
      if (adj_size_test (symbols, ADJ_SIZE_LT, shape.size[i], ADJ_SIZE (0)))
        return adj_op_call_fail (call, "the padding makes dimension %u negative", i);
    }
  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, symbols, adj_shape_suggest_format (&self->shape, symbols),
                        &self->shape);
  adj_op_call_add (call, self->dtype, &shape);
  return TRUE;
}

/* Moves @view @skip elements into dimension @dim. */
static void
advance (AdjKView *view, gint dim, gint64 skip)
{
  view->data =
      (char *) view->data + (gsize) (skip * view->stride[dim]) * adj_k_type_get_size (view->type);
}

static gboolean
pad_kernel (AdjOpCall *call)
{
  AdjSize left[ADJ_MAX_RANK], right[ADJ_MAX_RANK];
  AdjKView in, out;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out) ||
      !read_padding (call, (guint) in.rank, left, right))
    return FALSE;
  if (call->args[2].kind == ADJ_VALUE_FLOAT || call->part != ADJ_PART_NONE)
    adj_q_fill_f64 (op_queue (call), &out, op_number (call, 2, 0));
  else
    adj_q_fill_i64 (op_queue (call), &out, adj_op_call_int (call, 2, 0));
  for (gint i = 0; i < in.rank; i++)
    {
      gint64 cropped = MAX (-left[i].word, 0);
      gint64 n = in.size[i] + MIN (left[i].word, 0) + MIN (right[i].word, 0);

      if (n <= 0)
        return TRUE;
      advance (&in, i, cropped);
      advance (&out, i, MAX (left[i].word, 0));
      in.size[i] = out.size[i] = n;
    }
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

/* -- triangles -- */

static gboolean
triangle_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  if (self->shape.rank < 2)
    return adj_op_call_fail (call, "needs at least 2 dimensions, not %u", self->shape.rank);
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

static gboolean
triangle (AdjOpCall *call,
          void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, int64_t))
{
  AdjKView in, out;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  kernel (op_queue (call), &out, &in, adj_op_call_int (call, 1, 0));
  return TRUE;
}

static gboolean
tril_kernel (AdjOpCall *call)
{
  return triangle (call, adj_q_tril);
}

static gboolean
triu_kernel (AdjOpCall *call)
{
  return triangle (call, adj_q_triu);
}

/* -- turned -- */

static gint64
quarter_turns (const AdjOpCall *call)
{
  return ((adj_op_call_int (call, 1, 1) % 4) + 4) % 4;
}

static gboolean
read_plane (const AdjOpCall *call, guint dims[2])
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjSize named[ADJ_MAX_RANK];

  if (adj_op_call_sizes (call, 2, named) != 2 || self->rank < 2)
    return adj_op_call_fail (call, "turns in the plane of two dimensions");
  for (guint i = 0; i < 2; i++)
    {
      gint dim = adj_size_is_int (named[i]) ? adj_shape_wrap_dim (self, named[i].word) : -1;

      if (dim < 0 || (guint) dim >= self->rank)
        return adj_op_call_fail (call, "there is no such dimension");
      dims[i] = (guint) dim;
    }
  return dims[0] != dims[1] || adj_op_call_fail (call, "turns in the plane of two dimensions");
}

static gboolean
rot90_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;
  guint dims[2];

  if (!read_plane (call, dims))
    return FALSE;
  adj_shape_set_format (&shape, op_symbols (call),
                        quarter_turns (call) == 0 ? ADJ_MEMORY_FORMAT_CONTIGUOUS
                                                  : ADJ_MEMORY_FORMAT_PRESERVE,
                        &self->shape);
  shape.offset = ADJ_SIZE (0);
  if (quarter_turns (call) % 2 != 0)
    {
      AdjSize size = shape.size[dims[0]], stride = shape.stride[dims[0]];

      shape.size[dims[0]] = shape.size[dims[1]];
      shape.stride[dims[0]] = shape.stride[dims[1]];
      shape.size[dims[1]] = size;
      shape.stride[dims[1]] = stride;
    }
  adj_op_call_add (call, self->dtype, &shape);
  return TRUE;
}

/* Dimension @dim of @view goes along @stride of the result, from its end if @back. */
static void
lead_along (AdjKView *view, guint dim, gint64 stride, gboolean back)
{
  view->stride[dim] = back ? -stride : stride;
  if (back)
    view->data = (char *) view->data + (gssize) ((view->size[dim] - 1) * stride) *
                                           (gssize) adj_k_type_get_size (view->type);
}

static gboolean
rot90_kernel (AdjOpCall *call)
{
  gint64 turns = quarter_turns (call);
  gboolean swap = turns % 2 != 0;
  AdjKView self, out, to;
  guint dims[2];

  if (!read_plane (call, dims) || !op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  to = out;
  for (gint i = 0; i < self.rank; i++)
    to.size[i] = self.size[i];
  if (adj_k_view_count (&self) == 0)
    return TRUE;
  lead_along (&to, dims[0], out.stride[swap ? dims[1] : dims[0]], turns >= 2);
  lead_along (&to, dims[1], out.stride[swap ? dims[0] : dims[1]], turns == 1 || turns == 2);
  adj_q_copy (op_queue (call), &to, &self);
  return TRUE;
}

/* -- along a diagonal -- */

/* The rows and columns of @shape as a matrix. */
static void
matrix_sizes (const AdjShape *shape, AdjSize sizes[2])
{
  sizes[0] = shape->rank == 2 ? shape->size[0] : ADJ_SIZE (1);
  sizes[1] = shape->rank > 0 ? shape->size[shape->rank - 1] : ADJ_SIZE (1);
}

static gboolean
block_diag_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjValue *list = &call->args[0];
  AdjSize total[2] = { ADJ_SIZE (0), ADJ_SIZE (0) }, sizes[2];
  AdjDType dtype = ADJ_DTYPE_NONE;

  for (guint i = 0; i < list->n; i++)
    {
      const AdjTensorMeta *meta = adj_tensor_get_meta (list->items[i].tensor);

      if (meta->shape.rank > 2)
        return adj_op_call_fail (call, "takes matrices, not tensors of rank %u", meta->shape.rank);
      if (dtype != ADJ_DTYPE_NONE && meta->dtype != dtype)
        return adj_op_call_fail (call, "the matrices have different dtypes");
      dtype = meta->dtype;
      matrix_sizes (&meta->shape, sizes);
      for (guint k = 0; k < 2; k++)
        total[k] = adj_size_add (symbols, total[k], sizes[k]);
    }
  if (dtype == ADJ_DTYPE_NONE)
    return adj_op_call_fail (call, "needs at least one matrix");
  op_add_contiguous (call, dtype, 2, total);
  return TRUE;
}

static gboolean
block_diag_kernel (AdjOpCall *call)
{
  const AdjValue *list = &call->args[0];
  gint64 row = 0, column = 0;
  AdjKView out;

  op_clear (call, 0);
  if (!op_output (call, 0, &out))
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      AdjTensor *tensor = list->items[i].tensor;
      AdjKView block = out, from;
      AdjSize sizes[2];

      if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
        return FALSE;
      matrix_sizes (&adj_tensor_get_meta (tensor)->shape, sizes);
      block.size[0] = sizes[0].word;
      block.size[1] = sizes[1].word;
      block.data = (char *) out.data + (gsize) (row * out.stride[0] + column * out.stride[1]) *
                                           adj_k_type_get_size (out.type);
      from.stride[1] = from.rank > 0 ? from.stride[from.rank - 1] : 0;
      from.stride[0] = from.rank == 2 ? from.stride[0] : 0;
      from.size[0] = block.size[0];
      from.size[1] = block.size[1];
      from.rank = 2;
      if (adj_k_view_count (&block) > 0)
        adj_q_copy (op_queue (call), &block, &from);
      row += block.size[0];
      column += block.size[1];
    }
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/assemble.inc"
};

const OpFamily adj_family_assemble = { ops, G_N_ELEMENTS (ops) };
