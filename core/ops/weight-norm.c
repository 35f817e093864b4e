/* SPDX-License-Identifier: MIT */
/* Weight norm and its backward. */

#include <math.h>

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* w = v g / |v|, where |v| is over all dimensions but one, the first or the last. */

/* PyTorch has the norms of bf16 in f32. */
static AdjDType
dtype_of_norms (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_BF16 ? ADJ_DTYPE_F32 : dtype;
}

/* @dtype: required of argument @g, which has a length or norm for each slice of argument @v. */
static gboolean
check_weight (const AdjOpCall *call, guint v, guint g, AdjDType dtype, guint *dim)
{
  const AdjTensorMeta *direction = adj_op_call_meta (call, v);
  const AdjTensorMeta *length = adj_op_call_meta (call, g);
  AdjShape wanted = direction->shape;

  *dim = op_dim (call, call->schema->n_arguments - 1, direction->shape.rank);
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (*dim != 0 && *dim + 1 != direction->shape.rank)
    return adj_op_call_fail (call, "dimension %u is not the first or the last", *dim);
  if (!adj_dtype_is_floating (direction->dtype) || length->dtype != dtype)
    return adj_op_call_fail (call, "needs floating point of one dtype");
  for (guint i = 0; i < wanted.rank; i++)
    if (i != *dim)
      wanted.size[i] = ADJ_SIZE (1);
  if (!adj_shape_same_sizes (&wanted, &length->shape, op_symbols (call)))
    {
      g_autofree char *text = op_sizes_text (call, &length->shape);

      return adj_op_call_fail (call, "%s are no lengths along dimension %u", text, *dim);
    }
  return TRUE;
}

static gboolean
weight_norm_meta (AdjOpCall *call)
{
  const AdjTensorMeta *v = adj_op_call_meta (call, 0), *g = adj_op_call_meta (call, 1);
  guint dim;

  if (!check_weight (call, 0, 1, v->dtype, &dim))
    return FALSE;
  op_add_contiguous (call, v->dtype, v->shape.rank, v->shape.size);
  op_add_contiguous (call, dtype_of_norms (g->dtype), g->shape.rank, g->shape.size);
  return TRUE;
}

static gboolean
weight_norm_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *v = adj_op_call_meta (call, 1), *g = adj_op_call_meta (call, 2);
  guint dim;

  if (!check_weight (call, 1, 2, v->dtype, &dim) ||
      !check_weight (call, 1, 3, dtype_of_norms (v->dtype), &dim))
    return FALSE;
  if (!adj_shape_same_sizes (&v->shape, &adj_op_call_meta (call, 0)->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient has not the sizes of v");
  op_add_contiguous (call, v->dtype, v->shape.rank, v->shape.size);
  op_add_contiguous (call, g->dtype, g->shape.rank, g->shape.size);
  return TRUE;
}

/* -- kernels -- */

/* Argument @arg in row-major order, and its view. */
static double *
read_numbers (const AdjOpCall *call, guint arg, AdjKView *view)
{
  return op_input (call, arg, view) ? op_read_numbers (call, arg) : NULL;
}

/* Writes @numbers to result @result. */
static gboolean
write_numbers (const AdjOpCall *call, guint result, double *numbers)
{
  AdjKView out, from;

  if (!op_output (call, result, &out))
    return FALSE;
  from = out; /* the result is contiguous */
  from.type = ADJ_K_F64;
  from.data = numbers;
  adj_q_copy (op_queue (call), &out, &from);
  return TRUE;
}

/* The index of the length for element @i of v. */
static gint64
length_of (const AdjKView *v, gint64 lengths, gint64 i)
{
  gboolean first = lengths == v->size[0];

  return first ? i / (adj_k_view_count (v) / lengths) : i % lengths;
}

static gboolean
weight_norm_kernel (AdjOpCall *call)
{
  AdjKView v, g;
  g_autofree double *direction = read_numbers (call, 0, &v);
  g_autofree double *lengths = direction != NULL ? read_numbers (call, 1, &g) : NULL;
  g_autofree double *norms = NULL;
  gint64 n, m;

  if (lengths == NULL)
    return FALSE;
  n = adj_k_view_count (&v);
  m = adj_k_view_count (&g);
  norms = g_new0 (double, (gsize) m + 1);
  for (gint64 i = 0; i < n; i++)
    norms[length_of (&v, m, i)] += direction[i] * direction[i];
  for (gint64 i = 0; i < m; i++)
    norms[i] = sqrt (norms[i]);
  for (gint64 i = 0; i < n; i++)
    direction[i] *= lengths[length_of (&v, m, i)] / norms[length_of (&v, m, i)];
  return write_numbers (call, 0, direction) && write_numbers (call, 1, norms);
}

/* With s = Σ grad · v of one length: grad_g = s / |v|, grad_v = g / |v| (grad − v s / |v|²). */
static gboolean
weight_norm_backward_kernel (AdjOpCall *call)
{
  AdjKView v, g;
  g_autofree double *grad = read_numbers (call, 0, &v);
  g_autofree double *norms = grad != NULL ? read_numbers (call, 3, &g) : NULL;
  g_autofree double *lengths = norms != NULL ? read_numbers (call, 2, &g) : NULL;
  g_autofree double *direction = lengths != NULL ? read_numbers (call, 1, &v) : NULL;
  g_autofree double *sums = NULL;
  gint64 n, m;

  if (direction == NULL)
    return FALSE;
  n = adj_k_view_count (&v);
  m = adj_k_view_count (&g);
  sums = g_new0 (double, (gsize) m + 1);
  for (gint64 i = 0; i < n; i++)
    sums[length_of (&v, m, i)] += grad[i] * direction[i];
  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = length_of (&v, m, i);

      grad[i] =
          lengths[at] / norms[at] * (grad[i] - direction[i] * sums[at] / (norms[at] * norms[at]));
    }
  for (gint64 i = 0; i < m; i++)
    sums[i] /= norms[i];
  return write_numbers (call, 0, grad) && write_numbers (call, 1, sums);
}

/* -- costs -- */

static double
weight_norm_flops (const AdjOpCall *call)
{
  return 4 * op_count (call, &call->results[0].meta.shape);
}

static double
weight_norm_reduction (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) /
         MAX (op_count (call, &call->results[1].meta.shape), 1);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/weight-norm.inc"
};

const OpFamily adj_family_weight_norm = { ops, G_N_ELEMENTS (ops) };
