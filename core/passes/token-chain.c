/* SPDX-License-Identifier: MIT */
/* The token chains of effects: one in each direction, complete and without a fork. */

#include "call/adj-object-call-internal.h"
#include "ir/adj-graph.h"
#include "passes/adj-effects.h"

#define NONE G_MAXUINT32

typedef struct
{
  const AdjGraph *graph;
  guint32 *chain;     /* by node: of a call or a token: the first node of its chain; or NONE */
  guint32 *taken;     /* by node: the call that took the token; or NONE */
  guint32 started[2]; /* by direction: the first call of the chain; or NONE */
  guint32 origin[2];  /* by direction: the node where that chain begins */
} Tokens;

static gboolean refuse (const Tokens *tokens, guint32 node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static gboolean
refuse (const Tokens *tokens, guint32 node, GError **error, const char *format, ...)
{
  const char *name = adj_graph_get_node (tokens->graph, node)->name;
  g_autofree char *why = NULL;
  va_list list;

  va_start (list, format);
  why = g_strdup_vprintf (format, list);
  va_end (list);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "effect '%s': %s", name, why);
  if (error != NULL)
    adj_error_blame_node (*error, name, node);
  return FALSE;
}

static gboolean
is_call (const AdjNode *node, const char *target)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, target);
}

/* The call that returned the token @node, or NONE. */
static guint32
find_giver (const AdjGraph *graph, const AdjNode *node)
{
  guint32 call;

  if (!is_call (node, "operator.getitem") || node->args.n != 2 ||
      node->args.items[0].kind != ADJ_VALUE_NODE || node->args.items[1].kind != ADJ_VALUE_INT ||
      node->args.items[1].integer != 0)
    return NONE;
  call = node->args.items[0].node.index;
  return is_call (adj_graph_get_node (graph, call), ADJ_TARGET_WITH_EFFECTS) ? call : NONE;
}

static gboolean
may_begin (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_PLACEHOLDER ||
         is_call (node, "torch.ops.prims._make_token.default");
}

static const char *
name_of (const Tokens *tokens, guint32 node)
{
  return adj_graph_get_node (tokens->graph, node)->name;
}

/* Adds call @index to the chain of its direction. */
static gboolean
join (Tokens *tokens, guint32 index, GError **error)
{
  gboolean backward = adj_graph_is_backward (tokens->graph, index);
  guint32 chain = tokens->chain[index], other = tokens->origin[!backward];

  if (chain == other)
    return refuse (tokens, index, error,
                   "it is of the %s, and takes a token of the chain that begins with '%s' in the "
                   "%s",
                   backward ? "backward" : "forward", name_of (tokens, tokens->started[!backward]),
                   backward ? "forward" : "backward");
  if (tokens->started[backward] == NONE)
    {
      tokens->started[backward] = index;
      tokens->origin[backward] = chain;
      return TRUE;
    }
  if (chain == tokens->origin[backward])
    return TRUE;
  return refuse (tokens, index, error,
                 "it is of a second chain of tokens, so that nothing orders it and '%s'",
                 name_of (tokens, tokens->started[backward]));
}

/* A call without a token begins a chain of its own. */
static gboolean
take_token (Tokens *tokens, guint32 index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (tokens->graph, index), *from;
  const AdjValue *token = node->args.n > 0 ? &node->args.items[0] : &ADJ_NONE;
  guint32 giver;

  if (token->kind == ADJ_VALUE_NONE || token->kind == ADJ_VALUE_TOKEN)
    {
      tokens->chain[index] = index;
      return TRUE;
    }
  if (token->kind != ADJ_VALUE_NODE)
    return refuse (tokens, index, error, "%s is no token", adj_value_kind_name (token->kind));
  from = adj_graph_get_node (tokens->graph, token->node.index);
  giver = find_giver (tokens->graph, from);
  if (giver == NONE && !may_begin (from))
    return refuse (tokens, index, error, "its token '%s' is given by no effect", from->name);
  if (tokens->taken[token->node.index] != NONE)
    return refuse (tokens, index, error, "'%s' has taken its token '%s' already",
                   name_of (tokens, tokens->taken[token->node.index]), from->name);
  tokens->taken[token->node.index] = index;
  tokens->chain[index] = giver != NONE ? tokens->chain[giver] : token->node.index;
  if (giver != NONE && tokens->chain[index] == giver)
    return TRUE;
  return join (tokens, index, error);
}

/* Whether the token returned by call @index is used. */
static gboolean
is_token_kept (const AdjGraph *graph, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);

      if (!is_call (user, "operator.getitem") ||
          (find_giver (graph, user) == index && user->n_users > 0))
        return TRUE;
    }
  return FALSE;
}

gboolean
adj_graph_verify_tokens (const AdjGraph *graph, GError **error)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint32 *chain = g_new (guint32, n + 1), *taken = g_new (guint32, n + 1);
  Tokens tokens = { graph, chain, taken, { NONE, NONE }, { NONE, NONE } };

  memset (chain, 0xff, n * sizeof *chain);
  memset (taken, 0xff, n * sizeof *taken);
  for (guint i = 0; i < n; i++)
    {
      if (!is_call (adj_graph_get_node (graph, i), ADJ_TARGET_WITH_EFFECTS))
        continue;
      if (!take_token (&tokens, i, error))
        return FALSE;
      if (!is_token_kept (graph, i))
        return refuse (&tokens, i, error, "the token that it gives is lost");
    }
  return TRUE;
}

/* -- following a chain -- */

AdjNodeId
adj_graph_get_effect_before (const AdjGraph *graph, guint index)
{
  const AdjNode *node;
  guint32 giver;

  g_return_val_if_fail (graph != NULL, ADJ_NO_NODE);

  node = adj_graph_get_node (graph, index);
  if (!is_call (node, ADJ_TARGET_WITH_EFFECTS) || node->args.n == 0 ||
      node->args.items[0].kind != ADJ_VALUE_NODE)
    return ADJ_NO_NODE;
  giver = find_giver (graph, adj_graph_get_node (graph, node->args.items[0].node.index));
  return (AdjNodeId){ giver };
}

AdjNodeId
adj_graph_get_effect_after (const AdjGraph *graph, guint index)
{
  const AdjNode *node;

  g_return_val_if_fail (graph != NULL, ADJ_NO_NODE);

  node = adj_graph_get_node (graph, index);
  for (guint i = 0; i < node->n_users && is_call (node, ADJ_TARGET_WITH_EFFECTS); i++)
    {
      const AdjNode *token = adj_graph_get_node (graph, node->users[i].index);

      for (guint k = 0; k < token->n_users && find_giver (graph, token) == index; k++)
        if (is_call (adj_graph_get_node (graph, token->users[k].index), ADJ_TARGET_WITH_EFFECTS))
          return token->users[k];
    }
  return ADJ_NO_NODE;
}
