/* SPDX-License-Identifier: MIT */
/* Updates title, status and messages of the window from the document of its tab. */

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-graph-item.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"
#include "widgets/name-widgets.h"
#include "window/window-actions.h"
#include "window/window-choices.h"
#include "window/window-private.h"

static char *
describe_comparison (const AdjEvaluation *evaluation)
{
  const AdjComparison *comparison = adj_evaluation_get_comparison (evaluation);
  const AdjValueComparison *first;

  if (comparison == NULL)
    return NULL;
  if (comparison->first < 0)
    return adj_evaluation_get_peer (evaluation) != NULL
               ? g_strdup_printf (_ ("agrees with %s"), adj_evaluation_get_peer (evaluation))
               : g_strdup (_ ("agrees with what was recorded"));
  first = &comparison->nodes[comparison->first];
  return g_strdup_printf (
      first->inputs_agree ? _ ("first difference: %s, its inputs agree")
                          : _ ("first difference: %s"),
      adj_graph_get_node (adj_evaluation_get_graph (evaluation), first->node.index)->name);
}

/* Settings of the calling thread, which no node shows: " · autocast_cpu bf16". */
static void
add_thread_state (GString *subtitle, const AdjGraph *graph)
{
  AdjThreadSetting totals[ADJ_N_THREAD_SETTINGS];
  guint n = adj_thread_state_list_settings (adj_graph_get_thread_state (graph), totals);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (subtitle, " · %s %s", totals[i].key, totals[i].word);
}

/* The saved bytes, which the picture shows across the gutter; omitted for graphs where that is
 * incomplete. */
static void
add_saved (GString *subtitle, const AdjBundleGraph *graph, const AdjScene *scene)
{
  gboolean pair = g_strcmp0 (graph->role, ADJ_PAIR_ROLE) == 0;
  g_autofree char *bytes = NULL;

  if (adj_scene_get_saved_bytes (scene) <= 0 || (!pair && !adj_bundle_graph_is_undecided (graph)))
    return;
  bytes = adj_properties_bytes (adj_scene_get_saved_bytes (scene));
  g_string_append_printf (subtitle,
                          pair ? _ (" · %s of forward saved for backward beside the inputs")
                               : _ (" · backward reads %s of forward beside the inputs"),
                          bytes);
}

static void
update_title (AdjWindow *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  AdjScene *scene = adj_document_get_scene (self->document);
  GString *subtitle = g_string_new (NULL);
  g_autofree char *title = NULL;

  if (graph == NULL || scene == NULL)
    {
      title = g_strdup (*adj_document_get_title (self->document) != '\0'
                            ? adj_document_get_title (self->document)
                            : _ ("Adjoint"));
    }
  else
    {
      g_autofree char *count = adj_properties_count (adj_graph_get_n_calls (graph->graph));
      g_autofree char *choice =
          adj_run_choice_describe (adj_document_get_run_choice (self->document));
      g_autofree char *verdict = evaluation != NULL ? describe_comparison (evaluation) : NULL;
      g_autofree char *region = adj_graph_describe_region (graph);

      title = g_strdup_printf (
          "%s%s — %s", adj_document_is_unsaved (self->document) ? ADJ_UNSAVED_SIGN : "",
          adj_document_get_title (self->document), adj_properties_role_title (graph->role));
      if (*region != '\0')
        g_string_append_printf (subtitle, "%s · ", region);
      g_string_append (subtitle, count);
      add_thread_state (subtitle, graph->graph);
      add_saved (subtitle, graph, scene);
      if (choice != NULL)
        g_string_append_printf (subtitle, " · %s", choice);
      if (verdict != NULL)
        g_string_append_printf (subtitle, " · %s", verdict);
    }
  adw_window_title_set_title (self->title, title);
  adw_window_title_set_subtitle (self->title, subtitle->str);
  gtk_window_set_title (GTK_WINDOW (self), title);
  g_string_free (subtitle, TRUE);
}

