/* SPDX-License-Identifier: MIT */
/* What became of the objects that a run was given. */

#include "call/adj-object-call-internal.h"
#include "exec/run-objects-private.h"
#include "ir/adj-graph.h"

/* What the node @index gives, if it is an object that can be called: an input or an attribute. */
static AdjObject *
find_object (const AdjRunRequest *request, guint index, guint *n_inputs)
{
  const AdjNode *node = adj_graph_get_node (request->graph, index);
  const AdjValue *value = NULL;
  AdjObject *object;

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER && *n_inputs < request->n_inputs)
    value = &request->inputs[(*n_inputs)++];
  else if (node->opcode == ADJ_OPCODE_GET_ATTR)
    value = adj_graph_find_attr (request->graph, node->target);
  if (value == NULL || value->kind != ADJ_VALUE_OPAQUE_OBJECT)
    return NULL;
  object = adj_object_from_opaque (value->object);
  return object != NULL && adj_object_is_live (object) ? object : NULL;
}

static gboolean
is_known (const GArray *objects, const AdjObject *object)
{
  for (guint i = 0; i < objects->len; i++)
    if (g_array_index (objects, AdjRunObject, i).before == object)
      return TRUE;
  return FALSE;
}

void
run_objects_note (AdjContext *cx, const AdjRunRequest *request, AdjRunResult *result)
{
  g_autoptr (GArray) objects = g_array_new (FALSE, FALSE, sizeof (AdjRunObject));
  guint n_inputs = 0;

  for (guint i = 0; i < result->n_nodes; i++)
    {
      AdjObject *object = find_object (request, i, &n_inputs);
      AdjRunObject entry = { { i }, object, object };

      if (object == NULL || is_known (objects, object))
        continue;
      entry.after = adj_context_find_object_copy (cx, object);
      adj_opaque_ref (&entry.before->parent);
      adj_opaque_ref (&entry.after->parent);
      g_array_append_val (objects, entry);
    }
  result->n_objects = objects->len;
  result->objects = (gpointer) g_array_free (g_steal_pointer (&objects), FALSE);
}
