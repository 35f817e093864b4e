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

/* c_i = a_j b_k - a_k b_j, with i, j, k in a circle. */
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

static gboolean
cross_kernel (AdjOpCall *call)
{
  const AdjShape *shape = &call->results[0].meta.shape;
  double numbers[2];
  AdjKView a, b, c;

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
