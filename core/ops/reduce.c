/* SPDX-License-Identifier: MIT */
/* Reductions: sums, means, extremes, norms and tests over dimensions. */

#include <math.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* Reductions: dimensions removed, or kept with size 1; the result is contiguous.
 *
 * Arguments are found by name: dim (a number, a list, or absent: all), keepdim, dtype. */

static gint
find_option (const AdjOpCall *call, const char *name)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, name))
      return (gint) i;
  return -1;
}

/* An empty list means all dimensions, but none to any.dims and all.dims. */
static guint32
reduced_dims (const AdjOpCall *call)
{
  guint rank = adj_op_call_meta (call, 0)->shape.rank;
  gint arg = find_option (call, "dim");

  if (arg >= 0 && adj_value_is_container (&call->args[arg]) && call->args[arg].n == 0 &&
      g_str_equal (call->schema->overload, "dims"))
    return 0;
  return arg >= 0 ? adj_op_call_dims (call, (guint) arg, rank) : (1u << rank) - 1;
}

static gboolean
keeps_dims (const AdjOpCall *call)
{
  gint arg = find_option (call, "keepdim");

  return arg >= 0 && adj_op_call_bool (call, (guint) arg);
}

static AdjDType
option_dtype (const AdjOpCall *call, AdjDType if_none)
{
  gint arg = find_option (call, "dtype");

  return arg >= 0 ? adj_op_call_dtype (call, (guint) arg, if_none) : if_none;
}

static AdjDType
self_dtype (const AdjOpCall *call)
{
  return adj_op_call_meta (call, 0)->dtype;
}

/* -- shapes -- */

static gboolean
add_reduced (AdjOpCall *call, AdjDType dtype)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  guint32 dims = reduced_dims (call);
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

/* Integers and bool add up in int64. */
static gboolean
sum_meta (AdjOpCall *call)
{
  AdjDType dtype = self_dtype (call);

  if (adj_dtype_info (dtype)->category <= ADJ_CATEGORY_INTEGER)
    dtype = ADJ_DTYPE_I64;
  return add_reduced (call, option_dtype (call, dtype));
}

