/* SPDX-License-Identifier: MIT */
/* Fourier transforms: layouts as PyTorch's kernels and traces have them; lines of f64 numbers are
 * transformed, dimension after dimension, and rounded once. */

#include <math.h>

#include "adj-kernel-fft.h"

#include "ops/create-private.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* -- dimensions -- */

typedef struct
{
  guint n;
  guint dim[ADJ_MAX_RANK];
} Dims;

static gboolean
read_dims (const AdjOpCall *call, Dims *out)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank;
  AdjSize given[ADJ_MAX_RANK];
  guint32 seen = 0;

  out->n = adj_op_call_sizes (call, 1, given);
  for (guint i = 0; i < out->n; i++)
    {
      gint64 dim = given[i].word < 0 ? given[i].word + rank : given[i].word;

      if (!adj_size_is_int (given[i]) || dim < 0 || dim >= rank || ((seen >> dim) & 1) != 0)
        return adj_op_call_fail (call,
                                 "dim names no dimensions of a tensor of rank %u, or one "
                                 "twice",
                                 rank);
      seen |= 1u << dim;
      out->dim[i] = (guint) dim;
    }
  return !adj_context_has_error (call->cx);
}

static gint64
stride_of (const AdjOpCall *call, guint dim)
{
  gint64 stride = 0;

  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, 0)->shape.stride[dim], &stride);
  return stride;
}

/* By falling strides of self; equal ones stay. */
static void
sort_dims (const AdjOpCall *call, guint *dims, guint n)
{
  for (guint i = 1; i < n; i++)
    for (guint k = i; k > 0 && stride_of (call, dims[k - 1]) < stride_of (call, dims[k]); k--)
      {
        guint other = dims[k];

        dims[k] = dims[k - 1];
        dims[k - 1] = other;
      }
}

/* The dimensions that are not transformed, by falling strides. */
static guint
batch_dims (const AdjOpCall *call, const Dims *dims, guint *out)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank, n = 0;
  guint32 mask = 0;

  for (guint i = 0; i < dims->n; i++)
    mask |= 1u << dims->dim[i];
  for (guint i = 0; i < rank; i++)
    if (((mask >> i) & 1) == 0)
      out[n++] = i;
  sort_dims (call, out, n);
  return n;
}

/* Dense strides of @shape whose dimensions stand in memory as @order says. */
static void
lay_out (const AdjOpCall *call, AdjShape *shape, const guint *order)
{
  AdjSize numel = ADJ_SIZE (1);

  for (guint i = shape->rank; i-- > 0;)
    {
      shape->stride[order[i]] = numel;
      numel = adj_size_mul (op_symbols (call), numel, shape->size[order[i]]);
    }
}

/* What is transformed stands innermost, by falling strides of self, the last @n_last as named. */
static gboolean
add_result (AdjOpCall *call, AdjDType dtype, Dims *dims, guint n_last, AdjSize last_size)
{
  AdjShape shape = adj_op_call_meta (call, 0)->shape;
  guint order[ADJ_MAX_RANK], n;

  for (guint i = 0; i < dims->n; i++)
    if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, shape.size[dims->dim[i]], ADJ_SIZE (1)))
      return adj_op_call_fail (call, "Invalid number of data points (0) specified");
  shape.offset = ADJ_SIZE (0);
  if (n_last > 0)
    shape.size[dims->dim[dims->n - 1]] = last_size;
  n = batch_dims (call, dims, order);
  sort_dims (call, dims->dim, dims->n - MIN (n_last, dims->n));
  for (guint i = 0; i < dims->n; i++)
    order[n + i] = dims->dim[i];
  lay_out (call, &shape, order);
  adj_op_call_add (call, dtype, &shape);
  return TRUE;
}

static gboolean
fail_dtype (const AdjOpCall *call)
{
  return adj_op_call_fail (call, "Unsupported dtype %s",
                           adj_dtype_info (adj_op_call_meta (call, 0)->dtype)->torch_name);
}

