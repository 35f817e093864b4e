/* SPDX-License-Identifier: MIT */
/* Reductions in several steps: variances, norms, sums of exponentials. */

#include <math.h>

#include "ops/parts-private.h"
#include "ops/reduce-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

/* A real result, of real or complex numbers. */
static gboolean
real_meta (AdjOpCall *call)
{
  AdjDType dtype = op_reduced_dtype (call, op_self_dtype (call));

  if (!adj_dtype_is_differentiable (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  return op_add_reduced (call, adj_dtype_get_real (dtype));
}

static gboolean
var_mean_meta (AdjOpCall *call)
{
  return real_meta (call) && op_reduce_float_meta (call);
}

static gboolean
logsumexp_meta (AdjOpCall *call)
{
  AdjDType dtype = op_self_dtype (call);

  if (!adj_dtype_is_differentiable (dtype))
    dtype = adj_context_get_default_dtype (call->cx);
  return op_add_reduced (call, dtype);
}

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

/* -- variance -- */

/* For real numbers, or for the current part of complex ones. */
static gboolean
variance_of_part (AdjOpCall *call, gboolean with_mean, const AdjKView *var)
{
  guint32 dims = op_reduced_dims (call);
  double correction = adj_op_call_double (call, adj_op_call_find (call, "correction"), 1);
  AdjKView in, mean, out = *var;

  if (!op_input (call, 0, &in) || (with_mean && !op_output (call, 1, &mean)))
    return FALSE;
  op_put_dims_back (&in, dims, &out);
  if (with_mean)
    op_put_dims_back (&in, dims, &mean);
  adj_q_var_mean (op_queue (call), &out, with_mean ? &mean : NULL, &in, dims, correction);
  return TRUE;
}

/* The variance of complex numbers is the sum of those of both parts. */
static gboolean
variance (AdjOpCall *call, gboolean with_mean, AdjKView *var)
{
  g_autofree gpointer memory = NULL;
  AdjKView second;
  gboolean done;

  if (!op_output (call, 0, var))
    return FALSE;
  if (adj_dtype_get_real (op_self_dtype (call)) == op_self_dtype (call))
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

/* @to = @x with NaN replaced by 0. */
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
  guint32 dims = op_reduced_dims (call);
  g_autofree gpointer cast = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, numbers;

  if (!op_output (call, 0, &out) || !op_read_reduced (call, out.type, &in, &cast))
    return FALSE;
  op_put_dims_back (&in, dims, &out);
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

/* Replaces infinities in x by 0, for doubles. */
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

#define LOAD(k)                                                                                    \
  {                                                                                                \
    .op = ADJ_K_OP_LOAD, .dst = k, .imm.i = k                                                      \
  }

/* The same for complex numbers, with m from their real parts. */
static gboolean
logsumexp_of_parts (AdjOpCall *call)
{
  static const AdjKCode exp_re[] = { LOAD (0),
                                     LOAD (1),
                                     LOAD (2),
                                     { .op = ADJ_K_OP_SUB, .dst = 0, .a = 0, .b = 2 },
                                     { .op = ADJ_K_OP_EXP, .dst = 0, .a = 0 },
                                     { .op = ADJ_K_OP_COS, .dst = 1, .a = 1 },
                                     { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 } };
  static const AdjKCode exp_im[] = { LOAD (0),
                                     LOAD (1),
                                     LOAD (2),
                                     { .op = ADJ_K_OP_SUB, .dst = 0, .a = 0, .b = 2 },
                                     { .op = ADJ_K_OP_EXP, .dst = 0, .a = 0 },
                                     { .op = ADJ_K_OP_SIN, .dst = 1, .a = 1 },
                                     { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 } };
  static const AdjKCode log_re[] = { LOAD (0),
                                     LOAD (1),
                                     LOAD (2),
                                     { .op = ADJ_K_OP_HYPOT, .dst = 0, .a = 0, .b = 1 },
                                     { .op = ADJ_K_OP_LOG, .dst = 0, .a = 0 },
                                     { .op = ADJ_K_OP_ADD, .dst = 0, .a = 0, .b = 2 } };
  static const AdjKCode log_im[] = { LOAD (0),
                                     LOAD (1),
                                     { .op = ADJ_K_OP_ATAN2, .dst = 0, .a = 1, .b = 0 } };
  guint32 dims = op_reduced_dims (call);
  g_auto (OpPartsMemory) memory = { NULL };
  g_auto (OpPartsMemory) sum_memory = { NULL };
  g_autofree gpointer top_memory = NULL;
  OpParts x, out, e, sum, numbers[2];
  AdjKView top, spread;

  if (!op_input_parts (call, 0, &x) || !op_output_parts (call, 0, &out))
    return FALSE;
  op_put_dims_back (&x.re, dims, &out.re);
  op_put_dims_back (&x.re, dims, &out.im);
  top_memory = op_temporary (op_queue (call), &out.re, ADJ_K_F64, &top);
  if (adj_k_view_count (&x.re) > 0)
    adj_q_reduce (op_queue (call), ADJ_K_MAX, &top, &x.re, dims);
  clear_infinite (op_queue (call), &top);
  broadcast (&top, &x.re, &spread);
  memory = op_temporary_parts (call, &x.re, ADJ_K_F64, &e);
  sum_memory = op_temporary_parts (call, &out.re, ADJ_K_F64, &sum);
  numbers[0] = x;
  numbers[1] = (OpParts){ spread, spread };
  op_apply_parts (call, &e.re, numbers, 2, exp_re, G_N_ELEMENTS (exp_re));
  op_apply_parts (call, &e.im, numbers, 2, exp_im, G_N_ELEMENTS (exp_im));
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &sum.re, &e.re, dims);
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &sum.im, &e.im, dims);
  numbers[0] = sum;
  numbers[1] = (OpParts){ top, top };
  op_apply_parts (call, &out.re, numbers, 2, log_re, G_N_ELEMENTS (log_re));
  op_apply_parts (call, &out.im, numbers, 2, log_im, G_N_ELEMENTS (log_im));
  return TRUE;
}

#undef LOAD

/* m = max (x), 0 where it is infinite; log Σ e^(x - m) + m. */
static gboolean
logsumexp_kernel (AdjOpCall *call)
{
  guint32 dims = op_reduced_dims (call);
  AdjKType type;
  g_autofree gpointer cast = NULL;
  g_autofree gpointer top_memory = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, top, spread, shifted;

  if (op_is_complex (op_self_dtype (call)))
    return logsumexp_of_parts (call);
  if (!op_output (call, 0, &out))
    return FALSE;
  type = out.type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32;
  if (!op_read_reduced (call, type, &in, &cast))
    return FALSE;
  op_put_dims_back (&in, dims, &out);
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
  if (isinf (adj_op_call_double (call, 1, 2)) && !op_check_reducible (call))
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
  guint32 dims = op_reduced_dims (call);
  double p = adj_op_call_double (call, 1, 2);
  g_autofree gpointer cast = NULL;
  g_autofree gpointer memory = NULL;
  AdjKView in, out, magnitudes;

  gboolean is_complex = adj_dtype_get_real (op_self_dtype (call)) != op_self_dtype (call);

  if (!op_output (call, 0, &out) || !(is_complex ? read_magnitudes (call, out.type, &in, &cast)
                                                 : op_read_reduced (call, out.type, &in, &cast)))
    return FALSE;
  op_put_dims_back (&in, dims, &out);
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

/* -- costs -- */

static double
norm_flops (const AdjOpCall *call)
{
  return 2 * op_reduce_flops (call);
}

static double
var_flops (const AdjOpCall *call)
{
  return 4 * op_reduce_flops (call);
}

static double
logsumexp_flops (const AdjOpCall *call)
{
  return (ADJ_FLOPS_TRANSCENDENTAL + 3) * op_reduce_flops (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/reduce-steps.inc"
};

const OpFamily adj_family_reduce_steps = { ops, G_N_ELEMENTS (ops) };
