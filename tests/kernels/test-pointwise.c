/* SPDX-License-Identifier: MIT */
/* Pointwise programs against scalar code, by type. */

#include <math.h>
#include <string.h>

#include "kernel-test.h"

/* out = op (inputs), in the class of the output's type. */
static gboolean
run_op (const char *name, AdjKClass klass, const AdjKView *out, const AdjKView *inputs)
{
  AdjKOp op = adj_k_op_find (name);
  int arity = adj_k_op_get_arity (op);
  AdjKCode code[4] = { 0 };
  AdjKProgram program = {
    .klass = klass, .n_inputs = arity, .n_regs = 3, .n_code = arity + 1, .code = code
  };

  for (guint8 i = 0; i < arity; i++)
    code[i] = (AdjKCode){ .op = ADJ_K_OP_LOAD, .dst = i, .imm.i = i };
  code[arity] = (AdjKCode){ .op = op, .a = 0, .b = 1, .c = 2 };
  g_assert_true (adj_k_program_check (&program));
  return adj_k_pointwise (&program, out, inputs);
}

/* Pairs of special cases and the results of PyTorch 2.6. */
enum
{
  PAIRS = 14
};

static const double xs[PAIRS] = {
  5.5, -5.5, 5.5, -5.5, 6, 0.25, -1, 1, INFINITY, NAN, 1, 1, 0, -0.0,
};
static const double ys[PAIRS] = {
  2, 2, -2, -2, -2, 0.125, INFINITY, -INFINITY, 2, 1, NAN, 0, 0, 3,
};

static const struct
{
  const char *name;
  double expected[PAIRS];
} pair_rows[] = {
  { "fmod", { 1.5, -1.5, 1.5, -1.5, 0, 0, -1, 1, NAN, NAN, NAN, NAN, NAN, -0.0 } },
  { "remainder",
    { 1.5, 0.5, -0.5, -1.5, 0, 0, INFINITY, -INFINITY, NAN, NAN, NAN, NAN, NAN, -0.0 } },
  { "floordiv", { 2, -3, -3, 2, -3, 2, -1, -1, NAN, NAN, NAN, INFINITY, NAN, -0.0 } },
  { "truncdiv", { 2, -2, -2, 2, -3, 2, -0.0, -0.0, INFINITY, NAN, NAN, INFINITY, NAN, -0.0 } },
  { "min", { 2, -5.5, -2, -5.5, -2, 0.125, -1, -INFINITY, 2, NAN, NAN, 0, 0, -0.0 } },
  { "max", { 5.5, 2, 5.5, -2, 6, 0.25, INFINITY, 1, INFINITY, NAN, NAN, 1, 0, 3 } },
  { "copysign", { 5.5, 5.5, -5.5, -5.5, -6, 0.25, 1, -1, INFINITY, NAN, 1, 1, 0, 0 } },
  { "eq", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0 } },
  { "ne", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1 } },
  { "lt", { 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1 } },
  { "le", { 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1 } },
  { "gt", { 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0 } },
  { "ge", { 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0 } },
  { "and", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0 } },
  { "or", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1 } },
  { "xor", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1 } },
  { "sub", { 3.5, -7.5, 7.5, -3.5, 8, 0.125, -INFINITY, INFINITY, INFINITY, NAN, NAN, 1, 0, -3 } },
  { "div",
    { 2.75, -2.75, -2.75, 2.75, -3, 2, -0.0, -0.0, INFINITY, NAN, NAN, INFINITY, NAN, -0.0 } },
  /* unary: of x only */
  { "sign", { 1, -1, 1, -1, 1, 1, -1, 1, 1, 0, 1, 1, 0, 0 } },
  { "round", { 6, -6, 6, -6, 6, 0, -1, 1, INFINITY, NAN, 1, 1, 0, -0.0 } },
  { "floor", { 5, -6, 5, -6, 6, 0, -1, 1, INFINITY, NAN, 1, 1, 0, -0.0 } },
  { "ceil", { 6, -5, 6, -5, 6, 1, -1, 1, INFINITY, NAN, 1, 1, 0, -0.0 } },
  { "trunc", { 5, -5, 5, -5, 6, 0, -1, 1, INFINITY, NAN, 1, 1, 0, -0.0 } },
  { "not", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1 } },
  { "isnan", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 } },
  { "isinf", { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0 } },
  { "abs", { 5.5, 5.5, 5.5, 5.5, 6, 0.25, 1, 1, INFINITY, NAN, 1, 1, 0, 0 } },
  { "neg", { -5.5, 5.5, -5.5, 5.5, -6, -0.25, 1, -1, -INFINITY, NAN, -1, -1, -0.0, 0 } },
};

