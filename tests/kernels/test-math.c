/* SPDX-License-Identifier: MIT */

/* The scalar loops below the kernels: accuracy of the f32 functions, and equal bits from every
 * instruction set of this processor. */

#include <math.h>
#include <string.h>

#include "cpu/tile.h"
#include "kernel-test.h"

typedef struct
{
  const char *name;
  long double (*exact) (long double x);
  double bound; /* in ULP */
} Function;

static long double
sigmoid (long double x)
{
  return x < 0 ? expl (x) / (1 + expl (x)) : 1 / (1 + expl (-x));
}

static const Function functions[] = {
  { "exp", expl, 1.1 },        { "log", logl, 1 },       { "tanh", tanhl, 1.5 },
  { "sigmoid", sigmoid, 1.1 }, { "erf", erfl, 1.9 },     { "expm1", expm1l, 0.501 },
  { "log1p", log1pl, 0.501 },  { "sin", sinl, 0.501 },   { "cos", cosl, 0.501 },
  { "sqrt", sqrtl, 0.5 },      { "exp2", exp2l, 0.501 }, { "log2", log2l, 0.501 },
  { "log10", log10l, 0.501 },  { "tan", tanl, 0.501 },   { "asin", asinl, 1 },
  { "acos", acosl, 1 },        { "atan", atanl, 1 },     { "sinh", sinhl, 0.501 },
  { "cosh", coshl, 0.501 },    { "asinh", asinhl, 1 },   { "acosh", acoshl, 1 },
  { "atanh", atanhl, 1 },      { "erfc", erfcl, 1 },
};

/* Every 10007th bit pattern (an odd step reaches all exponents, signs and NaNs), and dense
 * around 1. */
static float
sample (guint32 i)
{
  const guint32 n = G_MAXUINT32 / 10007;
  guint32 bits = i < n ? i * 10007u : 0x3f000000u + (i - n) * 121u;
  float x;

  memcpy (&x, &bits, sizeof x);
  return i >= n && i % 2 ? -x : x;
}

static void
test_accuracy (gconstpointer data)
{
  const Function *function = data;
  OpLoop op = adj_k_loops ()->klass[ADJ_K_CLASS_F32].op[adj_k_op_find (function->name)];
  guint32 n = G_MAXUINT32 / 10007 + 200000;
  double worst = 0;
  float where = 0;

  for (guint32 start = 0; start < n; start += TILE)
    {
      float x[TILE], y[TILE];

      for (guint32 i = 0; i < TILE; i++)
        x[i] = sample (start + i);
      op (y, x, x, x, TILE);
      for (guint32 i = 0; i < TILE; i++)
        {
          double ulps = kernel_ulps (y[i], function->exact (x[i]));

          if (ulps > worst)
            {
              worst = ulps;
              where = x[i];
            }
        }
    }
  g_test_message ("%s: %.3f ULP at %a", function->name, worst, where);
  g_assert_cmpfloat (worst, <=, function->bound);
}

static gboolean
same_value (const void *a, const void *b, AdjKClass klass)
{
  gsize size = class_size (klass);
  double x = klass == ADJ_K_CLASS_F32 ? *(const float *) a : *(const double *) a;
  double y = klass == ADJ_K_CLASS_F32 ? *(const float *) b : *(const double *) b;

  return memcmp (a, b, size) == 0 || (klass != ADJ_K_CLASS_I64 && isnan (x) && isnan (y));
}

/* Powers by f64 are libm's, rounded, at every pair of special numbers and of random ones. */
static void
test_powers (void)
{
  static const float special[] = { 0,     -0.f,     1,  -1,    2,      3,      -3,        0.5f,
                                   -0.5f, 7,        -7, 1e-3f, -1e10f, 1e38,   0x1p-149f, 16777217,
                                   -2,    INFINITY, -5, NAN,   1.5f,   -1e-40f };
  const guint n_special = G_N_ELEMENTS (special);
  OpLoop op = adj_k_loops ()->klass[ADJ_K_CLASS_F32].op[ADJ_K_OP_POW];
  GRand *rand = g_rand_new_with_seed (1);

  for (guint round = 0; round < 4000; round++)
    {
      float x[TILE], y[TILE], z[TILE];
      float one = round < n_special ? special[round] : (float) g_rand_double_range (rand, -4, 4);

      for (guint i = 0; i < TILE; i++)
        {
          x[i] = i < n_special ? special[i] : sample (g_rand_int (rand));
          y[i] = round % 2 && i > n_special ? (float) g_rand_double_range (rand, -40, 40) : one;
        }
      op (z, x, y, x, TILE);
      for (guint i = 0; i < TILE; i++)
        {
          float expected = (float) pow (x[i], y[i]);

          if (!same_value (&z[i], &expected, ADJ_K_CLASS_F32))
            g_error ("%a to the power of %a is %a, not %a", x[i], y[i], z[i], expected);
        }
    }
  g_rand_free (rand);
}

