/* SPDX-License-Identifier: MIT */
/* Backward must know every symbol in the sizes of its inputs (partition/SPEC.md §4.3): a node whose
 * value is that symbol is saved too. */

#include <string.h>

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "partition/plan-private.h"

typedef struct
{
  Plan *plan;
  GHashTable *binding; /* symbol → the node that defines it, plus 1 */
  GHashTable *bound;   /* words */
  GArray *bindings;    /* guint32 */
} Binding;

static gboolean
is_symbol (const AdjSymbols *symbols, const AdjValue *value)
{
  AdjSizeOp op;
  AdjSize a, b;

  return value->kind == ADJ_VALUE_SIZE &&
         !adj_symbols_get_operands (symbols, value->size, &op, &a, &b);
}

/* Whether node @i defines a symbol: a placeholder of one, or a call that gives one without a hint.
 */
static gboolean
binds (const Joint *joint, guint i)
{
  const AdjValue *val = &adj_graph_get_node (joint->graph, i)->val;
  gint64 hint;

  if (joint->gone[i] || !is_symbol (joint->symbols, val))
    return FALSE;
  return joint_is_input (joint, i) ||
         (joint->kind[i] == NODE_CALL && !adj_size_get_hint (joint->symbols, val->size, &hint));
}

static void
bind (Binding *self, gint64 word)
{
  gpointer key = GSIZE_TO_POINTER ((gsize) word);
  guint node = GPOINTER_TO_UINT (g_hash_table_lookup (self->binding, key));
  guint32 item = node - 1;

  if (node == 0 || !g_hash_table_add (self->bound, key))
    return;
  g_array_append_val (self->bindings, item);
}

/* The symbols in @size, by name. */
static void
collect (const AdjSymbols *symbols, AdjSize size, GPtrArray *found, guint depth)
{
  AdjSizeOp op;
  AdjSize a, b;

  if (adj_size_is_int (size) || depth == 0)
    return;
  if (adj_symbols_get_operands (symbols, size, &op, &a, &b))
    {
      collect (symbols, a, found, depth - 1);
      collect (symbols, b, found, depth - 1);
      return;
    }
  g_ptr_array_add (found, GSIZE_TO_POINTER ((gsize) size.word));
}

static int
compare_names (gconstpointer a, gconstpointer b, gpointer symbols)
{
  g_autoptr (GString) x = g_string_new (NULL);
  g_autoptr (GString) y = g_string_new (NULL);

  adj_size_print (symbols, (AdjSize){ (gint64) GPOINTER_TO_SIZE (*(gpointer *) a) }, x);
  adj_size_print (symbols, (AdjSize){ (gint64) GPOINTER_TO_SIZE (*(gpointer *) b) }, y);
  return strcmp (x->str, y->str);
}

static void
bind_value (Binding *self, guint node)
{
  const Joint *joint = self->plan->joint;
  const AdjValue *val = &adj_graph_get_node (joint->graph, node)->val;
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  if (val->kind == ADJ_VALUE_SIZE)
    collect (joint->symbols, val->size, found, ADJ_MAX_DEPTH);
  else if (val->kind == ADJ_VALUE_META)
    {
      const AdjShape *shape = &val->meta->shape;

      for (guint i = 0; i < shape->rank; i++)
        {
          collect (joint->symbols, shape->size[i], found, ADJ_MAX_DEPTH);
          collect (joint->symbols, shape->stride[i], found, ADJ_MAX_DEPTH);
        }
      collect (joint->symbols, shape->offset, found, ADJ_MAX_DEPTH);
    }
  g_ptr_array_sort_with_data (found, compare_names, joint->symbols);
  for (guint i = 0; i < found->len; i++)
    bind (self, (gint64) GPOINTER_TO_SIZE (found->pdata[i]));
}

void
plan_bind_symbols (Plan *plan)
{
  const Joint *joint = plan->joint;
  g_autoptr (GHashTable) binding = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) bound = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) derived = g_array_new (FALSE, FALSE, sizeof (guint32));
  GArray *bindings = g_array_new (FALSE, FALSE, sizeof (guint32));
  Binding self = { plan, binding, bound, bindings };

  for (guint i = joint->n; i-- > 0;)
    if (binds (joint, i))
      g_hash_table_insert (
          binding, GSIZE_TO_POINTER ((gsize) adj_graph_get_node (joint->graph, i)->val.size.word),
          GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < plan->sizes->len; i++)
    {
      guint32 node = plan_item (plan->sizes, i);

      if (!binds (joint, node))
        {
          g_array_append_val (derived, node);
          continue;
        }
      g_array_append_val (bindings, node);
      g_hash_table_add (
          bound, GSIZE_TO_POINTER ((gsize) adj_graph_get_node (joint->graph, node)->val.size.word));
    }
  for (guint i = 0; i < derived->len; i++)
    bind_value (&self, plan_item (derived, i));
  for (guint i = 0; i < plan->tensors->len; i++)
    bind_value (&self, plan_item (plan->tensors, i));
  for (guint i = 0; i < joint->n; i++)
    if (joint->kind[i] == NODE_TANGENT)
      bind_value (&self, i);
  for (guint i = 0; i < bindings->len; i++)
    if (plan->rule[plan_item (bindings, i)] == ADJ_RULE_NONE)
      plan->rule[plan_item (bindings, i)] = ADJ_RULE_SYMBOL;
  g_array_append_vals (bindings, derived->data, derived->len);
  g_array_unref (plan->sizes);
  plan->sizes = bindings;
}
