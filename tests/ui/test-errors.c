/* SPDX-License-Identifier: MIT */

/* Each row of the error catalogue that a graph can raise: tracing selects the blamed node, and
 * so does opening a recording with the failed stage, whose failure is in the log. */

#include <gio/gio.h>
#include <string.h>

#include "adjoint.h"
#include "aot/case.h"
#include "model/adj-log.h"
#include "model/adj-stages.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

/* Lists the selected nodes, "mul_, add", the focused one first. */
static char *
list_selected (AdjDocument *document)
{
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  GArray *chosen = adj_document_get_chosen (document);
  GString *names = g_string_new (NULL);

  if (chosen == NULL && adj_node_id_is_valid (adj_document_get_selected (document)))
    g_string_append (names,
                     adj_graph_get_node (graph, adj_document_get_selected (document).index)->name);
  for (guint i = chosen != NULL ? chosen->len : 0; i-- > 0;)
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                            adj_graph_get_node (graph, g_array_index (chosen, guint32, i))->name);
  return g_string_free (names, FALSE);
}

static void
check_problem (const Case *c, AdjDocument *document)
{
  g_autofree char *end = g_strdup_printf ("[aot: %s]", c->name);
  g_autofree char *selected = list_selected (document);
  guint graph;
  AdjNodeId node;
  const GError *problem = adj_document_get_problem (document, &graph, &node);

  g_assert_nonnull (problem);
  g_assert_true (g_str_has_suffix (problem->message, end));
  g_assert_cmpuint (graph, ==, adj_document_get_graph_index (document));
  g_assert_cmpstr (selected, ==, c->nodes);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, node.index);
}

static void
traced (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *text = case_print_graph (c);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (AdjDocument) source = adj_document_new ();
  g_autoptr (AdjDocument) document = adj_document_new ();

  adj_document_open_text (source, bytes);
  adj_wait_for (source);
  g_assert_no_error (adj_document_get_error (source));
  adj_document_open_trace (document, source, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_true (adj_document_get_blamed (document) == source);
  check_problem (c, source);
}

/* Writes a recording of passes up to the one that fails. */
static void
write_recording (const Case *c, const char *path)
{
  g_autofree char *text = case_print_graph (c);
  g_autofree char *steps = g_strconcat ("dce,", c->steps != NULL ? c->steps : "joint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  const AdjPipelineOptions options = { .steps = steps };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) bundle = NULL;

  g_assert_no_error (error);
  g_assert_true (adj_pipeline_run (graph, "user", &options, &result, NULL, &error));
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
}

static guint
count_in_log (AdjDocument *document, const char *text)
{
  GListModel *log = G_LIST_MODEL (adj_document_get_log (document));
  guint count = 0;

  for (guint i = 0; i < g_list_model_get_n_items (log); i++)
    {
      g_autoptr (AdjLogItem) line = g_list_model_get_item (log, i);

      count += adj_log_item_get_kind (line) == ADJ_LOG_PROBLEM &&
               strstr (adj_log_item_get_text (line), text) != NULL;
    }
  return count;
}

static void
opened (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "failed.adjoint", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autofree char *end = g_strdup_printf ("[aot: %s]", c->name);

  write_recording (c, path);
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  g_assert_cmpint (adj_stages_get_current (document), ==, 2);
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "dce");
  check_problem (c, document);
  g_assert_cmpuint (count_in_log (document, end), ==, 1);

  /* Steps away and back: a failure is a stage like others. */
  adj_stages_step (document, -1);
  adj_wait_for (document);
  g_assert_cmpint (adj_stages_get_current (document), ==, 1);
  adj_stages_step (document, -1);
  adj_wait_for (document);
  g_assert_cmpint (adj_stages_get_current (document), ==, 0);
  adj_stages_show (document, 2);
  adj_wait_for (document);
  check_problem (c, document);
  g_assert_false (adj_stages_can_step (document, 1));
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) cases = NULL;

  g_test_init (&argc, &argv, NULL);
  cases = cases_load ("errors.txt");
  for (guint i = 0; i < cases->len; i++)
    {
      const Case *c = cases->pdata[i];
      g_autofree char *by_trace = g_strdup_printf ("/ui/errors/%s/traced", c->name);
      g_autofree char *by_file = g_strdup_printf ("/ui/errors/%s/opened", c->name);

      if (!c->is_graph)
        continue;
      if (c->steps == NULL)
        g_test_add_data_func (by_trace, c, traced);
      g_test_add_data_func (by_file, c, opened);
    }
  return g_test_run ();
}
