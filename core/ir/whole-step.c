/* SPDX-License-Identifier: MIT */
/* What autograd made in the graph of a whole step, where nothing is a tangent (ir/SPEC.md §2.4). */

#include <string.h>

#include "ir/adj-graph-private.h"
#include "ir/adj-input-role.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-value-internal.h"

/* Whether it is made by AOTAutograd, whose gradients begin with tangents: what autograd made in a
 * graph that has none was moved to where forward computes it. */
static gboolean
has_primals (const AdjGraph *graph)
{
  for (guint i = 0; i < graph->n_inputs; i++)
    if (g_str_has_prefix (graph->nodes[graph->inputs[i].index].target, "primals"))
      return TRUE;
  return FALSE;
}

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode != ADJ_OPCODE_PLACEHOLDER && node->opcode != ADJ_OPCODE_OUTPUT &&
         node->opcode != ADJ_OPCODE_GET_ATTR;
}

gboolean
adj_node_is_of_autograd (const AdjNode *node)
{
  const AdjValue *said = adj_value_find_member (node->meta.extra, ADJ_AUTOGRAD_BACKWARD);

  return said != NULL && said->kind == ADJ_VALUE_BOOL && said->boolean;
}

/* What the node was before it was decomposed. */
static const char *
get_operator (const AdjNode *node)
{
  return node->meta.original_aten != NULL ? node->meta.original_aten : node->target;
}

/* "tanh_backward", "_log_softmax_backward_data" */
static gboolean
is_backward_operator (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         strstr (get_operator (node), "_backward") != NULL;
}

static gboolean
is_seed (const AdjNode *node)
{
  return g_str_equal (get_operator (node), "torch.ops.aten.ones_like.default");
}

/* Where gradients begin whose first have the @highest number, as the last of forward has: behind
 * the gradient of ones. */
static guint
go_back_to_seed (const AdjGraph *graph, guint begin, gint64 highest)
{
  guint i = begin;

  while (i > 0 && graph->nodes[i - 1].meta.seq_nr == highest && !is_seed (&graph->nodes[i - 1]))
    i--;
  return i > 0 && is_seed (&graph->nodes[i - 1]) ? i : begin;
}

/* Gradients have the number of their forward node, so numbers of forward come again behind higher
 * ones; the optimiser's are higher still. */
static gboolean
find_by_numbers (const AdjGraph *graph, guint *begin, guint *end)
{
  g_autoptr (GHashTable) met = g_hash_table_new (g_int64_hash, g_int64_equal);
  gint64 highest = -1;
  gboolean is_known = FALSE;

  *begin = G_MAXUINT;
  for (guint i = 0; i < graph->n_nodes; i++)
    {
      const AdjNode *node = &graph->nodes[i];
      const gint64 *number = &node->meta.seq_nr;

      if (!is_call (node) || *number < 0)
        continue;
      if (*number < highest && g_hash_table_contains (met, number))
        {
          if (*begin == G_MAXUINT)
            *begin = go_back_to_seed (graph, i, highest);
          *end = i + 1;
          is_known |= is_backward_operator (node);
        }
      highest = MAX (highest, *number);
      g_hash_table_add (met, (gpointer) number);
    }
  return is_known;
}

/* Autograd begins with a gradient of ones, and what an operator for gradients reads comes from it;
 * G_MAXUINT: no such operator, or none. */
static guint
find_seed (const AdjGraph *graph)
{
  g_autofree guint8 *read = g_new0 (guint8, graph->n_nodes + 1);
  guint i = 0;

  while (i < graph->n_nodes && !is_backward_operator (&graph->nodes[i]))
    i++;
  read[i] = i < graph->n_nodes;
  /* What it was decomposed into reads other things first. */
  while (i + 1 < graph->n_nodes && is_backward_operator (&graph->nodes[i + 1]))
    read[++i] = TRUE;
  for (; i < graph->n_nodes && !(read[i] && is_seed (&graph->nodes[i])); i--)
    for (guint k = 0; k < graph->nodes[i].n_inputs && read[i]; k++)
      read[graph->nodes[i].inputs[k].index] = TRUE;
  return i < graph->n_nodes ? i : G_MAXUINT;
}

