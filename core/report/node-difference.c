/* SPDX-License-Identifier: MIT */
/* How two aligned nodes differ: the first argument that does. */

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"
#include "report/adj-node-difference.h"
#include "report/adj-stage-origins.h"

typedef struct
{
  const AdjGraph *a, *b;
  const guint32 *b_of_a;
} Pair;

static gboolean
is_container (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TUPLE || value->kind == ADJ_VALUE_LIST ||
         value->kind == ADJ_VALUE_DICT;
}

static guint
count_items (const AdjValue *value)
{
  return value->n;
}

/* Whether arguments are equal; nodes are equal if they are aligned, whatever their names. */
static gboolean
is_same (const Pair *pair, const AdjValue *x, const AdjValue *y)
{
  if (x->kind != y->kind)
    return FALSE;
  if (x->kind == ADJ_VALUE_NODE)
    return adj_node_id_is_valid (x->node) && pair->b_of_a[x->node.index] == y->node.index;
  if (!is_container (x))
    return adj_value_equal (x, y);
  if (count_items (x) != count_items (y))
    return FALSE;
  for (guint i = 0; i < count_items (x); i++)
    if (!is_same (pair, &x->items[i], &y->items[i]))
      return FALSE;
  return TRUE;
}

static void
add_change (const Pair *pair, GString *text, const char *name, const AdjValue *x, const AdjValue *y)
{
  g_string_append_printf (text, "%s: ", name);
  if (x != NULL)
    adj_value_print (x, pair->a, text);
  else
    g_string_append (text, _ ("not given"));
  g_string_append (text, " → ");
  if (y != NULL)
    adj_value_print (y, pair->b, text);
  else
    g_string_append (text, _ ("not given"));
}

static gboolean
compare_arguments (const Pair *pair, GString *text, const AdjValue *x, const AdjValue *y)
{
  for (guint i = 0; i < MAX (x->n, y->n); i++)
    {
      const AdjValue *one = i < x->n ? &x->items[i] : NULL;
      const AdjValue *other = i < y->n ? &y->items[i] : NULL;
      g_autofree char *name = g_strdup_printf (_ ("argument %u"), i + 1);

      if (one != NULL && other != NULL && is_same (pair, one, other))
        continue;
      add_change (pair, text, name, one, other);
      return TRUE;
    }
  return FALSE;
}

static gboolean
compare_keywords (const Pair *pair, GString *text, const AdjValue *x, const AdjValue *y)
{
  const AdjValue *sides[] = { x, y };

  for (guint side = 0; side < 2; side++)
    for (guint i = 0; sides[side]->kind == ADJ_VALUE_DICT && i + 1 < sides[side]->n; i += 2)
      {
        const AdjValue *key = &sides[side]->items[i];
        const AdjValue *one, *other;

        if (key->kind != ADJ_VALUE_STRING)
          continue;
        one = adj_value_find_member (x, key->text);
        other = adj_value_find_member (y, key->text);
        if (one != NULL && other != NULL && is_same (pair, one, other))
          continue;
        add_change (pair, text, key->text, one, other);
        return TRUE;
      }
  return FALSE;
}

static void
compare (const Pair *pair, GString *text, const AdjNode *x, const AdjNode *y)
{
  if (!g_str_equal (x->target, y->target))
    {
      g_autofree char *one = adj_stage_origins_target (x), *other = adj_stage_origins_target (y);

      g_string_append_printf (text, "%s → %s", g_str_equal (one, other) ? x->target : one,
                              g_str_equal (one, other) ? y->target : other);
      return;
    }
  if (compare_keywords (pair, text, &x->kwargs, &y->kwargs) ||
      compare_arguments (pair, text, &x->args, &y->args))
    return;
  if (!adj_value_equal (&x->val, &y->val))
    add_change (pair, text, _ ("result"), &x->val, &y->val);
}

char *
adj_node_difference (const AdjGraph *a,
                     const AdjGraph *b,
                     const AdjChange *change,
                     const guint32 *b_of_a)
{
  Pair pair = { a, b, b_of_a };
  GString *text = g_string_new (NULL);

  if (change->kind == ADJ_CHANGE_ADDED)
    g_string_append (text, _ ("only in the second"));
  else if (change->kind == ADJ_CHANGE_REMOVED)
    g_string_append (text, _ ("only in the first"));
  else if (change->kind == ADJ_CHANGE_CHANGED)
    {
      compare (&pair, text, adj_graph_get_node (a, change->a.index),
               adj_graph_get_node (b, change->b.index));
      if (text->len == 0)
        g_string_append (text, _ ("only in its tags"));
    }
  return g_string_free (text, FALSE);
}
