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

/* (transfer full): @data without the elements of which @unstable says so. */
static AdjTensorData *
leave_out (const AdjTensorData *data, const gboolean *unstable, gint64 n)
{
  g_autofree double *numbers = read_all (data, n);

  for (gint64 i = 0; i < n; i++)
    if (unstable[i])
      numbers[i] = 0;
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F64, &n, 1, numbers, NULL);
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
  g_autofree gboolean *unstable = g_new0 (gboolean, n + 1);

  if (peer == NULL || truth == NULL || unmoved == NULL || moved == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      unstable[i] = !same_class (unmoved[i], moved[i]);
      if (!unstable[i] && !same_class (own[i], peer[i]))
        return FALSE;
    }
  *out = (Stable){
    .own = leave_out (leaf->own.value, unstable, n),
    .peer = leave_out (leaf->peer.value, unstable, n),
    .truth = leave_out (leaf->truth, unstable, n),
    .unmoved = leave_out (leaf->unmoved, unstable, n),
    .moved = leave_out (leaf->moved, unstable, n),
  };
  return TRUE;
}
