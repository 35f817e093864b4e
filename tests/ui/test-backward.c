/* SPDX-License-Identifier: MIT */

/* The window on a backward captured by compiled autograd: inspector, search, backward page,
 * stepping. */

#include "inspect/adj-inspector.h"
#include "inspect/adj-property-card.h"
#include "ir/adj-graph.h"
#include "model/adj-search.h"
#include "panel/adj-backward-chart.h"
#include "panel/adj-backward-page.h"
#include "panel/adj-source-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static void
show_graph (AdjDocument *document, const char *id)
{
  adj_document_set_graph_index (document,
                                adj_graph_set_find (adj_document_get_graphs (document), id, NULL));
  adj_wait_for (document);
}

static AdjWindow *
open_capture (const char *name, const char *id)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_strdup_printf ("%s/graphs/%s.adjoint", g_getenv ("ADJ_TEST_DATA"), name);
  AdjDocument *document = adj_window_get_document (window);

  g_assert_true (adj_walk_open (window, path));
  show_graph (document, id);
  adj_walk_settle (window);
  return window;
}

static void
assert_labels (GtkWidget *root, const char *node, const char *const *texts)
{
  for (guint i = 0; texts[i] != NULL; i++)
    if (adj_walk_find (root, GTK_TYPE_LABEL, texts[i]) == NULL)
      g_error ("%s: nothing says '%s'", node, texts[i]);
}

static GtkWidget *
inspect (AdjWindow *window, const char *node)
{
  g_assert_true (adj_walk_select (window, node));
  adj_walk_settle (window);
  return adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR, NULL);
}

/* Selects @node and expects all of @texts in the inspector. */
static void
assert_inspected (AdjWindow *window, const char *node, const char *const *texts)
{
  assert_labels (inspect (window, node), node, texts);
}

/* Expects @texts in one of the node's cards. */
static void
assert_card (AdjWindow *window, const char *node, const char *title, const char *const *texts)
{
  GtkWidget *name = adj_walk_find (inspect (window, node), GTK_TYPE_LABEL, title);

  g_assert_nonnull (name);
  assert_labels (gtk_widget_get_ancestor (name, ADJ_TYPE_PROPERTY_CARD), node, texts);
}

static void
test_hook (void)
{
  static const char *const hook[] = { "Hook",
                                      "models.clip",
                                      "tensor pre-hook",
                                      "hooks[0]",
                                      "models.py:366",
                                      "getitem_76",
                                      "Was given",
                                      "Gave",
                                      "Node of Autograd",
                                      "AddBackward0 (NodeCall 8)",
                                      NULL };
  static const char *const after[] = { "post-accumulate hook", "accumulate_grad__5",
                                       "Left as gradient", NULL };
  AdjWindow *window = open_capture ("gpt2-hooks", "ca0-compiled_autograd");
  GtkWidget *page = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_SOURCE_PAGE, NULL);

  assert_inspected (window, "call_hook", hook);
  /* The source page names the place where the hook is defined. */
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "source");
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, "models.clip, line 366"));
  adj_walk_close (window);

  window = open_capture ("mlp-ddp", "r0-ca0-compiled_autograd");
  assert_inspected (window, "call_hook_5", after);
  adj_walk_close (window);
}

/* For a backward that is called as a whole: its saved tensors and incoming gradients. */
static void
test_custom (void)
{
  static const char *const texts[] = { "Type",     "custom backward", "Saved", "getitem_1",
                                       "Gradient", "expand",          NULL };
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", "c13.txt", NULL);

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  assert_inspected (window, "call_backward", texts);
  adj_walk_close (window);
}

static void
test_inputs (void)
{
  static const char *const saved[] = { "Comes From",
                                       "Saved by",
                                       "LogSoftmaxBackward0 (NodeCall 2)",
                                       "Let go after",
                                       "_log_softmax_backward_data",
                                       NULL };
  static const char *const leaf[] = { "Leaf", "ln_f.bias", "Added to by", "accumulate_grad_",
                                      NULL };
  static const char *const given[] = { "Gradient that the backward was given", NULL };
  static const char *const before[] = { ".grad of", "ln_f.bias", "accumulate_grad_",
                                        "Was there before this backward", NULL };
  AdjWindow *window = open_capture ("gpt2-hooks", "ca1-compiled_autograd");

  assert_inspected (window, "getitem", given);
  assert_inspected (window, "getitem_4", saved);
  assert_inspected (window, "getitem_7", leaf);
  assert_inspected (window, "getitem_12", before);
  adj_walk_close (window);
}