static void
append_runs (GMenu *menu, const AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  g_autoptr (GPtrArray) runs = adj_graph_set_list_runs (graphs, graph);

  for (guint i = 0; i < runs->len; i++)
    {
      const char *name = ((const AdjRecordedCall *) runs->pdata[i])->origin->name;
      g_autofree char *label = g_strdup_printf (_ ("Inputs of Run “%s”"), name);
      g_autofree char *target = g_strconcat (ADJ_RUN_PREFIX, name, NULL);
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);

      g_menu_item_set_action_and_target (item, "win.inputs", "s", target);
      g_menu_append_item (menu, item);
    }
}

/* Lists the recorded calls of the shown graph and its kept runs, to choose one. */
static void
update_inputs (AdjWindow *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  guint n = graph != NULL
                ? adj_run_choice_count_calls (adj_document_get_graphs (self->document), graph)
                : 0;

  g_menu_remove_all (self->inputs_menu);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *label = g_strdup_printf (_ ("Recorded Call %u"), i + 1);
      g_autofree char *action = g_strdup_printf ("win.inputs::call-%u", i);

      g_menu_append (self->inputs_menu, label, action);
    }
  if (graph != NULL)
    append_runs (self->inputs_menu, adj_document_get_graphs (self->document), graph);
  g_menu_append (self->inputs_menu, _ ("Random _Inputs…"), "win.inputs::random");
  g_menu_append (self->inputs_menu, _ ("Inputs of a _File…"), "win.inputs::file");
}

/* -- comparing with another graph -- */

/* Graphs of tab @n, with an item of @action each.  @fitting: only those with as many inputs as the
 * shown graph */
static GMenu *
list_peers (
    AdjWindow *self, int n, const AdjBundleGraph *shown, const char *action, gboolean fitting)
{
  AdjGraphSet *graphs = adj_document_get_graphs (adj_window_get_nth_document (self, n));
  GMenu *menu = g_menu_new ();

  for (guint i = 0; graphs != NULL && i < adj_graph_set_get_n (graphs); i++)
    {
      const AdjBundleGraph *other = adj_graph_set_get (graphs, i);
      g_autoptr (GMenuItem) item = NULL;
      g_autofree char *label = NULL;

      if (other == shown || (fitting && adj_graph_get_n_inputs (other->graph) !=
                                            adj_graph_get_n_inputs (shown->graph)))
        continue;
      label = g_strdup_printf ("%s (%s)", adj_properties_role_title (other->role), other->id);
      item = g_menu_item_new (label, NULL);
      g_menu_item_set_action_and_target (item, action, "(us)", (guint) n, other->id);
      g_menu_append_item (menu, item);
    }
  return menu;
}

static void
fill_peers (AdjWindow *self, GMenu *menu, const char *action, gboolean fitting)
{
  const AdjBundleGraph *shown = adj_document_get_graph (self->document);

  g_menu_remove_all (menu);
  for (int n = 0; shown != NULL && n < adw_tab_view_get_n_pages (self->tabs); n++)
    {
      g_autoptr (GMenu) peers = list_peers (self, n, shown, action, fitting);

      if (g_menu_model_get_n_items (G_MENU_MODEL (peers)) > 0)
        g_menu_append_section (menu, adj_document_get_title (adj_window_get_nth_document (self, n)),
                               G_MENU_MODEL (peers));
    }
}

static void
update_peers (AdjWindow *self)
{
  fill_peers (self, self->compare_menu, "win.compare-with", TRUE);
  fill_peers (self, self->beside_menu, "win.lay-beside", FALSE);
}

void
adj_window_lay_beside (AdjWindow *self, guint tab, const char *id)
{
  AdjDocument *document = adj_window_get_nth_document (self, (int) MIN (tab, G_MAXINT));
  AdjGraphSet *graphs = document != NULL ? adj_document_get_graphs (document) : NULL;
  guint index = graphs != NULL ? adj_graph_set_find (graphs, id, NULL) : G_MAXUINT;

  if (index != G_MAXUINT)
    adj_document_page_lay_beside (adj_window_get_page (self), graphs,
                                  adj_graph_set_get (graphs, index),
                                  adj_document_get_title (document));
}

