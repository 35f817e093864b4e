/* SPDX-License-Identifier: MIT */

/* Batch norm by channels gives the bits of the separate reductions and pointwise programs. */

#include <omp.h>

#include "adj-kernel-channel-norm.h"
#include "kernel-test.h"

enum
{
  BATCH = 3,
  CHANNELS = 5,
  ALL_BUT_CHANNELS = 13 /* of [BATCH, CHANNELS, height, width] */
};

/* Broadcasts one number per channel to the dims of x. */
static AdjKView
spread (const AdjKView *numbers, const AdjKView *x)
{
  AdjKView out = *x;

  out.data = numbers->data;
  out.type = numbers->type;
  for (int d = 0; d < x->rank; d++)
    out.stride[d] = d == 1 ? numbers->stride[0] : 0;
  return out;
}

/* Views @numbers with the dims of a reduction of x to channels. */
static AdjKView
reduced (const AdjKView *numbers, const AdjKView *x)
{
  AdjKView out = spread (numbers, x);

  for (int d = 0; d < x->rank; d++)
    if (d != 1)
      out.size[d] = 1;
  return out;
}

/* out = a op b, computed in the class of f32 unless @out is f64. */
static void
apply (AdjKOp op, const AdjKView *out, const AdjKView *a, const AdjKView *b)
{
  const AdjKCode code[] = { { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
                            { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
                            { .op = op, .a = 0, .b = 1, .dst = 0 } };
  const AdjKProgram program = {
    .klass = out->type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32,
    .n_inputs = 2,
    .n_regs = 2,
    .n_code = G_N_ELEMENTS (code),
    .code = code,
  };
  const AdjKView inputs[] = { *a, *b };

  g_assert_true (adj_k_pointwise (&program, out, inputs));
}

typedef struct
{
  AdjKType wide; /* type in which sums are computed */
  AdjKView x, g, w, b, mean, rstd;
} Case;

static Case
case_new (AdjKType type, int height, int width, gboolean scramble)
{
  Case c = {
    .wide = type == ADJ_K_F64 ? ADJ_K_F64 : ADJ_K_F32,
    .x = kernel_array (type, 4, BATCH, CHANNELS, height, width),
    .g = kernel_array (type, 4, BATCH, CHANNELS, height, width),
    .w = kernel_array (type, 1, CHANNELS),
    .b = kernel_array (type, 1, CHANNELS),
  };

  c.mean = kernel_array (c.wide, 1, CHANNELS);
  c.rstd = kernel_array (c.wide, 1, CHANNELS);
  kernel_array_randomize (&c.x, 1, -2, 4);
  kernel_array_randomize (&c.g, 2, -1, 1);
  kernel_array_randomize (&c.w, 3, 0.5, 1.5);
  kernel_array_randomize (&c.b, 4, -1, 1);
  kernel_array_randomize (&c.rstd, 5, 0.5, 2);
  if (scramble)
    c.g = kernel_array_scramble (&c.g);
  return c;
}

static void
check_forward (Case *c)
{
  AdjKView var = kernel_array (c->wide, 1, CHANNELS);
  AdjKView mean = kernel_array (c->wide, 1, CHANNELS);
  AdjKView variance = kernel_array (c->wide, 1, CHANNELS);
  AdjKView m = reduced (&mean, &c->x), v = reduced (&variance, &c->x), means, rstds, w, b;
  AdjKView y = kernel_array_like (c->x.type, &c->x), wanted = kernel_array_like (c->x.type, &c->x);
  AdjKView between = kernel_array_like (c->wide, &c->x);

  g_assert_true (adj_k_channel_norm_measure (&c->x, &c->mean, &var));
  adj_k_var_mean (&v, &m, &c->x, ALL_BUT_CHANNELS, 0);
  kernel_assert_same (&c->mean, &mean);
  kernel_assert_same (&var, &variance);

  means = spread (&c->mean, &c->x);
  rstds = spread (&c->rstd, &c->x);
  w = spread (&c->w, &c->x);
  b = spread (&c->b, &c->x);
  adj_k_channel_norm_write (&(AdjKChannelNorm){ c->x, y, c->mean, c->rstd, c->w, c->b });
  apply (ADJ_K_OP_SUB, &between, &c->x, &means);
  apply (ADJ_K_OP_MUL, &between, &between, &rstds);
  apply (ADJ_K_OP_MUL, &between, &between, &w);
  apply (ADJ_K_OP_ADD, &wanted, &between, &b);
  kernel_assert_same (&y, &wanted);
}

/* The mean of each channel, broadcast to x. */
static AdjKView
mean_over (const Case *c, const AdjKView *x)
{
  AdjKView mean = kernel_array (c->wide, 1, CHANNELS), to = reduced (&mean, x);

  adj_k_reduce (ADJ_K_MEAN, &to, x, ALL_BUT_CHANNELS);
  return spread (&mean, x);
}

static void
check_gradients (const Case *c,
                 const AdjKView *gx,
                 const AdjKView *gw,
                 const AdjKView *gb,
                 const AdjKView *weights)
{
  AdjKView normal = kernel_array_like (c->wide, &c->x), h = kernel_array_like (c->wide, &c->x);
  AdjKView products = kernel_array_like (c->wide, &c->x);
  AdjKView wanted = kernel_array_like (c->x.type, &c->x);
  AdjKView sums = kernel_array_like (gw->type, gw), to = reduced (&sums, &c->x);
  AdjKView means = spread (&c->mean, &c->x), rstds = spread (&c->rstd, &c->x), mean_h, mean_p;

  apply (ADJ_K_OP_SUB, &normal, &c->x, &means);
  apply (ADJ_K_OP_MUL, &normal, &normal, &rstds);
  apply (ADJ_K_OP_MUL, &products, &normal, &c->g);
  adj_k_reduce (ADJ_K_SUM, &to, &products, ALL_BUT_CHANNELS);
  kernel_assert_same (gw, &sums);
  adj_k_reduce (ADJ_K_SUM, &to, &c->g, ALL_BUT_CHANNELS);
  kernel_assert_same (gb, &sums);

  apply (ADJ_K_OP_MUL, &h, &c->g, weights);
  apply (ADJ_K_OP_MUL, &products, &normal, &h);
  mean_h = mean_over (c, &h);
  mean_p = mean_over (c, &products);
  apply (ADJ_K_OP_MUL, &normal, &normal, &mean_p);
  apply (ADJ_K_OP_ADD, &normal, &normal, &mean_h);
  apply (ADJ_K_OP_SUB, &h, &h, &normal);
  apply (ADJ_K_OP_MUL, &wanted, &h, &rstds);
  kernel_assert_same (gx, &wanted);
}

static void
check_backward (const Case *c)
{
  AdjKView gx = kernel_array_like (c->x.type, &c->x), w = spread (&c->w, &c->x);
  AdjKView gw = kernel_array_like (c->w.type, &c->w), gb = kernel_array_like (c->w.type, &c->w);

  g_assert_true (adj_k_channel_norm_backward (
      &(AdjKChannelNormBackward){ c->x, c->g, c->mean, c->rstd, c->w, &gx, &gw, &gb }));
  check_gradients (c, &gx, &gw, &gb, &w);
}

/* Summation leaves end inside a run, at its end, and after several runs; a scrambled g is not
 * supported. */
static void
test_bits (gconstpointer data)
{
  static const int sizes[][2] = { { 7, 7 }, { 32, 32 }, { 9, 8 }, { 40, 33 }, { 130, 61 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int threads = 1; threads <= 3; threads++)
      {
        Case c = case_new (GPOINTER_TO_INT (data), sizes[i][0], sizes[i][1], threads == 2);

        g_assert_true (adj_k_channel_norm_fits (&c.x));
        omp_set_num_threads (threads);
        check_forward (&c);
        check_backward (&c);
      }
}

static void
test_what_fits (void)
{
  AdjKView image = kernel_array (ADJ_K_F32, 4, 2, 3, 8, 8), last = image;
  AdjKView none = kernel_array (ADJ_K_F32, 4, 0, 3, 8, 8);
  AdjKView row = kernel_array (ADJ_K_F32, 2, 64, 3);

  last.stride[0] = 192;
  last.stride[1] = 1;
  last.stride[2] = 24;
  last.stride[3] = 3;
  g_assert_true (adj_k_channel_norm_fits (&image));
  g_assert_false (adj_k_channel_norm_fits (&last)); /* channels are contiguous */
  g_assert_false (adj_k_channel_norm_fits (&none));
  g_assert_false (adj_k_channel_norm_fits (&row));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/kernels/channel-norm/f32", GINT_TO_POINTER (ADJ_K_F32), test_bits);
  g_test_add_data_func ("/kernels/channel-norm/f64", GINT_TO_POINTER (ADJ_K_F64), test_bits);
  g_test_add_data_func ("/kernels/channel-norm/bf16", GINT_TO_POINTER (ADJ_K_BF16), test_bits);
  g_test_add_data_func ("/kernels/channel-norm/f16", GINT_TO_POINTER (ADJ_K_F16), test_bits);
  g_test_add_func ("/kernels/channel-norm/what-fits", test_what_fits);

  return g_test_run ();
}
