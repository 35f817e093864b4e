/* SPDX-License-Identifier: MIT */
/* What rounding alone makes NaN or infinite: 0/0 where a mask that asks for equal bits finds none.
 */

#include <math.h>

#include "exec/deviation-private.h"
#include "exec/unstable-private.h"

static gboolean
same_class (double a, double b)
{
  return isfinite (a) ? isfinite (b) : isnan (a) ? isnan (b) : a == b;
}

/* The numbers of @data; %NULL when there are not @n. */
static double *
read_all (const AdjTensorData *data, gint64 n)
{
  gint64 found;
  double *numbers = data != NULL ? deviation_read (data, &found) : NULL;

  if (numbers != NULL && found != n)
    g_clear_pointer (&numbers, g_free);
  return numbers;
}

static AdjTensorData *
new_row (const double *numbers, gint64 n)
{
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F64, &n, 1, numbers, NULL);
}

/* Whether @number is of the class that one of both float64 runs gives. */
static gboolean
is_explained (double number, double unmoved, double moved)
{
  return same_class (number, unmoved) || same_class (number, moved);
}

void
stable_clear (Stable *stable)
{
  g_clear_pointer (&stable->own, adj_tensor_data_unref);
  g_clear_pointer (&stable->peer, adj_tensor_data_unref);
  g_clear_pointer (&stable->truth, adj_tensor_data_unref);
  g_clear_pointer (&stable->unmoved, adj_tensor_data_unref);
  g_clear_pointer (&stable->moved, adj_tensor_data_unref);
}

gboolean
stable_find (const Leaf *leaf, Stable *out)
{
  gint64 n;
  g_autofree double *own = deviation_read (leaf->own.value, &n);
  g_autofree double *peer = read_all (leaf->peer.value, n);
  g_autofree double *truth = read_all (leaf->truth, n);
  g_autofree double *unmoved = read_all (leaf->unmoved, n);
  g_autofree double *moved = read_all (leaf->moved, n);

  if (peer == NULL || truth == NULL || unmoved == NULL || moved == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      gboolean numbers = isfinite (own[i]) && isfinite (peer[i]);

      if (same_class (unmoved[i], moved[i]))
        {
          if (!same_class (own[i], peer[i]))
            return FALSE;
          if (!numbers)
            own[i] = peer[i] = truth[i] = unmoved[i] = moved[i] = 0;
          continue;
        }
      if (!is_explained (own[i], unmoved[i], moved[i]) ||
          !is_explained (peer[i], unmoved[i], moved[i]))
        return FALSE;
      /* Numbers of both sides are compared, by the float64 run that has a number. */
      if (!numbers)
        own[i] = peer[i] = truth[i] = 0;
      else if (!isfinite (truth[i]))
        truth[i] = isfinite (moved[i]) ? moved[i] : unmoved[i];
      unmoved[i] = moved[i] = 0;
    }
  *out = (Stable){
    .own = new_row (own, n),
    .peer = new_row (peer, n),
    .truth = new_row (truth, n),
    .unmoved = new_row (unmoved, n),
    .moved = new_row (moved, n),
  };
  return TRUE;
}

gboolean
stable_find_answered (const Leaf *leaf, Stable *out)
{
  gint64 n;
  g_autofree double *own = deviation_read (leaf->own.value, &n);
  g_autofree double *peer = read_all (leaf->peer.value, n);
  g_autofree double *truth = read_all (leaf->truth, n);
  g_autofree double *unmoved = read_all (leaf->unmoved, n);
  g_autofree double *moved = read_all (leaf->moved, n);

  if (peer == NULL || truth == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      gboolean compared = isfinite (own[i]) && isfinite (truth[i]);

      if (!same_class (own[i], peer[i]))
        return FALSE;
      if (!isfinite (own[i]))
        own[i] = peer[i] = truth[i] = 0;
      else if (!compared)
        truth[i] = own[i];
      if (!compared && unmoved != NULL && moved != NULL)
        unmoved[i] = moved[i] = 0;
    }
  *out =
      (Stable){ .own = new_row (own, n), .peer = new_row (peer, n), .truth = new_row (truth, n) };
  if (unmoved != NULL && moved != NULL)
    {
      out->unmoved = new_row (unmoved, n);
      out->moved = new_row (moved, n);
    }
  return TRUE;
}
