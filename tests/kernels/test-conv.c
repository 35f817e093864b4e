/* SPDX-License-Identifier: MIT */
/* Convolutions against their definition. */

#include <math.h>

#include "adj-kernel-conv.h"
#include "kernel-test.h"

/* The definition in f64, one product at a time. */

typedef struct
{
  AdjKConv conv;
  gint64 x[3], w[3], y[3]; /* sizes of the spatial dims; 1 where there are none */
  gint64 stride[3], padding[3], dilation[3];
} Case;

/* Calls @product with the row-major indices of each pair of elements that are multiplied. */
static void
for_each_product (const Case *c,
                  void (*product) (gint64 x, gint64 w, gint64 y, gpointer data),
                  gpointer data)
{
  gint64 n = c->conv.x.size[0], channels = c->conv.w.size[1], outputs = c->conv.y.size[1];
  gint64 per_group = outputs / c->conv.groups, all = channels * c->conv.groups;
  gint64 taps = c->w[0] * c->w[1] * c->w[2], positions = c->y[0] * c->y[1] * c->y[2];
  gint64 elements = c->x[0] * c->x[1] * c->x[2];

  for (gint64 i = 0; i < n * outputs * positions; i++)
    for (gint64 j = 0; j < channels * taps; j++)
      {
        gint64 p = i % positions, o = i / positions % outputs, t = j % taps, at = 0;
        gint64 position[3] = { p / c->y[2] / c->y[1], p / c->y[2] % c->y[1], p % c->y[2] };
        gint64 tap[3] = { t / c->w[2] / c->w[1], t / c->w[2] % c->w[1], t % c->w[2] };
        gint64 channel = o / per_group * channels + j / taps;
        gboolean inside = TRUE;

        for (gint d = 0; d < 3; d++)
          {
            gint64 e = position[d] * c->stride[d] - c->padding[d] + tap[d] * c->dilation[d];

            inside = inside && e >= 0 && e < c->x[d];
            at = at * c->x[d] + e;
          }
        if (inside)
          product ((i / positions / outputs * all + channel) * elements + at,
                   o * channels * taps + j, i, data);
      }
}

typedef struct
{
  const Case *c;
  double *sums;
} Sums;

static void
add_to_y (gint64 x, gint64 w, gint64 y, gpointer data)
{
  Sums *s = data;

  s->sums[y] += kernel_array_get (&s->c->conv.x, x) * kernel_array_get (&s->c->conv.w, w);
}

static void
add_to_x (gint64 x, gint64 w, gint64 y, gpointer data)
{
  Sums *s = data;

  s->sums[x] += kernel_array_get (&s->c->conv.y, y) * kernel_array_get (&s->c->conv.w, w);
}

static void
add_to_w (gint64 x, gint64 w, gint64 y, gpointer data)
{
  Sums *s = data;

  s->sums[w] += kernel_array_get (&s->c->conv.x, x) * kernel_array_get (&s->c->conv.y, y);
}

static void
check (const Case *c,
       const AdjKView *got,
       void (*product) (gint64 x, gint64 w, gint64 y, gpointer data),
       double tolerance)
{
  gint64 n = adj_k_view_count (got);
  g_autofree double *sums = g_new0 (double, n);
  Sums s = { c, sums };

  for_each_product (c, product, &s);
  for (gint64 i = 0; i < n; i++)
    {
      if (c->conv.bias != NULL && product != add_to_w)
        {
          gint64 area = 1;

          for (gint d = 2; d < got->rank; d++)
            area *= got->size[d];
          sums[i] += kernel_array_get (c->conv.bias, i / area % got->size[1]);
        }
      kernel_assert_near (kernel_array_get (got, i), sums[i], tolerance);
    }
}

static Case
case_new (AdjKType type, gint64 groups, const gint64 *x, const gint64 *w, const gint64 *o)
{
  Case c = { .conv = { .groups = groups } };

  for (gint d = 0; d < 3; d++)
    {
      c.x[d] = x[d];
      c.w[d] = w[d];
      c.conv.stride[d] = c.stride[d] = o[d];
      c.conv.padding[d] = c.padding[d] = o[3 + d];
      c.conv.dilation[d] = c.dilation[d] = o[6 + d];
      c.y[d] = (x[d] + 2 * o[3 + d] - o[6 + d] * (w[d] - 1) - 1) / o[d] + 1;
    }
  c.conv.x = kernel_array (type, 5, 2, (gint) (3 * groups), (gint) x[0], (gint) x[1], (gint) x[2]);
  c.conv.w = kernel_array (type, 5, (gint) (4 * groups), 3, (gint) w[0], (gint) w[1], (gint) w[2]);
  c.conv.y =
      kernel_array (type, 5, 2, (gint) (4 * groups), (gint) c.y[0], (gint) c.y[1], (gint) c.y[2]);
  return c;
}

