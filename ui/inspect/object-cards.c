/* SPDX-License-Identifier: MIT */
/* The card of opaque objects and of calls of their methods. */

#include "inspect/object-cards.h"

#include <glib/gi18n.h>

#include "ir/adj-opaque.h"
#include "objects/adj-object-text.h"
#include "passes/adj-effects.h"
#include "report/adj-properties.h"

/* Class, methods and state of an object. */
static void
add_object (AdjPropertyCard *card, AdjOpaque *opaque)
{
  AdjObject *object = adj_object_from_opaque (opaque);
  const AdjObjectClass *klass = object != NULL ? adj_object_get_class (object) : NULL;
  g_autoptr (GString) methods = g_string_new (NULL), state = g_string_new (NULL);

  adj_property_card_add (card, _ ("Class"), adj_opaque_get_type (opaque));
  for (guint i = 0; klass != NULL && i < klass->n_methods; i++)
    g_string_append_printf (methods, "%s%s", i > 0 ? "\n" : "", klass->methods[i].schema);
  if (klass != NULL)
    adj_property_card_add_text (card, klass->help, FALSE);
  if (methods->len > 0)
    adj_property_card_add_text (card, methods->str, TRUE);
  if (object != NULL)
    {
      adj_object_print (object, 12, state);
      adj_property_card_add_text (card, state->str, TRUE);
    }
}

static void
add_node_link (AdjPropertyCard *card, const AdjGraph *graph, const char *key, AdjNodeId id)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  g_autofree char *call = adj_object_call_print (graph, id.index);

  adj_property_card_add_link (card, key, node->name, id, call);
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
adj_object_card_fill (AdjPropertyCard *card, const AdjGraph *graph, AdjNodeId id)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  AdjNodeId before = adj_graph_get_effect_before (graph, id.index);
  AdjNodeId after = adj_graph_get_effect_after (graph, id.index);
  AdjObjectCallInfo call;

  if (node->val.kind == ADJ_VALUE_OPAQUE_OBJECT && adj_opaque_get_type (node->val.object) != NULL)
    add_object (card, node->val.object);
  if (adj_object_call_find (graph, id.index, &call))
    add_call (card, graph, &call);
  if (adj_node_id_is_valid (before))
    add_node_link (card, graph, _ ("Effect before"), before);
  if (adj_node_id_is_valid (after))
    add_node_link (card, graph, _ ("Effect after"), after);
}