static gboolean
float_meta (AdjOpCall *call)
{
  AdjDType dtype = option_dtype (call, self_dtype (call));

  if (!adj_dtype_is_differentiable (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  return add_reduced (call, dtype);
}

/* Whether any reduced dimension has size 0: then there is no largest element. */
static gboolean
check_not_empty (const AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  guint32 dims = reduced_dims (call);

  for (guint i = 0; i < self->rank; i++)
    if ((dims & (1u << i)) != 0 && adj_size_is (op_symbols (call), self->size[i], 0))
      return adj_op_call_fail (call, "dimension %u has no elements", i);
  return TRUE;
}

static gboolean
extreme_meta (AdjOpCall *call)
{
  return check_not_empty (call) && add_reduced (call, self_dtype (call));
}

static gboolean
extreme_dim_meta (AdjOpCall *call)
{
  return extreme_meta (call) && add_reduced (call, ADJ_DTYPE_I64);
}

static gboolean
aminmax_meta (AdjOpCall *call)
{
  return extreme_meta (call) && add_reduced (call, self_dtype (call));
}

static gboolean
arg_extreme_meta (AdjOpCall *call)
{
  return check_not_empty (call) && add_reduced (call, ADJ_DTYPE_I64);
}

static gboolean
count_meta (AdjOpCall *call)
{
  return add_reduced (call, ADJ_DTYPE_I64);
}

/* uint8 stays, as ever. */
static gboolean
truth_meta (AdjOpCall *call)
{
  return add_reduced (call, self_dtype (call) == ADJ_DTYPE_U8 ? ADJ_DTYPE_U8 : ADJ_DTYPE_BOOL);
}

/* A real number of real or complex ones. */
static gboolean
real_meta (AdjOpCall *call)
{
  AdjDType dtype = option_dtype (call, self_dtype (call));

  if (!adj_dtype_is_differentiable (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  return add_reduced (call, adj_dtype_get_real (dtype));
}

static gboolean
var_mean_meta (AdjOpCall *call)
{
  return real_meta (call) && float_meta (call);
}

static gboolean
scan_meta (AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjDType dtype = self_dtype (call);

  op_dim (call, 1, self->rank);
  if (adj_dtype_info (dtype)->category <= ADJ_CATEGORY_INTEGER)
    dtype = ADJ_DTYPE_I64;
  op_add_contiguous (call, option_dtype (call, dtype), self->rank, self->size);
  return TRUE;
}

static gboolean
logsumexp_meta (AdjOpCall *call)
{
  AdjDType dtype = self_dtype (call);

  if (!adj_dtype_is_floating (dtype))
    dtype = adj_context_get_default_dtype (call->cx);
  return add_reduced (call, dtype);
}

/* -- views -- */

/* @out as the kernels want it: the rank of @in, size 1 in the reduced dimensions. */
static void
put_dims_back (const AdjKView *in, guint32 dims, AdjKView *out)
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

/* Input, cast first when the result has another dtype than the kernel would sum in. */
static gboolean
read_input (const AdjOpCall *call, AdjKType type, AdjKView *in, gpointer *memory)
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
  guint32 dims = reduced_dims (call);
  g_autofree gpointer memory = NULL;
  AdjKView in, out;
  gboolean cast = find_option (call, "dtype") >= 0;

  if (!op_output (call, 0, &out) ||
      !(cast ? read_input (call, out.type, &in, &memory) : op_input (call, 0, &in)))
    return FALSE;
  put_dims_back (&in, dims, &out);
  adj_q_reduce (op_queue (call), kind, &out, &in, dims);
  return TRUE;
}

#define REDUCE(name, kind)                                                                         \
  static gboolean name (AdjOpCall *call) { return reduce (call, kind); }

REDUCE (sum_kernel, ADJ_K_SUM)
REDUCE (mean_kernel, ADJ_K_MEAN)
REDUCE (prod_kernel, ADJ_K_PROD)
REDUCE (max_kernel, ADJ_K_MAX)
REDUCE (min_kernel, ADJ_K_MIN)

/* The sum of what is 1 where an element is not 0. */
static gboolean
count_kernel (AdjOpCall *call)
{
  guint32 dims = reduced_dims (call);
  g_autofree gpointer memory = NULL;
  AdjKView in, out, set;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  memory = op_temporary (op_queue (call), &in, ADJ_K_BOOL, &set);
  adj_q_copy (op_queue (call), &set, &in);
  put_dims_back (&set, dims, &out);
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &out, &set, dims);
  return TRUE;
}

static gboolean
aminmax_kernel (AdjOpCall *call)
{
  guint32 dims = reduced_dims (call);
  AdjKView in, least, most;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &least) || !op_output (call, 1, &most))
    return FALSE;
  put_dims_back (&in, dims, &least);
  put_dims_back (&in, dims, &most);
  adj_q_reduce (op_queue (call), ADJ_K_MIN, &least, &in, dims);
  adj_q_reduce (op_queue (call), ADJ_K_MAX, &most, &in, dims);
  return TRUE;
}

REDUCE (any_kernel, ADJ_K_ANY)
REDUCE (all_kernel, ADJ_K_ALL)

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
  put_dims_back (&in, 1u << dim, &values);
  put_dims_back (&in, 1u << dim, &indices);
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
  put_dims_back (&in, all ? G_MAXUINT32 : 1u << dim, &indices);
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

/* -- variance -- */

/* -- small programs over views -- */

static AdjKClass
class_of (AdjKType type)
{
  return type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;
}

