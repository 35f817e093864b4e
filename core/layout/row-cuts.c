/* SPDX-License-Identifier: MIT */
/* Cuts long runs of nodes into rows, where few values are live. */

#include <string.h>

#include "analysis/adj-lines.h"
#include "ir/adj-graph.h"
#include "layout/rows-private.h"

#define SMALL 3         /* fewer cards than this get no frame of their own */
#define MAX_LOOSE 16    /* cards in a row outside every module */
#define MIN_STRETCH 6   /* cards of a stretch cut from a graph without modules */
#define LONG_STRETCH 48 /* … where no single value crosses */
#define LONG_RUN 20     /* cards of a module that is cut at its necks */
#define MAX_STRETCH 200 /* cards of any row */

static gint
by_writer (gconstpointer a, gconstpointer b, gpointer roles)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  guint32 at_x = sorter_get_writer (roles, x), at_y = sorter_get_writer (roles, y);

  return at_x != at_y ? (at_x > at_y) - (at_x < at_y) : (x > y) - (x < y);
}

/* Cards of the leading side in the order of rows, top to bottom. */
static GArray *
leading_cards (const Sorter *self)
{
  GArray *cards = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = self->roles->n;
  gboolean any_writes = FALSE;

  for (guint32 k = 0; k < n; k++)
    {
      guint32 i = self->leading == ADJ_SIDE_FORWARD ? k : n - 1 - k;

      if (!sorter_is_card (self->roles, i) || self->roles->entries[i].side != self->leading)
        continue;
      g_array_append_val (cards, i);
      any_writes |= sorter_get_writer (self->roles, i) != i;
    }
  if (any_writes && self->leading == ADJ_SIDE_FORWARD)
    g_array_sort_with_data (cards, by_writer, (gpointer) self->roles);
  return cards;
}

/* live[k]: number of values made in cards[0 … k] that a later card of the same side reads.  Where
 * there is only one, the graph can be cut. */
static guint *
count_live (const Sorter *self, const GArray *cards)
{
  const AdjNodeRoles *roles = self->roles;
  g_autofree guint32 *at = g_new (guint32, roles->n);
  g_autofree guint32 *last = g_new0 (guint32, MAX (cards->len, 1));
  guint *live = g_new0 (guint, cards->len + 1);

  memset (at, 0xff, sizeof (guint32) * roles->n);
  for (guint k = 0; k < cards->len; k++)
    at[g_array_index (cards, guint32, k)] = k;
  for (guint i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (roles->graph, i);
      guint32 reader = at[roles->entries[i].host];

      for (guint j = 0; j < node->n_inputs && reader != G_MAXUINT32; j++)
        {
          guint32 maker = at[roles->entries[node->inputs[j].index].host];

          if (maker != G_MAXUINT32)
            {
              guint32 low = MIN (maker, reader), high = MAX (maker, reader);

              last[low] = MAX (last[low], high);
            }
        }
    }
  for (guint k = 0; k < cards->len; k++)
    if (last[k] > k)
      {
        live[k]++;
        live[last[k]]--;
      }
  for (guint k = 1; k <= cards->len; k++)
    live[k] += live[k - 1];
  return live;
}

/* "model.py:45–50", from the innermost frames of the cards. */
static char *
name_stretch (const AdjGraph *graph, const GArray *cards, guint from, guint to)
{
  AdjLines lines = { 0 };
  char *name;

  for (guint k = from; k < to; k++)
    adj_lines_add (&lines, adj_graph_get_node (graph, g_array_index (cards, guint32, k)));
  name = adj_lines_print (&lines);
  return name != NULL ? name : g_strdup_printf ("%u nodes", to - from);
}

/* Gives cards[from … to] a row, in a frame of its own when @module is too small or too large. */
static void
append_stretch (Sorter *self, GArray *cards, guint from, guint to, guint32 module)
{
  AdjRow *row;

  if (module == 0 && to - from >= SMALL)
    {
      g_autofree char *class = name_stretch (self->roles->graph, cards, from, to);
      g_autofree char *path = g_strdup_printf ("#%u", self->rows->rows->len);

      module = sorter_append_module (self->rows, path, class, 0);
    }
  row = sorter_append_row (self->rows->rows, module);
  for (guint k = from; k < to; k++)
    {
      guint32 node = g_array_index (cards, guint32, k);

      g_array_append_val (sorter_get_nodes (row, self->leading), node);
      self->rows->row_of[node] = self->rows->rows->len - 1;
    }
}

/* The first place from @low to @high with but one live value, else the first with the fewest. */
static guint
find_narrow (guint low, guint high, const guint *live)
{
  guint best = low;

  for (guint cut = low; cut <= high && live[best - 1] > 1; cut++)
    if (live[cut - 1] < live[best - 1])
      best = cut;
  return best;
}

