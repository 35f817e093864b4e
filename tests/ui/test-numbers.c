/* SPDX-License-Identifier: MIT */

/* Saved bytes and peak are the same numbers in the picture, the sidebar, the memory page, the
 * partitions page, the report and the command line, for every bundled capture. */

#include <gio/gio.h>

#include "analysis/adj-lifetimes.h"
#include "analysis/adj-modules.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"
#include "model/adj-document.h"
#include "model/adj-module-item.h"
#include "model/adj-tradeoff.h"
#include "partition/adj-pareto.h"
#include "report/adj-properties.h"
#include "report/adj-timeline.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

static gint64
sum_modules (GListModel *items)
{
  gint64 sum = 0;

  for (guint i = 0; i < g_list_model_get_n_items (items); i++)
    {
      g_autoptr (AdjModuleItem) item = g_list_model_get_item (items, i);

      sum += adj_module_item_get_saved_bytes (item);
    }
  return sum;
}

/* Sums the saved bytes of nodes without a module. */
static gint64
sum_outside (const AdjGraph *graph)
{
  const AdjSavedValues *saved = adj_graph_get_saved_values (graph);
  gint64 sum = 0;
  guint n;

  for (guint i = 0; i < saved->n; i++)
    {
      adj_graph_get_modules (graph, i, &n);
      sum += n == 0 ? saved->of[i] : 0;
    }
  return sum;
}

static gint64
sum_held (const AdjTimeline *memory)
{
  gint64 sum = 0;

  for (guint i = 0; i < memory->held->len; i++)
    sum += g_array_index (memory->held, AdjHeld, i).saved;
  return sum;
}

/* The saved bytes of a pair equal those that the partitioner counts for its plan. */
static void
check_pair (AdjDocument *document)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  AdjTradeoffSubject subject = { NULL };
  AdjParetoPoint point = { NULL };
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, ADJ_PAIR_ROLE);
  g_assert_true (adj_tradeoff_find_subject (document, &subject));
  options.num_fwd_outputs = subject.num_fwd_outputs;
  adj_partition_measure (subject.joint->graph, subject.backward, &options, &point, &error);
  g_assert_no_error (error);
  g_assert_cmpuint ((guint64) adj_scene_get_saved_bytes (adj_document_get_scene (document)), ==,
                    point.saved_bytes);
}

/* Before partitioning, values that backward reads are not called saved. */
static void
check_words (const AdjScene *scene, gboolean joint)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_HEADER && box->side == ADJ_SIDE_NONE)
        g_assert_cmpstr (box->title, ==, joint ? "READ BY BACKWARD" : "SAVED FOR BACKWARD");
      n += box->kind == ADJ_BOX_HEADER;
    }
  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpstr (adj_scene_get_role_name (scene, ADJ_ROLE_SAVED), ==,
                   joint ? "read by backward" : "saved");
}

static void
check (const char *name, const char *role)
{
  g_autofree char *path = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autoptr (AdjDocument) document = adj_wait_open (path, role);
  AdjGraph *graph = adj_document_get_graph (document)->graph;
  gint64 saved = adj_scene_get_saved_bytes (adj_document_get_scene (document));
  g_autoptr (GListModel) modules = adj_module_tree_new (graph, NULL);
  g_autoptr (AdjTimeline) memory = adj_timeline_new (graph);

  g_assert_cmpuint (memory->live[memory->peak], ==, adj_graph_estimate_memory (graph, FALSE));
  g_assert_cmpint (saved, ==, sum_modules (modules) + sum_outside (graph));
  g_assert_cmpint (saved, ==, sum_held (memory));
  check_words (adj_document_get_scene (document), g_str_equal (role, "joint"));
  if (g_str_equal (role, ADJ_PAIR_ROLE))
    check_pair (document);
}

static void
test_saved (void)
{
  static const char *const captures[] = { "mlp",  "gpt2", "gpt2-inductor", "llama",
                                          "lstm", "unet", "sac",           "resnet-block" };

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      check (captures[i], "joint");
      check (captures[i], ADJ_PAIR_ROLE);
    }
}

/* -- plans -- */

static void
on_plans (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  GListModel *plans = adj_task_finish (result, &error);

  g_assert_no_error (error);
  g_object_set_data_full (source, "plans", plans, g_object_unref);
}

static gboolean
has_plans (gpointer document)
{
  return g_object_get_data (document, "plans") != NULL;
}

/* (transfer full) */
static AdjPlanItem *
find_shown (AdjDocument *document)
{
  g_autoptr (AdjPlanItem) found = NULL;
  GListModel *plans;
  g_autoptr (AdjTask) task = NULL;
  AdjTradeoffSubject subject;

  g_assert_true (adj_tradeoff_find_subject (document, &subject));
  g_assert_nonnull (subject.backward);
  task = adj_tradeoff_start (G_OBJECT (document), &subject, on_plans);
  g_assert_true (adj_wait_until (has_plans, document, 120));
  plans = g_object_get_data (G_OBJECT (document), "plans");
  for (guint i = 0; i < g_list_model_get_n_items (plans); i++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, i);

      if (adj_plan_item_get (item)->is_shown || adj_plan_item_get (item)->kind == ADJ_PLAN_SHOWN)
        {
          g_assert_null (found);
          found = g_steal_pointer (&item);
        }
    }
  return g_steal_pointer (&found);
}

static AdjDocument *
open_plan (const char *name, double budget)
{
  g_autoptr (AdjDocument) source = adj_wait_open (name, "joint");
  AdjPartitionChoice choice = { "min-cut", budget, TRUE, -1 };
  AdjDocument *document = adj_document_new ();
  AdjTradeoffSubject subject;

  g_assert_true (adj_tradeoff_find_subject (source, &subject));
  choice.num_fwd_outputs = subject.num_fwd_outputs;
  adj_document_open_partition (document, source, &choice);
  adj_wait_for (document);
  return document;
}

static void
test_budgets (void)
{
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (AdjDocument) document = open_plan ("graphs/sac.adjoint", i / 4.0);

      check_pair (document);
    }
}

/* The plan marked as shown is the one that is shown. */
static void
test_shown (void)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (AdjDocument) document = open_plan ("graphs/mlp.adjoint", i / 2.0);
      g_autoptr (AdjPlanItem) shown = find_shown (document);

      g_assert_nonnull (shown);
      g_assert_cmpuint (adj_plan_item_get (shown)->saved_bytes, ==,
                        (guint64) adj_scene_get_saved_bytes (adj_document_get_scene (document)));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/numbers/saved", test_saved);
  g_test_add_func ("/ui/numbers/budgets", test_budgets);
  g_test_add_func ("/ui/numbers/shown", test_shown);
  return g_test_run ();
}
