/* SPDX-License-Identifier: MIT */
#include "window/window-actions.h"

#include <string.h>

#include "model/adj-stages.h"
#include "window/window-dialogs.h"

#define ZOOM_STEP 1.25f
#define CALL_PREFIX "call-"

typedef void (*Run) (AdjWindow *self, GVariant *parameter);

typedef enum
{
  ALWAYS,
  WITH_GRAPH,
  WITH_SELECTION,
  WHILE_BUSY,
  WITH_PROBLEM,
  BACK,
  AHEAD,
  UNDO,
  REDO,
  EARLIER,
  LATER,
} Needs;

static void
run_open (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_open (self);
}

static void
run_paste (AdjWindow *self, GVariant *parameter)
{
  adj_window_paste (self);
}

static void
run_export (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_export (self);
}

static void
run_save_as (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_save (self);
}

static void
run_show_file (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_file (self, g_variant_get_string (parameter, NULL));
}

static void
run_open_uri (AdjWindow *self, GVariant *parameter)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  adj_window_open (self, file);
}

static void
run_new_tab (AdjWindow *self, GVariant *parameter)
{
  adj_window_new_tab (self);
}

static void
run_close_tab (AdjWindow *self, GVariant *parameter)
{
  adj_window_close_tab (self);
}

static void
run_run (AdjWindow *self, GVariant *parameter)
{
  adj_document_run (adj_window_get_document (self), FALSE);
}

static void
run_compare (AdjWindow *self, GVariant *parameter)
{
  adj_document_run (adj_window_get_document (self), TRUE);
}

static void
run_compare_with (AdjWindow *self, GVariant *parameter)
{
  const char *id;
  guint tab;

  g_variant_get (parameter, "(u&s)", &tab, &id);
  adj_window_compare_with (self, tab, id);
}

/* From the selected node on, in order of execution. */
static void
step_difference (AdjWindow *self, gint step)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjEvaluation *evaluation = adj_document_get_evaluation (document);
  const AdjComparison *comparison =
      evaluation != NULL ? adj_evaluation_get_comparison (evaluation) : NULL;
  guint selected = adj_document_get_selected (document).index;
  const AdjValueComparison *found = NULL;

  for (guint i = 0; comparison != NULL && i < comparison->n_nodes; i++)
    {
      const AdjValueComparison *node = &comparison->nodes[i];

      if (node->verdict != ADJ_VERDICT_DIFFERS)
        continue;
      if (step < 0 && node->node.index < selected)
        found = node;
      if (step > 0 && found == NULL && (selected == G_MAXUINT32 || node->node.index > selected))
        found = node;
    }
  if (found != NULL)
    adj_document_set_selected (document, found->node);
}

static void
run_next_difference (AdjWindow *self, GVariant *parameter)
{
  step_difference (self, 1);
}

static void
run_previous_difference (AdjWindow *self, GVariant *parameter)
{
  step_difference (self, -1);
}

static void
run_focus_canvas (AdjWindow *self, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (self)));
}

static void
run_trace (AdjWindow *self, GVariant *parameter)
{
  AdjDocument *source = adj_window_get_document (self);

  adj_window_new_tab (self);
  adj_document_open_trace (adj_window_get_document (self), source);
  adj_window_show_page (self, "changes");
}

static void
run_previous_stage (AdjWindow *self, GVariant *parameter)
{
  adj_stages_step (adj_window_get_document (self), -1);
}

static void
run_next_stage (AdjWindow *self, GVariant *parameter)
{
  adj_stages_step (adj_window_get_document (self), 1);
}

static void
run_stop (AdjWindow *self, GVariant *parameter)
{
  adj_document_stop (adj_window_get_document (self));
}

static void
run_back (AdjWindow *self, GVariant *parameter)
{
  adj_document_go (adj_window_get_document (self), -1);
}

static void
run_forward (AdjWindow *self, GVariant *parameter)
{
  adj_document_go (adj_window_get_document (self), 1);
}

static void
run_undo (AdjWindow *self, GVariant *parameter)
{
  adj_document_undo (adj_window_get_document (self), -1);
}

static void
run_redo (AdjWindow *self, GVariant *parameter)
{
  adj_document_undo (adj_window_get_document (self), 1);
}