/* Cuts a long run of nodes without a module. */
static void
append_loose (Sorter *self, GArray *cards, guint from, guint to, const guint *live)
{
  while (to - from > MAX_LOOSE)
    {
      guint cut = find_narrow (from + MIN_STRETCH, MIN (to - SMALL, from + LONG_STRETCH), live);

      append_stretch (self, cards, from, cut, 0);
      from = cut;
    }
  append_stretch (self, cards, from, to, 0);
}

/* The neck of a run: the first place with the fewest live values among those that have more live
 * values both somewhere before and somewhere after.  @to: there is none. */
static guint
find_neck (guint from, guint to, const guint *live)
{
  g_autofree guint *behind = g_new0 (guint, to - from + 1);
  guint best = to, before = live[from];

  for (guint k = to; k-- > from;)
    behind[k - from] = MAX (behind[k - from + 1], live[k]);
  for (guint cut = from + SMALL; cut + SMALL <= to; cut++)
    {
      guint at = live[cut - 1];

      before = MAX (before, live[cut - 2]);
      if (at < before && at < behind[cut - from] && (best == to || at < live[best - 1]))
        best = cut;
    }
  return best;
}

/* Cuts a long run of a module's nodes at its necks; each is searched within the cards that one row
 * may have. */
static void
append_cut (Sorter *self, GArray *cards, guint from, guint to, guint32 module, const guint *live)
{
  while (to - from > LONG_RUN)
    {
      guint end = MIN (to, from + MAX_STRETCH), cut = find_neck (from, end, live);

      if (cut == end && end == to)
        break;
      if (cut == end)
        cut = find_narrow (from + MAX_STRETCH / 2, end - SMALL, live);
      append_cut (self, cards, from, cut, module, live);
      from = cut;
    }
  append_stretch (self, cards, from, to, module);
}

static void
append_run (Sorter *self, GArray *cards, guint from, guint to, guint32 module, const guint *live)
{
  if (module == 0)
    append_loose (self, cards, from, to, live);
  else
    append_cut (self, cards, from, to, module, live);
}

/* Whether a run is loose, in the frame outside: nodes directly in a module with inner ones, or a
 * run too small for a frame. */
static gboolean
run_is_loose (AdjRows *self, guint32 unit, guint length)
{
  const AdjRowsModule *module = adj_rows_module (self, unit);

  return unit == 0 || length < SMALL || module->height > 1 ||
         (module->height == 1 && module->n_cards > MAX_UNIT);
}

static guint32
frame_of_run (AdjRows *self, guint32 unit, guint length)
{
  const AdjRowsModule *module = adj_rows_module (self, unit);

  if (unit != 0 && length < SMALL &&
      (module->height == 0 || (module->height == 1 && module->n_cards <= MAX_UNIT)))
    return module->parent;
  return unit;
}

static guint32
common_module (AdjRows *self, guint32 a, guint32 b)
{
  while (a != b)
    {
      guint32 *deeper =
          adj_rows_module (self, a)->depth >= adj_rows_module (self, b)->depth ? &a : &b;

      *deeper = adj_rows_module (self, *deeper)->parent;
    }
  return a;
}

/* A few nodes without a module between two runs of one module are assigned to it. */
static void
adopt_strays (Sorter *self, const GArray *cards)
{
  guint32 before = ADJ_NO_MODULE;

  for (guint k = 0, end; k < cards->len; k = end)
    {
      guint32 unit = self->unit[g_array_index (cards, guint32, k)];

      for (end = k + 1; end < cards->len; end++)
        if (self->unit[g_array_index (cards, guint32, end)] != unit)
          break;
      if (unit == 0 && before != ADJ_NO_MODULE && end < cards->len && end - k < SMALL)
        {
          guint32 after = self->unit[g_array_index (cards, guint32, end)];

          unit = common_module (self->rows, before, after);
          for (guint i = k; i < end; i++)
            self->unit[g_array_index (cards, guint32, i)] = unit;
        }
      before = unit;
    }
}

void
sorter_cut_rows (Sorter *self)
{
  g_autoptr (GArray) cards = leading_cards (self);
  g_autofree guint *live = count_live (self, cards);
  guint start = 0;
  guint32 frame = ADJ_NO_MODULE;
  gboolean was_loose = FALSE;

  adopt_strays (self, cards);
  for (guint k = 0; k < cards->len;)
    {
      guint32 unit = self->unit[g_array_index (cards, guint32, k)], next;
      guint end = k + 1;
      gboolean loose;

      while (end < cards->len && self->unit[g_array_index (cards, guint32, end)] == unit)
        end++;
      next = frame_of_run (self->rows, unit, end - k);
      loose = run_is_loose (self->rows, unit, end - k);
      if (k > start && (next != frame || !loose || !was_loose))
        {
          append_run (self, cards, start, k, frame, live);
          start = k;
        }
      frame = next;
      was_loose = loose;
      k = end;
    }
  if (cards->len > start)
    append_run (self, cards, start, cards->len, frame, live);
}