void
adj_window_compare_with (AdjWindow *self, guint tab, const char *id)
{
  AdjDocument *document = adj_window_get_nth_document (self, (int) MIN (tab, G_MAXINT));
  AdjGraphSet *graphs = document != NULL ? adj_document_get_graphs (document) : NULL;
  guint index = graphs != NULL ? adj_graph_set_find (graphs, id, NULL) : G_MAXUINT;

  if (index != G_MAXUINT)
    adj_document_run_against (self->document, graphs, adj_graph_set_get (graphs, index));
}

static void
update_choice (AdjWindow *self)
{
  update_title (self);
  adj_window_update_actions (self);
}

static void
update_evaluation (AdjWindow *self)
{
  update_title (self);
  adj_window_update_actions (self);
}

static gboolean
has_one_stage (AdjDocument *document)
{
  AdjRecording *recording = adj_stages_get_recording (document);

  return recording != NULL && adj_recording_get_n_stages (recording) == 1;
}

static void
update_scene (AdjWindow *self)
{
  gtk_widget_set_visible (self->trace_box, has_one_stage (self->document));
  update_inputs (self);
  update_peers (self);
  update_title (self);
  adj_window_update_actions (self);
}

static void
update_status (AdjWindow *self)
{
  const char *status = adj_document_get_status (self->document);
  double fraction = adj_document_get_fraction (self->document);
  gboolean running = adj_document_is_running (self->document);
  g_autofree char *label = NULL;

  gtk_revealer_set_reveal_child (self->status_revealer, status != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->modules_button),
                          adj_document_can_show_modules (self->document));
  if (status != NULL)
    {
      gtk_label_set_text (self->status, status);
      if (fraction >= 0)
        gtk_progress_bar_set_fraction (self->progress, fraction);
      else
        gtk_progress_bar_pulse (self->progress);
    }
  if (running && fraction >= 0)
    label = g_strdup_printf (_ ("Stop (%.0f %%)"), 100 * fraction);
  else
    label = g_strdup (running ? _ ("Stop") : _ ("Run on CPU"));
  adw_button_content_set_label (self->run_content, label);
  adw_button_content_set_icon_name (self->run_content, running ? "media-playback-stop-symbolic"
                                                               : "media-playback-start-symbolic");
  adj_name_widgets (GTK_WIDGET (self->run_button));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->run_button),
                                  running ? "win.stop" : "win.run");
  adj_window_update_actions (self);
}

void
adj_window_remark (AdjWindow *self, const char *text)
{
  AdwToast *toast;
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  toast = adw_toast_new (escaped);
  adw_toast_set_timeout (toast, 4);
  adw_toast_set_button_label (toast, _ ("Log"));
  adw_toast_set_action_name (toast, "win.show-page");
  adw_toast_set_action_target (toast, "s", "log");
  adw_toast_overlay_add_toast (self->toasts, toast);
}

void
adj_window_announce_export (AdjWindow *self, GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *text = g_strdup_printf (_ ("Exported %s"), name);
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (escaped);

  adw_toast_set_button_label (toast, _ ("Show"));
  adw_toast_set_action_name (toast, "win.show-file");
  adw_toast_set_action_target (toast, "s", uri);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

void
adj_window_watch_document (AdjWindow *self)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (update_scene) },
    { "notify::scene", G_CALLBACK (update_scene) },
    { "notify::error", G_CALLBACK (update_scene) },
    { "notify::bundle", G_CALLBACK (update_scene) },
    { "notify::evaluation", G_CALLBACK (update_evaluation) },
    { "notify::runs", G_CALLBACK (update_inputs) },
    { "notify::unsaved", G_CALLBACK (update_title) },
    { "notify::selected", G_CALLBACK (adj_window_update_actions) },
    { "notify::run-choice", G_CALLBACK (update_choice) },
    { "notify::history", G_CALLBACK (adj_window_update_actions) },
    { "notify::arrangement", G_CALLBACK (adj_window_update_actions) },
    { "notify::status", G_CALLBACK (update_status) },
    { "notify::stepping", G_CALLBACK (adj_window_update_actions) },
  };

  self->signals = g_signal_group_new (ADJ_TYPE_DOCUMENT);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_group_connect_swapped (self->signals, signals[i].signal, signals[i].callback, self);
}

void
adj_window_update_all (AdjWindow *self)
{
  update_scene (self);
  update_status (self);
}
