/* SPDX-License-Identifier: MIT */
/* Segments along a dimension: data [outer…, length, inner…] becomes [outer…, segments, inner…].
 * Lengths, or offsets with the end of the last one, are [outer…, n]. */

#include <math.h>
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

typedef enum
{
  REDUCE_MAX,
  REDUCE_MEAN,
  REDUCE_MIN,
  REDUCE_SUM,
  REDUCE_PROD,
} Reduce;

static const struct
{
  const char *name;
  double initial;
} reduces[] = {
  [REDUCE_MAX] = { "max", -INFINITY }, [REDUCE_MEAN] = { "mean", 0 },
  [REDUCE_MIN] = { "min", INFINITY },  [REDUCE_SUM] = { "sum", 0 },
  [REDUCE_PROD] = { "prod", 1 },
};

/* The arguments of both operators. */
typedef struct
{
  Reduce reduce;
  gboolean has_initial;
  double initial;
  gint64 outer, length, n, inner; /* @n: number of segments */
  double *ends; /* (owned): ends[o · (n + 1) + i + 1]: end of segment i in row o; 0 precedes them */
} Segments;

static void
segments_clear (Segments *self)
{
  g_free (self->ends);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Segments, segments_clear)

static gboolean
find_reduce (const AdjOpCall *call, Reduce *out)
{
  const char *name = adj_op_call_string (call, adj_op_call_find (call, "reduce"), "");

  for (guint i = 0; i < G_N_ELEMENTS (reduces); i++)
    if (g_str_equal (name, reduces[i].name))
      {
        *out = i;
        return TRUE;
      }
  return adj_op_call_fail (call, "there is no reduction '%s'", name);
}

/* The argument with lengths or offsets, and the axis to which it applies. */
static gboolean
find_places (const AdjOpCall *call, guint *arg, guint *axis, gboolean *are_lengths)
{
  guint lengths = adj_op_call_find (call, "lengths");
  const AdjShape *data = &adj_op_call_meta (call, adj_op_call_find (call, "data"))->shape;
  const AdjShape *shape;

  *are_lengths = call->args[lengths].kind == ADJ_VALUE_TENSOR;
  *arg = *are_lengths ? lengths : adj_op_call_find (call, "offsets");
  if (call->args[*arg].kind != ADJ_VALUE_TENSOR)
    return adj_op_call_fail (call, "needs the lengths of segments, or their offsets");
  *axis = op_dim (call, adj_op_call_find (call, "axis"), data->rank);
  shape = &adj_op_call_meta (call, *arg)->shape;
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (data->rank == 0 || shape->rank != *axis + 1)
    return adj_op_call_fail (call, "lengths and offsets have the dimensions of data up to axis");
  return TRUE;
}

/* The shape that data is reduced to. */
static gboolean
find_reduced_shape (const AdjOpCall *call, AdjShape *out)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *places;
  gboolean are_lengths;
  guint arg, axis;

  if (!find_places (call, &arg, &axis, &are_lengths))
    return FALSE;
  *out = adj_op_call_meta (call, adj_op_call_find (call, "data"))->shape;
  places = &adj_op_call_meta (call, arg)->shape;
  for (guint i = 0; i < axis; i++)
    if (!adj_size_test (symbols, ADJ_SIZE_EQ, places->size[i], out->size[i]))
      return adj_op_call_fail (call, "lengths and offsets have the sizes of data up to axis");
  out->size[axis] = places->size[axis];
  if (are_lengths)
    return TRUE;
  if (adj_size_test (symbols, ADJ_SIZE_EQ, places->size[axis], ADJ_SIZE (0)))
    return adj_op_call_fail (call, "offsets say at least where the first segment begins");
  out->size[axis] = adj_size_sub (symbols, out->size[axis], ADJ_SIZE (1));
  return TRUE;
}

