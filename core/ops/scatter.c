/* SPDX-License-Identifier: MIT */
/* Reductions of source elements into elements of self given by an index.  Computed in float64 or
 * int64 and rounded once. */

#include <math.h>
#include <string.h>

#include "ops/index-private.h"
#include "ops/table-private.h"

typedef enum
{
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MEAN,
  REDUCE_MAX,
  REDUCE_MIN,
  N_REDUCES
} Reduce;

static const char *const reduce_names[N_REDUCES] = { "sum", "prod", "mean", "amax", "amin" };

/* N_REDUCES for an unknown reduction. */
static Reduce
find_reduce (const AdjOpCall *call)
{
  const char *name = adj_op_call_string (call, 4, "");
  guint i = 0;

  while (i < N_REDUCES && strcmp (reduce_names[i], name) != 0)
    i++;
  return (Reduce) i;
}

/* Checks that the index is not larger than self, except along @dim, nor than src. */
static gboolean
check_sizes (const AdjOpCall *call, guint dim)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  const AdjShape *index = &adj_op_call_meta (call, 2)->shape;
  const AdjShape *src = &adj_op_call_meta (call, 3)->shape;
  gboolean fits = index->rank == self->rank && src->rank == self->rank;

  for (guint i = 0; fits && i < index->rank; i++)
    fits = (i == dim || adj_size_test (symbols, ADJ_SIZE_LE, index->size[i], self->size[i])) &&
           adj_size_test (symbols, ADJ_SIZE_LE, index->size[i], src->size[i]);
  return fits || adj_op_call_fail (call, "the index does not fit into self and src");
}

static gboolean
scatter_reduce_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *index = adj_op_call_meta (call, 2);
  guint dim = op_dim (call, 1, self->shape.rank);

  if (find_reduce (call) == N_REDUCES)
    return adj_op_call_fail (call, "there is no reduction '%s'", adj_op_call_string (call, 4, ""));
  if (!op_check_index (call, index))
    return FALSE;
  if (adj_op_call_meta (call, 3)->dtype != self->dtype)
    return adj_op_call_fail (call, "self and src have different dtypes");
  if (!check_sizes (call, dim))
    return FALSE;
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

static gboolean
index_reduce_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *index = adj_op_call_meta (call, 2);
  const AdjTensorMeta *source = adj_op_call_meta (call, 3);
  guint dim = op_dim (call, 1, self->shape.rank);
  AdjSize n = index->shape.rank == 1 ? index->shape.size[0] : ADJ_SIZE (1);
  gboolean fits = index->shape.rank <= 1 && source->shape.rank == self->shape.rank;

  if (find_reduce (call) == N_REDUCES || find_reduce (call) == REDUCE_SUM)
    return adj_op_call_fail (call, "there is no reduction '%s'", adj_op_call_string (call, 4, ""));
  if (!op_check_index (call, index))
    return FALSE;
  if (source->dtype != self->dtype)
    return adj_op_call_fail (call, "self and source have different dtypes");
  for (guint i = 0; fits && i < self->shape.rank; i++)
    fits = adj_size_test (op_symbols (call), ADJ_SIZE_EQ, source->shape.size[i],
                          i == dim ? n : self->shape.size[i]);
  if (!fits)
    return adj_op_call_fail (call, "the source does not fit self and the index");
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return !adj_context_has_error (call->cx);
}

/* -- the kernel -- */

/* Dense temporaries. */
typedef struct
{
  Reduce reduce;
  AdjKView self, index, src; /* F64 or I64, I64, as self */
  gpointer memory[4];
  gint64 *counts; /* number of elements reduced into each element of self */
} Scatter;

