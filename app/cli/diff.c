/* SPDX-License-Identifier: MIT */
/* adjoint diff: the structural difference of two graphs. */

#include <stdio.h>

#include "adj-command.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"

extern const AdjCommand adj_command_diff;

static void
print_statement (char sign, const AdjGraph *graph, AdjNodeId id)
{
  g_autoptr (GString) text = g_string_new (NULL);

  adj_node_print (graph, id.index, text);
  printf ("%c %s\n", sign, text->str);
}

static void
print_change (const AdjGraph *a, const AdjGraph *b, const AdjChange *change)
{
  if (change->kind == ADJ_CHANGE_CHANGED)
    printf ("~ %s: %s\n", adj_graph_get_node (b, change->b.index)->name, change->reason);
  if (change->kind == ADJ_CHANGE_REMOVED || change->kind == ADJ_CHANGE_CHANGED)
    print_statement ('-', a, change->a);
  if (change->kind == ADJ_CHANGE_ADDED || change->kind == ADJ_CHANGE_CHANGED)
    print_statement ('+', b, change->b);
}

static void
add_node (JsonBuilder *builder, const char *member, const AdjGraph *graph, AdjNodeId id)
{
  if (!adj_node_id_is_valid (id))
    return;
  adj_json_add_string (builder, member, adj_graph_get_node (graph, id.index)->name);
}

static void
print_json (const AdjGraph *a, const AdjGraph *b, const AdjAlignment *alignment)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  adj_json_add_int (builder, "same", alignment->n_same);
  json_builder_set_member_name (builder, "changes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_NONE)
        continue;
      json_builder_begin_object (builder);
      add_node (builder, "a", a, change->a);
      add_node (builder, "b", b, change->b);
      adj_json_add_string (builder, "reason", change->reason);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static void
print_text (const AdjGraph *a, const AdjGraph *b, const AdjAlignment *alignment)
{
  for (guint i = 0; i < alignment->n_changes; i++)
    print_change (a, b, &alignment->changes[i]);
  printf ("%u same, %u added, %u removed, %u changed\n", alignment->n_same, alignment->n_added,
          alignment->n_removed, alignment->n_changed);
}

/* --modulo aot: normalises how PyTorch happened to write a graph. */
static AdjGraph *
normalise (AdjGraph *graph, GError **error)
{
  static const char *const passes[] = { "normalise", "dce" };

  adj_graph_ref (graph);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      AdjPassResult result;
      gboolean done = adj_pass_run (adj_pass_find (passes[i], NULL), NULL, graph, &result, error);

      adj_graph_unref (graph);
      if (!done)
        return NULL;
      graph = adj_graph_ref (result.graph);
      adj_pass_result_clear (&result);
    }
  return graph;
}

static gboolean
choose_graph (const AdjTarget *target, const char *modulo, AdjGraph **out, GError **error)
{
  if (modulo == NULL)
    *out = adj_graph_ref (target->graph->graph);
  else if (g_str_equal (modulo, "aot"))
    *out = normalise (target->graph->graph, error);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "--modulo knows 'aot', not '%s'", modulo);
  return *out != NULL;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) a = { 0 };
  g_auto (AdjTarget) b = { 0 };
  g_autoptr (AdjGraph) graph_a = NULL;
  g_autoptr (AdjGraph) graph_b = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;
  g_autofree char *modulo = NULL;
  gboolean json = FALSE;
  GOptionEntry entries[] = {
    { "modulo", 0, 0, G_OPTION_ARG_STRING, &modulo,
      "What does not count: aot (how PyTorch happened to write it)", "WHAT" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_diff, entries, 2, 2, &argc, &argv, error) ||
      !adj_target_open (&a, argv[1], NULL, error) || !adj_target_open (&b, argv[2], NULL, error) ||
      !choose_graph (&a, modulo, &graph_a, error) || !choose_graph (&b, modulo, &graph_b, error))
    return ADJ_EXIT_BAD_INPUT;
  alignment = adj_graph_align (graph_a, graph_b);
  if (json)
    print_json (graph_a, graph_b, alignment);
  else
    print_text (graph_a, graph_b, alignment);
  return alignment->n_added + alignment->n_removed + alignment->n_changed > 0 ? ADJ_EXIT_DIFFERENT
                                                                              : ADJ_EXIT_DONE;
}

const AdjCommand adj_command_diff = {
  .name = "diff",
  .usage = "A[#ID] B[#ID]",
  .summary = "Show where two graphs differ in structure, aligned node by node",
  .examples = "adjoint diff before.adjoint#joint after.adjoint#joint\n",
  .run = run,
};
