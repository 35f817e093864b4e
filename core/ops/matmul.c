/* SPDX-License-Identifier: MIT */
/* Matrix products.  The kernel knows C = beta·D + alpha·A B with an optional batch dimension;
 * vectors get a dimension of size 1. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/parts-private.h"
#include "ops/product-private.h"
#include "ops/table-private.h"

static gboolean
fail_shapes (const AdjOpCall *call, const AdjShape *a, const AdjShape *b)
{
  g_autofree char *left = op_sizes_text (call, a);
  g_autofree char *right = op_sizes_text (call, b);

  return adj_op_call_fail (call, "shapes %s and %s do not multiply", left, right);
}

gboolean
op_product_meta (AdjOpCall *call, guint first, guint rank)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *a = adj_op_call_meta (call, first);
  const AdjTensorMeta *b = adj_op_call_meta (call, first + 1);
  AdjSize sizes[3];

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (a->shape.rank != rank || b->shape.rank != rank ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, a->shape.size[rank - 1], b->shape.size[rank - 2]) ||
      (rank == 3 && !adj_size_test (symbols, ADJ_SIZE_EQ, a->shape.size[0], b->shape.size[0])))
    return fail_shapes (call, &a->shape, &b->shape);
  if (a->dtype != b->dtype)
    return adj_op_call_fail (call, "dtypes %s and %s differ", adj_dtype_info (a->dtype)->torch_name,
                             adj_dtype_info (b->dtype)->torch_name);
  sizes[0] = a->shape.size[0];
  sizes[rank - 2] = a->shape.size[rank - 2];
  sizes[rank - 1] = b->shape.size[rank - 1];
  op_add_contiguous (call, a->dtype, rank, sizes);
  return TRUE;
}

static gboolean
mm_meta (AdjOpCall *call)
{
  return op_product_meta (call, 0, 2);
}

static gboolean
bmm_meta (AdjOpCall *call)
{
  return op_product_meta (call, 0, 3);
}

gboolean
op_add_product_meta (AdjOpCall *call, guint rank)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjShape spread;

  if (!op_product_meta (call, 1, rank))
    return FALSE;
  if (!adj_shape_expand (self, op_symbols (call), &call->results[0].meta.shape, &spread))
    {
      g_autofree char *a = op_sizes_text (call, self);
      g_autofree char *b = op_sizes_text (call, &call->results[0].meta.shape);

      return adj_op_call_fail (call, "shape %s does not broadcast to %s", a, b);
    }
  return TRUE;
}

static gboolean
addmm_meta (AdjOpCall *call)
{
  return op_add_product_meta (call, 2);
}

static gboolean
baddbmm_meta (AdjOpCall *call)
{
  return op_add_product_meta (call, 3);
}

static gboolean
mv_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0);
  const AdjTensorMeta *b = adj_op_call_meta (call, 1);

  if (a->shape.rank != 2 || b->shape.rank != 1 || a->dtype != b->dtype ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->shape.size[1], b->shape.size[0]))
    return fail_shapes (call, &a->shape, &b->shape);
  op_add_contiguous (call, a->dtype, 1, a->shape.size);
  return TRUE;
}

static gboolean
dot_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0);
  const AdjTensorMeta *b = adj_op_call_meta (call, 1);

  if (a->shape.rank != 1 || b->shape.rank != 1 || a->dtype != b->dtype ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->shape.size[0], b->shape.size[0]))
    return fail_shapes (call, &a->shape, &b->shape);
  op_add_contiguous (call, a->dtype, 0, NULL);
  return TRUE;
}

/* Checks that self broadcasts to the @rank sizes of the result. */
static gboolean
add_sum (AdjOpCall *call, guint rank, const AdjSize *sizes)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape spread;

  op_add_contiguous (call, adj_op_call_meta (call, 1)->dtype, rank, sizes);
  if (self->dtype != adj_op_call_meta (call, 1)->dtype ||
      self->dtype != adj_op_call_meta (call, 2)->dtype)
    return adj_op_call_fail (call, "the arguments have different dtypes");
  return adj_shape_expand (&self->shape, op_symbols (call), &call->results[0].meta.shape,
                           &spread) ||
         adj_op_call_fail (call, "self does not broadcast to the product");
}