/* -- shapes -- */

static gboolean
r2c_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize last;
  Dims dims;

  if (self->dtype != ADJ_DTYPE_F32 && self->dtype != ADJ_DTYPE_F64)
    return fail_dtype (call);
  if (!read_dims (call, &dims))
    return FALSE;
  if (dims.n == 0)
    return adj_op_call_fail (call, "no dimension is named");
  last = self->shape.size[dims.dim[dims.n - 1]];
  if (adj_op_call_bool (call, 3))
    last = adj_size_add (symbols, adj_size_floordiv (symbols, last, ADJ_SIZE (2)), ADJ_SIZE (1));
  return add_result (call, self->dtype == ADJ_DTYPE_F32 ? ADJ_DTYPE_C64 : ADJ_DTYPE_C128, &dims, 1,
                     last);
}

static gboolean
c2r_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize last = adj_op_call_size (call, 3, ADJ_SIZE (1)), half;
  Dims dims;

  if (self->dtype != ADJ_DTYPE_C64 && self->dtype != ADJ_DTYPE_C128)
    return fail_dtype (call);
  if (!read_dims (call, &dims))
    return FALSE;
  if (dims.n == 0 || adj_size_test (symbols, ADJ_SIZE_LT, last, ADJ_SIZE (1)))
    return adj_op_call_fail (call, "no dimension is named, or the size of the last one is not "
                                   "positive");
  half = adj_size_add (symbols, adj_size_floordiv (symbols, last, ADJ_SIZE (2)), ADJ_SIZE (1));
  if (adj_size_test (symbols, ADJ_SIZE_LT, self->shape.size[dims.dim[dims.n - 1]], half))
    return adj_op_call_fail (call, "the last dimension has too few elements");
  return add_result (call, adj_dtype_get_real (self->dtype), &dims, 1, last);
}

static gboolean
c2c_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  Dims dims;

  if (self->dtype != ADJ_DTYPE_C64 && self->dtype != ADJ_DTYPE_C128)
    return fail_dtype (call);
  return read_dims (call, &dims) && add_result (call, self->dtype, &dims, 0, ADJ_SIZE (0));
}

/* -- kernels -- */

/* Numbers in row-major order, pairs of f64. */
typedef struct
{
  double *pairs;
  guint rank;
  gint64 size[ADJ_MAX_RANK];
  gint64 stride[ADJ_MAX_RANK]; /* in pairs */
} Work;

static gboolean
work_init (const AdjOpCall *call, const AdjShape *shape, Work *out)
{
  gint64 n = 1;

  out->rank = shape->rank;
  for (guint i = shape->rank; i-- > 0;)
    {
      out->size[i] = shape->size[i].word;
      out->stride[i] = n;
      n *= out->size[i];
    }
  out->pairs = NULL;
  if (!op_check_temporary (call, 2 * n))
    return FALSE;
  out->pairs = g_malloc0_n ((gsize) MAX (n, 1), 2 * sizeof (double));
  return TRUE;
}

/* One part of @work, of the sizes of @like. */
static AdjKView
view_part (const Work *work, const AdjKView *like, guint part)
{
  AdjKView out = { .data = work->pairs + part, .type = ADJ_K_F64, .rank = (gint) work->rank };

  for (guint i = 0; i < work->rank; i++)
    {
      out.size[i] = MIN (like->size[i], work->size[i]);
      out.stride[i] = 2 * work->stride[i];
    }
  return out;
}

static gboolean
load (AdjOpCall *call, const Work *work)
{
  gboolean complex = op_is_complex (adj_op_call_meta (call, 0)->dtype);

  for (guint part = 0; part <= (complex ? 1 : 0); part++)
    {
      AdjKView in, to;
      gboolean done;

      call->part = !complex ? ADJ_PART_NONE : part == 0 ? ADJ_PART_REAL : ADJ_PART_IMAGINARY;
      done = op_input (call, 0, &in);
      call->part = ADJ_PART_NONE;
      if (!done)
        return FALSE;
      to = view_part (work, &in, part);
      for (gint i = 0; i < in.rank; i++)
        in.size[i] = to.size[i];
      adj_q_copy (op_queue (call), &to, &in);
    }
  return TRUE;
}

