/* SPDX-License-Identifier: MIT */
/* adjoint show: lists the graphs of a file, or prints one. */

#include <stdio.h>

#include "adj-command.h"
#include "analysis/adj-modules.h"
#include "base/adj-format-bytes.h"
#include "file-facts.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "kernel-list.h"
#include "plugins.h"
#include "watch.h"

extern const AdjCommand adj_command_show;

/* -- the list of a file -- */

static const char *
or_dash (const char *text)
{
  return text != NULL ? text : "–";
}

/* Prints kept runs separately from recorded calls. */
static void
print_runs (const AdjBundle *bundle)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);

  if (runs->len > 0)
    printf ("\n%-20s %-28s %-12s %-20s %6s  %s\n", "RUN", "GRAPH", "EXECUTOR", "INPUTS", "VALUES",
            "DATE");
  for (guint i = 0; i < runs->len; i++)
    {
      const AdjRecordedCall *run = runs->pdata[i];

      printf ("%-20s %-28s %-12s %-20s %6u  %s%s%s\n", run->origin->name, run->graph->id,
              or_dash (run->origin->executor), or_dash (run->origin->inputs),
              adj_run_get_n_values (bundle, run), or_dash (run->origin->date),
              run->origin->float64 ? ", float64" : "",
              adj_run_is_stale (run) ? ", of another graph than there is now" : "");
    }
}

/* "0-0-dynamo is called with autocast_cpu bf16, grad off" */
static void
print_thread_state (const AdjBundle *bundle)
{
  const char *separator = "\n";

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);
      AdjThreadSetting settings[ADJ_N_THREAD_SETTINGS];
      guint n =
          adj_thread_state_list_settings (adj_graph_get_thread_state (entry->graph), settings);

      for (guint k = 0; k < n; k++)
        {
          if (k == 0)
            printf ("%s%s is called with ", separator, entry->id);
          printf ("%s %s%s", settings[k].key, settings[k].word, k + 1 < n ? ", " : "\n");
          separator = "";
        }
    }
}

/* Prints the notes of a capture: what was not compiled or recorded, and why. */
static void
print_notes (const AdjBundle *bundle)
{
  const AdjDiags *diags = adj_bundle_get_diags (bundle);
  const char *separator = "\n";

  for (guint i = 0; i < adj_diags_get_n (diags); i++)
    if (adj_diags_get (diags, i)->severity == ADJ_SEVERITY_NOTE)
      {
        printf ("%s%s\n", separator, adj_diags_get (diags, i)->message);
        separator = "";
      }
}

static void
print_list (const AdjBundle *bundle)
{
  printf ("%-28s %-18s %12s %8s\n", "GRAPH", "ROLE", "PLACEHOLDERS", "NODES");
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);

      printf ("%-28s %-18s %12u %8u\n", entry->id, entry->role,
              adj_graph_get_n_inputs (entry->graph), adj_graph_get_n_calls (entry->graph));
    }
  print_thread_state (bundle);
  print_runs (bundle);
  adj_facts_print_list (bundle);
  print_notes (bundle);
  if (adj_bundle_get_description (bundle) != NULL)
    printf ("\n%s\n", adj_bundle_get_description (bundle));
}

static void
add_thread_state (JsonBuilder *builder, const AdjThreadState *thread_state)
{
  AdjThreadSetting settings[ADJ_N_THREAD_SETTINGS];
  guint n = adj_thread_state_list_settings (thread_state, settings);

  if (n == 0)
    return;
  json_builder_set_member_name (builder, "ambient");
  json_builder_begin_object (builder);
  for (guint i = 0; i < n; i++)
    adj_json_add_string_if_any (builder, settings[i].key, settings[i].word);
  json_builder_end_object (builder);
}

static void
add_run (JsonBuilder *builder, const AdjBundle *bundle, const AdjRecordedCall *run)
{
  const AdjRunOrigin *origin = run->origin;

  json_builder_begin_object (builder);
  adj_json_add_string_if_any (builder, "name", origin->name);
  adj_json_add_string_if_any (builder, "graph", run->graph->id);
  adj_json_add_string_if_any (builder, "producer", origin->producer);
  adj_json_add_string_if_any (builder, "executor", origin->executor);
  adj_json_add_boolean (builder, "float64", origin->float64);
  adj_json_add_string_if_any (builder, "inputs", origin->inputs);
  adj_json_add_string_if_any (builder, "date", origin->date);
  adj_json_add_int (builder, "values", adj_run_get_n_values (bundle, run));
  adj_json_add_boolean (builder, "graph_changed", adj_run_is_stale (run));
  json_builder_end_object (builder);
}

