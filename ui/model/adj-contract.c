/* SPDX-License-Identifier: MIT */
/* A task that traces a graph and keeps the metadata of its calling convention. */

#include "model/adj-contract.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "aot/adj-aot.h"
#include "ir/adj-graph.h"

static void
row_free (gpointer data)
{
  AdjContractRow *row = data;

  g_free (row->name);
  g_free (row->text);
  g_free (row->rule);
  g_free (row->why);
  g_free (row);
}

void
adj_contract_free (AdjContract *contract)
{
  g_ptr_array_unref (contract->rows);
  g_ptr_array_unref (contract->tape);
  g_free (contract);
}

/* Takes ownership of @name, @text and @rule. */
static void
add_row (GPtrArray *rows, char *name, char *text, char *rule, const char *why, AdjNodeId node)
{
  AdjContractRow *row = g_new (AdjContractRow, 1);

  *row = (AdjContractRow){ name, text, rule, g_strdup (why), node };
  g_ptr_array_add (rows, row);
}

/* -- the metadata -- */

static void
add_inputs (GPtrArray *rows, const AdjAotMetadata *metadata, const AdjGraph *graph)
{
  for (guint i = 0; i < metadata->n_inputs; i++)
    {
      AdjNodeId node =
          i < adj_graph_get_n_inputs (graph) ? adj_graph_get_input (graph, i) : ADJ_NO_NODE;
      const char *name =
          adj_node_id_is_valid (node) ? adj_graph_get_node (graph, node.index)->name : "";

      add_row (rows, g_strdup_printf (_ ("input %u · %s"), i, name),
               adj_aot_metadata_explain_input (metadata, i), g_strdup ("rule 2.3"), "", node);
    }
}

static void
add_outputs (GPtrArray *rows, const AdjAotMetadata *metadata, const AdjGraph *graph)
{
  const AdjValue *items =
      &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];

  for (guint i = 0; i < metadata->n_outputs; i++)
    {
      const AdjAotOutput *output = &metadata->outputs[i];
      AdjNodeId node =
          adj_value_is_container (items) && i < items->n && items->items[i].kind == ADJ_VALUE_NODE
              ? items->items[i].node
          : items->kind == ADJ_VALUE_NODE && i == 0 ? items->node
                                                    : ADJ_NO_NODE;
      const char *name =
          adj_node_id_is_valid (node) ? adj_graph_get_node (graph, node.index)->name : "";

      add_row (rows, g_strdup_printf (_ ("output %u · %s"), i, name),
               adj_aot_metadata_explain_output (metadata, i),
               g_strdup_printf ("rule 2.4-%s", output->rule != NULL ? output->rule : ""),
               adj_output_rule_explain (output->rule), node);
    }
  for (guint i = 0; i < metadata->n_bases; i++)
    add_row (rows, g_strdup_printf (_ ("base %u"), i),
             g_strdup (_ ("is returned behind the outputs, for the views that are made of it")),
             g_strdup ("rule 2.4"), "", ADJ_NO_NODE);
}

static void
add_tangents (GPtrArray *rows, const AdjAotMetadata *metadata)
{
  for (guint i = 0; i < metadata->n_tangents; i++)
    {
      GString *text = g_string_new (_ ("the backward gets "));

      adj_tensor_meta_print (&metadata->tangents[i], NULL, text);
      add_row (rows, g_strdup_printf (_ ("tangent %u"), i), g_string_free (text, FALSE),
               g_strdup ("rule 2.5"), "", ADJ_NO_NODE);
    }
}

/* -- the tape -- */

static void
on_event (const AdjTapeEvent *event, gpointer data)
{
  GPtrArray *tape = ((AdjContract *) data)->tape;

  if (event == NULL)
    {
      g_ptr_array_set_size (tape, 0);
      return;
    }
  add_row (tape, g_strdup_printf (_ ("storage %u"), event->storage), adj_tape_describe (event),
           g_strdup_printf (_ ("generation %" G_GUINT64_FORMAT ", %u queued"), event->generation,
                            event->n_queued),
           "", ADJ_NO_NODE);
}

static gpointer
find (AdjTask *task, GCancellable *cancellable, GError **error)
{
  AdjGraph *graph = adj_task_get_input (task);
  AdjContract *contract = g_new0 (AdjContract, 1);
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  const AdjAotObserver observer = { .tape = on_event, .data = contract };
  g_autoptr (AdjAotGraph) aot = NULL;
  const AdjAotMetadata *metadata;

  contract->rows = g_ptr_array_new_with_free_func (row_free);
  contract->tape = g_ptr_array_new_with_free_func (row_free);
  aot = adj_aot_trace_graph (graph, &options, &observer, error);
  if (aot == NULL)
    {
      adj_contract_free (contract);
      return NULL;
    }
  metadata = adj_aot_graph_get_user_metadata (aot);
  add_inputs (contract->rows, metadata, graph);
  add_outputs (contract->rows, metadata, graph);
  add_tangents (contract->rows, adj_aot_graph_get_metadata (aot));
  return contract;
}

AdjTask *
adj_contract_start (GObject *owner, AdjGraph *graph, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, find, adj_graph_ref (graph),
                         (GDestroyNotify) adj_graph_unref, (GDestroyNotify) adj_contract_free,
                         done);
}