static void
test_float_pairs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pair_rows); i++)
    for (AdjKType type = ADJ_K_F16; type <= ADJ_K_F64; type++)
      {
        AdjKView in[2] = { kernel_array_of (type, xs, 1, PAIRS),
                           kernel_array_of (type, ys, 1, PAIRS) };
        AdjKView out = kernel_array (type, 1, PAIRS);
        AdjKClass klass = type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;

        g_test_message ("%s", pair_rows[i].name);
        g_assert_true (run_op (pair_rows[i].name, klass, &out, in));
        kernel_assert_equal (&out, pair_rows[i].expected);
      }
}

/* Functions whose number of terms depends on the arguments; values are PyTorch 2.6's except
 * where it does not terminate. */
static void
test_many_terms (void)
{
  const struct
  {
    const char *name;
    double x, y, expected;
  } rows[] = {
    { "igamma", 1e7, 1e7, 0.5000420522081386 },
    { "igammac", 1e7, 1.0005e7, 0.056941215219689145 },
    { "igamma", 2e6, 1.999e6, 0.23978667092754513 },
    { "igammac", 1e12, 1e12 + 3e6, 0.0013499098498264155 },
    { "igamma", 1e300, 1e300, 0.5 },
    { "zeta", 2, -3.5, 9.620879298050347 },
    { "zeta", 2, -1e15 - 0.5, M_PI * M_PI },
    { "chebyshev_t", 0.3, 1e5, -0.504714050042995 },
    { "chebyshev_u", 0.3, 1e5, -0.7762051210549691 },
    { "chebyshev_v", 1, 0x1p50, 1 },
    { "chebyshev_t", 0.3, 1e300, 0 },
    { "legendre", 0.3, 0x1p62, NAN },
    { "mvlgamma", 0x1p62, 1e300, NAN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjKView in[2] = { kernel_array_of (ADJ_K_F64, &rows[i].x, 1, 1),
                         kernel_array_of (ADJ_K_F64, &rows[i].y, 1, 1) };
      AdjKView out = kernel_array (ADJ_K_F64, 1, 1);
      double result;

      g_assert_true (run_op (rows[i].name, ADJ_K_CLASS_F64, &out, in));
      result = *(const double *) out.data;
      g_test_message ("%s (%g, %g) is %.17g, not %.17g", rows[i].name, rows[i].x, rows[i].y, result,
                      rows[i].expected);
      g_assert_true (isnan (rows[i].expected)
                         ? isnan (result)
                         : fabs (result - rows[i].expected) <= 1e-10 * fabs (rows[i].expected));
    }
}

static void
test_int_pairs (void)
{
  const double x[] = { 7, -7, 7, -7, 6, -6, 0, 0x1p40 };
  const double y[] = { 2, 2, -2, -2, 3, 3, 5, -3 };
  const struct
  {
    const char *name;
    double expected[8];
  } rows[] = {
    { "fmod", { 1, -1, 1, -1, 0, 0, 0, 1 } },
    { "remainder", { 1, 1, -1, -1, 0, 0, 0, -2 } },
    { "floordiv", { 3, -4, -4, 3, 2, -2, 0, -366503875926. } },
    { "truncdiv", { 3, -3, -3, 3, 2, -2, 0, -366503875925. } },
    { "min", { 2, -7, -2, -7, 3, -6, 0, -3 } },
    { "max", { 7, 2, 7, -2, 6, 3, 5, 0x1p40 } },
    { "sign", { 1, -1, 1, -1, 1, -1, 0, 1 } },
    { "bitand", { 2, 0, 6, -8, 2, 2, 0, 0x1p40 } },
    { "bitor", { 7, -5, -1, -1, 7, -5, 5, -3 } },
    { "bitxor", { 5, -5, -7, 7, 5, -7, 5, -0x1p40 - 3 } },
    { "bitnot", { -8, 6, -8, 6, -7, 5, -1, -0x1p40 - 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjKView in[2] = { kernel_array_of (ADJ_K_I64, x, 1, 8),
                         kernel_array_of (ADJ_K_I64, y, 1, 8) };
      AdjKView out = kernel_array (ADJ_K_I64, 1, 8);

      g_test_message ("%s", rows[i].name);
      g_assert_true (run_op (rows[i].name, ADJ_K_CLASS_I64, &out, in));
      kernel_assert_equal (&out, rows[i].expected);
    }
}

/* The square of an element does not depend on the exponents of its neighbours. */
static void
test_square (void)
{
  enum
  {
    N = 300
  };
  AdjKView all = kernel_array (ADJ_K_F32, 1, N), some = kernel_array (ADJ_K_F32, 1, N);
  AdjKView in[2] = { kernel_array (ADJ_K_F32, 1, N), kernel_array (ADJ_K_F32, 1, N) };

  kernel_array_randomize (&in[0], 1, -3, 3);
  for (int i = 0; i < 5; i++)
    kernel_array_set (&in[0], i, (double[]){ 0x1p-70, 0x1.8p-74, -0.0, INFINITY, 0x1p100 }[i]);
  for (int i = 0; i < N; i++)
    kernel_array_set (&in[1], i, 2);
  g_assert_true (run_op ("pow", ADJ_K_CLASS_F32, &all, in));
  for (int i = 5; i < N; i += 100)
    kernel_array_set (&in[1], i, 3);
  g_assert_true (run_op ("pow", ADJ_K_CLASS_F32, &some, in));
  for (int i = 0; i < N; i++)
    if (kernel_array_get (&in[1], i) == 2)
      g_assert_cmpfloat (kernel_array_get (&all, i), ==, kernel_array_get (&some, i));
}

static void
test_int_power (void)
{
  AdjKView in[2] = { kernel_array_of (ADJ_K_I64, (double[]){ 2, -3, 1, -1, -1, 0, 5 }, 1, 7),
                     kernel_array_of (ADJ_K_I64, (double[]){ 10, 3, -7, -3, -2, 0, -1 }, 1, 7) };
  AdjKView out = kernel_array (ADJ_K_I64, 1, 7);

  g_assert_true (run_op ("pow", ADJ_K_CLASS_I64, &out, in));
  kernel_assert_equal (&out, (double[]){ 1024, -27, 1, -1, 1, 1, 0 });
}

static void
test_zero_division (void)
{
  const char *names[] = { "fmod", "remainder", "floordiv", "truncdiv" };
  AdjKView in[2] = { kernel_array (ADJ_K_I64, 1, 2), kernel_array (ADJ_K_I64, 1, 2) };
  AdjKView out = kernel_array (ADJ_K_I64, 1, 2);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      ((gint64 *) in[0].data)[0] = G_MININT64; /* dividing this by -1 would trap */
      ((gint64 *) in[1].data)[0] = -1;
      ((gint64 *) in[1].data)[1] = 1;
      g_assert_true (run_op (names[i], ADJ_K_CLASS_I64, &out, in));
      ((gint64 *) in[1].data)[1] = 0;
      g_assert_false (run_op (names[i], ADJ_K_CLASS_I64, &out, in));
    }
}

static void
test_int32_wraps (void)
{
  AdjKView in[2] = { kernel_array_of (ADJ_K_I32, (double[]){ G_MAXINT32, 65536 }, 1, 2),
                     kernel_array_of (ADJ_K_I32, (double[]){ 1, 65537 }, 1, 2) };
  AdjKView out = kernel_array (ADJ_K_I32, 1, 2);

  run_op ("add", ADJ_K_CLASS_I64, &out, in);
  g_assert_cmpint (((gint32 *) out.data)[0], ==, G_MININT32);
  run_op ("mul", ADJ_K_CLASS_I64, &out, in);
  g_assert_cmpint (((gint32 *) out.data)[1], ==, 65536);
}

/* (x · row + 0.5 < col) ? x : row over broadcast, strided views of three types, against the same
 * in double (exact for these numbers). */
static void
test_program (void)
{
  enum
  {
    M = 67,
    N = 45
  };
  AdjKView x = kernel_array (ADJ_K_F32, 2, M, N), row = kernel_array (ADJ_K_I16, 1, N);
  AdjKView col = kernel_array (ADJ_K_BF16, 1, M), out = kernel_array (ADJ_K_F16, 2, M, N);
  const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_MUL, .dst = 2, .a = 0, .b = 1 },
    { .op = ADJ_K_OP_CONST, .dst = 3, .imm.f = 0.5 },
    { .op = ADJ_K_OP_ADD, .dst = 2, .a = 2, .b = 3 },
    { .op = ADJ_K_OP_LOAD, .dst = 3, .imm.i = 2 },
    { .op = ADJ_K_OP_LT, .dst = 2, .a = 2, .b = 3 },
    { .op = ADJ_K_OP_SELECT, .dst = 0, .a = 2, .b = 0, .c = 1 },
  };
  AdjKProgram program = { ADJ_K_CLASS_F32, 3, 4, G_N_ELEMENTS (code), code, 0 };

  for (int i = 0; i < M * N; i++)
    kernel_array_set (&x, i, i * 7 % 41 - 20);
  for (int j = 0; j < N; j++)
    kernel_array_set (&row, j, j - 22);
  for (int i = 0; i < M; i++)
    kernel_array_set (&col, i, i * 3 % 50 - 25);
  x = kernel_array_scramble (&x);
  out = kernel_array_scramble (&out);

  AdjKView in[3] = { x, x, x };

  in[1].data = row.data;
  in[1].type = ADJ_K_I16;
  in[1].stride[0] = 0;
  in[1].stride[1] = 1;
  in[2].data = col.data;
  in[2].type = ADJ_K_BF16;
  in[2].stride[0] = 1;
  in[2].stride[1] = 0;

  g_assert_true (adj_k_program_check (&program));
  g_assert_true (adj_k_pointwise (&program, &out, in));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      {
        double a = (i * N + j) * 7 % 41 - 20, b = j - 22, c = i * 3 % 50 - 25;

        g_assert_cmpfloat (kernel_array_get (&out, i * N + j), ==, a * b + 0.5 < c ? a : b);
      }
}

