/* SPDX-License-Identifier: MIT */
/* Highest-label push-relabel, its first phase only: the sides of a minimum cut show in the preflow,
 * so excess that cannot reach the sink is never sent back.
 *
 * A vertex at height n or above cannot reach the sink.  Heights are measured anew from the sink
 * after every 6n + m steps of work, and when no vertex is left at some height all above it are cut
 * off at once (the gap rule); for that every height has a list of its vertices.
 *
 * Several cuts may have the least capacity.  Every minimum cut has all of its edges saturated,
 * none of its backward edges in use and no leftover excess with the sink; so a second flow, in
 * which only such edges can be cut, each at its cost, finds the cheapest of them. */

#include "partition/max-flow.h"

#include <gio/gio.h>
#include <string.h>

#define NO_VERTEX G_MAXUINT32
#define POLL 1024 /* vertices between two checks for cancellation */

typedef struct
{
  guint n, source, sink;
  guint n_arcs;     /* two for each edge: arc a and its reverse a ^ 1 */
  guint32 *head;    /* of each arc */
  gint64 *residual; /* of each arc */
  guint32 *begin;   /* n + 1: into @leaving */
  guint32 *leaving; /* arcs that leave each vertex */

  gint64 *excess;
  guint32 *height;
  guint32 *current;       /* into @leaving */
  guint32 *active;        /* per height: a stack of vertices with excess */
  guint32 *next_active;   /* per vertex */
  guint32 *layer;         /* per height: a list of its vertices */
  guint32 *next, *before; /* per vertex: in its layer */
  guint highest_active, highest;
  guint64 work;
} Flow;

static void
index_arcs (Flow *self, const AdjFlowEdge *edges, guint n_edges)
{
  g_autofree guint32 *fill = NULL;

  for (guint e = 0; e < n_edges; e++)
    {
      self->head[2 * e] = edges[e].to;
      self->head[2 * e + 1] = edges[e].from;
      self->residual[2 * e] = edges[e].capacity;
      self->begin[edges[e].from + 1]++;
      self->begin[edges[e].to + 1]++;
    }
  for (guint v = 0; v < self->n; v++)
    self->begin[v + 1] += self->begin[v];
  fill = g_memdup2 (self->begin, sizeof (guint32) * self->n);
  for (guint a = 0; a < self->n_arcs; a++)
    self->leaving[fill[self->head[a ^ 1]]++] = a;
}

static Flow *
flow_new (guint n, const AdjFlowEdge *edges, guint n_edges, guint source, guint sink)
{
  Flow *self = g_new0 (Flow, 1);

  self->n = n;
  self->source = source;
  self->sink = sink;
  self->n_arcs = 2 * n_edges;
  self->head = g_new (guint32, self->n_arcs + 1);
  self->residual = g_new0 (gint64, self->n_arcs + 1);
  self->begin = g_new0 (guint32, n + 1);
  self->leaving = g_new (guint32, self->n_arcs + 1);
  self->excess = g_new0 (gint64, n);
  self->height = g_new (guint32, n);
  self->current = g_new (guint32, n);
  self->active = g_new (guint32, n + 1);
  self->next_active = g_new (guint32, n);
  self->layer = g_new (guint32, n + 1);
  self->next = g_new (guint32, n);
  self->before = g_new (guint32, n);
  index_arcs (self, edges, n_edges);
  return self;
}

static void
flow_free (Flow *self)
{
  g_free (self->head);
  g_free (self->residual);
  g_free (self->begin);
  g_free (self->leaving);
  g_free (self->excess);
  g_free (self->height);
  g_free (self->current);
  g_free (self->active);
  g_free (self->next_active);
  g_free (self->layer);
  g_free (self->next);
  g_free (self->before);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Flow, flow_free)

static void
activate (Flow *self, guint v)
{
  guint height = self->height[v];

  self->next_active[v] = self->active[height];
  self->active[height] = v;
  self->highest_active = MAX (self->highest_active, height);
}

static void
enter_layer (Flow *self, guint v)
{
  guint height = self->height[v];

  self->before[v] = NO_VERTEX;
  self->next[v] = self->layer[height];
  if (self->layer[height] != NO_VERTEX)
    self->before[self->layer[height]] = v;
  self->layer[height] = v;
  self->highest = MAX (self->highest, height);
}

static void
leave_layer (Flow *self, guint v)
{
  if (self->before[v] != NO_VERTEX)
    self->next[self->before[v]] = self->next[v];
  else
    self->layer[self->height[v]] = self->next[v];
  if (self->next[v] != NO_VERTEX)
    self->before[self->next[v]] = self->before[v];
}

