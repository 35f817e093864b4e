/* SPDX-License-Identifier: MIT */
/* Mirroring, rotating and rolling tensors. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* -- one dimension after the other -- */

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

/* -- rot90 -- */

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

/* Makes dimension @dim of @view advance by @stride of the result, from its end if @back. */
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

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/turn.inc"
};

const OpFamily adj_family_turn = { ops, G_N_ELEMENTS (ops) };
