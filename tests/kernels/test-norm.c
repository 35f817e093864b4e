/* SPDX-License-Identifier: MIT */

/* Layer normalisation against its formula in long double. */

#include <math.h>

#include "kernel-test.h"

typedef struct
{
  AdjKType type;
  int rows, n;
} Case;

typedef struct
{
  AdjKView x, g, w, b;
} Inputs;

/* [rows / 2, 2, n / 3, 3] with the last two dims normalised: two outer and two inner dims. */
static Inputs
inputs_new (const Case *c)
{
  Inputs in = {
    .x = kernel_array (c->type, 4, c->rows / 2, 2, c->n / 3, 3),
    .g = kernel_array (c->type, 4, c->rows / 2, 2, c->n / 3, 3),
    .w = kernel_array (c->type, 2, c->n / 3, 3),
    .b = kernel_array (c->type, 2, c->n / 3, 3),
  };

  kernel_array_randomize (&in.x, 1, -2, 4);
  kernel_array_randomize (&in.g, 2, -1, 1);
  kernel_array_randomize (&in.w, 3, 0.5, 1.5);
  kernel_array_randomize (&in.b, 4, -1, 1);
  return in;
}

static AdjKView
stats_new (AdjKType type, const Case *c)
{
  return kernel_array (type, 4, c->rows / 2, 2, 1, 1);
}

typedef struct
{
  long double mean, rstd;
} Stats;

static Stats
exact_stats (const AdjKView *x, int row, int n, double eps)
{
  long double mean = 0, var = 0;

  for (int i = 0; i < n; i++)
    mean += kernel_array_get (x, (gint64) row * n + i);
  mean /= n;
  for (int i = 0; i < n; i++)
    {
      long double d = kernel_array_get (x, (gint64) row * n + i) - mean;

      var += d * d / n;
    }
  return (Stats){ mean, 1 / sqrtl (var + eps) };
}

static double
tolerance_of (AdjKType type)
{
  return type == ADJ_K_F64 ? 4e-15 : type == ADJ_K_BF16 ? 0x1p-7 : 2e-6;
}

static void
test_forward (gconstpointer data)
{
  const Case *c = data;
  Inputs in = inputs_new (c);
  AdjKType stat = c->type == ADJ_K_BF16 ? ADJ_K_F32 : c->type;
  double tolerance = tolerance_of (c->type);
  AdjKLayerNorm norm = {
    .x = kernel_array_scramble (&in.x),
    .y = kernel_array_scramble (&in.g),
    .mean = stats_new (stat, c),
    .rstd = stats_new (stat, c),
    .w = &in.w,
    .b = &in.b,
    .n_dims = 2,
    .eps = 1e-5,
  };
  AdjKLayerNorm plain = norm;

  plain.x = in.x;
  plain.y = kernel_array_like (c->type, &in.x);
  plain.w = plain.b = NULL;
  adj_k_layer_norm (&plain);
  adj_k_layer_norm (&norm);
  for (int row = 0; row < c->rows; row++)
    {
      Stats s = exact_stats (&in.x, row, c->n, 1e-5);

      kernel_assert_near (kernel_array_get (&norm.mean, row), (double) s.mean, tolerance);
      kernel_assert_near (kernel_array_get (&norm.rstd, row), (double) s.rstd, tolerance);
      for (int i = 0; i < c->n; i++)
        {
          gint64 at = (gint64) row * c->n + i;
          long double hat = (kernel_array_get (&in.x, at) - s.mean) * s.rstd;
          long double y = hat * kernel_array_get (&in.w, i) + kernel_array_get (&in.b, i);

          kernel_assert_near (kernel_array_get (&plain.y, at), (double) hat, tolerance * 4);
          kernel_assert_near (kernel_array_get (&norm.y, at), (double) y, tolerance * 4);
        }
    }
}

static void
check_gx (const Case *c, const Inputs *in, const AdjKView *gx)
{
  for (int row = 0; row < c->rows; row++)
    {
      Stats s = exact_stats (&in->x, row, c->n, 1e-5);
      long double sum_h = 0, sum_p = 0;

      for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < c->n; i++)
          {
            gint64 at = (gint64) row * c->n + i;
            long double hat = (kernel_array_get (&in->x, at) - s.mean) * s.rstd;
            long double h =
                (long double) kernel_array_get (&in->g, at) * kernel_array_get (&in->w, i);

            if (pass == 0)
              {
                sum_h += h;
                sum_p += h * hat;
              }
            else
              kernel_assert_near (kernel_array_get (gx, at),
                                  (double) (s.rstd / c->n * (c->n * h - sum_h - hat * sum_p)),
                                  tolerance_of (c->type) * 2);
          }
    }
}