/* out = op (a), or op (a, b). */
static void
apply (AdjKQueue *queue, AdjKOp op, const AdjKView *out, const AdjKView *a, const AdjKView *b)
{
  const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = op, .dst = 0, .a = 0, .b = 1 },
  };
  const AdjKProgram program = {
    .klass = class_of (out->type),
    .n_inputs = 2,
    .n_regs = 2,
    .n_code = G_N_ELEMENTS (code),
    .code = code,
  };
  AdjKView inputs[2] = { *a, b != NULL ? *b : *a };

  adj_q_pointwise (queue, &program, out, inputs);
}

/* Of real numbers, or of the part of complex ones that is looked at. */
static gboolean
variance_of_part (AdjOpCall *call, gboolean with_mean, const AdjKView *var)
{
  guint32 dims = reduced_dims (call);
  double correction = adj_op_call_double (call, adj_op_call_find (call, "correction"), 1);
  AdjKView in, mean, out = *var;

  if (!op_input (call, 0, &in) || (with_mean && !op_output (call, 1, &mean)))
    return FALSE;
  put_dims_back (&in, dims, &out);
  if (with_mean)
    put_dims_back (&in, dims, &mean);
  adj_q_var_mean (op_queue (call), &out, with_mean ? &mean : NULL, &in, dims, correction);
  return TRUE;
}

/* The variance of complex numbers is that of both parts. */
static gboolean
variance (AdjOpCall *call, gboolean with_mean, AdjKView *var)
{
  g_autofree gpointer memory = NULL;
  AdjKView second;
  gboolean done;

  if (!op_output (call, 0, var))
    return FALSE;
  if (adj_dtype_get_real (self_dtype (call)) == self_dtype (call))
    return variance_of_part (call, with_mean, var);
  memory = op_temporary (op_queue (call), var, var->type, &second);
  call->part = ADJ_PART_REAL;
  done = variance_of_part (call, with_mean, var);
  call->part = ADJ_PART_IMAGINARY;
  done = done && variance_of_part (call, with_mean, &second);
  call->part = ADJ_PART_NONE;
  if (done)
    apply (op_queue (call), ADJ_K_OP_ADD, var, var, &second);
  return done;
}

static gboolean
var_kernel (AdjOpCall *call)
{
  AdjKView var;

  return variance (call, FALSE, &var);
}

static gboolean
var_mean_kernel (AdjOpCall *call)
{
  AdjKView var;

  return variance (call, TRUE, &var);
}

static void
broadcast (const AdjKView *reduced, const AdjKView *like, AdjKView *out)
{
  *out = *reduced;
  for (gint i = 0; i < like->rank; i++)
    {
      if (reduced->size[i] == 1)
        out->stride[i] = 0;
      out->size[i] = like->size[i];
    }
}

static void
broadcast_number (AdjKQueue *queue, double *number, const AdjKView *like, AdjKView *out)
{
  *out = *like;
  out->data = (gpointer) op_constant (queue, number, sizeof *number);
  out->type = ADJ_K_F64;
  for (gint i = 0; i < like->rank; i++)
    out->stride[i] = 0;
}

static gboolean
std_kernel (AdjOpCall *call)
{
  AdjKView var;

  if (!variance (call, FALSE, &var))
    return FALSE;
  apply (op_queue (call), ADJ_K_OP_SQRT, &var, &var, NULL);
  return TRUE;
}

static gboolean
std_mean_kernel (AdjOpCall *call)
{
  AdjKView var;

  if (!variance (call, TRUE, &var))
    return FALSE;
  apply (op_queue (call), ADJ_K_OP_SQRT, &var, &var, NULL);
  return TRUE;
}

/* @to = @x, 0 where it is no number. */
static void
clear_missing (AdjKQueue *queue, const AdjKView *to, const AdjKView *x)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_ISNAN, .dst = 1, .a = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 2, .imm.f = 0 },
    { .op = ADJ_K_OP_SELECT, .dst = 0, .a = 1, .b = 2, .c = 0 },
  };
  const AdjKProgram program = {
    .klass = class_of (to->type),
    .n_inputs = 1,
    .n_regs = 3,
    .n_code = G_N_ELEMENTS (code),
    .code = code,
  };

  adj_q_pointwise (queue, &program, to, x);
}

