/* SPDX-License-Identifier: MIT */
/* Pointwise programs, interpreted: a thread takes one element through all steps. */

#include "cuda/args.h"
#include "cuda/class.h"

DEVICE bool
divides_by_zero (const AdjKStep *step, int64_t divisor)
{
  return divisor == 0 && (step->op == ADJ_K_OP_FLOORDIV || step->op == ADJ_K_OP_TRUNCDIV ||
                          step->op == ADJ_K_OP_FMOD || step->op == ADJ_K_OP_REMAINDER);
}

DEVICE Scalar
load (int klass, const void *data, int type, int64_t i)
{
  Scalar x;

  if (klass == ADJ_K_CLASS_F32)
    x.f32 = f32_load (data, type, i);
  else if (klass == ADJ_K_CLASS_F64)
    x.f64 = f64_load (data, type, i);
  else
    x.i64 = i64_load (data, type, i);
  return x;
}

DEVICE void
store (int klass, void *data, int type, int64_t i, Scalar x)
{
  if (klass == ADJ_K_CLASS_F32)
    f32_store (data, type, i, x.f32);
  else if (klass == ADJ_K_CLASS_F64)
    f64_store (data, type, i, x.f64);
  else
    i64_store (data, type, i, x.i64);
}

DEVICE Scalar
compute (const AdjKStep *step, const Scalar *reg, AdjKFaults *faults)
{
  Scalar a = reg[step->a], b = reg[step->b], c = reg[step->c], x;

  if (step->klass == ADJ_K_CLASS_F32)
    x.f32 = f32_op (step->op, a.f32, b.f32, c.f32);
  else if (step->klass == ADJ_K_CLASS_F64)
    x.f64 = f64_op (step->op, a.f64, b.f64, c.f64);
  else
    {
      if (divides_by_zero (step, b.i64))
        set_flag (&faults->zero_division);
      x.i64 = i64_op (step->op, a.i64, b.i64, c.i64);
    }
  return x;
}

KERNEL (adj_fused, FusedArgs)
{
  Scalar reg[ADJ_K_MAX_REGS];

  FOR_EACH (i, args.n)
    for (int s = 0; s < args.n_steps; s++)
      {
        const AdjKStep *step = &args.steps[s];
        const AdjKView *view = &args.operands[step->operand];
        Scalar between;

        if (step->kind == ADJ_K_STEP_OP)
          reg[step->dst] = compute (step, reg, args.faults);
        else if (step->kind == ADJ_K_STEP_LOAD)
          reg[step->dst] = load (step->klass, view->data, view->type, offset_of (view, i));
        else if (step->kind == ADJ_K_STEP_CONST)
          reg[step->dst] = load (step->klass, &step->imm, step->type, 0);
        else if (step->kind == ADJ_K_STEP_STORE)
          store (step->klass, view->data, view->type, offset_of (view, i), reg[step->a]);
        else
          {
            store (step->klass, &between, step->type, 0, reg[step->a]);
            reg[step->dst] = load (step->to, &between, step->type, 0);
          }
      }
}