static void
check_gw_gb (const Case *c, const Inputs *in, const AdjKView *gw, const AdjKView *gb)
{
  for (int i = 0; i < c->n; i++)
    {
      long double sum_w = 0, sum_b = 0;

      for (int row = 0; row < c->rows; row++)
        {
          gint64 at = (gint64) row * c->n + i;
          Stats s = exact_stats (&in->x, row, c->n, 1e-5);
          long double g = kernel_array_get (&in->g, at);

          sum_w += g * (kernel_array_get (&in->x, at) - s.mean) * s.rstd;
          sum_b += g;
        }
      kernel_assert_near (kernel_array_get (gw, i), (double) sum_w,
                          tolerance_of (c->type) * sqrt (c->rows) * 2);
      kernel_assert_near (kernel_array_get (gb, i), (double) sum_b,
                          tolerance_of (c->type) * sqrt (c->rows) * 2);
    }
}

static void
test_backward (gconstpointer data)
{
  const Case *c = data;
  Inputs in = inputs_new (c);
  AdjKType stat = c->type == ADJ_K_BF16 ? ADJ_K_F32 : c->type;
  AdjKLayerNorm norm = {
    .x = in.x,
    .y = kernel_array_like (c->type, &in.x),
    .mean = stats_new (stat, c),
    .rstd = stats_new (stat, c),
    .n_dims = 2,
    .eps = 1e-5,
  };
  AdjKView gx = kernel_array_scramble (&in.x), gw = kernel_array_scramble (&in.w);
  AdjKView gb = kernel_array_scramble (&in.w), again = kernel_array_like (c->type, &in.w);
  AdjKLayerNormBackward back = { .w = &in.w, .gx = &gx, .gw = &gw, .gb = &gb, .n_dims = 2 };

  adj_k_layer_norm (&norm);
  back.g = kernel_array_scramble (&in.g);
  back.x = kernel_array_scramble (&in.x);
  back.mean = norm.mean;
  back.rstd = norm.rstd;
  adj_k_layer_norm_backward (&back);
  check_gx (c, &in, &gx);
  check_gw_gb (c, &in, &gw, &gb);

  back.g = in.g;
  back.x = in.x;
  back.gw = &again;
  back.gx = back.gb = NULL;
  adj_k_layer_norm_backward (&back);
  kernel_assert_same (&again, &gw);
}

/* Dims that do not join: the position of an element is found by dividing by their sizes. */
static void
test_no_elements (void)
{
  float data[2] = { 0 };
  AdjKView x = {
    .type = ADJ_K_F32, .rank = 3, .size = { 2, 3, 0 }, .stride = { 1, 7, 5 }, .data = data
  };
  AdjKLayerNorm norm = {
    .x = x,
    .y = x,
    .mean = kernel_array (ADJ_K_F32, 3, 2, 1, 1),
    .rstd = kernel_array (ADJ_K_F32, 3, 2, 1, 1),
    .n_dims = 2,
    .eps = 1e-5,
  };

  adj_k_layer_norm (&norm);
  for (int row = 0; row < 2; row++)
    g_assert_true (isnan (kernel_array_get (&norm.rstd, row)));
}

static void
test_no_rows (void)
{
  AdjKView w = kernel_array_of (ADJ_K_F32, (double[]){ 5, 5, 5 }, 1, 3), gb = w,
           gw = kernel_array_like (ADJ_K_F32, &w);
  AdjKLayerNormBackward back = {
    .g = kernel_array (ADJ_K_F32, 2, 0, 3),
    .x = kernel_array (ADJ_K_F32, 2, 0, 3),
    .mean = kernel_array (ADJ_K_F32, 2, 0, 1),
    .rstd = kernel_array (ADJ_K_F32, 2, 0, 1),
    .gw = &gw,
    .gb = &gb,
    .n_dims = 1,
  };

  adj_k_layer_norm_backward (&back);
  kernel_assert_equal (&gw, (double[]){ 0, 0, 0 });
  kernel_assert_equal (&gb, (double[]){ 0, 0, 0 });
}

int
main (int argc, char **argv)
{
  static const Case cases[] = { { ADJ_K_F32, 6, 48 },
                                { ADJ_K_F32, 2, 3999 },
                                { ADJ_K_F32, 2100, 21 },
                                { ADJ_K_F64, 10, 1200 },
                                { ADJ_K_BF16, 4, 96 } };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *size = g_strdup_printf ("%dx%d-%u", cases[i].rows, cases[i].n, i);
      g_autofree char *forward = g_strconcat ("/kernels/norm/forward/", size, NULL);
      g_autofree char *backward = g_strconcat ("/kernels/norm/backward/", size, NULL);

      g_test_add_data_func (forward, &cases[i], test_forward);
      g_test_add_data_func (backward, &cases[i], test_backward);
    }
  g_test_add_func ("/kernels/norm/no-rows", test_no_rows);
  g_test_add_func ("/kernels/norm/no-elements", test_no_elements);

  return g_test_run ();
}