static gboolean
nansum_kernel (AdjOpCall *call)
{
  guint32 dims = reduced_dims (call);
  g_autofree gpointer cast = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, numbers;

  if (!op_output (call, 0, &out) || !read_input (call, out.type, &in, &cast))
    return FALSE;
  put_dims_back (&in, dims, &out);
  numbers = in;
  if (adj_k_type_is_float (in.type))
    {
      memory = op_temporary (op_queue (call), &in, in.type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32,
                             &numbers);
      clear_missing (op_queue (call), &numbers, &in);
    }
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &out, &numbers, dims);
  return TRUE;
}

/* x = 0 where it is infinite, of doubles. */
static void
clear_infinite (AdjKQueue *queue, const AdjKView *x)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_ISINF, .dst = 1, .a = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 2, .imm.f = 0 },
    { .op = ADJ_K_OP_SELECT, .dst = 0, .a = 1, .b = 2, .c = 0 },
  };
  const AdjKProgram program = {
    .klass = ADJ_K_CLASS_F64,
    .n_inputs = 1,
    .n_regs = 3,
    .n_code = G_N_ELEMENTS (code),
    .code = code,
  };

  adj_q_pointwise (queue, &program, x, x);
}

/* m = max (x), 0 where it is infinite; log Σ e^(x - m) + m. */
static gboolean
logsumexp_kernel (AdjOpCall *call)
{
  guint32 dims = reduced_dims (call);
  AdjKType type;
  g_autofree gpointer cast = NULL;
  g_autofree gpointer top_memory = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, top, spread, shifted;

  if (!op_output (call, 0, &out))
    return FALSE;
  type = out.type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32;
  if (!read_input (call, type, &in, &cast))
    return FALSE;
  put_dims_back (&in, dims, &out);
  top_memory = op_temporary (op_queue (call), &out, ADJ_K_F64, &top);
  if (adj_k_view_count (&in) > 0)
    adj_q_reduce (op_queue (call), ADJ_K_MAX, &top, &in, dims);
  clear_infinite (op_queue (call), &top);
  memory = op_temporary (op_queue (call), &in, type, &shifted);
  broadcast (&top, &in, &spread);
  apply (op_queue (call), ADJ_K_OP_SUB, &shifted, &in, &spread);
  apply (op_queue (call), ADJ_K_OP_EXP, &shifted, &shifted, NULL);
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &out, &shifted, dims);
  apply (op_queue (call), ADJ_K_OP_LOG, &out, &out, NULL);
  apply (op_queue (call), ADJ_K_OP_ADD, &out, &out, &top);
  return TRUE;
}

/* (Σ |x|^p)^(1/p); p = ±inf the largest or smallest |x|, p = 0 the count of x != 0. */
static void
norm_of_magnitudes (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *magnitudes, guint32 dims, double p)
{
  double inverse = 1 / p, zero = 0;
  AdjKView number;

  if (isinf (p))
    {
      adj_q_reduce (queue, p > 0 ? ADJ_K_MAX : ADJ_K_MIN, out, magnitudes, dims);
      return;
    }
  if (p == 0)
    {
      broadcast_number (queue, &zero, magnitudes, &number);
      apply (queue, ADJ_K_OP_NE, magnitudes, magnitudes, &number);
    }
  else if (p != 1)
    {
      broadcast_number (queue, &p, magnitudes, &number);
      apply (queue, ADJ_K_OP_POW, magnitudes, magnitudes, &number);
    }
  adj_q_reduce (queue, ADJ_K_SUM, out, magnitudes, dims);
  if (p != 0 && p != 1)
    {
      broadcast_number (queue, &inverse, out, &number);
      apply (queue, ADJ_K_OP_POW, out, out, &number);
    }
}

