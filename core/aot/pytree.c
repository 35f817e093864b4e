/* SPDX-License-Identifier: MIT */
/* Flattens nested containers into leaves and builds them up again. */

#include "aot/tree-private.h"

AdjValue
aot_tree_flatten (const AdjValue *value, GArray *leaves)
{
  AdjValue tree = { .kind = value->kind };
  AdjValue *items;

  if (!adj_value_is_container (value))
    {
      g_array_append_val (leaves, *value);
      return ADJ_INT (leaves->len - 1);
    }
  items = g_new0 (AdjValue, MAX (value->n, 1));
  for (guint i = 0; i < value->n; i++)
    if (value->kind == ADJ_VALUE_DICT && i % 2 == 0)
      items[i] = adj_value_copy (&value->items[i]);
    else
      items[i] = aot_tree_flatten (&value->items[i], leaves);
  tree = adj_value_new_items (value->kind, items, value->n);
  g_free (items);
  return tree;
}

AdjValue
aot_tree_unflatten (const AdjValue *tree, const AdjValue *leaves, guint n)
{
  AdjValue value;
  AdjValue *items;

  if (!adj_value_is_container (tree))
    return (guint64) tree->integer < n ? adj_value_copy (&leaves[tree->integer]) : ADJ_NONE;
  items = g_new0 (AdjValue, MAX (tree->n, 1));
  for (guint i = 0; i < tree->n; i++)
    if (tree->kind == ADJ_VALUE_DICT && i % 2 == 0)
      items[i] = adj_value_copy (&tree->items[i]);
    else
      items[i] = aot_tree_unflatten (&tree->items[i], leaves, n);
  value = adj_value_new_items (tree->kind, items, tree->n);
  g_free (items);
  return value;
}
