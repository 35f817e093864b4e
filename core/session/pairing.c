/* SPDX-License-Identifier: MIT */
/* Pairs nodes by value numbering: the key of a node is its target with its arguments, in which
 * nodes are replaced by their value numbers.  Nodes of @b define the numbers, nodes of @a look them
 * up. */

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "session/pairing-private.h"

#define UNKNOWN G_MAXUINT32

typedef struct
{
  const AdjGraph *a, *b;
  guint32 *numbers_a; /* per node: its value number; UNKNOWN when @b has no such value */
  guint32 *numbers_b; /* the first node of @b with that value */
  GHashTable *keys;   /* key → node of @b, plus one */
  gboolean by_name;
} Pairing;

static gboolean
number_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const guint32 *numbers = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    {
      g_autofree char *text = g_strdup_printf ("%%%u", numbers[leaf->node.index]);

      *out = adj_value_new_string (text);
      out->kind = ADJ_VALUE_RAW; /* printed unquoted, unlike any real argument */
    }
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static void
print_numbered (const AdjValue *value, const guint32 *numbers, GString *out)
{
  g_auto (AdjValue) numbered = ADJ_NONE;

  adj_value_map (value, number_leaf, (gpointer) numbers, &numbered);
  adj_value_print (&numbered, NULL, out);
}

/* Whether two calls on the same values may give different results. */
static gboolean
is_impure (const AdjNode *node)
{
  return node->op != NULL && !adj_op_is_pure (node->op);
}

/* (nullable): a key by which nodes of two graphs are paired; %NULL where nothing identifies the
 * node. */
static char *
key_of (const AdjNode *node, guint place, const guint32 *numbers, gboolean by_name)
{
  g_autoptr (GString) key = g_string_new (adj_opcode_name (node->opcode));

  for (guint k = 0; k < node->n_inputs; k++)
    if (numbers[node->inputs[k].index] == UNKNOWN)
      return NULL;
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER && !by_name)
    g_string_append_printf (key, " %u", place);
  else
    g_string_append_printf (key, " %s",
                            node->opcode == ADJ_OPCODE_PLACEHOLDER ? node->name : node->target);
  if (is_impure (node))
    g_string_append_printf (key, " %s", node->name);
  if (node->opcode != ADJ_OPCODE_PLACEHOLDER)
    {
      print_numbered (&node->args, numbers, key);
      print_numbered (&node->kwargs, numbers, key);
    }
  return g_string_free (g_steal_pointer (&key), FALSE);
}

static void
number_b (Pairing *pairing)
{
  guint place = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (pairing->b); i++)
    {
      const AdjNode *node = adj_graph_get_node (pairing->b, i);
      g_autofree char *key = key_of (node, place, pairing->numbers_b, pairing->by_name);
      guint known = GPOINTER_TO_UINT (g_hash_table_lookup (pairing->keys, key));

      place += node->opcode == ADJ_OPCODE_PLACEHOLDER;
      pairing->numbers_b[i] = known > 0 ? known - 1 : i;
      if (known == 0)
        g_hash_table_insert (pairing->keys, g_steal_pointer (&key), GUINT_TO_POINTER (i + 1));
    }
}

/* Whether both read the same values, whatever they call. */
static gboolean
same_inputs (const Pairing *pairing, const AdjNode *a, const AdjNode *b)
{
  if (a->n_inputs != b->n_inputs || a->n_inputs == 0)
    return FALSE;
  for (guint k = 0; k < a->n_inputs; k++)
    {
      guint32 number = pairing->numbers_a[a->inputs[k].index];

      if (number == UNKNOWN || number != pairing->numbers_b[b->inputs[k].index])
        return FALSE;
    }
  return TRUE;
}

static guint32
find_by_name (const Pairing *pairing, const AdjNode *node)
{
  AdjNodeId id = adj_graph_find_node (pairing->b, node->name);
  const AdjNode *other;

  if (!adj_node_id_is_valid (id))
    return UNKNOWN;
  other = adj_graph_get_node (pairing->b, id.index);
  return other->opcode == node->opcode && same_inputs (pairing, node, other)
             ? pairing->numbers_b[id.index]
             : UNKNOWN;
}

static void
number_a (Pairing *pairing)
{
  guint place = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (pairing->a); i++)
    {
      const AdjNode *node = adj_graph_get_node (pairing->a, i);
      g_autofree char *key = key_of (node, place, pairing->numbers_a, pairing->by_name);
      guint known = key != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (pairing->keys, key)) : 0;

      place += node->opcode == ADJ_OPCODE_PLACEHOLDER;
      pairing->numbers_a[i] = known > 0 ? known - 1 : find_by_name (pairing, node);
    }
}

gboolean
session_inputs_go_by_name (const AdjGraph *a, const AdjGraph *b)
{
  guint n = adj_graph_get_n_inputs (a);

  if (n != adj_graph_get_n_inputs (b))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (a, adj_graph_get_input (a, i).index);
      AdjNodeId id = adj_graph_find_node (b, node->name);

      if (!adj_node_id_is_valid (id) ||
          adj_graph_get_node (b, id.index)->opcode != ADJ_OPCODE_PLACEHOLDER)
        return FALSE;
    }
  return TRUE;
}

AdjNodeId *
session_pair_values (const AdjGraph *a, const AdjGraph *b)
{
  guint n = adj_graph_get_n_nodes (a);
  AdjNodeId *pairs = g_new (AdjNodeId, n);
  Pairing pairing = { .a = a, .b = b, .by_name = session_inputs_go_by_name (a, b) };

  pairing.numbers_a = g_new (guint32, n);
  pairing.numbers_b = g_new (guint32, adj_graph_get_n_nodes (b));
  pairing.keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  number_b (&pairing);
  number_a (&pairing);
  for (guint i = 0; i < n; i++)
    pairs[i] = pairing.numbers_a[i] != UNKNOWN ? (AdjNodeId){ pairing.numbers_a[i] } : ADJ_NO_NODE;
  g_hash_table_unref (pairing.keys);
  g_free (pairing.numbers_a);
  g_free (pairing.numbers_b);
  return pairs;
}
