/* SPDX-License-Identifier: MIT */
/* Memory over the steps of a graph: what is live when, by module, and a ledger of what is held. */

#include "report/adj-timeline.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"

/* -- who holds -- */

/* "h.0" of "h.0.attn.c_attn": a module with its index; the whole of "model.py:17–46 · 1 of 2",
 * which stands for a repeated block. */
static char *
name_group (const AdjGraph *graph, guint index)
{
  const char *path = adj_graph_get_module_path (graph, index), *dot;

  if (strchr (path, ':') != NULL)
    return g_strdup (path);
  if (*path == '\0')
    return g_strdup (adj_graph_get_node (graph, index)->opcode == ADJ_OPCODE_PLACEHOLDER
                         ? _ ("inputs")
                         : _ ("elsewhere"));
  dot = strchr (path, '.');
  if (dot != NULL && g_ascii_isdigit (dot[1]))
    for (dot++; g_ascii_isdigit (*dot); dot++)
      ;
  return dot != NULL ? g_strndup (path, (gsize) (dot - path)) : g_strdup (path);
}

typedef struct
{
  char *name;
  gint64 weight;
  guint group;
} Sum;

static void
sum_free (gpointer data)
{
  Sum *sum = data;

  g_free (sum->name);
  g_free (sum);
}

static gint
by_weight (gconstpointer a, gconstpointer b)
{
  const Sum *x = *(const Sum *const *) a, *y = *(const Sum *const *) b;

  return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : strcmp (x->name, y->name);
}

/* Gives the modules with the most bytes a group each. */
static void
find_groups (AdjTimeline *self)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) sums = g_ptr_array_new_with_free_func (sum_free);
  g_autofree Sum **of = g_new (Sum *, self->held->len + 1);

  for (guint i = 0; i < self->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (self->held, AdjHeld, i);
      g_autofree char *name = name_group (self->graph, held->node.index);
      Sum *sum = g_hash_table_lookup (by_name, name);

      if (sum == NULL)
        {
          sum = g_new0 (Sum, 1);
          sum->name = g_steal_pointer (&name);
          g_ptr_array_add (sums, sum);
          g_hash_table_insert (by_name, sum->name, sum);
        }
      sum->weight += held->weight;
      of[i] = sum;
    }
  g_ptr_array_sort (sums, by_weight);
  self->n_groups = MIN (sums->len, ADJ_TIMELINE_GROUPS);
  for (guint i = 0; i < sums->len; i++)
    ((Sum *) sums->pdata[i])->group = MIN (i, ADJ_TIMELINE_GROUPS - 1);
  for (guint i = 0; i < self->n_groups; i++)
    self->groups[i] = i == ADJ_TIMELINE_GROUPS - 1 && sums->len > ADJ_TIMELINE_GROUPS
                          ? g_strdup (_ ("other"))
                          : g_strdup (((Sum *) sums->pdata[i])->name);
  for (guint i = 0; i < self->held->len; i++)
    g_array_index (self->held, AdjHeld, i).group = of[i]->group;
}

/* -- when -- */

/* The saved bytes of each storage, by its owner: of a call with several results only some may be
 * saved. (transfer full) */
static gint64 *
sum_saved (const AdjGraph *graph, const AdjLifetime *lives)
{
  const AdjSavedValues *saved = adj_graph_get_saved_values (graph);
  gint64 *parts = g_new0 (gint64, MAX (saved->n, 1));

  for (guint i = 0; i < saved->n; i++)
    if (__builtin_add_overflow (parts[lives[i].owner], saved->of[i], &parts[lives[i].owner]))
      parts[lives[i].owner] = G_MAXINT64;
  return parts;
}

static void
collect_held (AdjTimeline *self)
{
  const AdjLifetime *lives = adj_graph_get_lifetimes (self->graph);
  g_autofree gint64 *parts = sum_saved (self->graph, lives);

  for (guint i = 0; i < self->n_steps; i++)
    {
      AdjHeld held = { .node = { i }, .first = lives[i].first, .last = lives[i].last };

      if (lives[i].owner != i || lives[i].bytes == 0 || lives[i].bytes > G_MAXINT64)
        continue;
      held.bytes = (gint64) lives[i].bytes;
      if (__builtin_mul_overflow (held.bytes, (gint64) (held.last - held.first + 1), &held.weight))
        held.weight = G_MAXINT64;
      held.saved = parts[i];
      g_array_append_val (self->held, held);
    }
}

/* The bytes at each step in @group, or in all groups if it is their number.  (transfer full) */
static guint64 *
add_up (const AdjTimeline *self, guint group, guint *peak)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (AdjLiveRange));

  for (guint i = 0; i < self->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (self->held, AdjHeld, i);
      AdjLiveRange range = { held->first, held->last, (guint64) held->bytes };

      if (group == self->n_groups || held->group == group)
        g_array_append_val (ranges, range);
    }
  return adj_live_ranges_add_up ((const AdjLiveRange *) (gpointer) ranges->data, ranges->len,
                                 self->n_steps, peak);
}

