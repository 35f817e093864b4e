/* SPDX-License-Identifier: MIT */

/* The memory page: tensors alive at the peak, comparison with another plan, zoom and keys. */

#include <gio/gio.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-memory-plan.h"
#include "panel/adj-memory-chart.h"
#include "panel/adj-memory-page.h"
#include "report/adj-properties.h"
#include "report/adj-timeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/pictured-graphs.h"
#include "support/planted-snapshot.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

static AdjWindow *
open_memory (const char *name, const char *role)
{
  AdjWindow *window = adj_walk_open_graph (application, name, role);

  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  adj_window_show_page (window, "memory");
  adj_walk_settle (window);
  return window;
}

static GtkWidget *
find (AdjWindow *window, GType type)
{
  return adj_walk_find_mapped (
      adj_walk_find_mapped (GTK_WIDGET (window), adj_memory_page_get_type ()), type);
}

static GListModel *
get_lines (AdjWindow *window)
{
  return G_LIST_MODEL (
      gtk_column_view_get_model (GTK_COLUMN_VIEW (find (window, GTK_TYPE_COLUMN_VIEW))));
}

static AdjTimeline *
count (AdjWindow *window)
{
  return adj_timeline_new (
      (AdjGraph *) adj_document_get_graph (adj_window_get_document (window))->graph);
}

/* The rows list every tensor alive at @step, and their sum is the value of the chart. */
static void
check_lines (AdjWindow *window, const AdjTimeline *memory, guint step)
{
  GListModel *lines = get_lines (window);
  guint64 bytes = 0, before = G_MAXUINT64;

  for (guint i = 0; i < g_list_model_get_n_items (lines); i++)
    {
      g_autoptr (AdjHeldItem) item = g_list_model_get_item (lines, i);
      const AdjHeld *held = adj_held_item_get (item);
      g_autofree char *why = adj_held_get_reason (held, memory->graph);

      g_assert_true (adj_held_is_live (held, step));
      g_assert_cmpuint (held->bytes, <=, before);
      g_assert_cmpstr (why, !=, "");
      bytes += before = (guint64) held->bytes;
    }
  g_assert_cmpuint (bytes, ==, memory->live[step]);
}

static void
test_peak (void)
{
  AdjWindow *window = open_memory ("graphs/sac.adjoint", "forward+backward");
  AdjDocument *document = adj_window_get_document (window);
  g_autoptr (AdjTimeline) memory = count (window);
  AdjMemoryChart *chart = ADJ_MEMORY_CHART (find (window, ADJ_TYPE_MEMORY_CHART));
  guint n_all = g_list_model_get_n_items (get_lines (window));
  graphene_point_t at = adj_memory_chart_get_place (chart, memory->peak);

  g_assert_cmpuint (n_all, ==, memory->held->len);
  adj_mouse_click (GTK_WIDGET (chart), at.x, at.y);
  UNTIL (adj_document_get_selected (document).index == memory->peak);
  UNTIL (g_list_model_get_n_items (get_lines (window)) < n_all);
  check_lines (window, memory, memory->peak);
  adj_walk_keep (window, "memory-peak");
  adj_walk_click (adj_walk_find_mapped (GTK_WIDGET (window), adj_memory_page_get_type ()),
                  "Show All");
  adj_walk_settle (window);
  g_assert_cmpuint (g_list_model_get_n_items (get_lines (window)), ==, n_all);
  adj_walk_close (window);
}

/* Every reason for keeping a tensor, derived from the graph. */
static void
test_reasons (void)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[2, 3]\"):\n"
                             "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(x)\n"
                             "        sin: \"f32[2, 3]\" = torch.ops.aten.sin.default(relu)\n"
                             "        cos: \"f32[2, 3]\" = torch.ops.aten.cos.default(x)\n"
                             "        return (sin,)\n";
  static const char *const reasons[] = { "input", "until sin", "output", "never read" };
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (AdjTimeline) memory = NULL;

  adj_document_open_text (document, bytes);
  adj_wait_for (document);
  memory = adj_timeline_new ((AdjGraph *) adj_document_get_graph (document)->graph);
  g_assert_cmpuint (memory->held->len, ==, G_N_ELEMENTS (reasons));
  for (guint i = 0; i < memory->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (memory->held, AdjHeld, i);
      g_autofree char *why = adj_held_get_reason (held, memory->graph);

      g_assert_cmpstr (why, ==, reasons[held->node.index]);
    }
}

static double
get_span (AdjMemoryChart *chart)
{
  double from, to;

  adj_memory_chart_get_view (chart, &from, &to);
  return to - from;
}

static double
get_from (AdjMemoryChart *chart)
{
  double from, to;

  adj_memory_chart_get_view (chart, &from, &to);
  return from;
}

