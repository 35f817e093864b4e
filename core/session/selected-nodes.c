/* SPDX-License-Identifier: MIT */
/* Some nodes of a graph alone: a graph of them, whose inputs are the values that they read of
 * others, run on those values of the whole graph. */

#include "analysis/adj-node-call.h"
#include "call/adj-schema.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "session/adj-session.h"

typedef struct
{
  const AdjGraph *graph;
  gboolean *selected;  /* (owned): by node */
  guint n_nodes;       /* up to the last selected */
  AdjBuilder *builder; /* (owned) */
  AdjNodeId *map;      /* (owned): node of the graph → node of the part */
  GArray *sources;     /* (owned): of AdjNodeId: whose values the inputs are */
} Selection;

static void
selection_clear (Selection *self)
{
  g_free (self->selected);
  g_clear_pointer (&self->builder, adj_builder_free);
  g_free (self->map);
  g_clear_pointer (&self->sources, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Selection, selection_clear)

static void
selection_init (Selection *self, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);

  *self = (Selection){ .graph = graph,
                       .selected = g_new0 (gboolean, n),
                       .builder = adj_builder_new_like (graph),
                       .map = g_new (AdjNodeId, n),
                       .sources = g_array_new (FALSE, FALSE, sizeof (AdjNodeId)) };
  for (guint i = 0; i < n; i++)
    self->map[i] = ADJ_NO_NODE;
}

/* -- which nodes -- */

static gboolean
is_pure_call (const AdjNode *node)
{
  const AdjPacket *packet = adj_node_find_packet (node);
  gboolean pure = packet != NULL || g_str_has_prefix (node->target, "operator.");

  if ((node->opcode != ADJ_OPCODE_CALL_FUNCTION && node->opcode != ADJ_OPCODE_CALL_METHOD) ||
      adj_node_may_write (node))
    return FALSE;
  if (node->op != NULL)
    return adj_op_is_pure (node->op);
  for (guint i = 0; packet != NULL && i < adj_packet_get_n_overloads (packet); i++)
    {
      const AdjOp *op = adj_packet_get_overload (packet, i);

      pure &= adj_op_is_pure (op) || adj_schema_mutates (adj_op_get_schema (op));
    }
  return pure;
}

static gboolean
select_node (Selection *self, const char *name, GError **error)
{
  AdjNodeId id = adj_graph_find_node (self->graph, name);

  if (id.index == ADJ_NO_NODE.index)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no node '%s'", name);
  else if (!is_pure_call (adj_graph_get_node (self->graph, id.index)))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "'%s' cannot run alone: it is not a call that depends on its arguments only",
                 name);
  else
    {
      self->selected[id.index] = TRUE;
      self->n_nodes = MAX (self->n_nodes, id.index + 1);
      return TRUE;
    }
  return FALSE;
}

/* A value that is written later is not the one that was read. */
static gboolean
check_writes (const Selection *self, GError **error)
{
  for (guint i = 0; i < self->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);

      if (!adj_node_may_write (node))
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "nodes cannot run alone after '%s', which writes to its argument", node->name);
      return FALSE;
    }
  return TRUE;
}

/* -- their graph -- */

/* Adds what @index is outside: an attribute, or an input. */
static gboolean
add_source (Selection *self, const AdjNode *reader, guint index, GError **error)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);

  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    {
      adj_builder_copy (self->builder, self->graph, index, self->map);
      return TRUE;
    }
  if (node->val.kind != ADJ_VALUE_META)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "'%s' reads '%s', which is not one tensor%s", reader->name, node->name,
                   is_pure_call (node) ? ": select it, too" : "");
      return FALSE;
    }
  self->map[index] =
      adj_builder_add (self->builder, &(AdjNodeSpec){ .name = node->name,
                                                      .opcode = ADJ_OPCODE_PLACEHOLDER,
                                                      .target = node->name,
                                                      .val = node->val,
                                                      .origin = { index } });
  g_array_append_val (self->sources, ((AdjNodeId[]){ { index } })[0]);
  return TRUE;
}