/* Large enough for threads; the output is one of the inputs. */
static void
test_in_place (void)
{
  AdjKView x = kernel_array (ADJ_K_F32, 2, 300, 301), in[2] = { x, x };

  for (int i = 0; i < 300 * 301; i++)
    ((float *) x.data)[i] = (float) i;
  run_op ("add", ADJ_K_CLASS_F32, &x, in);
  for (int i = 0; i < 300 * 301; i++)
    g_assert_cmpfloat (((float *) x.data)[i], ==, 2 * (float) i);
}

static void
test_empty_and_scalar (void)
{
  AdjKView empty = kernel_array (ADJ_K_F32, 2, 0, 3), in[2] = { empty, empty };
  AdjKView scalar = kernel_array_of (ADJ_K_F64, (double[]){ 3 }, 0), on[2] = { scalar, scalar };

  g_assert_true (run_op ("add", ADJ_K_CLASS_F32, &empty, in));
  run_op ("mul", ADJ_K_CLASS_F64, &scalar, on);
  g_assert_cmpfloat (*(double *) scalar.data, ==, 9);
}

/* 16-bit results are rounded once: 1 + 2^-9 + 2^-9 with a rounding at each step would stay 1 in
 * bf16. */
static void
test_rounds_once (void)
{
  AdjKView x = kernel_array_of (ADJ_K_BF16, (double[]){ 0x1p-8 }, 1, 1),
           out = kernel_array (ADJ_K_BF16, 1, 1);
  const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = 1 },
    { .op = ADJ_K_OP_ADD, .dst = 1, .a = 1, .b = 0 },
    { .op = ADJ_K_OP_ADD, .dst = 1, .a = 1, .b = 0 },
  };
  AdjKProgram program = { ADJ_K_CLASS_F32, 1, 2, G_N_ELEMENTS (code), code, 1 };

  adj_k_pointwise (&program, &out, &x);
  g_assert_cmpfloat (kernel_array_get (&out, 0), ==, 1 + 0x1p-7);
}