static const struct
{
  gint64 groups;
  gint64 x[3], w[3];
  gint64 options[9]; /* stride, padding, dilation */
} shapes[] = {
  { 1, { 1, 1, 37 }, { 1, 1, 4 }, { 1, 1, 3, 0, 0, 2, 1, 1, 2 } },
  { 2, { 1, 9, 8 }, { 1, 3, 2 }, { 1, 2, 3, 0, 1, 0, 1, 2, 1 } },
  { 1, { 4, 5, 3 }, { 2, 3, 2 }, { 2, 1, 1, 1, 1, 0, 1, 1, 2 } },
  { 3, { 1, 6, 5 }, { 1, 1, 1 }, { 1, 2, 2, 0, 0, 0, 1, 1, 1 } },
  { 1, { 1, 70, 61 }, { 1, 3, 3 }, { 1, 1, 1, 0, 1, 1, 1, 1, 1 } }, /* several chunks */
};

static void
check_shape (AdjKType type, guint i, gboolean scrambled, double tolerance)
{
  Case c = case_new (type, shapes[i].groups, shapes[i].x, shapes[i].w, shapes[i].options);
  AdjKView bias = kernel_array (type, 1, (gint) c.conv.y.size[1]);

  if (scrambled)
    {
      c.conv.x = kernel_array_scramble (&c.conv.x);
      c.conv.w = kernel_array_scramble (&c.conv.w);
      c.conv.y = kernel_array_scramble (&c.conv.y);
    }
  kernel_array_randomize (&c.conv.x, 1, -1, 1);
  kernel_array_randomize (&c.conv.w, 2, -1, 1);
  kernel_array_randomize (&bias, 3, -1, 1);
  c.conv.bias = &bias;
  g_assert_true (adj_k_conv (&c.conv));
  check (&c, &c.conv.y, add_to_y, tolerance);

  c.conv.bias = NULL;
  kernel_array_randomize (&c.conv.y, 4, -1, 1);
  g_assert_true (adj_k_conv_weight (&c.conv));
  check (&c, &c.conv.w, add_to_w, 20 * tolerance);

  kernel_array_randomize (&c.conv.w, 5, -1, 1);
  g_assert_true (adj_k_conv_input (&c.conv));
  check (&c, &c.conv.x, add_to_x, tolerance);
}

static void
test_definition (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (gint scrambled = 0; scrambled < 2; scrambled++)
      {
        check_shape (ADJ_K_F64, i, scrambled, 1e-13);
        check_shape (ADJ_K_F32, i, scrambled, 1e-5);
        check_shape (ADJ_K_BF16, i, scrambled, 0.05);
      }
}

/* Views @n channels along dim @dim from @first on. */
static AdjKView
channels_of (const AdjKView *view, gint dim, gint64 first, gint64 n)
{
  AdjKView part = *view;

  part.data =
      (char *) view->data + first * view->stride[dim] * (gint64) adj_k_type_get_size (view->type);
  part.size[dim] = n;
  return part;
}

/* Few and many channels take different code paths and give the same bits. */
static void
test_channels_are_independent (void)
{
  AdjKConv conv = { .stride = { 1, 1 }, .padding = { 1, 2 }, .dilation = { 1, 2 }, .groups = 1 };
  AdjKView w, y;

  conv.x = kernel_array (ADJ_K_F32, 4, 3, 5, 37, 41);
  conv.w = kernel_array (ADJ_K_F32, 4, 32, 5, 3, 3);
  conv.y = kernel_array (ADJ_K_F32, 4, 3, 32, 37, 41);
  kernel_array_randomize (&conv.x, 1, -1, 1);
  kernel_array_randomize (&conv.y, 2, -1, 1);
  g_assert_true (adj_k_conv_weight (&conv));
  w = conv.w;
  y = conv.y;
  for (gint64 i = 0; i < 32; i += 4)
    {
      AdjKView expected = channels_of (&w, 0, i, 4);

      conv.w = kernel_array (ADJ_K_F32, 4, 4, 5, 3, 3);
      conv.y = channels_of (&y, 1, i, 4);
      g_assert_true (adj_k_conv_weight (&conv));
      kernel_assert_same (&conv.w, &expected);
    }
}

/* Returns the same numbers in f32. */
static AdjKView
widened (const AdjKView *view)
{
  AdjKView wide = kernel_array_like (ADJ_K_F32, view);

  for (gint64 i = 0; i < adj_k_view_count (view); i++)
    kernel_array_set (&wide, i, kernel_array_get (view, i));
  return wide;
}