static void
run_flow (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_next (adj_window_get_view (self), TRUE);
  adj_document_set_view (adj_window_get_document (self), ADJ_VIEW_FLOW);
}

static void
run_find (AdjWindow *self, GVariant *parameter)
{
  adj_window_find (self);
}

static void
run_find_next (AdjWindow *self, GVariant *parameter)
{
  adj_window_find_step (self, 1);
}

static void
run_find_previous (AdjWindow *self, GVariant *parameter)
{
  adj_window_find_step (self, -1);
}

static void
run_zoom_in (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_by (adj_window_get_view (self), ZOOM_STEP);
}

static void
run_zoom_out (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_by (adj_window_get_view (self), 1 / ZOOM_STEP);
}

static void
run_zoom_100 (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_to (adj_window_get_view (self), 1);
}

static void
run_fit (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit (adj_window_get_view (self));
}

static void
run_fit_selection (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_selection (adj_window_get_view (self));
}

static void
run_fold_all (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_next (adj_window_get_view (self), FALSE);
  adj_document_set_fold_depth (adj_window_get_document (self), 1);
}

static void
run_unfold_all (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_next (adj_window_get_view (self), FALSE);
  adj_document_set_fold_depth (adj_window_get_document (self), 0);
}

static void
run_select_node (AdjWindow *self, GVariant *parameter)
{
  adj_document_set_selected (adj_window_get_document (self),
                             (AdjNodeId){ g_variant_get_uint32 (parameter) });
}

static void
run_show_page (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_page (self, g_variant_get_string (parameter, NULL));
}

static void
run_copy_details (AdjWindow *self, GVariant *parameter)
{
  adj_window_copy_details (self);
}

static void
run_fullscreen (AdjWindow *self, GVariant *parameter)
{
  if (gtk_window_is_fullscreen (GTK_WINDOW (self)))
    gtk_window_unfullscreen (GTK_WINDOW (self));
  else
    gtk_window_fullscreen (GTK_WINDOW (self));
}

static const struct
{
  const char *name;
  Run run;
  Needs needs;
  const char *parameter; /* (nullable): its type */
  const char *accels[3];
} actions[] = {
  { "open", run_open, ALWAYS, NULL, { "<Control>o" } },
  { "open-uri", run_open_uri, ALWAYS, "s", { NULL } },
  { "new-tab", run_new_tab, ALWAYS, NULL, { "<Control>t" } },
  { "close-tab", run_close_tab, ALWAYS, NULL, { "<Control>w" } },
  { "paste", run_paste, ALWAYS, NULL, { NULL } },
  { "save-as", run_save_as, WITH_GRAPH, NULL, { "<Control>s", "<Control><Shift>s" } },
  { "export", run_export, WITH_GRAPH, NULL, { "<Control><Shift>e" } },
  { "show-file", run_show_file, ALWAYS, "s", { NULL } },
  { "run", run_run, WITH_GRAPH, NULL, { "F5" } },
  { "compare", run_compare, WITH_GRAPH, NULL, { "<Shift>F5" } },
  { "compare-with", run_compare_with, WITH_GRAPH, "(us)", { NULL } },
  { "next-difference", run_next_difference, WITH_GRAPH, NULL, { NULL } },
  { "previous-difference", run_previous_difference, WITH_GRAPH, NULL, { NULL } },
  { "focus-canvas", run_focus_canvas, WITH_GRAPH, NULL, { "F6" } },
  { "trace", run_trace, WITH_GRAPH, NULL, { "<Control>d" } },
  { "previous-stage", run_previous_stage, EARLIER, NULL, { "bracketleft" } },
  { "next-stage", run_next_stage, LATER, NULL, { "bracketright" } },
  { "stop", run_stop, WHILE_BUSY, NULL, { "Escape" } },
  { "back", run_back, BACK, NULL, { "<Alt>Left" } },
  { "forward", run_forward, AHEAD, NULL, { "<Alt>Right" } },
  { "undo", run_undo, UNDO, NULL, { "<Control>z" } },
  { "redo", run_redo, REDO, NULL, { "<Control><Shift>z" } },
  { "flow", run_flow, WITH_SELECTION, NULL, { NULL } },
  { "find", run_find, WITH_GRAPH, NULL, { "<Control>f" } },
  { "find-next", run_find_next, WITH_GRAPH, NULL, { "<Control>g" } },
  { "find-previous", run_find_previous, WITH_GRAPH, NULL, { "<Control><Shift>g" } },
  { "zoom-in", run_zoom_in, WITH_GRAPH, NULL, { "<Control>plus", "<Control>equal" } },
  { "zoom-out", run_zoom_out, WITH_GRAPH, NULL, { "<Control>minus" } },
  { "zoom-100", run_zoom_100, WITH_GRAPH, NULL, { "<Control>0" } },
  { "fit", run_fit, WITH_GRAPH, NULL, { "<Control>Home" } },
  { "fit-selection", run_fit_selection, WITH_SELECTION, NULL, { "<Control>9" } },
  { "fold-all", run_fold_all, WITH_GRAPH, NULL, { NULL } },
  { "unfold-all", run_unfold_all, WITH_GRAPH, NULL, { NULL } },
  { "select-node", run_select_node, WITH_GRAPH, "u", { NULL } },
  { "show-page", run_show_page, ALWAYS, "s", { NULL } },
  { "copy-details", run_copy_details, WITH_PROBLEM, NULL, { NULL } },
  { "fullscreen", run_fullscreen, ALWAYS, NULL, { "F11" } },
};

