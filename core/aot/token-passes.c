/* SPDX-License-Identifier: MIT */
/* The passes lift_tokens and unlift_tokens: effect tokens become inputs and outputs of a graph, or
 * are made and sunk inside it. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "passes/adj-pass.h"

#define WITH_EFFECTS "torch.ops.higher_order.with_effects"

static gboolean
is_ordered (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, WITH_EFFECTS);
}

/* Whether @value is the token returned by a call of with_effects. */
static gboolean
is_given_token (const AdjGraph *graph, const AdjValue *value)
{
  const AdjNode *node;

  if (value->kind != ADJ_VALUE_NODE)
    return FALSE;
  node = adj_graph_get_node (graph, value->node.index);
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         g_str_equal (node->target, "operator.getitem") && node->args.n == 2 &&
         node->args.items[0].kind == ADJ_VALUE_NODE && node->args.items[1].kind == ADJ_VALUE_INT &&
         node->args.items[1].integer == 0 &&
         is_ordered (adj_graph_get_node (graph, node->args.items[0].node.index));
}

/* By node: whether it is a placeholder that with_effects takes as its token. (transfer full) */
static gboolean *
find_tokens (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  gboolean *found = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjValue *token = node->args.n > 0 ? &node->args.items[0] : NULL;

      if (is_ordered (node) && token != NULL && token->kind == ADJ_VALUE_NODE)
        found[token->node.index] =
            adj_graph_get_node (graph, token->node.index)->opcode == ADJ_OPCODE_PLACEHOLDER;
    }
  return found;
}

/* -- unlift -- */

typedef struct
{
  AdjPassContext *context;
  AdjGraph *in;
  AdjBuilder *builder;
  AdjNodeId *map;
} Rewrite;

static AdjValue
map_item (const Rewrite *rewrite, const AdjValue *item)
{
  return item->kind == ADJ_VALUE_NODE ? ADJ_NODE (rewrite->map[item->node.index]) : *item;
}

static void
sink_tokens (const Rewrite *rewrite, const GArray *tokens)
{
  const AdjValue list = { .kind = ADJ_VALUE_LIST,
                          .n = tokens->len,
                          .items = (AdjValue *) (gpointer) tokens->data };
  AdjNodeId id;

  if (tokens->len == 0)
    return;
  id = adj_builder_call (rewrite->builder, "torch.ops.prims._sink_tokens.default", &list, 1);
  adj_pass_note (rewrite->context, ADJ_NO_NODE, id, "keeps the effects that no output shows");
}

static void
unlift_output (const Rewrite *rewrite)
{
  const AdjValue *outputs =
      &adj_graph_get_node (rewrite->in, adj_graph_get_output (rewrite->in).index)->args.items[0];
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjValue rest = { .kind = outputs->kind };

  for (guint i = 0; i < outputs->n; i++)
    {
      AdjValue item = map_item (rewrite, &outputs->items[i]);

      g_array_append_val (is_given_token (rewrite->in, &outputs->items[i]) ? tokens : others, item);
    }
  sink_tokens (rewrite, tokens);
  rest.n = others->len;
  rest.items = (AdjValue *) (gpointer) others->data;
  adj_builder_output (rewrite->builder, &rest);
}

static void
unlift_node (const Rewrite *rewrite, const gboolean *tokens, guint index)
{
  const AdjNode *node = adj_graph_get_node (rewrite->in, index);
  const AdjValue *token = is_ordered (node) ? &node->args.items[0] : NULL;

  if (token != NULL && token->kind == ADJ_VALUE_NODE && tokens[token->node.index] &&
      !adj_node_id_is_valid (rewrite->map[token->node.index]))
    {
      rewrite->map[token->node.index] =
          adj_builder_call (rewrite->builder, "torch.ops.prims._make_token.default", NULL, 0);
      adj_pass_note (rewrite->context, token->node, rewrite->map[token->node.index],
                     "is made where it is first used");
    }
  adj_builder_copy (rewrite->builder, rewrite->in, index, rewrite->map);
}

