/* SPDX-License-Identifier: MIT */

/* The contract page, what compilation preserves of calls: numbered rules, and the tape of
 * writes. */

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-contract.h"
#include "ops/adj-ops.h"
#include "stages/adj-contract-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static const char function[] = "class GraphModule(torch.nn.Module):\n"
                               "    def forward(self, x: \"f32[4, 3]\", y: \"f32[4, 3]\"):\n"
                               "        row: \"f32[3]\" = torch.select(x, 0, 1)\n"
                               "        sin: \"f32[3]\" = torch.sin(row)\n"
                               "        mul_: \"f32[3]\" = row.mul_(2)\n"
                               "        t: \"f32[3, 4]\" = torch.t(y)\n"
                               "        cos: \"f32[4, 3]\" = torch.cos(x)\n"
                               "        return (cos, t, y, sin)\n";

static void
on_done (GObject *source, GAsyncResult *result, gpointer data)
{
  g_object_set_data (source, "contract", adj_task_finish (result, NULL));
}

static gboolean
is_there (gpointer owner)
{
  return g_object_get_data (owner, "contract") != NULL;
}

static AdjGraph *
parse (void)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (function, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static void
assert_row (
    const GPtrArray *rows, guint index, const char *name, const char *rule, const char *text)
{
  const AdjContractRow *row;

  g_assert_cmpuint (index, <, rows->len);
  row = rows->pdata[index];
  g_assert_cmpstr (row->name, ==, name);
  g_assert_cmpstr (row->rule, ==, rule);
  g_assert_cmpstr (row->text, ==, text);
}

/* One row written through a view: two generations of that storage only. */
static void
test_rows (void)
{
  g_autoptr (GObject) owner = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (AdjGraph) graph = parse ();
  g_autoptr (AdjTask) task = adj_contract_start (owner, graph, on_done);
  AdjContract *contract;

  g_assert_true (adj_wait_until (is_there, owner, 60));
  contract = g_object_get_data (owner, "contract");
  for (guint i = 0; i < contract->rows->len; i++)
    {
      const AdjContractRow *row = contract->rows->pdata[i];

      g_test_message ("%s | %s | %s | %s", row->name, row->text, row->rule, row->why);
    }
  for (guint i = 0; i < contract->tape->len; i++)
    {
      const AdjContractRow *row = contract->tape->pdata[i];

      g_test_message ("%s | %s | %s", row->name, row->text, row->rule);
    }
  assert_row (contract->rows, 0, "input 0 · x", "rule 2.3",
              "is written by the last nodes of the graph, since autograd does not follow it, and "
              "its sizes stayed");
  assert_row (contract->rows, 1, "input 1 · y", "rule 2.3", "is read alone");
  assert_row (contract->rows, 2, "output 0 · cos", "rule 2.4-7",
              "is a value of its own: returned as it is");
  assert_row (contract->rows, 3, "output 1 · t", "rule 2.4-3c",
              "is a view of input 1: every call makes it again of the live one");
  assert_row (contract->rows, 4, "output 2 · y", "rule 2.4-3b",
              "is input 1 itself: every call returns the live one");
  assert_row (contract->tape, 0, "storage 1", "generation 1, 1 queued",
              "mul is the new value of its view (select): queued");
  assert_row (contract->tape, 1, "storage 1", "generation 1, 0 queued",
              "the write goes into the base: select_scatter now");
  g_assert_cmpuint (contract->tape->len, >=, 4);
  adj_contract_free (contract);
}

static gboolean
has_rows (gpointer page)
{
  return adj_walk_find (page, GTK_TYPE_LABEL, "Writes That Became Values") != NULL &&
         adj_walk_find (page, GTK_TYPE_LABEL, "output 1 · t") != NULL;
}

/* In the window: the trace starts when the page is shown, and a row leads to its node. */
static void
test_page (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "writes.txt", NULL);
  GtkWidget *page;

  g_assert_true (g_file_set_contents (path, function, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_window_show_page (window, "contract");
  adj_walk_settle (window);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CONTRACT_PAGE);
  g_assert_nonnull (page);
  g_assert_true (adj_wait_until (has_rows, page, 60));
  adj_walk_keep (window, "contract");
  g_signal_emit_by_name (adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL), "activate", 3);
  adj_walk_settle (window);
  g_assert_cmpuint (
      adj_document_get_selected (adj_window_get_document (window)).index, ==,
      adj_graph_find_node (adj_document_get_graph (adj_window_get_document (window))->graph, "t")
          .index);
  adj_walk_close (window);
}

static gboolean
has_title (gpointer page)
{
  return adj_walk_find (page, GTK_TYPE_LABEL,
                        "What Every Call Takes and Returns; Nothing Is Written in Place") != NULL;
}

/* A function without writes has the page for its calls. */
static void
test_no_writes (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "dynamo");
  GtkWidget *page;

  adj_window_show_page (window, "contract");
  adj_walk_settle (window);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CONTRACT_PAGE);
  g_assert_true (adj_wait_until (has_title, page, 60));
  adj_walk_settle (window);
  g_assert_cmpint (gtk_widget_get_width (adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL)), ==,
                   gtk_widget_get_width (page));
  adj_walk_keep (window, "contract-no-writes");
  adj_walk_close (window);
}

/* A graph that is already compiled has no information about its function. */
static void
test_nothing (void)
{
  AdjWindow *window =
      adj_walk_open_graph (application, "graphs/gpt2-hooks.adjoint", "compiled_autograd");

  adj_window_show_page (window, "contract");
  adj_walk_settle (window);
  g_assert_nonnull (
      adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "The Captured Function Is Not Here"));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/contract/rows", test_rows);
  g_test_add_func ("/contract/page", test_page);
  g_test_add_func ("/contract/no-writes", test_no_writes);
  g_test_add_func ("/contract/nothing", test_nothing);
  return g_test_run ();
}