static gboolean
addmv_meta (AdjOpCall *call)
{
  const AdjShape *a = &adj_op_call_meta (call, 1)->shape, *b = &adj_op_call_meta (call, 2)->shape;

  if (a->rank != 2 || b->rank != 1 ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->size[1], b->size[0]))
    return fail_shapes (call, a, b);
  return add_sum (call, 1, a->size);
}

/* Strides of a pointwise operator over self, a column and a row. */
static gboolean
lay_out_outer (AdjOpCall *call)
{
  AdjShape column = adj_op_call_meta (call, 1)->shape, shape;
  const AdjShape *operands[] = { &adj_op_call_meta (call, 0)->shape, &column,
                                 &adj_op_call_meta (call, 2)->shape };

  column.rank = 2;
  column.size[1] = column.stride[1] = ADJ_SIZE (1);
  if (adj_shape_pointwise (&shape, op_symbols (call), operands, 3, NULL))
    memcpy (call->results[0].meta.shape.stride, shape.stride, sizeof shape.stride);
  return TRUE;
}

static gboolean
addr_meta (AdjOpCall *call)
{
  const AdjShape *a = &adj_op_call_meta (call, 1)->shape, *b = &adj_op_call_meta (call, 2)->shape;

  if (a->rank != 1 || b->rank != 1)
    return fail_shapes (call, a, b);
  return add_sum (call, 2, (const AdjSize[]){ a->size[0], b->size[0] }) && lay_out_outer (call);
}

static gboolean
addbmm_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *a = &adj_op_call_meta (call, 1)->shape, *b = &adj_op_call_meta (call, 2)->shape;

  if (a->rank != 3 || b->rank != 3 ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, a->size[2], b->size[1]) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, a->size[0], b->size[0]))
    return fail_shapes (call, a, b);
  return add_sum (call, 2, (const AdjSize[]){ a->size[1], b->size[2] });
}

/* -- kernels -- */

static void
append_dim (AdjKView *view)
{
  view->size[view->rank] = 1;
  view->stride[view->rank] = 1;
  view->rank++;
}

static void
prepend_dim (AdjKView *view)
{
  for (gint i = view->rank; i > 0; i--)
    {
      view->size[i] = view->size[i - 1];
      view->stride[i] = view->stride[i - 1];
    }
  view->size[0] = 1;
  view->stride[0] = 1;
  view->rank++;
}

/* Makes vectors matrices. */
static void
make_matrices (AdjKGemm *gemm)
{
  if (gemm->a.rank == 1)
    prepend_dim (&gemm->a);
  if (gemm->b.rank == 1)
    append_dim (&gemm->b);
  while (gemm->c.rank < 2)
    append_dim (&gemm->c);
}

/* Parts of the operands, arguments @first and @first + 1, and of the result. */
static gboolean
view_operands (AdjOpCall *call, guint first, AdjPart a, AdjPart b, AdjPart c, AdjKGemm *gemm)
{
  gboolean done;

  call->part = a;
  done = op_input (call, first, &gemm->a);
  call->part = b;
  done = done && op_input (call, first + 1, &gemm->b);
  call->part = c;
  done = done && op_output (call, 0, &gemm->c);
  call->part = ADJ_PART_NONE;
  if (done)
    make_matrices (gemm);
  return done;
}

/* c = re · re - im · im, or re · im + im · re: the second product is added in temporary memory. */
static gboolean
multiply_part (AdjOpCall *call, guint first, AdjPart part)
{
  AdjPart other = part == ADJ_PART_REAL ? ADJ_PART_IMAGINARY : ADJ_PART_REAL;
  double sign = call->op == adj_op (ADJ_OP_vdot) ? -1 : 1;
  AdjKGemm gemm = { .alpha = 1 };
  g_autofree gpointer memory = NULL;
  AdjKView sum, out;

  if (!view_operands (call, first, ADJ_PART_REAL, part, part, &gemm))
    return FALSE;
  out = gemm.c;
  memory = op_temporary (op_queue (call), &out, out.type, &sum);
  gemm.c = sum;
  adj_q_gemm (op_queue (call), &gemm);
  if (!view_operands (call, first, ADJ_PART_IMAGINARY, other, part, &gemm))
    return FALSE;
  gemm.d = &sum;
  gemm.beta = 1;
  gemm.alpha = part == ADJ_PART_REAL ? -sign : sign;
  adj_q_gemm (op_queue (call), &gemm);
  return TRUE;
}

