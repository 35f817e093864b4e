/* SPDX-License-Identifier: MIT */
#include "passes/adj-repeats.h"

#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-target-internal.h"

typedef struct
{
  const AdjNode *node;
  const guint32 *first; /* of the graph's nodes to those that stand for them */
  guint32 index;
  guint32 region; /* writes before it */
  guint hash;
} Call;

static guint
mix (guint hash, guint64 word)
{
  word = (word + hash) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (word >> 32) ^ (guint) word;
}

static guint
hash_leaf (const AdjValue *value, const guint32 *first, guint hash)
{
  guint64 word = 0;

  if (value->kind == ADJ_VALUE_NODE)
    return mix (hash, first[value->node.index]);
  if (value->kind == ADJ_VALUE_STRING || value->kind == ADJ_VALUE_OP)
    return mix (hash, value->text != NULL ? g_str_hash (value->text) : 0);
  if (value->kind == ADJ_VALUE_INT)
    word = (guint64) value->integer;
  else if (value->kind == ADJ_VALUE_FLOAT)
    memcpy (&word, &value->number, sizeof word);
  else if (value->kind == ADJ_VALUE_SIZE)
    word = (guint64) value->size.word;
  return mix (hash, word);
}

static guint
hash_value (const AdjValue *value, const guint32 *first, guint hash)
{
  hash = mix (hash, ((guint64) value->kind << 32) | value->n);
  if (!adj_value_is_container (value))
    return hash_leaf (value, first, hash);
  for (guint i = 0; i < value->n; i++)
    hash = hash_value (&value->items[i], first, hash);
  return hash;
}

static gboolean
equal_values (const AdjValue *a, const AdjValue *b, const guint32 *first)
{
  if (a->kind != b->kind)
    return FALSE;
  if (a->kind == ADJ_VALUE_NODE)
    return first[a->node.index] == first[b->node.index];
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!equal_values (&a->items[i], &b->items[i], first))
      return FALSE;
  return TRUE;
}

static guint
hash_call (gconstpointer key)
{
  return ((const Call *) key)->hash;
}

static gboolean
equal_calls (gconstpointer key_a, gconstpointer key_b)
{
  const Call *a = key_a, *b = key_b;

  return a->hash == b->hash && a->region == b->region &&
         g_str_equal (a->node->target, b->node->target) &&
         equal_values (&a->node->args, &b->node->args, a->first) &&
         equal_values (&a->node->kwargs, &b->node->kwargs, a->first);
}

/* Whether the same call may give something else after @node than before: it writes, or sets what
 * the dtypes of results depend on. */
static gboolean
writes (const AdjNode *node)
{
  AdjFixity fixity = ADJ_FIXITY_INFIX;

  if (node->op != NULL)
    return adj_schema_mutates (adj_op_get_schema (node->op));
  if (node->opcode == ADJ_OPCODE_CALL_METHOD)
    return g_str_has_suffix (node->target, "_") && !g_str_has_suffix (node->target, "__");
  adj_target_get_symbol (node->target, &fixity);
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         (fixity == ADJ_FIXITY_INPLACE || g_str_has_suffix (node->target, "_autocast") ||
          g_str_equal (node->target, "operator.setitem"));
}

static guint32 *
find (const AdjGraph *graph, gboolean across_writes, AdjMayMerge may_merge, gpointer data)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint32 *first = g_new (guint32, n);
  g_autoptr (GHashTable) seen = g_hash_table_new (hash_call, equal_calls);
  g_autofree Call *calls = g_new (Call, n);
  guint32 region = 0;

  for (guint32 i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      Call *call = &calls[i], *known;

      first[i] = i;
      *call = (Call){ node, first, i, region, 0 };
      region += !across_writes && writes (node);
      if (!may_merge (graph, i, data))
        continue;
      call->hash = mix (g_str_hash (node->target), call->region);
      call->hash = hash_value (&node->args, first, call->hash);
      call->hash = hash_value (&node->kwargs, first, call->hash);
      known = g_hash_table_lookup (seen, call);
      if (known == NULL)
        g_hash_table_add (seen, call);
      else
        first[i] = known->index;
    }
  return first;
}

guint32 *
adj_graph_find_repeats (const AdjGraph *graph, AdjMayMerge may_merge, gpointer data)
{
  return find (graph, FALSE, may_merge, data);
}

guint32 *
adj_graph_find_same_calls (const AdjGraph *graph, AdjMayMerge may_merge, gpointer data)
{
  return find (graph, TRUE, may_merge, data);
}
