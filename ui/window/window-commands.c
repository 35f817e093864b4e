/* SPDX-License-Identifier: MIT */
/* The table of commands: title, keys, condition, and function. */

#include "window/window-commands.h"

#include <glib/gi18n.h>

#include "model/adj-changes.h"
#include "model/adj-playback.h"
#include "model/adj-stages.h"
#include "partition/adj-partition.h"
#include "widgets/node-rows.h"
#include "window/window-choices.h"
#include "window/window-dialogs.h"
#include "window/window-looking.h"
#include "window/window-menus.h"
#include "window/window-printing.h"
#include "window/window-saving.h"

static void
run_open (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_open (self);
}

static void
run_open_folder (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_open_folder (self);
}

static void
run_paste (AdjWindow *self, GVariant *parameter)
{
  adj_window_paste (self);
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

static void
run_lay_beside (AdjWindow *self, GVariant *parameter)
{
  const char *id;
  guint tab;

  g_variant_get (parameter, "(u&s)", &tab, &id);
  adj_window_lay_beside (self, tab, id);
}

static void
run_compare_values (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_values (self);
}

static void
run_lay_snapshot (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_snapshot (self);
}

static void
run_keep (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_keep (self);
}

static void
run_remove_run (AdjWindow *self, GVariant *parameter)
{
  adj_document_remove_run (adj_window_get_document (self), g_variant_get_string (parameter, NULL));
}

static void
run_next_change (AdjWindow *self, GVariant *parameter)
{
  adj_changes_step (adj_window_get_document (self), 1);
}

static void
run_previous_change (AdjWindow *self, GVariant *parameter)
{
  adj_changes_step (adj_window_get_document (self), -1);
}

static void
run_next_step (AdjWindow *self, GVariant *parameter)
{
  adj_playback_step (adj_window_get_document (self), 1);
}

static void
run_previous_step (AdjWindow *self, GVariant *parameter)
{
  adj_playback_step (adj_window_get_document (self), -1);
}

static void
run_step_backward (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_page (self, "backward");
  adj_document_step_backward (adj_window_get_document (self), FALSE);
}

static void
run_continue_backward (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_page (self, "backward");
  adj_document_step_backward (adj_window_get_document (self), TRUE);
}

static void
run_toggle_breakpoint (AdjWindow *self, GVariant *parameter)
{
  adj_document_toggle_breakpoint (adj_window_get_document (self));
}

static void
run_focus_canvas (AdjWindow *self, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (self)));
}

static void
run_trace (AdjWindow *self, GVariant *parameter)
{
  adj_window_ask_trace (self);
}

/* @parameter: partitioner, budget, and whether it decides as PyTorch does. */
static void
run_open_partition (AdjWindow *self, GVariant *parameter)
{
  AdjDocument *source = adj_window_get_document (self);
  AdjPartitionChoice choice = { NULL };
  const AdjPartitioner *partitioner;
  const char *name;

  g_variant_get (parameter, "(&sdb)", &name, &choice.budget, &choice.compat);
  partitioner = adj_partitioner_find (name, NULL);
  if (partitioner == NULL)
    return;
  choice.partitioner = partitioner->name;
  adj_window_new_tab (self);
  adj_document_open_partition (adj_window_get_document (self), source, &choice);
  adj_window_show_page (self, "partitions");
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
run_stage (AdjWindow *self, GVariant *parameter)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjRecording *recording = adj_stages_get_recording (document);
  guint stage = g_variant_get_uint32 (parameter);

  if (recording != NULL && stage < adj_recording_get_n_stages (recording))
    adj_stages_show (document, stage);
}