/* Marks what is said to be of autograd. */
static gboolean
take_marks (AdjGraph *graph)
{
  for (guint i = 0; i < graph->n_nodes; i++)
    if (adj_node_is_of_autograd (&graph->nodes[i]))
      {
        graph->after_tangent[i] = TRUE;
        graph->update = i + 1;
      }
  return graph->update != G_MAXUINT;
}

static gboolean
take_numbers (AdjGraph *graph)
{
  guint begin, end = 0;

  if (!find_by_numbers (graph, &begin, &end))
    return FALSE;
  for (guint i = begin; i < end; i++)
    graph->after_tangent[i] = is_call (&graph->nodes[i]);
  graph->update = end;
  return TRUE;
}

/* Whether the node writes into an input of the graph, or reads one that is not @known to forward,
 * as the state of an optimiser is. */
static gboolean
takes_state (const AdjGraph *graph, const AdjNode *node, const guint8 *known)
{
  for (guint k = 0; k < node->n_inputs && is_call (node); k++)
    {
      guint input = node->inputs[k].index;

      if (graph->nodes[input].opcode == ADJ_OPCODE_PLACEHOLDER &&
          (!known[input] || adj_target_names_write (node->target)))
        return TRUE;
    }
  return FALSE;
}

/* By node: whether it is a call that is read, and neither comes from @seed nor is for what comes
 * from it: the loss that a step detaches behind its gradients. (transfer full) */
static guint8 *
find_asides (const AdjGraph *graph, guint seed)
{
  g_autofree guint8 *of_gradients = g_new0 (guint8, graph->n_nodes);
  guint8 *aside = g_new0 (guint8, graph->n_nodes);

  of_gradients[seed] = TRUE;
  for (guint i = seed; i < graph->n_nodes; i++)
    for (guint k = 0; k < graph->nodes[i].n_inputs && is_call (&graph->nodes[i]); k++)
      of_gradients[i] |= of_gradients[graph->nodes[i].inputs[k].index];
  for (guint i = graph->n_nodes; i-- > seed;)
    {
      for (guint k = 0; k < graph->nodes[i].n_inputs && of_gradients[i]; k++)
        of_gradients[graph->nodes[i].inputs[k].index] = TRUE;
      aside[i] = is_call (&graph->nodes[i]) && graph->nodes[i].n_users > 0 && !of_gradients[i];
    }
  return aside;
}

/* The first node behind the last operator for gradients that takes state or stands aside; the end
 * of the graph: none does. */
static guint
find_update (const AdjGraph *graph, guint seed)
{
  g_autofree guint8 *known = g_new0 (guint8, graph->n_nodes);
  g_autofree guint8 *aside = find_asides (graph, seed);
  guint update = graph->n_nodes;

  for (guint i = 0; i < seed; i++)
    for (guint k = 0; k < graph->nodes[i].n_inputs; k++)
      known[graph->nodes[i].inputs[k].index] = TRUE;
  for (guint i = graph->n_nodes; i-- > seed && !is_backward_operator (&graph->nodes[i]);)
    if (aside[i] || takes_state (graph, &graph->nodes[i], known))
      update = i;
  return update;
}

/* Marks the calls from the first that reads the gradient of ones up to the update. */
static void
take_seed (AdjGraph *graph)
{
  guint seed = find_seed (graph);

  if (seed == G_MAXUINT || graph->nodes[seed].n_users == 0)
    return;
  graph->update = find_update (graph, seed);
  for (guint i = graph->nodes[seed].users[0].index; i < graph->update; i++)
    graph->after_tangent[i] = is_call (&graph->nodes[i]);
}

void
adj_graph_find_whole_step (AdjGraph *graph)
{
  graph->update = G_MAXUINT;
  if (!adj_graph_has_input (graph, ADJ_INPUT_TANGENT) && !has_primals (graph) &&
      !take_marks (graph) && !take_numbers (graph))
    take_seed (graph);
}
