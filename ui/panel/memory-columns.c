/* SPDX-License-Identifier: MIT */
/* The columns of the table of live values. */

#include "panel/memory-columns.h"

#include <glib/gi18n.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/adj-timeline.h"
#include "widgets/adj-column.h"

static const AdjNode *
get_node (gpointer item)
{
  return adj_graph_get_node (adj_held_item_get_graph (item), adj_held_item_get (item)->node.index);
}

char *
memory_columns_get_name (gpointer item)
{
  return g_strdup (get_node (item)->name);
}

static char *
get_module (gpointer item)
{
  return g_strdup (adj_graph_get_module_path (adj_held_item_get_graph (item),
                                              adj_held_item_get (item)->node.index));
}

static char *
get_shape (gpointer item)
{
  return adj_properties_annotation (adj_held_item_get_graph (item), get_node (item));
}

static char *
get_bytes (gpointer item)
{
  return adj_properties_bytes (adj_held_item_get (item)->bytes);
}

static char *
get_steps (gpointer item)
{
  const AdjHeld *held = adj_held_item_get (item);

  return g_strdup_printf ("%u → %u", held->first + 1, held->last + 1);
}

static char *
get_why (gpointer item)
{
  return adj_held_get_reason (adj_held_item_get (item), adj_held_item_get_graph (item));
}

static char *
get_line (gpointer item)
{
  const AdjNodeMeta *meta = &get_node (item)->meta;
  const AdjFrame *frame = meta->n_frames > 0 ? &meta->frames[meta->n_frames - 1] : NULL;
  g_autofree char *base = frame != NULL ? g_path_get_basename (frame->file) : NULL;

  return frame != NULL ? g_strdup_printf ("%s:%u", base, frame->line) : g_strdup ("");
}

static const AdjColumn columns[] = {
  { N_ ("Value"), memory_columns_get_name, 116, TRUE, FALSE, NULL },
  { N_ ("Bytes"), get_bytes, 76, FALSE, TRUE, NULL },
  { N_ ("Why"), get_why, 164, FALSE, FALSE, NULL },
  { N_ ("Line"), get_line, 104, FALSE, FALSE, NULL },
  { N_ ("Shape"), get_shape, 104, FALSE, TRUE, NULL },
  { N_ ("Steps"), get_steps, 84, FALSE, TRUE, NULL },
  { N_ ("Module"), get_module, -1, FALSE, FALSE, NULL },
};

void
memory_columns_append (GtkColumnView *table)
{
  adj_columns_append (table, columns, G_N_ELEMENTS (columns));
}

void
memory_columns_update (GtkColumnView *table)
{
  adj_columns_show_filled (table, columns, G_N_ELEMENTS (columns));
}
