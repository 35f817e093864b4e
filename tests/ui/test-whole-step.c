/* SPDX-License-Identifier: MIT */
/* A training step in one graph, under each policy of activation checkpointing: the passes over it
 * are stepped through in a real window. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "ir/adj-recompute.h"
#include "layout/adj-layout.h"
#include "model/adj-stages.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "ui/adj-walk.h"

#define PASSES "functionalize,decompose,constant-fold,cse,dce,normalise"
#define N_STAGES 7

static AdjApplication *application;

/* What the card of a value is that backward reads. */
static const AdjRole roles[ADJ_N_RECOMPUTE] = {
  [ADJ_RECOMPUTE_NONE] = ADJ_ROLE_SAVED,
  [ADJ_RECOMPUTE_MUST_SAVE] = ADJ_ROLE_MUST_SAVE,
  [ADJ_RECOMPUTE_PREFER_SAVE] = ADJ_ROLE_SAVED,
  [ADJ_RECOMPUTE_MUST_RECOMPUTE] = ADJ_ROLE_MUST_RECOMPUTE,
  [ADJ_RECOMPUTE_PREFER_RECOMPUTE] = ADJ_ROLE_RECOMPUTED,
  [ADJ_RECOMPUTE_MUST_CPU_OFFLOAD] = ADJ_ROLE_OFFLOADED,
  [ADJ_RECOMPUTE_PREFER_CPU_OFFLOAD] = ADJ_ROLE_OFFLOADED,
};

/* The step, whose tanh has @policy. */
static char *
make_text (AdjRecompute policy)
{
  static const char tanh[] = "torch.ops.aten.tanh.default(add);  add = None";
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ir", "data", "step-2.15.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GString) step = g_string_new (text);
  g_autofree char *with =
      g_strdup_printf ("%s  # adj: {ac: 1, recompute: %s}", tanh, adj_recompute_name (policy));

  if (policy != ADJ_RECOMPUTE_NONE)
    g_assert_cmpuint (g_string_replace (step, tanh, with, 0), ==, 1);
  return g_string_free (g_steal_pointer (&step), FALSE);
}

/* What the passes made of it, as a file.  (transfer full) */
static char *
write_stages (const AdjTestFolder *folder, AdjRecompute policy)
{
  g_autofree char *text = make_text (policy);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const AdjPipelineOptions options = { .steps = PASSES };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder->path, "step.adjoint", NULL);

  adj_pipeline_run (graph, "user", &options, &result, NULL, &error);
  g_assert_no_error (error);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  return path;
}

static void
check_header (const AdjScene *scene, gboolean offloaded)
{
  guint n_backward = 0, n_offloaded = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind != ADJ_BOX_HEADER)
        continue;
      n_backward += strcmp (box->title, "BACKWARD, THEN UPDATE ↑") == 0;
      n_offloaded += box->subtitle != NULL && strstr (box->subtitle, " offloaded") != NULL;
    }
  g_assert_cmpuint (n_backward, ==, 1);
  g_assert_cmpuint (n_offloaded, ==, offloaded);
}

/* The shown stage: three parts, and the value under the policy, which the inspector names. */
static void
check_stage (AdjWindow *window, AdjRecompute policy)
{
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  const AdjScene *scene = adj_document_get_scene (document);
  AdjNodeId tanh = adj_graph_find_node (graph, "tanh");
  GtkWidget *inspector = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR, NULL);
  const char *name = adj_recompute_name (policy);
  guint n_updates = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n_updates += adj_scene_get_box (scene, i)->role == ADJ_ROLE_UPDATE;
  g_assert_cmpuint (n_updates, ==, 6);
  g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, tanh))->role, ==,
                   roles[policy]);
  check_header (scene, roles[policy] == ADJ_ROLE_OFFLOADED);
  g_assert_true (adj_walk_select (window, "tanh"));
  g_assert_true (policy == ADJ_RECOMPUTE_NONE ||
                 adj_walk_find (inspector, GTK_TYPE_LABEL, name) != NULL);
}

static void
keep (AdjWindow *window, AdjRecompute policy, guint stage)
{
  g_autofree char *name = g_strdup_printf ("step-%s-%u", adj_recompute_name (policy), stage);

  adj_walk_keep (window, name);
}

static void
step (AdjWindow *window, const char *action)
{
  gtk_widget_activate_action (GTK_WIDGET (window), action, NULL);
  adj_wait_for (adj_window_get_document (window));
  adj_walk_settle (window);
}

static void
test_policies (void)
{
  for (AdjRecompute policy = ADJ_RECOMPUTE_NONE; policy < ADJ_N_RECOMPUTE; policy++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = write_stages (folder, policy);
      AdjWindow *window = adj_walk_open_window (application, 1280, 900);

      g_test_message ("%s", adj_recompute_name (policy));
      g_assert_true (adj_walk_open (window, path));
      adj_stages_show (adj_window_get_document (window), 0);
      adj_wait_for (adj_window_get_document (window));
      for (guint stage = 0; stage < N_STAGES; stage++)
        {
          if (stage > 0)
            step (window, "win.next-stage");
          g_assert_cmpint (adj_stages_get_current (adj_window_get_document (window)), ==, stage);
          check_stage (window, policy);
          keep (window, policy, stage);
        }
      step (window, "win.previous-stage");
      check_stage (window, policy);
      adj_walk_close (window);
    }
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/whole-step/policies", test_policies);
  return g_test_run ();
}