static gboolean
segment_meta (AdjOpCall *call)
{
  AdjShape shape;
  Reduce reduce;

  if (!find_reduced_shape (call, &shape) || !find_reduce (call, &reduce))
    return FALSE;
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, shape.rank, shape.size);
  return TRUE;
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *data = adj_op_call_meta (call, 2);
  AdjShape reduced;

  if (!find_reduced_shape (call, &reduced))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (!adj_shape_same_sizes (&adj_op_call_meta (call, i)->shape, &reduced, op_symbols (call)))
      return adj_op_call_fail (call, "argument '%s' must have the shape that data is reduced to",
                               call->schema->arguments[i].name);
  op_add_contiguous (call, data->dtype, data->shape.rank, data->shape.size);
  return !adj_context_has_error (call->cx);
}

static double
segment_reduction (const AdjOpCall *call)
{
  const AdjShape *data = &adj_op_call_meta (call, 0)->shape;
  gint64 n = 1;

  for (guint i = 0; i < data->rank; i++)
    n *= adj_size_is_int (data->size[i]) ? MAX (data->size[i].word, 1) : 1;
  return (double) n;
}

/* Checks that the sum of lengths does not exceed the data. */
static gboolean
find_ends (const AdjOpCall *call, Segments *self, const double *places, gboolean are_lengths)
{
  gint64 stride = are_lengths ? self->n : self->n + 1;

  self->ends = g_new (double, (gsize) (self->outer * (self->n + 1) + 1));
  for (gint64 o = 0; o < self->outer; o++)
    {
      double *ends = self->ends + o * (self->n + 1);

      ends[0] = are_lengths ? 0 : places[o * stride];
      for (gint64 i = 0; i < self->n; i++)
        ends[i + 1] = are_lengths ? ends[i] + places[o * stride + i] : places[o * stride + i + 1];
      for (gint64 i = 0; i < self->n; i++)
        if (ends[i] < 0 || ends[i + 1] < ends[i] || ends[i + 1] > (double) self->length)
          return adj_op_call_fail (call, "segment %" G_GINT64_FORMAT " does not lie inside of data",
                                   i);
    }
  return TRUE;
}

static gboolean
read_segments (const AdjOpCall *call, const AdjKView *data, Segments *self)
{
  guint initial = adj_op_call_find (call, "initial");
  g_autofree double *places = NULL;
  gboolean are_lengths;
  guint arg, axis;

  if (!find_reduce (call, &self->reduce) || !find_places (call, &arg, &axis, &are_lengths))
    return FALSE;
  places = op_read_numbers (call, arg);
  if (places == NULL)
    return FALSE;
  self->has_initial = call->args[initial].kind != ADJ_VALUE_NONE;
  self->initial = adj_op_call_double (call, initial, reduces[self->reduce].initial);
  self->outer = self->inner = 1;
  for (gint i = 0; i < data->rank; i++)
    *((guint) i < axis    ? &self->outer
      : (guint) i == axis ? &self->length
                          : &self->inner) *= data->size[i];
  self->n = adj_op_call_meta (call, arg)->shape.size[axis].word - !are_lengths;
  return find_ends (call, self, places, are_lengths);
}

static double
reduce_two (Reduce reduce, double x, double y)
{
  switch (reduce)
    {
    case REDUCE_MAX:
      return isnan (x) ? x : isnan (y) || y > x ? y : x;
    case REDUCE_MIN:
      return isnan (x) ? x : isnan (y) || y < x ? y : x;
    case REDUCE_PROD:
      return x * y;
    case REDUCE_MEAN:
    case REDUCE_SUM:
    default:
      return x + y;
    }
}

/* Reduces the segment of @n elements at @x. */
static double
reduce_segment (const Segments *self, const double *x, gint64 n)
{
  double y = self->initial;

  for (gint64 i = 0; i < n; i++)
    y = reduce_two (self->reduce, y, x[i * self->inner]);
  if (self->reduce != REDUCE_MEAN)
    return y;
  return n == 0 && !self->has_initial ? NAN : n > 0 ? y / (double) n : y;
}