static void
add_notes (JsonBuilder *builder, const AdjDiags *diags)
{
  for (guint i = 0; i < adj_diags_get_n (diags); i++)
    if (adj_diags_get (diags, i)->severity == ADJ_SEVERITY_NOTE)
      json_builder_add_string_value (builder, adj_diags_get (diags, i)->message);
}

static void
print_list_json (const AdjBundle *bundle)
{
  JsonBuilder *builder = json_builder_new ();
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);

  json_builder_begin_object (builder);
  adj_json_add_string_if_any (builder, "description", adj_bundle_get_description (bundle));
  json_builder_set_member_name (builder, "graphs");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);

      json_builder_begin_object (builder);
      adj_json_add_string_if_any (builder, "id", entry->id);
      adj_json_add_string_if_any (builder, "role", entry->role);
      adj_json_add_string_if_any (builder, "title", entry->title);
      adj_json_add_int (builder, "placeholders", adj_graph_get_n_inputs (entry->graph));
      adj_json_add_int (builder, "nodes", adj_graph_get_n_calls (entry->graph));
      add_thread_state (builder, adj_graph_get_thread_state (entry->graph));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "notes");
  json_builder_begin_array (builder);
  add_notes (builder, adj_bundle_get_diags (bundle));
  json_builder_end_array (builder);
  adj_facts_add_list (builder, bundle);
  json_builder_set_member_name (builder, "runs");
  json_builder_begin_array (builder);
  for (guint i = 0; i < runs->len; i++)
    add_run (builder, bundle, runs->pdata[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* -- one graph -- */

static AdjExit
show_text (const AdjGraph *graph)
{
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);

  fputs (text, stdout);
  return ADJ_EXIT_DONE;
}

static AdjExit
show_dot (const AdjGraph *graph)
{
  g_autofree char *text = adj_graph_print_dot (graph);

  fputs (text, stdout);
  return ADJ_EXIT_DONE;
}

static AdjExit
show_json (const AdjGraph *graph)
{
  g_autofree char *text = adj_graph_print_json (graph);

  fputs (text, stdout);
  return ADJ_EXIT_DONE;
}

/* Consecutive nodes of one module are one branch; a module that is entered again is shown again. */
static AdjExit
show_tree (const AdjGraph *graph)
{
  const AdjModule *open_modules = NULL;
  guint n_open = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      guint n, same = 0;
      const AdjModule *modules = adj_graph_get_modules (graph, i, &n);

      while (same < n && same < n_open && g_str_equal (modules[same].path, open_modules[same].path))
        same++;
      for (guint k = same; k < n; k++)
        printf ("%*s%s (%s)\n", (int) k * 2, "", modules[k].path, modules[k].class_name);
      adj_node_print (graph, i, line);
      printf ("%*s%s\n", (int) n * 2, "", line->str);
      open_modules = modules;
      n_open = n;
    }
  return ADJ_EXIT_DONE;
}

typedef struct
{
  const char *target;
  guint n;
  guint64 bytes;
} TargetCount;

static gint
by_count (gconstpointer a, gconstpointer b)
{
  const TargetCount *x = *(TargetCount *const *) a, *y = *(TargetCount *const *) b;

  return x->n != y->n ? (x->n < y->n ? 1 : -1) : g_strcmp0 (x->target, y->target);
}

static GPtrArray *
count_targets (const AdjGraph *graph)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *sorted = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      TargetCount *count = g_hash_table_lookup (counts, node->target);

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      if (count == NULL)
        {
          count = g_new0 (TargetCount, 1);
          count->target = node->target;
          g_hash_table_insert (counts, (gpointer) node->target, count);
          g_ptr_array_add (sorted, count);
        }
      count->n++;
      if (node->val.kind == ADJ_VALUE_META)
        count->bytes += adj_tensor_meta_bytes (node->val.meta, adj_graph_get_symbols (graph));
    }
  g_ptr_array_sort (sorted, by_count);
  return sorted;
}

/* Prints the number of calls of each part of the step, and with each policy; nothing where all are
 * forward without a policy. */
