/* SPDX-License-Identifier: MIT */
/* Reductions: sums, means, extremes and tests over dimensions; scans. */

#include "call/adj-schema-internal.h"
#include "ops/parts-private.h"
#include "ops/reduce-private.h"
#include "ops/table-private.h"

/* Reductions: dimensions removed, or kept with size 1; the result is contiguous.
 *
 * Arguments are found by name: dim (a number, a list, or absent: all), keepdim, dtype. */

/* An empty list means all dimensions, but none for any.dims and all.dims. */
guint32
op_reduced_dims (const AdjOpCall *call)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank;
  gint arg = adj_schema_find_argument (call->schema, "dim");

  if (arg >= 0 && adj_value_is_container (&call->args[arg]) && call->args[arg].n == 0 &&
      g_str_equal (call->schema->overload, "dims"))
    return 0;
  return arg >= 0 ? adj_op_call_dims (call, (guint) arg, rank) : (1u << rank) - 1;
}

static gboolean
keeps_dims (const AdjOpCall *call)
{
  gint arg = adj_schema_find_argument (call->schema, "keepdim");

  return arg >= 0 && adj_op_call_bool (call, (guint) arg);
}

AdjDType
op_reduced_dtype (const AdjOpCall *call, AdjDType if_none)
{
  gint arg = adj_schema_find_argument (call->schema, "dtype");

  return arg >= 0 ? adj_op_call_dtype (call, (guint) arg, if_none) : if_none;
}

AdjDType
op_self_dtype (const AdjOpCall *call)
{
  return adj_op_call_meta (call, 0)->dtype;
}

/* -- shapes -- */

gboolean
op_add_reduced (AdjOpCall *call, AdjDType dtype)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  guint32 dims = op_reduced_dims (call);
  gboolean keep = keeps_dims (call);
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = 0;

  for (guint i = 0; i < self->rank; i++)
    if ((dims & (1u << i)) == 0)
      sizes[rank++] = self->size[i];
    else if (keep)
      sizes[rank++] = ADJ_SIZE (1);
  op_add_contiguous (call, dtype, rank, sizes);
  return !adj_context_has_error (call->cx);
}

/* Integers and bool are summed in int64. */
gboolean
op_sum_meta (AdjOpCall *call)
{
  AdjDType dtype = op_self_dtype (call);

  if (adj_dtype_info (dtype)->category <= ADJ_CATEGORY_INTEGER)
    dtype = ADJ_DTYPE_I64;
  return op_add_reduced (call, op_reduced_dtype (call, dtype));
}