/* 73⁴ is a tie of two f32, as are 11⁷ and 300⁴. */
static void
test_whole_powers (void)
{
  OpLoop op = adj_k_loops ()->klass[ADJ_K_CLASS_F32].op[ADJ_K_OP_POW];

  for (int base = -4096; base < 4096; base += TILE)
    for (int exponent = -3; exponent <= 30; exponent++)
      {
        float x[TILE], y[TILE], z[TILE];

        for (int i = 0; i < TILE; i++)
          {
            x[i] = (float) (base + i);
            y[i] = (float) exponent;
          }
        op (z, x, y, x, TILE);
        for (int i = 0; i < TILE; i++)
          if (z[i] != (float) pow (x[i], y[i]))
            g_error ("%a to the power of %d is %a", x[i], exponent, z[i]);
      }
}

/* At points with known values: π²/6, π²/2, π²/2 + 4, π⁴/15, −2ζ(3). */
static void
test_polygamma (void)
{
  static const struct
  {
    double n, x, exact;
  } points[] = {
    { 1, 1, 1.6449340668482264 }, { 1, 0.5, 4.934802200544679 }, { 1, -0.5, 8.934802200544679 },
    { 3, 1, 6.493939402266829 },  { 2, 1, -2.4041138063191886 },
  };
  OpLoop op = adj_k_loops ()->klass[ADJ_K_CLASS_F64].op[ADJ_K_OP_POLYGAMMA];

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    {
      double n[TILE] = { points[i].n }, x[TILE] = { points[i].x }, y[TILE];

      op (y, n, x, x, 1);
      g_assert_cmpfloat_with_epsilon (y[0], points[i].exact, 1e-15 * fabs (points[i].exact));
    }
}

static void
fill_random (void *tile, GRand *rand, AdjKClass klass)
{
  const double special[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-140 };

  for (int i = 0; i < TILE; i++)
    {
      gboolean is_special = g_rand_int_range (rand, 0, 8) == 0;
      double x = is_special
                     ? special[g_rand_int_range (rand, 0, 8)]
                     : ldexp (g_rand_double_range (rand, -2, 2), g_rand_int_range (rand, -20, 20));

      if (klass == ADJ_K_CLASS_F32)
        ((float *) tile)[i] = (float) x;
      else if (klass == ADJ_K_CLASS_F64)
        ((double *) tile)[i] = x;
      else
        ((gint64 *) tile)[i] = (gint64) ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand)) >>
                               g_rand_int_range (rand, 0, 63);
    }
}

static void
compare_ops (const Loops *loops, AdjKClass klass, GRand *rand)
{
  const ClassLoops *base = &adj_k_loops_base.klass[klass], *fast = &loops->klass[klass];

  for (AdjKOp op = 0; op < ADJ_K_OP_N; op++)
    for (int round = 0; base->op[op] && round < 40; round++)
      {
        Scalar x[3][TILE], expected[TILE], got[TILE];
        int n = round == 0 ? 1 : round == 1 ? 37 : TILE;

        for (int i = 0; i < 3; i++)
          fill_random (x[i], rand, klass);
        base->op[op](expected, x[0], x[1], x[2], n);
        fast->op[op](got, x[0], x[1], x[2], n);
        for (int i = 0; i < n; i++)
          {
            gsize at = (gsize) i * class_size (klass);

            if (!same_value ((char *) expected + at, (char *) got + at, klass))
              g_error ("%s differs", adj_k_op_get_name (op));
          }
      }
}

static void
compare_sums (const Loops *loops, AdjKClass klass, GRand *rand)
{
  const ClassLoops *base = &adj_k_loops_base.klass[klass], *fast = &loops->klass[klass];

  for (int combine = 0; combine < COMBINE_N; combine++)
    for (int n = 0; n <= TILE; n += 17)
      {
        Scalar x[TILE], expected, got;

        fill_random (x, rand, klass);
        base->reduce[combine].leaf (&expected, x, n);
        fast->reduce[combine].leaf (&got, x, n);
        g_assert_true (same_value (&expected, &got, klass));
      }
}

