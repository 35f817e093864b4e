/* SPDX-License-Identifier: MIT */
/* The entries of the command palette: commands, graphs, modules and nodes, searched by words. */

#include "window/palette-entries.h"

#include <glib/gi18n.h>

#include "canvas/adj-graph-view.h"
#include "ir/adj-graph.h"
#include "model/adj-fuzzy.h"
#include "model/adj-module-item.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"
#include "window/window-commands.h"

#define MAX_SHOWN 100

struct _AdjPaletteEntry
{
  GObject parent_instance;

  char *title, *detail, *keys, *action;
  GVariant *target; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjPaletteEntry, adj_palette_entry, G_TYPE_OBJECT)

static void
adj_palette_entry_finalize (GObject *object)
{
  AdjPaletteEntry *self = ADJ_PALETTE_ENTRY (object);

  g_free (self->title);
  g_free (self->detail);
  g_free (self->keys);
  g_free (self->action);
  g_clear_pointer (&self->target, g_variant_unref);

  G_OBJECT_CLASS (adj_palette_entry_parent_class)->finalize (object);
}

static void
adj_palette_entry_class_init (AdjPaletteEntryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_palette_entry_finalize;
}

static void
adj_palette_entry_init (AdjPaletteEntry *self)
{
}

/* @keys: (transfer full) (nullable); @target: (nullable): floating */
static AdjPaletteEntry *
entry_new (const char *title, const char *detail, char *keys, const char *action, GVariant *target)
{
  AdjPaletteEntry *self = g_object_new (ADJ_TYPE_PALETTE_ENTRY, NULL);

  self->title = g_strdup (title);
  self->detail = g_strdup (detail);
  self->keys = keys != NULL ? keys : g_strdup ("");
  self->action = g_strdup (action);
  self->target = target != NULL ? g_variant_ref_sink (target) : NULL;
  return self;
}

const char *
adj_palette_entry_get_title (AdjPaletteEntry *self)
{
  return self->title;
}

const char *
adj_palette_entry_get_detail (AdjPaletteEntry *self)
{
  return self->detail;
}

const char *
adj_palette_entry_get_keys (AdjPaletteEntry *self)
{
  return self->keys;
}

const char *
adj_palette_entry_get_action (AdjPaletteEntry *self)
{
  return self->action;
}

GVariant *
adj_palette_entry_get_target (AdjPaletteEntry *self)
{
  return self->target;
}

/* -- commands: made at once, they are few -- */

struct _AdjPaletteEntries
{
  AdjDocument *document;
  GPtrArray *commands; /* of AdjPaletteEntry */
  GPtrArray *modules;  /* of AdjModuleItem */
};

/* "Ctrl+O" */
static char *
describe_keys (const char *accel)
{
  guint key;
  GdkModifierType mods;

  if (accel == NULL || !gtk_accelerator_parse (accel, &key, &mods))
    return NULL;
  return gtk_accelerator_get_label (key, mods);
}

static void
add_command (AdjPaletteEntries *entries, const AdjCommand *command)
{
  const char *group = adj_command_group_title (command->group);

  if (command->targets == NULL)
    g_ptr_array_add (entries->commands,
                     entry_new (_ (command->title), group, describe_keys (command->accels[0]),
                                command->name, NULL));
  for (guint i = 0; command->targets != NULL && command->targets[i].value != NULL; i++)
    g_ptr_array_add (entries->commands,
                     entry_new (_ (command->targets[i].title), group, NULL, command->name,
                                g_variant_new_string (command->targets[i].value)));
}

static void
add_commands (AdjPaletteEntries *entries)
{
  gboolean selected = adj_node_id_is_valid (adj_document_get_selected (entries->document));
  const AdjCanvasCommand *own;
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    if (commands[i].title != NULL && (commands[i].parameter == NULL || commands[i].targets) &&
        adj_command_is_possible (entries->document, commands[i].needs))
      add_command (entries, &commands[i]);
  for (guint i = 0; selected && (own = adj_graph_view_get_command (i)) != NULL; i++)
    if (own->action != NULL)
      g_ptr_array_add (entries->commands, entry_new (_ (own->title), _ ("Canvas"),
                                                     describe_keys (own->keys), own->action, NULL));
}

