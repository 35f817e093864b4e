/* SPDX-License-Identifier: MIT */
/* Complex numbers: views of their parts, conjugates, and those made of two real numbers. */

#include <string.h>

#include "ops/adj-release-facts.h"
#include "ops/parts-private.h"
#include "ops/table-private.h"
#include "tensor/adj-shape-internal.h"

/* -- views of parts -- */

static AdjDType
complex_of (AdjDType real)
{
  if (real == ADJ_DTYPE_F16)
    return ADJ_DTYPE_C32;
  if (real == ADJ_DTYPE_F32)
    return ADJ_DTYPE_C64;
  return real == ADJ_DTYPE_F64 ? ADJ_DTYPE_C128 : ADJ_DTYPE_NONE;
}

static gboolean
fail_dtype (const AdjOpCall *call, guint arg, const char *wanted)
{
  return adj_op_call_fail (call, "argument '%s' must be %s, not %s",
                           call->schema->arguments[arg].name, wanted,
                           adj_dtype_info (adj_op_call_meta (call, arg)->dtype)->torch_name);
}

static gboolean
view_as_real_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = self->shape;

  if (!op_is_complex (self->dtype))
    return fail_dtype (call, 0, "complex");
  if (self->conjugate)
    return adj_op_call_fail (call, "does not work on unresolved conjugated complex tensors; use "
                                   "resolve_conj() first");
  if (shape.rank == ADJ_MAX_RANK)
    return adj_op_call_fail_as (call, ADJ_ERROR_LIMIT, "would have too many dimensions");
  for (guint i = 0; i < shape.rank; i++)
    shape.stride[i] = adj_size_mul (symbols, shape.stride[i], ADJ_SIZE (2));
  shape.offset = adj_size_mul (symbols, shape.offset, ADJ_SIZE (2));
  shape.size[shape.rank] = ADJ_SIZE (2);
  shape.stride[shape.rank++] = ADJ_SIZE (1);
  adj_op_call_add_view (call, 0, &shape)->meta.dtype = adj_dtype_get_real (self->dtype);
  return TRUE;
}

/* Every number is even, or the call fails. */
static gboolean
halve (const AdjOpCall *call, AdjSize *number)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize half = adj_size_floordiv (symbols, *number, ADJ_SIZE (2));

  if (!adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, half, ADJ_SIZE (2)), *number))
    return adj_op_call_fail (call, "strides and offset must be even but for the last dimension");
  *number = half;
  return TRUE;
}

static gboolean
view_as_complex_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = self->shape;

  if (complex_of (self->dtype) == ADJ_DTYPE_NONE)
    return fail_dtype (call, 0, "float16, float32 or float64");
  if (shape.rank == 0 || !adj_size_is (symbols, shape.size[shape.rank - 1], 2) ||
      !adj_size_is (symbols, shape.stride[shape.rank - 1], 1))
    return adj_op_call_fail (call, "the last dimension must be dense and of size 2");
  shape.rank--;
  for (guint i = 0; i < shape.rank; i++)
    if (!halve (call, &shape.stride[i]))
      return FALSE;
  if (!halve (call, &shape.offset))
    return FALSE;
  adj_op_call_add_view (call, 0, &shape)->meta.dtype = complex_of (self->dtype);
  return TRUE;
}

/* -- conjugates --
 *
 * In PyTorch a tensor that shows another's elements conjugate, of which operators that do not know
 * it make a copy.  Here it has memory of its own; that it is one is still noted, so that these
 * copies are made where PyTorch's traces have them (autograd/record.c). */

/* Whether elements share memory only because sizes of 1 were expanded. */
static gboolean
is_expanded (const AdjOpCall *call, const AdjShape *shape)
{
  AdjShape rest = *shape;

  for (guint i = 0; i < rest.rank; i++)
    if (adj_size_is (op_symbols (call), rest.stride[i], 0))
      rest.size[i] = ADJ_SIZE (1);
  return !adj_shape_may_overlap (&rest, op_symbols (call));
}

/* Of what was expanded each number is computed once. */
static void
keep_one (AdjKView *in, AdjKView *out)
{
  for (gint i = 0; i < out->rank; i++)
    if (out->stride[i] == 0)
      in->size[i] = out->size[i] = 1;
}

static gboolean
conj_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self;
  AdjShape shape;

  if (call->args[0].kind == ADJ_VALUE_COMPLEX)
    return op_add_contiguous (call, ADJ_DTYPE_C128, 0, NULL) != NULL;
  self = adj_op_call_meta (call, 0);
  shape = self->shape;
  if (!op_is_complex (self->dtype))
    return fail_dtype (call, 0, "complex");
  if (adj_shape_may_overlap (&shape, op_symbols (call)) && !is_expanded (call, &shape))
    adj_shape_init (&shape, op_symbols (call), shape.rank, shape.size);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape)->meta.conjugate = !self->conjugate;
  return TRUE;
}

