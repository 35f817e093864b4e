/* SPDX-License-Identifier: MIT */
/* Reflection and replication padding, and its backward. */

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Padding: along each dimension the result takes elements of self by a list of indices; so it is an
 * index_select for each padded dimension, and its gradient an index_add. */

/* -- shape rules -- */

static gboolean
is_reflection (const AdjOpCall *call)
{
  return g_str_has_prefix (call->schema->name, "reflection");
}

/* The number of padded dimensions, which are the last ones. */
static guint
n_padded (const AdjOpCall *call)
{
  return (guint) call->schema->arguments[call->schema->n_arguments - 1].type.list_size / 2;
}

/* Reads the pairs of argument @arg, by dimension of @shape; the list begins with the last
 * dimension. */
static gboolean
read_pairs (const AdjOpCall *call, guint arg, const AdjShape *shape, AdjSize (*out)[2])
{
  AdjSize given[ADJ_MAX_RANK];
  guint n = n_padded (call);
  guint n_given = adj_op_call_sizes (call, arg, given);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (n_given != 2 * n)
    return adj_op_call_fail (call, "padding has %u entries, not %u", n_given, 2 * n);
  if (shape->rank != n + 1 && shape->rank != n + 2)
    return adj_op_call_fail (call, "the input has rank %u, not %u or %u", shape->rank, n + 1,
                             n + 2);
  for (guint i = 0; i < n; i++)
    for (guint side = 0; side < 2; side++)
      out[shape->rank - 1 - i][side] = given[2 * i + side];
  return TRUE;
}

static gboolean
check_dimension (const AdjOpCall *call, guint dim, AdjSize size, const AdjSize *pair)
{
  AdjSymbols *symbols = op_symbols (call);

  if (adj_size_is (symbols, size, 0))
    return adj_op_call_fail (call, "dimension %u has no elements to make a border of", dim);
  for (guint side = 0; side < 2; side++)
    if (is_reflection (call) && adj_size_test (symbols, ADJ_SIZE_GE, pair[side], size))
      return adj_op_call_fail (call, "the border of dimension %u is wider than what it mirrors",
                               dim);
  return TRUE;
}

/* The padded sizes of argument @self into @sizes. */
static gboolean
padded_sizes (const AdjOpCall *call, guint self, AdjSize *sizes)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *shape = &adj_op_call_meta (call, self)->shape;
  AdjSize pairs[ADJ_MAX_RANK][2];

  if (adj_context_has_error (call->cx) || !read_pairs (call, self + 1, shape, pairs))
    return FALSE;
  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = shape->size[i];
  for (guint i = shape->rank - n_padded (call); i < shape->rank; i++)
    {
      AdjSize both = adj_size_add (symbols, pairs[i][0], pairs[i][1]);

      if (!check_dimension (call, i, shape->size[i], pairs[i]))
        return FALSE;
      sizes[i] = adj_size_add (symbols, shape->size[i], both);
      if (adj_size_test (symbols, ADJ_SIZE_LT, sizes[i], ADJ_SIZE (1)))
        return adj_op_call_fail (call, "the padding leaves nothing of dimension %u", i);
    }
  return TRUE;
}

/* One-dimensional padding has no memory format. */
static gboolean
is_channels_last (const AdjOpCall *call, guint arg)
{
  return n_padded (call) > 1 && op_is_channels_last (call, arg);
}

