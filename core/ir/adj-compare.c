/* SPDX-License-Identifier: MIT */
/* Aligns the nodes of two graphs, and tests two graphs for equal structure. */

#include "ir/adj-compare.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/node-difference-private.h"

/* Alignment of two graphs.
 *
 * Each step matches what the steps before left over, and each is one walk with a hash table, so
 * that the whole is linear in the number of nodes and arguments:
 *
 *   1. the outputs; placeholders in order where both graphs have as many, else of the same name
 *   2. where b was made of a: nodes whose origin has the same target or the same name
 *   3. the same target and arguments, given that all inputs are matched
 *   4. the same name and target
 *   5. step 3 again; then the same target and inputs, whatever the other arguments
 *   6. the n-th call of the same target from the same line; placeholders in order
 *   7. step 5 again, for what step 6 made possible
 */

#define NONE G_MAXUINT32

/* -- Matching ---- */

static const AdjNode *
node_of (const AdjGraph *graph, guint index)
{
  return adj_graph_get_node (graph, index);
}

static void
match (NodePairs *pair, guint a, guint b)
{
  pair->to_a[b] = a;
  pair->to_b[a] = b;
}

static void
match_ends (NodePairs *pair)
{
  guint n = adj_graph_get_n_inputs (pair->b);
  gboolean as_many = n == adj_graph_get_n_inputs (pair->a);

  match (pair, adj_graph_get_output (pair->a).index, adj_graph_get_output (pair->b).index);
  for (guint i = 0; i < n; i++)
    {
      AdjNodeId b = adj_graph_get_input (pair->b, i);
      AdjNodeId a = as_many ? adj_graph_get_input (pair->a, i)
                            : adj_graph_find_node (pair->a, node_of (pair->b, b.index)->name);

      if (adj_node_id_is_valid (a) && pair->to_b[a.index] == NONE &&
          node_same_target (node_of (pair->a, a.index), node_of (pair->b, b.index)) &&
          node_pairs_same_annotation (pair, &node_of (pair->a, a.index)->val,
                                      &node_of (pair->b, b.index)->val))
        match (pair, a.index, b.index);
    }
}

static void
match_origins (NodePairs *pair)
{
  guint n_a = adj_graph_get_n_nodes (pair->a), n_b = adj_graph_get_n_nodes (pair->b);

  for (guint by_name = 0; by_name < 2; by_name++)
    for (guint i = 0; i < n_b; i++)
      {
        const AdjNode *node = node_of (pair->b, i), *origin;

        if (pair->to_a[i] != NONE || node->origin.index >= n_a ||
            pair->to_b[node->origin.index] != NONE)
          continue;
        origin = node_of (pair->a, node->origin.index);
        if (by_name ? g_str_equal (origin->name, node->name)
                    : origin->opcode == node->opcode && g_str_equal (origin->target, node->target))
          match (pair, node->origin.index, i);
      }
}

/* Whether annotation and place in the source are equal, as far as both are known. */
static gboolean
same_role (const NodePairs *pair, const AdjNode *a, const AdjNode *b)
{
  const AdjFrame *in_a, *in_b;

  if (!node_same_target (a, b) || !node_pairs_same_annotation (pair, &a->val, &b->val))
    return FALSE;
  if (a->meta.n_frames == 0 || b->meta.n_frames == 0)
    return TRUE;

  in_a = &a->meta.frames[a->meta.n_frames - 1];
  in_b = &b->meta.frames[b->meta.n_frames - 1];

  return in_a->line == in_b->line && g_str_equal (in_a->file, in_b->file);
}

/* Whether the inputs of the two are each other's, or both unmatched. */
static gboolean
inputs_agree (const NodePairs *pair, const AdjNode *a, const AdjNode *b)
{
  if (a->n_inputs != b->n_inputs)
    return FALSE;

  for (guint i = 0; i < a->n_inputs; i++)
    if (pair->to_a[b->inputs[i].index] != a->inputs[i].index &&
        (pair->to_a[b->inputs[i].index] != NONE || pair->to_b[a->inputs[i].index] != NONE))
      return FALSE;

  return TRUE;
}