static gboolean
store (AdjOpCall *call, const Work *work)
{
  gboolean complex = op_is_complex (call->results[0].meta.dtype);

  for (guint part = 0; part <= (complex ? 1 : 0); part++)
    {
      AdjKView out, from;
      gboolean done;

      call->part = !complex ? ADJ_PART_NONE : part == 0 ? ADJ_PART_REAL : ADJ_PART_IMAGINARY;
      done = op_output (call, 0, &out);
      call->part = ADJ_PART_NONE;
      if (!done)
        return FALSE;
      from = view_part (work, &out, part);
      adj_q_copy (op_queue (call), &out, &from);
    }
  return TRUE;
}

/* What follows from symmetry: x[n - k] is x[k] conjugate. */
static void
complete (double *line, gint64 n)
{
  for (gint64 k = n / 2 + 1; k < n; k++)
    {
      line[2 * k] = line[2 * (n - k)];
      line[2 * k + 1] = -line[2 * (n - k) + 1];
    }
}

/* Calls for each line along @dim where it begins, in pairs: the next one after @index; %FALSE at
 * the end. */
static gboolean
next_line (const Work *work, const gint64 *size, guint dim, gint64 *index, gint64 *start)
{
  for (guint i = work->rank; i-- > 0;)
    {
      if (i == dim)
        continue;
      *start += work->stride[i];
      if (++index[i] < size[i])
        return TRUE;
      *start -= size[i] * work->stride[i];
      index[i] = 0;
    }
  return FALSE;
}

typedef struct
{
  const gint64 *size; /* of what is there of each dimension */
  gboolean backward;
  gboolean halved; /* the first half of each line is there */
} Lines;

static gboolean
transform_lines (const AdjOpCall *call, const Work *work, const Lines *lines, guint dim)
{
  gint64 n = work->size[dim], start = 0, index[ADJ_MAX_RANK] = { 0 };
  g_autofree double *line = g_malloc_n ((gsize) n, 2 * sizeof (double));
  AdjKFft *fft = adj_k_fft_new (n);

  if (fft == NULL)
    return op_no_memory (call);
  do
    {
      double *at = work->pairs + 2 * start;
      gint64 step = 2 * work->stride[dim];

      for (gint64 k = 0; k < n; k++)
        {
          line[2 * k] = at[k * step];
          line[2 * k + 1] = at[k * step + 1];
        }
      if (lines->halved)
        complete (line, n);
      adj_k_fft_run (fft, line, lines->backward);
      for (gint64 k = 0; k < n; k++)
        {
          at[k * step] = line[2 * k];
          at[k * step + 1] = line[2 * k + 1];
        }
    }
  while (next_line (work, lines->size, dim, index, &start));
  adj_k_fft_free (fft);
  return TRUE;
}

static void
normalize (const AdjOpCall *call, const Work *work, const Dims *dims)
{
  gint64 normalization = adj_op_call_int (call, 2, 0), n = 1, numel = 1;
  double factor;

  for (guint i = 0; i < dims->n; i++)
    n *= work->size[dims->dim[i]];
  for (guint i = 0; i < work->rank; i++)
    numel *= work->size[i];
  factor = normalization == 1 ? 1 / sqrt ((double) n) : 1 / (double) n;
  for (gint64 i = 0; normalization != 0 && i < 2 * numel; i++)
    work->pairs[i] *= factor;
}

