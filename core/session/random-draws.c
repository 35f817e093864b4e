/* SPDX-License-Identifier: MIT */
/* Which values of two graphs depend on random numbers that these draw by different operators. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-call.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "rules/adj-rule.h"
#include "session/random-draws-private.h"

/* -- what a call draws -- */

typedef struct
{
  GHashTable *draws; /* set of AdjOp */
  GHashTable *met;   /* (owned): composite operators whose decompositions were visited */
} Calls;

static void
collect_of_op (const AdjOp *op, gpointer data)
{
  Calls *calls = data;
  const AdjRule *rule;

  if ((op->flags & ADJ_OP_RANDOM) != 0)
    g_hash_table_add (calls->draws, (gpointer) op);
  else if ((op->flags & ADJ_OP_COMPOSITE) != 0 && g_hash_table_add (calls->met, (gpointer) op))
    {
      rule = adj_rule_find (op, ADJ_RULE_DECOMPOSE, NULL);
      if (rule != NULL)
        adj_rule_foreach_op (rule, collect_of_op, calls);
    }
}

/* Adds all overloads of the packet that a Python target names. */
static void
collect_of_name (const AdjNode *node, Calls *calls)
{
  const AdjPacket *packet = adj_node_find_packet (node);

  for (guint i = 0; packet != NULL && i < adj_packet_get_n_overloads (packet); i++)
    collect_of_op (adj_packet_get_overload (packet, i), calls);
}

/* Adds the operators by which @node may draw random numbers, those of its subgraphs included. */
static void
collect_draws (const AdjGraph *graph, const AdjNode *node, Calls *calls)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION && node->opcode != ADJ_OPCODE_CALL_METHOD)
    return;
  if (node->op != NULL)
    collect_of_op (node->op, calls);
  else
    collect_of_name (node, calls);
  for (guint k = 0; k < node->n_inputs; k++)
    {
      const AdjNode *input = adj_graph_get_node (graph, node->inputs[k].index);
      const AdjGraph *called = input->opcode == ADJ_OPCODE_GET_ATTR
                                   ? adj_graph_find_subgraph (graph, input->target)
                                   : NULL;

      for (guint i = 0; called != NULL && i < adj_graph_get_n_nodes (called); i++)
        collect_draws (called, adj_graph_get_node (called, i), calls);
    }
}

/* A call that draws. */
typedef struct
{
  guint node;
  GHashTable *by; /* (owned): set of AdjOp */
} Draw;

static void
clear_draw (gpointer draw)
{
  g_hash_table_unref (((Draw *) draw)->by);
}

/* (transfer full) (element-type Draw): in the order in which they draw */
static GArray *
list_draws (const AdjGraph *graph)
{
  GArray *draws = g_array_new (FALSE, FALSE, sizeof (Draw));

  g_array_set_clear_func (draws, clear_draw);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      Draw draw = { i, g_hash_table_new (NULL, NULL) };
      Calls calls = { draw.by, g_hash_table_new (NULL, NULL) };

      collect_draws (graph, adj_graph_get_node (graph, i), &calls);
      g_hash_table_unref (calls.met);
      if (g_hash_table_size (draw.by) > 0)
        g_array_append_val (draws, draw);
      else
        clear_draw (&draw);
    }
  return draws;
}

static gboolean
share_an_operator (const Draw *a, const Draw *b)
{
  GHashTableIter iter;
  gpointer op;

  g_hash_table_iter_init (&iter, a->by);
  while (g_hash_table_iter_next (&iter, &op, NULL))
    if (g_hash_table_contains (b->by, op))
      return TRUE;
  return FALSE;
}

/* -- what depends on it -- */

/* The node whose memory the writing @node writes; ADJ_NO_NODE: it does not write. */
static AdjNodeId
find_written (const AdjNode *node, const AdjAlias *alias)
{
  if (alias->kind == ADJ_ALIAS_SAME)
    return (AdjNodeId){ alias->base };
  return adj_node_may_write (node) && node->n_inputs > 0 ? node->inputs[0] : ADJ_NO_NODE;
}

/* (transfer full): per node: it depends on a draw from @first on, also through memory */
static guint8 *
find_dependent (const AdjGraph *graph, const GArray *draws, guint first)
{
  const AdjAlias *aliases = adj_graph_get_aliases (graph);
  guint n = adj_graph_get_n_nodes (graph);
  guint8 *dependent = g_new0 (guint8, n + 1);
  g_autofree guint8 *memory = g_new0 (guint8, n + 1);

  for (guint i = first; i < draws->len; i++)
    dependent[g_array_index (draws, Draw, i).node] = TRUE;
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjNodeId written;

      for (guint k = 0; k < node->n_inputs; k++)
        dependent[i] |=
            dependent[node->inputs[k].index] | memory[aliases[node->inputs[k].index].may];
      written = dependent[i] ? find_written (node, &aliases[i]) : ADJ_NO_NODE;
      if (adj_node_id_is_valid (written))
        memory[aliases[written.index].may] = TRUE;
    }
  return dependent;
}

static gboolean
note_returned (const AdjValue *leaf, gpointer data)
{
  guint32 index = leaf->kind == ADJ_VALUE_NODE ? leaf->node.index : G_MAXUINT32;

  g_array_append_val ((GArray *) data, index);
  return TRUE;
}

/* (transfer full) (element-type guint32): the node of each leaf that is returned; G_MAXUINT32: no
 * node */
static GArray *
list_returned (const AdjGraph *graph)
{
  GArray *returned = g_array_new (FALSE, FALSE, sizeof (guint32));
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  adj_value_foreach (&output->args.items[0], note_returned, returned);
  return returned;
}

/* Per node of @a: whether its counterpart in @b, by value or as an output, is in @dependent. */
static guint8 *
find_beside (const AdjGraph *a, const AdjGraph *b, const AdjNodeId *pairs, const guint8 *dependent)
{
  guint n = adj_graph_get_n_nodes (a);
  g_autoptr (GArray) ours = list_returned (a);
  g_autoptr (GArray) theirs = list_returned (b);
  guint8 *beside = g_new0 (guint8, n + 1);

  for (guint i = 0; i < n; i++)
    beside[i] = adj_node_id_is_valid (pairs[i]) && dependent[pairs[i].index];
  for (guint i = 0; i < MIN (ours->len, theirs->len); i++)
    {
      guint32 our = g_array_index (ours, guint32, i), their = g_array_index (theirs, guint32, i);

      if (our != G_MAXUINT32 && their != G_MAXUINT32)
        beside[our] |= dependent[their];
    }
  return beside;
}

guint8 *
session_find_other_draws (const AdjGraph *a, const AdjGraph *b, const AdjNodeId *pairs)
{
  g_autoptr (GArray) draws_a = list_draws (a);
  g_autoptr (GArray) draws_b = list_draws (b);
  g_autofree guint8 *depends_b = NULL;
  g_autofree guint8 *beside = NULL;
  guint8 *depends_a;
  guint same = 0;

  while (same < MIN (draws_a->len, draws_b->len) &&
         share_an_operator (&g_array_index (draws_a, Draw, same),
                            &g_array_index (draws_b, Draw, same)))
    same++;
  if (same == draws_a->len || same == draws_b->len)
    return NULL;
  depends_a = find_dependent (a, draws_a, same);
  depends_b = find_dependent (b, draws_b, same);
  beside = find_beside (a, b, pairs, depends_b);
  for (guint i = 0; i < adj_graph_get_n_nodes (a); i++)
    depends_a[i] &= beside[i];
  return depends_a;
}
