/* SPDX-License-Identifier: MIT */

/* The register machine: a register is a tile of TILE elements of the class, and each instruction
 * runs over the whole tile, so the cost of interpreting is shared by its elements. */

#include <string.h>

#include "tile.h"

enum
{
  BLOCK = 32 /* tiles that a thread takes at a time */
};

static const struct
{
  const char *name;
  int arity;
} ops[ADJ_K_OP_N] = {
#define OP_ROW(NAME, name, arity) [ADJ_K_OP_##NAME] = { #name, arity },
  ADJ_K_OPS (OP_ROW)
#undef OP_ROW
};

const char *
adj_k_op_get_name (AdjKOp op)
{
  return ops[op].name;
}

int
adj_k_op_get_arity (AdjKOp op)
{
  return ops[op].arity;
}

bool
adj_k_op_has_class (AdjKOp op, AdjKClass klass)
{
  return op == ADJ_K_OP_CONST || op == ADJ_K_OP_LOAD || adj_k_loops_base.klass[klass].op[op];
}

AdjKOp
adj_k_op_find (const char *name)
{
  AdjKOp op = 0;

  while (op < ADJ_K_OP_N && strcmp (ops[op].name, name) != 0)
    op++;
  return op;
}

static bool
check_code (const AdjKProgram *program, const AdjKCode *code, uint64_t written)
{
  const uint8_t args[3] = { code->a, code->b, code->c };

  if ((unsigned) code->op >= ADJ_K_OP_N || code->dst >= program->n_regs)
    return false;
  if (!adj_k_op_has_class (code->op, program->klass))
    return false;
  if (code->op == ADJ_K_OP_LOAD && (code->imm.i < 0 || code->imm.i >= program->n_inputs))
    return false;
  for (int i = 0; i < ops[code->op].arity; i++)
    if (args[i] >= program->n_regs || !(written >> args[i] & 1))
      return false;
  return true;
}

bool
adj_k_program_check (const AdjKProgram *program)
{
  uint64_t written = 0;

  if ((unsigned) program->klass >= ADJ_K_CLASS_N || program->n_code < 0 || program->n_inputs < 0 ||
      program->n_inputs > ADJ_K_MAX_INPUTS || program->n_regs < 1 ||
      program->n_regs > ADJ_K_MAX_REGS)
    return false;
  for (int i = 0; i < program->n_code; i++)
    {
      if (!check_code (program, &program->code[i], written))
        return false;
      written |= UINT64_C (1) << program->code[i].dst;
    }
  return program->result >= 0 && program->result < program->n_regs &&
         (written >> program->result & 1);
}

/* The state of one thread. */
typedef struct
{
  const AdjKProgram *program;
  const ClassLoops *loops;
  const AdjKView *views; /* the output, then the inputs */
  bool zero_division;
  Scalar (*regs)[TILE];
} Machine;

static void
run_const (const Machine *machine, const AdjKCode *code, void *dst, int n)
{
  Scalar value = { .i64 = code->imm.i };
  AdjKType type = ADJ_K_I64;

  if (machine->program->klass != ADJ_K_CLASS_I64)
    {
      value.f64 = code->imm.f;
      type = ADJ_K_F64;
    }
  machine->loops->load[type](dst, &value, 0, n);
}

static bool
divides (AdjKOp op)
{
  return op == ADJ_K_OP_FLOORDIV || op == ADJ_K_OP_TRUNCDIV || op == ADJ_K_OP_FMOD ||
         op == ADJ_K_OP_REMAINDER;
}

static bool
has_zero (const int64_t *x, int n)
{
  int64_t zeros = 0;

  for (int i = 0; i < n; i++)
    zeros += x[i] == 0;
  return zeros > 0;
}

static void
run_tile (Machine *machine, int64_t start, int n)
{
  const AdjKProgram *program = machine->program;

  for (int i = 0; i < program->n_code; i++)
    {
      const AdjKCode *code = &program->code[i];
      void *dst = machine->regs[code->dst];
      const void *b = machine->regs[code->b];

      if (code->op == ADJ_K_OP_CONST)
        run_const (machine, code, dst, n);
      else if (code->op == ADJ_K_OP_LOAD)
        adj_k_load (machine->loops, dst, &machine->views[1 + code->imm.i], 0, start, n);
      else
        {
          if (program->klass == ADJ_K_CLASS_I64 && divides (code->op) && has_zero (b, n))
            machine->zero_division = true;
          machine->loops->op[code->op](dst, machine->regs[code->a], b, machine->regs[code->c], n);
        }
    }
  adj_k_store (machine->loops, &machine->views[0], 0, start, machine->regs[program->result], n);
}

static bool
run_block (const AdjKProgram *program, const AdjKView *views, int64_t start, int64_t end)
{
  _Alignas(64) Scalar regs[ADJ_K_MAX_REGS][TILE];
  Machine machine = {
    .program = program,
    .loops = &adj_k_loops ()->klass[program->klass],
    .views = views,
    .regs = regs,
  };

  for (; start < end; start += TILE)
    run_tile (&machine, start, (int) min_i64 (TILE, end - start));
  return machine.zero_division;
}

bool
adj_k_pointwise (const AdjKProgram *program, const AdjKView *out, const AdjKView *inputs)
{
  AdjKView views[1 + ADJ_K_MAX_INPUTS];
  int64_t n = adj_k_view_count (out), block = TILE * BLOCK;
  int n_zero_divisions = 0;

  views[0] = *out;
  if (program->n_inputs > 0)
    memcpy (&views[1], inputs, (size_t) program->n_inputs * sizeof *inputs);
  adj_k_views_merge_any_order (views, 1 + program->n_inputs);

  if (n <= block) /* starting a team takes longer than a small tensor */
    return !run_block (program, views, 0, n);

#pragma omp parallel for schedule(static) reduction(+ : n_zero_divisions)
  for (int64_t start = 0; start < n; start += block)
    n_zero_divisions += run_block (program, views, start, min_i64 (n, start + block));

  return n_zero_divisions == 0;
}
