/* SPDX-License-Identifier: MIT */
/* Convolutions by minimal filtering (Winograd) against the ordinary kernels in f64. */

#include <math.h>
#include <omp.h>
#include <string.h>

#include "adj-kernel-winograd.h"
#include "kernel-test.h"

typedef struct
{
  gint images, channels, rows, height, width;
  gint64 padding[2];
} Shape;

/* Odd and even sizes, one row, fewer and more rows than a block, slices of channels, partial
 * panels. */
static const Shape shapes[] = {
  { 2, 24, 24, 12, 29, { 1, 1 } },  { 1, 40, 31, 31, 30, { 0, 2 } },
  { 1, 130, 26, 14, 58, { 2, 0 } }, { 3, 27, 150, 57, 29, { 1, 1 } },
  { 1, 64, 64, 2, 62, { 1, 1 } },   { 1, 33, 25, 1, 90, { 1, 0 } },
};

typedef bool (*Convolution) (const AdjKConv *);

static const Convolution fast[] = { adj_k_winograd, adj_k_winograd_input, adj_k_winograd_weight };
static const Convolution exact[] = { adj_k_conv, adj_k_conv_input, adj_k_conv_weight };

static AdjKView *
result_of (AdjKConv *conv, AdjKConvKind kind)
{
  return kind == ADJ_K_CONV_FORWARD ? &conv->y : kind == ADJ_K_CONV_INPUT ? &conv->x : &conv->w;
}

static AdjKConv
conv_new (const Shape *shape)
{
  AdjKConv conv = { .stride = { 1, 1 },
                    .padding = { shape->padding[0], shape->padding[1] },
                    .dilation = { 1, 1 },
                    .groups = 1 };

  conv.x = kernel_array (ADJ_K_F32, 4, shape->images, shape->channels, shape->height, shape->width);
  conv.w = kernel_array (ADJ_K_F32, 4, shape->rows, shape->channels, 3, 3);
  conv.y = kernel_array (ADJ_K_F32, 4, shape->images, shape->rows,
                         shape->height + 2 * (gint) shape->padding[0] - 2,
                         shape->width + 2 * (gint) shape->padding[1] - 2);
  kernel_array_randomize (&conv.x, 1, -1, 1);
  kernel_array_randomize (&conv.w, 2, -1, 1);
  kernel_array_randomize (&conv.y, 3, -1, 1);
  return conv;
}

static AdjKView
widened (const AdjKView *view)
{
  AdjKView wide = kernel_array_like (ADJ_K_F64, view);

  adj_k_copy (&wide, view);
  return wide;
}

/* |got - expected| / |expected| over all elements. */
static double
distance (const AdjKView *got, const AdjKView *expected)
{
  double error = 0, size = 0;

  for (gint64 i = 0; i < adj_k_view_count (got); i++)
    {
      double x = kernel_array_get (expected, i), e = kernel_array_get (got, i) - x;

      error += e * e;
      size += x * x;
    }
  return sqrt (error / size);
}

static void
check (AdjKConv conv, AdjKConvKind kind, gboolean with_bias)
{
  AdjKConv wide = conv;
  AdjKView bias = kernel_array (ADJ_K_F32, 1, (gint) result_of (&conv, kind)->size[1]);

  kernel_array_randomize (&bias, 4, -1, 1);
  wide.x = widened (&conv.x);
  wide.w = widened (&conv.w);
  wide.y = widened (&conv.y);
  conv.bias = wide.bias = with_bias ? &bias : NULL;
  g_assert_true (fast[kind](&conv));
  g_assert_true (exact[kind](&wide));
  g_assert_cmpfloat (distance (result_of (&conv, kind), result_of (&wide, kind)), <, 16 * 0x1p-24);
}

