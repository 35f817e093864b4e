/* SPDX-License-Identifier: MIT */
/* Makes random views and compares the bits of the results of two backends. */

#include "cuda-check.h"

#include <math.h>
#include <string.h>

#include "adj-emulator.h"

AdjKQueue cpu;
EmulatedQueue cuda;

static guint32 seed;

gboolean
is_float (AdjKType type)
{
  return adj_k_type_is_float (type);
}

/* Makes random elements; every third array has permuted dims and gaps. */
AdjKView
some_of (AdjKType type, double low, double high, gint rank, const gint *sizes)
{
  AdjKView view = { 0 };

  switch (rank)
    {
    case 0:
      view = kernel_array (type, 0);
      break;
    case 1:
      view = kernel_array (type, 1, sizes[0]);
      break;
    case 2:
      view = kernel_array (type, 2, sizes[0], sizes[1]);
      break;
    case 3:
      view = kernel_array (type, 3, sizes[0], sizes[1], sizes[2]);
      break;
    case 4:
      view = kernel_array (type, 4, sizes[0], sizes[1], sizes[2], sizes[3]);
      break;
    default:
      view = kernel_array (type, 5, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]);
      break;
    }
  kernel_array_randomize (&view, ++seed, low, high);
  return seed % 3 == 0 && adj_k_view_count (&view) > 0 ? kernel_array_scramble (&view) : view;
}

AdjKView
copy_of (const AdjKView *view)
{
  AdjKView out = kernel_array_like (view->type, view);

  adj_k_copy (&out, view);
  return out;
}

/* Expects the same bits; all NaNs are equal. */
void
assert_pair (const char *what, const Pair out)
{
  const char *problem = adj_emulator_take_problem ();

  if (problem != NULL)
    g_error ("%s: %s", what, problem);
  g_assert_null (cuda.queue.lacks);
  for (gint64 i = 0; i < adj_k_view_count (&out[0]); i++)
    {
      double a = kernel_array_get (&out[0], i), b = kernel_array_get (&out[1], i);

      if (memcmp (&a, &b, sizeof a) != 0 && !(isnan (a) && isnan (b)))
        g_error ("%s: type %d: element %" G_GINT64_FORMAT ": %.17g on the CPU, %.17g on CUDA", what,
                 (gint) out[0].type, i, a, b);
    }
}