static void
test_bf16_has_the_bits_of_f32 (void)
{
  static const double ranges[] = { 1, 0x1p-66 }; /* products of the second are subnormal */

  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    for (gint reversed = 0; reversed < 2; reversed++)
      {
        AdjKConv conv = { .stride = { 1, 1 },
                          .padding = { 1, 1 },
                          .dilation = { 1, 1 },
                          .groups = 1 },
                 wide = conv;
        bool (*const run) (const AdjKConv *) = reversed ? adj_k_conv_input : adj_k_conv;
        AdjKView *from = reversed ? &conv.y : &conv.x, *to = reversed ? &conv.x : &conv.y;

        conv.x = kernel_array (ADJ_K_BF16, 4, 2, 15, 17, 33);
        conv.w = kernel_array (ADJ_K_BF16, 4, 15, 15, 3, 3);
        conv.y = kernel_array (ADJ_K_BF16, 4, 2, 15, 17, 33);
        kernel_array_randomize (from, 1, -ranges[i], ranges[i]);
        kernel_array_randomize (&conv.w, 2, -ranges[i], ranges[i]);
        *to = kernel_array_like (ADJ_K_F32, to);
        wide.w = widened (&conv.w);
        wide.x = reversed ? kernel_array_like (ADJ_K_F32, to) : widened (from);
        wide.y = reversed ? widened (from) : kernel_array_like (ADJ_K_F32, to);
        g_assert_true (run (&conv));
        g_assert_true (run (&wide));
        kernel_assert_same (to, reversed ? &wide.x : &wide.y);
      }
}

/* Rows of even and odd length, one image of three with subnormal products, and more channels
 * than a panel has. */
static void
test_bf16_weights_have_the_bits_of_f32 (void)
{
  for (int width = 17; width <= 34; width += 17)
    {
      AdjKConv conv = {
        .stride = { 1, 1 }, .padding = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1
      };
      AdjKConv wide = conv;

      conv.x = kernel_array (ADJ_K_BF16, 4, 3, 5, 21, width);
      conv.y = kernel_array (ADJ_K_BF16, 4, 3, 60, 21, width);
      kernel_array_randomize (&conv.x, 1, -1, 1);
      kernel_array_randomize (&conv.y, 2, -1, 1);
      for (int i = 0; i < 5 * 21 * width; i++)
        kernel_array_set (&conv.x, i, kernel_array_get (&conv.x, i) * 0x1p-130);
      conv.w = kernel_array (ADJ_K_F32, 4, 60, 5, 3, 3);
      wide.x = widened (&conv.x);
      wide.y = widened (&conv.y);
      wide.w = kernel_array (ADJ_K_F32, 4, 60, 5, 3, 3);
      g_assert_true (adj_k_conv_weight (&conv));
      g_assert_true (adj_k_conv_weight (&wide));
      kernel_assert_same (&conv.w, &wide.w);
    }
}

/* Reports GF/s of forward, gradient of input and gradient of weight; nothing is judged. */
static void
test_speed (void)
{
  AdjKConv conv = { .stride = { 1, 1 }, .padding = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1 };
  double flops = 2.0 * 4 * 64 * 64 * 9 * 56 * 56 * 1e-9;
  bool (*const functions[]) (const AdjKConv *) = { adj_k_conv, adj_k_conv_input,
                                                   adj_k_conv_weight };

  conv.x = kernel_array (ADJ_K_F32, 4, 4, 64, 56, 56);
  conv.w = kernel_array (ADJ_K_F32, 4, 64, 64, 3, 3);
  conv.y = kernel_array (ADJ_K_F32, 4, 4, 64, 56, 56);
  kernel_array_randomize (&conv.x, 1, -1, 1);
  kernel_array_randomize (&conv.w, 2, -1, 1);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      gint64 start = g_get_monotonic_time ();

      g_assert_true (functions[i](&conv));
      g_test_message ("64→64 3×3 @56, function %u: %.1f GF/s", i,
                      flops / ((double) (g_get_monotonic_time () - start) * 1e-6));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/conv/definition", test_definition);
  g_test_add_func ("/kernels/conv/channels-are-independent", test_channels_are_independent);
  g_test_add_func ("/kernels/conv/bf16-has-the-bits-of-f32", test_bf16_has_the_bits_of_f32);
  g_test_add_func ("/kernels/conv/bf16-weights-have-the-bits-of-f32",
                   test_bf16_weights_have_the_bits_of_f32);
  g_test_add_func ("/kernels/conv/speed", test_speed);
  return g_test_run ();
}
