/* SPDX-License-Identifier: MIT */
/* Indexing along one dimension: index_select, gather, scatter and similar operators. */

#include "ops/index-private.h"
#include "ops/table-private.h"

/* A contiguous result with the sizes and dtype of self. */
static gboolean
add_like_self (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

/* -- slices -- */

/* Argument @arg has indices of slices of @self: a vector or a single index; a 0-d @self has one
 * slice. */
static gboolean
check_slices (const AdjOpCall *call, guint arg, const AdjTensorMeta *self, AdjSize *n)
{
  const AdjTensorMeta *index = adj_op_call_meta (call, arg);

  if (!op_check_index (call, index))
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
  op_need_dim (&self);
  op_need_dim (&out);
  return adj_q_index_select (op_queue (call), &out, &self, (int) dim, &index, &bad) ||
         op_bad_index (call, bad);
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

  if (!op_copy_self (call, &out) || !op_input (call, 2, &index) || !op_input (call, 3, &source))
    return FALSE;
  op_need_dim (&out);
  op_need_dim (&source);
  return adj_q_index_add (op_queue (call), &out, (int) dim, &index, &source,
                          adj_op_call_double (call, 4, 1), &bad) ||
         op_bad_index (call, bad);
}

/* -- elements -- */

/* A 0-d tensor counts as size 1. */
static AdjSize
size_at (const AdjShape *shape, guint dim)
{
  return shape->rank == 0 ? ADJ_SIZE (1) : shape->size[dim];
}

/* Checks that the index is not larger than @other, except in dimension @free. */
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

  if (!op_check_index (call, index) ||
      !check_within (call, &index->shape, &self->shape, (gint) dim))
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
  op_need_dim (&self);
  op_need_dim (&index);
  op_need_dim (&out);
  return adj_q_gather (op_queue (call), &out, &self, (int) dim, &index, &bad) ||
         op_bad_index (call, bad);
}

static gboolean
scatter_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *index = adj_op_call_meta (call, 2);
  guint dim = op_dim (call, 1, self->shape.rank);

  if (!op_check_index (call, index) ||
      !check_within (call, &index->shape, &self->shape, (gint) dim))
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

/* The number in argument @arg as an element of @type, stored in @element. */
static gboolean
number_view (const AdjOpCall *call, guint arg, AdjKType type, double *element, AdjKView *out)
{
  *out = (AdjKView){ .data = element, .type = type };
  if (call->args[arg].kind == ADJ_VALUE_FLOAT || call->part != ADJ_PART_NONE)
    adj_k_fill_f64 (out, op_number (call, arg, 0));
  else
    adj_k_fill_i64 (out, adj_op_call_int (call, arg, 0));
  out->data = (gpointer) op_constant (op_queue (call), element, adj_k_type_get_size (type));
  return !adj_context_has_error (call->cx);
}

typedef bool (*ScatterKernel) (
    AdjKQueue *, const AdjKView *, int, const AdjKView *, const AdjKView *, int64_t *);

static gboolean
scatter (AdjOpCall *call, ScatterKernel kernel)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  gboolean is_tensor = call->args[3].kind == ADJ_VALUE_TENSOR;
  AdjKView index, src, out;
  double number;
  gint64 bad;

  if (!op_copy_self (call, &out) || !op_input (call, 2, &index))
    return FALSE;
  if (is_tensor ? !op_input (call, 3, &src) : !number_view (call, 3, out.type, &number, &src))
    return FALSE;
  op_need_dim (&out);
  op_need_dim (&index);
  src.rank = index.rank;
  for (gint i = 0; i < index.rank; i++)
    {
      src.size[i] = index.size[i];
      if (!is_tensor || adj_op_call_meta (call, 3)->shape.rank == 0)
        src.stride[i] = 0;
    }
  return kernel (op_queue (call), &out, (int) dim, &index, &src, &bad) || op_bad_index (call, bad);
}

static gboolean
scatter_kernel (AdjOpCall *call)
{
  return scatter (call, adj_q_scatter);
}

static gboolean
scatter_add_kernel (AdjOpCall *call)
{
  return scatter (call, adj_q_scatter_add);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/gather.inc"
};

const OpFamily adj_family_gather = { ops, G_N_ELEMENTS (ops) };