static void
scatter_clear (Scatter *s)
{
  for (guint i = 0; i < G_N_ELEMENTS (s->memory); i++)
    g_free (s->memory[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scatter, scatter_clear)

/* Expands the vector @index to the sizes of @src. */
static void
spread_index (AdjKView *index, const AdjKView *src, guint dim)
{
  gint64 step = index->rank > 0 ? index->stride[0] : 1;

  index->rank = src->rank;
  for (gint i = 0; i < src->rank; i++)
    {
      index->size[i] = src->size[i];
      index->stride[i] = i == (gint) dim ? step : 0;
    }
}

static gboolean
scatter_begin (const AdjOpCall *call, Scatter *s, gboolean is_vector)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView self, index, src, counts;
  AdjKType type;

  if (!op_input (call, 0, &self) || !op_input (call, 2, &index) || !op_input (call, 3, &src))
    return FALSE;
  if (is_vector)
    spread_index (&index, &src, dim);
  for (gint i = 0; i < index.rank; i++)
    src.size[i] = index.size[i];
  if (!op_check_temporary (call, adj_k_view_count (&index)))
    return FALSE;
  type = adj_k_type_is_float (self.type) ? ADJ_K_F64 : ADJ_K_I64;
  s->memory[0] = op_temporary (op_queue (call), &self, type, &s->self);
  s->memory[1] = op_temporary (op_queue (call), &index, ADJ_K_I64, &s->index);
  s->memory[2] = op_temporary (op_queue (call), &src, type, &s->src);
  s->memory[3] = s->counts = op_temporary (op_queue (call), &self, ADJ_K_I64, &counts);
  adj_q_copy (op_queue (call), &s->self, &self);
  adj_q_copy (op_queue (call), &s->index, &index);
  adj_q_copy (op_queue (call), &s->src, &src);
  adj_q_fill_i64 (op_queue (call), &counts, adj_op_call_bool (call, 5));
  return TRUE;
}

static double
reduce_double (Reduce reduce, double a, double b)
{
  if (reduce == REDUCE_PROD)
    return a * b;
  if (reduce == REDUCE_SUM || reduce == REDUCE_MEAN)
    return a + b;
  if (isnan (a) || isnan (b))
    return NAN;
  return reduce == REDUCE_MAX ? MAX (a, b) : MIN (a, b);
}

static gint64
reduce_int (Reduce reduce, gint64 a, gint64 b)
{
  if (reduce == REDUCE_PROD)
    return (gint64) ((guint64) a * (guint64) b);
  if (reduce == REDUCE_SUM || reduce == REDUCE_MEAN)
    return (gint64) ((guint64) a + (guint64) b);
  return reduce == REDUCE_MAX ? MAX (a, b) : MIN (a, b);
}

/* Reduces element @from of src into element @to of self. */
static void
put (Scatter *s, gint64 to, gint64 from)
{
  gboolean first = s->counts[to]++ == 0;

  if (s->self.type == ADJ_K_F64)
    {
      double *self = s->self.data, x = ((double *) s->src.data)[from];

      self[to] = first ? x : reduce_double (s->reduce, self[to], x);
    }
  else
    {
      gint64 *self = s->self.data, x = ((gint64 *) s->src.data)[from];

      self[to] = first ? x : reduce_int (s->reduce, self[to], x);
    }
}

static gboolean
put_all (const AdjOpCall *call, Scatter *s, guint dim)
{
  const gint64 *index = s->index.data;
  gint64 n = adj_k_view_count (&s->index);
  gint64 limit = s->self.rank > 0 ? s->self.size[dim] : 1;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 rest = i, to = 0;

      if (index[i] < 0 || index[i] >= limit)
        return op_bad_index (call, index[i]);
      for (gint d = s->index.rank; d-- > 0; rest /= s->index.size[d])
        to += ((guint) d == dim ? index[i] : rest % s->index.size[d]) * s->self.stride[d];
      put (s, to, i);
    }
  return TRUE;
}

/* Divides integers like Python's //. */
static void
divide_by_counts (Scatter *s)
{
  gint64 n = adj_k_view_count (&s->self);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 count = MAX (s->counts[i], 1);

      if (s->self.type == ADJ_K_F64)
        ((double *) s->self.data)[i] /= (double) count;
      else
        {
          gint64 *self = (gint64 *) s->self.data + i;

          *self = *self / count - (*self % count < 0);
        }
    }
}

static gboolean
reduce_into (AdjOpCall *call, gboolean is_vector)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  g_auto (Scatter) s = { .reduce = find_reduce (call) };
  AdjKView out;

  if (!scatter_begin (call, &s, is_vector) || !put_all (call, &s, dim) ||
      !op_output (call, 0, &out))
    return FALSE;
  if (s.reduce == REDUCE_MEAN)
    divide_by_counts (&s);
  adj_q_copy (op_queue (call), &out, &s.self);
  return TRUE;
}

static gboolean
scatter_reduce_kernel (AdjOpCall *call)
{
  return reduce_into (call, FALSE);
}

static gboolean
index_reduce_kernel (AdjOpCall *call)
{
  return reduce_into (call, TRUE);
}

static double
scatter_reduction (const AdjOpCall *call)
{
  return 1 + op_count (call, &adj_op_call_meta (call, 2)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/scatter.inc"
};

const OpFamily adj_family_scatter = { ops, G_N_ELEMENTS (ops) };
