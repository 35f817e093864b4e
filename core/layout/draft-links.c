/* SPDX-License-Identifier: MIT */

/* The lines between the items of a draft, and what backward keeps of forward. */

#include <string.h>

#include "layout/draft-private.h"

#define MAX_OUTPUT_LINKS 4
#define NO_STORAGE (G_MAXUINT32 - 1)

/* One value that one item reads from another. */
typedef struct
{
  guint32 from, to, value, storage;
  guint32 control; /* 1: nothing is read, it only comes after */
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
is_forward_result (const AdjDraft *self, guint32 item)
{
  const AdjDraftItem *i = adj_draft_item (self, item);

  return i->side == ADJ_SIDE_FORWARD && (!self->census->one_column || i->role != ADJ_ROLE_GRADIENT);
}

/* Gradients leave as chips; the output node reads the rest, as long as that is a picture. */
static gboolean
is_drawn (const AdjDraft *self, guint32 from, guint32 to, guint n_outputs)
{
  const AdjDraftItem *reader = adj_draft_item (self, to);
  gboolean output = adj_node_id_is_valid (reader->node) &&
                    self->census->entries[reader->node.index].kind == ADJ_CENSUS_OUTPUT;

  if (from == to)
    return FALSE;
  if (!output)
    return TRUE;
  return is_forward_result (self, from) && n_outputs <= MAX_OUTPUT_LINKS;
}

static guint
count_outputs (const AdjDraft *self)
{
  guint n = 0;

  for (guint k = 0; k < self->census->results->len; k++)
    {
      guint32 node = g_array_index (self->census->results, AdjCensusResult, k).node;
      guint32 item = node == G_MAXUINT32 ? ADJ_NO_BOX : self->item_of[node];

      n += item != ADJ_NO_BOX && is_forward_result (self, item);
    }
  return n;
}

/* From what was not saved to where it is computed again: nothing is kept for that. */
static void
append_threads (const AdjDraft *self, GArray *uses)
{
  const AdjCensus *census = self->census;

  for (guint32 i = 0; i < census->n && census->is_joint; i++)
    {
      guint32 twin = census->entries[i].twin;
      Use use = { ADJ_NO_BOX, self->item_of[i], twin, NO_STORAGE, 0 };

      if (census->entries[i].role != ADJ_ROLE_RECOMPUTE_COPY || twin == G_MAXUINT32)
        continue;
      use.from = self->item_of[twin];
      if (use.from != ADJ_NO_BOX && use.to != ADJ_NO_BOX &&
          adj_draft_item (self, use.from)->side != adj_draft_item (self, use.to)->side)
        g_array_append_val (uses, use);
    }
}

/* From an accumulation to the hook that comes after it. */
static void
append_control (const AdjDraft *self, GArray *uses)
{
  const AdjCensus *census = self->census;

  for (guint32 i = 0; i < census->n && census->captured != NULL; i++)
    {
      guint32 after = adj_captured_get_node (census->captured, i)->after;
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
is_list (const AdjCensus *census, guint32 node)
{
  return census->captured != NULL &&
         adj_captured_get_node (census->captured, node)->kind == ADJ_CAPTURED_LIST;
}

static GArray *
collect_uses (const AdjDraft *self)
{
  const AdjCensus *census = self->census;
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (Use));
  guint n_outputs = count_outputs (self);

  for (guint32 i = 0; i < census->n; i++)
    {
      const AdjNode *node = adj_draft_node (self, i);
      guint32 to = self->item_of[i];

      for (guint k = 0; to != ADJ_NO_BOX && k < node->n_inputs; k++)
        {
          guint32 value = node->inputs[k].index;
          guint32 host = census->entries[value].host;
          Use use = { self->item_of[host], to, value, census->entries[value].value, 0 };

          if (census->entries[host].kind != ADJ_CENSUS_CHIP && use.from != ADJ_NO_BOX &&
              !is_list (census, value) && is_drawn (self, use.from, to, n_outputs))
            g_array_append_val (uses, use);
        }
    }
  append_threads (self, uses);
  append_control (self, uses);
  g_array_sort (uses, by_ends);
  return uses;
}

void
adj_draft_make_links (AdjDraft *self)
{
  g_autoptr (GArray) uses = collect_uses (self);
  guint32 storage = G_MAXUINT32;

  for (guint k = 0; k < uses->len; k++)
    {
      const Use *use = &g_array_index (uses, Use, k);
      AdjDraftLink *link = self->links->len ? adj_draft_link (self, self->links->len - 1) : NULL;
      gint64 bytes = use->storage == NO_STORAGE ? 0 : self->census->entries[use->storage].bytes;

      if (!link || link->from != use->from || link->to != use->to)
        {
          AdjDraftLink fresh = { use->from, use->to, { use->value }, 0, 0, use->control };

          g_array_append_val (self->links, fresh);
          link = adj_draft_link (self, self->links->len - 1);
          storage = G_MAXUINT32;
        }
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
add_saved (AdjDraft *self, AdjDraftItem *item, guint32 value)
{
  const AdjCensus *census = self->census;
  gint64 bytes = MAX (census->entries[value].bytes, 0);
  gboolean again = is_recomputed (census->entries[census->entries[value].host].role);

  item->n_read++;
  item->n_recomputed += again;
  if (__builtin_add_overflow (MAX (item->bytes, 0), bytes, &item->bytes))
    item->bytes = G_MAXINT64;
  if (!again && (__builtin_add_overflow (item->kept, bytes, &item->kept) ||
                 __builtin_add_overflow (self->saved_bytes, bytes, &self->saved_bytes)))
    item->kept = self->saved_bytes = G_MAXINT64;
}

void
adj_draft_sum_saved (AdjDraft *self)
{
  const AdjCensus *census = self->census;
  g_autofree guint8 *seen = g_new0 (guint8, MAX (census->n, 1));

  for (guint32 i = 0; i < census->n; i++)
    {
      const AdjNode *node = adj_draft_node (self, i);
      guint32 to = self->item_of[i];

      if (to == ADJ_NO_BOX || adj_draft_item (self, to)->side != ADJ_SIDE_BACKWARD)
        continue;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint32 value = census->entries[node->inputs[k].index].value;
          guint32 from = self->item_of[node->inputs[k].index];

          if (from == ADJ_NO_BOX || seen[value] || census->entries[value].kind == ADJ_CENSUS_CHIP ||
              adj_draft_item (self, from)->side != ADJ_SIDE_FORWARD)
            continue;
          seen[value] = TRUE;
          add_saved (self, adj_draft_item (self, from), value);
        }
    }
}
