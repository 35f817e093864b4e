/* SPDX-License-Identifier: MIT */

/* A scripted walk through the real window that writes a picture of each stop. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin-programs.h"
#include "canvas/adj-hover-card.h"
#include "canvas/graph-view-private.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "panel/adj-difference-pane.h"
#include "panel/adj-run-page.h"
#include "session/adj-program.h"
#include "sidebar/adj-sidebar.h"
#include "stages/adj-pareto-chart.h"
#include "support/layered-graph.h"
#include "support/planted-bundle.h"
#include "ui/adj-walk.h"
#include "window/adj-command-palette.h"

static const char *graphs, *out, *suffix;

/* -- means -- */

static void
shoot_widget (AdjWindow *window, GtkWidget *widget, const char *name)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.png", name, suffix);
  g_autofree char *path = g_build_filename (out, file, NULL);

  adj_walk_settle (window);
  adj_walk_shoot (widget, path);
  g_print ("%s\n", path);
}

static void
shoot (AdjWindow *window, const char *name)
{
  shoot_widget (window, GTK_WIDGET (window), name);
}

/* Writes a picture of the window with this title and closes it. */
static void
shoot_dialog (AdjWindow *window, const char *title, const char *name)
{
  GtkWidget *dialog;

  adj_walk_settle (window);
  dialog = adj_walk_find_window (title);
  if (dialog == NULL)
    return;
  shoot_widget (window, dialog, name);
  gtk_window_destroy (GTK_WINDOW (dialog));
  adj_walk_settle (window);
}

static void
act (AdjWindow *window, const char *action)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) target = NULL;

  if (g_action_parse_detailed_name (action, &name, &target, NULL))
    gtk_widget_activate_action_variant (GTK_WIDGET (window), name, target);
  adj_walk_settle (window);
}

static gboolean
is_done (gpointer data)
{
  return adj_document_get_status (data) == NULL && !adj_document_is_running (data);
}

/* Chooses a view and waits for its picture. */
static void
view (AdjWindow *window, const char *action)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjScene *before = adj_document_get_scene (document);

  act (window, action);
  for (guint i = 0; i < 100 && adj_document_get_scene (document) == before; i++)
    adj_walk_settle (window);
  adj_wait_until (is_done, document, 20);
  adj_walk_settle (window);
}

static void
show_graph (AdjWindow *window, const char *file, const char *role)
{
  if (!adj_walk_open (window, file) || !adj_walk_choose_graph (window, role))
    {
      const GError *error = adj_document_get_error (adj_window_get_document (window));

      g_printerr ("%s: %s\n", file, error != NULL ? error->message : "no picture in time");
      exit (1);
    }
  adj_walk_settle (window);
}

static char *
sample (const char *name)
{
  return g_build_filename (graphs, name, NULL);
}

/* -- stops -- */

static void
walk_start (AdjWindow *window)
{
  shoot (window, "start");
  act (window, "win.show-help-overlay");
  {
    GtkWidget *help =
        GTK_WIDGET (gtk_application_window_get_help_overlay (GTK_APPLICATION_WINDOW (window)));

    shoot_widget (window, help, "shortcuts");
    gtk_widget_set_visible (help, FALSE);
  }
  act (window, "win.preferences");
  shoot_dialog (window, "Preferences", "preferences");
  act (window, "app.about");
  shoot_dialog (window, "About Adjoint", "about");
}

static gboolean
is_mapped (gpointer widget)
{
  return gtk_widget_get_mapped (widget);
}

/* Pointer and quick find in lists. */
static void
walk_pointer (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *canvas = adj_window_get_view (window);
  const AdjScene *scene = adj_document_get_scene (document);
  AdjNodeId gelu = adj_graph_find_node (adj_document_get_graph (document)->graph, "gelu");
  guint box = adj_scene_find_node (scene, gelu);
  const AdjRect *rect = &adj_scene_get_box (scene, box)->rect;
  GtkWidget *sidebar = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_SIDEBAR, NULL);
  GtkWidget *tree = adj_walk_find (sidebar, GTK_TYPE_LIST_VIEW, NULL);
  GtkWidget *bar =
      gtk_widget_get_prev_sibling (gtk_widget_get_ancestor (tree, GTK_TYPE_SCROLLED_WINDOW));

  adj_document_set_selected (document, ADJ_NO_NODE);
  canvas->pointer =
      adj_camera_to_widget (&canvas->camera, rect->x + rect->width / 2, rect->y + rect->height / 2);
  adj_graph_view_hover (canvas, box, ADJ_NO_BOX);
  adj_wait_until (is_mapped, adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_HOVER_CARD, NULL), 20);
  shoot (window, "hover");
  adj_graph_view_hover (canvas, ADJ_NO_BOX, ADJ_NO_BOX);
  adj_graph_view_set_role (canvas, ADJ_ROLE_SAVED);
  shoot (window, "role");
  adj_graph_view_set_role (canvas, ADJ_ROLE_NONE);
  gtk_search_bar_set_search_mode (GTK_SEARCH_BAR (bar), TRUE);
  gtk_editable_set_text (GTK_EDITABLE (adj_walk_find (bar, GTK_TYPE_SEARCH_ENTRY, NULL)), "mlp");
  shoot (window, "quick-find");
  gtk_search_bar_set_search_mode (GTK_SEARCH_BAR (bar), FALSE);
  adj_document_set_selected (document, gelu);
}