/* In a log of 2.15 a tensor saved by a compiled function leads to the forward node that made it. */
static void
test_compiled (void)
{
  static const char *const saved[] = { "Saved by", "CompiledFunctionBackward0 (NodeCall 2)",
                                       "Made by",  "tanh",
                                       "Graph",    "0-0-forward",
                                       NULL };
  static const char *const added[] = { "inputs[4]", "aot0_view", "the leaf had a gradient", NULL };
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  AdjDocument *document = adj_window_get_document (window);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "trace-2.15.log", NULL);

  g_assert_true (adj_walk_open (window, path));
  show_graph (document, "ca0-compiled_autograd");
  adj_walk_settle (window);
  assert_card (window, "call_accumulate_grad", "Accumulation", added);
  assert_inspected (window, "getitem_3", saved);
  adj_walk_close (window);
}

static void
test_accumulations (void)
{
  static const char *const first[] = { "Accumulation",
                                       "module.fc3.bias",
                                       "16 B",
                                       "the leaf had none",
                                       "call_hook_5",
                                       "taken over: nobody else has it",
                                       NULL };
  static const char *const second[] = { "ln_f.bias", "the leaf had a gradient",
                                        "added to the one that was there", NULL };
  AdjWindow *window = open_capture ("mlp-ddp", "r0-ca0-compiled_autograd");

  assert_inspected (window, "accumulate_grad__5", first);
  adj_walk_close (window);
  window = open_capture ("gpt2-hooks", "ca1-compiled_autograd");
  assert_inspected (window, "accumulate_grad_", second);
  adj_walk_close (window);
}

/* A hook is found by the name of its callee, an accumulation by its leaf. */
static void
test_search (void)
{
  static const struct
  {
    const char *query, *name;
    guint n;
  } searches[] = { { "clip", "call_hook", 2 },
                   { "name:clip role:hook", "call_hook", 2 },
                   { "accumulate ln_f.bias", "accumulate_grad_", 1 } };
  AdjWindow *window = open_capture ("gpt2-hooks", "ca1-compiled_autograd");
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;

  for (guint i = 0; i < G_N_ELEMENTS (searches); i++)
    {
      g_autoptr (GArray) found =
          adj_search_run (graph, adj_document_get_scene (document), searches[i].query);

      g_assert_cmpuint (found->len, ==, searches[i].n);
      g_assert_cmpstr (adj_graph_get_node (graph, g_array_index (found, guint, 0))->name, ==,
                       searches[i].name);
    }
  adj_walk_close (window);
}

/* -- the page -- */

static GtkWidget *
show_page (AdjWindow *window)
{
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "backward");
  adj_walk_settle (window);
  return adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_BACKWARD_PAGE, NULL);
}

static void
assert_says (GtkWidget *page, const char *text)
{
  if (adj_walk_find (page, GTK_TYPE_LABEL, text) == NULL)
    g_error ("the page does not say '%s'", text);
}

static void
test_page (void)
{
  AdjWindow *window = open_capture ("mlp-ddp", "r0-ca1-compiled_autograd");
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *page = show_page (window);
  GtkWidget *rows = adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL);
  GtkWidget *chart = adj_walk_find (page, ADJ_TYPE_BACKWARD_CHART, NULL);
  g_autofree char *all = adj_backward_chart_describe (ADJ_BACKWARD_CHART (chart)), *one = NULL;

  assert_says (page, "4 · AddmmBackward0");
  assert_says (page, "2 nodes, 1 hook");
  assert_says (page, "10 sizes changed: each is a symbol from now on");
  assert_says (page, "s4");
  assert_says (page, "NllLossBackward0 (NodeCall 1)");
  g_assert_cmpstr (all, ==, "6 of 24 steps stand elsewhere");

  /* A row selects the step's first node, to which the lanes scroll. */
  g_signal_emit_by_name (rows, "activate", 17);
  adj_walk_settle (window);
  g_assert_cmpstr (adj_graph_get_node (adj_document_get_graph (document)->graph,
                                       adj_document_get_selected (document).index)
                       ->name,
                   ==, "accumulate_grad__5");
  one = adj_backward_chart_describe (ADJ_BACKWARD_CHART (chart));
  g_assert_true (g_str_has_prefix (one, "accumulate fc3.bias runs as step 5, was 22; "));

  /* Another graph has its own page. */
  adj_document_set_graph_index (document, 0);
  adj_wait_for (document);
  adj_walk_settle (window);
  assert_says (page, "No backward came to GraphRoot (NodeCall 0) here before");
  assert_says (page, "AddmmBackward0 (NodeCall 4)");
  g_assert_null (
      adj_walk_find (page, GTK_TYPE_LABEL, "All are fixed: another size is another graph"));
  adj_walk_close (window);
}