/* By the wheel around the pointer, by dragging, by keys and by buttons. */
static void
test_zooms (void)
{
  AdjWindow *window = open_memory ("graphs/gpt2.adjoint", "joint");
  AdjMemoryChart *chart = ADJ_MEMORY_CHART (find (window, ADJ_TYPE_MEMORY_CHART));
  double n = get_span (chart), span, from;
  guint step = (guint) (n / 2);
  graphene_point_t at = adj_memory_chart_get_place (chart, step), now;

  adj_mouse_move (GTK_WIDGET (chart), at.x, at.y);
  adj_mouse_do ("click 4");
  UNTIL (get_span (chart) < n * 0.7);
  now = adj_memory_chart_get_place (chart, step);
  g_assert_cmpfloat_with_epsilon (now.x, at.x, 2);
  /* Dragging is not a click. */
  span = get_span (chart);
  from = get_from (chart);
  adj_mouse_do ("mousedown 1");
  adj_mouse_move (GTK_WIDGET (chart), at.x - 60, at.y);
  adj_mouse_do ("mouseup 1");
  UNTIL (get_from (chart) > from);
  g_assert_cmpfloat_with_epsilon (get_span (chart), span, 1e-6);
  g_assert_false (
      adj_node_id_is_valid (adj_document_get_selected (adj_window_get_document (window))));

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (chart));
  adj_mouse_do ("key 0");
  UNTIL (get_span (chart) == n);
  adj_mouse_do ("key plus");
  UNTIL (get_span (chart) < n);
  from = get_from (chart);
  adj_mouse_do ("key shift+Right");
  UNTIL (get_from (chart) > from);
  adj_mouse_do ("key minus minus");
  UNTIL (get_span (chart) == n);
  for (guint i = 0; i < 20; i++)
    adj_memory_chart_zoom (chart, 2);
  g_assert_cmpfloat (get_span (chart), ==, 4);
  adj_walk_close (window);
}

/* Home goes to the peak, Enter lists the tensors alive there, Escape closes the list. */
static void
test_keys (void)
{
  AdjWindow *window = open_memory ("graphs/mlp.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  g_autoptr (AdjTimeline) memory = count (window);
  GtkWidget *chart = find (window, ADJ_TYPE_MEMORY_CHART);
  guint n_all = g_list_model_get_n_items (get_lines (window));

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (chart);
  adj_mouse_do ("key Home Return");
  UNTIL (adj_document_get_selected (document).index == memory->peak);
  check_lines (window, memory, memory->peak);
  adj_mouse_do ("key Left Return");
  UNTIL (adj_document_get_selected (document).index == memory->peak - 1);
  check_lines (window, memory, memory->peak - 1);
  adj_mouse_do ("key Escape");
  UNTIL (g_list_model_get_n_items (get_lines (window)) == n_all);
  adj_walk_close (window);
}

static GtkWidget *
find_note (AdjWindow *window, const char *prefix)
{
  GtkWidget *page = find (window, GTK_TYPE_DROP_DOWN);

  for (page = gtk_widget_get_next_sibling (page); page != NULL;
       page = gtk_widget_get_next_sibling (page))
    if (GTK_IS_LABEL (page) && gtk_widget_get_visible (page) &&
        g_str_has_prefix (gtk_label_get_text (GTK_LABEL (page)), prefix))
      return page;
  return NULL;
}

/* A plan that recomputes has a lower peak than one that saves everything, and both show their
 * peak. */
static void
test_plans (void)
{
  AdjWindow *window = open_memory ("graphs/gpt2.adjoint", "joint");
  GtkDropDown *plans = GTK_DROP_DOWN (find (window, GTK_TYPE_DROP_DOWN));
  GtkWidget *chart = find (window, ADJ_TYPE_MEMORY_CHART);

  g_assert_true (gtk_widget_is_sensitive (GTK_WIDGET (plans)));
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (plans)), ==,
                    1 + adj_memory_plans_get_n ());
  gtk_drop_down_set_selected (plans, 1);
  UNTIL (find_note (window, "Line: Save everything, peak of ") != NULL);
  gtk_drop_down_set_selected (plans, 6);
  UNTIL (find_note (window, "Line: PyTorch, budget 0, peak of ") != NULL);
  adj_walk_settle (window);
  adj_walk_keep (window, "memory-plan");
  /* Choosing another plan cancels the first computation. */
  gtk_drop_down_set_selected (plans, 9);
  gtk_drop_down_set_selected (plans, 2);
  UNTIL (find_note (window, "Line: PyTorch, budget 1, peak of ") != NULL);
  gtk_drop_down_set_selected (plans, 0);
  g_assert_null (find_note (window, "Line"));
  g_assert_true (gtk_widget_get_mapped (chart));
  adj_walk_close (window);
}

/* -- a snapshot of a GPU over it -- */

static char *
plant_snapshot (AdjWindow *window, const AdjTestFolder *folder, const char *scratch_at)
{
  const AdjGraph *graph = adj_document_get_graph (adj_window_get_document (window))->graph;
  g_autoptr (GBytes) bytes =
      planted_snapshot_new (graph, adj_graph_find_node (graph, scratch_at).index, 1 << 20);
  char *path = g_build_filename (folder->path, "snapshot.pickle", NULL);

  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  return path;
}

