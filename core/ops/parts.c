/* SPDX-License-Identifier: MIT */
/* Complex numbers as two views. */

#include "ops/parts-private.h"

gboolean
op_input_parts (const AdjOpCall *call, guint arg, OpParts *out)
{
  AdjOpCall part = *call;

  part.part = ADJ_PART_REAL;
  if (!op_input (&part, arg, &out->re))
    return FALSE;
  part.part = ADJ_PART_IMAGINARY;
  return op_input (&part, arg, &out->im);
}

gboolean
op_input_parts_as (
    const AdjOpCall *call, guint arg, const AdjShape *to, OpParts *out, double number[2])
{
  AdjOpCall part = *call;

  part.part = ADJ_PART_REAL;
  if (!op_input_as (&part, arg, to, &out->re, &number[0]))
    return FALSE;
  part.part = ADJ_PART_IMAGINARY;
  return op_input_as (&part, arg, to, &out->im, &number[1]);
}

gboolean
op_output_parts (const AdjOpCall *call, guint result, OpParts *out)
{
  AdjOpCall part = *call;

  part.part = ADJ_PART_REAL;
  if (!op_output (&part, result, &out->re))
    return FALSE;
  part.part = ADJ_PART_IMAGINARY;
  return op_output (&part, result, &out->im);
}

void
op_number_parts (const AdjOpCall *call, guint arg, double if_none, double number[2])
{
  AdjOpCall part = *call;

  part.part = ADJ_PART_REAL;
  number[0] = op_number (&part, arg, if_none);
  part.part = ADJ_PART_IMAGINARY;
  number[1] = op_number (&part, arg, 0);
}

OpPartsMemory
op_temporary_parts (const AdjOpCall *call, const AdjKView *like, AdjKType type, OpParts *out)
{
  OpPartsMemory memory;

  memory.re = op_temporary (op_queue (call), like, type, &out->re);
  memory.im = op_temporary (op_queue (call), like, type, &out->im);
  return memory;
}

void
op_parts_free (OpPartsMemory *memory)
{
  g_clear_pointer (&memory->re, g_free);
  g_clear_pointer (&memory->im, g_free);
}

#define MAX_NUMBERS 3

void
op_apply_parts (const AdjOpCall *call,
                const AdjKView *out,
                const OpParts *numbers,
                guint n,
                const AdjKCode *code,
                guint n_code)
{
  AdjKProgram program = { .klass = ADJ_K_CLASS_F32,
                          .n_inputs = 2 * (int) n,
                          .n_code = (int) n_code,
                          .code = code,
                          .result = code[n_code - 1].dst };
  AdjKView inputs[2 * MAX_NUMBERS];

  g_assert (n <= MAX_NUMBERS);
  for (guint i = 0; i < n; i++)
    {
      inputs[2 * i] = numbers[i].re;
      inputs[2 * i + 1] = numbers[i].im;
      if (numbers[i].re.type == ADJ_K_F64 || numbers[i].im.type == ADJ_K_F64)
        program.klass = ADJ_K_CLASS_F64;
    }
  for (guint i = 0; i < n_code; i++)
    program.n_regs = MAX (program.n_regs, code[i].dst + 1);
  adj_q_pointwise (op_queue (call), &program, out, inputs);
}

void
op_multiply_parts (const AdjOpCall *call, const OpParts *out, const OpParts *a, const OpParts *b)
{
  static const AdjKCode re[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_LOAD, .dst = 2, .imm.i = 2 },
    { .op = ADJ_K_OP_LOAD, .dst = 3, .imm.i = 3 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 2 },
    { .op = ADJ_K_OP_MUL, .dst = 1, .a = 1, .b = 3 },
    { .op = ADJ_K_OP_SUB, .dst = 0, .a = 0, .b = 1 },
  };
  static const AdjKCode im[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_LOAD, .dst = 2, .imm.i = 2 },
    { .op = ADJ_K_OP_LOAD, .dst = 3, .imm.i = 3 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 3 },
    { .op = ADJ_K_OP_MUL, .dst = 1, .a = 1, .b = 2 },
    { .op = ADJ_K_OP_ADD, .dst = 0, .a = 0, .b = 1 },
  };
  const OpParts numbers[] = { *a, *b };

  op_apply_parts (call, &out->re, numbers, 2, re, G_N_ELEMENTS (re));
  op_apply_parts (call, &out->im, numbers, 2, im, G_N_ELEMENTS (im));
}

void
op_mark_parts (const AdjOpCall *call, const AdjKView *out, const OpParts *x)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_OR, .dst = 0, .a = 0, .b = 1 },
  };

  op_apply_parts (call, out, x, 1, code, G_N_ELEMENTS (code));
}

void
op_copy_parts (const AdjOpCall *call, const OpParts *out, const OpParts *x)
{
  adj_q_copy (op_queue (call), &out->re, &x->re);
  adj_q_copy (op_queue (call), &out->im, &x->im);
}
