/* SPDX-License-Identifier: MIT */

/* The curve of partitions in a real window, against the partitioner's own numbers: cancelling
 * it, and opening a point as graphs. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "model/adj-stages.h"
#include "partition/adj-pareto.h"
#include "report/adj-properties.h"
#include "stages/adj-pareto-chart.h"
#include "stages/adj-pareto-page.h"
#include "support/adj-test.h"
#include "support/random-joint.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static gboolean
has_chart (gpointer window)
{
  return adj_walk_find_mapped (window, ADJ_TYPE_PARETO_CHART) != NULL;
}

/* The table: of AdjPlanItem. */
static GListModel *
get_plans (AdjWindow *window)
{
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);
  GtkWidget *table = adj_walk_find_mapped (page, GTK_TYPE_COLUMN_VIEW);

  g_assert_nonnull (table);
  return G_LIST_MODEL (gtk_column_view_get_model (GTK_COLUMN_VIEW (table)));
}

static GListModel *
compute (AdjWindow *window)
{
  adj_window_show_page (window, "partitions");
  g_assert_true (adj_wait_until (has_chart, window, 100));
  adj_walk_settle (window);
  return get_plans (window);
}

static gboolean
is_point (const AdjTradeoffPlan *plan, const AdjParetoPoint *point)
{
  AdjPlanKind kind = g_str_equal (point->partitioner, "optimal") ? ADJ_PLAN_OURS : ADJ_PLAN_PYTORCH;

  return plan->kind == kind && plan->peak == point->peak && plan->again == point->recompute_flops &&
         plan->saved_bytes == point->saved_bytes && plan->is_dominated == point->is_dominated;
}

/* Every point of the partitioner is in the table, and on the chart at its numbers. */
static void
check_points (AdjWindow *window, GListModel *plans, const GArray *points)
{
  AdjParetoChart *chart =
      ADJ_PARETO_CHART (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_CHART));
  double last = -1;

  for (guint i = 0; i < points->len; i++)
    {
      guint n = 0;

      for (guint k = 0; k < g_list_model_get_n_items (plans); k++)
        {
          g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, k);

          n += is_point (adj_plan_item_get (item), &g_array_index (points, AdjParetoPoint, i));
        }
      g_assert_cmpuint (n, >=, 1);
    }
  for (guint k = 0; k < g_list_model_get_n_items (plans); k++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, k);
      graphene_point_t at = adj_pareto_chart_get_place (chart, k);

      g_assert_cmpfloat (adj_plan_item_get (item)->again, >=, last);
      g_assert_true (gtk_widget_contains (GTK_WIDGET (chart), at.x, at.y));
      last = adj_plan_item_get (item)->again;
    }
}

/* Counts the plans marked as shown and returns the first; PyTorch's plan and ours may be equal. */
static guint
count_shown (GListModel *plans, AdjPlanItem **one)
{
  guint n = 0;

  for (guint i = 0; i < g_list_model_get_n_items (plans); i++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, i);

      if (!adj_plan_item_get (item)->is_shown)
        continue;
      if (n++ == 0)
        g_set_object (one, item);
    }
  return n;
}

/* The recorded partition of PyTorch is its point at budget 1. */
static void
test_draws (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "backward");
  AdjDocument *document = adj_window_get_document (window);
  AdjGraph *joint =
      adj_bundle_find_graph (adj_document_get_bundle (document), "joint", NULL)->graph;
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPlanItem) shown = NULL;
  g_autoptr (GArray) points = NULL;
  g_autoptr (GError) error = NULL;
  GtkWidget *chart;
  GListModel *plans = compute (window);

  options.num_fwd_outputs = 1;
  points = adj_partition_pareto (
      joint, &(AdjParetoOptions){ .partition = &options, .n_budgets = 11 }, NULL, &error);
  g_assert_no_error (error);
  check_points (window, plans, points);
  g_assert_cmpuint (count_shown (plans, &shown), >=, 1);
  g_assert_cmpint (adj_plan_item_get (shown)->kind, ==, ADJ_PLAN_PYTORCH);
  g_assert_cmpfloat (adj_plan_item_get (shown)->budget, ==, 1);
  chart = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_CHART);
  gtk_test_accessible_assert_role (chart, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_test_accessible_assert_property (chart, GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "Peak Memory against Recomputation");

  /* Another graph of the same region has the same curve. */
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  adj_walk_settle (window);
  g_assert_true (get_plans (window) == plans);
  adj_walk_close (window);
}

static gboolean
shows_pair (gpointer window)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_window_get_document (window));

  return graph != NULL && g_str_equal (graph->role, ADJ_PAIR_ROLE);
}

/* The bytes that backward takes, without tangents and tensors that exist anyway, equal those of
 * @chosen. */
static void
check_opened (AdjWindow *window, const AdjTradeoffPlan *chosen)
{
  AdjDocument *document = adj_window_get_document (window);
  GListModel *plans = compute (window);
  g_autoptr (AdjPlanItem) shown = NULL;

  g_assert_nonnull (adj_stages_get_recording (document));
  g_assert_cmpuint (count_shown (plans, &shown), >=, 1);
  g_assert_cmpuint (adj_plan_item_get (shown)->peak, ==, chosen->peak);
  g_assert_cmpfloat (adj_plan_item_get (shown)->again, ==, chosen->again);
  g_assert_true (adj_stages_can_step (document, -1));
}