static void
walk_pictures (AdjWindow *window)
{
  g_autofree char *gpt2 = sample ("gpt2.adjoint");

  show_graph (window, gpt2, "joint");
  shoot (window, "joint");
  act (window, "win.fit");
  shoot (window, "overview");
  adj_walk_select (window, "gelu");
  act (window, "win.fit-selection");
  shoot (window, "node");
  act (window, "win.edge-labels::shape");
  shoot (window, "labels");
  act (window, "win.edge-labels::nothing");
  view (window, "win.view::flow");
  shoot (window, "flow");
  view (window, "win.view::stacked");
  shoot (window, "stacked");
  view (window, "win.view::mirror");
  act (window, "win.fit-selection");
  {
    AdjDocument *document = adj_window_get_document (window);
    const AdjGraph *graph = adj_document_get_graph (document)->graph;

    adj_document_choose_more (document, adj_graph_find_node (graph, "addmm_2"), FALSE);
    adj_document_choose_more (document, adj_graph_find_node (graph, "native_layer_norm_1"), FALSE);
    shoot (window, "several");
    adj_document_set_selected (document, adj_graph_find_node (graph, "gelu"));
  }
  walk_pointer (window);
  adj_window_show_page (window, "text");
  shoot (window, "text");
  adj_window_show_page (window, "memory");
  act (window, "win.color-by::bytes");
  shoot (window, "memory");
  act (window, "win.color-by::role");
}

/* The partition plans of a joint graph, and opening a chosen one. */
static gboolean
has_curve (gpointer window)
{
  GtkWidget *chart = adj_walk_find (window, ADJ_TYPE_PARETO_CHART, NULL);

  return chart != NULL && gtk_widget_get_mapped (chart);
}

static void
walk_partitions (AdjWindow *window)
{
  g_autofree char *sac = sample ("sac.adjoint");

  show_graph (window, sac, "forward+backward");
  act (window, "win.fit");
  shoot (window, "pair");
  adj_walk_select (window, "addmm_2");
  act (window, "win.fit-selection");
  shoot (window, "ghost");
  adj_window_show_page (window, "partitions");
  adj_walk_settle (window);
  shoot (window, "partitions-work");
  adj_wait_until (has_curve, window, 60);
  shoot (window, "partitions");
}

static void
walk_search (AdjWindow *window)
{
  GtkWidget *root = GTK_WIDGET (window), *entry;

  adj_window_find (window);
  adj_walk_settle (window);
  entry = adj_walk_find (root, GTK_TYPE_SEARCH_ENTRY, NULL);
  gtk_editable_set_text (GTK_EDITABLE (entry), "op:mm module:mlp");
  for (guint i = 0; i < 30; i++)
    adj_walk_settle (window);
  adj_window_find_step (window, 1);
  shoot (window, "search");
  gtk_editable_set_text (GTK_EDITABLE (entry), "");
  gtk_popover_popdown (GTK_POPOVER (gtk_widget_get_ancestor (entry, GTK_TYPE_POPOVER)));
  adj_walk_settle (window);
}

static void
walk_palette (AdjWindow *window)
{
  static const char *const queries[] = { "", "comp", "gelu", "no such thing" };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    {
      g_autofree char *name = g_strdup_printf ("palette-%u", i);
      GtkWidget *palette;

      act (window, "win.palette");
      palette = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_COMMAND_PALETTE, NULL);
      gtk_editable_set_text (GTK_EDITABLE (adj_walk_find (palette, GTK_TYPE_TEXT, NULL)),
                             queries[i]);
      shoot (window, name);
      gtk_popover_popdown (GTK_POPOVER (palette));
      adj_walk_settle (window);
    }
}

