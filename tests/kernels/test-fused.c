/* SPDX-License-Identifier: MIT */
/* Fused programs give the bits of their separate operators for all strides, types and numbers of
 * threads. */

#include <math.h>
#include <omp.h>

#include "adj-kernel-fused.h"
#include "kernel-test.h"

/* sum = x * row + 0.5, rounded to the type of sum; gate = sum > 0; both are stored.  @merged:
 * dims of the operands are merged first. */
static void
run_fused (const AdjKView *sum,
           const AdjKView *gate,
           const AdjKView *x,
           const AdjKView *row,
           gboolean merged)
{
  const AdjKStep steps[] = {
    { .kind = ADJ_K_STEP_CONST, .type = ADJ_K_F64, .dst = 0, .imm.f = 0.5 },
    { .kind = ADJ_K_STEP_CONST, .type = ADJ_K_I64, .dst = 1, .imm.i = 0 },
    { .kind = ADJ_K_STEP_LOAD, .operand = 0, .dst = 2 },
    { .kind = ADJ_K_STEP_LOAD, .operand = 1, .dst = 3 },
    { .kind = ADJ_K_STEP_OP, .op = ADJ_K_OP_MUL, .a = 2, .b = 3, .dst = 2 },
    { .kind = ADJ_K_STEP_OP, .op = ADJ_K_OP_ADD, .a = 2, .b = 0, .dst = 2 },
    { .kind = ADJ_K_STEP_CAST, .type = (uint8_t) sum->type, .a = 2, .dst = 2 },
    { .kind = ADJ_K_STEP_STORE, .operand = 2, .a = 2 },
    { .kind = ADJ_K_STEP_OP, .op = ADJ_K_OP_GT, .a = 2, .b = 1, .dst = 3 },
    { .kind = ADJ_K_STEP_STORE, .operand = 3, .a = 3 },
  };
  const AdjKFused fused = { .n_operands = 4,
                            .n_regs = 4,
                            .n_fixed = 2,
                            .n_steps = G_N_ELEMENTS (steps),
                            .steps = steps,
                            .merged = merged };
  AdjKView operands[] = { *x, *row, *sum, *gate };

  if (merged)
    adj_k_fused_merge (&fused, operands);
  g_assert_true (adj_k_fused_check (&fused));
  g_assert_true (adj_k_fused (&fused, operands));
}