/* A single rounding: a · a = 1 + 2^-11 + 2^-24, and a product rounded to f32 would lose the last
 * bit. */
static void
test_fma (void)
{
  AdjKView in[3] = { kernel_array_of (ADJ_K_F32, (double[]){ 1 + 0x1p-12 }, 1, 1),
                     kernel_array_of (ADJ_K_F32, (double[]){ 1 + 0x1p-12 }, 1, 1),
                     kernel_array_of (ADJ_K_F32, (double[]){ -1 }, 1, 1) };
  AdjKView out = kernel_array (ADJ_K_F32, 1, 1);

  run_op ("fma", ADJ_K_CLASS_F32, &out, in);
  g_assert_cmpfloat (*(float *) out.data, ==, 0x1p-11f + 0x1p-24f);
}

static void
test_check (void)
{
  const AdjKCode load = { .op = ADJ_K_OP_LOAD, .dst = 0 };
  const struct
  {
    const char *what;
    AdjKCode code[2];
    AdjKClass klass;
    gboolean valid;
  } rows[] = {
    { "plain", { load, { .op = ADJ_K_OP_NEG, .dst = 1 } }, ADJ_K_CLASS_F32, TRUE },
    { "unwritten register",
      { load, { .op = ADJ_K_OP_ADD, .dst = 1, .b = 1 } },
      ADJ_K_CLASS_F32,
      FALSE },
    { "register out of range", { load, { .op = ADJ_K_OP_NEG, .dst = 2 } }, ADJ_K_CLASS_F32, FALSE },
    { "no such input",
      { load, { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 } },
      ADJ_K_CLASS_F32,
      FALSE },
    { "negative input",
      { load, { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = -1 } },
      ADJ_K_CLASS_F32,
      FALSE },
    { "exp of integers", { load, { .op = ADJ_K_OP_EXP, .dst = 1 } }, ADJ_K_CLASS_I64, FALSE },
    { "bits of floats", { load, { .op = ADJ_K_OP_BITNOT, .dst = 1 } }, ADJ_K_CLASS_F64, FALSE },
    { "no such op", { load, { .op = ADJ_K_OP_N, .dst = 1 } }, ADJ_K_CLASS_F32, FALSE },
    { "result not written", { load, load }, ADJ_K_CLASS_F32, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjKProgram program = { rows[i].klass, 1, 2, 2, rows[i].code, 1 };

      g_test_message ("%s", rows[i].what);
      g_assert_cmpint (adj_k_program_check (&program), ==, rows[i].valid);
    }
}

static void
test_names (void)
{
  for (AdjKOp op = 0; op < ADJ_K_OP_N; op++)
    g_assert_cmpint (adj_k_op_find (adj_k_op_get_name (op)), ==, op);
  g_assert_cmpint (adj_k_op_find ("nonesuch"), ==, ADJ_K_OP_N);
  g_assert_cmpint (adj_k_op_get_arity (ADJ_K_OP_SELECT), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/pointwise/float-pairs", test_float_pairs);
  g_test_add_func ("/kernels/pointwise/many-terms", test_many_terms);
  g_test_add_func ("/kernels/pointwise/int-pairs", test_int_pairs);
  g_test_add_func ("/kernels/pointwise/square", test_square);
  g_test_add_func ("/kernels/pointwise/int-power", test_int_power);
  g_test_add_func ("/kernels/pointwise/zero-division", test_zero_division);
  g_test_add_func ("/kernels/pointwise/int32-wraps", test_int32_wraps);
  g_test_add_func ("/kernels/pointwise/program", test_program);
  g_test_add_func ("/kernels/pointwise/in-place", test_in_place);
  g_test_add_func ("/kernels/pointwise/empty-and-scalar", test_empty_and_scalar);
  g_test_add_func ("/kernels/pointwise/rounds-once", test_rounds_once);
  g_test_add_func ("/kernels/pointwise/fma", test_fma);
  g_test_add_func ("/kernels/pointwise/check", test_check);
  g_test_add_func ("/kernels/pointwise/names", test_names);

  return g_test_run ();
}
