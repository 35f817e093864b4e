/* SPDX-License-Identifier: MIT */
/* The longest common subsequence of two sequences, by the greedy method of Myers (1986): cheap
 * where they differ little. */

#include "session/alignment-private.h"

#define MAX_ALONE 4000 /* memory is quadratic in this */

typedef struct
{
  gint n_a, n_b;
  AlignmentFunc same;
  gpointer data;
  GPtrArray *rounds; /* per round: how far each of its 2 d + 1 diagonals got */
} Alignment;

/* How far diagonal @k got in the round before, which reached @d diagonals to each side. */
static gint
reached (const gint *round, gint d, gint k)
{
  return k < -d || k > d ? -1 : round[k + d];
}

/* Where diagonal @k begins in round @d: one further down, or one further to the right. */
static gint
begin (const Alignment *alignment, gint d, gint k)
{
  const gint *before = d > 0 ? alignment->rounds->pdata[d - 1] : NULL;
  gint down, right;

  if (before == NULL)
    return 0;
  down = k + 1 > d - 1 ? -1 : reached (before, d - 1, k + 1);
  right = k - 1 < 1 - d ? -1 : reached (before, d - 1, k - 1) + 1;
  return k == -d || (k != d && right - 1 < down) ? down : right;
}

static gboolean
advance (Alignment *alignment, gint d)
{
  gint *round = g_new (gint, 2 * d + 1);

  g_ptr_array_add (alignment->rounds, round);
  for (gint k = -d; k <= d; k++)
    round[k + d] = -1;
  for (gint k = -d; k <= d; k += 2)
    {
      gint x = begin (alignment, d, k);

      while (x >= 0 && x < alignment->n_a && x - k >= 0 && x - k < alignment->n_b &&
             alignment->same ((guint) x, (guint) (x - k), alignment->data))
        x++;
      round[k + d] = x;
      if (x >= alignment->n_a && x - k >= alignment->n_b)
        return TRUE;
    }
  return FALSE;
}

/* Follows the path from its end back through the rounds. */
static gint *
trace_back (const Alignment *alignment)
{
  gint *partners = g_new (gint, alignment->n_a + 1);
  gint x = alignment->n_a, y = alignment->n_b;

  for (gint i = 0; i < alignment->n_a; i++)
    partners[i] = -1;
  for (gint d = (gint) alignment->rounds->len - 1; d >= 0; d--)
    {
      gint k = x - y, from = begin (alignment, d, k);
      const gint *before = d > 0 ? alignment->rounds->pdata[d - 1] : NULL;

      while (x > from && y > from - k)
        {
          x--;
          y--;
          partners[x] = y;
        }
      if (before == NULL)
        break;
      if (k == -d || (k != d && reached (before, d - 1, k - 1) < reached (before, d - 1, k + 1)))
        y--;
      else
        x--;
    }
  return partners;
}

gint *
session_align (guint n_a, guint n_b, AlignmentFunc same, gpointer data)
{
  g_autoptr (GPtrArray) rounds = g_ptr_array_new_with_free_func (g_free);
  Alignment alignment = { (gint) n_a, (gint) n_b, same, data, rounds };

  for (gint d = 0; d <= MAX_ALONE; d++)
    if (advance (&alignment, d))
      return trace_back (&alignment);
  return NULL;
}