static void
run_op (AdjKOp op, const AdjKView *out, const AdjKView *a, const AdjKView *b)
{
  const AdjKCode code[] = { { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
                            { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
                            { .op = op, .a = 0, .b = 1, .dst = 0 } };
  const AdjKProgram program = {
    .n_inputs = 2, .n_regs = 2, .n_code = G_N_ELEMENTS (code), .code = code
  };
  const AdjKView inputs[] = { *a, *b };

  g_assert_true (adj_k_pointwise (&program, out, inputs));
}

static AdjKView
spread (AdjKView view, int64_t rows, int64_t columns)
{
  AdjKView out = { .data = view.data, .type = view.type, .rank = 2, .size = { rows, columns } };

  out.stride[1] = view.rank > 0 ? view.stride[0] : 0;
  return out;
}

/* Computes the same with intermediate results in memory; values not rounded before sum stay f32. */
static void
run_apart (const AdjKView *sum, const AdjKView *gate, const AdjKView *x, const AdjKView *row)
{
  const double half = 0.5, none = 0;
  AdjKView product = kernel_array_like (ADJ_K_F32, x);
  AdjKView one = kernel_array_of (ADJ_K_F64, &half, 0),
           zero = kernel_array_of (ADJ_K_F64, &none, 0);

  one = spread (one, x->size[0], x->size[1]);
  zero = spread (zero, x->size[0], x->size[1]);
  run_op (ADJ_K_OP_MUL, &product, x, row);
  run_op (ADJ_K_OP_ADD, sum, &product, &one);
  run_op (ADJ_K_OP_GT, gate, sum, &zero);
}

static void
check (AdjKType type, int rows, int columns, gboolean scramble)
{
  AdjKView x = kernel_array (type, 2, rows, columns), row = kernel_array (type, 1, columns);
  AdjKView sum = kernel_array_like (type, &x), gate = kernel_array_like (ADJ_K_BOOL, &x);
  AdjKView wanted = kernel_array_like (type, &x), gates = kernel_array_like (ADJ_K_BOOL, &x);

  kernel_array_randomize (&x, 3, -1, 1);
  kernel_array_randomize (&row, 4, -1, 1);
  if (scramble)
    {
      x = kernel_array_scramble (&x);
      sum = kernel_array_scramble (&sum);
    }
  row = spread (row, rows, columns);
  run_apart (&wanted, &gates, &x, &row);
  for (int threads = 1; threads <= 4; threads++)
    {
      omp_set_num_threads (threads);
      run_fused (&sum, &gate, &x, &row, threads % 2 == 0);
      kernel_assert_same (&sum, &wanted);
      kernel_assert_same (&gate, &gates);
    }
}

static void
test_steps (gconstpointer type)
{
  static const int sizes[][2] = { { 1, 1 }, { 3, 5 }, { 7, 300 }, { 401, 97 }, { 64, 1024 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < 2; k++)
      check ((AdjKType) GPOINTER_TO_INT (type), sizes[i][0], sizes[i][1], k > 0);
}

/* A cast to a narrower type and back, not rounded again by a store. */
static void
test_rounding (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  const AdjKStep steps[] = {
    { .kind = ADJ_K_STEP_LOAD, .operand = 0, .dst = 0 },
    { .kind = ADJ_K_STEP_CAST, .type = (uint8_t) type, .a = 0, .dst = 0 },
    { .kind = ADJ_K_STEP_STORE, .operand = 1, .a = 0 },
  };
  const AdjKFused fused = {
    .n_operands = 2, .n_regs = 1, .n_steps = G_N_ELEMENTS (steps), .steps = steps
  };
  AdjKView x = kernel_array (ADJ_K_F32, 1, 1000), y = kernel_array (ADJ_K_F32, 1, 1000);
  AdjKView narrow = kernel_array (type, 1, 1000), wanted = kernel_array (ADJ_K_F32, 1, 1000);
  const AdjKView operands[] = { x, y };

  kernel_array_randomize (&x, 7, -3, 3);
  for (int i = 0; i < 4; i++)
    kernel_array_set (&x, i, (double[]){ INFINITY, -0.0, 0x1p-140, 0x1.fffffep127 }[i]);
  adj_k_copy (&narrow, &x);
  adj_k_copy (&wanted, &narrow);
  g_assert_true (adj_k_fused_check (&fused));
  g_assert_true (adj_k_fused (&fused, operands));
  kernel_assert_same (&y, &wanted);
}

/* A result may be stored in an operand that is not read later. */
static void
test_in_place (void)
{
  AdjKView x = kernel_array (ADJ_K_F32, 2, 90, 401), y = kernel_array (ADJ_K_F32, 2, 90, 401);
  AdjKView row = kernel_array (ADJ_K_F32, 1, 401), gate = kernel_array_like (ADJ_K_BOOL, &x);

  kernel_array_randomize (&x, 5, -1, 1);
  kernel_array_randomize (&row, 6, -1, 1);
  row = spread (row, 90, 401);
  run_fused (&y, &gate, &x, &row, FALSE);
  run_fused (&x, &gate, &x, &row, FALSE);
  kernel_assert_same (&x, &y);
}

static void
test_division_by_zero (void)
{
  const AdjKStep steps[] = {
    { .kind = ADJ_K_STEP_LOAD, .klass = ADJ_K_CLASS_I64, .operand = 0, .dst = 0 },
    { .kind = ADJ_K_STEP_OP, .klass = ADJ_K_CLASS_I64, .op = ADJ_K_OP_FLOORDIV, .a = 0, .b = 0 },
    { .kind = ADJ_K_STEP_STORE, .klass = ADJ_K_CLASS_I64, .operand = 1, .a = 0 },
  };
  const AdjKFused fused = { .n_operands = 2, .n_regs = 1, .n_steps = 3, .steps = steps };
  AdjKView operands[2] = { kernel_array (ADJ_K_I64, 1, 70000), kernel_array (ADJ_K_I64, 1, 70000) };

  g_assert_false (adj_k_fused (&fused, operands));
  adj_k_fill_i64 (&operands[0], 3);
  g_assert_true (adj_k_fused (&fused, operands));
  g_assert_cmpfloat (kernel_array_get (&operands[1], 69999), ==, 1);
}

static void
test_refuses_bad_programs (void)
{
  AdjKStep step = { .kind = ADJ_K_STEP_STORE, .operand = 0, .a = 0 };
  AdjKFused fused = { .n_operands = 1, .n_regs = 1, .n_steps = 1, .steps = &step };

  g_assert_false (adj_k_fused_check (&fused)); /* the register was never written */
  step = (AdjKStep){ .kind = ADJ_K_STEP_LOAD, .operand = 1 };
  g_assert_false (adj_k_fused_check (&fused)); /* operand index out of range */
  step = (AdjKStep){ .kind = ADJ_K_STEP_LOAD, .dst = 1 };
  g_assert_false (adj_k_fused_check (&fused)); /* register index out of range */
  step = (AdjKStep){ .kind = ADJ_K_STEP_LOAD };
  g_assert_true (adj_k_fused_check (&fused));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/kernels/fused/steps/f32", GINT_TO_POINTER (ADJ_K_F32), test_steps);
  g_test_add_data_func ("/kernels/fused/steps/f16", GINT_TO_POINTER (ADJ_K_F16), test_steps);
  g_test_add_data_func ("/kernels/fused/steps/bf16", GINT_TO_POINTER (ADJ_K_BF16), test_steps);
  g_test_add_data_func ("/kernels/fused/rounding/f16", GINT_TO_POINTER (ADJ_K_F16), test_rounding);
  g_test_add_data_func ("/kernels/fused/rounding/bf16", GINT_TO_POINTER (ADJ_K_BF16),
                        test_rounding);
  g_test_add_func ("/kernels/fused/in-place", test_in_place);
  g_test_add_func ("/kernels/fused/division-by-zero", test_division_by_zero);
  g_test_add_func ("/kernels/fused/refuses-bad-programs", test_refuses_bad_programs);

  return g_test_run ();
}