gboolean
op_reduce_float_meta (AdjOpCall *call)
{
  AdjDType dtype = op_reduced_dtype (call, op_self_dtype (call));

  if (!adj_dtype_is_differentiable (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  return op_add_reduced (call, dtype);
}

gboolean
op_check_reducible (const AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  guint32 dims = op_reduced_dims (call);

  for (guint i = 0; i < self->rank; i++)
    if ((dims & (1u << i)) != 0 && adj_size_is (op_symbols (call), self->size[i], 0))
      return adj_op_call_fail (call, "dimension %u has no elements", i);
  return TRUE;
}

static gboolean
extreme_meta (AdjOpCall *call)
{
  return op_check_reducible (call) && op_add_reduced (call, op_self_dtype (call));
}

static gboolean
extreme_dim_meta (AdjOpCall *call)
{
  return extreme_meta (call) && op_add_reduced (call, ADJ_DTYPE_I64);
}

static gboolean
aminmax_meta (AdjOpCall *call)
{
  return extreme_meta (call) && op_add_reduced (call, op_self_dtype (call));
}

static gboolean
arg_extreme_meta (AdjOpCall *call)
{
  return op_check_reducible (call) && op_add_reduced (call, ADJ_DTYPE_I64);
}

static gboolean
count_meta (AdjOpCall *call)
{
  return op_add_reduced (call, ADJ_DTYPE_I64);
}

/* uint8 stays uint8, for compatibility. */
static gboolean
truth_meta (AdjOpCall *call)
{
  return op_add_reduced (call,
                         op_self_dtype (call) == ADJ_DTYPE_U8 ? ADJ_DTYPE_U8 : ADJ_DTYPE_BOOL);
}

static gboolean
scan_meta (AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjDType dtype = op_self_dtype (call);

  op_dim (call, 1, self->rank);
  if (adj_dtype_info (dtype)->category <= ADJ_CATEGORY_INTEGER)
    dtype = ADJ_DTYPE_I64;
  op_add_contiguous (call, op_reduced_dtype (call, dtype), self->rank, self->size);
  return TRUE;
}

/* -- views -- */

void
op_put_dims_back (const AdjKView *in, guint32 dims, AdjKView *out)
{
  AdjKView packed = *out;
  gboolean kept = packed.rank == in->rank;
  gint from = 0;

  out->rank = in->rank;
  for (gint i = 0; i < in->rank; i++)
    {
      gboolean reduced = (dims & (1u << i)) != 0;

      out->size[i] = reduced ? 1 : in->size[i];
      out->stride[i] = reduced && !kept ? 1 : packed.stride[from];
      if (kept || !reduced)
        from++;
    }
}

gboolean
op_read_reduced (const AdjOpCall *call, AdjKType type, AdjKView *in, gpointer *memory)
{
  AdjKView raw;

  if (!op_input (call, 0, &raw))
    return FALSE;
  *in = raw;
  if (raw.type == type)
    return TRUE;
  *memory = op_temporary (op_queue (call), &raw, type, in);
  adj_q_copy (op_queue (call), in, &raw);
  return TRUE;
}

static gboolean
reduce (AdjOpCall *call, AdjKReduce kind)
{
  guint32 dims = op_reduced_dims (call);
  g_autofree gpointer memory = NULL;
  AdjKView in, out;
  gboolean cast = adj_schema_find_argument (call->schema, "dtype") >= 0;

  if (!op_output (call, 0, &out) ||
      !(cast ? op_read_reduced (call, out.type, &in, &memory) : op_input (call, 0, &in)))
    return FALSE;
  op_put_dims_back (&in, dims, &out);
  adj_q_reduce (op_queue (call), kind, &out, &in, dims);
  return TRUE;
}

#define REDUCE(name, kind)                                                                         \
  static gboolean name (AdjOpCall *call) { return reduce (call, kind); }

REDUCE (sum_kernel, ADJ_K_SUM)
REDUCE (mean_kernel, ADJ_K_MEAN)
REDUCE (max_kernel, ADJ_K_MAX)
REDUCE (min_kernel, ADJ_K_MIN)

static gboolean
prod_kernel (AdjOpCall *call)
{
  return op_is_complex (call->results[0].meta.dtype) ? op_prod_parts (call)
                                                     : reduce (call, ADJ_K_PROD);
}

/* 1 where an element is not 0, in @memory. */
static gboolean
read_marks (const AdjOpCall *call, AdjKView *marks, gpointer *memory)
{
  OpParts parts;
  AdjKView in;

  if (op_is_complex (op_self_dtype (call)))
    {
      if (!op_input_parts (call, 0, &parts))
        return FALSE;
      *memory = op_temporary (op_queue (call), &parts.re, ADJ_K_BOOL, marks);
      op_mark_parts (call, marks, &parts);
      return TRUE;
    }
  if (!op_input (call, 0, &in))
    return FALSE;
  *memory = op_temporary (op_queue (call), &in, ADJ_K_BOOL, marks);
  adj_q_copy (op_queue (call), marks, &in);
  return TRUE;
}

static gboolean
reduce_marks (AdjOpCall *call, AdjKReduce kind)
{
  guint32 dims = op_reduced_dims (call);
  g_autofree gpointer memory = NULL;
  AdjKView marks, out;

  if (!read_marks (call, &marks, &memory) || !op_output (call, 0, &out))
    return FALSE;
  op_put_dims_back (&marks, dims, &out);
  adj_q_reduce (op_queue (call), kind, &out, &marks, dims);
  return TRUE;
}

static gboolean
count_kernel (AdjOpCall *call)
{
  return reduce_marks (call, ADJ_K_SUM);
}

static gboolean
any_kernel (AdjOpCall *call)
{
  return op_is_complex (op_self_dtype (call)) ? reduce_marks (call, ADJ_K_ANY)
                                              : reduce (call, ADJ_K_ANY);
}

static gboolean
all_kernel (AdjOpCall *call)
{
  return op_is_complex (op_self_dtype (call)) ? reduce_marks (call, ADJ_K_ALL)
                                              : reduce (call, ADJ_K_ALL);
}

static gboolean
aminmax_kernel (AdjOpCall *call)
{
  guint32 dims = op_reduced_dims (call);
  AdjKView in, least, most;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &least) || !op_output (call, 1, &most))
    return FALSE;
  op_put_dims_back (&in, dims, &least);
  op_put_dims_back (&in, dims, &most);
  adj_q_reduce (op_queue (call), ADJ_K_MIN, &least, &in, dims);
  adj_q_reduce (op_queue (call), ADJ_K_MAX, &most, &in, dims);
  return TRUE;
}

