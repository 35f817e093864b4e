/* SPDX-License-Identifier: MIT */
/* embedding_bag: sums, means and maxima of bags of rows, and its backward. */

#include <math.h>
#include <string.h>

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Bag b has the indices from offsets[b] to before offsets[b + 1].  Rows are combined in f64 and
 * rounded once; a mean is the quotient of two numbers of the dtype. */

enum
{
  MODE_SUM,
  MODE_MEAN,
  MODE_MAX,
  N_MODES
};

/* -- shape rules -- */

static gboolean
check_indices (const AdjOpCall *call, guint arg)
{
  for (guint i = 0; i < 2; i++)
    {
      const AdjTensorMeta *meta = adj_op_call_meta (call, arg + i);

      if (adj_context_has_error (call->cx))
        return FALSE;
      if (meta->shape.rank != 1 || (meta->dtype != ADJ_DTYPE_I64 && meta->dtype != ADJ_DTYPE_I32))
        return adj_op_call_fail (call, "argument '%s' must be a vector of int32 or int64",
                                 call->schema->arguments[arg + i].name);
    }
  return TRUE;
}

static gint64
mode_of (const AdjOpCall *call)
{
  return adj_op_call_int (call, adj_op_call_find (call, "mode"), 0);
}

static gboolean
check_mode (const AdjOpCall *call)
{
  gint64 mode = mode_of (call);

  if (mode < 0 || mode >= N_MODES)
    return adj_op_call_fail (call, "there is no mode %" G_GINT64_FORMAT, mode);
  return TRUE;
}

static gboolean
check_samples (const AdjOpCall *call, guint arg, AdjDType dtype, AdjSize n)
{
  const AdjTensor *samples = adj_op_call_tensor_or_null (call, arg);
  const AdjTensorMeta *meta;

  if (samples == NULL)
    return !adj_context_has_error (call->cx);
  meta = adj_tensor_get_meta (samples);
  if (mode_of (call) != MODE_SUM)
    return adj_op_call_fail (call, "per_sample_weights are for sums only");
  if (meta->shape.rank != 1 || meta->dtype != dtype ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, meta->shape.size[0], n))
    return adj_op_call_fail (call, "per_sample_weights must be one weight for each index, of the "
                                   "dtype of the rows");
  return TRUE;
}

/* Whether PyTorch uses its fast kernel to sum rows. */
static gboolean
is_fast (const AdjOpCall *call)
{
  const AdjTensorMeta *weight = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  gboolean unit = adj_size_is (symbols, weight->shape.stride[1], 1) &&
                  weight->dtype != ADJ_DTYPE_F64 && adj_op_call_int (call, 8, -1) < 0;

  if (unit && call->args[6].kind == ADJ_VALUE_TENSOR)
    unit = adj_size_is (symbols, adj_op_call_meta (call, 6)->shape.stride[0], 1);
  return unit && mode_of (call) != MODE_MAX;
}

/* @for_offsets: bag sizes, which are then not computed, have the size of offsets. */
static gboolean
infer_bags (AdjOpCall *call, gboolean for_offsets)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *weight = adj_op_call_meta (call, 0);
  const AdjTensorMeta *indices = adj_op_call_meta (call, 1);
  AdjSize n_offsets = adj_op_call_meta (call, 2)->shape.size[0], n_bags = n_offsets, n_sizes;
  const AdjSize none = ADJ_SIZE (0);
  AdjSize sizes[2];
  AdjDType dtype;

  if (!check_indices (call, 1) || !check_mode (call))
    return FALSE;
  if (weight->shape.rank != 2 || !adj_dtype_is_floating (weight->dtype))
    return adj_op_call_fail (call, "the weight must be a matrix of floating point");
  if (!check_samples (call, 6, weight->dtype, indices->shape.size[0]))
    return FALSE;
  if (adj_op_call_bool (call, 7))
    n_bags = adj_size_sub (symbols, n_bags, ADJ_SIZE (1));
  if (adj_size_test (symbols, ADJ_SIZE_LT, n_bags, ADJ_SIZE (0)))
    return adj_op_call_fail (call, "include_last_offset needs an offset");
  n_sizes = for_offsets ? n_offsets : n_bags;
  sizes[0] = n_bags;
  sizes[1] = weight->shape.size[1];
  dtype = adj_op_call_meta (call, 2)->dtype;
  if (indices->dtype == ADJ_DTYPE_I64)
    dtype = ADJ_DTYPE_I64;
  op_add_contiguous (call, weight->dtype, 2, sizes);
  /* the fast kernel does not write the bag of each index for sums */
  op_add_contiguous (call, dtype, 1,
                     is_fast (call) && mode_of (call) == MODE_SUM ? &none : indices->shape.size);
  op_add_contiguous (call, dtype, 1, &n_sizes);
  if (mode_of (call) == MODE_MAX)
    op_add_contiguous (call, dtype, 2, sizes);
  else
    op_add_contiguous (call, dtype, 1, &n_sizes);
  return TRUE;
}

