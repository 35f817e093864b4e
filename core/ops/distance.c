/* SPDX-License-Identifier: MIT */
/* Distances between all pairs of vectors of two matrices, and their gradients. */

#include <math.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* x1 is […, P, M] and x2 […, R, M]; leading dimensions broadcast. */

/* The broadcast dimensions, then P, R and M. */
typedef struct
{
  AdjShape batch;
  AdjSize p, r, m;
} Distances;

static gboolean
read_sizes (const AdjOpCall *call, guint first, Distances *out)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *x1 = adj_op_call_meta (call, first);
  const AdjTensorMeta *x2 = adj_op_call_meta (call, first + 1);
  AdjShape a = x1->shape, b = x2->shape;
  const AdjShape *shapes[] = { &a, &b };
  GError *error = NULL;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (a.rank < 2 || b.rank < 2 ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, a.size[a.rank - 1], b.size[b.rank - 1]))
    {
      g_autofree char *left = op_sizes_text (call, &a);
      g_autofree char *right = op_sizes_text (call, &b);

      return adj_op_call_fail (call, "shapes %s and %s have no rows of one length", left, right);
    }
  if (!adj_dtype_is_floating (x1->dtype) || x1->dtype != x2->dtype)
    return adj_op_call_fail (call, "needs floating point of one dtype, not %s and %s",
                             adj_dtype_info (x1->dtype)->torch_name,
                             adj_dtype_info (x2->dtype)->torch_name);
  out->p = a.size[a.rank - 2];
  out->r = b.size[b.rank - 2];
  out->m = a.size[a.rank - 1];
  a.rank -= 2;
  b.rank -= 2;
  return adj_shape_pointwise (&out->batch, symbols, shapes, 2, &error) ||
         adj_op_call_fail_with (call, error);
}

/* @batch, then two more sizes. */
static AdjShape
shape_with (const AdjOpCall *call, const AdjShape *batch, AdjSize rows, AdjSize columns)
{
  AdjSize sizes[ADJ_MAX_RANK];
  AdjShape shape;

  for (guint i = 0; i < batch->rank; i++)
    sizes[i] = batch->size[i];
  sizes[batch->rank] = rows;
  sizes[batch->rank + 1] = columns;
  adj_shape_init (&shape, op_symbols (call), batch->rank + 2, sizes);
  return shape;
}

static gboolean
euclidean_meta (AdjOpCall *call)
{
  Distances sizes;
  AdjShape shape;

  if (!read_sizes (call, 0, &sizes))
    return FALSE;
  shape = shape_with (call, &sizes.batch, sizes.p, sizes.r);
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, shape.rank, shape.size);
  return TRUE;
}

static gboolean
cdist_meta (AdjOpCall *call)
{
  if (!(adj_op_call_double (call, 2, 2) >= 0))
    return adj_op_call_fail (call, "argument 'p' is negative");
  return euclidean_meta (call);
}

/* For no distances PyTorch returns zeros like x1, without its broadcast batch. */
static gboolean
has_nothing (const AdjOpCall *call, const AdjShape *distances)
{
  for (guint i = 0; i < distances->rank; i++)
    if (adj_size_is (op_symbols (call), distances->size[i], 0))
      return TRUE;
  return FALSE;
}

