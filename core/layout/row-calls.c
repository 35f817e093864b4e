/* SPDX-License-Identifier: MIT */

/* Rows of a captured backward: one for each autograd node that it was captured from, in the order
 * in which they run. */

#include "ir/adj-graph.h"
#include "layout/rows-private.h"

#define MAX_LOOSE 4   /* single cards side by side in a row */
#define MAX_CARDS 200 /* cards of a call in one row; a compiled function may have thousands */

/* The nodes that one autograd node became. */
typedef struct
{
  guint32 call;
  guint32 first; /* its first node */
  GArray *cards; /* of guint32 */
} Call;

static void
call_clear (gpointer data)
{
  g_array_unref (((Call *) data)->cards);
}

/* (transfer full): of Call, by their first nodes. */
static GArray *
collect_calls (const Sorter *self)
{
  const AdjNodeRoles *roles = self->roles;
  guint n = adj_captured_get_n_calls (roles->captured);
  g_autofree guint *at = g_new0 (guint, n + 1);
  GArray *calls = g_array_new (FALSE, FALSE, sizeof (Call));

  g_array_set_clear_func (calls, call_clear);
  for (guint32 i = 0; i < roles->n; i++)
    {
      guint32 number = adj_captured_get_node (roles->captured, i)->call;
      guint slot = number == ADJ_CAPTURED_NONE ? n : number;

      if (!sorter_is_card (roles, i))
        continue;
      if (at[slot] == 0 || slot == n)
        {
          Call call = { number, i, g_array_new (FALSE, FALSE, sizeof (guint32)) };

          g_array_append_val (calls, call);
          at[slot] = calls->len;
        }
      g_array_append_val (g_array_index (calls, Call, at[slot] - 1).cards, i);
    }
  return calls;
}

/* Whether every value is made in an earlier call than its readers, or in the same. */
static gboolean
flows_down (const Sorter *self, const GArray *calls)
{
  const AdjNodeRoles *roles = self->roles;
  g_autofree guint *place = g_new0 (guint, roles->n + 1);

  for (guint c = 0; c < calls->len; c++)
    {
      const GArray *cards = g_array_index (calls, Call, c).cards;

      for (guint k = 0; k < cards->len; k++)
        place[g_array_index (cards, guint32, k)] = c + 1;
    }
  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (roles->graph, i);
      guint reader = place[roles->entries[i].host];

      for (guint k = 0; k < node->n_inputs && reader > 0; k++)
        if (place[roles->entries[node->inputs[k].index].host] > reader)
          return FALSE;
    }
  return TRUE;
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  const Call *x = a, *y = b;

  if (x->call != y->call)
    return x->call < y->call ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static void
append_cards (Sorter *self, AdjRow *row, const GArray *cards, guint from, guint to)
{
  for (guint k = from; k < to; k++)
    {
      guint32 node = g_array_index (cards, guint32, k);

      g_array_append_val (sorter_get_nodes (row, self->leading), node);
      self->rows->row_of[node] = self->rows->rows->len - 1;
    }
}

/* Appends one module for all cards of the call, in rows. */
static void
append_call (Sorter *self, const Call *call)
{
  const AdjCaptured *captured = self->roles->captured;
  g_autofree char *title = adj_captured_name_call (captured, call->call);
  g_autofree char *path = g_strdup_printf ("#NodeCall %u", call->call);
  const guint32 module = sorter_append_module (self->rows, path, title, 0);

  adj_rows_module (self->rows, module)->n_nodes[self->leading == ADJ_SIDE_BACKWARD] =
      adj_captured_get_call (captured, call->call)->n_nodes;
  for (guint k = 0; k < call->cards->len; k += MAX_CARDS)
    append_cards (self, sorter_append_row (self->rows->rows, module), call->cards, k,
                  MIN (k + MAX_CARDS, call->cards->len));
}

gboolean
sorter_cut_calls (Sorter *self)
{
  g_autoptr (GArray) calls = collect_calls (self);
  AdjRow *loose = NULL;
  guint n_named = 0;

  for (guint c = 0; c < calls->len; c++)
    n_named += g_array_index (calls, Call, c).call != ADJ_CAPTURED_NONE;
  if (n_named == 0)
    return FALSE;
  if (!flows_down (self, calls))
    {
      g_array_sort (calls, by_number);
      if (!flows_down (self, calls))
        return FALSE;
    }
  for (guint c = 0; c < calls->len; c++)
    {
      const Call *call = &g_array_index (calls, Call, c);

      if (call->cards->len == 1)
        {
          if (loose == NULL || sorter_get_nodes (loose, self->leading)->len >= MAX_LOOSE)
            loose = sorter_append_row (self->rows->rows, 0);
          append_cards (self, loose, call->cards, 0, 1);
        }
      else
        {
          loose = NULL;
          append_call (self, call);
        }
    }
  return TRUE;
}
