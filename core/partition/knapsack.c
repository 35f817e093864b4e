/* SPDX-License-Identifier: MIT */
/* Three solvers of the knapsack problem: greedy, dynamic programming, and exact by branch and
 * bound. */

#include "partition/knapsack.h"

#include <math.h>
#include <string.h>

#define STEPS 10000.0      /* of the table, per unit of memory */
#define MAX_COLUMNS 100000 /* of the table */
#define MAX_BRANCHES 1000000

/* -- by value for memory -- */

typedef struct
{
  double ratio;
  guint index;
} Ranked;

static int
compare_ranked (const void *a, const void *b)
{
  const Ranked *x = a, *y = b;

  if (x->ratio != y->ratio)
    return x->ratio > y->ratio ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static Ranked *
rank (const AdjKnapsackItem *items, guint n)
{
  Ranked *ranked = g_new (Ranked, n + 1);

  for (guint i = 0; i < n; i++)
    ranked[i] = (Ranked){ items[i].memory > 0 ? items[i].value / items[i].memory : INFINITY, i };
  qsort (ranked, n, sizeof (Ranked), compare_ranked);
  return ranked;
}

double
adj_knapsack_greedy (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep)
{
  g_autofree Ranked *ranked = rank (items, n);
  double used = 0, value = 0;

  memset (keep, 0, n);
  for (guint i = 0; i < n; i++)
    {
      const AdjKnapsackItem *item = &items[ranked[i].index];

      if (used + item->memory > capacity)
        continue;
      keep[ranked[i].index] = TRUE;
      used += item->memory;
      value += item->value;
    }
  return value;
}

/* -- the table -- */

/* One row of the table from the previous one; sets a bit where taking the item pays. */
static void
fill_row (float *row, guint width, guint weight, float value, guint8 *taken)
{
  for (guint j = width; j-- > weight;)
    {
      float with = row[j - weight] + value;

      /* An item without weight is always taken. */
      if (weight == 0 ? with == row[j] : with <= row[j])
        continue;
      row[j] = with;
      taken[j / 8] |= (guint8) (1u << (j % 8));
    }
}

double
adj_knapsack_dp (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep)
{
  guint width = (guint) nearbyint (CLAMP (capacity * STEPS, 0, MAX_COLUMNS)) + 1;
  gsize stride = width / 8 + 1;
  g_autofree float *row = g_new0 (float, width);
  g_autofree guint8 *taken = g_malloc0_n (MAX (n, 1), stride);
  guint j = width - 1;

  memset (keep, 0, n);
  for (guint i = 0; i < n; i++)
    {
      double weight = nearbyint (items[i].memory * STEPS);

      if (weight < width)
        fill_row (row, width, (guint) weight, (float) items[i].value, taken + i * stride);
    }
  for (guint i = n; i-- > 0;)
    {
      if ((taken[i * stride + j / 8] >> (j % 8) & 1) == 0)
        continue;
      keep[i] = TRUE;
      j -= (guint) nearbyint (items[i].memory * STEPS);
    }
  return row[width - 1];
}

/* -- branch and bound -- */

typedef struct
{
  const AdjKnapsackItem *items;
  const Ranked *ranked;
  guint n;
  guint8 *now, *best; /* by rank */
  double best_value;
  guint n_branches;
} Search;

/* Upper bound for the value of the items from @from on: the last one may be taken in part. */
static double
bound (const Search *self, guint from, double room)
{
  double value = 0;

  for (guint i = from; i < self->n; i++)
    {
      const AdjKnapsackItem *item = &self->items[self->ranked[i].index];

      if (item->memory > room)
        return value + item->value * room / item->memory;
      room -= item->memory;
      value += item->value;
    }
  return value;
}

static void
search (Search *self, double capacity)
{
  double room = capacity, value = 0;
  guint at = 0;

  while (self->n_branches++ < MAX_BRANCHES)
    {
      for (; at < self->n && value + bound (self, at, room) > self->best_value; at++)
        {
          const AdjKnapsackItem *item = &self->items[self->ranked[at].index];

          self->now[at] = item->memory <= room;
          room -= self->now[at] ? item->memory : 0;
          value += self->now[at] ? item->value : 0;
        }
      if (at == self->n && value > self->best_value)
        {
          self->best_value = value;
          memcpy (self->best, self->now, self->n);
        }
      /* Backtracks to the last item taken, to leave it out. */
      while (at > 0 && !self->now[at - 1])
        at--;
      if (at == 0)
        return;
      self->now[at - 1] = FALSE;
      room += self->items[self->ranked[at - 1].index].memory;
      value -= self->items[self->ranked[at - 1].index].value;
    }
}

double
adj_knapsack_exact (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep)
{
  g_autofree Ranked *ranked = rank (items, n);
  g_autofree guint8 *now = g_new0 (guint8, n + 1);
  g_autofree guint8 *best = g_new0 (guint8, n + 1);
  Search self = { items, ranked, n, now, best, -1, 0 };

  search (&self, capacity);
  for (guint i = 0; i < n; i++)
    keep[ranked[i].index] = best[i];
  return MAX (self.best_value, 0);
}