static gboolean
product_kernel (AdjOpCall *call)
{
  AdjKGemm gemm = { .alpha = 1 };

  if (op_is_complex (call->results[0].meta.dtype))
    return multiply_part (call, 0, ADJ_PART_REAL) && multiply_part (call, 0, ADJ_PART_IMAGINARY);
  if (!view_operands (call, 0, ADJ_PART_NONE, ADJ_PART_NONE, ADJ_PART_NONE, &gemm))
    return FALSE;
  adj_q_gemm (op_queue (call), &gemm);
  return TRUE;
}

/* Matrix @i of a batch. */
static AdjKView
matrix_of (const AdjKView *batch, gint64 i)
{
  AdjKView matrix = { .type = batch->type, .rank = 2 };

  matrix.data = (char *) batch->data +
                (gssize) (i * batch->stride[0]) * (gssize) adj_k_type_get_size (batch->type);
  for (gint d = 0; d < 2; d++)
    {
      matrix.size[d] = batch->size[d + 1];
      matrix.stride[d] = batch->stride[d + 1];
    }
  return matrix;
}

/* c = alpha a b + beta c: for two vectors and a matrix @c the outer product; for two batches and a
 * matrix @c the sum of products. */
static void
multiply_into (const AdjOpCall *call,
               const AdjKView *a,
               const AdjKView *b,
               const AdjKView *c,
               double alpha,
               double beta)
{
  AdjKGemm gemm = { .a = *a, .b = *b, .c = *c, .d = c, .alpha = alpha, .beta = beta };

  if (a->rank == 3 && c->rank == 2)
    {
      for (gint64 i = 0; i < a->size[0]; i++)
        {
          AdjKView left = matrix_of (a, i), right = matrix_of (b, i);

          multiply_into (call, &left, &right, c, alpha, i == 0 ? beta : 1);
        }
      return;
    }
  if (a->rank == 1 && c->rank == 2)
    {
      append_dim (&gemm.a);
      prepend_dim (&gemm.b);
    }
  make_matrices (&gemm);
  if (beta == 0)
    gemm.d = NULL;
  else
    gemm.d = &gemm.c;
  adj_q_gemm (op_queue (call), &gemm);
}

/* @out = Σ @factors[k] · part k, of self and of the product; self, which may have NaN, is ignored
 * if its factors are 0. */
static void
mix_parts (const AdjOpCall *call,
           const AdjKView *out,
           const OpParts *self_and_product,
           const double factors[4])
{
  AdjKCode code[4 * 4];
  guint n = 0, first = factors[0] == 0 && factors[1] == 0 ? 2 : 0;

  for (guint k = first; k < 4; k++)
    {
      code[n++] = (AdjKCode){ .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = k };
      code[n++] = (AdjKCode){ .op = ADJ_K_OP_CONST, .dst = 2, .imm.f = factors[k] };
      code[n++] = (AdjKCode){ .op = ADJ_K_OP_MUL, .dst = k == first ? 0 : 1, .a = 1, .b = 2 };
      if (k > first)
        code[n++] = (AdjKCode){ .op = ADJ_K_OP_ADD, .dst = 0, .a = 0, .b = 1 };
    }
  op_apply_parts (call, out, self_and_product, 2, code, n);
}

/* beta self + alpha A B of complex numbers. */
static gboolean
add_complex_product (AdjOpCall *call)
{
  g_auto (OpPartsMemory) memory = { NULL };
  OpParts both[2], a, b, out;
  double beta[2], alpha[2], number[2];

  op_number_parts (call, 3, 1, beta);
  op_number_parts (call, 4, 1, alpha);
  if (!op_input_parts_as (call, 0, &call->results[0].meta.shape, &both[0], number) ||
      !op_input_parts (call, 1, &a) || !op_input_parts (call, 2, &b) ||
      !op_output_parts (call, 0, &out))
    return FALSE;
  memory = op_temporary_parts (call, &out.re, out.re.type, &both[1]);
  multiply_into (call, &a.re, &b.re, &both[1].re, 1, 0);
  multiply_into (call, &a.im, &b.im, &both[1].re, -1, 1);
  multiply_into (call, &a.re, &b.im, &both[1].im, 1, 0);
  multiply_into (call, &a.im, &b.re, &both[1].im, 1, 1);
  mix_parts (call, &out.re, both, (const double[]){ beta[0], -beta[1], alpha[0], -alpha[1] });
  mix_parts (call, &out.im, both, (const double[]){ beta[1], beta[0], alpha[1], alpha[0] });
  return TRUE;
}

