/* SPDX-License-Identifier: MIT */
/* The tree of modules of a graph as list models. */

#include "model/adj-module-item.h"

#include <gio/gio.h>
#include <string.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"

struct _AdjModuleItem
{
  GObject parent_instance;

  char *path;
  char *title;
  guint n_nodes;
  gint64 saved;
  AdjNodeId first;
  GListStore *children; /* (owned) (nullable) */
  GArray *nodes;        /* (owned) (nullable): of guint32: where the path does not identify them */
};

G_DEFINE_FINAL_TYPE (AdjModuleItem, adj_module_item, G_TYPE_OBJECT)

static void
adj_module_item_finalize (GObject *object)
{
  AdjModuleItem *self = ADJ_MODULE_ITEM (object);

  g_free (self->path);
  g_free (self->title);
  g_clear_object (&self->children);
  g_clear_pointer (&self->nodes, g_array_unref);

  G_OBJECT_CLASS (adj_module_item_parent_class)->finalize (object);
}

static void
adj_module_item_class_init (AdjModuleItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_module_item_finalize;
}

static void
adj_module_item_init (AdjModuleItem *self)
{
  self->first = ADJ_NO_NODE;
}

const char *
adj_module_item_get_path (AdjModuleItem *self)
{
  return self->path;
}

const char *
adj_module_item_get_title (AdjModuleItem *self)
{
  return self->title;
}

guint
adj_module_item_get_n_nodes (AdjModuleItem *self)
{
  return self->n_nodes;
}

gint64
adj_module_item_get_saved_bytes (AdjModuleItem *self)
{
  return self->saved;
}

GListModel *
adj_module_item_get_children (AdjModuleItem *self)
{
  return G_LIST_MODEL (self->children);
}

AdjNodeId
adj_module_item_get_first (AdjModuleItem *self)
{
  return self->first;
}

GArray *
adj_module_item_list_nodes (AdjModuleItem *self, const AdjGraph *graph)
{
  GArray *nodes;

  if (self->nodes != NULL)
    return g_array_ref (self->nodes);
  nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint n;
      const AdjModule *modules = adj_graph_get_modules (graph, i, &n);

      for (guint k = 0; k < n; k++)
        if (g_str_equal (modules[k].path, self->path))
          {
            g_array_append_val (nodes, i);
            break;
          }
    }
  return nodes;
}

/* -- the tree -- */

typedef struct
{
  const AdjGraph *graph;
  GListStore *roots;
  GHashTable *items; /* path → item, borrowed from the stores */
} Tree;

/* "2 Block" in "h.2" under "h"; the whole path when the parent is not a prefix.  For a block "3 of
 * 76 · models.py:40–71", as the beginning of the path is the same for all. */
static char *
make_title (const AdjModule *module, AdjModuleItem *parent)
{
  const char *name = module->path, *position = strstr (name, " · ");

  if (position != NULL)
    return g_strdup_printf ("%s · %.*s", position + strlen (" · "), (int) (position - name), name);

  if (parent != NULL && g_str_has_prefix (name, parent->path) && name[strlen (parent->path)] == '.')
    name += strlen (parent->path) + 1;
  return *module->class_name != '\0' ? g_strdup_printf ("%s  %s", name, module->class_name)
                                     : g_strdup (name);
}

static AdjModuleItem *
find_item (Tree *tree, const AdjModule *module, AdjModuleItem *parent)
{
  AdjModuleItem *item = g_hash_table_lookup (tree->items, module->path);
  GListStore *siblings;

  if (item != NULL)
    return item;
  if (parent != NULL && parent->children == NULL)
    parent->children = g_list_store_new (ADJ_TYPE_MODULE_ITEM);
  siblings = parent != NULL ? parent->children : tree->roots;

  item = g_object_new (ADJ_TYPE_MODULE_ITEM, NULL);
  item->path = g_strdup (module->path);
  item->title = make_title (module, parent);
  g_list_store_append (siblings, item);
  g_hash_table_insert (tree->items, item->path, item);
  g_object_unref (item);
  return item;
}

static void
add_node (Tree *tree, guint index)
{
  guint n;
  const AdjModule *modules = adj_graph_get_modules (tree->graph, index, &n);
  gint64 saved = adj_graph_get_saved_values (tree->graph)->of[index];
  AdjModuleItem *parent = NULL;

  for (guint i = 0; i < n; i++)
    {
      AdjModuleItem *item = find_item (tree, &modules[i], parent);

      item->n_nodes++;
      item->saved += saved;
      if (!adj_node_id_is_valid (item->first))
        item->first = (AdjNodeId){ index };
      parent = item;
    }
}

/* "3 · MmBackward0": the number comes first, since the end may be ellipsised. */
static AdjModuleItem *
make_call (const AdjCaptured *captured, guint number)
{
  const AdjCapturedCall *call = adj_captured_get_call (captured, number);
  const char *space = call->name != NULL ? g_strrstr (call->name, "::") : NULL;
  AdjModuleItem *item = g_object_new (ADJ_TYPE_MODULE_ITEM, NULL);

  item->path = g_strdup_printf ("#NodeCall %u", number);
  item->title = call->name != NULL
                    ? g_strdup_printf ("%u · %s", number, space != NULL ? space + 2 : call->name)
                    : adj_captured_name_call (captured, number);
  item->first = call->first;
  item->nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  return item;
}

static GListModel *
list_calls (const AdjGraph *graph, const AdjCaptured *captured)
{
  guint n = adj_captured_get_n_calls (captured);
  g_autofree AdjModuleItem **items = g_new (AdjModuleItem *, n);
  GListStore *calls = g_list_store_new (ADJ_TYPE_MODULE_ITEM);

  for (guint k = 0; k < n; k++)
    items[k] = make_call (captured, k);
  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjCapturedNode *node = adj_captured_get_node (captured, i);

      if (node->call == ADJ_CAPTURED_NONE || node->kind == ADJ_CAPTURED_INPUT ||
          node->kind == ADJ_CAPTURED_HOOK_ITEM)
        continue;
      g_array_append_val (items[node->call]->nodes, i);
      items[node->call]->n_nodes++;
    }
  for (guint k = 0; k < n; k++)
    {
      if (items[k]->n_nodes > 0)
        g_list_store_append (calls, items[k]);
      g_object_unref (items[k]);
    }
  return G_LIST_MODEL (calls);
}

GListModel *
adj_module_tree_new (const AdjGraph *graph, const AdjCaptured *captured)
{
  g_autoptr (GHashTable) items = g_hash_table_new (g_str_hash, g_str_equal);
  Tree tree = { graph, NULL, items };

  if (captured != NULL && adj_captured_get_n_calls (captured) > 0)
    return list_calls (graph, captured);
  tree.roots = g_list_store_new (ADJ_TYPE_MODULE_ITEM);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    add_node (&tree, i);

  return G_LIST_MODEL (tree.roots);
}
