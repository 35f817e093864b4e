/* SPDX-License-Identifier: MIT */
/* The steps of a pointwise program as C. */

#include "steps-text.h"

#define TYPE_NAME(TYPE, name) [ADJ_K_##TYPE] = #name,

/* Of class-rows.inc. */
static const char *const type_names[] = { TYPE_NAME (BOOL, bool) TYPE_NAME (U8, u8) TYPE_NAME (
    I8, i8) TYPE_NAME (I16, i16) TYPE_NAME (I32, i32) TYPE_NAME (I64, i64) TYPE_NAME (F16, f16)
                                              TYPE_NAME (BF16, bf16) TYPE_NAME (F32, f32)
                                                  TYPE_NAME (F64, f64) };

static const char *const class_names[] = {
  [ADJ_K_CLASS_F32] = "f32", [ADJ_K_CLASS_F64] = "f64", [ADJ_K_CLASS_I64] = "i64"
};

static const char *const class_types[] = {
  [ADJ_K_CLASS_F32] = "float", [ADJ_K_CLASS_F64] = "double", [ADJ_K_CLASS_I64] = "int64_t"
};

static void
write_register (const AdjKStepsText *p, int klass, int r)
{
  if (p->written[klass][r])
    fprintf (p->out, "%s_r%d", class_names[klass], r);
  else
    fprintf (p->out, "0"); /* an operand that the operation lacks */
}

static void
write_operation (const AdjKStepsText *p, const AdjKStep *step)
{
  const char *name = adj_k_op_get_name ((AdjKOp) step->op);

  if (step->klass == ADJ_K_CLASS_I64 &&
      (step->op == ADJ_K_OP_FLOORDIV || step->op == ADJ_K_OP_TRUNCDIV ||
       step->op == ADJ_K_OP_FMOD || step->op == ADJ_K_OP_REMAINDER))
    {
      fprintf (p->out, "          if (");
      write_register (p, step->klass, step->b);
      fprintf (p->out, " == 0)\n            %s;\n", p->zero_division);
    }
  fprintf (p->out, "          %s_r%d = %s_op_%s (", class_names[step->klass], step->dst,
           class_names[step->klass], name);
  write_register (p, step->klass, step->a);
  fprintf (p->out, ", ");
  write_register (p, step->klass, step->b);
  fprintf (p->out, ", ");
  write_register (p, step->klass, step->c);
  fprintf (p->out, ");\n");
}

static void
write_load (const AdjKStepsText *p, const AdjKStep *step)
{
  fprintf (p->out, "          %s_r%d = %s_load_%s (", class_names[step->klass], step->dst,
           class_names[step->klass], type_names[p->views[step->operand].type]);
  p->element (p->out, step->operand, p->data);
  fprintf (p->out, ");\n");
}

static void
write_constant (FILE *out, const AdjKStep *step)
{
  fprintf (out,
           "          {\n            Number number;\n            number.i = (int64_t) UINT64_C "
           "(0x%llx);\n"
           "            %s_r%d = %s_load_%s (&number, 0);\n          }\n",
           (unsigned long long) step->imm.i, class_names[step->klass], step->dst,
           class_names[step->klass], type_names[step->type]);
}

static void
write_cast (const AdjKStepsText *p, const AdjKStep *step)
{
  fprintf (p->out, "          %s_r%d = %s_read_%s (%s_written_%s (", class_names[step->to],
           step->dst, class_names[step->to], type_names[step->type], class_names[step->klass],
           type_names[step->type]);
  write_register (p, step->klass, step->a);
  fprintf (p->out, "));\n");
}

static void
write_store (const AdjKStepsText *p, const AdjKStep *step)
{
  fprintf (p->out, "          %s_store_%s (", class_names[step->klass],
           type_names[p->views[step->operand].type]);
  p->element (p->out, step->operand, p->data);
  fprintf (p->out, ", ");
  write_register (p, step->klass, step->a);
  fprintf (p->out, ");\n");
}

static void
write_step (AdjKStepsText *p, const AdjKStep *step)
{
  int klass = step->kind == ADJ_K_STEP_CAST ? step->to : step->klass;

  if (step->kind == ADJ_K_STEP_STORE)
    {
      write_store (p, step);
      return;
    }
  if (step->kind == ADJ_K_STEP_OP)
    write_operation (p, step);
  else if (step->kind == ADJ_K_STEP_LOAD)
    write_load (p, step);
  else if (step->kind == ADJ_K_STEP_CONST)
    write_constant (p->out, step);
  else
    write_cast (p, step);
  p->written[klass][step->dst] = true;
}

void
adj_k_steps_text_declare (const AdjKStepsText *text, int first, int end)
{
  bool declared[ADJ_K_CLASS_N][ADJ_K_MAX_REGS] = { { false } };

  for (int i = first; i < end; i++)
    {
      const AdjKStep *step = &text->steps[i];
      int klass = step->kind == ADJ_K_STEP_CAST ? step->to : step->klass;

      if (step->kind == ADJ_K_STEP_STORE || declared[klass][step->dst])
        continue;
      declared[klass][step->dst] = true;
      fprintf (text->out, "          %s %s_r%d;\n", class_types[klass], class_names[klass],
               step->dst);
    }
}

void
adj_k_steps_text_write (AdjKStepsText *text, int first, int end)
{
  for (int i = first; i < end; i++)
    write_step (text, &text->steps[i]);
}
