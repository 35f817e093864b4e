/* SPDX-License-Identifier: MIT */
/* Finds hints for the symbols of a captured backward.
 *
 * The text of a captured backward gives saved tensors symbolic sizes ("f32[s0]") without hints, but
 * operators combine them with gradients of known size.  A symbol that such an operator admits only
 * one value for gets that value as its hint; but never 1, which broadcasts and is no symbol in such
 * a graph, and never a size that depends on data. */

#include "call/adj-op.h"
#include "formats/adj-bundle-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"

static const AdjShape *
shape_of (const AdjGraph *graph, const AdjValue *value)
{
  const AdjNode *node =
      value->kind == ADJ_VALUE_NODE ? adj_graph_get_node (graph, value->node.index) : NULL;

  return node != NULL && node->val.kind == ADJ_VALUE_META ? &node->val.meta->shape : NULL;
}

static gboolean
set_hint (AdjSymbols *symbols, AdjSize size, gint64 hint)
{
  g_autoptr (GString) name = g_string_new (NULL);
  const AdjSymbol *known;
  AdjSymbol symbol;
  gint64 before;

  if (adj_size_is_int (size) || adj_size_get_hint (symbols, size, &before))
    return FALSE;
  adj_size_print (symbols, size, name);
  known = adj_symbols_find (symbols, name->str);
  if (known == NULL || name->str[0] != 's' || hint == 1)
    return FALSE;
  symbol = *known;
  symbol.hint = hint;
  adj_symbols_define (symbols, &symbol);
  return TRUE;
}

/* Gives one of two equal sizes the hint of the other; whether that was new. */
static gboolean
meet (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  gint64 hint;

  if (adj_size_get_hint (symbols, a, &hint))
    return set_hint (symbols, b, hint);
  return adj_size_get_hint (symbols, b, &hint) && set_hint (symbols, a, hint);
}

static gboolean
meet_whole (AdjSymbols *symbols, const AdjShape *a, const AdjShape *b)
{
  gboolean news = FALSE;

  if (a == NULL || b == NULL || a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (!adj_size_is_int (a->size[i]) || !adj_size_is_int (b->size[i]))
      news |= meet (symbols, a->size[i], b->size[i]);
  return news;
}

static gboolean
meet_product (AdjSymbols *symbols, const AdjShape *a, const AdjShape *b, const AdjShape *out)
{
  if (a == NULL || b == NULL || out == NULL || a->rank != 2 || b->rank != 2 || out->rank != 2)
    return FALSE;
  return meet (symbols, a->size[0], out->size[0]) | meet (symbols, a->size[1], b->size[0]) |
         meet (symbols, b->size[1], out->size[1]);
}

static gboolean
is_elementwise (const AdjNode *node)
{
  return node->op != NULL &&
         (node->op->expr != NULL || g_str_has_suffix (node->target, "_backward.default"));
}

static gboolean
learn (const AdjGraph *graph, const AdjNode *node)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  const AdjShape *out = node->val.kind == ADJ_VALUE_META ? &node->val.meta->shape : NULL;
  const AdjShape *args[3] = { NULL };
  gboolean news = FALSE;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  for (guint i = 0; i < MIN (node->args.n, 3); i++)
    args[i] = shape_of (graph, &node->args.items[i]);
  if (g_str_equal (node->target, ADJ_TARGET_ACCUMULATE))
    return meet_whole (symbols, args[0], args[1]);
  if (g_str_equal (node->target, ADJ_TARGET_CALL_HOOK))
    return meet_whole (symbols, out, args[1]);
  if (g_str_equal (node->target, "torch.ops.aten.mm.default"))
    return meet_product (symbols, args[0], args[1], out);
  if (g_str_equal (node->target, "torch.ops.aten.t.default") && out != NULL && args[0] != NULL &&
      out->rank == 2 && args[0]->rank == 2)
    return meet (symbols, args[0]->size[0], out->size[1]) |
           meet (symbols, args[0]->size[1], out->size[0]);
  for (guint i = 0; i < 3 && is_elementwise (node); i++)
    news |= meet_whole (symbols, out, args[i]) | meet_whole (symbols, args[0], args[i]);
  return news;
}

void
captured_sizes_learn (const AdjGraph *graph)
{
  gboolean news = TRUE;

  while (news)
    {
      news = FALSE;
      for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
        news |= learn (graph, adj_graph_get_node (graph, i));
    }
}