static gboolean
add_sources (Selection *self, GError **error)
{
  for (guint i = 0; i < self->n_nodes; i++)
    for (guint k = 0; self->selected[i] && k < adj_graph_get_node (self->graph, i)->n_inputs; k++)
      {
        const AdjNode *node = adj_graph_get_node (self->graph, i);
        guint from = node->inputs[k].index;

        if (!self->selected[from] && self->map[from].index == ADJ_NO_NODE.index &&
            !add_source (self, node, from, error))
          return FALSE;
      }
  return TRUE;
}

/* Whether a node that is not selected reads @node, or none does. */
static gboolean
is_read_outside (const Selection *self, const AdjNode *node)
{
  for (guint i = 0; i < node->n_users; i++)
    if (!self->selected[node->users[i].index])
      return TRUE;
  return node->n_users == 0;
}

/* (transfer full) (nullable): the selected nodes; it returns those that others read. */
static AdjGraph *
make_part (Selection *self, GError **error)
{
  g_autoptr (GArray) results = adj_value_array_new ();
  AdjValue returned;

  if (!add_sources (self, error))
    return NULL;
  for (guint i = 0; i < self->n_nodes; i++)
    {
      AdjValue result;

      if (!self->selected[i])
        continue;
      adj_builder_copy (self->builder, self->graph, i, self->map);
      result = ADJ_NODE (self->map[i]);
      if (is_read_outside (self, adj_graph_get_node (self->graph, i)))
        g_array_append_val (results, result);
    }
  returned =
      adj_value_new_items (ADJ_VALUE_TUPLE, (AdjValue *) (gpointer) results->data, results->len);
  adj_builder_output (self->builder, &returned);
  adj_value_clear (&returned);
  return adj_builder_seal (self->builder, error);
}

/* -- running -- */

/* Appends the values of the sources to @inputs. */
static gboolean
find_values (const Selection *self, GHashTable *values, GArray *inputs, GError **error)
{
  for (guint i = 0; i < self->sources->len; i++)
    {
      AdjNodeId id = g_array_index (self->sources, AdjNodeId, i);
      const char *name = adj_graph_get_node (self->graph, id.index)->name;
      AdjTensorData *data = g_hash_table_lookup (values, name);
      AdjValue input;

      if (data == NULL)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED, "'%s' has no value here", name);
          return FALSE;
        }
      input = ADJ_DATA (adj_tensor_data_ref (data));
      g_array_append_val (inputs, input);
    }
  return TRUE;
}

/* (transfer full) (nullable): name → value of all nodes, by the interpreter. */
static GHashTable *
run_whole (const AdjSessionRun *run, GCancellable *cancellable, GError **error)
{
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  AdjSessionRun whole = *run;
  AdjRunResult result = { 0 };

  whole.executor = NULL;
  whole.gpu = NULL;
  whole.float64 = FALSE;
  if (!adj_session_run (&whole, &result, values, cancellable, error))
    return NULL;
  adj_run_result_clear (&result);
  return g_steal_pointer (&values);
}

gboolean
adj_session_run_nodes (const AdjSessionRun *run,
                       const char *const *nodes,
                       AdjGraph **part,
                       AdjRunResult *result,
                       GCancellable *cancellable,
                       GError **error)
{
  g_auto (Selection) selection = { 0 };
  g_autoptr (GHashTable) values = NULL;
  g_autoptr (GArray) inputs = adj_value_array_new ();
  g_autoptr (AdjGraph) graph = NULL;
  AdjBundleGraph entry = *run->graph;
  AdjSessionRun alone = *run;

  g_return_val_if_fail (nodes != NULL && nodes[0] != NULL, FALSE);

  selection_init (&selection, run->graph->graph);
  for (; *nodes != NULL; nodes++)
    if (!select_node (&selection, *nodes, error))
      return FALSE;
  if (!check_writes (&selection, error) || (graph = make_part (&selection, error)) == NULL ||
      (values = run_whole (run, cancellable, error)) == NULL ||
      !find_values (&selection, values, inputs, error))
    return FALSE;
  g_array_set_size (inputs, MAX (inputs->len, 1)); /* no inputs are given ones, too */
  entry.graph = graph;
  alone.graph = &entry;
  alone.inputs = (const AdjValue *) (gpointer) inputs->data;
  alone.n_inputs = selection.sources->len;
  if (!adj_session_run (&alone, result, NULL, cancellable, error))
    return FALSE;
  *part = g_steal_pointer (&graph);
  return TRUE;
}