static gboolean
cdist_backward_meta (AdjOpCall *call)
{
  Distances sizes;
  AdjShape shape;

  if (!read_sizes (call, 1, &sizes))
    return FALSE;
  shape = shape_with (call, &sizes.batch, sizes.p, sizes.r);
  if (!adj_shape_same_sizes (&shape, &adj_op_call_meta (call, 0)->shape, op_symbols (call)) ||
      !adj_shape_same_sizes (&shape, &adj_op_call_meta (call, 4)->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient has not the sizes of the distances");
  if (has_nothing (call, &shape) || adj_size_is (op_symbols (call), sizes.m, 0))
    shape = adj_op_call_meta (call, 1)->shape;
  else
    shape = shape_with (call, &sizes.batch, sizes.p, sizes.m);
  op_add_contiguous (call, adj_op_call_meta (call, 1)->dtype, shape.rank, shape.size);
  return TRUE;
}

/* Argument @arg, expanded to @shape, as numbers in row-major order. */
static double *
read_numbers (const AdjOpCall *call, guint arg, const AdjShape *shape)
{
  AdjKView view, dense;
  double *numbers;

  if (!op_input_as (call, arg, shape, &view, NULL))
    return NULL;
  numbers = op_temporary (op_queue (call), &view, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  return numbers;
}

static double
distance (const double *x, const double *y, gint64 m, double p)
{
  double sum = 0;

  for (gint64 i = 0; i < m; i++)
    {
      double d = fabs (x[i] - y[i]);

      if (isinf (p))
        sum = isnan (d) || d > sum ? d : sum;
      else
        sum += p == 0 ? (isnan (d) ? d : d != 0) : p == 1 ? d : p == 2 ? d * d : pow (d, p);
    }
  if (p == 2)
    return sqrt (sum);
  return p == 0 || p == 1 || isinf (p) ? sum : pow (sum, 1 / p);
}

/* The derivative of the distance @whole by one coordinate, which differs by @d. */
static double
slope (double d, double whole, double p)
{
  double sign = (d > 0) - (d < 0);

  if (p == 0 || (whole == 0 && p != 1))
    return 0;
  if (isnan (d) || (isinf (p) && (isnan (whole) || isinf (d))))
    return NAN;
  if (p == 1)
    return sign;
  if (p == 2)
    return d / whole;
  return isinf (p) ? sign * (fabs (d) == whole) : sign * pow (fabs (d) / whole, p - 1);
}

/* Numbers of rows, columns and pairs of matrices. */
typedef struct
{
  gint64 n, p, r, m;
} Counts;

static Counts
count (const Distances *sizes)
{
  Counts counts = { 1, sizes->p.word, sizes->r.word, sizes->m.word };

  for (guint i = 0; i < sizes->batch.rank; i++)
    counts.n *= sizes->batch.size[i].word;
  return counts;
}

static gboolean
read_matrices (const AdjOpCall *call, guint first, Distances *sizes, double **x1, double **x2)
{
  AdjShape left, right;

  if (!read_sizes (call, first, sizes))
    return FALSE;
  left = shape_with (call, &sizes->batch, sizes->p, sizes->m);
  right = shape_with (call, &sizes->batch, sizes->r, sizes->m);
  *x1 = read_numbers (call, first, &left);
  *x2 = read_numbers (call, first + 1, &right);
  return *x1 != NULL && *x2 != NULL;
}

static gboolean
write_numbers (const AdjOpCall *call, double *numbers)
{
  AdjKView out, from;

  if (!op_output (call, 0, &out))
    return FALSE;
  from = out; /* the result is contiguous */
  from.type = ADJ_K_F64;
  from.data = numbers;
  adj_q_copy (op_queue (call), &out, &from);
  return TRUE;
}

static gboolean
write_distances (AdjOpCall *call, double p)
{
  g_autofree double *x1 = NULL;
  g_autofree double *x2 = NULL;
  g_autofree double *out = NULL;
  Distances sizes;
  Counts c;

  if (!read_matrices (call, 0, &sizes, &x1, &x2))
    return FALSE;
  c = count (&sizes);
  out = g_new0 (double, c.n *c.p *c.r + 1);
  for (gint64 i = 0; i < c.n * c.p; i++)
    for (gint64 k = 0; k < c.r; k++)
      out[i * c.r + k] = distance (x1 + i * c.m, x2 + (i / c.p * c.r + k) * c.m, c.m, p);
  return write_numbers (call, out);
}

static gboolean
cdist_kernel (AdjOpCall *call)
{
  return write_distances (call, adj_op_call_double (call, 2, 2));
}

static gboolean
euclidean_kernel (AdjOpCall *call)
{
  return write_distances (call, 2);
}

static gboolean
cdist_backward_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 3, 2);
  g_autofree double *x1 = NULL;
  g_autofree double *x2 = NULL;
  g_autofree double *g = NULL;
  g_autofree double *whole = NULL;
  g_autofree double *out = NULL;
  Distances sizes;
  AdjKView result;
  Counts c;

  if (!read_matrices (call, 1, &sizes, &x1, &x2) || !op_output (call, 0, &result))
    return FALSE;
  g = read_numbers (call, 0, &adj_op_call_meta (call, 0)->shape);
  whole = read_numbers (call, 4, &adj_op_call_meta (call, 4)->shape);
  if (g == NULL || whole == NULL)
    return FALSE;
  c = count (&sizes);
  out = g_new0 (double, adj_k_view_count (&result) + 1);
  for (gint64 i = 0; i < c.n * c.p; i++)
    for (gint64 k = 0; k < c.r; k++)
      for (gint64 j = 0; j < c.m; j++)
        out[i * c.m + j] +=
            g[i * c.r + k] *
            slope (x1[i * c.m + j] - x2[(i / c.p * c.r + k) * c.m + j], whole[i * c.r + k], p);
  return write_numbers (call, out);
}

/* -- between the rows of one matrix -- */

/* Checks for a matrix of floating point. */
static gboolean
check_matrix (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, arg);

  if (adj_context_has_error (call->cx))
    return FALSE;
  return (self->shape.rank == 2 && adj_dtype_is_floating (self->dtype)) ||
         adj_op_call_fail (call, "needs a matrix of floating point");
}