/* out = -in, of one part. */
static void
negate (AdjKQueue *queue, const AdjKView *out, const AdjKView *in)
{
  static const AdjKCode code[] = { { .op = ADJ_K_OP_LOAD, .dst = 0 },
                                   { .op = ADJ_K_OP_NEG, .dst = 1, .a = 0 } };
  AdjKProgram program = { .n_inputs = 1, .n_regs = 2, .n_code = 2, .code = code, .result = 1 };

  program.klass = out->type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;
  adj_q_pointwise (queue, &program, out, in);
}

/* Of a number that stands for a tensor. */
static gboolean
conjugate_number (AdjOpCall *call)
{
  OpParts out;

  if (!op_output_parts (call, 0, &out))
    return FALSE;
  adj_q_fill_f64 (op_queue (call), &out.re, call->args[0].items[0].number);
  adj_q_fill_f64 (op_queue (call), &out.im, -call->args[0].items[1].number);
  return TRUE;
}

static gboolean
conj_kernel (AdjOpCall *call)
{
  AdjKView re_in, re_out, im_in, im_out;
  gboolean done;

  if (call->args[0].kind == ADJ_VALUE_COMPLEX)
    return conjugate_number (call);

  call->part = ADJ_PART_REAL;
  done = op_input (call, 0, &re_in) && op_output (call, 0, &re_out);
  call->part = ADJ_PART_IMAGINARY;
  done = done && op_input (call, 0, &im_in) && op_output (call, 0, &im_out);
  call->part = ADJ_PART_NONE;
  if (!done)
    return FALSE;
  keep_one (&re_in, &re_out);
  keep_one (&im_in, &im_out);
  adj_q_copy (op_queue (call), &re_out, &re_in);
  negate (op_queue (call), &im_out, &im_in);
  return TRUE;
}

/* In the graphs that PyTorch traces. */
static void
conj_traced (AdjOpCall *call)
{
  if (!adj_op_release_has (call, ADJ_FACT_TRACED_AS_COMPUTED))
    op_contiguous_traced (call);
}

/* -- made of two real numbers -- */

static gboolean
complex_meta (AdjOpCall *call)
{
  const AdjShape *operands[] = { &adj_op_call_meta (call, 0)->shape,
                                 &adj_op_call_meta (call, 1)->shape };
  AdjDType dtype = adj_op_call_meta (call, 0)->dtype;
  GError *error = NULL;
  AdjShape shape;

  if (complex_of (dtype) == ADJ_DTYPE_NONE)
    return fail_dtype (call, 0, "float16, float32 or float64");
  if (adj_op_call_meta (call, 1)->dtype != dtype)
    return fail_dtype (call, 1, "of the dtype of the other");
  if (!adj_shape_pointwise (&shape, op_symbols (call), operands, 2, &error))
    return adj_op_call_fail_with (call, error);
  adj_op_call_add (call, complex_of (dtype), &shape);
  return TRUE;
}

static gboolean
complex_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &call->results[0].meta.shape;
  gboolean done = TRUE;

  for (guint i = 0; done && i < 2; i++)
    {
      AdjKView in, out;
      double number;

      done = op_input_as (call, i, shape, &in, &number);
      call->part = i == 0 ? ADJ_PART_REAL : ADJ_PART_IMAGINARY;
      done = done && op_output (call, 0, &out);
      call->part = ADJ_PART_NONE;
      if (done)
        adj_q_copy (op_queue (call), &out, &in);
    }
  return done;
}

static gboolean
polar_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &call->results[0].meta.shape;
  gboolean done;
  AdjKView in[2], out;
  double number;

  done = op_input_as (call, 0, shape, &in[0], &number) &&
         op_input_as (call, 1, shape, &in[1], &number);
  for (guint i = 0; done && i < 2; i++)
    {
      const AdjKCode code[] = {
        { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
        { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
        { .op = i == 0 ? ADJ_K_OP_COS : ADJ_K_OP_SIN, .dst = 2, .a = 1 },
        { .op = ADJ_K_OP_MUL, .dst = 3, .a = 0, .b = 2 },
      };
      AdjKProgram program = { .n_inputs = 2, .n_regs = 4, .n_code = 4, .code = code, .result = 3 };

      call->part = i == 0 ? ADJ_PART_REAL : ADJ_PART_IMAGINARY;
      done = op_output (call, 0, &out);
      call->part = ADJ_PART_NONE;
      program.klass = in[0].type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;
      if (done)
        adj_q_pointwise (op_queue (call), &program, &out, in);
    }
  return done;
}

static gboolean
angle_meta (AdjOpCall *call)
{
  if (!op_is_complex (adj_op_call_meta (call, 0)->dtype))
    return adj_pointwise_meta (call);
  op_add_contiguous (call, adj_dtype_get_real (adj_op_call_meta (call, 0)->dtype),
                     adj_op_call_meta (call, 0)->shape.rank,
                     adj_op_call_meta (call, 0)->shape.size);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/complex.inc"
};

const OpFamily adj_family_complex = { ops, G_N_ELEMENTS (ops) };