static const struct
{
  const char *name;
  const char *accels[3];
} others[] = {
  { "win.show-sidebar", { "F9" } },
  { "win.show-inspector", { "<Control>F9" } },
  { "win.show-panel", { "<Control>F10" } },
  { "win.show-help-overlay", { "<Control>question", "F1" } },
  { "app.quit", { "<Control>q" } },
  { "app.new-window", { "<Control>n" } },
};

static void
on_activate (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const char *name = g_action_get_name (G_ACTION (action));

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    if (g_str_equal (name, actions[i].name))
      actions[i].run (ADJ_WINDOW (data), parameter);
}

/* -- choices: their state is what the document has -- */

static const char *const view_names[] = {
  [ADJ_VIEW_MIRROR] = "mirror",
  [ADJ_VIEW_STACKED] = "stacked",
  [ADJ_VIEW_FLOW] = "flow",
};

static void
on_view_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (view_names); i++)
    if (g_str_equal (g_variant_get_string (value, NULL), view_names[i]))
      {
        adj_graph_view_fit_next (adj_window_get_view (ADJ_WINDOW (data)), i == ADJ_VIEW_FLOW);
        adj_document_set_view (adj_window_get_document (ADJ_WINDOW (data)), i);
      }
}

static void
on_coloring_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  AdjColoring coloring = adj_coloring_find (g_variant_get_string (value, NULL));

  if (coloring < ADJ_N_COLORINGS)
    adj_document_set_coloring (adj_window_get_document (ADJ_WINDOW (data)), coloring);
}

static void
on_labeling_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  AdjLabeling labeling = adj_labeling_find (g_variant_get_string (value, NULL));

  if (labeling < ADJ_N_LABELINGS)
    adj_document_set_labeling (adj_window_get_document (ADJ_WINDOW (data)), labeling);
}

/* "call-0" … or "random", which asks for the seed; the state is the choice of the document. */
static void
on_inputs_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  AdjDocument *document = adj_window_get_document (ADJ_WINDOW (data));
  AdjRunChoice choice = adj_document_get_run_choice (document);
  const char *name = g_variant_get_string (value, NULL);
  guint64 call;

  if (g_str_equal (name, "random"))
    {
      adj_window_ask_seed (ADJ_WINDOW (data));
      return;
    }
  if (!g_str_has_prefix (name, CALL_PREFIX) ||
      !g_ascii_string_to_unsigned (name + strlen (CALL_PREFIX), 10, 0, G_MAXUINT, &call, NULL))
    return;
  choice.random = FALSE;
  choice.call = (guint) call;
  adj_document_set_run_choice (document, choice);
}

