/* SPDX-License-Identifier: MIT */
/* Min-cut partitioning: builds the network and reads the cut.
 *
 * The network of partition/SPEC.md §3.3: every node is two vertices, "in" and "out"; the capacity
 * of the edge between them is the cost of saving its value, and an edge of infinite capacity leads
 * from "out" to every reader.  The source has the values available in forward, the sink those
 * needed in backward; nodes on the sink's side of the cut are computed in backward.
 *
 * Vertices that edges of infinite capacity tie to the source or the sink become the source or the
 * sink before any flow is sent, which removes more than half of them. */

#include <gio/gio.h>
#include <math.h>

#include "ir/adj-graph.h"
#include "partition/cut-private.h"
#include "partition/max-flow.h"

#define SOURCE 0u
#define SINK 1u
#define FREE G_MAXUINT32

#define MAX_TOTAL (G_GINT64_CONSTANT (1) << 60)

typedef struct
{
  const Joint *joint;
  Cut *cut;
  guint32 *in, *out; /* vertex of each node */
  guint n_vertices;
  GArray *edges; /* AdjFlowEdge */
  gint64 never;
} Network;

static gboolean
is_materialized (const Joint *joint, guint i)
{
  if (joint_is_placeholder (joint, i))
    return TRUE;
  for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
    if (!joint_fusible (joint, i, joint->users.items[k]))
      return TRUE;
  return FALSE;
}

/* Whether input @i counts as a parameter: it is one, or the input that many tokens after it is. */
static gboolean
is_free (const Joint *joint, const CutRules *rules, guint i)
{
  guint place = i, n = rules->forgets_tokens ? joint->n_tokens : 0;

  if (!rules->free_parameters || joint->kind[i] != NODE_PRIMAL)
    return FALSE;
  while (n > 0 && ++place < joint->n)
    n -= joint->kind[place] == NODE_PRIMAL;
  return place < joint->n && adj_graph_get_node (joint->graph, place)->meta.parameter != NULL;
}

static gint64
edge_weight (const Joint *joint, const CutRules *rules, guint i)
{
  double weight;

  if (joint_is_symbol (joint, i))
    return joint->value[i] == VALUE_FLOAT ? 4 : 1;
  /* An object is saved by reference. */
  if (adj_graph_get_node (joint->graph, i)->val.kind == ADJ_VALUE_OPAQUE_OBJECT)
    return 1;
  if (is_free (joint, rules, i))
    return 0;
  /* get_attr constants are available in both graphs. */
  if (joint->kind[i] == NODE_ATTRIBUTE || joint->value[i] != VALUE_TENSOR)
    return CUT_NEVER;
  if (rules->recompute_views && (joint->traits[i] & OP_VIEW) != 0)
    return CUT_NEVER;
  weight =
      trunc ((double) joint->bytes[i] * pow (1.1, (double) CLAMP (joint->distance[i], 1u, 100u)));
  if (!is_materialized (joint, i))
    weight *= 2;
  return weight < (double) MAX_TOTAL ? (gint64) weight : MAX_TOTAL;
}

/* Whether the node has an edge to its readers; if not, it can only be a sink. */
static gboolean
has_passage (const Joint *joint, guint i)
{
  return (!joint->in_backward[i] || joint_is_input (joint, i)) && !joint_must_recompute (joint, i);
}

static gboolean
cannot_go (const Network *self, guint i, guint reader, GError **error)
{
  const Joint *joint = self->joint;
  const char *rule = adj_partition_rule_name ((AdjPartitionRule) self->cut->ban[i]);
  g_autofree char *region = joint_print_region (joint, i);

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "backward needs '%s'%s%s%s%s, which can neither be saved (%s) nor recomputed (%s)",
               joint_name (joint, i), reader != NOBODY ? " for '" : "",
               reader != NOBODY ? joint_name (joint, reader) : "", reader != NOBODY ? "'" : "",
               region,
               self->cut->weight[i] == CUT_NEVER ? "it is no tensor or number"
                                                 : "what it is made of is wanted too",
               rule);
  joint_blame (joint, i, error);
  if (reader != NOBODY)
    joint_blame (joint, reader, error);
  return FALSE;
}

static void
tie_to_sink (Network *self)
{
  const Joint *joint = self->joint;

  for (guint i = joint->n; i-- > 0;)
    {
      gboolean wanted = joint->in_backward[i] && joint_is_input (joint, i);

      self->in[i] = self->out[i] = FREE;
      if (joint->gone[i] || i == joint->output)
        continue;
      if (!has_passage (joint, i))
        {
          self->in[i] = SINK;
          continue;
        }
      for (guint32 k = joint->users.begin[i]; !wanted && k < joint->users.begin[i + 1]; k++)
        wanted = self->in[joint->users.items[k]] == SINK;
      if (wanted)
        self->out[i] = SINK;
      if (wanted && self->cut->weight[i] == CUT_NEVER)
        self->in[i] = SINK;
    }
}

static gboolean
tie_to_source (Network *self, GError **error)
{
  const Joint *joint = self->joint;

  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || i == joint->output)
        continue;
      if (self->cut->ban[i] != ADJ_RULE_NONE)
        {
          if (self->in[i] == SINK)
            return cannot_go (self, i, NOBODY, error);
          self->in[i] = SOURCE;
        }
      if (self->in[i] != SOURCE || self->cut->weight[i] != CUT_NEVER)
        continue;
      self->out[i] = SOURCE;
      for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
        {
          guint user = joint->users.items[k];

          if (self->in[user] == SINK)
            return cannot_go (self, i, user, error);
          self->in[user] = SOURCE;
        }
    }
  return TRUE;
}

