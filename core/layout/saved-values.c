/* SPDX-License-Identifier: MIT */
/* What backward reads of forward, each storage once. */

#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "layout/adj-node-roles.h"
#include "layout/adj-saved-values.h"

static void
add_bytes (gint64 *sum, gint64 bytes)
{
  if (__builtin_add_overflow (*sum, MAX (bytes, 0), sum))
    *sum = G_MAXINT64;
}

/* Counts the storage that a call of backward reads through node @input. */
static void
add_read (AdjSavedValues *self, const AdjNodeRoles *roles, guint32 input, guint8 *seen)
{
  guint32 value = roles->entries[input].value;
  AdjRole role = roles->entries[roles->entries[value].host].role;
  gboolean is_input = adj_graph_get_node (roles->graph, value)->opcode == ADJ_OPCODE_PLACEHOLDER;

  if (seen[value] || roles->entries[input].side != ADJ_SIDE_FORWARD ||
      roles->entries[value].kind == ADJ_NODE_ROLE_CHIP)
    return;
  seen[value] = TRUE;
  if (role == ADJ_ROLE_RECOMPUTED || role == ADJ_ROLE_MUST_RECOMPUTE)
    return;
  if (is_input)
    {
      add_bytes (&self->input_bytes, roles->entries[value].bytes);
      return;
    }
  self->of[value] = MAX (roles->entries[value].bytes, 0);
  add_bytes (&self->bytes, self->of[value]);
  if (role == ADJ_ROLE_OFFLOADED)
    add_bytes (&self->offloaded, self->of[value]);
}

static void
find_saved (AdjSavedValues *self, const AdjNodeRoles *roles)
{
  g_autofree guint8 *seen = g_new0 (guint8, MAX (roles->n, 1));

  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (roles->graph, i);

      if (roles->entries[i].side != ADJ_SIDE_BACKWARD || adj_graph_is_update (roles->graph, i))
        continue;
      if (self->turn == roles->n && node->opcode == ADJ_OPCODE_CALL_FUNCTION)
        self->turn = i;
      for (guint k = 0; k < node->n_inputs; k++)
        add_read (self, roles, node->inputs[k].index, seen);
    }
}

static gpointer
compute (const AdjGraph *graph)
{
  AdjLayoutOptions options = { .view = ADJ_VIEW_MIRROR };
  g_autoptr (AdjNodeRoles) roles = adj_node_roles_new ((AdjGraph *) graph, &options);
  AdjSavedValues *self = g_new0 (AdjSavedValues, 1);

  self->n = self->turn = roles->n;
  self->of = g_new0 (gint64, MAX (roles->n, 1));
  if (!roles->only_backward)
    find_saved (self, roles);
  return self;
}

static void
saved_values_free (gpointer data)
{
  AdjSavedValues *self = data;

  g_free (self->of);
  g_free (self);
}

static const AdjGraphAnalysis analysis = { compute, saved_values_free };

const AdjSavedValues *
adj_graph_get_saved_values (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &analysis);
}
