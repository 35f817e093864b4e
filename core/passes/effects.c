/* SPDX-License-Identifier: MIT */
/* The side effects of a graph, and whether another graph has the same in order. */

#include <string.h>

#include "analysis/adj-node-call.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "interpreter/adj-effect-ops.h"
#include "ir/adj-graph.h"
#include "ir/adj-own-ops-internal.h"
#include "ir/adj-target-internal.h"
#include "ops/adj-op-table.h"
#include "passes/adj-effects.h"

typedef struct
{
  char *text; /* (owned): the call and its text arguments */
  const AdjNode *node;
  guint index; /* of @node, or of the node in the outermost graph that calls its graph */
} Effect;

typedef struct
{
  const AdjGraph *graph; /* the graph being listed */
  const AdjGraph *outer;
  GArray *effects; /* Effect */
  gint index;      /* of the node of @outer that calls @graph; -1: @graph is @outer */
  gboolean backward;
  gboolean by_name; /* objects are identified by name */
} List;

static void
effect_clear (gpointer data)
{
  g_free (((Effect *) data)->text);
}

static gboolean
add_text (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_STRING)
    g_string_append_printf (data, " %s", leaf->text);
  return TRUE;
}

/* Appends the identity of an object: its number among the inputs that are objects, or its name; or
 * its attribute. */
static void
add_object (const AdjGraph *graph, const AdjValue *value, gboolean by_name, GString *text)
{
  const AdjNode *node =
      value->kind == ADJ_VALUE_NODE ? adj_graph_get_node (graph, value->node.index) : NULL;
  guint number = 0;

  if (node == NULL)
    return;
  if (by_name || node->opcode != ADJ_OPCODE_PLACEHOLDER)
    {
      g_string_append_printf (text, " of %s", by_name ? node->name : node->target);
      return;
    }
  for (guint i = 0; i < value->node.index; i++)
    number += adj_graph_get_node (graph, i)->val.kind == ADJ_VALUE_OPAQUE_OBJECT;
  g_string_append_printf (text, " of object %u", number);
}

/* The part after the last dot, without an overload. */
static const char *
get_short_name (const char *target)
{
  const char *dot = strrchr (target, '.');

  return g_str_has_prefix (target, "torch.ops.higher_order.") && dot != NULL ? dot + 1 : target;
}

/* (transfer full) (nullable): the effect of @node as text; %NULL: it has no ordered effect. */
static char *
describe (const AdjGraph *graph, const AdjNode *node, gboolean by_name)
{
  const char *target = node->target;
  const AdjOp *op = adj_node_find_op (node, ADJ_OP_EFFECT);
  guint first = 0;
  GString *text;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return NULL;
  if (g_str_equal (target, ADJ_TARGET_WITH_EFFECTS) && node->args.n > 1 &&
      node->args.items[1].kind == ADJ_VALUE_OP)
    {
      target = node->args.items[1].text;
      op = adj_graph_find_op (graph, target);
      first = 2;
    }
  else if (!g_str_equal (target, ADJ_TARGET_CALL_TORCHBIND) &&
           adj_effect_op_find (target) == NULL && op == NULL)
    return NULL;
  if (op != NULL && (op->flags & ADJ_OP_UNORDERED) != 0)
    return NULL;
  if (first == 0 && adj_object_node_is_pure (graph, node))
    return NULL;
  /* A packet is called by its overload. */
  text = g_string_new (get_short_name (op != NULL ? adj_op_get_schema (op)->target : target));
  for (guint i = first; i < node->args.n; i++)
    adj_value_foreach (&node->args.items[i], add_text, text);
  if (g_str_equal (target, ADJ_TARGET_CALL_TORCHBIND) && node->args.n > first)
    add_object (graph, &node->args.items[first], by_name, text);
  return g_string_free (text, FALSE);
}

static void list_effects (List *list);

/* Lists the effects of the graphs that @node calls; of a custom function only the forward. */
static void
list_called (const List *list, const AdjNode *node, guint index)
{
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const AdjNode *input = adj_graph_get_node (list->graph, node->inputs[i].index);
      AdjGraph *called = input->opcode == ADJ_OPCODE_GET_ATTR
                             ? adj_graph_find_subgraph (list->graph, input->target)
                             : NULL;
      List inner = { called,         list->outer,
                     list->effects,  list->index >= 0 ? list->index : (gint) index,
                     list->backward, list->by_name };

      if (called == NULL)
        continue;
      list_effects (&inner);
      if (strstr (node->target, "autograd_function_apply") != NULL)
        return;
    }
}

