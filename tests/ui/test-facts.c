/* SPDX-License-Identifier: MIT */

/* Facts of a log beside its graphs, by clicks: a kernel shows its line and its node. */

#include <string.h>

#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

#define PREFIX "V1120 10:34:57.280000 27000 torch/x.py:404] "
#define OF_REGION "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0}\n"

static const char log_text[] =
    PREFIX "{\"artifact\": {\"name\": \"after_post_grad_graph\"}, " OF_REGION
           "\tclass <lambda>(torch.nn.Module):\n"
           "\t    def forward(self, x: \"f32[4, 4][4, 1]cpu\"):\n"
           "\t        sin: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.sin.default(x);  x = None\n"
           "\t        mm: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.mm.default(sin, sin)\n"
           "\t        return (mm,)\n" PREFIX
           "{\"artifact\": {\"name\": \"inductor_provenance_tracking_node_mappings\"}, " OF_REGION
           "\t{\"cppCodeToPost\": {\"fused_sin_0:1\": [\"sin\"], \"extern_kernels.mm:2\": "
           "[\"mm\"]}}\n" PREFIX "{\"inductor_output_code\": {}, " OF_REGION
           "\tdef call(x):\n\t    # handles fused_sin_0:1\n\t    fused_sin_0.run(x)\n"
           "\t    # handles extern_kernels.mm:2\n\t    extern_kernels.mm(x)\n" PREFIX
           "{\"artifact\": {\"name\": \"dynamo_graph_break_reason\"}, " OF_REGION
           "\tGraph break: a call of print\n\t  File \"/u/net.py\", line 7, in f\n";

static AdjApplication *application;

/* @line: the line at the cursor only */
static char *
dup_text (GtkTextView *view, gboolean line)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (view);
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  if (line)
    {
      gtk_text_buffer_get_iter_at_mark (buffer, &start, gtk_text_buffer_get_insert (buffer));
      gtk_text_iter_set_line_offset (&start, 0);
      end = start;
      gtk_text_iter_forward_to_line_end (&end);
    }
  return gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
}

static gboolean
says (GtkTextView *view, gboolean line, const char *words)
{
  g_autofree char *text = dup_text (view, line);

  return strstr (text, words) != NULL;
}

static void
click_row (GtkWidget *list, const char *label)
{
  GtkWidget *row = adj_walk_find (list, GTK_TYPE_LABEL, label);

  g_assert_nonnull (row);
  adj_mouse_click (row, 8, gtk_widget_get_height (row) / 2.0);
}

/* @line: from 0 */
static void
click_line (GtkTextView *view, int line)
{
  GtkTextIter at;
  GdkRectangle place;
  int x, y;

  gtk_text_buffer_get_iter_at_line_offset (gtk_text_view_get_buffer (view), &at, line, 6);
  gtk_text_view_get_iter_location (view, &at, &place);
  gtk_text_view_buffer_to_window_coords (view, GTK_TEXT_WINDOW_WIDGET, place.x, place.y, &x, &y);
  adj_mouse_click (GTK_WIDGET (view), x + 1, y + place.height / 2.0);
}

static gboolean
is_selected (AdjDocument *document, const char *name)
{
  AdjNodeId id = adj_document_get_selected (document);

  return adj_node_id_is_valid (id) &&
         g_str_equal (adj_graph_get_node (adj_document_get_graph (document)->graph, id.index)->name,
                      name);
}

static void
test_kernels_and_reasons (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "dedicated_log_torch_trace_1.log", NULL);
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  AdjDocument *document;
  GtkWidget *list;
  GtkTextView *text;

  g_assert_true (g_file_set_contents (path, log_text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  document = adj_window_get_document (window);
  adj_window_show_page (window, "facts");
  adj_walk_settle (window);
  UNTIL (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "extern_kernels.mm:2") != NULL);
  list = gtk_widget_get_ancestor (
      adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "extern_kernels.mm:2"),
      GTK_TYPE_LIST_VIEW);
  text = GTK_TEXT_VIEW (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_TEXT_VIEW));
  g_assert_nonnull (adj_walk_find (list, GTK_TYPE_LABEL, "line 5"));

  click_row (list, "extern_kernels.mm:2");
  UNTIL (says (text, TRUE, "extern_kernels.mm(x)"));
  adj_mouse_focus (GTK_WIDGET (window));
  adj_mouse_do ("key Return");
  UNTIL (is_selected (document, "mm"));

  g_assert_true (adj_walk_select (window, "sin"));
  UNTIL (says (text, TRUE, "fused_sin_0.run(x)"));
  click_line (text, 4);
  UNTIL (is_selected (document, "mm"));
  g_assert_true (says (text, TRUE, "extern_kernels.mm(x)"));

  click_row (list, "dynamo_graph_break_reason");
  UNTIL (says (text, FALSE, "a call of print"));
  adj_walk_keep (window, "facts");
  adj_walk_close (window);
}

/* A capture has no such facts. */
static void
test_nothing (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  adj_window_show_page (window, "facts");
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find_mapped (GTK_WIDGET (window), ADW_TYPE_STATUS_PAGE));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/facts/kernels-and-reasons", test_kernels_and_reasons);
  g_test_add_func ("/facts/nothing", test_nothing);
  return g_test_run ();
}
