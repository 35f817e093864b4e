/* SPDX-License-Identifier: MIT */
/* Cross products. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
cross_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = adj_op_call_meta (call, 0), *b = adj_op_call_meta (call, 1);
  const AdjShape *both[] = { &a->shape, &b->shape };
  GError *error = NULL;
  AdjShape shape;
  guint dim;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (a->dtype != b->dtype || a->shape.rank != b->shape.rank)
    return adj_op_call_fail (call, "inputs must have the same number of dimensions and one dtype");
  if (!adj_shape_pointwise (&shape, op_symbols (call), both, 2, &error))
    return adj_op_call_fail_with (call, error);
  dim = op_dim (call, 2, shape.rank);
  if (shape.rank == 0 || !adj_size_is (op_symbols (call), a->shape.size[dim], 3) ||
      !adj_size_is (op_symbols (call), b->shape.size[dim], 3))
    return adj_op_call_fail (call, "inputs dimension must have length 3");
  op_add_contiguous (call, a->dtype, shape.rank, shape.size);
  return TRUE;
}

/* Element @index along @dim. */
static AdjKView
take_place (const AdjKView *view, guint dim, gint64 index)
{
  AdjKView out = *view;

  out.data =
      (char *) view->data + (gsize) (index * view->stride[dim]) * adj_k_type_get_size (view->type);
  out.size[dim] = 1;
  return out;
}

/* c_i = a_j b_k - a_k b_j for cyclic i, j, k. */
static void
cross (AdjKQueue *queue, const AdjKView *c, const AdjKView *a, const AdjKView *b, guint dim)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_LOAD, .dst = 2, .imm.i = 2 },
    { .op = ADJ_K_OP_LOAD, .dst = 3, .imm.i = 3 },
    { .op = ADJ_K_OP_MUL, .dst = 4, .a = 0, .b = 1 },
    { .op = ADJ_K_OP_MUL, .dst = 5, .a = 2, .b = 3 },
    { .op = ADJ_K_OP_SUB, .dst = 6, .a = 4, .b = 5 },
  };
  AdjKProgram program = { .n_inputs = 4, .n_regs = 7, .n_code = 7, .code = code, .result = 6 };

  program.klass = c->type == ADJ_K_F64            ? ADJ_K_CLASS_F64
                  : adj_k_type_is_float (c->type) ? ADJ_K_CLASS_F32
                                                  : ADJ_K_CLASS_I64;
  for (gint64 i = 0; i < 3; i++)
    {
      gint64 j = (i + 1) % 3, k = (i + 2) % 3;
      const AdjKView out = take_place (c, dim, i);
      const AdjKView inputs[] = { take_place (a, dim, j), take_place (b, dim, k),
                                  take_place (a, dim, k), take_place (b, dim, j) };

      adj_q_pointwise (queue, &program, &out, inputs);
    }
}

/* The products of the real parts (0) or of the imaginary parts (1) of complex numbers. */
static void
cross_complex (AdjKQueue *queue,
               AdjPart part,
               const AdjKView *c,
               const AdjKView a[2],
               const AdjKView b[2],
               guint dim)
{
  static const struct
  {
    gint8 a, b;
    AdjKOp op;
  } terms[2][2] = {
    { { 0, 0, ADJ_K_OP_ADD }, { 1, 1, ADJ_K_OP_SUB } },
    { { 0, 1, ADJ_K_OP_ADD }, { 1, 0, ADJ_K_OP_ADD } },
  };
  const guint row = part == ADJ_PART_IMAGINARY;
  AdjKCode code[8 + 8];
  AdjKProgram program = { .n_inputs = 8, .n_regs = 10, .n_code = 16, .code = code, .result = 9 };

  program.klass = c->type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;
  for (guint i = 0; i < 8; i++)
    code[i] = (AdjKCode){ .op = ADJ_K_OP_LOAD, .dst = (guint8) i, .imm.i = i };
  /* a_j at 0, b_k at 2, a_k at 4, b_j at 6: the second product is subtracted */
  for (guint i = 0; i < 4; i++)
    {
      guint first = i < 2 ? 0 : 4;
      gboolean away = (terms[row][i % 2].op == ADJ_K_OP_SUB) != (i >= 2);
      AdjKCode *at = &code[8 + 2 * i];

      at[0] = (AdjKCode){ .op = ADJ_K_OP_MUL,
                          .dst = (guint8) (i == 0 ? 9 : 8),
                          .a = (guint8) (first + (guint) terms[row][i % 2].a),
                          .b = (guint8) (first + 2 + (guint) terms[row][i % 2].b) };
      at[1] =
          i == 0 ? at[0]
                 : (AdjKCode){ .op = away ? ADJ_K_OP_SUB : ADJ_K_OP_ADD, .dst = 9, .a = 9, .b = 8 };
    }
  for (gint64 i = 0; i < 3; i++)
    {
      gint64 j = (i + 1) % 3, k = (i + 2) % 3;
      const AdjKView out = take_place (c, dim, i);
      const AdjKView inputs[] = {
        take_place (&a[0], dim, j), take_place (&a[1], dim, j), take_place (&b[0], dim, k),
        take_place (&b[1], dim, k), take_place (&a[0], dim, k), take_place (&a[1], dim, k),
        take_place (&b[0], dim, j), take_place (&b[1], dim, j),
      };

      adj_q_pointwise (queue, &program, &out, inputs);
    }
}

static gboolean
cross_complex_kernel (AdjOpCall *call)
{
  static const AdjPart parts[] = { ADJ_PART_REAL, ADJ_PART_IMAGINARY };
  const AdjShape *shape = &call->results[0].meta.shape;
  guint dim = op_dim (call, 2, shape->rank);
  AdjKView a[2], b[2], c[2];
  double numbers[2];
  gboolean done = TRUE;

  for (guint i = 0; done && i < 2; i++)
    {
      call->part = parts[i];
      done = op_input_as (call, 0, shape, &a[i], &numbers[0]) &&
             op_input_as (call, 1, shape, &b[i], &numbers[1]) && op_output (call, 0, &c[i]);
      call->part = ADJ_PART_NONE;
    }
  for (guint i = 0; done && i < 2; i++)
    cross_complex (op_queue (call), parts[i], &c[i], a, b, dim);
  return done;
}

static gboolean
cross_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &call->results[0].meta.shape;
  AdjDType dtype = call->results[0].meta.dtype;
  double numbers[2];
  AdjKView a, b, c;

  if (adj_dtype_get_real (dtype) != dtype)
    return cross_complex_kernel (call);
  if (!op_input_as (call, 0, shape, &a, &numbers[0]) ||
      !op_input_as (call, 1, shape, &b, &numbers[1]) || !op_output (call, 0, &c))
    return FALSE;
  cross (op_queue (call), &c, &a, &b, op_dim (call, 2, shape->rank));
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/cross.inc"
};

const OpFamily adj_family_cross = { ops, G_N_ELEMENTS (ops) };