static void
test_reason (void)
{
  AdjWindow *window = open_capture ("gpt2-hooks", "ca1-compiled_autograd");

  assert_says (show_page (window),
               "AccumulateGrad (NodeCall 6): its leaf has a gradient now, and had none before");
  adj_walk_close (window);
}

/* -- running it event by event -- */

static AdjStepping *
act (AdjWindow *window, const char *action)
{
  AdjStepping *stepping = adj_document_get_stepping (adj_window_get_document (window));
  const gint64 deadline = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (window), action, NULL));
  while (adj_stepping_get_state (stepping) == ADJ_STEPPING_RUNS &&
         g_get_monotonic_time () < deadline)
    g_main_context_iteration (NULL, TRUE);
  adj_walk_settle (window);
  return stepping;
}

static void
assert_at (AdjWindow *window, const char *text, const char *node)
{
  AdjDocument *document = adj_window_get_document (window);
  g_autofree char *at = adj_stepping_describe (adj_document_get_stepping (document));

  g_assert_cmpstr (at, ==, text);
  assert_says (adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_BACKWARD_PAGE, NULL), text);
  if (node != NULL)
    g_assert_cmpstr (adj_graph_get_node (adj_document_get_graph (document)->graph,
                                         adj_document_get_selected (document).index)
                         ->name,
                     ==, node);
}

static void
test_stepping (void)
{
  AdjWindow *window = open_capture ("mlp-ddp", "r0-ca0-compiled_autograd");
  GtkWidget *page = show_page (window);
  AdjStepping *stepping;
  guint n_events;

  /* Two events for each step, before and after it. */
  stepping = act (window, "win.step-backward");
  assert_at (window, "before NllLossBackward0 (NodeCall 1)", "nll_loss_backward");
  act (window, "win.step-backward");
  assert_at (window, "after NllLossBackward0 (NodeCall 1)", "nll_loss_backward");
  assert_says (page, "▶ 1 · NllLossBackward0");
  g_assert_cmpuint (adj_stepping_get_values (stepping)->len, ==, 1);
  act (window, "win.step-backward");
  assert_at (window, "before LogSoftmaxBackward0 (NodeCall 2)", "_log_softmax_backward_data");
  assert_says (page, "nll_loss_backward"); /* a node that the step takes */
  adj_walk_keep (window, "backward-event");

  /* From there to a hook on a leaf and the accumulation before it. */
  g_assert_true (adj_walk_select (window, "call_hook_5"));
  act (window, "win.toggle-breakpoint");
  g_assert_true (adj_walk_select (window, "accumulate_grad__5"));
  act (window, "win.toggle-breakpoint");
  act (window, "win.continue-backward");
  assert_at (window, "before: accumulate fc3.bias", "accumulate_grad__5");
  act (window, "win.step-backward");
  assert_at (window, "after: accumulate fc3.bias", "accumulate_grad__5");
  act (window, "win.continue-backward");
  assert_at (window, "before the hook compiled_accum_grad_hook · post-accumulate hook",
             "call_hook_5");
  adj_walk_keep (window, "backward-breakpoint");

  /* Runs to the end, then again to the first breakpoint, and is stopped there. */
  act (window, "win.continue-backward");
  n_events = 2 * adj_stepping_get_backward (stepping)->steps->len;
  g_assert_cmpint (adj_stepping_get_state (stepping), ==, ADJ_STEPPING_ENDED);
  g_assert_cmpuint (adj_stepping_get_n_events (stepping), ==, n_events);
  act (window, "win.continue-backward");
  assert_at (window, "before: accumulate fc3.bias", "accumulate_grad__5");
  act (window, "win.stop");
  assert_at (window, "does not run", NULL);

  /* A window can be closed while its backward is paused. */
  act (window, "win.step-backward");
  assert_at (window, "before NllLossBackward0 (NodeCall 1)", "nll_loss_backward");
  adj_walk_close (window);
}

static void
test_no_backward (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *page = show_page (window);

  assert_says (page, "No Captured Backward");
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/backward/hook", test_hook);
  g_test_add_func ("/ui/backward/custom", test_custom);
  g_test_add_func ("/ui/backward/inputs", test_inputs);
  g_test_add_func ("/ui/backward/compiled", test_compiled);
  g_test_add_func ("/ui/backward/accumulations", test_accumulations);
  g_test_add_func ("/ui/backward/search", test_search);
  g_test_add_func ("/ui/backward/page", test_page);
  g_test_add_func ("/ui/backward/reason", test_reason);
  g_test_add_func ("/ui/backward/stepping", test_stepping);
  g_test_add_func ("/ui/backward/no-backward", test_no_backward);
  return g_test_run ();
}