/* Heights are the distances to the sink over arcs with room. */
static void
measure (Flow *self)
{
  g_autofree guint32 *queue = g_new (guint32, self->n);
  guint first = 0, last = 0;

  memset (self->active, 0xff, sizeof (guint32) * (self->n + 1));
  memset (self->layer, 0xff, sizeof (guint32) * (self->n + 1));
  self->highest_active = self->highest = 0;
  for (guint v = 0; v < self->n; v++)
    self->height[v] = self->n;
  self->height[self->sink] = 0;
  queue[last++] = self->sink;
  while (first < last)
    {
      guint v = queue[first++];

      self->current[v] = self->begin[v];
      for (guint32 k = self->begin[v]; k < self->begin[v + 1]; k++)
        {
          guint a = self->leaving[k] ^ 1, u = self->head[a ^ 1];

          if (self->residual[a] == 0 || self->height[u] < self->n || u == self->source)
            continue;
          self->height[u] = self->height[v] + 1;
          queue[last++] = u;
        }
    }
  for (guint i = 1; i < last; i++)
    {
      enter_layer (self, queue[i]);
      if (self->excess[queue[i]] > 0)
        activate (self, queue[i]);
    }
  self->work = 0;
}

static void
push (Flow *self, guint v, guint arc)
{
  guint to = self->head[arc];
  gint64 amount = MIN (self->excess[v], self->residual[arc]);

  self->residual[arc] -= amount;
  self->residual[arc ^ 1] += amount;
  self->excess[v] -= amount;
  if (self->excess[to] == 0 && to != self->sink && to != self->source)
    activate (self, to);
  self->excess[to] += amount;
}

/* Gap heuristic: no vertex is left at @height, so those above cannot reach the sink and are lifted
 * past the source. */
static void
close_gap (Flow *self, guint height)
{
  for (guint h = height + 1; h <= self->highest; h++)
    {
      for (guint v = self->layer[h]; v != NO_VERTEX; v = self->next[v])
        self->height[v] = self->n;
      self->layer[h] = NO_VERTEX;
      self->active[h] = NO_VERTEX;
    }
  self->highest = height;
}

static void
relabel (Flow *self, guint v)
{
  guint old = self->height[v], lowest = self->n;

  self->work += self->begin[v + 1] - self->begin[v] + 12;
  for (guint32 k = self->begin[v]; k < self->begin[v + 1]; k++)
    {
      guint a = self->leaving[k];

      if (self->residual[a] > 0 && self->height[self->head[a]] + 1 < lowest)
        {
          lowest = self->height[self->head[a]] + 1;
          self->current[v] = k;
        }
    }
  leave_layer (self, v);
  self->height[v] = lowest;
  if (lowest < self->n)
    enter_layer (self, v);
  if (self->layer[old] == NO_VERTEX)
    {
      close_gap (self, old);
      self->height[v] = self->n;
    }
}

static void
discharge (Flow *self, guint v)
{
  while (self->excess[v] > 0 && self->height[v] < self->n)
    {
      guint32 k = self->current[v];

      if (k == self->begin[v + 1])
        {
          relabel (self, v);
          continue;
        }
      if (self->residual[self->leaving[k]] > 0 &&
          self->height[v] == self->height[self->head[self->leaving[k]]] + 1)
        push (self, v, self->leaving[k]);
      if (self->excess[v] > 0)
        self->current[v]++;
    }
}

static void
saturate_source (Flow *self)
{
  for (guint32 k = self->begin[self->source]; k < self->begin[self->source + 1]; k++)
    {
      guint a = self->leaving[k];
      gint64 amount = self->residual[a];

      if (self->head[a] == self->source)
        continue;
      self->residual[a] = 0;
      self->residual[a ^ 1] += amount;
      self->excess[self->head[a]] += amount;
    }
}

/* %FALSE: cancelled. */
static gboolean
run (Flow *self, GCancellable *cancellable)
{
  guint64 limit = 6 * (guint64) self->n + self->n_arcs / 2;
  guint n_discharged = 0;

  saturate_source (self);
  measure (self);
  while (self->highest_active > 0 || self->active[0] != NO_VERTEX)
    {
      guint v = self->active[self->highest_active];

      if (v == NO_VERTEX)
        {
          self->highest_active--;
          continue;
        }
      self->active[self->highest_active] = self->next_active[v];
      if (n_discharged++ % POLL == 0 && g_cancellable_is_cancelled (cancellable))
        return FALSE;
      discharge (self, v);
      if (self->work > limit)
        measure (self);
    }
  return TRUE;
}