static void
print_parts (const AdjGraph *graph)
{
  guint n_forward = 0, n_backward = 0, n_update = 0, policies[ADJ_N_RECOMPUTE] = { 0 };

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      policies[node->meta.recompute]++;
      if (adj_graph_is_update (graph, i))
        n_update++;
      else if (adj_graph_is_backward (graph, i))
        n_backward++;
      else
        n_forward++;
    }
  if (n_backward > 0)
    printf ("forward %u, backward %u", n_forward, n_backward);
  if (n_update > 0)
    printf (", update %u", n_update);
  if (n_backward > 0)
    printf ("\n");
  for (AdjRecompute i = ADJ_RECOMPUTE_NONE + 1; i < ADJ_N_RECOMPUTE; i++)
    if (policies[i] > 0)
      printf ("%s %u\n", adj_recompute_name (i), policies[i]);
}

static AdjExit
show_stats (const AdjGraph *graph)
{
  g_autoptr (GPtrArray) counts = count_targets (graph);
  g_autofree char *memory = adj_format_bytes (adj_graph_estimate_memory (graph, FALSE));

  printf ("placeholders %u, nodes %u, memory by liveness %s\n", adj_graph_get_n_inputs (graph),
          adj_graph_get_n_calls (graph), memory);
  print_parts (graph);
  printf ("\n");
  for (guint i = 0; i < counts->len; i++)
    {
      const TargetCount *count = counts->pdata[i];
      g_autofree char *bytes = adj_format_bytes (count->bytes);

      printf ("%6u  %10s  %s\n", count->n, bytes, count->target);
    }
  return ADJ_EXIT_DONE;
}

static const struct
{
  const char *name;
  AdjExit (*show) (const AdjGraph *graph);
} forms[] = {
  { "text", show_text }, { "tree", show_tree },   { "dot", show_dot },
  { "json", show_json }, { "stats", show_stats },
};

static AdjExit
show_as (const AdjGraph *graph, const char *form, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (g_str_equal (forms[i].name, form))
      return forms[i].show (graph);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "--as %s: there is text, tree, dot, json, stats",
               form);
  return ADJ_EXIT_BAD_INPUT;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_autofree char *form = NULL;
  g_autofree char *id = NULL;
  g_autofree char *fact = NULL;
  g_auto (AdjTarget) target = { 0 };
  gboolean json = FALSE, watch = FALSE, kernels = FALSE;
  GOptionEntry entries[] = {
    { "as", 0, 0, G_OPTION_ARG_STRING, &form, "text, tree, dot, json or stats", "FORM" },
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &id, "Which graph of the file", "ID" },
    { "fact", 0, 0, G_OPTION_ARG_STRING, &fact, "Print what the file says under NAME", "NAME" },
    { "kernels", 'k', 0, G_OPTION_ARG_NONE, &kernels, "List what Inductor made of the graph",
      NULL },
    { "watch", 'w', 0, G_OPTION_ARG_NONE, &watch, "List what comes while it is written", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print the list as JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_show, entries, 1, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (watch && (form != NULL || fact != NULL || id != NULL || json || kernels))
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                           "--watch lists graphs as they come, and goes with no other option");
      return ADJ_EXIT_BAD_INPUT;
    }
  if (watch)
    return adj_watch (argv[1], error);
  target.whole = form == NULL && !kernels;
  if (!adj_target_open (&target, argv[1], id, error))
    return ADJ_EXIT_BAD_INPUT;
  if (fact != NULL)
    return adj_facts_print (
        target.bundle, target.named ? adj_bundle_find_region (target.bundle, target.graph) : NULL,
        fact, error);
  if (kernels)
    return adj_kernels_print (target.bundle, target.graph, error);
  if (form != NULL)
    return show_as (target.graph->graph, form, error);
  if (target.named)
    return json ? show_json (target.graph->graph) : show_text (target.graph->graph);
  if (json)
    print_list_json (target.bundle);
  else
    print_list (target.bundle);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_show = {
  .name = "show",
  .usage = "FILE[#ID] [--as text|tree|dot|json|stats] [--fact NAME] [--kernels] [--watch]",
  .summary = "List the graphs of a file, or print one",
  .examples = "adjoint show step.adjoint\n"
              "adjoint show step.adjoint#joint --as text\n"
              "adjoint show trace-folder/ --json\n"
              "adjoint show trace-folder/ --watch\n"
              "adjoint show trace-folder/ --fact dynamo_graph_break_reason\n"
              "adjoint show trace-folder/#0-0-post_grad --kernels\n",
  .run = run,
};
