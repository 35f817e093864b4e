/* SPDX-License-Identifier: MIT */
/* A graph of a document as an item of a list model. */

#include "model/adj-graph-item.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "report/adj-properties.h"

struct _AdjGraphItem
{
  GObject parent_instance;

  AdjGraphSet *graphs; /* (owned) */
  guint index;
  char *title;
  char *region;
  char *subtitle;
};

G_DEFINE_FINAL_TYPE (AdjGraphItem, adj_graph_item, G_TYPE_OBJECT)

static void
adj_graph_item_finalize (GObject *object)
{
  AdjGraphItem *self = ADJ_GRAPH_ITEM (object);

  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  g_free (self->title);
  g_free (self->region);
  g_free (self->subtitle);

  G_OBJECT_CLASS (adj_graph_item_parent_class)->finalize (object);
}

static void
adj_graph_item_class_init (AdjGraphItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_graph_item_finalize;
}

static void
adj_graph_item_init (AdjGraphItem *self)
{
}

static char *
describe_call (AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  const AdjRecordedCall *call = adj_graph_set_find_call (graphs, graph, 0);

  if (call == NULL)
    return g_strdup ("");
  return g_strdup_printf (
      ngettext ("recorded with %u input", "recorded with %u inputs", call->n_inputs),
      call->n_inputs);
}

static gboolean
is_half (const char *role)
{
  static const char *const halves[] = { "forward", "backward", "inference", NULL };

  return g_strv_contains (halves, role);
}

/* The half of a partition that stage @stage was made from, or is.  (nullable) */
static const char *
find_half (const AdjRecording *stages, gint stage)
{
  for (; stage >= 0; stage = adj_recording_get_stage (stages, (guint) stage)->from)
    if (is_half (adj_recording_get_stage (stages, (guint) stage)->name))
      return adj_recording_get_stage (stages, (guint) stage)->name;
  return NULL;
}

/* "Backward, post-grad": a graph that a compiler made from a half is named after that half. */
static char *
make_title (AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  AdjRecording *stages = adj_graph_set_get_stages (graphs, graph);

  for (guint i = 0;
       !is_half (graph->role) && stages != NULL && i < adj_recording_get_n_stages (stages); i++)
    if (adj_recording_get_stage (stages, i)->graph == graph->graph &&
        find_half (stages, (gint) i) != NULL)
      return g_strdup_printf ("%s, %s", adj_properties_role_title (find_half (stages, (gint) i)),
                              adj_properties_stage_title (graph->role));
  return g_strdup (adj_properties_role_title (graph->role));
}

char *
adj_graph_describe_region (const AdjBundleGraph *graph)
{
  g_autofree char *region = NULL;

  if (graph->compile_id == NULL)
    return g_strdup ("");
  region = *graph->compile_id == '!'
               ? g_strdup_printf (_ ("Compiled backward %s"), graph->compile_id + 1)
               : g_strdup_printf (_ ("Region %s"), graph->compile_id);
  return graph->rank >= 0 ? g_strdup_printf (_ ("Rank %d · %s"), graph->rank, region)
                          : g_steal_pointer (&region);
}

AdjGraphItem *
adj_graph_item_new (AdjGraphSet *graphs, guint index)
{
  AdjGraphItem *self = g_object_new (ADJ_TYPE_GRAPH_ITEM, NULL);
  const AdjBundleGraph *graph = adj_graph_set_get (graphs, index);

  self->graphs = adj_graph_set_ref (graphs);
  self->index = index;
  self->title = make_title (graphs, graph);
  self->subtitle = describe_call (graphs, graph);
  self->region = adj_graph_describe_region (graph);
  return self;
}

const AdjBundleGraph *
adj_graph_item_get_graph (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), NULL);

  return adj_graph_set_get (self->graphs, self->index);
}

const char *
adj_graph_item_get_title (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), NULL);

  return self->title;
}

const char *
adj_graph_item_get_region (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), NULL);

  return self->region;
}

const char *
adj_graph_item_get_subtitle (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), NULL);

  return self->subtitle;
}

guint
adj_graph_item_get_index (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), 0);

  return self->index;
}

guint
adj_graph_item_get_n_calls (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), 0);

  return adj_graph_get_n_calls (adj_graph_item_get_graph (self)->graph);
}

guint
adj_graph_item_get_n_nodes (AdjGraphItem *self)
{
  g_return_val_if_fail (ADJ_IS_GRAPH_ITEM (self), 0);

  return adj_graph_get_n_nodes (adj_graph_item_get_graph (self)->graph);
}

/* -- the list -- */

struct _AdjGraphList
{
  GObject parent_instance;

  AdjGraphSet *graphs; /* (owned) (nullable) */
};

static GType
adj_graph_list_get_item_type (GListModel *model)
{
  return ADJ_TYPE_GRAPH_ITEM;
}

static guint
adj_graph_list_get_n_items (GListModel *model)
{
  AdjGraphList *self = ADJ_GRAPH_LIST (model);

  return self->graphs != NULL ? adj_graph_set_get_n (self->graphs) : 0;
}

static gpointer
adj_graph_list_get_item (GListModel *model, guint position)
{
  AdjGraphList *self = ADJ_GRAPH_LIST (model);

  return position < adj_graph_list_get_n_items (model) ? adj_graph_item_new (self->graphs, position)
                                                       : NULL;
}

static void
adj_graph_list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = adj_graph_list_get_item_type;
  iface->get_n_items = adj_graph_list_get_n_items;
  iface->get_item = adj_graph_list_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (AdjGraphList,
                               adj_graph_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, adj_graph_list_model_init))

static void
adj_graph_list_finalize (GObject *object)
{
  g_clear_pointer (&ADJ_GRAPH_LIST (object)->graphs, adj_graph_set_unref);

  G_OBJECT_CLASS (adj_graph_list_parent_class)->finalize (object);
}

static void
adj_graph_list_class_init (AdjGraphListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_graph_list_finalize;
}

static void
adj_graph_list_init (AdjGraphList *self)
{
}

AdjGraphList *
adj_graph_list_new (void)
{
  return g_object_new (ADJ_TYPE_GRAPH_LIST, NULL);
}

void
adj_graph_list_set_graphs (AdjGraphList *self, AdjGraphSet *graphs)
{
  guint removed = adj_graph_list_get_n_items (G_LIST_MODEL (self));

  g_return_if_fail (ADJ_IS_GRAPH_LIST (self));

  if (graphs != NULL)
    adj_graph_set_ref (graphs);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  self->graphs = graphs;
  g_list_model_items_changed (G_LIST_MODEL (self), 0, removed,
                              adj_graph_list_get_n_items (G_LIST_MODEL (self)));
}
