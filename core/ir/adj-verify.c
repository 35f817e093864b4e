/* SPDX-License-Identifier: MIT */
/* Verifies a graph: names, references, places in the source and getitem indices. */

#include "ir/adj-verify.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/parse-private.h"

static gboolean
is_identifier (const char *name)
{
  if (!g_ascii_isalpha (*name) && *name != '_')
    return FALSE;
  while (*++name != '\0')
    if (!g_ascii_isalnum (*name) && *name != '_')
      return FALSE;

  return TRUE;
}

/* Of such a name no text can be read again. */
static gboolean
is_keyword (const char *name)
{
  const AdjToken token = { .kind = ADJ_TOKEN_NAME, .text = name, .length = strlen (name) };

  return adj_token_is_keyword (&token);
}

static gboolean
check_name (const AdjGraph *graph, guint index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  if (!is_identifier (node->name))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "node '%s': its name is no identifier",
                 node->name);
  else if (is_keyword (node->name))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "node '%s': its name is a keyword of Python",
                 node->name);
  else
    return TRUE;

  return FALSE;
}

static gboolean
check_inputs (const AdjGraph *graph, guint index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  for (guint i = 0; i < node->n_inputs; i++)
    {
      guint input = node->inputs[i].index;

      if (input < index)
        continue;

      if (input < adj_graph_get_n_nodes (graph))
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                     "node '%s': uses '%s' before it is defined", node->name,
                     adj_graph_get_node (graph, input)->name);
      else
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                     "node '%s': uses a node that does not exist", node->name);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_getitem (const AdjGraph *graph, const AdjNode *node, GError **error)
{
  const AdjNode *producer;
  gint64 n, at;

  if (!g_str_equal (node->target, "operator.getitem") || node->args.n != 2 ||
      node->args.items[0].kind != ADJ_VALUE_NODE || node->args.items[1].kind != ADJ_VALUE_INT)
    return TRUE;

  producer = adj_graph_get_node (graph, node->args.items[0].node.index);
  if (producer->val.kind != ADJ_VALUE_LIST && producer->val.kind != ADJ_VALUE_TUPLE)
    return TRUE;

  n = producer->val.n;
  at = node->args.items[1].integer;
  if (at >= -n && at < n)
    return TRUE;

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
               "node '%s': takes item %" G_GINT64_FORMAT " of '%s', which has %" G_GINT64_FORMAT,
               node->name, at, producer->name, n);

  return FALSE;
}

static gboolean
check_place (const AdjGraph *graph, guint index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER && index >= adj_graph_get_n_inputs (graph))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                 "node '%s': is a placeholder that stands after other nodes", node->name);
  else if (node->opcode == ADJ_OPCODE_OUTPUT && index + 1 != adj_graph_get_n_nodes (graph))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "node '%s': is an output that is not last",
                 node->name);
  else if (node->opcode == ADJ_OPCODE_OUTPUT && node->args.n != 1)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "node '%s': returns %u values, not one",
                 node->name, node->args.n);
  else
    return TRUE;

  return FALSE;
}

static gboolean
check_node (const AdjGraph *graph, guint index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  if (node->opcode >= ADJ_N_OPCODES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "node '%s': unknown opcode", node->name);
      return FALSE;
    }
  if (node->args.kind != ADJ_VALUE_TUPLE || node->kwargs.kind != ADJ_VALUE_DICT)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                   "node '%s': arguments are not a tuple and a dict", node->name);
      return FALSE;
    }

  return check_name (graph, index, error) && check_inputs (graph, index, error) &&
         check_place (graph, index, error) && check_getitem (graph, node, error);
}

gboolean
adj_graph_verify (const AdjGraph *graph, GError **error)
{
  if (!adj_node_id_is_valid (adj_graph_get_output (graph)))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "graph '%s': has no output",
                   adj_graph_get_name (graph));
      return FALSE;
    }

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (!check_node (graph, i, error))
      {
        if (error != NULL)
          adj_error_blame_node (*error, adj_graph_get_node (graph, i)->name, i);
        return FALSE;
      }

  return TRUE;
}