/* A point is opened as stages in a tab of its own, where the curve marks it. */
static void
test_opens (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *before = adj_window_get_document (window);
  GListModel *plans = compute (window);
  g_autoptr (AdjPlanItem) last =
      g_list_model_get_item (plans, g_list_model_get_n_items (plans) - 1);

  g_assert_cmpfloat (adj_plan_item_get (last)->again, >, 0);
  g_signal_emit_by_name (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_CHART),
                         "plan-chosen", last);
  g_assert_true (adj_window_get_document (window) != before);
  g_assert_true (adj_wait_until (shows_pair, window, 60));
  adj_walk_settle (window);
  check_opened (window, adj_plan_item_get (last));
  adj_walk_close (window);
}

static gboolean
is_under_way (gpointer window)
{
  GtkWidget *page = adj_walk_find_mapped (window, ADJ_TYPE_PARETO_PAGE);

  return page != NULL && adj_walk_find_mapped (page, GTK_TYPE_PROGRESS_BAR) != NULL;
}

/* A long computation is cancelled by its button, says so, and can be restarted. */
static void
test_stops (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  GtkWidget *page, *button;

  adj_window_show_page (window, "partitions");
  g_assert_true (adj_wait_until (is_under_way, window, 20));
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);
  button = adj_walk_find_mapped (page, GTK_TYPE_BUTTON);
  g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (button)), ==, "_Cancel");
  g_signal_emit_by_name (button, "clicked");
  adj_walk_settle (window);
  g_assert_false (is_under_way (window));
  g_assert_false (has_chart (window));
  g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, "Stopped"));
  button = adj_walk_find_mapped (page, GTK_TYPE_BUTTON);
  g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (button)), ==, "_Compare Partitions");
  g_signal_emit_by_name (button, "clicked");
  g_assert_true (is_under_way (window));
  /* Closing the window cancels it too. */
  adj_walk_close (window);
}

/* A graph that was not differentiated. */
static void
test_needs_joint (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "relu.txt", NULL);
  GtkWidget *page;

  g_assert_true (g_file_set_contents (
      path,
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2, 3]\"):\n"
      "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(x)\n        return (relu,)\n",
      -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_window_show_page (window, "partitions");
  adj_walk_settle (window);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);
  g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, "No Joint Graph"));
  g_assert_false (has_chart (window));
  adj_walk_close (window);
}

/* Writes a joint graph for which one of PyTorch's points computes something else. */
static char *
save_wrong (const char *folder)
{
  for (guint seed = 0; seed < 200; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint n_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &n_outputs);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (GArray) points = NULL;

      options.num_fwd_outputs = (gint) n_outputs;
      points = adj_partition_pareto (
          joint, &(AdjParetoOptions){ .partition = &options, .n_budgets = 11 }, NULL, NULL);
      for (guint i = 0; points != NULL && i < points->len; i++)
        if (g_array_index (points, AdjParetoPoint, i).wrong != NULL)
          {
            AdjBundleBuilder *builder = adj_bundle_builder_new ();
            static const char *const ids[] = { "0-0-joint" };
            AdjBundleGraph entry = { .id = ids[0], .role = "joint", .graph = joint, .rank = -1 };
            AdjRegion region = {
              .id = "0-0", .rank = -1, .num_fwd_outputs = (gint) n_outputs, .n_graphs = 1
            };
            char *path = g_build_filename (folder, "wrong.adjoint", NULL);
            g_autoptr (AdjBundle) bundle = NULL;

            g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
            g_assert_true (adj_bundle_builder_add_region (builder, &region, ids, NULL));
            bundle = adj_bundle_builder_end (builder, NULL);
            g_assert_true (adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, NULL));
            return path;
          }
    }
  g_assert_not_reached ();
}

/* Every name of the legend is there as a whole, also where they need two lines. */
static void
check_legend (AdjWindow *window)
{
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);
  GtkWidget *legend = adj_walk_find_mapped (page, GTK_TYPE_FLOW_BOX);

  for (GtkWidget *entry = gtk_widget_get_first_child (legend); entry != NULL;
       entry = gtk_widget_get_next_sibling (entry))
    {
      GtkWidget *label = adj_walk_find_mapped (entry, GTK_TYPE_LABEL);

      g_assert_false (pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (label))));
    }
}

/* A point that computes something else is reported, hides no other point, and is on no curve. */
static void
test_wrong (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = save_wrong (folder->path);
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  GListModel *plans;
  guint n_wrong = 0;

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  plans = compute (window);
  for (guint i = 0; i < g_list_model_get_n_items (plans); i++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, i);
      const AdjTradeoffPlan *plan = adj_plan_item_get (item);
      g_autofree char *text = adj_plan_item_describe (item);

      if (plan->wrong == NULL)
        continue;
      n_wrong++;
      g_assert_cmpint (plan->kind, ==, ADJ_PLAN_PYTORCH);
      g_assert_nonnull (strstr (text, plan->wrong));
    }
  g_assert_cmpuint (n_wrong, >, 0);
  g_assert_nonnull (adj_walk_find (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE),
                                   GTK_TYPE_LABEL, "another program"));
  check_legend (window);
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/partitions/draws", test_draws);
  g_test_add_func ("/ui/partitions/opens", test_opens);
  g_test_add_func ("/ui/partitions/stops", test_stops);
  g_test_add_func ("/ui/partitions/wrong", test_wrong);
  g_test_add_func ("/ui/partitions/needs-joint", test_needs_joint);
  return g_test_run ();
}
