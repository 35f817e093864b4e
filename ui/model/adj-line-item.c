/* SPDX-License-Identifier: MIT */
/* Source lines with the time, saved bytes and number of their nodes. */

#include "model/adj-line-item.h"

#include "interpreter/adj-interpreter.h"
#include "layout/adj-saved-values.h"

struct _AdjLineItem
{
  GObject parent_instance;

  AdjGraph *graph; /* (owned): of @frame */
  const AdjFrame *frame;
  GArray *nodes; /* of guint32 */
  gint64 costs[ADJ_N_LINE_COSTS];
};

G_DEFINE_FINAL_TYPE (AdjLineItem, adj_line_item, G_TYPE_OBJECT)

static void
adj_line_item_finalize (GObject *object)
{
  AdjLineItem *self = ADJ_LINE_ITEM (object);

  g_array_unref (self->nodes);
  adj_graph_unref (self->graph);

  G_OBJECT_CLASS (adj_line_item_parent_class)->finalize (object);
}

static void
adj_line_item_class_init (AdjLineItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_line_item_finalize;
}

static void
adj_line_item_init (AdjLineItem *self)
{
  self->nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
}

const AdjFrame *
adj_line_item_get_frame (AdjLineItem *self)
{
  return self->frame;
}

GArray *
adj_line_item_get_nodes (AdjLineItem *self)
{
  return self->nodes;
}

gint64
adj_line_item_get_cost (AdjLineItem *self, AdjLineCost cost)
{
  return self->costs[cost];
}

/* -- the list -- */

static guint
hash_line (gconstpointer data)
{
  const AdjFrame *frame = data;

  return g_str_hash (frame->file) * 31 + frame->line;
}

static gboolean
is_same_line (gconstpointer a, gconstpointer b)
{
  const AdjFrame *x = a, *y = b;

  return x->line == y->line && g_str_equal (x->file, y->file);
}

static AdjLineItem *
find_or_add (GListStore *store, GHashTable *known, AdjGraph *graph, const AdjFrame *frame)
{
  AdjLineItem *item = g_hash_table_lookup (known, frame);

  if (item != NULL)
    return item;
  item = g_object_new (ADJ_TYPE_LINE_ITEM, NULL);
  item->graph = adj_graph_ref (graph);
  item->frame = frame;
  g_hash_table_insert (known, (gpointer) frame, item);
  g_list_store_append (store, item);
  g_object_unref (item);
  return item;
}

static gint64
get_time (const AdjRunResult *result, guint32 node)
{
  return result != NULL && result->node_ns != NULL && node < result->n_nodes
             ? MAX (result->node_ns[node], 0)
             : 0;
}

GListModel *
adj_line_items_list (AdjGraph *graph, const AdjEvaluation *evaluation)
{
  GListStore *store = g_list_store_new (ADJ_TYPE_LINE_ITEM);
  g_autoptr (GHashTable) known = g_hash_table_new (hash_line, is_same_line);
  const AdjSavedValues *saved = adj_graph_get_saved_values (graph);
  const AdjRunResult *result = evaluation != NULL ? adj_evaluation_get_result (evaluation) : NULL;

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNodeMeta *meta = &adj_graph_get_node (graph, i)->meta;
      AdjLineItem *item;

      if (meta->n_frames == 0)
        continue;
      item = find_or_add (store, known, graph, &meta->frames[meta->n_frames - 1]);
      g_array_append_val (item->nodes, i);
      item->costs[ADJ_LINE_TIME] += get_time (result, i);
      item->costs[ADJ_LINE_SAVED] += saved->of[i];
      item->costs[ADJ_LINE_NODES]++;
    }
  return G_LIST_MODEL (store);
}