static guint32
vertex (Network *self, guint32 *id)
{
  if (*id == FREE)
    *id = self->n_vertices++;
  return *id;
}

static void
add_edge (Network *self, guint32 from, guint32 to, gint64 capacity, gint64 cost)
{
  AdjFlowEdge edge = { from, to, capacity, cost };

  if (from != to && from != SINK && to != SOURCE)
    g_array_append_val (self->edges, edge);
}

static void
add_node (Network *self, guint i)
{
  const Joint *joint = self->joint;
  guint32 out = vertex (self, &self->out[i]);

  if (self->cut->weight[i] != CUT_NEVER)
    add_edge (self, vertex (self, &self->in[i]), out, self->cut->weight[i],
              (gint64) MIN (joint_held_bytes (joint, i), (guint64) MAX_TOTAL));
  else
    add_edge (self, vertex (self, &self->in[i]), out, self->never, 0);
  for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
    if (joint->users.items[k] != joint->output)
      add_edge (self, out, vertex (self, &self->in[joint->users.items[k]]), self->never, 0);
}

static gboolean
sum_weights (Network *self, GError **error)
{
  gint64 sum = 1;

  for (guint i = 0; i < self->joint->n; i++)
    if (!self->joint->gone[i] && self->cut->weight[i] != CUT_NEVER)
      sum = MIN (sum + self->cut->weight[i], MAX_TOTAL);
  self->never = sum;
  if (sum < MAX_TOTAL)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
               "the values of the graph are too large to weigh against each other");
  return FALSE;
}

static void
build (Network *self)
{
  const Joint *joint = self->joint;

  for (guint i = 0; i < joint->n; i++)
    if (!joint->gone[i] && i != joint->output && has_passage (joint, i))
      add_node (self, i);
}

/* Fails with the names of the nodes at an infinite edge that crosses the cut. */
static gboolean
name_crossing (const Network *self, const guint8 *on_sink_side, GError **error)
{
  const Joint *joint = self->joint;

  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || self->out[i] == FREE || on_sink_side[self->out[i]])
        continue;
      for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
        {
          guint32 in = self->in[joint->users.items[k]];

          if (in != FREE && on_sink_side[in])
            return cannot_go (self, i, joint->users.items[k], error);
        }
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "backward needs a value that can neither be saved nor recomputed");
  return FALSE;
}

/* Checks I22: the weights of the saved values add up to the value of the cut. */
static gboolean
adds_up (const Cut *cut, GError **error)
{
#ifndef NDEBUG
  gint64 sum = 0;

  for (guint i = 0; i < cut->n; i++)
    sum += cut->saved[i] ? cut->weight[i] : 0;
  if (sum != cut->value)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                   "a cut breaks I22: it is worth %" G_GINT64_FORMAT
                   ", and what it saves %" G_GINT64_FORMAT,
                   cut->value, sum);
      return FALSE;
    }
#endif
  return TRUE;
}

static gboolean
solve (Network *self, const CutRules *rules, GError **error)
{
  const Joint *joint = self->joint;
  g_autofree guint8 *on_sink_side = g_new0 (guint8, self->n_vertices);
  Cut *cut = self->cut;

  cut->value = adj_min_cut (self->n_vertices, (const AdjFlowEdge *) (gpointer) self->edges->data,
                            self->edges->len, SOURCE, SINK,
                            rules->compat ? ADJ_CUT_NEAREST_SINK : ADJ_CUT_CHEAPEST,
                            rules->cancellable, on_sink_side);
  if (g_cancellable_set_error_if_cancelled (rules->cancellable, error))
    return FALSE;
  if (cut->value >= self->never)
    return name_crossing (self, on_sink_side, error);
  for (guint i = 0; i < joint->n; i++)
    cut->saved[i] = self->in[i] != FREE && self->out[i] != FREE && !on_sink_side[self->in[i]] &&
                    on_sink_side[self->out[i]];
  return adds_up (cut, error);
}

/* Bans nodes, weighs edges and builds the network. The caller calls network_clear() also after a
 * failure. */
static gboolean
network_init (
    Network *self, const Joint *joint, const CutRules *rules, const guint8 *freed, GError **error)
{
  Cut *cut = cut_new (joint->n);

  *self = (Network){ .joint = joint, .cut = cut, .n_vertices = 2 };
  self->in = g_new (guint32, joint->n);
  self->out = g_new (guint32, joint->n);
  self->edges = g_array_new (FALSE, FALSE, sizeof (AdjFlowEdge));
  cut_ban (cut, joint, rules, freed);
  for (guint i = 0; i < joint->n; i++)
    cut->weight[i] = joint->gone[i] ? CUT_NEVER : edge_weight (joint, rules, i);
  tie_to_sink (self);
  if (!sum_weights (self, error) || !tie_to_source (self, error))
    return FALSE;
  build (self);
  return TRUE;
}

static void
network_clear (Network *self)
{
  g_clear_pointer (&self->cut, cut_free);
  g_free (self->in);
  g_free (self->out);
  g_clear_pointer (&self->edges, g_array_unref);
}

Cut *
cut_solve (const Joint *joint, const CutRules *rules, const guint8 *freed, GError **error)
{
  Network network;
  Cut *cut = NULL;

  if (network_init (&network, joint, rules, freed, error) && solve (&network, rules, error))
    cut = g_steal_pointer (&network.cut);
  network_clear (&network);
  return cut;
}

GArray *
cut_list_edges (const Joint *joint, const CutRules *rules, guint *n_vertices)
{
  Network network;
  GArray *edges = NULL;

  if (network_init (&network, joint, rules, NULL, NULL))
    edges = g_steal_pointer (&network.edges);
  *n_vertices = network.n_vertices;
  network_clear (&network);
  return edges;
}