static gboolean
segment_kernel (AdjOpCall *call)
{
  g_auto (Segments) s = { .length = 1 };
  g_autofree double *x = op_read_numbers (call, 0);
  g_autofree double *y = NULL;
  AdjKView in, out, dense;

  if (x == NULL || !op_input (call, 0, &in) || !read_segments (call, &in, &s) ||
      !op_output (call, 0, &out))
    return FALSE;
  y = op_temporary (NULL, &out, ADJ_K_F64, &dense);
  for (gint64 o = 0; o < s.outer; o++)
    for (gint64 i = 0; i < s.n; i++)
      for (gint64 k = 0; k < s.inner; k++)
        {
          const double *ends = s.ends + o * (s.n + 1) + i;
          gint64 first = (gint64) ends[0];

          y[(o * s.n + i) * s.inner + k] = reduce_segment (
              &s, x + (o * s.length + first) * s.inner + k, (gint64) ends[1] - first);
        }
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* Elements equal to the extremum share its gradient; as in PyTorch, negative gradients are not
 * divided. */
static void
share (const Segments *self, const double *x, gint64 n, double y, double g, double *out)
{
  gint64 count = 0;

  for (gint64 i = 0; i < n; i++)
    if (isnan (x[i * self->inner]) || x[i * self->inner] == y)
      {
        out[i * self->inner] = g;
        count++;
      }
  for (gint64 i = 0; count > 1 && i < n; i++)
    if (out[i * self->inner] > 0)
      out[i * self->inner] /= (double) count;
}

/* The product of all factors but one, which is 0. */
static double
other_factors (const Segments *self, const double *x, gint64 n, gint64 but)
{
  double y = self->initial;

  for (gint64 i = 0; i < n; i++)
    if (i != but)
      y *= x[i * self->inner];
  return y;
}

static void
differentiate (const Segments *self, const double *x, gint64 n, double y, double g, double *out)
{
  if (self->reduce == REDUCE_MAX || self->reduce == REDUCE_MIN)
    share (self, x, n, y, g, out);
  else
    for (gint64 i = 0; i < n; i++)
      {
        double factor = x[i * self->inner];

        if (self->reduce != REDUCE_PROD)
          out[i * self->inner] = self->reduce == REDUCE_MEAN ? g / (double) n : g;
        else if (isnan (factor) || factor == 0)
          out[i * self->inner] = g * other_factors (self, x, n, i);
        else
          out[i * self->inner] = g * y / factor;
      }
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  g_auto (Segments) s = { .length = 1 };
  g_autofree double *g = op_read_numbers (call, 0);
  g_autofree double *y = g != NULL ? op_read_numbers (call, 1) : NULL;
  g_autofree double *x = y != NULL ? op_read_numbers (call, 2) : NULL;
  g_autofree double *grads = NULL;
  AdjKView in, out, dense;

  if (x == NULL || !op_input (call, 2, &in) || !read_segments (call, &in, &s) ||
      !op_output (call, 0, &out))
    return FALSE;
  grads = op_temporary (NULL, &out, ADJ_K_F64, &dense);
  for (gint64 o = 0; o < s.outer; o++)
    for (gint64 i = 0; i < s.n; i++)
      for (gint64 k = 0; k < s.inner; k++)
        {
          const double *ends = s.ends + o * (s.n + 1) + i;
          gint64 first = (gint64) ends[0], at = (o * s.n + i) * s.inner + k;
          gint64 begin = (o * s.length + first) * s.inner + k;

          differentiate (&s, x + begin, (gint64) ends[1] - first, y[at], g[at], grads + begin);
        }
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- sequences without their padding -- */

/* The last offset; a symbol without data. */
static gboolean
find_total (const AdjOpCall *call, AdjTensor *offsets, AdjSize *out)
{
  g_autoptr (AdjTensorData) data = NULL;
  gint64 n = adj_tensor_get_meta (offsets)->shape.size[0].word;

  if (call->args[2].kind != ADJ_VALUE_NONE)
    {
      *out = adj_op_call_size (call, 2, ADJ_SIZE (0));
      return !adj_size_is_int (*out) || out->word >= 0 ||
             adj_op_call_fail (call, "total_L is negative");
    }
  if (adj_storage_is_fake (adj_tensor_get_storage (offsets)))
    return op_unbacked_size (call, 0, G_MAXINT64, out);
  data = adj_tensor_snapshot (offsets);
  if (data == NULL)
    return FALSE;
  *out = ADJ_SIZE (n > 0 ? (gint64) adj_tensor_data_get_double (data, n - 1) : 0);
  return out->word >= 0 || adj_op_call_fail (call, "the last offset is negative");
}

static gboolean
jagged_meta (AdjOpCall *call)
{
  const AdjTensorMeta *dense = adj_op_call_meta (call, 0);
  const AdjValue *offsets = &call->args[1];
  AdjSize sizes[ADJ_MAX_RANK];

  if (!adj_value_is_container (offsets) || offsets->n != 1 ||
      offsets->items[0].kind != ADJ_VALUE_TENSOR ||
      adj_tensor_get_rank (offsets->items[0].tensor) != 1)
    return adj_op_call_fail (call, "knows one vector of offsets");
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (dense->shape.rank < 2)
    return adj_op_call_fail (call, "needs at least two dimensions");
  if (!find_total (call, offsets->items[0].tensor, &sizes[0]))
    return FALSE;
  for (guint i = 2; i < dense->shape.rank; i++)
    sizes[i - 1] = dense->shape.size[i];
  op_add_contiguous (call, dense->dtype, dense->shape.rank - 1, sizes);
  return !adj_context_has_error (call->cx);
}

/* Copies rows of sequence @i of @dense, which may have fewer, to rows @at to @at + @n of @out. */
static void
copy_rows (const AdjOpCall *call,
           const AdjKView *out,
           const AdjKView *dense,
           gint64 i,
           gint64 at,
           gint64 n)
{
  AdjKView to = *out, from = *dense;

  n = MIN (n, dense->size[1]);
  to.data = (char *) out->data +
            (gssize) (at * out->stride[0]) * (gssize) adj_k_type_get_size (out->type);
  to.size[0] = n;
  from.data = (char *) dense->data +
              (gssize) (i * dense->stride[0]) * (gssize) adj_k_type_get_size (dense->type);
  from.rank--;
  for (gint d = 0; d < from.rank; d++)
    {
      from.size[d] = d == 0 ? n : dense->size[d + 1];
      from.stride[d] = dense->stride[d + 1];
    }
  adj_q_copy (op_queue (call), &to, &from);
}

static gboolean
jagged_kernel (AdjOpCall *call)
{
  AdjTensor *offsets = call->args[1].items[0].tensor;
  g_autoptr (AdjTensorData) ends = adj_tensor_snapshot (offsets);
  gint64 n = adj_tensor_get_meta (offsets)->shape.size[0].word - 1, start, end;
  AdjKView dense, out;

  if (ends == NULL || !op_input (call, 0, &dense) || !op_output (call, 0, &out))
    return FALSE;
  if (n != dense.size[0])
    return adj_op_call_fail (call, "there are not as many offsets as sequences, and one");
  op_clear (call, 0);
  for (gint64 i = 0; i < n; i++)
    {
      start = (gint64) adj_tensor_data_get_double (ends, i);
      end = (gint64) adj_tensor_data_get_double (ends, i + 1);
      if (start < 0 || end < start || end > out.size[0])
        return adj_op_call_fail (call,
                                 "sequence %" G_GINT64_FORMAT " goes from %" G_GINT64_FORMAT
                                 " to %" G_GINT64_FORMAT,
                                 i, start, end);
      copy_rows (call, &out, &dense, i, start, end - start);
    }
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/segment.inc"
};

const OpFamily adj_family_segment = { ops, G_N_ELEMENTS (ops) };
