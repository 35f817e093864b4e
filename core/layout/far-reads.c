/* SPDX-License-Identifier: MIT */
/* Which lines are not drawn, because they are many that go far and nobody could follow them: those
 * of a value that many cards far away read, and those to a card that reads many values from far
 * away.  There the cards name each other. */

#include "ir/adj-graph.h"
#include "layout/display-list-private.h"

#define FAR 16 /* cards that are between, in another row */
#define MANY 3

typedef struct
{
  guint32 maker, reader; /* items */
} FarRead;

static gint
by_ends (gconstpointer a, gconstpointer b)
{
  const FarRead *x = a, *y = b;

  if (x->maker != y->maker)
    return x->maker < y->maker ? -1 : 1;
  return x->reader < y->reader ? -1 : x->reader > y->reader;
}

static guint
end_of_half (const AdjDisplayList *self, guint from)
{
  const AdjDisplayItem *first = adj_display_item (self, from);
  guint to = from + 1;

  while (to < self->items->len && adj_display_item (self, to)->row == first->row &&
         adj_display_item (self, to)->side == first->side)
    to++;
  return to;
}

/* (transfer full): of each item: how many of its side are above it.  A half of backward has what
 * comes first below. */
static guint *
count_above (const AdjDisplayList *self)
{
  guint *above = g_new (guint, MAX (self->items->len, 1)), n[2] = { 0 };

  for (guint from = 0, to; from < self->items->len; from = to)
    {
      gboolean backward = adj_display_item (self, from)->side == ADJ_SIDE_BACKWARD;

      to = end_of_half (self, from);
      for (guint i = from; i < to; i++)
        above[i] = n[backward] + (backward ? to - 1 - i : i - from);
      n[backward] += to - from;
    }
  return above;
}

static gboolean
is_far (const AdjDisplayList *self, guint32 maker, guint32 reader)
{
  const AdjDisplayItem *a = adj_display_item (self, maker), *b = adj_display_item (self, reader);
  guint low = MIN (self->n_above[maker], self->n_above[reader]);
  guint high = MAX (self->n_above[maker], self->n_above[reader]);

  return a->kind == ADJ_BOX_NODE && b->kind == ADJ_BOX_NODE && a->side == b->side &&
         a->row != b->row && high - low > FAR;
}

gboolean
display_list_names_far (const AdjDisplayList *self, guint32 maker, guint32 reader)
{
  return MAX (self->n_far_readers[maker], self->n_far_makers[reader]) >= MANY &&
         is_far (self, maker, reader);
}

static GArray *
list_far_reads (const AdjDisplayList *self)
{
  GArray *reads = g_array_new (FALSE, FALSE, sizeof (FarRead));

  for (guint32 i = 0; i < self->roles->n; i++)
    {
      const AdjNode *node = adj_display_list_node (self, i);

      for (guint k = 0; self->item_of[i] != ADJ_NO_BOX && k < node->n_inputs; k++)
        {
          FarRead read = { self->item_of[node->inputs[k].index], self->item_of[i] };

          if (read.maker != ADJ_NO_BOX && is_far (self, read.maker, read.reader))
            g_array_append_val (reads, read);
        }
    }
  g_array_sort (reads, by_ends);
  return reads;
}

void
display_list_find_far_reads (AdjDisplayList *self)
{
  guint n = MAX (self->items->len, 1);
  g_autoptr (GArray) reads = NULL;

  self->n_above = count_above (self);
  self->n_far_readers = g_new0 (guint, n);
  self->n_far_makers = g_new0 (guint, n);
  reads = list_far_reads (self);
  for (guint i = 0; i < reads->len; i++)
    {
      const FarRead *read = &g_array_index (reads, FarRead, i);

      if (i > 0 && by_ends (read, read - 1) == 0)
        continue;
      self->n_far_readers[read->maker]++;
      self->n_far_makers[read->reader]++;
    }
}