/* -- positions -- */

typedef void (*ExtremeKernel) (
    AdjKQueue *, const AdjKView *, const AdjKView *, const AdjKView *, int);

static gboolean
extreme_dim (AdjOpCall *call, ExtremeKernel kernel)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView in, values, indices;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &values) || !op_output (call, 1, &indices))
    return FALSE;
  op_put_dims_back (&in, 1u << dim, &values);
  op_put_dims_back (&in, 1u << dim, &indices);
  kernel (op_queue (call), &values, &indices, &in, in.rank > 0 ? (int) dim : -1);
  return TRUE;
}

static gboolean
arg_extreme (AdjOpCall *call, ExtremeKernel kernel)
{
  gboolean all = call->args[1].kind == ADJ_VALUE_NONE;
  guint dim = all ? 0 : op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView in, indices;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &indices))
    return FALSE;
  op_put_dims_back (&in, all ? G_MAXUINT32 : 1u << dim, &indices);
  kernel (op_queue (call), NULL, &indices, &in, all || in.rank == 0 ? -1 : (int) dim);
  return TRUE;
}

static gboolean
max_dim_kernel (AdjOpCall *call)
{
  return extreme_dim (call, adj_q_max_dim);
}

static gboolean
min_dim_kernel (AdjOpCall *call)
{
  return extreme_dim (call, adj_q_min_dim);
}

static gboolean
argmax_kernel (AdjOpCall *call)
{
  return arg_extreme (call, adj_q_max_dim);
}

static gboolean
argmin_kernel (AdjOpCall *call)
{
  return arg_extreme (call, adj_q_min_dim);
}

/* -- scans -- */

static gboolean
scan (AdjOpCall *call, void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, int))
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  g_autofree gpointer memory = NULL;
  AdjKView in, out;

  if (!op_output (call, 0, &out) || !op_read_reduced (call, out.type, &in, &memory))
    return FALSE;
  if (in.rank == 0)
    adj_q_copy (op_queue (call), &out, &in);
  else
    kernel (op_queue (call), &out, &in, (int) dim);
  return TRUE;
}

static gboolean
cumsum_kernel (AdjOpCall *call)
{
  return scan (call, adj_q_cumsum);
}

static gboolean
cumprod_kernel (AdjOpCall *call)
{
  return op_is_complex (call->results[0].meta.dtype) ? op_cumprod_parts (call)
                                                     : scan (call, adj_q_cumprod);
}

/* -- costs -- */

double
op_reduce_reduction (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape) /
         MAX (op_count (call, &call->results[0].meta.shape), 1);
}

static double
scan_reduction (const AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  gint64 n = 1;

  if (self->rank > 0)
    adj_size_get_hint (op_symbols (call), self->size[op_dim (call, 1, self->rank)], &n);
  return (double) n;
}

double
op_reduce_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/reduce.inc"
};

const OpFamily adj_family_reduce = { ops, G_N_ELEMENTS (ops) };