static void
test_definition (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint kind = 0; kind < G_N_ELEMENTS (fast); kind++)
      for (gint scrambled = 0; scrambled < 2; scrambled++)
        {
          AdjKConv conv = conv_new (&shapes[i]);

          if (scrambled)
            {
              conv.x = kernel_array_scramble (&conv.x);
              conv.w = kernel_array_scramble (&conv.w);
              conv.y = kernel_array_scramble (&conv.y);
              kernel_array_randomize (&conv.x, 1, -1, 1);
              kernel_array_randomize (&conv.w, 2, -1, 1);
              kernel_array_randomize (&conv.y, 3, -1, 1);
            }
          check (conv, kind, scrambled && kind != ADJ_K_CONV_WEIGHT);
        }
}

/* Small integers and half-integers are exact in every step. */
static void
test_exact_numbers (void)
{
  AdjKConv conv = conv_new (&shapes[0]);
  AdjKView expected;

  for (gint64 i = 0; i < adj_k_view_count (&conv.x); i++)
    kernel_array_set (&conv.x, i, (double) (i * 7 % 11 - 5));
  for (gint64 i = 0; i < adj_k_view_count (&conv.w); i++)
    kernel_array_set (&conv.w, i, (double) (i * 5 % 9 - 4));
  g_assert_true (adj_k_conv (&conv));
  expected = conv.y;
  conv.y = kernel_array_like (ADJ_K_F32, &expected);
  g_assert_true (adj_k_winograd (&conv));
  kernel_assert_same (&conv.y, &expected);
}

static void
test_threads_change_no_bit (void)
{
  gint most = omp_get_max_threads ();

  for (guint kind = 0; kind < G_N_ELEMENTS (fast); kind++)
    {
      AdjKConv conv = conv_new (&shapes[3]), other = conv_new (&shapes[3]);

      omp_set_num_threads (1);
      g_assert_true (fast[kind](&conv));
      omp_set_num_threads (3);
      g_assert_true (fast[kind](&other));
      kernel_assert_same (result_of (&conv, kind), result_of (&other, kind));
    }
  omp_set_num_threads (most);
}

static void
test_pays (void)
{
  const Shape wide = { 4, 64, 64, 56, 56, { 1, 1 } }, narrow = { 4, 8, 32, 56, 56, { 1, 1 } },
              small = { 1, 64, 64, 3, 3, { 1, 1 } };
  AdjKConv conv = conv_new (&wide);

  for (guint kind = 0; kind < G_N_ELEMENTS (fast); kind++)
    g_assert_true (adj_k_winograd_pays (&conv, kind));
  conv.stride[1] = 2;
  g_assert_false (adj_k_winograd_pays (&conv, ADJ_K_CONV_FORWARD));
  conv = conv_new (&narrow);
  g_assert_false (adj_k_winograd_pays (&conv, ADJ_K_CONV_FORWARD));
  conv = conv_new (&small);
  g_assert_false (adj_k_winograd_pays (&conv, ADJ_K_CONV_FORWARD));
}

/* Speed is reported, not judged. */
static void
test_speed (void)
{
  const Shape shape = { 4, 64, 64, 56, 56, { 1, 1 } };
  AdjKConv conv = conv_new (&shape);

  for (guint kind = 0; kind < G_N_ELEMENTS (fast); kind++)
    {
      gint64 start = g_get_monotonic_time (), middle;

      g_assert_true (exact[kind](&conv));
      middle = g_get_monotonic_time ();
      g_assert_true (fast[kind](&conv));
      g_test_message ("64→64 3×3 @56, kind %u: %.2f times as fast", kind,
                      (double) (middle - start) / (double) (g_get_monotonic_time () - middle));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/winograd/definition", test_definition);
  g_test_add_func ("/kernels/winograd/exact-numbers", test_exact_numbers);
  g_test_add_func ("/kernels/winograd/threads-change-no-bit", test_threads_change_no_bit);
  g_test_add_func ("/kernels/winograd/pays", test_pays);
  g_test_add_func ("/kernels/winograd/speed", test_speed);
  return g_test_run ();
}