static void
on_float64_changed (GSimpleAction *action, GVariant *value, gpointer data)
{
  AdjDocument *document = adj_window_get_document (ADJ_WINDOW (data));
  AdjRunChoice choice = adj_document_get_run_choice (document);

  choice.float64 = g_variant_get_boolean (value);
  adj_document_set_run_choice (document, choice);
}

static void
add_choice (AdjWindow *self, const char *name, GVariant *state, GCallback changed)
{
  gboolean chooses = g_variant_is_of_type (state, G_VARIANT_TYPE_STRING);
  g_autoptr (GSimpleAction) action =
      g_simple_action_new_stateful (name, chooses ? G_VARIANT_TYPE_STRING : NULL, state);

  g_signal_connect (action, "change-state", changed, self);
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
}

void
adj_window_add_actions (AdjWindow *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      const char *type = actions[i].parameter;
      g_autoptr (GSimpleAction) action =
          g_simple_action_new (actions[i].name, type != NULL ? G_VARIANT_TYPE (type) : NULL);

      g_signal_connect (action, "activate", G_CALLBACK (on_activate), self);
      g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
    }
  add_choice (self, "view", g_variant_new_string ("mirror"), G_CALLBACK (on_view_changed));
  add_choice (self, "color-by", g_variant_new_string ("role"), G_CALLBACK (on_coloring_changed));
  add_choice (self, "edge-labels", g_variant_new_string ("nothing"),
              G_CALLBACK (on_labeling_changed));
  add_choice (self, "inputs", g_variant_new_string ("call-0"), G_CALLBACK (on_inputs_changed));
  add_choice (self, "float64", g_variant_new_boolean (FALSE), G_CALLBACK (on_float64_changed));
}

static gboolean
is_possible (AdjDocument *document, Needs needs)
{
  switch (needs)
    {
    case ALWAYS:
      return TRUE;
    case WITH_GRAPH:
      return adj_document_get_graph (document) != NULL;
    case WITH_SELECTION:
      return adj_node_id_is_valid (adj_document_get_selected (document));
    case WHILE_BUSY:
      return adj_document_is_running (document) || adj_document_get_status (document) != NULL;
    case WITH_PROBLEM:
      return adj_document_get_error (document) != NULL;
    case BACK:
      return adj_document_can_go (document, -1);
    case AHEAD:
      return adj_document_can_go (document, 1);
    case UNDO:
      return adj_document_can_undo (document, -1);
    case REDO:
      return adj_document_can_undo (document, 1);
    case EARLIER:
      return adj_stages_can_step (document, -1);
    case LATER:
      return adj_stages_can_step (document, 1);
    }
  return FALSE;
}

void
adj_window_update_actions (AdjWindow *self)
{
  AdjDocument *document = adj_window_get_document (self);
  const AdjArrangement *arrangement = adj_document_get_arrangement (document);
  AdjRunChoice choice = adj_document_get_run_choice (document);
  g_autofree char *inputs =
      choice.random ? g_strdup ("random") : g_strdup_printf (CALL_PREFIX "%u", choice.call);
  const struct
  {
    const char *name;
    GVariant *state;
  } choices[] = {
    { "view", g_variant_new_string (view_names[arrangement->view]) },
    { "color-by", g_variant_new_string (adj_coloring_name (arrangement->coloring)) },
    { "edge-labels", g_variant_new_string (adj_labeling_name (arrangement->labeling)) },
    { "inputs", g_variant_new_string (inputs) },
    { "float64", g_variant_new_boolean (choice.float64) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    g_simple_action_set_enabled (
        G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), actions[i].name)),
        is_possible (document, actions[i].needs));
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    {
      GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), choices[i].name);

      g_simple_action_set_state (G_SIMPLE_ACTION (action), choices[i].state);
      g_simple_action_set_enabled (G_SIMPLE_ACTION (action), is_possible (document, WITH_GRAPH));
    }
}

void
adj_window_add_accels (GtkApplication *application)
{
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      g_autofree char *name = g_strconcat ("win.", actions[i].name, NULL);

      if (actions[i].accels[0] != NULL)
        gtk_application_set_accels_for_action (application, name, actions[i].accels);
    }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    gtk_application_set_accels_for_action (application, others[i].name, others[i].accels);
}