static void
run_show_graph (AdjWindow *self, GVariant *parameter)
{
  AdjDocument *document = adj_window_get_document (self);
  guint index = adj_graph_set_find (adj_document_get_graphs (document),
                                    g_variant_get_string (parameter, NULL), NULL);

  if (index != G_MAXUINT)
    adj_document_set_graph_index (document, index);
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
run_select_node (AdjWindow *self, GVariant *parameter)
{
  adj_document_set_selected (adj_window_get_document (self),
                             (AdjNodeId){ g_variant_get_uint32 (parameter) });
}

/* @parameter: index of a graph in the document, and a node of it. */
static void
run_show_node (AdjWindow *self, GVariant *parameter)
{
  guint graph, node;

  g_variant_get (parameter, "(uu)", &graph, &node);
  adj_document_show (adj_window_get_document (self), graph, (AdjNodeId){ node });
}

static void
run_show_nodes (AdjWindow *self, GVariant *parameter)
{
  adj_node_rows_show (adj_window_get_document (self), g_variant_get_string (parameter, NULL));
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
run_focus_panel (AdjWindow *self, GVariant *parameter)
{
  adj_window_focus_panel (self);
}

static void
run_setup (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_page (self, "run");
  adj_window_focus_panel (self);
}

static void
run_copy_names (AdjWindow *self, GVariant *parameter)
{
  g_autofree char *names = adj_document_list_names (adj_window_get_document (self));

  if (names != NULL)
    adj_window_copy (self, names);
}

static void
run_copy_nodes (AdjWindow *self, GVariant *parameter)
{
  g_autofree char *names = adj_node_rows_list_names (g_variant_get_string (parameter, NULL));

  adj_window_copy (self, names);
}

static void
run_select_inputs (AdjWindow *self, GVariant *parameter)
{
  adj_document_choose_neighbours (adj_window_get_document (self), FALSE);
}

static void
run_select_users (AdjWindow *self, GVariant *parameter)
{
  adj_document_choose_neighbours (adj_window_get_document (self), TRUE);
}

static void
run_palette (AdjWindow *self, GVariant *parameter)
{
  adj_window_open_palette (self);
}

static void
run_preferences (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_preferences (self);
}

static void
run_shortcuts (AdjWindow *self, GVariant *parameter)
{
  adj_window_show_shortcuts (self);
}

/* -- the table -- */

static const AdjCommand commands[] = {
  { "win.open", N_ ("Open…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = run_open,
    .accels = { "<Control>o" } },
  { "win.open-folder", N_ ("Open Folder…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .run = run_open_folder, .accels = { "<Control><Shift>o" } },
  { "win.open-uri", NULL, ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = run_open_uri,
    .parameter = "s" },
  { "win.new-tab", N_ ("New Tab"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = run_new_tab,
    .accels = { "<Control>t" } },
  { "win.close-tab", N_ ("Close Tab"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = run_close_tab,
    .accels = { "<Control>w" } },
  { "win.paste", N_ ("Paste a Graph as Text"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .run = run_paste, .menus = ADJ_MENU_CANVAS },
  { "win.save", N_ ("Save"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH, .run = adj_save,
    .accels = { "<Control>s" } },
  { "win.save-as", N_ ("Save As…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH, .run = adj_save_as,
    .accels = { "<Control><Shift>s" } },
  { "win.export", N_ ("Export Picture…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH, .run = adj_export,
    .accels = { "<Control><Shift>e" }, .menus = ADJ_MENU_CANVAS },
  { "win.export-view", N_ ("Export Picture of the View…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH,
    .run = adj_export_view, .menus = ADJ_MENU_CANVAS },
  { "win.export-selection", N_ ("Export Picture of the Selection…"), ADJ_COMMANDS_FILES,
    ADJ_NEEDS_SELECTION, .run = adj_export_selection,
    .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.report", N_ ("Export Report…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH,
    .run = adj_export_report, .accels = { "<Control><Shift>r" }, .menus = ADJ_MENU_CANVAS },
  { "win.print", N_ ("Print…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_GRAPH, .run = adj_print,
    .accels = { "<Control>p" }, .menus = ADJ_MENU_CANVAS },
  { "win.save-module", N_ ("Save the Capture Module…"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .run = adj_save_module },
  { "win.copy-link", N_ ("Copy Link"), ADJ_COMMANDS_FILES, ADJ_NEEDS_FILE, .run = adj_copy_link,
    .accels = { "<Control><Shift>c" },
    .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE | ADJ_MENU_CANVAS },
  { "win.copy-graph-link", N_ ("Copy Link to the Graph"), ADJ_COMMANDS_FILES, ADJ_NEEDS_FILE,
    .run = adj_copy_graph_link, .parameter = "s", .menus = ADJ_MENU_GRAPH },
  { "win.show-file", NULL, ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = run_show_file,
    .parameter = "s" },
  { "win.copy-details", N_ ("Copy Details of the Problem"), ADJ_COMMANDS_FILES, ADJ_NEEDS_PROBLEM,
    .run = run_copy_details },
  { "win.context-menu", NULL, ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = adj_window_pop_menu,
    .parameter = "(usiiii)" },
  { "win.palette", N_ ("Find a Command"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_NOTHING, .run = run_palette,
    .accels = { "<Control>k" } },
  { "win.find", N_ ("Find Nodes"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = run_find,
    .accels = { "<Control>f" }, .menus = ADJ_MENU_CANVAS },
  { "win.find-next", N_ ("Next Found Node"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH,
    .run = run_find_next, .accels = { "<Control>g" } },
  { "win.find-previous", N_ ("Previous Found Node"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH,
    .run = run_find_previous, .accels = { "<Control><Shift>g" } },
  { "win.show-graph", N_ ("Show Graph"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = run_show_graph,
    .parameter = "s", .menus = ADJ_MENU_GRAPH },
  { "win.stage", NULL, ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_stage, .parameter = "u" },
  { "win.select-node", NULL, ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = run_select_node,
    .parameter = "u" },
  { "win.show-node", NULL, ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = run_show_node,
    .parameter = "(uu)" },
  { "win.show-nodes", N_ ("Show in Its Graph"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH,
    .run = run_show_nodes, .parameter = "s", .menus = ADJ_MENU_ELSEWHERE },
  { "win.copy-nodes", N_ ("Copy Names"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH, .run = run_copy_nodes,
    .parameter = "s", .menus = ADJ_MENU_ELSEWHERE },
  { "win.select-inputs", N_ ("Select Inputs"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_SELECTION,
    .run = run_select_inputs, .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.select-users", N_ ("Select Users"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_SELECTION,
    .run = run_select_users, .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.copy-names", N_ ("Copy Names of Selected Nodes"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_SELECTION,
    .run = run_copy_names, .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.focus-canvas", N_ ("Go to the Canvas"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH,
    .run = run_focus_canvas, .accels = { "F6" } },
  { "win.focus-panel", N_ ("Go to the Bottom Panel"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_GRAPH,
    .run = run_focus_panel, .accels = { "<Shift>F6" } },
  { "win.back", N_ ("Back"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_PAST, .run = run_back,
    .accels = { "<Alt>Left" } },
  { "win.forward", N_ ("Forward"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_FUTURE, .run = run_forward,
    .accels = { "<Alt>Right" } },
  { "win.undo", N_ ("Undo a Change"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_DONE, .run = run_undo,
    .accels = { "<Control>z" } },
  { "win.redo", N_ ("Redo"), ADJ_COMMANDS_GRAPH, ADJ_NEEDS_UNDONE, .run = run_redo,
    .accels = { "<Control><Shift>z" } },
  { "win.run", N_ ("Run"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_run, .accels = { "F5" },
    .menus = ADJ_MENU_CANVAS },
  { "win.compare", N_ ("Compare with Recorded"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_compare, .accels = { "<Shift>F5" }, .menus = ADJ_MENU_CANVAS },
  { "win.run-setup", N_ ("Choose How to Run"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_setup,
    .accels = { "<Control>F5" } },
  { "win.compare-values", N_ ("Compare with Values of a File…"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_compare_values },
  { "win.lay-snapshot", N_ ("Lay a Snapshot of a GPU over Memory…"), ADJ_COMMANDS_RUN,
    ADJ_NEEDS_GRAPH, .run = run_lay_snapshot },
  { "win.keep-run", N_ ("Keep This Run…"), ADJ_COMMANDS_RUN, ADJ_NEEDS_RUN, .run = run_keep },
  { "win.remove-run", NULL, ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_remove_run,
    .parameter = "s" },
  { "win.compare-with", NULL, ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_compare_with,
    .parameter = "(us)" },
  { "win.stop", N_ ("Stop"), ADJ_COMMANDS_RUN, ADJ_NEEDS_TASK, .run = run_stop,
    .accels = { "Escape" } },
  { "win.next-change", N_ ("Next Change or Difference"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_next_change },
  { "win.previous-change", N_ ("Previous Change or Difference"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_previous_change },
  { "win.next-step", N_ ("Next Step of the Run"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_next_step },
  { "win.previous-step", N_ ("Previous Step of the Run"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_previous_step },
  { "win.step-backward", N_ ("Next Event of the Backward"), ADJ_COMMANDS_RUN, ADJ_NEEDS_BACKWARD,
    .run = run_step_backward, .accels = { "F8" } },
  { "win.continue-backward", N_ ("Run the Backward to the Next Breakpoint"), ADJ_COMMANDS_RUN,
    ADJ_NEEDS_BACKWARD, .run = run_continue_backward, .accels = { "<Shift>F8" } },
  { "win.toggle-breakpoint", N_ ("Set or Remove a Breakpoint"), ADJ_COMMANDS_RUN, ADJ_NEEDS_STEP,
    .run = run_toggle_breakpoint, .accels = { "<Control>F8" }, .menus = ADJ_MENU_NODE },
  { "win.trace", N_ ("Trace and Differentiate"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = run_trace, .accels = { "<Control>d" }, .menus = ADJ_MENU_CANVAS },
  { "win.open-partition", NULL, ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = run_open_partition,
    .parameter = "(sdb)" },
  { "win.previous-stage", N_ ("Previous Stage"), ADJ_COMMANDS_RUN, ADJ_NEEDS_EARLIER,
    .run = run_previous_stage, .accels = { "bracketleft" } },
  { "win.next-stage", N_ ("Next Stage"), ADJ_COMMANDS_RUN, ADJ_NEEDS_LATER, .run = run_next_stage,
    .accels = { "bracketright" } },
  { "win.flow", N_ ("Flow of the Node"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_SELECTION,
    .run = adj_show_flow, .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.zoom-in", N_ ("Zoom In"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH, .run = adj_zoom_in,
    .accels = { "<Control>plus", "<Control>equal" } },
  { "win.zoom-out", N_ ("Zoom Out"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH, .run = adj_zoom_out,
    .accels = { "<Control>minus" } },
  { "win.zoom-100", N_ ("Original Size"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_zoom_to_original, .accels = { "<Control>0" }, .menus = ADJ_MENU_CANVAS },
  { "win.fit", N_ ("Fit All"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH, .run = adj_zoom_to_fit,
    .accels = { "<Control>Home" }, .menus = ADJ_MENU_CANVAS },
  { "win.fit-selection", N_ ("Fit the Selection"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_SELECTION,
    .run = adj_zoom_to_selection, .accels = { "<Control>9" },
    .menus = ADJ_MENU_NODE | ADJ_MENU_LINE | ADJ_MENU_MODULE },
  { "win.toggle-module", N_ ("Open or Close the Module"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_toggle_module, .parameter = "s", .menus = ADJ_MENU_MODULE },
  { "win.fold-all", N_ ("Close All Modules"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_fold_all, .menus = ADJ_MENU_CANVAS | ADJ_MENU_MODULE },
  { "win.modules-only", N_ ("Show Modules Only"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_LONG_LAYOUT,
    .run = adj_fold_all },
  { "win.unfold-all", N_ ("Open All Modules"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_unfold_all, .menus = ADJ_MENU_CANVAS | ADJ_MENU_MODULE },
  { "win.fullscreen", N_ ("Full Screen"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_NOTHING,
    .run = adj_toggle_fullscreen, .accels = { "F11" } },
  { "win.view", N_ ("View"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH, .run = adj_choose_view,
    .parameter = "s", .get_state = adj_chosen_view, .targets = adj_view_targets,
    .menus = ADJ_MENU_CANVAS },
  { "win.only-changed", N_ ("Only What Changed"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_choose_only_changed, .get_state = adj_chosen_only_changed,
    .menus = ADJ_MENU_CANVAS },
  { "win.color-by", N_ ("Colour by"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_choose_coloring, .parameter = "s", .get_state = adj_chosen_coloring,
    .targets = adj_coloring_targets, .menus = ADJ_MENU_CANVAS | ADJ_MENU_NODE },
  { "win.edge-labels", N_ ("Beside Lines"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH,
    .run = adj_choose_labeling, .parameter = "s", .get_state = adj_chosen_labeling,
    .targets = adj_labeling_targets, .menus = ADJ_MENU_CANVAS },
  { "win.inputs", NULL, ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH, .run = adj_choose_inputs,
    .parameter = "s", .get_state = adj_chosen_inputs },
  { "win.float64", N_ ("Double Precision"), ADJ_COMMANDS_RUN, ADJ_NEEDS_GRAPH,
    .run = adj_choose_float64, .get_state = adj_chosen_float64 },
  { "win.show-page", N_ ("Show"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_NOTHING, .run = run_show_page,
    .parameter = "s", .targets = adj_page_targets },
  { "win.show-sidebar", N_ ("Show or Hide Graphs and Modules"), ADJ_COMMANDS_VIEW,
    ADJ_NEEDS_NOTHING, .accels = { "F9" } },
  { "win.show-inspector", N_ ("Show or Hide the Inspector"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_NOTHING,
    .accels = { "<Control>F9" } },
  { "win.show-panel", N_ ("Show or Hide the Bottom Panel"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_NOTHING,
    .accels = { "<Control>F10" } },
  { "win.show-beside", N_ ("Compare Side by Side"), ADJ_COMMANDS_VIEW, ADJ_NEEDS_NOTHING,
    .accels = { "<Control>b" } },
  { "win.lay-beside", NULL, ADJ_COMMANDS_VIEW, ADJ_NEEDS_GRAPH, .run = run_lay_beside,
    .parameter = "(us)" },
  { "win.preferences", N_ ("Preferences"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .run = run_preferences, .accels = { "<Control>comma" } },
  { "win.show-help-overlay", N_ ("Keyboard Shortcuts"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .run = run_shortcuts, .accels = { "<Control>question", "F1" } },
  { "app.new-window", N_ ("New Window"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING,
    .accels = { "<Control>n" } },
  { "app.about", N_ ("About Adjoint"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .run = NULL },
  { "app.quit", N_ ("Quit"), ADJ_COMMANDS_FILES, ADJ_NEEDS_NOTHING, .accels = { "<Control>q" } },
};

const AdjCommand *
adj_commands_get (guint *n)
{
  *n = G_N_ELEMENTS (commands);
  return commands;
}

const char *
adj_command_group_title (AdjCommandGroup group)
{
  static const char *const titles[ADJ_N_COMMAND_GROUPS] = {
    [ADJ_COMMANDS_FILES] = N_ ("Files"),
    [ADJ_COMMANDS_GRAPH] = N_ ("Graph"),
    [ADJ_COMMANDS_RUN] = N_ ("Runs and Stages"),
    [ADJ_COMMANDS_VIEW] = N_ ("View"),
  };

  return _ (titles[group]);
}