static void
stack_up (AdjTimeline *self)
{
  guint peak;

  for (guint g = 0; g < self->n_groups; g++)
    self->stacks[g] = add_up (self, g, &peak);
  self->live = add_up (self, self->n_groups, &self->peak);
}

static gint
heaviest_first (gconstpointer a, gconstpointer b)
{
  const AdjHeld *x = a, *y = b;

  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return x->node.index < y->node.index ? -1 : x->node.index > y->node.index;
}

AdjTimeline *
adj_timeline_new (AdjGraph *graph)
{
  AdjTimeline *self = g_new0 (AdjTimeline, 1);

  self->graph = adj_graph_ref (graph);
  self->n_steps = adj_graph_get_n_nodes (graph);
  self->held = g_array_new (FALSE, FALSE, sizeof (AdjHeld));
  self->turn = adj_graph_get_saved_values (graph)->turn;
  collect_held (self);
  find_groups (self);
  stack_up (self);
  g_array_sort (self->held, heaviest_first);
  return self;
}

void
adj_timeline_free (AdjTimeline *memory)
{
  for (guint g = 0; g < memory->n_groups; g++)
    {
      g_free (memory->groups[g]);
      g_free (memory->stacks[g]);
    }
  g_array_unref (memory->held);
  g_free (memory->live);
  adj_graph_unref (memory->graph);
  g_free (memory);
}

gboolean
adj_held_is_live (const AdjHeld *held, guint step)
{
  return held->first <= step && step <= held->last;
}

char *
adj_held_get_reason (const AdjHeld *held, const AdjGraph *graph)
{
  const AdjNode *last = adj_graph_get_node (graph, held->last);

  if (adj_graph_get_node (graph, held->node.index)->opcode == ADJ_OPCODE_PLACEHOLDER)
    return g_strdup (_ ("input"));
  if (held->saved > 0)
    return g_strdup (_ ("saved for backward"));
  if (last->opcode == ADJ_OPCODE_OUTPUT)
    return g_strdup (_ ("output"));
  return held->last > held->node.index ? g_strdup_printf (_ ("until %s"), last->name)
                                       : g_strdup (_ ("never read"));
}

GArray *
adj_timeline_get_live (const AdjTimeline *memory, guint step)
{
  GArray *live = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < memory->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (memory->held, AdjHeld, i);

      if (adj_held_is_live (held, step))
        g_array_append_val (live, held->node.index);
    }
  return live;
}

/* -- the ledger -- */

struct _AdjHeldItem
{
  GObject parent_instance;

  AdjGraph *graph; /* (owned) */
  AdjHeld held;
};

G_DEFINE_FINAL_TYPE (AdjHeldItem, adj_held_item, G_TYPE_OBJECT)

static void
adj_held_item_finalize (GObject *object)
{
  g_clear_pointer (&ADJ_HELD_ITEM (object)->graph, adj_graph_unref);

  G_OBJECT_CLASS (adj_held_item_parent_class)->finalize (object);
}

static void
adj_held_item_class_init (AdjHeldItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_held_item_finalize;
}

static void
adj_held_item_init (AdjHeldItem *self)
{
}

const AdjHeld *
adj_held_item_get (AdjHeldItem *self)
{
  return &self->held;
}

AdjGraph *
adj_held_item_get_graph (AdjHeldItem *self)
{
  return self->graph;
}

static gint
largest_first (gconstpointer a, gconstpointer b)
{
  const AdjHeld *x = *(const AdjHeld *const *) a, *y = *(const AdjHeld *const *) b;

  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->node.index < y->node.index ? -1 : x->node.index > y->node.index;
}

GListModel *
adj_timeline_make_ledger (const AdjTimeline *memory, guint step)
{
  GListStore *ledger = g_list_store_new (ADJ_TYPE_HELD_ITEM);
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();

  for (guint i = 0; i < memory->held->len; i++)
    {
      AdjHeld *held = &g_array_index (memory->held, AdjHeld, i);

      if (step == G_MAXUINT || adj_held_is_live (held, step))
        g_ptr_array_add (lines, held);
    }
  if (step != G_MAXUINT)
    g_ptr_array_sort (lines, largest_first);
  for (guint i = 0; i < MIN (lines->len, ADJ_TIMELINE_LEDGER); i++)
    {
      g_autoptr (AdjHeldItem) item = g_object_new (ADJ_TYPE_HELD_ITEM, NULL);

      item->graph = adj_graph_ref (memory->graph);
      item->held = *(const AdjHeld *) lines->pdata[i];
      g_list_store_append (ledger, item);
    }
  return G_LIST_MODEL (ledger);
}
