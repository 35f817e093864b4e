/* SPDX-License-Identifier: MIT */
/* Objects that a run was given, with their state afterwards. */

#include "call/adj-object-call-internal.h"
#include "exec/run-objects-private.h"
#include "ir/adj-graph.h"

typedef struct
{
  AdjContext *cx;
  const AdjRunRequest *request;
  GArray *objects;   /* AdjRunObject */
  GHashTable *known; /* AdjObject */
} Search;

static void
note (Search *search, const AdjValue *value, guint index)
{
  AdjObject *object = value != NULL && value->kind == ADJ_VALUE_OPAQUE_OBJECT
                          ? adj_object_from_opaque (value->object)
                          : NULL;
  AdjRunObject entry = { .node = { index } };

  if (object == NULL || !adj_object_is_live (object) || !g_hash_table_add (search->known, object))
    return;
  entry.before = adj_context_dup_object_given (search->cx, object);
  entry.after = adj_context_find_object_copy (search->cx, object);
  adj_opaque_ref (&entry.after->parent);
  g_array_append_val (search->objects, entry);
}

/* Notes the attributes of @graph and of its subgraphs.  @outer: the node in the run's graph that
 * holds @graph; G_MAXUINT: @graph is that graph, and the node is @index. */
static void
note_attribute (Search *search, const AdjGraph *graph, guint index, guint outer)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const AdjGraph *called = adj_graph_find_subgraph (graph, node->target);
  guint seen = outer != G_MAXUINT ? outer : index;

  note (search, adj_graph_find_attr (graph, node->target), seen);
  for (guint i = 0; called != NULL && i < adj_graph_get_n_nodes (called); i++)
    if (adj_graph_get_node (called, i)->opcode == ADJ_OPCODE_GET_ATTR)
      note_attribute (search, called, i, seen);
}

void
run_objects_note (AdjContext *cx, const AdjRunRequest *request, AdjRunResult *result)
{
  g_autoptr (GArray) objects = g_array_new (FALSE, FALSE, sizeof (AdjRunObject));
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  Search search = { cx, request, objects, known };
  guint n_inputs = 0;

  for (guint i = 0; i < result->n_nodes; i++)
    {
      AdjOpcode opcode = adj_graph_get_node (request->graph, i)->opcode;

      if (opcode == ADJ_OPCODE_PLACEHOLDER && n_inputs < request->n_inputs)
        note (&search, &request->inputs[n_inputs++], i);
      else if (opcode == ADJ_OPCODE_GET_ATTR)
        note_attribute (&search, request->graph, i, G_MAXUINT);
    }
  result->n_objects = objects->len;
  result->objects = (gpointer) g_array_free (g_steal_pointer (&objects), FALSE);
}