/* Matches nodes of equal name and target. Names are numbered per operator, so that an equal name
 * alone is weak evidence when the graphs were decomposed differently. */
static void
match_names (NodePairs *pair, gboolean with_inputs)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (pair->b); i++)
    {
      const AdjNode *node = node_of (pair->b, i), *other;
      AdjNodeId found;

      if (pair->to_a[i] != NONE)
        continue;
      found = adj_graph_find_node (pair->a, node->name);
      if (!adj_node_id_is_valid (found) || pair->to_b[found.index] != NONE)
        continue;
      other = node_of (pair->a, found.index);
      if (same_role (pair, other, node) && (!with_inputs || inputs_agree (pair, other, node)))
        match (pair, found.index, i);
    }
}

static gboolean
is_same_tensor (const AdjNode *a, const AdjNode *b, const NodePairs *pair)
{
  return a->val.kind == ADJ_VALUE_META && b->val.kind == ADJ_VALUE_META && a->opcode == b->opcode &&
         a->opcode != ADJ_OPCODE_PLACEHOLDER &&
         node_pairs_same_meta (pair, a->val.meta, b->val.meta);
}

/* Matches the inputs of matched nodes position by position: they are the same value, even if each
 * graph computes it in another way. */
static void
match_values (NodePairs *pair)
{
  for (guint i = adj_graph_get_n_nodes (pair->b); i-- > 0;)
    {
      const AdjNode *b = node_of (pair->b, i), *a;

      if (pair->to_a[i] == NONE)
        continue;
      a = node_of (pair->a, pair->to_a[i]);
      for (guint k = 0; a->n_inputs == b->n_inputs && k < a->n_inputs; k++)
        {
          guint32 in_a = a->inputs[k].index, in_b = b->inputs[k].index;

          if (pair->to_a[in_b] == NONE && pair->to_b[in_a] == NONE &&
              is_same_tensor (node_of (pair->a, in_a), node_of (pair->b, in_b), pair))
            match (pair, in_a, in_b);
        }
    }
}

/* A hash that is equal for nodes that may be matched; 0: the node is not to be matched. */
typedef guint64 (*KeyFunc) (const NodePairs *pair, const AdjGraph *graph, guint index);

static guint64
mix (guint64 hash, guint64 word)
{
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return hash ^ (hash >> 29);
}

static guint64
mix_text (guint64 hash, const char *text)
{
  for (; *text != '\0'; text++)
    hash = (hash ^ (guchar) *text) * G_GUINT64_CONSTANT (1099511628211);

  return mix (hash, 0);
}

/* The index in a of node @index of @graph; keys of both graphs refer to a. */
static guint32
get_place (const NodePairs *pair, const AdjGraph *graph, guint32 index)
{
  return graph == pair->a ? index : pair->to_a[index];
}

static guint64
key_by_inputs (const NodePairs *pair, const AdjGraph *graph, guint index)
{
  const AdjNode *node = node_of (graph, index);
  guint64 hash = mix_text (node->opcode + 1, node->target);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return 0;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      guint32 place = get_place (pair, graph, node->inputs[i].index);

      if (place == NONE)
        return 0;
      hash = mix (hash, place);
    }

  return MAX (hash, 1);
}

typedef struct
{
  const NodePairs *pair;
  const AdjGraph *graph;
  guint64 hash;
} Hashing;

static gboolean
hash_leaf (const AdjValue *leaf, gpointer data)
{
  Hashing *h = data;

  h->hash = mix (h->hash, leaf->kind);
  if (leaf->kind == ADJ_VALUE_NODE)
    h->hash = mix (h->hash, get_place (h->pair, h->graph, leaf->node.index));
  else if (leaf->kind == ADJ_VALUE_INT || leaf->kind == ADJ_VALUE_FLOAT)
    h->hash = mix (h->hash, (guint64) leaf->integer);
  else if (leaf->kind == ADJ_VALUE_BOOL)
    h->hash = mix (h->hash, leaf->boolean);
  else if (leaf->kind == ADJ_VALUE_STRING)
    h->hash = mix_text (h->hash, leaf->text);

  return TRUE;
}