static void
compare_casts (const Loops *loops, AdjKClass klass, GRand *rand)
{
  const ClassLoops *base = &adj_k_loops_base.klass[klass], *fast = &loops->klass[klass];

  for (int type = 0; type < ADJ_K_N; type++)
    for (int round = 0; round < 40; round++)
      {
        Scalar x[TILE], expected[TILE] = { 0 }, got[TILE] = { 0 };

        fill_random (x, rand, klass);
        base->store[type](expected, 1, x, TILE);
        fast->store[type](got, 1, x, TILE);
        if (type < ADJ_K_F32 || round == 0)
          g_assert_cmpmem (expected, TILE * adj_k_type_get_size (type), got,
                           TILE * adj_k_type_get_size (type));
        memcpy (x, expected, sizeof x);
        base->load[type](expected, x, 1, TILE);
        fast->load[type](got, x, 1, TILE);
        for (int i = 0; i < TILE; i++)
          {
            gsize at = (gsize) i * class_size (klass);

            g_assert_true (same_value ((char *) expected + at, (char *) got + at, klass));
          }
      }
}

enum
{
  ROWS = 12, /* a multiple of every panel height */
  COLS = 32,
  STEPS = 50,
  ROW_RESULTS = 11
};

/* Computes the first @some rows by their own loop and the others by the loop for full panels;
 * both loops must agree. */
static void
multiply_panel (
    const ClassLoops *loops, gsize size, const Scalar *a, const Scalar *b, int some, char *acc)
{
  Scalar all[ROWS * COLS] = { 0 }, first[ROWS * COLS] = { 0 };

  loops->gemm[loops->gemm_rows](all, COLS, a, b, STEPS);
  loops->gemm[some](first, COLS, a, b, STEPS);
  for (int r = 0; r < loops->gemm_rows; r++)
    memcpy (acc + (gsize) (r * COLS) * size,
            (const char *) (r < some ? first : all) + (gsize) (r * COLS) * size,
            (gsize) loops->gemm_cols * size);
}

/* Multiplies two tiles of the class by panels of one instruction set into @acc, with the loop
 * for @some rows.  If a panel has more rows, the loop for full panels computes the rest. */
static void
multiply (const ClassLoops *loops, AdjKClass klass, const Scalar *x, int some, Scalar *acc)
{
  gsize size = class_size (klass);
  int rows = loops->gemm_rows, cols = loops->gemm_cols;
  Scalar a[ROWS * STEPS], b[COLS * STEPS];

  for (int i = 0; i < ROWS; i += rows)
    for (int j = 0; j < COLS; j += cols)
      {
        for (int k = 0; k < STEPS; k++)
          {
            for (int r = 0; r < rows; r++)
              memcpy ((char *) a + (gsize) (k * rows + r) * size,
                      (const char *) x + (gsize) ((i + r + k) % TILE) * size, size);
            for (int c = 0; c < cols; c++)
              memcpy ((char *) b + (gsize) (k * cols + c) * size,
                      (const char *) x + (gsize) ((j + c) * 3 % TILE + k) % TILE * size, size);
          }
        multiply_panel (loops, size, a, b, MIN (some, rows),
                        (char *) acc + (gsize) (i * COLS + j) * size);
      }
}

/* The other product loops give the same results as the one for panels. */
static void
compare_ways (const ClassLoops *loops, gsize size, const Scalar *x)
{
  Scalar a[ROWS * STEPS], b[(COLS + 3) * STEPS], panel[COLS * STEPS], line[ROWS * STEPS];
  Scalar expected[ROWS * COLS] = { 0 }, got[ROWS * COLS] = { 0 };
  const void *lines[ROWS];
  const GemmRun runs[] = { { 0, 7 }, { 7, STEPS - 7 } };
  gint64 at[STEPS];
  gsize row = (gsize) (loops->gemm_cols + 3) * size;

  for (int i = 0; i < ROWS * STEPS; i++)
    memcpy ((char *) a + (gsize) i * size, (const char *) x + (gsize) (i % TILE) * size, size);
  for (int i = 0; i < (COLS + 3) * STEPS; i++)
    memcpy ((char *) b + (gsize) i * size, (const char *) x + (gsize) (i * 7 % TILE) * size, size);
  for (int k = 0; k < STEPS; k++)
    {
      at[k] = (STEPS - 1 - k) * (loops->gemm_cols + 3) + 2;
      memcpy ((char *) panel + (gsize) (k * loops->gemm_cols) * size,
              (const char *) b + (gsize) (STEPS - 1 - k) * row + 2 * size,
              (gsize) loops->gemm_cols * size);
      for (int r = 0; r < loops->gemm_rows; r++)
        memcpy ((char *) line + (gsize) (r * STEPS + k) * size,
                (const char *) a + (gsize) (k * loops->gemm_rows + r) * size, size);
    }
  for (int r = 0; r < loops->gemm_rows; r++)
    lines[r] = (const char *) line + (gsize) (r * STEPS) * size;
  loops->gemm[loops->gemm_rows](expected, COLS, a, panel, STEPS);
  loops->gemm_lines[loops->gemm_rows](got, COLS, a, b, at, STEPS);
  g_assert_cmpmem (expected, ROWS * COLS * size, got, ROWS * COLS * size);
  memset (got, 0, sizeof got);
  loops->gemm_runs (got, COLS, lines, panel, runs, G_N_ELEMENTS (runs));
  g_assert_cmpmem (expected, ROWS * COLS * size, got, ROWS * COLS * size);
}