/* The effects of a hook are of the backward. */
static gboolean
is_of_backward (const List *list, const AdjNode *node, guint index)
{
  return g_str_equal (node->target, ADJ_TARGET_REGISTER_HOOK) ||
         (list->index < 0 ? adj_graph_is_backward (list->graph, index) : list->backward);
}

static void
list_effects (List *list)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (list->graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (list->graph, i);
      Effect effect = { NULL, node, list->index >= 0 ? (guint) list->index : i };

      if (node->opcode != ADJ_OPCODE_CALL_FUNCTION ||
          is_of_backward (list, node, i) != list->backward)
        continue;
      effect.text = describe (list->graph, node, list->by_name);
      if (effect.text != NULL)
        g_array_append_val (list->effects, effect);
      else
        list_called (list, node, i);
    }
}

static GArray *
find_effects (const AdjGraph *graph, gboolean backward, gboolean by_name)
{
  List list = { graph, graph, g_array_new (FALSE, FALSE, sizeof (Effect)), -1, backward, by_name };

  g_array_set_clear_func (list.effects, effect_clear);
  list_effects (&list);
  return list.effects;
}

char *
adj_graph_print_effects (const AdjGraph *graph, gboolean backward)
{
  g_autoptr (GArray) effects = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  g_return_val_if_fail (graph != NULL, NULL);

  effects = find_effects (graph, backward, TRUE);
  for (guint i = 0; i < effects->len; i++)
    g_string_append_printf (out, "%s\n", g_array_index (effects, Effect, i).text);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
refuse (const Effect *before, const Effect *after, GError **error)
{
  const Effect *named = after != NULL ? after : before;

  if (after == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "the effect of '%s' (%s) is lost",
                 before->node->name, before->text);
  else if (before == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                 "'%s' (%s) is an effect that was not there before", after->node->name,
                 after->text);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                 "effects changed their order: '%s' (%s) stands where '%s' (%s) was",
                 after->node->name, after->text, before->node->name, before->text);
  if (error != NULL)
    adj_error_blame_node (*error, named->node->name, named->index);
  return FALSE;
}

static gboolean
are_same (const GArray *before, const GArray *after, GError **error)
{
  for (guint i = 0; i < MAX (before->len, after->len); i++)
    {
      const Effect *a = i < before->len ? &g_array_index (before, Effect, i) : NULL;
      const Effect *b = i < after->len ? &g_array_index (after, Effect, i) : NULL;

      if (a == NULL || b == NULL || !g_str_equal (a->text, b->text))
        return refuse (a, b, error);
    }
  return TRUE;
}

static gboolean
has_backward (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_is_backward (graph, i))
      return TRUE;
  return FALSE;
}

gboolean
adj_graph_verify_effects_kept (const AdjGraph *before, const AdjGraph *after, GError **error)
{
  gboolean differentiated;

  g_return_val_if_fail (before != NULL && after != NULL, FALSE);

  differentiated = has_backward (after) && !has_backward (before);
  for (guint backward = 0; backward < (differentiated ? 1 : 2); backward++)
    {
      g_autoptr (GArray) from = find_effects (before, (gboolean) backward, FALSE);
      g_autoptr (GArray) to = find_effects (after, (gboolean) backward, FALSE);

      if (!are_same (from, to, error))
        return FALSE;
    }
  return TRUE;
}

/* -- following them -- */

AdjNodeId
adj_graph_step_effect (const AdjGraph *graph, AdjNodeId from, int step)
{
  gint64 at, found = -1;

  g_return_val_if_fail (graph != NULL && (step == 1 || step == -1), ADJ_NO_NODE);

  at = adj_node_id_is_valid (from) ? from.index
       : step > 0                  ? -1
                                   : (gint64) adj_graph_get_n_nodes (graph);
  for (guint backward = 0; backward < 2; backward++)
    {
      g_autoptr (GArray) effects = find_effects (graph, (gboolean) backward, TRUE);

      for (guint i = 0; i < effects->len; i++)
        {
          gint64 index = g_array_index (effects, Effect, i).index;

          if ((index - at) * step > 0 && (found < 0 || (found - index) * step > 0))
            found = index;
        }
    }
  return found < 0 ? ADJ_NO_NODE : (AdjNodeId){ (guint32) found };
}
