/* SPDX-License-Identifier: MIT */
/* adjoint check: findings, each with its nodes and, where it can be run, the effect. */

#include <stdio.h>

#include "adj-warnings.h"
#include "finding-run.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"

extern const AdjCommand adj_command_check;

/* The source line of the first node that has one. */
static const AdjFrame *
find_frame (const AdjFinding *finding)
{
  for (guint i = 0; i < finding->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (finding->graph, finding->nodes[i].index);

      if (node->meta.n_frames > 0)
        return &node->meta.frames[node->meta.n_frames - 1];
    }
  return NULL;
}

static void
print_finding (const char *path, const AdjBundle *bundle, const AdjFinding *finding)
{
  const AdjFrame *frame = find_frame (finding);

  printf ("%s#%s: %s: %s [%s]\n", path, adj_bundle_find_entry (bundle, finding->graph)->id,
          finding->check->summary, finding->message, finding->check->name);
  if (frame != NULL)
    printf ("    %s:%u: %s\n", frame->file, frame->line, frame->code);
}

static void
add_finding (JsonBuilder *builder, const AdjBundle *bundle, const AdjFinding *finding)
{
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "check", finding->check->name);
  adj_json_add_string (builder, "graph", adj_bundle_find_entry (bundle, finding->graph)->id);
  adj_json_add_string (builder, "message", finding->message);
  json_builder_set_member_name (builder, "nodes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < finding->n_nodes; i++)
    json_builder_add_string_value (
        builder, adj_graph_get_node (finding->graph, finding->nodes[i].index)->name);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
print_json (const AdjBundle *bundle, const AdjFindings *findings)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "findings");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    add_finding (builder, bundle, adj_findings_get (findings, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static void
print_checks (void)
{
  for (guint i = 0; i < adj_checks_get_n (); i++)
    {
      const AdjCheck *check = adj_checks_get (i);

      printf ("%s: %s (PyTorch %s)\n\n%s\n\n", check->name, check->summary, check->versions,
              check->explain);
    }
}

static void
print_run (const AdjBundle *bundle, const AdjFinding *finding)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sentence = adj_finding_run (bundle, finding, &error);

  if (sentence != NULL || error != NULL)
    printf ("    %s\n", sentence != NULL ? sentence : error->message);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjFindings) findings = NULL;
  gboolean json = FALSE, list = FALSE, runs = FALSE;
  guint n;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    { "run", 0, 0, G_OPTION_ARG_NONE, &runs,
      "Run what was found on what was recorded: how far are the two values apart?", NULL },
    { "list", 0, 0, G_OPTION_ARG_NONE, &list, "Say what is looked for", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_check, entries, 0, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (list)
    {
      print_checks ();
      return ADJ_EXIT_DONE;
    }
  if (argc < 2)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "usage: adjoint check %s",
                   adj_command_check.usage);
      return ADJ_EXIT_BAD_INPUT;
    }
  target.bundle = plugins_load_bundle (argv[1], error);
  if (target.bundle == NULL)
    return ADJ_EXIT_BAD_INPUT;
  adj_warnings_note (argv[1], adj_bundle_get_diags (target.bundle));
  findings = adj_bundle_check (target.bundle, NULL, NULL);
  n = adj_findings_get_n (findings);
  if (json)
    print_json (target.bundle, findings);
  else
    {
      for (guint i = 0; i < n; i++)
        {
          print_finding (argv[1], target.bundle, adj_findings_get (findings, i));
          if (runs)
            print_run (target.bundle, adj_findings_get (findings, i));
        }
      printf ("%u checks, %u %s\n", adj_checks_get_n (), n, n == 1 ? "finding" : "findings");
    }
  return n > 0 ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}

const AdjCommand adj_command_check = {
  .name = "check",
  .usage = "FILE",
  .summary = "Look for known ways in which a compiler makes graphs silently wrong",
  .examples = "adjoint check step.adjoint\n"
              "adjoint check --run step.adjoint\n"
              "adjoint check --list\n",
  .run = run,
};