static void
compare_products (const Loops *loops, AdjKClass klass, GRand *rand)
{
  Scalar x[TILE];

  for (int i = 0; i < TILE; i++)
    if (klass == ADJ_K_CLASS_F32)
      ((float *) x)[i] = (float) g_rand_double_range (rand, -1, 1);
    else if (klass == ADJ_K_CLASS_F64)
      ((double *) x)[i] = g_rand_double_range (rand, -1, 1);
    else
      ((gint64 *) x)[i] = (gint64) ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand));
  compare_ways (&loops->klass[klass], class_size (klass), x);
  for (int some = 1; some <= loops->klass[klass].gemm_rows; some++)
    {
      Scalar expected[ROWS * COLS] = { 0 }, got[ROWS * COLS] = { 0 };

      multiply (&adj_k_loops_base.klass[klass], klass, x, some, expected);
      multiply (&loops->klass[klass], klass, x, some, got);
      g_assert_cmpmem (expected, ROWS * COLS * class_size (klass), got,
                       ROWS * COLS * class_size (klass));
    }
}

static void
compare_rows (const Loops *loops, AdjKClass klass, GRand *rand)
{
  const RowLoops *all[] = { &adj_k_loops_base.klass[klass].rows, &loops->klass[klass].rows };
  gsize size = class_size (klass);
  Scalar x[3 * TILE], out[2][ROW_RESULTS * TILE];

  for (int i = 0; i < 3 * TILE; i++)
    if (klass == ADJ_K_CLASS_F32)
      ((float *) x)[i] = (float) g_rand_double_range (rand, -1, 1);
    else
      ((double *) x)[i] = g_rand_double_range (rand, -1, 1);
  for (int i = 0; i < 2; i++)
    {
      const char *a = (const char *) x, *b = a + TILE * size, *c = b + TILE * size;
      char *to[ROW_RESULTS];

      for (int k = 0; k < ROW_RESULTS; k++)
        to[k] = memcpy ((char *) out[i] + (gsize) k * TILE * size, c, TILE * size);
      all[i]->normalize (to[0], a, b, c, TILE);
      all[i]->center (to[1], a, b, c, c + size, TILE);
      all[i]->add_normal (to[2], a, b, c, c + size, TILE);
      all[i]->subtract (to[3], a, c, TILE);
      all[i]->divide (to[4], a, c, TILE);
      all[i]->subtract_product (to[5], a, b, c, TILE);
      all[i]->deviate (to[6], a, c, TILE);
      all[i]->scale_normal (to[7], a, c, c + size, b, c, TILE);
      all[i]->spread (to[8], to[9], to[10], a, b, c, c, c + size, TILE);
    }
  g_assert_cmpmem (out[0], ROW_RESULTS * TILE * size, out[1], ROW_RESULTS * TILE * size);
}

static void
test_isa (gconstpointer data)
{
  const Loops *loops = adj_k_loops_get (GPOINTER_TO_UINT (data));
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  if (!loops)
    {
      g_test_skip ("this processor lacks the instruction set");
      return;
    }
  for (int klass = 0; klass < ADJ_K_CLASS_N; klass++)
    {
      compare_sums (loops, klass, rand);
      compare_casts (loops, klass, rand);
      compare_products (loops, klass, rand);
      if (klass != ADJ_K_CLASS_I64)
        compare_rows (loops, klass, rand);
      if (klass != ADJ_K_CLASS_F64) /* f64: libm, which may choose by processor */
        compare_ops (loops, klass, rand);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/math/accuracy/%s", functions[i].name);

      g_test_add_data_func (path, &functions[i], test_accuracy);
    }
  g_test_add_func ("/kernels/math/powers", test_powers);
  g_test_add_func ("/kernels/math/whole-powers", test_whole_powers);
  g_test_add_func ("/kernels/math/polygamma", test_polygamma);
  g_test_add_data_func ("/kernels/math/same-bits/v3", GUINT_TO_POINTER (ISA_V3), test_isa);
  g_test_add_data_func ("/kernels/math/same-bits/v4", GUINT_TO_POINTER (ISA_V4), test_isa);

  return g_test_run ();
}