/* Marks the vertices connected with those in @queue by residual arcs: those that reach them
 * (@backwards), or those reached from them. */
static void
spread (const Flow *self, guint32 *queue, guint n_queue, gboolean backwards, guint8 *mark)
{
  for (guint i = 0; i < n_queue; i++)
    mark[queue[i]] = TRUE;
  for (guint first = 0; first < n_queue; first++)
    {
      guint v = queue[first];

      for (guint32 k = self->begin[v]; k < self->begin[v + 1]; k++)
        {
          guint a = self->leaving[k], u = self->head[a];

          if (mark[u] || self->residual[backwards ? a ^ 1 : a] == 0)
            continue;
          mark[u] = TRUE;
          queue[n_queue++] = u;
        }
    }
}

static void
find_sink_side (const Flow *self, guint8 *side)
{
  g_autofree guint32 *queue = g_new (guint32, self->n);

  memset (side, 0, self->n);
  queue[0] = self->sink;
  spread (self, queue, 1, TRUE, side);
}

/* The vertices that every minimum cut leaves with the source: those reached from the source, or
 * from excess. */
static void
find_source_side (const Flow *self, guint8 *side)
{
  g_autofree guint32 *queue = g_new (guint32, self->n);
  guint n_queue = 0;

  memset (side, 0, self->n);
  for (guint v = 0; v < self->n; v++)
    if (v == self->source || (v != self->sink && self->excess[v] > 0))
      queue[n_queue++] = v;
  spread (self, queue, n_queue, FALSE, side);
}

static void
add_edge (GArray *edges, guint from, guint to, gint64 capacity)
{
  AdjFlowEdge edge = { from, to, capacity, 0 };

  /* 0 is the source, 1 the sink. */
  if (from != to && from != 1 && to != 0)
    g_array_append_val (edges, edge);
}

/* %FALSE: cancelled. */
static gboolean
choose_cheapest (const Flow *self,
                 const AdjFlowEdge *edges,
                 GCancellable *cancellable,
                 guint8 *on_sink_side)
{
  g_autofree guint8 *with_source = g_new (guint8, self->n);
  g_autofree guint32 *id = g_new (guint32, self->n);
  g_autoptr (GArray) network = g_array_new (FALSE, FALSE, sizeof (AdjFlowEdge));
  g_autofree guint8 *side = NULL;
  gint64 never = 1;
  guint n = 2;

  find_source_side (self, with_source);
  for (guint v = 0; v < self->n; v++)
    id[v] = with_source[v] ? 0 : on_sink_side[v] ? 1 : n++;
  if (n == 2)
    return TRUE;
  for (guint e = 0; e < self->n_arcs / 2; e++)
    never += self->residual[2 * e] == 0 ? edges[e].cost : 0;
  for (guint e = 0; e < self->n_arcs / 2; e++)
    {
      guint from = id[edges[e].from], to = id[edges[e].to];

      add_edge (network, from, to, self->residual[2 * e] > 0 ? never : edges[e].cost);
      if (self->residual[2 * e + 1] > 0)
        add_edge (network, to, from, never);
    }
  side = g_new (guint8, n);
  if (adj_min_cut (n, (const AdjFlowEdge *) (gpointer) network->data, network->len, 0, 1,
                   ADJ_CUT_NEAREST_SINK, cancellable, side) < 0)
    return FALSE;
  for (guint v = 0; v < self->n; v++)
    on_sink_side[v] = side[id[v]];
  return TRUE;
}

gint64
adj_min_cut (guint n_vertices,
             const AdjFlowEdge *edges,
             guint n_edges,
             guint source,
             guint sink,
             AdjCutChoice choice,
             GCancellable *cancellable,
             guint8 *on_sink_side)
{
  g_autoptr (Flow) flow = NULL;

  g_return_val_if_fail (source < n_vertices && sink < n_vertices && source != sink, 0);

  flow = flow_new (n_vertices, edges, n_edges, source, sink);
  if (!run (flow, cancellable))
    return -1;
  find_sink_side (flow, on_sink_side);
  if (choice == ADJ_CUT_CHEAPEST && !choose_cheapest (flow, edges, cancellable, on_sink_side))
    return -1;
  return flow->excess[sink];
}
