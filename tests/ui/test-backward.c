/* SPDX-License-Identifier: MIT */

/* What the window says of a backward that compiled autograd captured. */

#include "inspect/adj-inspector.h"
#include "panel/adj-source-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static AdjWindow *
open_capture (const char *name, const char *id)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_strdup_printf ("%s/graphs/%s.adjoint", g_getenv ("ADJ_TEST_DATA"), name);
  AdjDocument *document = adj_window_get_document (window);

  g_assert_true (adj_walk_open (window, path));
  adj_document_set_graph_index (document,
                                adj_graph_set_find (adj_document_get_graphs (document), id, NULL));
  adj_wait_for (document);
  adj_walk_settle (window);
  return window;
}

/* Selects @node; the inspector then has all of @texts. */
static void
assert_inspected (AdjWindow *window, const char *node, const char *const *texts)
{
  GtkWidget *inspector = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR, NULL);

  g_assert_true (adj_walk_select (window, node));
  adj_walk_settle (window);
  for (guint i = 0; texts[i] != NULL; i++)
    if (adj_walk_find (inspector, GTK_TYPE_LABEL, texts[i]) == NULL)
      g_error ("%s: the inspector does not say '%s'", node, texts[i]);
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
  /* Its text is that of the place where it stands. */
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "source");
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, "models.clip, line 366"));
  adj_walk_close (window);

  window = open_capture ("mlp-ddp", "r0-ca0-compiled_autograd");
  assert_inspected (window, "call_hook_5", after);
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

static void
test_accumulations (void)
{
  static const char *const first[] = { "Accumulation",
                                       "module.fc3.bias",
                                       "24 bytes",
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

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/backward/hook", test_hook);
  g_test_add_func ("/ui/backward/inputs", test_inputs);
  g_test_add_func ("/ui/backward/accumulations", test_accumulations);
  return g_test_run ();
}