static AdjSize
count_pairs (const AdjOpCall *call, const AdjTensorMeta *self)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize n = self->shape.size[0];

  n = adj_size_mul (symbols, n, adj_size_sub (symbols, n, ADJ_SIZE (1)));
  return adj_size_apply (symbols, ADJ_SIZE_FLOORDIV, n, ADJ_SIZE (2));
}

static gboolean
pdist_meta (AdjOpCall *call)
{
  AdjSize pairs;

  if (!check_matrix (call, 0))
    return FALSE;
  if (!(adj_op_call_double (call, 1, 2) >= 0))
    return adj_op_call_fail (call, "argument 'p' is negative");
  pairs = count_pairs (call, adj_op_call_meta (call, 0));
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, 1, &pairs);
  return TRUE;
}

static gboolean
pdist_backward_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);
  const AdjShape *grad = &adj_op_call_meta (call, 0)->shape;
  const AdjShape *pairs = &adj_op_call_meta (call, 3)->shape;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (adj_op_call_double (call, 2, 2) == 0) /* p = 0: zeros, whatever the sizes */
    {
      op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
      return TRUE;
    }
  if (!check_matrix (call, 1))
    return FALSE;
  if (grad->rank != 1 || pairs->rank != 1 ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, grad->size[0], count_pairs (call, self)) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, pairs->size[0], count_pairs (call, self)))
    return adj_op_call_fail (call, "the gradient has not the size of the distances");
  op_add_contiguous (call, self->dtype, 2, self->shape.size);
  return TRUE;
}

static gboolean
pdist_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  gint64 n = shape->size[0].word, m = shape->size[1].word, at = 0;
  double p = adj_op_call_double (call, 1, 2);
  g_autofree double *x = read_numbers (call, 0, shape);
  g_autofree double *out = g_new0 (double, n *n / 2 + 1);

  if (x == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    for (gint64 k = i + 1; k < n; k++)
      out[at++] = distance (x + i * m, x + k * m, m, p);
  return write_numbers (call, out);
}

static gboolean
pdist_backward_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 1)->shape;
  gint64 n = shape->size[0].word, m = shape->size[1].word, at = 0;
  double p = adj_op_call_double (call, 2, 2);
  g_autofree double *g = NULL;
  g_autofree double *x = NULL;
  g_autofree double *whole = NULL;
  g_autofree double *out = NULL;

  if (p == 0)
    {
      op_clear (call, 0);
      return TRUE;
    }
  g = read_numbers (call, 0, &adj_op_call_meta (call, 0)->shape);
  x = read_numbers (call, 1, shape);
  whole = read_numbers (call, 3, &adj_op_call_meta (call, 3)->shape);
  out = g_new0 (double, n *m + 1);
  if (g == NULL || x == NULL || whole == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    for (gint64 k = i + 1; k < n; k++, at++)
      for (gint64 j = 0; j < m; j++)
        {
          /* the maximal difference is recomputed, since the distance is rounded */
          double w = isinf (p) ? distance (x + i * m, x + k * m, m, p) : whole[at];
          double d = g[at] * slope (x[i * m + j] - x[k * m + j], w, p);

          out[i * m + j] += d;
          out[k * m + j] -= d;
        }
  return write_numbers (call, out);
}

/* -- between two tensors -- */

static gboolean
dist_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *other = adj_op_call_meta (call, 1);
  const AdjShape *shapes[] = { &self->shape, &other->shape };
  GError *error = NULL;
  AdjShape shape;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->dtype != other->dtype || !adj_dtype_is_floating (self->dtype))
    return adj_op_call_fail (call, "needs floating point of one dtype");
  if (!adj_shape_pointwise (&shape, op_symbols (call), shapes, 2, &error))
    return adj_op_call_fail_with (call, error);
  op_add_contiguous (call, self->dtype, 0, NULL);
  return TRUE;
}