static gboolean
vector_norm_meta (AdjOpCall *call)
{
  if (isinf (adj_op_call_double (call, 1, 2)) && !check_not_empty (call))
    return FALSE;
  return real_meta (call);
}

/* Absolute values of complex numbers, in @memory as op_temporary() gives it. */
static gboolean
read_magnitudes (AdjOpCall *call, AdjKType type, AdjKView *out, gpointer *memory)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 0 },
    { .op = ADJ_K_OP_MUL, .dst = 1, .a = 1, .b = 1 },
    { .op = ADJ_K_OP_ADD, .dst = 0, .a = 0, .b = 1 },
    { .op = ADJ_K_OP_SQRT, .dst = 0, .a = 0 },
  };
  static const AdjKProgram program = { .klass = ADJ_K_CLASS_F64,
                                       .n_inputs = 2,
                                       .n_regs = 2,
                                       .n_code = G_N_ELEMENTS (code),
                                       .code = code };
  AdjKView parts[2];
  gboolean done;

  call->part = ADJ_PART_REAL;
  done = op_input (call, 0, &parts[0]);
  call->part = ADJ_PART_IMAGINARY;
  done = done && op_input (call, 0, &parts[1]);
  call->part = ADJ_PART_NONE;
  if (!done)
    return FALSE;
  *memory = op_temporary (op_queue (call), &parts[0], type, out);
  adj_q_pointwise (op_queue (call), &program, out, parts);
  return TRUE;
}

static gboolean
vector_norm_kernel (AdjOpCall *call)
{
  guint32 dims = reduced_dims (call);
  double p = adj_op_call_double (call, 1, 2);
  g_autofree gpointer cast = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, magnitudes;

  gboolean is_complex = adj_dtype_get_real (self_dtype (call)) != self_dtype (call);

  if (!op_output (call, 0, &out) || !(is_complex ? read_magnitudes (call, out.type, &in, &cast)
                                                 : read_input (call, out.type, &in, &cast)))
    return FALSE;
  put_dims_back (&in, dims, &out);
  if (p == 2)
    {
      adj_q_reduce (op_queue (call), ADJ_K_NORM2, &out, &in, dims);
      return TRUE;
    }
  memory = op_temporary (op_queue (call), &in, in.type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32,
                         &magnitudes);
  apply (op_queue (call), ADJ_K_OP_ABS, &magnitudes, &in, NULL);
  norm_of_magnitudes (op_queue (call), &out, &magnitudes, dims, p);
  return TRUE;
}

/* -- scans -- */

static gboolean
scan (AdjOpCall *call, void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, int))
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  g_autofree gpointer memory = NULL;
  AdjKView in, out;

  if (!op_output (call, 0, &out) || !read_input (call, out.type, &in, &memory))
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
  return scan (call, adj_q_cumprod);
}

/* -- costs -- */

static double
count (const AdjOpCall *call, const AdjShape *shape)
{
  gint64 n = 0;

  adj_size_get_hint (op_symbols (call), adj_shape_numel (shape, op_symbols (call)), &n);
  return (double) n;
}

static double
reduce_reduction (const AdjOpCall *call)
{
  return count (call, &adj_op_call_meta (call, 0)->shape) /
         MAX (count (call, &call->results[0].meta.shape), 1);
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

static double
reduce_flops (const AdjOpCall *call)
{
  return count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
norm_flops (const AdjOpCall *call)
{
  return 2 * reduce_flops (call);
}

static double
var_flops (const AdjOpCall *call)
{
  return 4 * reduce_flops (call);
}

static double
logsumexp_flops (const AdjOpCall *call)
{
  return (ADJ_FLOPS_TRANSCENDENTAL + 3) * reduce_flops (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/reduce.inc"
};

const OpFamily adj_family_reduce = { ops, G_N_ELEMENTS (ops) };
