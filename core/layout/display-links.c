/* SPDX-License-Identifier: MIT */

/* The lines between the items of the display list, and what backward keeps of forward. */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"
#include "layout/display-list-private.h"

#define MAX_OUTPUT_LINKS 4
#define NO_STORAGE (G_MAXUINT32 - 1)

/* One value that one item reads from another. */
typedef struct
{
  guint32 from, to, value, storage;
  guint32 control; /* 1: an order without a value */
} Use;

static gint
by_ends (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Use)) == 0 ? 0
         : ((const Use *) a)->from != ((const Use *) b)->from
             ? (((const Use *) a)->from < ((const Use *) b)->from ? -1 : 1)
         : ((const Use *) a)->to != ((const Use *) b)->to
             ? (((const Use *) a)->to < ((const Use *) b)->to ? -1 : 1)
         : ((const Use *) a)->storage != ((const Use *) b)->storage
             ? (((const Use *) a)->storage < ((const Use *) b)->storage ? -1 : 1)
             : (((const Use *) a)->value < ((const Use *) b)->value ? -1 : 1);
}

static gboolean
is_forward_result (const AdjDisplayList *self, guint32 item)
{
  const AdjDisplayItem *i = adj_display_item (self, item);

  return i->side == ADJ_SIDE_FORWARD && (!self->roles->one_column || i->role != ADJ_ROLE_GRADIENT);
}

/* Gradients leave as chips; the output node reads the rest, as long as that is a picture. */
static gboolean
is_drawn (const AdjDisplayList *self, guint32 from, guint32 to, guint n_outputs)
{
  const AdjDisplayItem *reader = adj_display_item (self, to);
  gboolean output = adj_node_id_is_valid (reader->node) &&
                    self->roles->entries[reader->node.index].kind == ADJ_NODE_ROLE_OUTPUT;

  if (from == to)
    return FALSE;
  if (!output)
    return TRUE;
  return is_forward_result (self, from) && n_outputs <= MAX_OUTPUT_LINKS;
}

static guint
count_outputs (const AdjDisplayList *self)
{
  guint n = 0;

  for (guint k = 0; k < self->roles->results->len; k++)
    {
      guint32 node = g_array_index (self->roles->results, AdjResultRole, k).node;
      guint32 item = node == G_MAXUINT32 ? ADJ_NO_BOX : self->item_of[node];

      n += item != ADJ_NO_BOX && is_forward_result (self, item);
    }
  return n;
}

/* Adds threads from values that are not saved to their recomputation; they carry no bytes. */
static void
append_threads (const AdjDisplayList *self, GArray *uses)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint32 i = 0; i < roles->n && roles->is_joint; i++)
    {
      guint32 counterpart = roles->entries[i].counterpart;
      Use use = { ADJ_NO_BOX, self->item_of[i], counterpart, NO_STORAGE, 0 };

      if (roles->entries[i].role != ADJ_ROLE_RECOMPUTE_COPY || counterpart == G_MAXUINT32)
        continue;
      use.from = self->item_of[counterpart];
      if (use.from != ADJ_NO_BOX && use.to != ADJ_NO_BOX &&
          adj_display_item (self, use.from)->side != adj_display_item (self, use.to)->side)
        g_array_append_val (uses, use);
    }
}

/* From an accumulation to the hook that comes after it. */
static void
append_control (const AdjDisplayList *self, GArray *uses)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint32 i = 0; i < roles->n && roles->captured != NULL; i++)
    {
      guint32 after = adj_captured_get_node (roles->captured, i)->after;
      Use use = { ADJ_NO_BOX, self->item_of[i], after, NO_STORAGE, 1 };

      if (after == ADJ_CAPTURED_NONE)
        continue;
      use.from = self->item_of[after];
      if (use.from != ADJ_NO_BOX && use.to != ADJ_NO_BOX && use.from != use.to)
        g_array_append_val (uses, use);
    }
}

/* The lists of a captured backward stand for themselves: what is taken out of them is shown where
 * it is read. */
static gboolean
is_list (const AdjNodeRoles *roles, guint32 node)
{
  return roles->captured != NULL &&
         adj_captured_get_node (roles->captured, node)->kind == ADJ_CAPTURED_LIST;
}

