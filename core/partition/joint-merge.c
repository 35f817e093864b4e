/* SPDX-License-Identifier: MIT */
/* Common subexpressions (partitioner §4.2): one table of the calls seen so far, keyed by target and
 * arguments in which every node is replaced by the one that stands for it.
 *
 * What may not be merged: calls that draw random numbers or have an effect; memory that is not
 * initialised; calls on either side of one that writes; and what shares memory with an output,
 * because the caller may write there.  PyTorch's list of random operators is incomplete, so that
 * x·randn_like(x) + randn_like(x) uses one sample twice; ours asks the operator. */

#include <string.h>

#include "partition/joint-private.h"

typedef struct
{
  const Joint *joint;
  guint32 node;
  guint32 n_effects; /* that came before it */
  guint hash;
} Call;

static guint
mix (guint hash, guint64 word)
{
  word = (word + hash) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (word >> 32) ^ (guint) word;
}

static guint hash_value (const Joint *joint, const AdjValue *value, guint hash);

static guint
hash_payload (const Joint *joint, const AdjValue *value, guint hash)
{
  guint64 word = 0;

  if (value->kind == ADJ_VALUE_NODE)
    return mix (hash, joint->rep[value->node.index]);
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
hash_value (const Joint *joint, const AdjValue *value, guint hash)
{
  hash = mix (hash, ((guint64) value->kind << 32) | value->n);
  if (!adj_value_is_container (value))
    return hash_payload (joint, value, hash);
  for (guint i = 0; i < value->n; i++)
    hash = hash_value (joint, &value->items[i], hash);
  return hash;
}

static gboolean
equal_values (const Joint *joint, const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind)
    return FALSE;
  if (a->kind == ADJ_VALUE_NODE)
    return joint->rep[a->node.index] == joint->rep[b->node.index];
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!equal_values (joint, &a->items[i], &b->items[i]))
      return FALSE;
  return TRUE;
}

static guint
hash_call (gconstpointer call)
{
  return ((const Call *) call)->hash;
}

static gboolean
equal_calls (gconstpointer a, gconstpointer b)
{
  const Call *x = a, *y = b;
  const AdjNode *m = adj_graph_get_node (x->joint->graph, x->node);
  const AdjNode *n = adj_graph_get_node (x->joint->graph, y->node);

  return x->hash == y->hash && x->n_effects == y->n_effects && g_str_equal (m->target, n->target) &&
         equal_values (x->joint, &m->args, &n->args) &&
         equal_values (x->joint, &m->kwargs, &n->kwargs);
}

/* Storages that the caller gets hold of. */
static GHashTable *
returned_storages (const Joint *joint)
{
  GHashTable *storages = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < joint->n_outputs; i++)
    {
      guint node = joint_output (joint, i);

      if (node != NOBODY && joint->storage[node] != G_MININT32)
        g_hash_table_add (storages, GINT_TO_POINTER (joint->storage[node]));
    }
  return storages;
}

static gboolean
may_merge (const Joint *joint, guint i, GHashTable *returned, gboolean compat)
{
  guint traits = joint->traits[i];

  if (joint->gone[i] || joint->kind[i] != NODE_CALL ||
      adj_graph_get_node (joint->graph, i)->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if ((traits & (OP_EFFECT | OP_EMPTY | OP_DRAWS)) != 0)
    return FALSE;
  if (!compat && ((traits & OP_SEEDED) != 0 || joint->draws[i]))
    return FALSE;
  return joint->storage[i] == G_MININT32 ||
         !g_hash_table_contains (returned, GINT_TO_POINTER (joint->storage[i]));
}

void
joint_merge_equal (Joint *joint, gboolean compat)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (hash_call, equal_calls);
  g_autoptr (GHashTable) returned = returned_storages (joint);
  g_autofree Call *calls = g_new (Call, joint->n);
  guint n_effects = 0;

  for (guint i = 0; i < joint->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (joint->graph, i);
      Call *call = &calls[i], *first;

      if (!joint->gone[i] && (joint->traits[i] & OP_EFFECT) != 0)
        n_effects++;
      if (!may_merge (joint, i, returned, compat))
        continue;
      *call = (Call){ joint, i, n_effects, mix (g_str_hash (node->target), n_effects) };
      call->hash = hash_value (joint, &node->args, call->hash);
      call->hash = hash_value (joint, &node->kwargs, call->hash);
      first = g_hash_table_lookup (seen, call);
      if (first == NULL)
        g_hash_table_add (seen, call);
      else
        {
          joint->rep[i] = first->node;
          joint->gone[i] = TRUE;
        }
    }
}