static guint64
key_by_arguments (const NodePairs *pair, const AdjGraph *graph, guint index)
{
  const AdjNode *node = node_of (graph, index);
  Hashing h = { pair, graph, key_by_inputs (pair, graph, index) };

  if (h.hash == 0)
    return 0;

  adj_value_foreach (&node->args, hash_leaf, &h);
  adj_value_foreach (&node->kwargs, hash_leaf, &h);

  return MAX (h.hash, 1);
}

static guint64
key_by_place (const NodePairs *pair, const AdjGraph *graph, guint index)
{
  const AdjNode *node = node_of (graph, index);
  guint64 hash = node->opcode + 1;

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return hash;

  hash = mix_text (hash, node->target);
  if (node->meta.n_frames > 0)
    {
      const AdjFrame *frame = &node->meta.frames[node->meta.n_frames - 1];

      hash = mix (mix_text (hash, frame->file), frame->line);
    }

  return MAX (hash, 1);
}

/* Matches nodes with equal keys in order. A key of b is computed when its node is reached, since it
 * may depend on inputs matched earlier in the same walk. */
static void
match_keys (NodePairs *pair, KeyFunc get_key)
{
  guint n_a = adj_graph_get_n_nodes (pair->a), n_b = adj_graph_get_n_nodes (pair->b);
  g_autoptr (GHashTable) first = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, NULL);
  g_autofree gint64 *keys = g_new (gint64, MAX (n_a, 1));
  g_autofree guint32 *next = g_new (guint32, MAX (n_a, 1));

  for (guint i = n_a; i-- > 0;)
    {
      guint32 after;

      if (pair->to_b[i] != NONE || (keys[i] = get_key (pair, pair->a, i)) == 0)
        continue;
      after = GPOINTER_TO_UINT (g_hash_table_lookup (first, &keys[i]));
      next[i] = after;
      g_hash_table_replace (first, &keys[i], GUINT_TO_POINTER (i + 1));
    }

  for (guint i = 0; i < n_b; i++)
    {
      gint64 key;
      guint32 found;

      if (pair->to_a[i] != NONE || (key = get_key (pair, pair->b, i)) == 0)
        continue;
      found = GPOINTER_TO_UINT (g_hash_table_lookup (first, &key));
      if (found == 0)
        continue;
      match (pair, found - 1, i);
      if (next[found - 1] != 0)
        g_hash_table_replace (first, &keys[next[found - 1] - 1],
                              GUINT_TO_POINTER (next[found - 1]));
      else
        g_hash_table_remove (first, &key);
    }
}

/* -- Results ---- */

static void
add_change (AdjAlignment *alignment, AdjChangeKind kind, guint32 a, guint32 b, const char *reason)
{
  guint *const counts[] = {
    [ADJ_CHANGE_NONE] = &alignment->n_same,
    [ADJ_CHANGE_ADDED] = &alignment->n_added,
    [ADJ_CHANGE_REMOVED] = &alignment->n_removed,
    [ADJ_CHANGE_CHANGED] = &alignment->n_changed,
  };

  alignment->changes[alignment->n_changes++] = (AdjChange){ kind, { a }, { b }, reason };
  ++*counts[kind];
}

static guint
add_removed (AdjAlignment *alignment, const NodePairs *pair, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (pair->to_b[i] == NONE)
      add_change (alignment, ADJ_CHANGE_REMOVED, i, NONE, "only before");

  return MAX (from, to);
}