static GArray *
collect_uses (const AdjDisplayList *self)
{
  const AdjNodeRoles *roles = self->roles;
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (Use));
  guint n_outputs = count_outputs (self);

  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_display_list_node (self, i);
      guint32 to = self->item_of[i];

      for (guint k = 0; to != ADJ_NO_BOX && k < node->n_inputs; k++)
        {
          guint32 value = node->inputs[k].index;
          guint32 host = roles->entries[value].host;
          Use use = { self->item_of[host], to, value, roles->entries[value].value, 0 };

          if (roles->entries[host].kind != ADJ_NODE_ROLE_CHIP && use.from != ADJ_NO_BOX &&
              !display_list_sticks (self, host, to) &&
              !display_list_names_far (self, use.from, to) && !is_list (roles, value) &&
              is_drawn (self, use.from, to, n_outputs))
            g_array_append_val (uses, use);
        }
    }
  append_threads (self, uses);
  append_control (self, uses);
  g_array_sort (uses, by_ends);
  return uses;
}

void
adj_display_list_make_links (AdjDisplayList *self)
{
  g_autoptr (GArray) uses = collect_uses (self);
  guint32 storage = G_MAXUINT32;

  for (guint k = 0; k < uses->len; k++)
    {
      const Use *use = &g_array_index (uses, Use, k);
      AdjDisplayLink *link =
          self->links->len ? adj_display_link (self, self->links->len - 1) : NULL;
      gint64 bytes = use->storage == NO_STORAGE ? 0 : self->roles->entries[use->storage].bytes;

      if (!link || link->from != use->from || link->to != use->to)
        {
          AdjDisplayLink fresh = { .from = use->from,
                                   .to = use->to,
                                   .value = { use->value },
                                   .control = use->control,
                                   .effect = !use->control };

          g_array_append_val (self->links, fresh);
          link = adj_display_link (self, self->links->len - 1);
          storage = G_MAXUINT32;
        }
      link->effect &= self->roles->entries[use->value].token;
      if (use->storage == storage || use->storage == NO_STORAGE)
        continue;
      storage = use->storage;
      link->n_values++;
      if (bytes > 0 && __builtin_add_overflow (link->bytes, bytes, &link->bytes))
        link->bytes = G_MAXINT64;
    }
}

static gboolean
is_recomputed (AdjRole role)
{
  return role == ADJ_ROLE_RECOMPUTED || role == ADJ_ROLE_MUST_RECOMPUTE;
}

static void
add_saved (AdjDisplayList *self, AdjDisplayItem *item, guint32 value)
{
  const AdjNodeRoles *roles = self->roles;
  gint64 bytes = MAX (roles->entries[value].bytes, 0);
  gboolean again = is_recomputed (roles->entries[roles->entries[value].host].role);

  item->n_read++;
  item->n_recomputed += again;
  if (__builtin_add_overflow (MAX (item->bytes, 0), bytes, &item->bytes))
    item->bytes = G_MAXINT64;
  if (!again && __builtin_add_overflow (item->kept, bytes, &item->kept))
    item->kept = G_MAXINT64;
}

/* Of a backward alone it is what is computed again for it. */
static void
sum_items (AdjDisplayList *self)
{
  for (guint i = 0; i < self->items->len; i++)
    if (__builtin_add_overflow (self->saved_bytes, adj_display_item (self, i)->kept,
                                &self->saved_bytes))
      self->saved_bytes = G_MAXINT64;
}

static void
sum_values (AdjDisplayList *self)
{
  const AdjSavedValues *saved = adj_graph_get_saved_values (self->roles->graph);

  self->saved_bytes = saved->bytes;
  self->input_bytes = saved->input_bytes;
  self->offloaded_bytes = saved->offloaded;
}

void
adj_display_list_sum_saved (AdjDisplayList *self)
{
  const AdjNodeRoles *roles = self->roles;
  g_autofree guint8 *seen = g_new0 (guint8, MAX (roles->n, 1));

  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_display_list_node (self, i);
      guint32 to = self->item_of[i];

      if (to == ADJ_NO_BOX || adj_display_item (self, to)->side != ADJ_SIDE_BACKWARD)
        continue;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint32 value = roles->entries[node->inputs[k].index].value;
          guint32 from = self->item_of[node->inputs[k].index];

          if (from == ADJ_NO_BOX || seen[value] ||
              roles->entries[value].kind == ADJ_NODE_ROLE_CHIP ||
              adj_display_item (self, from)->side != ADJ_SIDE_FORWARD)
            continue;
          seen[value] = TRUE;
          add_saved (self, adj_display_item (self, from), value);
        }
    }
  if (roles->only_backward)
    sum_items (self);
  else if (!roles->one_column)
    sum_values (self);
}
