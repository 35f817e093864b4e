/* SPDX-License-Identifier: MIT */
/* Finds calls that are equal to an earlier one, by our rule and by the hash of PyTorch's cse. */

#include "passes/adj-repeats.h"

#include <math.h>
#include <string.h>

#include "analysis/adj-node-call.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-own-ops-internal.h"
#include "ir/adj-target-internal.h"

typedef struct
{
  const AdjNode *node;
  const guint32 *first; /* per node: its representative */
  guint32 index;
  guint32 region; /* number of writes before it */
  gint group;
  guint64 hash;
} Call;

static guint64
mix (guint64 hash, guint64 word)
{
  word = (word + hash) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (word >> 32) ^ word;
}

static guint64
hash_leaf (const AdjValue *value, const guint32 *first, guint64 hash)
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

static guint64
hash_value (const AdjValue *value, const guint32 *first, guint64 hash)
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

static gboolean
has_same_content (const Call *a, const Call *b)
{
  return g_str_equal (a->node->target, b->node->target) &&
         equal_values (&a->node->args, &b->node->args, a->first) &&
         equal_values (&a->node->kwargs, &b->node->kwargs, a->first);
}

static guint
hash_call (gconstpointer key)
{
  return (guint) ((const Call *) key)->hash;
}

static gboolean
equal_calls (gconstpointer key_a, gconstpointer key_b)
{
  const Call *a = key_a, *b = key_b;

  return a->hash == b->hash && a->region == b->region && a->group == b->group &&
         has_same_content (a, b);
}

static gboolean
takes_object (const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);

  for (guint i = 0; i < schema->n_arguments; i++)
    if (adj_type_is_class (&schema->arguments[i].type))
      return TRUE;
  return FALSE;
}

/* Whether @node changes an object, which operators without effects may read. */
static gboolean
changes_object (const AdjGraph *graph, const AdjNode *node)
{
  const AdjOp *op = node->op;
  const char *target = node->target;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if (g_str_equal (target, ADJ_TARGET_WITH_EFFECTS) && node->args.n > 1 &&
      node->args.items[1].kind == ADJ_VALUE_OP)
    {
      target = node->args.items[1].text;
      op = adj_graph_find_op (graph, target);
    }
  if (g_str_equal (target, ADJ_TARGET_CALL_TORCHBIND))
    return !adj_object_node_is_pure (graph, node);
  return op != NULL && (op->flags & ADJ_OP_EFFECT) != 0 && takes_object (op);
}

/* Whether an equal call may have another result after @node: it writes, or changes a setting that
 * dtypes of results depend on. */
static gboolean
changes_values (const AdjNode *node)
{
  return adj_node_may_write (node) ||
         (node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_has_suffix (node->target, "_autocast"));
}

static guint32 *
find (const AdjGraph *graph, gboolean across_writes, AdjMergeGroup group_of, gpointer data)
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
      *call = (Call){ node, first, i, region, group_of (graph, i, data), 0 };
      region += !across_writes && (changes_values (node) || changes_object (graph, node));
      if (call->group == 0)
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
adj_graph_find_repeats (const AdjGraph *graph, AdjMergeGroup group_of, gpointer data)
{
  return find (graph, FALSE, group_of, data);
}

guint32 *
adj_graph_find_same_calls (const AdjGraph *graph, AdjMergeGroup group_of, gpointer data)
{
  return find (graph, TRUE, group_of, data);
}

/* -- as PyTorch finds them -- */

/* hash() of CPython: the remainder by 2^61 - 1, and -2 instead of -1. */
static guint64
python_hash (gint64 integer)
{
  const guint64 magnitude = integer < 0 ? -(guint64) integer : (guint64) integer;
  gint64 hash = (gint64) (magnitude % ((G_GUINT64_CONSTANT (1) << 61) - 1));

  if (integer < 0)
    hash = -hash;
  return (guint64) (hash == -1 ? -2 : hash);
}

static guint64
python_hash_leaf (const AdjValue *value, const guint32 *first, guint64 hash)
{
  const double limit = 0x1p63;
  guint64 word = 0;

  hash = mix (hash, value->kind);
  if (value->kind == ADJ_VALUE_INT)
    return mix (hash, python_hash (value->integer));
  if (value->kind == ADJ_VALUE_FLOAT && trunc (value->number) == value->number &&
      fabs (value->number) < limit)
    return mix (hash, python_hash ((gint64) value->number));
  if (value->kind == ADJ_VALUE_BOOL)
    word = (guint64) value->boolean;
  else if (value->kind == ADJ_VALUE_DTYPE)
    word = (guint64) value->dtype;
  else if (value->kind == ADJ_VALUE_LAYOUT)
    word = (guint64) value->layout;
  else if (value->kind == ADJ_VALUE_MEMORY_FORMAT)
    word = (guint64) value->format;
  else if (value->kind == ADJ_VALUE_DEVICE)
    word = (guint64) value->device.type << 32 | (guint32) value->device.index;
  return word != 0 ? mix (hash, word) : hash_leaf (value, first, hash);
}

/* Hashes the leaves only, without their nesting, and values of keyword arguments without keywords.
 */
static guint64
python_hash_value (const AdjValue *value, const guint32 *first, guint64 hash)
{
  const gboolean is_dict = value->kind == ADJ_VALUE_DICT;

  if (!adj_value_is_container (value))
    return python_hash_leaf (value, first, hash);
  for (guint i = is_dict ? 1 : 0; i < value->n; i += is_dict ? 2 : 1)
    hash = python_hash_value (&value->items[i], first, hash);
  return hash;
}

static gboolean
equal_hashes (gconstpointer a, gconstpointer b)
{
  return ((const Call *) a)->hash == ((const Call *) b)->hash;
}

guint32 *
adj_graph_find_torch_repeats (const AdjGraph *graph, AdjMergeGroup group_of, gpointer data)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint32 *first = g_new (guint32, n);
  g_autoptr (GHashTable) seen = g_hash_table_new (hash_call, equal_hashes);
  g_autofree Call *calls = g_new (Call, n);
  guint32 region = 0;

  for (guint32 i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      Call *call = &calls[i], *known;

      first[i] = i;
      *call = (Call){ node, first, i, region, group_of (graph, i, data), 0 };
      region += changes_values (node);
      if (call->group == 0)
        continue;
      call->hash = mix (g_str_hash (node->target), call->group);
      call->hash = python_hash_value (&node->args, first, call->hash);
      call->hash = python_hash_value (&node->kwargs, first, mix (call->hash, 0));
      known = g_hash_table_lookup (seen, call);
      if (known != NULL && has_same_content (call, known) && known->region == call->region)
        first[i] = known->index;
      else if (known == NULL || has_same_content (call, known))
        g_hash_table_replace (seen, call, call);
    }
  return first;
}