static gboolean
dist_kernel (AdjOpCall *call)
{
  const AdjShape *shapes[] = { &adj_op_call_meta (call, 0)->shape,
                               &adj_op_call_meta (call, 1)->shape };
  double p = adj_op_call_double (call, 2, 2), result;
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;
  AdjShape shape;
  gint64 n = 1;

  if (!adj_shape_pointwise (&shape, op_symbols (call), shapes, 2, NULL))
    return FALSE;
  x = read_numbers (call, 0, &shape);
  y = read_numbers (call, 1, &shape);
  if (x == NULL || y == NULL)
    return FALSE;
  for (guint i = 0; i < shape.rank; i++)
    n *= shape.size[i].word;
  result = distance (x, y, n, p);
  if (p == 0) /* p = 0: NaN counts as different */
    for (gint64 i = 0, count = 0; i < n; i++)
      {
        count += !(x[i] == y[i]);
        result = (double) count;
      }
  if (p < 0) /* p = −∞: the smallest difference */
    for (gint64 i = 0; isinf (p) && i < n; i++)
      result = i == 0 || fabs (x[i] - y[i]) < result ? fabs (x[i] - y[i]) : result;
  return write_numbers (call, &result);
}

static double
dist_reduction (const AdjOpCall *call)
{
  return MAX (op_count (call, &adj_op_call_meta (call, 0)->shape), 1);
}

/* -- slices of bounded norm -- */

static gboolean
renorm_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_dim (call, 2, self->shape.rank);
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank < 2 || !adj_dtype_is_floating (self->dtype))
    return adj_op_call_fail (call, "needs two dimensions or more, of floating point");
  if (!(adj_op_call_double (call, 1, 2) > 0) || !(adj_op_call_double (call, 3, 0) >= 0))
    return adj_op_call_fail (call, "needs a positive p and a maxnorm that is not negative");
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

/* The slices along a dimension: their number and length, with @inner contiguous elements; factors
 * are rounded if the dtype is @narrow. */
typedef struct
{
  gint64 n, length, inner;
  gboolean narrow;
} Slices;

static double *
element_of (const Slices *slices, double *x, gint64 slice, gint64 i)
{
  return x + (i / slices->inner * slices->n + slice) * slices->inner + i % slices->inner;
}

static void
shorten (const Slices *slices, double *x, gint64 slice, double p, double most)
{
  double norm = 0, factor;

  for (gint64 i = 0; i < slices->length; i++)
    {
      double size = fabs (*element_of (slices, x, slice, i));

      norm = isinf (p) ? fmax (norm, size) : norm + pow (size, p);
    }
  norm = isinf (p) ? norm : pow (norm, 1 / p);
  if (!(norm > most))
    return;
  factor = slices->narrow ? (float) (most / (norm + 1e-7)) : most / (norm + 1e-7);
  for (gint64 i = 0; i < slices->length; i++)
    *element_of (slices, x, slice, i) *= factor;
}

static gboolean
renorm_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  guint dim = op_dim (call, 2, shape->rank);
  g_autofree double *x = read_numbers (call, 0, shape);
  Slices slices = { shape->size[dim].word, 1, 1, FALSE };
  gint64 step = 1;
  AdjKView out, dense;

  if (x == NULL || !op_output (call, 0, &out))
    return FALSE;
  slices.narrow = out.type != ADJ_K_F64;
  dense = out;
  dense.type = ADJ_K_F64;
  dense.data = x;
  for (guint i = shape->rank; i-- > 0; step *= shape->size[i].word)
    {
      slices.inner *= i > dim ? shape->size[i].word : 1;
      slices.length *= i != dim ? shape->size[i].word : 1;
      dense.stride[i] = step;
    }
  for (gint64 i = 0; i < slices.n; i++)
    shorten (&slices, x, i, adj_op_call_double (call, 1, 2), adj_op_call_double (call, 3, 0));
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- costs -- */

/* Each row meets all others. */
static double
pdist_reduction (const AdjOpCall *call)
{
  gint64 n = 1;

  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, 1)->shape.size[0], &n);
  return (double) MAX (n, 1);
}

static double
cdist_reduction (const AdjOpCall *call)
{
  gboolean backward = call->schema->n_arguments == 5;
  const AdjShape *shape = &adj_op_call_meta (call, backward ? 2 : 0)->shape;
  gint64 n = 1;

  if (shape->rank >= 2)
    adj_size_get_hint (op_symbols (call), shape->size[shape->rank - (backward ? 2 : 1)], &n);
  return (double) MAX (n, 1);
}

static double
cdist_flops (const AdjOpCall *call)
{
  return 3 * op_count (call, &call->results[0].meta.shape) * cdist_reduction (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/distance.inc"
};

const OpFamily adj_family_distance = { ops, G_N_ELEMENTS (ops) };