static AdjGraph *
unlift_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autofree gboolean *tokens = find_tokens (in);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n + 1);
  const Rewrite rewrite = { context, in, builder, map };

  for (guint i = 0; i < n; i++)
    {
      map[i] = ADJ_NO_NODE;
      if (tokens[i])
        continue;
      if (i == adj_graph_get_output (in).index)
        unlift_output (&rewrite);
      else
        unlift_node (&rewrite, tokens, i);
    }
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_unlift_tokens = {
  .name = "unlift-tokens",
  .summary = "Make effect tokens inside the graph",
  .explain = "A compiler that orders effects by itself wants no inputs and outputs for them: a "
             "token is made where it is first used, and the last one is sunk.\n\n"
             "Before: `w = with_effects(token, print, 'a'); return w[0], x`\n\n"
             "After: `t = _make_token(); w = with_effects(t, print, 'a'); _sink_tokens([w[0]]); "
             "return x`",
  .run = unlift_run,
};

/* -- lift -- */

static gboolean
calls (const AdjNode *node, AdjOpId op)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && node->op == adj_op (op);
}

/* Adds placeholders for the tokens, before all others. */
static void
add_tokens (const Rewrite *rewrite)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (rewrite->in); i++)
    {
      const AdjNode *node = adj_graph_get_node (rewrite->in, i);
      g_autofree char *name = NULL;

      if (!calls (node, ADJ_OP_prims__make_token))
        continue;
      name = adj_builder_unique_name (rewrite->builder, "token");
      rewrite->map[i] = adj_builder_placeholder (
          rewrite->builder, name, node->val.kind == ADJ_VALUE_META ? node->val.meta : NULL);
      adj_pass_note (rewrite->context, (AdjNodeId){ i }, rewrite->map[i], "is an input");
    }
}

/* Returns the tokens that were sunk, before all other outputs. */
static void
lift_output (const Rewrite *rewrite)
{
  const AdjValue *outputs =
      &adj_graph_get_node (rewrite->in, adj_graph_get_output (rewrite->in).index)->args.items[0];
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjValue all = { .kind = outputs->kind };

  for (guint i = 0; i < adj_graph_get_n_nodes (rewrite->in); i++)
    {
      const AdjNode *node = adj_graph_get_node (rewrite->in, i);

      if (!calls (node, ADJ_OP_prims__sink_tokens))
        continue;
      for (guint k = 0; k < node->args.items[0].n; k++)
        {
          AdjValue item = map_item (rewrite, &node->args.items[0].items[k]);

          g_array_append_val (items, item);
        }
    }
  for (guint i = 0; i < outputs->n; i++)
    {
      AdjValue item = map_item (rewrite, &outputs->items[i]);

      g_array_append_val (items, item);
    }
  all.n = items->len;
  all.items = (AdjValue *) (gpointer) items->data;
  adj_builder_output (rewrite->builder, &all);
}

static AdjGraph *
lift_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n + 1);
  const Rewrite rewrite = { context, in, builder, map };

  for (guint i = 0; i < n; i++)
    map[i] = ADJ_NO_NODE;
  add_tokens (&rewrite);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (in, i);

      if (calls (node, ADJ_OP_prims__make_token))
        continue;
      if (calls (node, ADJ_OP_prims__sink_tokens))
        adj_pass_note (context, (AdjNodeId){ i }, ADJ_NO_NODE, "its tokens are outputs");
      else if (i == adj_graph_get_output (in).index)
        lift_output (&rewrite);
      else
        adj_builder_copy (builder, in, i, map);
    }
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_lift_tokens = {
  .name = "lift-tokens",
  .summary = "Make effect tokens inputs and outputs",
  .explain = "The inverse of unlift-tokens: tokens that the graph makes become its first inputs, "
             "and those that it sinks its first outputs, so that the order of effects can be read "
             "off the graph's edges alone.",
  .run = lift_run,
};