static char *
describe_line (const AdjGraph *graph, const char *path)
{
  g_autoptr (AdjMemorySnapshot) snapshot = adj_memory_snapshot_load (path, NULL, NULL);
  g_autoptr (AdjTimeline) measured = adj_timeline_new_measured ((AdjGraph *) graph, snapshot, NULL);
  g_autofree char *bytes = adj_properties_bytes ((gint64) measured->live[measured->peak]);

  return g_strdup_printf ("Line: snapshot.pickle, peak of %s with inputs, at %s", bytes,
                          adj_graph_get_node (graph, measured->peak)->name);
}

/* The line names the step with the highest measured use, which a click selects; for a graph that
 * the snapshot does not contain it says so. */
static void
test_snapshot (void)
{
  AdjWindow *window = open_memory ("graphs/gpt2.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), adj_memory_page_get_type ());
  AdjMemoryChart *chart = ADJ_MEMORY_CHART (find (window, ADJ_TYPE_MEMORY_CHART));
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = plant_snapshot (window, folder, "mm_5"), *line = NULL;
  guint step = adj_graph_find_node (graph, "mm_5").index;
  graphene_point_t at = adj_memory_chart_get_place (chart, step);
  GtkWidget *clear;

  adj_document_set_snapshot (document, path);
  line = describe_line (graph, path);
  g_assert_true (g_str_has_suffix (line, "at mm_5"));
  UNTIL (adj_walk_find (page, GTK_TYPE_LABEL, line) != NULL);
  adj_mouse_click (GTK_WIDGET (chart), at.x, at.y);
  UNTIL (adj_document_get_selected (document).index == step);
  adj_walk_keep (window, "memory-snapshot");
  adj_walk_choose_graph (window, "backward");
  UNTIL (adj_walk_find (page, GTK_TYPE_LABEL,
                        "the snapshot is of other graphs: none of the code that ran has only nodes "
                        "of this one") != NULL);
  clear = GTK_WIDGET (gtk_widget_get_template_child (page, ADJ_TYPE_MEMORY_PAGE, "clear"));
  adj_mouse_click (clear, gtk_widget_get_width (clear) / 2.0, gtk_widget_get_height (clear) / 2.0);
  UNTIL (adj_document_get_snapshot (document) == NULL);
  adj_walk_close (window);
}

/* The file's own plan, computed again, equals its pair in every step. */
static void
test_same_plan (void)
{
  AdjWindow *window = open_memory ("graphs/mlp.adjoint", "forward+backward");
  g_autoptr (AdjTimeline) memory = count (window);
  g_autofree char *bytes = adj_properties_bytes ((gint64) memory->live[memory->peak]);
  g_autofree char *note =
      g_strdup_printf ("Line: PyTorch, budget 1, peak of %s with inputs", bytes);

  gtk_drop_down_set_selected (GTK_DROP_DOWN (find (window, GTK_TYPE_DROP_DOWN)), 2);
  UNTIL (find_note (window, "Line") != NULL);
  g_assert_nonnull (find_note (window, note));
  adj_walk_close (window);
}

/* Without a joint graph there are no other plans, and the list says why. */
static void
test_none (void)
{
  AdjWindow *window = open_memory ("graphs/mlp-ddp.adjoint", "compiled_autograd");
  GtkWidget *plans = find (window, GTK_TYPE_DROP_DOWN);

  g_assert_false (gtk_widget_is_sensitive (plans));
  g_assert_true (g_str_has_prefix (gtk_widget_get_tooltip_text (plans), "Another plan needs"));
  adj_walk_close (window);
}

/* Without module names, repeated blocks name the owner of memory. */
static void
test_blocks (void)
{
  g_autoptr (AdjGraph) named = adj_test_load_graph ("llama", "joint");
  g_autoptr (AdjGraph) plain = adj_test_through_log (named, ADJ_TEST_LOG_LINES);
  g_autoptr (AdjTimeline) memory = adj_timeline_new (plain);
  guint n = 0;

  for (guint i = 0; i < memory->n_groups; i++)
    n += strstr (memory->groups[i], " of ") != NULL;
  g_assert_cmpuint (n, >=, 2);
}

int
main (int argc, char *argv[])
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/memory/peak", test_peak);
  g_test_add_func ("/ui/memory/reasons", test_reasons);
  g_test_add_func ("/ui/memory/zooms", test_zooms);
  g_test_add_func ("/ui/memory/keys", test_keys);
  g_test_add_func ("/ui/memory/plans", test_plans);
  g_test_add_func ("/ui/memory/same-plan", test_same_plan);
  g_test_add_func ("/ui/memory/snapshot", test_snapshot);
  g_test_add_func ("/ui/memory/none", test_none);
  g_test_add_func ("/ui/memory/blocks", test_blocks);
  return g_test_run ();
}