static AdjAlignment *
make_alignment (const NodePairs *pair)
{
  guint n_a = adj_graph_get_n_nodes (pair->a), n_b = adj_graph_get_n_nodes (pair->b);
  AdjAlignment *alignment = g_new0 (AdjAlignment, 1);
  guint shown = 0; /* nodes of a before this one have been added */

  alignment->changes = g_new0 (AdjChange, n_a + n_b);
  for (guint i = 0; i < n_b; i++)
    {
      guint32 a = pair->to_a[i];
      const char *reason;

      if (a == NONE)
        {
          add_change (alignment, ADJ_CHANGE_ADDED, NONE, i, "only after");
          continue;
        }

      shown = add_removed (alignment, pair, shown, a);
      reason = node_pairs_find_difference (pair, node_of (pair->a, a), node_of (pair->b, i));
      add_change (alignment, reason ? ADJ_CHANGE_CHANGED : ADJ_CHANGE_NONE, a, i, reason);
    }
  add_removed (alignment, pair, shown, n_a);

  return alignment;
}

static AdjAlignment *
align (const AdjGraph *a, const AdjGraph *b, gboolean with_origins)
{
  guint n_a = adj_graph_get_n_nodes (a), n_b = adj_graph_get_n_nodes (b);
  g_autofree guint32 *to_a = g_new (guint32, n_b);
  g_autofree guint32 *to_b = g_new (guint32, n_a);
  NodePairs pair = { a, b, to_a, to_b };

  memset (to_a, 0xff, sizeof (guint32) * n_b);
  memset (to_b, 0xff, sizeof (guint32) * n_a);

  match_ends (&pair);
  if (with_origins)
    match_origins (&pair);
  match_keys (&pair, key_by_arguments);
  match_names (&pair, TRUE);
  match_keys (&pair, key_by_arguments);
  match_keys (&pair, key_by_inputs);
  match_names (&pair, FALSE);
  match_keys (&pair, key_by_place);
  match_keys (&pair, key_by_arguments);
  match_keys (&pair, key_by_inputs);
  match_values (&pair);

  return make_alignment (&pair);
}

AdjAlignment *
adj_graph_align (const AdjGraph *a, const AdjGraph *b)
{
  return align (a, b, FALSE);
}

AdjAlignment *
adj_graph_align_made (const AdjGraph *before, const AdjGraph *after)
{
  return align (before, after, TRUE);
}

void
adj_alignment_free (AdjAlignment *alignment)
{
  g_free (alignment->changes);
  g_free (alignment);
}

/* -- Equality ---- */

static gboolean
equal_subgraphs (const AdjGraph *a, const AdjGraph *b)
{
  guint n = adj_graph_get_n_subgraphs (a);

  if (n != adj_graph_get_n_subgraphs (b))
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      const char *name_a, *name_b;
      AdjGraph *in_a = adj_graph_get_subgraph (a, i, &name_a);
      AdjGraph *in_b = adj_graph_get_subgraph (b, i, &name_b);

      if (!g_str_equal (name_a, name_b) || !adj_graph_equal_structure (in_a, in_b))
        return FALSE;
    }

  return TRUE;
}

static gboolean
equal_attrs (const NodePairs *pair)
{
  guint n = adj_graph_get_n_attrs (pair->a);

  if (n != adj_graph_get_n_attrs (pair->b))
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      const char *name_a, *name_b;
      const AdjValue *in_a = adj_graph_get_attr (pair->a, i, &name_a);
      const AdjValue *in_b = adj_graph_get_attr (pair->b, i, &name_b);

      if (!g_str_equal (name_a, name_b) || !node_pairs_same_value (pair, in_a, in_b))
        return FALSE;
    }

  return TRUE;
}

gboolean
adj_graph_equal_structure (const AdjGraph *a, const AdjGraph *b)
{
  guint n = adj_graph_get_n_nodes (a);
  g_autofree guint32 *same = NULL;
  NodePairs pair = { .a = a, .b = b };

  if (n != adj_graph_get_n_nodes (b))
    return FALSE;

  same = g_new (guint32, n);
  for (guint i = 0; i < n; i++)
    same[i] = i;
  pair.to_a = pair.to_b = same;

  for (guint i = 0; i < n; i++)
    if (node_pairs_find_difference (&pair, node_of (a, i), node_of (b, i)))
      return FALSE;

  return equal_attrs (&pair) && equal_subgraphs (a, b);
}
