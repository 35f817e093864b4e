/* SPDX-License-Identifier: MIT */
/* Counts the differences between two graphs modulo the ways in which PyTorch writes the same
 * computation. */

#include "aot/modulo.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"

typedef struct
{
  const AdjGraph *graph;
  guint32 *stands_for; /* by node: the node that an identity node stands for, else itself */
  char **terms;        /* by node: a text of its computation that contains no node names */
} Canon;

static gboolean
is_one_of (const char *target, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (target, names[i]))
      return TRUE;
  return FALSE;
}

/* N2 */
static gboolean
is_identity (const AdjNode *node)
{
  static const char *const names[] = { "torch.ops.aten.detach.", "torch.ops.aten.alias.", NULL };

  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && is_one_of (node->target, names);
}

/* N3 and N4 */
static const char *
get_operator (const AdjNode *node)
{
  static const char *const views[] = { "torch.ops.aten.view.", "torch.ops.aten._reshape_alias.",
                                       "torch.ops.aten.reshape.", "torch.ops.aten._unsafe_view.",
                                       NULL };

  return is_one_of (node->target, views) ? "torch.ops.aten.view.default" : node->target;
}

static gboolean
is_zeros (const AdjNode *node)
{
  static const char *const names[] = { "torch.ops.aten.zeros.", "torch.ops.aten.new_zeros.",
                                       "torch.ops.aten.zeros_like.", NULL };
  const AdjValue *fill = node->args.n > 1 ? &node->args.items[1] : NULL;

  return is_one_of (node->target, names) ||
         (g_str_has_prefix (node->target, "torch.ops.aten.full.") && fill != NULL &&
          ((fill->kind == ADJ_VALUE_INT && fill->integer == 0) ||
           (fill->kind == ADJ_VALUE_FLOAT && fill->number == 0)));
}

static void print_value (const Canon *canon, const AdjValue *value, GString *out);

static void
print_items (const Canon *canon, const AdjValue *value, GString *out)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < value->n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print_value (canon, &value->items[i], out);
    }
  g_string_append_c (out, ']');
}

static void
print_value (const Canon *canon, const AdjValue *value, GString *out)
{
  if (value->kind == ADJ_VALUE_NODE)
    g_string_append (out, canon->terms[canon->stands_for[value->node.index]]);
  else if (adj_value_is_container (value))
    print_items (canon, value, out);
  else
    adj_value_print (value, canon->graph, out);
}

/* Replaces a long term by its hash. */
static char *
shorten (GString *text)
{
  char *hash;

  if (text->len < 120)
    return g_string_free (text, FALSE);
  hash = g_compute_checksum_for_string (G_CHECKSUM_SHA1, text->str, (gssize) text->len);
  hash[16] = '\0';
  g_string_free (text, TRUE);
  return hash;
}

static char *
describe (const Canon *canon, const AdjNode *node)
{
  GString *text = g_string_new (NULL);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    g_string_append (text, node->name);
  else if (is_zeros (node))
    {
      g_string_append (text, "zeros ");
      if (node->val.kind == ADJ_VALUE_META)
        adj_shape_print_list (adj_graph_get_symbols (canon->graph), node->val.meta->shape.size,
                              node->val.meta->shape.rank, text);
    }
  else
    {
      g_string_append_printf (text, "%s ", get_operator (node));
      print_items (canon, &node->args, text);
    }
  return shorten (text);
}

static void
canon_init (Canon *canon, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);

  canon->graph = graph;
  canon->stands_for = g_new0 (guint32, n + 1);
  canon->terms = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      canon->stands_for[i] = i;
      if (is_identity (node) && node->args.items[0].kind == ADJ_VALUE_NODE)
        canon->stands_for[i] = canon->stands_for[node->args.items[0].node.index];
      canon->terms[i] = describe (canon, node);
    }
}

static void
canon_clear (Canon *canon)
{
  g_free (canon->stands_for);
  g_strfreev (canon->terms);
}

static gboolean
counts (const Canon *canon, guint i)
{
  const AdjNode *node = adj_graph_get_node (canon->graph, i);

  return canon->stands_for[i] == i && node->opcode != ADJ_OPCODE_PLACEHOLDER;
}

static GHashTable *
count_terms (const Canon *canon)
{
  GHashTable *table = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < adj_graph_get_n_nodes (canon->graph); i++)
    if (counts (canon, i))
      g_hash_table_insert (
          table, canon->terms[i],
          GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (table, canon->terms[i])) + 1));
  return table;
}

/* Counts the nodes of @canon that are not in @table; removes the others from it. */
static guint
count_missing (const Canon *canon, GHashTable *table, const char *side)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (canon->graph); i++)
    {
      guint left;

      if (!counts (canon, i))
        continue;
      left = GPOINTER_TO_UINT (g_hash_table_lookup (table, canon->terms[i]));
      if (left > 0)
        g_hash_table_insert (table, canon->terms[i], GUINT_TO_POINTER (left - 1));
      else if (n++ < 4)
        g_test_message ("only in the %s graph: %s = %s", side,
                        adj_graph_get_node (canon->graph, i)->name, canon->terms[i]);
    }
  return n;
}

guint
modulo_count_differences (const AdjGraph *a, const AdjGraph *b)
{
  g_autoptr (GHashTable) of_a = NULL;
  g_autoptr (GHashTable) of_b = NULL;
  Canon x, y;
  guint n;

  canon_init (&x, a);
  canon_init (&y, b);
  of_a = count_terms (&x);
  of_b = count_terms (&y);
  n = count_missing (&x, of_b, "first") + count_missing (&y, of_a, "second");
  canon_clear (&x);
  canon_clear (&y);
  return n;
}
