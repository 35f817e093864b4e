/* SPDX-License-Identifier: MIT */
/* Softmax against long double. */

#include <math.h>

#include "kernel-test.h"

/* Row-major index of element @i of the row along @dim whose first element is @first. */
static gint64
along (const AdjKView *view, int dim, gint64 first, gint64 i)
{
  for (int d = view->rank - 1; d > dim; d--)
    i *= view->size[d];
  return first + i;
}

static gboolean
begins_row (const AdjKView *view, int dim, gint64 element)
{
  for (int d = view->rank - 1; d > dim; d--)
    element /= view->size[d];
  return element % view->size[dim] == 0;
}

/* log Σ e^x in long double. */
static long double
exact_lse (const AdjKView *view, int dim, gint64 first)
{
  long double top = -INFINITY, sum = 0;

  for (gint64 i = 0; i < view->size[dim]; i++)
    top = MAX (top, kernel_array_get (view, along (view, dim, first, i)));
  for (gint64 i = 0; i < view->size[dim]; i++)
    sum += expl (kernel_array_get (view, along (view, dim, first, i)) - top);
  return top + logl (sum);
}

static double
tolerance_of (AdjKType type)
{
  return type == ADJ_K_F64    ? 2e-15
         : type == ADJ_K_F16  ? 0x1p-11
         : type == ADJ_K_BF16 ? 0x1p-8
                              : 1e-6;
}

static void
test_forward (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  double tolerance = tolerance_of (type);
  double smallest = type == ADJ_K_F16 ? 0x1p-25 : 1e-42; /* relative errors are not meaningful
                                                            below it */
  AdjKView x = kernel_array (type, 3, 6, 1300, 5), y, logs;

  kernel_array_randomize (&x, 4, -30, 30);
  for (int dim = 0; dim < 3; dim++)
    {
      x = kernel_array_scramble (&x);
      y = kernel_array_like (type, &x);
      logs = kernel_array_scramble (&y);
      adj_k_softmax (&y, &x, dim);
      adj_k_log_softmax (&logs, &x, dim);
      for (gint64 first = 0; first < adj_k_view_count (&x); first++)
        {
          long double lse;

          if (!begins_row (&x, dim, first))
            continue;
          lse = exact_lse (&x, dim, first);
          for (gint64 i = 0; i < x.size[dim]; i++)
            {
              gint64 at = along (&x, dim, first, i);
              double expected = (double) (kernel_array_get (&x, at) - lse);

              kernel_assert_near (kernel_array_get (&logs, at), expected,
                                  tolerance * MAX (fabs (expected), 4));
              kernel_assert_near (kernel_array_get (&y, at), exp (expected),
                                  6 * tolerance * exp (expected) + smallest);
            }
        }
    }
}

/* A row as long as a vocabulary, longer than any buffer, with equal bits for all strides. */
static void
test_long_row (void)
{
  AdjKView x = kernel_array (ADJ_K_F32, 2, 2, 50257), y, other, from;
  double sum = 0;

  kernel_array_randomize (&x, 4, -4, 4);
  y = kernel_array_like (ADJ_K_F32, &x);
  adj_k_softmax (&y, &x, 1);
  for (int i = 0; i < 50257; i++)
    sum += ((float *) y.data)[i];
  kernel_assert_near (sum, 1, 1e-6);
  from = kernel_array_scramble (&x);
  other = kernel_array_scramble (&y);
  adj_k_softmax (&other, &from, 1);
  kernel_assert_same (&other, &y);
}

/* Results of PyTorch. */
static void
test_special (void)
{
  const double x[] = { -INFINITY, -INFINITY, 1, INFINITY, 1, -INFINITY, NAN, 0 };
  AdjKView in = kernel_array_of (ADJ_K_F32, x, 2, 4, 2), out = kernel_array (ADJ_K_F32, 2, 4, 2);
  AdjKView empty = kernel_array (ADJ_K_F32, 2, 3, 0), none = kernel_array (ADJ_K_F32, 2, 0, 3);
  AdjKView scalar = kernel_array_of (ADJ_K_F32, (double[]){ 7 }, 0),
           to = kernel_array (ADJ_K_F32, 0);

  adj_k_softmax (&out, &in, 1);
  kernel_assert_equal (&out, (double[]){ NAN, NAN, NAN, NAN, 1, 0, NAN, NAN });
  adj_k_softmax (&empty, &empty, 1);
  adj_k_softmax (&none, &none, 1);
  adj_k_softmax (&to, &scalar, 0);
  kernel_assert_equal (&to, (double[]){ 1 });
  adj_k_log_softmax (&to, &scalar, -1);
  kernel_assert_equal (&to, (double[]){ 0 });
}

static void
test_backward (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  double tolerance = 4 * tolerance_of (type);
  AdjKView x = kernel_array (type, 3, 4, 70, 3), g, y, gx;

  kernel_array_randomize (&x, 4, -3, 3);
  g = kernel_array_like (type, &x);
  kernel_array_randomize (&g, 8, -1, 1);
  g = kernel_array_scramble (&g);
  for (int dim = 0; dim < 3; dim++)
    for (int log = 0; log < 2; log++)
      {
        y = kernel_array_like (type, &x);
        gx = kernel_array_scramble (&x);
        (log ? adj_k_log_softmax : adj_k_softmax) (&y, &x, dim);
        (log ? adj_k_log_softmax_backward : adj_k_softmax_backward) (&gx, &g, &y, dim);
        for (gint64 first = 0; first < adj_k_view_count (&x); first++)
          {
            long double sum = 0;

            if (!begins_row (&x, dim, first))
              continue;
            for (gint64 i = 0; i < x.size[dim]; i++)
              {
                gint64 at = along (&x, dim, first, i);

                sum += kernel_array_get (&g, at) * (log ? 1 : kernel_array_get (&y, at));
              }
            for (gint64 i = 0; i < x.size[dim]; i++)
              {
                gint64 at = along (&x, dim, first, i);
                long double p = kernel_array_get (&y, at), dy = kernel_array_get (&g, at);

                p = log ? expl (p) : p;
                kernel_assert_near (kernel_array_get (&gx, at),
                                    (double) (log ? dy - p * sum : p * (dy - sum)), tolerance);
              }
          }
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  kernel_add_for_floats ("/kernels/softmax/forward", test_forward);
  kernel_add_for_floats ("/kernels/softmax/backward", test_backward);
  g_test_add_func ("/kernels/softmax/long-row", test_long_row);
  g_test_add_func ("/kernels/softmax/special", test_special);

  return g_test_run ();
}