static gboolean
add_product_kernel (AdjOpCall *call)
{
  AdjKGemm gemm = { .alpha = 1 };
  AdjKView self;
  double number;

  if (op_is_complex (call->results[0].meta.dtype))
    return add_complex_product (call);
  gemm.beta = adj_op_call_double (call, 3, 1);
  gemm.alpha = adj_op_call_double (call, 4, 1);
  gemm.d = &self;
  if (!op_input_as (call, 0, &call->results[0].meta.shape, &self, &number) ||
      !view_operands (call, 1, ADJ_PART_NONE, ADJ_PART_NONE, ADJ_PART_NONE, &gemm))
    return FALSE;
  adj_q_gemm (op_queue (call), &gemm);
  return TRUE;
}

/* Vectors become columns, the last of two vectors a row. */
static gboolean
add_vector_kernel (AdjOpCall *call)
{
  AdjKGemm gemm = { .alpha = 1 };
  AdjKView self;
  double number;

  if (op_is_complex (call->results[0].meta.dtype))
    return add_complex_product (call);
  gemm.beta = adj_op_call_double (call, 3, 1);
  gemm.alpha = adj_op_call_double (call, 4, 1);
  if (!op_input_as (call, 0, &call->results[0].meta.shape, &self, &number) ||
      !op_input (call, 1, &gemm.a) || !op_input (call, 2, &gemm.b) || !op_output (call, 0, &gemm.c))
    return FALSE;
  if (gemm.a.rank == 1)
    {
      append_dim (&gemm.a);
      prepend_dim (&gemm.b);
    }
  else
    {
      append_dim (&gemm.b);
      append_dim (&self);
      append_dim (&gemm.c);
    }
  gemm.d = &self;
  adj_q_gemm (op_queue (call), &gemm);
  return TRUE;
}

/* One product after the other, each added to what came before. */
static gboolean
addbmm_kernel (AdjOpCall *call)
{
  double beta, number;
  AdjKView self, batch1, batch2, out;

  if (op_is_complex (call->results[0].meta.dtype))
    return add_complex_product (call);
  beta = adj_op_call_double (call, 3, 1);
  if (!op_input_as (call, 0, &call->results[0].meta.shape, &self, &number) ||
      !op_input (call, 1, &batch1) || !op_input (call, 2, &batch2) || !op_output (call, 0, &out))
    return FALSE;
  for (gint64 i = 0; i < MAX (batch1.size[0], 1); i++)
    {
      AdjKGemm gemm = { .a = matrix_of (&batch1, i), .b = matrix_of (&batch2, i), .c = out };

      gemm.alpha = batch1.size[0] > 0 ? adj_op_call_double (call, 4, 1) : 0;
      if (batch1.size[0] == 0)
        gemm.a.size[1] = gemm.b.size[0] = 0;
      gemm.beta = i == 0 ? beta : 1;
      gemm.d = i == 0 ? &self : &out;
      adj_q_gemm (op_queue (call), &gemm);
    }
  return TRUE;
}

/* -- costs -- */

double
op_product_reduction (const AdjOpCall *call, guint first)
{
  const AdjShape *a = &adj_op_call_meta (call, first)->shape;
  gint64 k = 1;

  if (a->rank > 0)
    adj_size_get_hint (op_symbols (call), a->size[a->rank - 1], &k);
  return (double) k;
}

double
op_product_flops (const AdjOpCall *call, guint first)
{
  return 2 * op_count (call, &call->results[0].meta.shape) * op_product_reduction (call, first);
}

/* With a third argument the first one is a summand. */
static guint
first_factor (const AdjOpCall *call)
{
  return call->schema->n_arguments > 2 ? 1 : 0;
}

static double
product_reduction (const AdjOpCall *call)
{
  return op_product_reduction (call, first_factor (call));
}

static double
addbmm_reduction (const AdjOpCall *call)
{
  gint64 n = 1;

  adj_size_get_hint (op_symbols (call), adj_op_call_meta (call, 1)->shape.size[0], &n);
  return product_reduction (call) * (double) n;
}

static double
product_flops (const AdjOpCall *call)
{
  return op_product_flops (call, first_factor (call));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/matmul.inc"
};

const OpFamily adj_family_matmul = { ops, G_N_ELEMENTS (ops) };
