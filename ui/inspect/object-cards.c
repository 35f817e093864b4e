/* SPDX-License-Identifier: MIT */
/* The card of opaque objects and of calls of their methods. */

#include "inspect/object-cards.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"
#include "objects/adj-object-text.h"
#include "passes/adj-effects.h"
#include "report/adj-properties.h"

#define MAX_ELEMENTS 12 /* elements of a tensor */

static gboolean
is_no_tensor (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_DATA;
}

/* Items with tensors stand on lines of their own, behind their places or keys. */
static void
print_item (const AdjValue *value, guint index, GString *text)
{
  const gboolean is_dict = value->kind == ADJ_VALUE_DICT;

  g_string_append (text, index > 0 ? "\n" : "");
  if (is_dict)
    adj_object_value_print (&value->items[2 * index], MAX_ELEMENTS, text);
  else
    g_string_append_printf (text, "%u", index);
  g_string_append (text, ": ");
  adj_object_value_print (&value->items[is_dict ? 2 * index + 1 : index], MAX_ELEMENTS, text);
}

static char *
print_value (const AdjValue *value)
{
  GString *text = g_string_new (NULL);

  if (!adj_value_is_container (value) || adj_value_foreach (value, is_no_tensor, NULL))
    adj_object_value_print (value, MAX_ELEMENTS, text);
  else
    for (guint i = 0; i < (value->kind == ADJ_VALUE_DICT ? value->n / 2 : value->n); i++)
      print_item (value, i, text);
  return g_string_free (text, FALSE);
}

/* Adds an entry of a state; tensors are aligned below each other. */
static void
add_entry (AdjPropertyCard *card, const char *name, const AdjValue *before, const AdjValue *after)
{
  g_autofree char *old = print_value (before), *new = print_value (after);
  gboolean same = g_str_equal (old, new);

  adj_property_card_add (card, name, same ? _ ("unchanged") : _ ("before the run"));
  adj_property_card_add_text (card, old, TRUE);
  if (same)
    return;
  adj_property_card_add (card, name, _ ("after it"));
  adj_property_card_add_text (card, new, TRUE);
}

/* The state of the object before the run, and after it. */
static void
add_run (AdjPropertyCard *card, const AdjRunObject *run)
{
  g_auto (AdjValue) before = ADJ_NONE, after = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  if (!adj_object_flatten (run->before, &before, &error) ||
      !adj_object_flatten (run->after, &after, &error))
    {
      adj_property_card_add_text (card, error->message, FALSE);
      return;
    }
  for (guint i = 0; i < before.n; i++)
    {
      const char *name = before.items[i].items[0].text;
      const AdjValue *now = adj_object_state_get (&after, name);

      if (now != NULL)
        add_entry (card, name, &before.items[i].items[1], now);
      else
        adj_property_card_add (card, name, _ ("gone"));
    }
}

static const AdjRunObject *
find_run (const AdjRunResult *result, AdjNodeId id)
{
  for (guint i = 0; result != NULL && i < result->n_objects; i++)
    if (result->objects[i].node.index == id.index)
      return &result->objects[i];
  return NULL;
}

/* Class, methods and state of an object. */
static void
add_object (AdjPropertyCard *card, AdjOpaque *opaque, const AdjRunObject *run)
{
  AdjObject *object = adj_object_from_opaque (opaque);
  const AdjObjectClass *klass = object != NULL ? adj_object_get_class (object) : NULL;
  g_autoptr (GString) methods = g_string_new (NULL), state = g_string_new (NULL);
  g_autofree char *number = NULL;

  adj_property_card_add (card, _ ("Class"), adj_opaque_get_type (opaque));
  for (guint i = 0; klass != NULL && i < klass->n_methods; i++)
    g_string_append_printf (methods, "%s%s", i > 0 ? "\n" : "", klass->methods[i].schema);
  if (klass != NULL)
    adj_property_card_add_text (card, klass->help, FALSE);
  if (run != NULL)
    add_run (card, run);
  else if (object != NULL)
    {
      adj_object_print (object, MAX_ELEMENTS, state);
      adj_property_card_add_text (card, state->str, TRUE);
    }
  if (methods->len > 0)
    {
      number = g_strdup_printf ("%u", klass->n_methods);
      adj_property_card_add (card, _ ("Methods"), number);
      adj_property_card_add_text (card, methods->str, TRUE);
    }
}

/* Links are named by what the node calls; equal names differ in their targets. */
static void
add_node_link (AdjPropertyCard *card, const AdjGraph *graph, const char *key, AdjNodeId id)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  g_autofree char *call = adj_object_call_print (graph, id.index);

  adj_property_card_add_link (card, key, call != NULL ? call : node->name, id, NULL);
}

static void
add_call (AdjPropertyCard *card, const AdjGraph *graph, const AdjObjectCallInfo *call)
{
  adj_property_card_add (card, _ ("Class"),
                         call->class_name != NULL ? call->class_name : _ ("not known"));
  adj_property_card_add (card, _ ("Method"), call->method_name);
  if (call->method != NULL)
    {
      adj_property_card_add_text (card, call->method->help, FALSE);
      adj_property_card_add_text (card, call->method->schema, TRUE);
    }
  add_node_link (card, graph, _ ("Object"), call->object);
}

void
adj_object_card_fill (AdjPropertyCard *card,
                      const AdjGraph *graph,
                      AdjNodeId id,
                      const AdjRunResult *result)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  AdjNodeId before = adj_graph_get_effect_before (graph, id.index);
  AdjNodeId after = adj_graph_get_effect_after (graph, id.index);
  AdjObjectCallInfo call;

  if (node->val.kind == ADJ_VALUE_OPAQUE_OBJECT && adj_opaque_get_type (node->val.object) != NULL)
    add_object (card, node->val.object, find_run (result, id));
  if (adj_object_call_find (graph, id.index, &call))
    add_call (card, graph, &call);
  if (adj_node_id_is_valid (before))
    add_node_link (card, graph, _ ("Effect before"), before);
  if (adj_node_id_is_valid (after))
    add_node_link (card, graph, _ ("Effect after"), after);
}