static gboolean
bag_meta (AdjOpCall *call)
{
  return infer_bags (call, FALSE);
}

static gboolean
forward_only_meta (AdjOpCall *call)
{
  return infer_bags (call, mode_of (call) == MODE_SUM);
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  AdjSize sizes[2] = { adj_op_call_size (call, 6, ADJ_SIZE (0)) };

  if (!check_indices (call, 1) || !check_mode (call))
    return FALSE;
  if (adj_op_call_bool (call, 9))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "a sparse gradient");
  if (grad->shape.rank != 2 || !adj_dtype_is_floating (grad->dtype) ||
      adj_size_test (op_symbols (call), ADJ_SIZE_LT, sizes[0], ADJ_SIZE (0)))
    return adj_op_call_fail (call, "the gradient must be a matrix of floating point");
  if (!check_samples (call, 10, grad->dtype, adj_op_call_meta (call, 1)->shape.size[0]))
    return FALSE;
  sizes[1] = grad->shape.size[1];
  op_add_contiguous (call, grad->dtype, 2, sizes);
  return TRUE;
}

static gboolean
samples_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *weight = adj_op_call_meta (call, 1);

  if (!check_indices (call, 2))
    return FALSE;
  if (mode_of (call) != MODE_SUM)
    return adj_op_call_fail (call, "per_sample_weights are for sums only");
  if (grad->shape.rank != 2 || weight->shape.rank != 2 || grad->dtype != weight->dtype ||
      !adj_dtype_is_floating (grad->dtype) ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, grad->shape.size[1], weight->shape.size[1]))
    return adj_op_call_fail (call, "gradient and weight must be matrices of one width");
  op_add_contiguous (call, grad->dtype, 1, adj_op_call_meta (call, 2)->shape.size);
  return TRUE;
}

/* -- bags -- */

typedef struct
{
  gint64 n, n_bags;
  gint64 *indices; /* (owned) each: dense */
  gint64 *offsets;
  gint64 *bag;    /* by index */
  gint64 padding; /* index that is ignored; -1: none */
} Bags;

static void
bags_clear (Bags *bags)
{
  g_free (bags->indices);
  g_free (bags->offsets);
  g_free (bags->bag);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bags, bags_clear)

static gboolean
read_integers (const AdjOpCall *call, guint arg, gint64 **out, gint64 *n)
{
  AdjKView from, to;

  if (!op_input (call, arg, &from))
    return FALSE;
  *out = op_temporary (op_queue (call), &from, ADJ_K_I64, &to);
  *n = adj_k_view_count (&from);
  adj_k_copy (&to, &from);
  return TRUE;
}

/* Reads indices and offsets, arguments @arg and @arg + 1; @n_bags: of the result; one more offset
 * is the end of the last bag. */