/* @full: the sizes of all that is known of either side. */
static gboolean
transform (AdjOpCall *call, const AdjShape *full, gboolean backward, gboolean halved)
{
  gint64 size[ADJ_MAX_RANK];
  Lines lines = { size, backward, FALSE };
  g_autofree double *pairs = NULL;
  gboolean done = TRUE;
  Dims dims;
  Work work;

  if (!read_dims (call, &dims) || !work_init (call, full, &work))
    return FALSE;
  pairs = work.pairs;
  if (!load (call, &work))
    return FALSE;
  for (guint i = 0; i < work.rank; i++)
    size[i] = MIN (adj_op_call_meta (call, 0)->shape.size[i].word, work.size[i]);
  for (guint i = 0; done && i < dims.n; i++)
    {
      lines.halved = halved && i + 1 == dims.n;
      done = transform_lines (call, &work, &lines, dims.dim[i]);
    }
  if (done)
    normalize (call, &work, &dims);
  return done && store (call, &work);
}

static gboolean
r2c_kernel (AdjOpCall *call)
{
  return transform (call, &adj_op_call_meta (call, 0)->shape, FALSE, FALSE);
}

static gboolean
c2r_kernel (AdjOpCall *call)
{
  return transform (call, &call->results[0].meta.shape, TRUE, TRUE);
}

static gboolean
c2c_kernel (AdjOpCall *call)
{
  return transform (call, &call->results[0].meta.shape, !adj_op_call_bool (call, 3), FALSE);
}

/* -- frequencies -- */

static gboolean
add_frequencies (AdjOpCall *call, gint64 n)
{
  AdjSize size = ADJ_SIZE (n);
  AdjShape shape;

  if (adj_op_call_int (call, 0, 0) < 0)
    return adj_op_call_fail (call, "the number of elements is negative");
  adj_shape_init (&shape, op_symbols (call), 1, &size);
  return op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

static gboolean
freq_meta (AdjOpCall *call)
{
  return add_frequencies (call, adj_op_call_int (call, 0, 0));
}

static gboolean
rfreq_meta (AdjOpCall *call)
{
  return add_frequencies (call, adj_op_call_int (call, 0, 0) / 2 + 1);
}

static gboolean
fill_frequencies (AdjOpCall *call, gint64 n_positive)
{
  gint64 n = adj_op_call_int (call, 0, 0);
  double step = 1 / ((double) n * adj_op_call_double (call, 1, 1));
  AdjKView out, rest;

  if (!op_output (call, 0, &out))
    return FALSE;
  rest = out;
  rest.data = (char *) out.data + (gsize) n_positive * adj_k_type_get_size (out.type);
  rest.size[0] = out.size[0] - n_positive;
  out.size[0] = n_positive;
  adj_q_iota_f64 (op_queue (call), &out, 0, step);
  if (rest.size[0] > 0)
    adj_q_iota_f64 (op_queue (call), &rest, -(double) (n / 2) * step, step);
  return TRUE;
}

static gboolean
freq_kernel (AdjOpCall *call)
{
  return fill_frequencies (call, (adj_op_call_int (call, 0, 0) + 1) / 2);
}

static gboolean
rfreq_kernel (AdjOpCall *call)
{
  return fill_frequencies (call, adj_op_call_int (call, 0, 0) / 2 + 1);
}

/* -- costs -- */

static const AdjShape *
larger_side (const AdjOpCall *call)
{
  const AdjShape *in = &adj_op_call_meta (call, 0)->shape, *out = &call->results[0].meta.shape;

  return op_count (call, in) > op_count (call, out) ? in : out;
}

static double
fft_reduction (const AdjOpCall *call)
{
  const AdjShape *shape = larger_side (call);
  double product = 1;
  Dims dims;

  if (!read_dims (call, &dims))
    return 1;
  for (guint i = 0; i < dims.n; i++)
    {
      gint64 n = 1;

      adj_size_get_hint (op_symbols (call), shape->size[dims.dim[i]], &n);
      product *= (double) n;
    }
  return product;
}

static double
fft_flops (const AdjOpCall *call)
{
  return 5 * op_count (call, larger_side (call)) * log2 (MAX (fft_reduction (call), 2));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/fft.inc"
};

const OpFamily adj_family_fft = { ops, G_N_ELEMENTS (ops) };
