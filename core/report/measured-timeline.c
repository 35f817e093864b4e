/* SPDX-License-Identifier: MIT */
/* The memory that the allocator of a GPU held while a graph ran, by the steps of that graph.
 *
 * A snapshot has for an event the line of generated code that ran, which is a node of the graph
 * that the code was made from.  Code whose lines are all nodes of our graph belongs to it, or to a
 * half of it.  A run begins where its steps start again.  The run that reaches most steps is used;
 * of equal ones the last, when the allocator is warm. */

#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "base/adj-error.h"
#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"
#include "report/adj-timeline.h"

typedef struct
{
  guint first, end; /* events */
  guint n_steps;
} Run;

/* Whether the node may be the call @target: "torch.ops.aten.mm.default" of the graph is
 * "aten.mm.default" in Python; other callables have no fixed form and match. */
static gboolean
is_call_of (const AdjNode *node, const char *target)
{
  return !g_str_has_prefix (target, "aten.") ||
         (node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_has_suffix (node->target, target));
}

/* The step of @graph of every event's node; G_MAXUINT: none. @n_told: (out): number of events with
 * a node  (transfer full) */
static guint *
find_steps (const AdjGraph *graph, const AdjMemorySnapshot *snapshot, guint *n_told)
{
  guint n = adj_memory_snapshot_get_n_events (snapshot);
  g_autoptr (GHashTable) foreign = g_hash_table_new (g_str_hash, g_str_equal);
  guint *steps = g_new (guint, MAX (n, 1));

  *n_told = 0;
  for (guint i = 0; i < n; i++)
    {
      const AdjMemoryEvent *event = adj_memory_snapshot_get_event (snapshot, i);
      AdjNodeId node = ADJ_NO_NODE;

      steps[i] = G_MAXUINT;
      if (event->node == NULL)
        continue;
      ++*n_told;
      node = adj_graph_find_node (graph, event->node);
      if (node.index == ADJ_NO_NODE.index ||
          !is_call_of (adj_graph_get_node (graph, node.index), event->target))
        g_hash_table_add (foreign, (gpointer) event->program);
      else
        steps[i] = node.index;
    }
  for (guint i = 0; i < n; i++)
    if (steps[i] != G_MAXUINT &&
        g_hash_table_contains (foreign, adj_memory_snapshot_get_event (snapshot, i)->program))
      steps[i] = G_MAXUINT;
  return steps;
}

/* The best of the runs on any device; n_steps is 0 if there is none. */
static Run
find_run (const AdjMemorySnapshot *snapshot, const guint *steps)
{
  Run best = { 0 }, run = { 0 };
  guint device = G_MAXUINT, step = 0;

  for (guint i = 0; i < adj_memory_snapshot_get_n_events (snapshot); i++)
    {
      const AdjMemoryEvent *event = adj_memory_snapshot_get_event (snapshot, i);

      if (steps[i] == G_MAXUINT)
        continue;
      if (event->device != device || steps[i] < step)
        run = (Run){ .first = i };
      if (run.n_steps == 0 || steps[i] > step)
        run.n_steps++;
      run.end = i + 1;
      device = event->device;
      step = steps[i];
      if (run.n_steps >= best.n_steps)
        best = run;
    }
  return best;
}

static guint64
sum_inputs (const AdjGraph *graph)
{
  const AdjLifetime *lives = adj_graph_get_lifetimes (graph);
  guint64 bytes = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (lives[i].owner == i && adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER)
      bytes += MIN (lives[i].bytes, G_MAXINT64 - bytes);
  return bytes;
}

/* Bytes in use after event @i, if @inputs bytes were in use before the run. */
static guint64
level (const AdjMemorySnapshot *snapshot, const Run *run, guint i, guint64 inputs)
{
  const AdjMemoryEvent *first = adj_memory_snapshot_get_event (snapshot, run->first);
  gboolean is_alloc = g_str_equal (first->action, "alloc");
  guint64 before =
      is_alloc ? first->allocated - MIN (first->size, first->allocated) : first->allocated;
  guint64 now = adj_memory_snapshot_get_event (snapshot, i)->allocated;

  return inputs + now > before ? inputs + now - before : 0;
}

/* Sets the maximum in use at each step, which begins with what the step before left. */
static void
follow (AdjTimeline *self, const AdjMemorySnapshot *snapshot, const guint *steps, const Run *run)
{
  guint64 inputs = sum_inputs (self->graph), now = inputs;
  guint step = 0;

  self->live[0] = inputs;
  for (guint i = run->first; i < run->end; i++)
    {
      if (steps[i] != G_MAXUINT)
        while (step < steps[i])
          self->live[++step] = now;
      now = level (snapshot, run, i, inputs);
      self->live[step] = MAX (self->live[step], now);
    }
  while (step + 1 < self->n_steps)
    self->live[++step] = now;
  for (guint i = 0; i < self->n_steps; i++)
    if (self->live[i] > self->live[self->peak])
      self->peak = i;
}

/* Lists the allocations of its nodes, until they are freed. */
static void
collect_held (AdjTimeline *self,
              const AdjMemorySnapshot *snapshot,
              const guint *steps,
              const Run *run)
{
  g_autoptr (GHashTable) open = g_hash_table_new (g_int64_hash, g_int64_equal);
  guint step = 0;

  for (guint i = run->first; i < run->end; i++)
    {
      const AdjMemoryEvent *event = adj_memory_snapshot_get_event (snapshot, i);
      AdjHeld held = { .node = { steps[i] }, .last = self->n_steps - 1 };
      gpointer index;

      step = steps[i] != G_MAXUINT ? steps[i] : step;
      if (g_str_equal (event->action, "free_completed") &&
          g_hash_table_lookup_extended (open, &event->address, NULL, &index))
        {
          g_array_index (self->held, AdjHeld, GPOINTER_TO_UINT (index)).last = step;
          g_hash_table_remove (open, &event->address);
        }
      if (!g_str_equal (event->action, "alloc") || steps[i] == G_MAXUINT)
        continue;
      held.first = step;
      held.bytes = (gint64) MIN (event->size, G_MAXINT64);
      g_hash_table_replace (open, (gpointer) &event->address, GUINT_TO_POINTER (self->held->len));
      g_array_append_val (self->held, held);
    }
}

AdjTimeline *
adj_timeline_new_measured (AdjGraph *graph, const AdjMemorySnapshot *snapshot, GError **error)
{
  guint n_told;
  g_autofree guint *steps = find_steps (graph, snapshot, &n_told);
  Run run = find_run (snapshot, steps);
  AdjTimeline *self;

  if (run.n_steps == 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s",
                   n_told == 0 ? "the snapshot does not say which node allocated what: dump it "
                                 "with augment_with_fx_traces=True"
                               : "the snapshot is of other graphs: none of the code that ran has "
                                 "only nodes of this one");
      return NULL;
    }
  self = g_new0 (AdjTimeline, 1);
  self->graph = adj_graph_ref (graph);
  self->n_steps = adj_graph_get_n_nodes (graph);
  self->turn = adj_graph_get_saved_values (graph)->turn;
  self->live = g_new0 (guint64, self->n_steps);
  self->held = g_array_new (FALSE, FALSE, sizeof (AdjHeld));
  follow (self, snapshot, steps, &run);
  collect_held (self, snapshot, steps, &run);
  return self;
}