static gboolean
read_bags (const AdjOpCall *call, guint arg, gint64 n_bags, gint64 n_rows, Bags *bags)
{
  gint64 n_offsets, at = 0;

  bags->padding = adj_op_call_int (call, adj_op_call_find (call, "padding_idx"), -1);
  bags->n_bags = n_bags;
  if (!read_integers (call, arg, &bags->indices, &bags->n) ||
      !read_integers (call, arg + 1, &bags->offsets, &n_offsets))
    return FALSE;
  if (n_offsets != n_bags && n_offsets != n_bags + 1)
    return adj_op_call_fail (call, "there are not as many offsets as bags");
  for (gint64 i = 0; i < n_offsets; i++)
    {
      gboolean right = bags->offsets[i] >= at && bags->offsets[i] <= bags->n &&
                       (i > 0 || bags->offsets[0] == 0) &&
                       (i < n_bags || bags->offsets[i] == bags->n);

      if (!right)
        return adj_op_call_fail (call, "offset %" G_GINT64_FORMAT " is %" G_GINT64_FORMAT, i,
                                 bags->offsets[i]);
      at = bags->offsets[i];
    }
  if (n_bags == 0 && bags->n > 0)
    return adj_op_call_fail (call, "there are indices but no bags");
  for (gint64 i = 0; i < bags->n; i++)
    if (bags->indices[i] < 0 || bags->indices[i] >= n_rows)
      return op_bad_index (call, bags->indices[i]);

  bags->bag = g_new (gint64, bags->n + 1);
  for (gint64 i = 0, b = 0; i < bags->n; i++)
    {
      while (b + 1 < n_bags && bags->offsets[b + 1] <= i)
        b++;
      bags->bag[i] = b;
    }
  return TRUE;
}

static gboolean
counts (const Bags *bags, gint64 i)
{
  return bags->indices[i] != bags->padding;
}

/* @from as dense doubles; the caller frees them. */
static double *
read_doubles (const AdjKView *from)
{
  AdjKView to;
  double *numbers = op_temporary (NULL, from, ADJ_K_F64, &to);

  adj_k_copy (&to, from);
  return numbers;
}

/* The weights of the indices, argument @arg; all 1 without. */
static gboolean
read_samples (const AdjOpCall *call, guint arg, gint64 n, double **out)
{
  const AdjKView *given;
  AdjKView view;

  if (!op_input_or_null (call, arg, &view, &given))
    return FALSE;
  if (given != NULL)
    {
      *out = read_doubles (&view);
      return TRUE;
    }
  *out = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    (*out)[i] = 1;
  return TRUE;
}

/* Row @i of a matrix into @to, dense doubles. */
static void
read_row (const AdjKView *matrix, gint64 i, double *to)
{
  AdjKView row = *matrix, out = { .data = to, .type = ADJ_K_F64, .rank = 1, .stride = { 1 } };

  row.rank = 1;
  row.data =
      (char *) matrix->data + (gsize) (i * matrix->stride[0]) * adj_k_type_get_size (matrix->type);
  row.size[0] = out.size[0] = matrix->size[1];
  row.stride[0] = matrix->stride[1];
  adj_k_copy (&out, &row);
}

/* -- forward -- */

typedef struct
{
  double *sums;    /* [bags, width] */
  gint64 *largest; /* [bags, width]: the index of each maximum */
  gint64 *sizes;   /* by bag, without padding */
} Gathered;

static void
gather_row (const double *row, double factor, gint64 width, double *sum)
{
  for (gint64 d = 0; d < width; d++)
    sum[d] += factor * row[d];
}

static void
maximise_row (
    const double *row, gint64 index, gboolean first, gint64 width, double *best, gint64 *largest)
{
  for (gint64 d = 0; d < width; d++)
    if (first || row[d] > best[d])
      {
        best[d] = row[d];
        largest[d] = index;
      }
}

static void
gather (const Bags *bags, const AdjKView *weight, const double *samples, gint64 mode, Gathered *to)
{
  gint64 width = weight->size[1];
  g_autofree double *row = g_new (double, width + 1);

  for (gint64 i = 0; i < bags->n; i++)
    {
      gint64 b = bags->bag[i];

      if (!counts (bags, i))
        continue;
      read_row (weight, bags->indices[i], row);
      if (mode == MODE_MAX)
        maximise_row (row, bags->indices[i], to->sizes[b] == 0, width, to->sums + b * width,
                      to->largest + b * width);
      else
        gather_row (row, samples[i], width, to->sums + b * width);
      to->sizes[b]++;
    }
}