static GtkWidget *
find_menu (GtkWidget *root, const char *tooltip)
{
  if (GTK_IS_MENU_BUTTON (root) && g_strcmp0 (gtk_widget_get_tooltip_text (root), tooltip) == 0)
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_menu (child, tooltip);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
shoot_menu (AdjWindow *window, const char *tooltip, const char *name)
{
  GtkWidget *button = find_menu (GTK_WIDGET (window), tooltip);

  if (button == NULL)
    return;
  gtk_menu_button_popup (GTK_MENU_BUTTON (button));
  shoot (window, name);
  gtk_menu_button_popdown (GTK_MENU_BUTTON (button));
  adj_walk_settle (window);
}

/* Context menus of the canvas and of lists. */
static void
walk_menus (AdjWindow *window)
{
  GtkWidget *canvas = GTK_WIDGET (adj_window_get_view (window));
  GtkWidget *menu;

  adj_walk_select (window, "gelu");
  act (window, "win.fit-selection");
  menu = adj_walk_ask_menu (canvas, 4, gtk_widget_get_height (canvas) - 8.0);
  shoot (window, "menu-canvas");
  gtk_popover_popdown (GTK_POPOVER (menu));
  menu = adj_walk_ask_menu (canvas, -1, -1);
  shoot (window, "menu-node");
  gtk_popover_popdown (GTK_POPOVER (menu));
  adj_walk_settle (window);
}

/* Saved runs, and the question before one is discarded. */
static void
walk_kept (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *page;

  adj_walk_choose_graph (window, "joint");
  adj_walk_run (window, "win.run");
  adj_document_keep_run (document, "before the change", TRUE);
  act (window, "win.keep-run");
  shoot_dialog (window, "Keep This Run?", "keep-run");
  adj_document_set_run_choice (document, (AdjRunChoice){ .random = TRUE, .seed = 3 });
  adj_walk_run (window, "win.run");
  adj_document_keep_run (document, "seed 3, outputs only", FALSE);
  act (window, "win.inputs::run-before the change");
  adj_walk_run (window, "win.compare");
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_RUN_PAGE);
  gtk_widget_grab_focus (
      adj_walk_find (adj_walk_find_row (page, "before the change"), GTK_TYPE_BUTTON, NULL));
  shoot (window, "kept-runs");
  adj_document_undo (document, -1);
  adj_document_undo (document, -1);
  adj_walk_choose_graph (window, "forward+backward");
}

static void
walk_runs (AdjWindow *window)
{
  g_autofree char *svg = g_build_filename (g_get_tmp_dir (), "gpt2-joint.svg", NULL);
  AdjDocument *document = adj_window_get_document (window);

  shoot_menu (window, "Run and Compare", "run-menu");
  shoot_menu (window, "Main Menu", "main-menu");
  act (window, "win.run-setup");
  shoot (window, "run-empty");
  {
    AdjRunChoice choice = { .close = TRUE, .rtol = 1e-4, .atol = 1e-6 };

    adj_document_set_run_choice (document, choice);
    adj_walk_run (window, "win.compare");
    shoot (window, "run");
    walk_kept (window);
    adj_document_set_run_choice (document, (AdjRunChoice){ 0 });
    adj_window_show_page (window, "values");
  }
  act (window, "win.inputs::random");
  shoot_dialog (window, "Random Inputs", "seed");
  adj_walk_select (window, "gelu");
  adj_walk_run (window, "win.compare");
  act (window, "win.fit-selection");
  shoot (window, "compared");
  act (window, "win.color-by::error");
  act (window, "win.fit");
  shoot (window, "error-heat");
  act (window, "win.color-by::time");
  view (window, "win.fold-all");
  adj_window_show_page (window, "log");
  shoot (window, "folded");
  act (window, "win.color-by::role");
  adj_document_export (document, svg, NULL, ADJ_SCHEME_LIGHT);
  adj_wait_until (is_done, document, 20);
  shoot (window, "exported");
  g_remove (svg);
}

/* A file in which one argument was changed after PyTorch ran it. */
static void
walk_difference (AdjWindow *window)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "planted.adjoint", NULL);
  g_autofree char *gpt2 = sample ("gpt2.adjoint");

  adj_planted_write (gpt2, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  show_graph (window, path, "joint");
  adj_walk_run (window, "win.compare");
  act (window, "win.fit-selection");
  shoot (window, "difference");
  gtk_stack_set_visible_child_name (
      GTK_STACK (
          adj_walk_find (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_DIFFERENCE_PANE),
                         GTK_TYPE_STACK, NULL)),
      "numbers");
  adj_walk_settle (window);
  shoot (window, "numbers");
  g_remove (path);
}

static gboolean
is_long (gpointer data)
{
  return adj_document_can_show_modules (data) || adj_document_get_scene (data) != NULL;
}

static gboolean
has_scene (gpointer document)
{
  return adj_document_get_scene (document) != NULL;
}

/* A long layout, and the modules shown instead. */
static void
walk_long (AdjWindow *window)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "deep.txt", NULL);
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (400, TRUE);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);

  g_file_set_contents (path, text, -1, NULL);
  adj_window_open (window, file);
  adj_wait_until (is_long, adj_window_get_document (window), 60);
  shoot (window, "long");
  act (window, "win.modules-only");
  adj_wait_until (has_scene, adj_window_get_document (window), 60);
  shoot (window, "modules-only");
  g_remove (path);
}