static gboolean
pad_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize sizes[ADJ_MAX_RANK];

  if (!padded_sizes (call, 0, sizes))
    return FALSE;
  op_add_format (call, self->dtype, self->shape.rank, sizes, is_channels_last (call, 0));
  return TRUE;
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjShape wanted;

  if (!padded_sizes (call, 1, sizes))
    return FALSE;
  adj_shape_init (&wanted, op_symbols (call), self->shape.rank, sizes);
  if (grad->dtype != self->dtype ||
      !adj_shape_same_sizes (&grad->shape, &wanted, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient has not the sizes and dtype of the result");
  op_add_format (call, self->dtype, self->shape.rank, self->shape.size, is_channels_last (call, 1));
  return TRUE;
}

/* -- kernels -- */

/* The element of @size that position @i of the result takes, with padding @left. */
typedef gint64 (*Place) (gint64 i, gint64 left, gint64 size);

static gint64
reflected (gint64 i, gint64 left, gint64 size)
{
  gint64 at = ABS (i - left);

  return at < size ? at : 2 * (size - 1) - at;
}

static gint64
replicated (gint64 i, gint64 left, gint64 size)
{
  return CLAMP (i - left, 0, size - 1);
}

static AdjKView
places_of (Place place, gint64 n, gint64 left, gint64 size)
{
  gint64 *indices = g_new (gint64, MAX (n, 1));

  for (gint64 i = 0; i < n; i++)
    indices[i] = place (i, left, size);
  return (
      AdjKView){ .data = indices, .type = ADJ_K_I64, .rank = 1, .size = { n }, .stride = { 1 } };
}

/* Pads @self into @padded dimension by dimension, or sums the elements of @padded into those of
 * @self; one of them is written. */
static gboolean
walk (AdjOpCall *call, guint self_arg, AdjKView *self, AdjKView *padded, gboolean back, Place place)
{
  AdjSize pairs[ADJ_MAX_RANK][2];
  AdjKView at = back ? *padded : *self;
  g_autofree gpointer memory = NULL;
  gint first = self->rank - (gint) n_padded (call);

  if (!read_pairs (call, self_arg + 1, &adj_op_call_meta (call, self_arg)->shape, pairs))
    return FALSE;
  for (gint dim = first; dim < self->rank; dim++)
    {
      AdjKView indices = places_of (place, padded->size[dim], pairs[dim][0].word, self->size[dim]);
      g_autofree gpointer places = indices.data;
      AdjKView like = at, to;
      gpointer fresh;
      gint64 bad;

      like.size[dim] = (back ? self : padded)->size[dim];
      indices.data = (gpointer) op_constant (op_queue (call), places,
                                             (gsize) indices.size[0] * sizeof (gint64));
      /* sums over several dimensions are rounded once */
      fresh = op_temporary (
          op_queue (call), &like,
          back && at.type != ADJ_K_F64 && adj_k_type_is_float (at.type) ? ADJ_K_F32 : at.type, &to);
      if (back)
        adj_q_index_add (op_queue (call), &to, dim, &indices, &at, 1, &bad);
      else
        adj_q_index_select (op_queue (call), &to, &at, dim, &indices, &bad);
      g_free (memory);
      memory = fresh;
      at = to;
    }
  adj_q_copy (op_queue (call), back ? self : padded, &at);
  return TRUE;
}

static gboolean
pad (AdjOpCall *call, Place place)
{
  AdjKView in, out;

  return op_input (call, 0, &in) && op_output (call, 0, &out) &&
         walk (call, 0, &in, &out, FALSE, place);
}

static gboolean
pad_backward (AdjOpCall *call, Place place)
{
  AdjKView gx, g;

  return op_input (call, 0, &g) && op_output (call, 0, &gx) && walk (call, 1, &gx, &g, TRUE, place);
}

static gboolean
reflection_kernel (AdjOpCall *call)
{
  return pad (call, reflected);
}

static gboolean
replication_kernel (AdjOpCall *call)
{
  return pad (call, replicated);
}

static gboolean
reflection_backward_kernel (AdjOpCall *call)
{
  return pad_backward (call, reflected);
}

static gboolean
replication_backward_kernel (AdjOpCall *call)
{
  return pad_backward (call, replicated);
}

/* -- costs -- */

static double
backward_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* The maximal number of positions that take one element: at the corner of a replication. */
static double
backward_reduction (const AdjOpCall *call)
{
  return MAX (4, op_count (call, &adj_op_call_meta (call, 0)->shape) /
                     MAX (op_count (call, &adj_op_call_meta (call, 1)->shape), 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/pad.inc"
};

const OpFamily adj_family_pad = { ops, G_N_ELEMENTS (ops) };