/* Rounds to bfloat16 as the fast kernel does: to nearest, ties away from 0. */
static void
round_away (double *numbers, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      float number = (float) numbers[i];
      guint32 bits;

      if (!isfinite (number))
        continue;
      memcpy (&bits, &number, sizeof bits);
      bits = (bits + 0x8000) & 0xffff0000;
      memcpy (&number, &bits, sizeof bits);
      numbers[i] = number;
    }
}

/* Divides the sums @out by @sizes, which are rounded to the dtype too: in bfloat16 257 is 256. */
static void
divide_by_sizes (AdjKView *out, const AdjKView *sizes)
{
  AdjKView rounded, quotients;
  g_autofree gpointer memory = op_temporary (NULL, sizes, out->type, &rounded);
  g_autofree double *means = op_temporary (NULL, out, ADJ_K_F64, &quotients);
  g_autofree double *divisors = NULL;

  adj_k_copy (&rounded, sizes);
  divisors = read_doubles (&rounded);
  adj_k_copy (&quotients, out);
  for (gint64 b = 0; b < out->size[0]; b++)
    for (gint64 d = 0; d < out->size[1] && divisors[b] > 0; d++)
      means[b * out->size[1] + d] /= divisors[b];
  adj_k_copy (out, &quotients);
}

static gboolean
write_indices (AdjOpCall *call, const Bags *bags, gint64 mode, AdjKView *sizes, AdjKView *largest)
{
  AdjKView bag_view;
  AdjKView from = {
    .data = bags->bag, .type = ADJ_K_I64, .rank = 1, .size = { bags->n }, .stride = { 1 }
  };
  AdjKView out;

  if (!op_output (call, 1, &bag_view))
    return FALSE;
  if (bag_view.size[0] > 0)
    adj_k_copy (&bag_view, &from);
  for (guint i = 0; i < 2; i++)
    {
      if (!op_output (call, 2 + i, &out))
        return FALSE;
      if (mode == MODE_SUM)
        adj_k_fill_i64 (&out, 0);
      else
        adj_k_copy (&out, i == 1 && mode == MODE_MAX ? largest : sizes);
    }
  return TRUE;
}

static gboolean
bag_kernel (AdjOpCall *call)
{
  gint64 mode = mode_of (call);
  g_auto (Bags) bags = { 0 };
  g_autofree double *samples = NULL;
  g_autofree gpointer sums = NULL, largest = NULL, sizes = NULL;
  AdjKView weight, out, sums_view, largest_view, sizes_view, column;

  if (!op_output (call, 0, &out) || !op_input (call, 0, &weight) ||
      !read_bags (call, 1, out.size[0], weight.size[0], &bags) ||
      !read_samples (call, 6, bags.n, &samples))
    return FALSE;
  column = out;
  column.rank = 1;
  sums = op_temporary (op_queue (call), &out, ADJ_K_F64, &sums_view);
  largest = op_temporary (op_queue (call), &out, ADJ_K_I64, &largest_view);
  sizes = op_temporary (op_queue (call), &column, ADJ_K_I64, &sizes_view);
  gather (&bags, &weight, samples, mode, &(Gathered){ sums, largest, sizes });
  if (out.type == ADJ_K_BF16 && is_fast (call))
    round_away (sums, adj_k_view_count (&out));
  adj_k_copy (&out, &sums_view);
  if (mode == MODE_MEAN)
    divide_by_sizes (&out, &sizes_view);
  return write_indices (call, &bags, mode, &sizes_view, &largest_view);
}

/* -- backward -- */

/* Adds to the row of each index the row of @g of its bag, times the factor of the index. */
static void
spread (const Bags *bags, const double *g, const double *factors, gint64 width, double *gw)
{
  for (gint64 i = 0; i < bags->n; i++)
    if (counts (bags, i))
      gather_row (g + bags->bag[i] * width, factors[i], width, gw + bags->indices[i] * width);
}

