/* SPDX-License-Identifier: MIT */
/* Distances between all pairs of vectors of two matrices, and their gradients. */

#include <math.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* x1 is […, P, M] and x2 […, R, M]; the dimensions before are broadcast. */

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

/* Of no distances PyTorch gives zeros like x1, however its batch was spread. */
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

/* Argument @arg, spread over @shape, as numbers in row-major order. */
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
        sum += p == 0 ? d != 0 : p == 1 ? d : p == 2 ? d * d : pow (d, p);
    }
  if (p == 2)
    return sqrt (sum);
  return p == 0 || p == 1 || isinf (p) ? sum : pow (sum, 1 / p);
}

/* Of the distance @whole by one coordinate that differs by @d. */
static double
slope (double d, double whole, double p)
{
  double sign = (d > 0) - (d < 0);

  if (p == 0 || (whole == 0 && p != 1))
    return 0;
  if (p == 1)
    return sign;
  if (p == 2)
    return d / whole;
  return isinf (p) ? sign * (fabs (d) == whole) : sign * pow (fabs (d) / whole, p - 1);
}

/* The number of rows and columns, and of pairs of matrices. */
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

/* -- costs -- */

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
  gint64 n = 0;

  adj_size_get_hint (op_symbols (call),
                     adj_shape_numel (&call->results[0].meta.shape, op_symbols (call)), &n);
  return 3 * (double) n * cdist_reduction (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/distance.inc"
};

const OpFamily adj_family_distance = { ops, G_N_ELEMENTS (ops) };
