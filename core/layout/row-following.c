/* SPDX-License-Identifier: MIT */
/* Puts each backward node into the row of its forward node or source line. */

#include "ir/adj-graph.h"
#include "layout/rows-private.h"

/* Of its innermost frame. */
static gpointer
line_key (const AdjNode *node)
{
  const AdjFrame *frame = &node->meta.frames[node->meta.n_frames - 1];

  return GUINT_TO_POINTER (g_str_hash (frame->file) * 31 + frame->line);
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static void
add_line (Sorter *self, const AdjNode *node, guint32 row)
{
  GArray *rows = g_hash_table_lookup (self->lines, line_key (node));

  if (rows == NULL)
    {
      rows = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_hash_table_insert (self->lines, line_key (node), rows);
    }
  if (rows->len == 0 || g_array_index (rows, guint32, rows->len - 1) != row)
    g_array_append_val (rows, row);
}

static void
collect_lines (Sorter *self)
{
  GHashTableIter iter;
  gpointer rows;

  for (guint i = 0; i < self->roles->n; i++)
    if (self->rows->row_of[i] != ADJ_NO_ROW &&
        adj_graph_get_node (self->roles->graph, i)->meta.n_frames > 0)
      add_line (self, adj_graph_get_node (self->roles->graph, i), self->rows->row_of[i]);
  g_hash_table_iter_init (&iter, self->lines);
  while (g_hash_table_iter_next (&iter, NULL, &rows))
    g_array_sort (rows, compare_rows);
}

/* @now or the nearest row above that has the node's source line; ADJ_NO_ROW where none has. */
static guint32
row_with_line (const Sorter *self, const AdjNode *node, guint32 now)
{
  const GArray *rows =
      node->meta.n_frames > 0 ? g_hash_table_lookup (self->lines, line_key (node)) : NULL;
  guint start = 0, end = rows != NULL ? rows->len : 0;

  while (start < end)
    {
      guint middle = start + (end - start) / 2;

      if (g_array_index (rows, guint32, middle) <= now)
        start = middle + 1;
      else
        end = middle;
    }
  return start > 0 ? g_array_index (rows, guint32, start - 1) : ADJ_NO_ROW;
}

/* The row of a node without a module: @now or the nearest above that has its source line or makes
 * values that it reads, since backward runs up the rows. */
static guint32
row_by_lines (const Sorter *self, const AdjNode *node, guint32 now)
{
  guint32 of_line = row_with_line (self, node, now), read = ADJ_NO_ROW;

  if (of_line != ADJ_NO_ROW)
    return of_line;
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 host = self->roles->entries[node->inputs[k].index].host;
      guint32 row = self->rows->row_of[host];

      if (row != ADJ_NO_ROW && row <= now && self->roles->entries[host].side == self->leading)
        read = read == ADJ_NO_ROW ? row : MAX (read, row);
    }
  return read != ADJ_NO_ROW ? read : now;
}

/* The one of @rows_of_unit that is nearest to @now. */
static guint32
row_by_unit (const GArray *rows_of_unit, guint32 now)
{
  guint32 best = ADJ_NO_ROW;

  for (guint i = 0; rows_of_unit && i < rows_of_unit->len; i++)
    {
      guint32 row = g_array_index (rows_of_unit, guint32, i);
      guint far = row > now ? row - now : now - row;
      guint best_far = best == ADJ_NO_ROW ? G_MAXUINT : best > now ? best - now : now - best;

      if (far <= best_far)
        best = row;
    }
  return best;
}

static GPtrArray *
list_rows_of_units (const Sorter *self)
{
  GPtrArray *lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = 0; i < self->rows->modules->len; i++)
    g_ptr_array_add (lists, g_array_new (FALSE, FALSE, sizeof (guint32)));
  for (guint i = 0; i < self->roles->n; i++)
    if (self->rows->row_of[i] != ADJ_NO_ROW)
      {
        GArray *list = g_ptr_array_index (lists, self->unit[i]);
        guint32 row = self->rows->row_of[i];

        if (!list->len || g_array_index (list, guint32, list->len - 1) != row)
          g_array_append_val (list, row);
      }
  return lists;
}