/* A backward captured by compiled autograd. */
static void
walk_backward (AdjWindow *window)
{
  g_autofree char *ddp = sample ("mlp-ddp.adjoint");
  g_autofree char *hooks = sample ("gpt2-hooks.adjoint");

  show_graph (window, ddp, "compiled_autograd");
  adj_walk_select (window, "accumulate_grad__5");
  adj_window_show_page (window, "backward");
  shoot (window, "backward");
  show_graph (window, hooks, "compiled_autograd");
  adj_walk_select (window, "call_hook");
  adj_window_show_page (window, "source");
  shoot (window, "hook");
}

/* Opens the graph with this role that one of the library's programs is traced to. */
static void
show_program (AdjWindow *window, const char *program, const char *role)
{
  g_autofree char *name = g_strdup_printf ("%s.adjoint", program);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) bundle = NULL;

  adj_program_record (adj_builtin_program_find (program), NULL, &result, NULL);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, NULL);
  show_graph (window, path, role);
  g_remove (path);
}

/* Objects: the thread of the tokens, a method with its schema, a state before and after a run. */
static void
walk_objects (AdjWindow *window)
{
  show_program (window, "queue", "cse");
  adj_walk_select (window, "with_effects_2");
  shoot (window, "objects");
  adj_walk_select (window, "arg1_1");
  adj_walk_run (window, "win.run");
  shoot (window, "object-queue");
  show_program (window, "lookup-table", "joint");
  adj_walk_select (window, "primals_2");
  adj_walk_run (window, "win.run");
  shoot (window, "object-state");
}

/* An unsaved trace, and the question when it is closed. */
static void
walk_question (AdjWindow *window)
{
  act (window, "win.trace");
  adj_wait_until (is_done, adj_window_get_document (window), 60);
  act (window, "win.close-tab");
  shoot (window, "unsaved");
  shoot_dialog (window, "Save planted.adjoint, traced?", "save-question");
}

/* A truncated file with one unreadable graph. */
static void
walk_damage (AdjWindow *window)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "damaged.adjoint", NULL);
  g_autofree char *partial = g_build_filename (g_get_tmp_dir (), "partial.txt", NULL);
  g_autofree char *gpt2 = sample ("gpt2.adjoint");
  g_autofree char *contents = NULL;
  gsize length;

  if (g_file_get_contents (gpt2, &contents, &length, NULL) &&
      g_file_set_contents (path, contents, (gssize) (length / 2), NULL))
    adj_walk_open (window, path);
  shoot (window, "problem");
  g_remove (path);
  g_file_set_contents (partial,
                       "class GraphModule(torch.nn.Module):\n"
                       "    def forward(self, x: \"f32[2, 3]\"):\n"
                       "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(y)\n"
                       "        sin: \"f32[2, 3]\" = torch.ops.aten.sin.default(relu)\n"
                       "        return (sin,)\n",
                       -1, NULL);
  adj_walk_open (window, partial);
  shoot (window, "partial");
  g_remove (partial);
}

static void
walk_small (AdjApplication *application)
{
  AdjWindow *window = adj_walk_open_window (application, 800, 600);
  g_autofree char *mlp = sample ("mlp.adjoint");

  show_graph (window, mlp, "joint");
  adj_walk_select (window, "gelu");
  shoot (window, "small");
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char *argv[])
{
  g_autoptr (AdjApplication) application = NULL;
  AdjWindow *window;

  if (argc != 5 || !adj_walk_init ())
    {
      g_printerr ("usage: shoot GRAPHS FOLDER light|dark SUFFIX, with a display\n");
      return 2;
    }
  graphs = argv[1];
  out = argv[2];
  g_mkdir_with_parents (out, 0755);
  suffix = argv[4];
  application = adj_application_new (G_APPLICATION_NON_UNIQUE);
  g_application_register (G_APPLICATION (application), NULL, NULL);
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (),
                                      g_str_equal (argv[3], "dark") ? ADW_COLOR_SCHEME_FORCE_DARK
                                                                    : ADW_COLOR_SCHEME_FORCE_LIGHT);

  window = adj_walk_open_window (application, 1440, 900);
  walk_start (window);
  walk_pictures (window);
  walk_partitions (window);
  walk_search (window);
  walk_palette (window);
  walk_menus (window);
  walk_runs (window);
  walk_difference (window);
  walk_question (window);
  walk_long (window);
  walk_backward (window);
  walk_objects (window);
  walk_damage (window);
  gtk_window_destroy (GTK_WINDOW (window));
  walk_small (application);
  return 0;
}