static guint
count_commands (const AdjPaletteEntries *entries)
{
  return entries->commands->len;
}

static const char *
get_command_title (const AdjPaletteEntries *entries, guint index)
{
  return adj_palette_entry_get_title (entries->commands->pdata[index]);
}

static AdjPaletteEntry *
make_command (const AdjPaletteEntries *entries, guint index)
{
  return g_object_ref (entries->commands->pdata[index]);
}

/* -- graphs -- */

static guint
count_graphs (const AdjPaletteEntries *entries)
{
  AdjGraphSet *graphs = adj_document_get_graphs (entries->document);

  return graphs != NULL ? adj_graph_set_get_n (graphs) : 0;
}

static const AdjBundleGraph *
get_graph (const AdjPaletteEntries *entries, guint index)
{
  return adj_graph_set_get (adj_document_get_graphs (entries->document), index);
}

static const char *
get_graph_title (const AdjPaletteEntries *entries, guint index)
{
  return get_graph (entries, index)->id;
}

static AdjPaletteEntry *
make_graph (const AdjPaletteEntries *entries, guint index)
{
  const AdjBundleGraph *graph = get_graph (entries, index);
  g_autofree char *count = adj_properties_count (adj_graph_get_n_calls (graph->graph));
  g_autofree char *detail =
      g_strdup_printf ("%s · %s", adj_properties_role_title (graph->role), count);

  return entry_new (graph->id, detail, NULL, "win.show-graph", g_variant_new_string (graph->id));
}

/* -- stages -- */

static guint
count_stages (const AdjPaletteEntries *entries)
{
  AdjRecording *recording = adj_stages_get_recording (entries->document);

  return recording != NULL ? adj_recording_get_n_stages (recording) : 0;
}

static const char *
get_stage_title (const AdjPaletteEntries *entries, guint index)
{
  return adj_recording_get_stage (adj_stages_get_recording (entries->document), index)->name;
}

static AdjPaletteEntry *
make_stage (const AdjPaletteEntries *entries, guint index)
{
  g_autofree char *detail = g_strdup_printf (_ ("Stage %u"), index + 1);
  g_autofree char *accel = index < 9 ? g_strdup_printf ("<Alt>%u", index + 1) : NULL;

  return entry_new (get_stage_title (entries, index), detail, describe_keys (accel), "win.stage",
                    g_variant_new_uint32 (index));
}

/* -- modules -- */

static guint
count_modules (const AdjPaletteEntries *entries)
{
  return entries->modules->len;
}

static const char *
get_module_title (const AdjPaletteEntries *entries, guint index)
{
  return adj_module_item_get_path (entries->modules->pdata[index]);
}

static AdjPaletteEntry *
make_module (const AdjPaletteEntries *entries, guint index)
{
  AdjModuleItem *item = entries->modules->pdata[index];
  g_autofree char *count = adj_properties_count (adj_module_item_get_n_nodes (item));
  g_autofree char *detail = g_strdup_printf (_ ("Module · %s"), count);

  return entry_new (adj_module_item_get_path (item), detail, NULL, "win.select-node",
                    g_variant_new_uint32 (adj_module_item_get_first (item).index));
}

static void
add_modules (AdjPaletteEntries *entries, GListModel *items)
{
  for (guint i = 0; items != NULL && i < g_list_model_get_n_items (items); i++)
    {
      AdjModuleItem *item = g_list_model_get_item (items, i);

      g_ptr_array_add (entries->modules, item);
      add_modules (entries, adj_module_item_get_children (item));
    }
}

/* -- nodes -- */