/* Gradients flow up: the highest row of the gradients that the node reads, or @row. */
static guint32
row_above_inputs (const Sorter *self, const AdjNode *node, guint32 row)
{
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 host = self->roles->entries[node->inputs[k].index].host;

      if (sorter_is_card (self->roles, host) && self->roles->entries[host].side != self->leading &&
          self->rows->row_of[host] != ADJ_NO_ROW)
        row = MIN (row, self->rows->row_of[host]);
    }
  return row;
}

/* The row of a recomputed node or gradient: that of its forward node. */
static guint32
row_of_counterpart (const Sorter *self, guint32 index)
{
  const AdjNodeRoles *roles = self->roles;
  guint32 counterpart = roles->entries[index].original != G_MAXUINT32
                            ? roles->entries[index].original
                            : roles->entries[index].counterpart;

  return counterpart == G_MAXUINT32 ? ADJ_NO_ROW
                                    : self->rows->row_of[roles->entries[counterpart].host];
}

/* The row of a node without counterpart, when backward has reached row @now. */
static guint32
row_without_counterpart (const Sorter *self, guint32 index, const GPtrArray *of_units, guint32 now)
{
  const AdjNode *node = adj_graph_get_node (self->roles->graph, index);
  gboolean down = self->leading == ADJ_SIDE_BACKWARD;
  guint32 row = ADJ_NO_ROW;

  if (self->unit[index] != 0)
    row = row_by_unit (g_ptr_array_index (of_units, self->unit[index]), now);
  if (row != ADJ_NO_ROW)
    return row;
  return down ? now : row_above_inputs (self, node, row_by_lines (self, node, now));
}

/* Moves cards beyond the first ROWS_MAX_HEIGHT into further rows of the same module, upwards as
 * backward runs. */
static void
cut_high_rows (Sorter *self, AdjSide side)
{
  GArray *rows = self->rows->rows;

  for (guint r = 0; r < rows->len; r++)
    {
      const AdjRow *row = adj_rows_row (self->rows, r);
      GArray *nodes = sorter_get_nodes (row, side);
      AdjRow rest = { .module = row->module };

      if (nodes->len <= ROWS_MAX_HEIGHT)
        continue;
      rest.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
      rest.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_vals (sorter_get_nodes (&rest, side),
                           &g_array_index (nodes, guint32, ROWS_MAX_HEIGHT),
                           nodes->len - ROWS_MAX_HEIGHT);
      g_array_set_size (nodes, ROWS_MAX_HEIGHT);
      if (side == ADJ_SIDE_BACKWARD)
        g_array_insert_val (rows, r--, rest);
      else
        g_array_insert_val (rows, r + 1, rest);
    }
}

void
sorter_place_following (Sorter *self)
{
  const AdjNodeRoles *roles = self->roles;
  g_autoptr (GPtrArray) of_units = list_rows_of_units (self);
  AdjSide side = self->leading == ADJ_SIDE_FORWARD ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
  guint32 now = side == ADJ_SIDE_FORWARD ? 0 : self->rows->rows->len - 1;

  collect_lines (self);
  for (guint32 i = 0; i < roles->n; i++)
    {
      guint32 row;

      if (!sorter_is_card (roles, i) || roles->entries[i].side == self->leading)
        continue;
      row = row_of_counterpart (self, i);
      if (row == ADJ_NO_ROW)
        row = row_without_counterpart (self, i, of_units, now);
      self->rows->row_of[i] = row;
      if (roles->entries[i].original == G_MAXUINT32)
        now = row;
      g_array_append_val (sorter_get_nodes (adj_rows_row (self->rows, row), side), i);
    }
  cut_high_rows (self, side);
}