static gboolean
spread_maxima (AdjOpCall *call, const Bags *bags, const double *g, gint64 n_rows, AdjKView *gw)
{
  g_autofree gint64 *largest = NULL;
  g_autofree gint64 *sizes = NULL;
  gint64 width = gw->size[1], n, n_sizes;
  double *to = gw->data;

  if (!read_integers (call, 5, &largest, &n) || !read_integers (call, 4, &sizes, &n_sizes))
    return FALSE;
  if (n != bags->n_bags * width || n_sizes < bags->n_bags)
    return adj_op_call_fail (call, "maximum_indices has not the sizes of the gradient");
  for (gint64 i = 0; i < n; i++)
    {
      if (sizes[i / width] == 0)
        continue;
      if (largest[i] < 0 || largest[i] >= n_rows)
        return op_bad_index (call, largest[i]);
      to[largest[i] * width + i % width] += g[i];
    }
  return TRUE;
}

/* Divides by the size of the bag, and by the number of occurrences of the index. */
static gboolean
weigh (AdjOpCall *call, const Bags *bags, gint64 n_rows, double *factors)
{
  g_autofree gint64 *sizes = NULL;
  g_autofree gint64 *times = g_new0 (gint64, n_rows + 1);
  gint64 n;

  if (mode_of (call) == MODE_MEAN)
    {
      if (!read_integers (call, 4, &sizes, &n))
        return FALSE;
      if (n < bags->n_bags)
        return adj_op_call_fail (call, "bag_size has no size for some bags");
      for (gint64 i = 0; i < bags->n; i++)
        factors[i] /= (double) sizes[bags->bag[i]];
    }
  for (gint64 i = 0; i < bags->n; i++)
    times[bags->indices[i]]++;
  for (gint64 i = 0; i < bags->n && adj_op_call_bool (call, 7); i++)
    factors[i] /= (double) times[bags->indices[i]];
  return TRUE;
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  g_auto (Bags) bags = { 0 };
  g_autofree double *g = NULL;
  g_autofree double *factors = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView grad, out, gw;

  if (!op_output (call, 0, &out) || !op_input (call, 0, &grad) ||
      !read_bags (call, 1, grad.size[0], out.size[0], &bags) ||
      !read_samples (call, 10, bags.n, &factors))
    return FALSE;
  g = read_doubles (&grad);
  memory = op_temporary (op_queue (call), &out, ADJ_K_F64, &gw);
  if (mode_of (call) == MODE_MAX)
    {
      if (!spread_maxima (call, &bags, g, out.size[0], &gw))
        return FALSE;
    }
  else
    {
      if (!weigh (call, &bags, out.size[0], factors))
        return FALSE;
      spread (&bags, g, factors, out.size[1], gw.data);
    }
  adj_k_copy (&out, &gw);
  return TRUE;
}

static gboolean
samples_kernel (AdjOpCall *call)
{
  g_auto (Bags) bags = { 0 };
  g_autofree double *row = NULL;
  g_autofree double *g = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView grad, weight, out, sums;

  if (!op_output (call, 0, &out) || !op_input (call, 0, &grad) || !op_input (call, 1, &weight) ||
      !read_bags (call, 2, grad.size[0], weight.size[0], &bags))
    return FALSE;
  row = g_new (double, weight.size[1] + 1);
  g = read_doubles (&grad);
  memory = op_temporary (op_queue (call), &out, ADJ_K_F64, &sums);
  for (gint64 i = 0; i < bags.n; i++)
    if (counts (&bags, i))
      {
        read_row (&weight, bags.indices[i], row);
        for (gint64 d = 0; d < weight.size[1]; d++)
          ((double *) sums.data)[i] += row[d] * g[bags.bag[i] * weight.size[1] + d];
      }
  adj_k_copy (&out, &sums);
  return TRUE;
}

/* -- costs -- */

static double
bag_flops (const AdjOpCall *call)
{
  const AdjShape *rows = &adj_op_call_meta (call, 0)->shape;
  gint64 width = 1;

  adj_size_get_hint (op_symbols (call), rows->size[rows->rank - 1], &width);
  return (double) width *
         op_count (call, &adj_op_call_meta (call, adj_op_call_find (call, "indices"))->shape);
}

static double
bag_reduction (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, adj_op_call_find (call, "indices"))->shape);
}

static double
samples_reduction (const AdjOpCall *call)
{
  gint64 width = 1;

  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, 0)->shape.size[1], &width);
  return (double) width;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/embedding-bag.inc"
};

const OpFamily adj_family_embedding_bag = { ops, G_N_ELEMENTS (ops) };