static const AdjGraph *
get_shown (const AdjPaletteEntries *entries)
{
  const AdjBundleGraph *graph = adj_document_get_graph (entries->document);

  return graph != NULL ? graph->graph : NULL;
}

static guint
count_nodes (const AdjPaletteEntries *entries)
{
  const AdjGraph *graph = get_shown (entries);

  return graph != NULL ? adj_graph_get_n_nodes (graph) : 0;
}

static const char *
get_node_title (const AdjPaletteEntries *entries, guint index)
{
  return adj_graph_get_node (get_shown (entries), index)->name;
}

static AdjPaletteEntry *
make_node (const AdjPaletteEntries *entries, guint index)
{
  const AdjNode *node = adj_graph_get_node (get_shown (entries), index);
  g_autofree char *detail = g_strdup_printf (_ ("Node · %s"), adj_properties_target (node));

  return entry_new (node->name, detail, NULL, "win.select-node", g_variant_new_uint32 (index));
}

/* -- all of them -- */

static const struct
{
  guint bonus;     /* for more frequent ones */
  gboolean always; /* listed before anything is typed */
  guint (*count) (const AdjPaletteEntries *entries);
  const char *(*get_title) (const AdjPaletteEntries *entries, guint index);
  AdjPaletteEntry *(*make) (const AdjPaletteEntries *entries, guint index);
} sources[] = {
  { 40, TRUE, count_commands, get_command_title, make_command },
  { 20, TRUE, count_graphs, get_graph_title, make_graph },
  { 20, FALSE, count_stages, get_stage_title, make_stage },
  { 10, FALSE, count_modules, get_module_title, make_module },
  { 0, FALSE, count_nodes, get_node_title, make_node },
};

AdjPaletteEntries *
adj_palette_entries_new (AdjDocument *document)
{
  AdjPaletteEntries *entries = g_new0 (AdjPaletteEntries, 1);

  entries->document = g_object_ref (document);
  entries->commands = g_ptr_array_new_with_free_func (g_object_unref);
  entries->modules = g_ptr_array_new_with_free_func (g_object_unref);
  add_commands (entries);
  if (get_shown (entries) != NULL)
    {
      g_autoptr (GListModel) top = adj_module_tree_new (get_shown (entries), NULL);

      add_modules (entries, top);
    }
  return entries;
}

void
adj_palette_entries_free (AdjPaletteEntries *entries)
{
  g_object_unref (entries->document);
  g_ptr_array_unref (entries->commands);
  g_ptr_array_unref (entries->modules);
  g_free (entries);
}

typedef struct
{
  guint score, source, index;
} Hit;

static gint
compare_hits (gconstpointer a, gconstpointer b)
{
  const Hit *x = a, *y = b;

  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

static void
collect (AdjPaletteEntries *entries, guint source, const char *query, GArray *hits)
{
  guint n = sources[source].count (entries);

  for (guint i = 0; i < n; i++)
    {
      guint score = adj_fuzzy_match (sources[source].get_title (entries, i), query, NULL);
      Hit hit = { score > 1 ? score + sources[source].bonus : score, source, i };

      if (score > 0)
        g_array_append_val (hits, hit);
    }
}

GListStore *
adj_palette_entries_find (AdjPaletteEntries *entries, const char *query)
{
  GListStore *found = g_list_store_new (ADJ_TYPE_PALETTE_ENTRY);
  g_autoptr (GArray) hits = g_array_new (FALSE, FALSE, sizeof (Hit));
  g_autofree char *words = g_strstrip (g_strdup (query));

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (*words != '\0' || sources[i].always)
      collect (entries, i, words, hits);
  g_array_sort (hits, compare_hits);
  for (guint i = 0; i < MIN (hits->len, MAX_SHOWN); i++)
    {
      const Hit *hit = &g_array_index (hits, Hit, i);
      g_autoptr (AdjPaletteEntry) entry = sources[hit->source].make (entries, hit->index);

      g_list_store_append (found, entry);
    }
  return found;
}
