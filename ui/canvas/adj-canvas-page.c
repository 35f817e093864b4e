/* SPDX-License-Identifier: MIT */
/* The canvas with its overlays: breadcrumbs, minimap, legend and the choice of tints. */

#include "canvas/adj-canvas-page.h"

#include <glib/gi18n.h>
#include <string.h>

#include "analysis/adj-modules.h"
#include "canvas/adj-hover-card.h"
#include "canvas/adj-legend.h"
#include "canvas/adj-minimap.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "model/adj-maker.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"

#define NARROW 520          /* pixels of the canvas */
#define ROOM_FOR_COUNTS 600 /* pixels needed beside the pane of a second graph */

struct _AdjCanvasPage
{
  AdjPanel parent_instance;

  AdjGraphView *view;
  AdjLegend *legend;
  AdjMinimap *minimap;
  AdjHoverCard *hover_card;
  GtkLabel *crumbs;
  GtkLabel *counts;
  GtkButton *zoom_button;
  GtkLabel *range;
  AdjStageSummaries *summaries; /* (weak) (nullable): summaries of the document */
  gulong changed;
  AdjRecording *recording; /* (owned) (nullable): the recording of the shown stage */
  gboolean narrow;         /* the canvas is too narrow for the whole bar */
};

G_DEFINE_FINAL_TYPE (AdjCanvasPage, adj_canvas_page, ADJ_TYPE_PANEL)

/* Its module, or the autograd node that it was captured from. */
static char *
get_path (AdjCanvasPage *self, AdjNodeId node)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjCaptured *captured = adj_document_get_captured (document);
  const AdjCapturedNode *one =
      captured != NULL ? adj_captured_get_node (captured, node.index) : NULL;

  if (one != NULL)
    return one->call != ADJ_CAPTURED_NONE ? adj_captured_name_call (captured, one->call)
                                          : g_strdup ("");
  return g_strdup (
      adj_graph_get_module_path (adj_document_get_graph (document)->graph, node.index));
}

static void
update_crumbs (AdjCanvasPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  AdjNodeId selected = adj_document_get_selected (adj_panel_get_document (self));
  GString *text = g_string_new (NULL);

  if (graph != NULL && self->narrow && adj_node_id_is_valid (selected))
    g_string_append (text, adj_graph_get_node (graph->graph, selected.index)->name);
  else if (graph != NULL)
    g_string_append (text, adj_properties_role_title (graph->role));
  if (graph != NULL && !self->narrow && adj_node_id_is_valid (selected))
    {
      const AdjNode *node = adj_graph_get_node (graph->graph, selected.index);
      g_autofree char *path = get_path (self, selected);
      g_auto (GStrv) parts = g_strsplit (path, strchr (path, ' ') != NULL ? "\n" : ".", -1);

      /* The path of a block, "model.py:40–71 · 3 of 76", is not split. */
      for (guint i = 0; parts[i] != NULL; i++)
        g_string_append_printf (text, " › %s", parts[i]);
      g_string_append_printf (text, " › %s", node->name);
    }
  gtk_label_set_text (self->crumbs, text->str);
  g_string_free (text, TRUE);
}

static void
update_narrow (AdjCanvasPage *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self->view));
  gboolean narrow = width > 0 && width < NARROW;

  gtk_widget_set_visible (GTK_WIDGET (self->minimap),
                          !narrow && adj_graph_view_get_scene (self->view) != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->zoom_button), !narrow);
  if (narrow == self->narrow)
    return;
  self->narrow = narrow;
  update_crumbs (self);
}

static void
on_camera_changed (AdjCanvasPage *self)
{
  const AdjBundleGraph *graph = adj_panel_get_document (self) != NULL
                                    ? adj_document_get_graph (adj_panel_get_document (self))
                                    : NULL;
  g_autofree char *zoom =
      g_strdup_printf ("%.0f %%", 100.0 * adj_graph_view_get_camera (self->view).zoom);
  g_autofree char *text = NULL;

  if (graph != NULL)
    update_narrow (self);
  gtk_button_set_label (self->zoom_button, zoom);
  if (graph != NULL && gtk_widget_get_width (GTK_WIDGET (self->view)) >= ROOM_FOR_COUNTS)
    text = g_strdup_printf (
        _ ("%u nodes, %u in view"), adj_graph_get_n_calls (graph->graph),
        MIN (adj_graph_view_count_visible (self->view), adj_graph_get_n_calls (graph->graph)));
  gtk_label_set_text (self->counts, text != NULL ? text : "");
}

static void
update_marks (AdjCanvasPage *self)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (adj_panel_get_document (self));
  const AdjComparison *comparison =
      evaluation != NULL ? adj_evaluation_get_comparison (evaluation) : NULL;
  AdjScene *scene = adj_document_get_scene (adj_panel_get_document (self));

  adj_graph_view_set_marks (
      self->view, comparison != NULL && scene != NULL ? adj_marks_new (scene, comparison) : NULL);
}

/* The summary of the stage whose graph is shown.  (nullable) */
static const AdjStageSummary *
find_summary (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjBundleGraph *graph = document != NULL ? adj_document_get_graph (document) : NULL;
  gint current = document != NULL ? adj_stages_get_current_step (document) : -1;
  g_autoptr (GArray) steps = document != NULL ? adj_stages_list_steps (document) : NULL;

  return current >= 0 && self->summaries != NULL && graph != NULL &&
                 g_array_index (steps, AdjStep, current).graph ==
                     adj_document_find_graph (document, graph->graph)
             ? adj_stage_summaries_get (self->summaries, (guint) current)
             : NULL;
}

/* The nodes that are new or changed.  (transfer full): of guint32 */
static GArray *
list_changed (GBytes *changes)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  gsize n;
  const guint8 *kinds = g_bytes_get_data (changes, &n);

  for (guint32 i = 0; i < n; i++)
    if (kinds[i] != ADJ_CHANGE_NONE)
      g_array_append_val (nodes, i);
  return nodes;
}

/* Where only what changed is shown, its neighbours are dimmed. */
static void
update_lit (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjStageSummary *summary =
      document != NULL && adj_document_get_arrangement (document)->only_changed
          ? find_summary (self)
          : NULL;
  g_autoptr (GArray) changed =
      summary != NULL && summary->changes != NULL ? list_changed (summary->changes) : NULL;
  GArray *lit = document != NULL ? adj_document_get_lit (document) : NULL;

  if (lit == NULL && changed != NULL && changed->len > 0)
    lit = changed;
  adj_graph_view_set_lit (self->view, lit);
}

/* Shows what the stage changed, when that is known, but not where most nodes are new. */
static void
update_changes (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjStageSummary *summary = find_summary (self);

  if (summary == NULL ||
      2 * summary->n_added > adj_graph_get_n_calls (adj_document_get_graph (document)->graph))
    adj_graph_view_set_changes (self->view, NULL);
  else
    adj_graph_view_set_changes (self->view, summary->changes);
  update_lit (self);
}

static void
follow_summaries (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjStageSummaries *summaries = document != NULL ? adj_stage_summaries_of (document) : NULL;

  if (summaries == self->summaries)
    return;
  g_clear_signal_handler (&self->changed, self->summaries);
  g_set_weak_pointer (&self->summaries, summaries);
  if (summaries != NULL)
    self->changed = g_signal_connect_object (summaries, "changed", G_CALLBACK (update_changes),
                                             self, G_CONNECT_SWAPPED);
}

/* Shows the ends of the ramp beside the choice for tints by number. */
static void
update_look (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjArrangement *arrangement = adj_document_get_arrangement (document);
  const AdjBundleGraph *graph = adj_document_get_graph (document);
  AdjScene *scene = adj_document_get_scene (document);
  AdjHeat *heat = scene != NULL
                      ? adj_heat_new (scene, graph->graph, adj_document_get_evaluation (document),
                                      arrangement->coloring)
                      : NULL;
  g_autofree char *range = NULL;

  if (heat != NULL)
    range = g_strdup_printf ("%s – %s", adj_heat_get_low (heat), adj_heat_get_high (heat));
  else if (arrangement->coloring != ADJ_COLOR_BY_ROLE)
    range = g_strdup (_ ("run the graph first"));
  adj_graph_view_set_heat (self->view, heat);
  adj_graph_view_set_labeling (self->view, arrangement->labeling);
  gtk_label_set_text (self->range, range != NULL ? range : "");
  gtk_widget_set_visible (GTK_WIDGET (self->range), range != NULL);
}

static void
update_evaluation (AdjCanvasPage *self)
{
  update_marks (self);
  update_look (self);
}

/* The node of graph @from for each node of graph @to, where one stage was made from the other.
 * (transfer full) (nullable): of guint32 */
static GArray *
find_origins (AdjCanvasPage *self, const AdjGraph *from, const AdjGraph *to)
{
  AdjDocument *document = adj_panel_get_document (self);
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  guint a = adj_document_find_graph (document, from), b = adj_document_find_graph (document, to);
  guint n = adj_graph_get_n_nodes (to);
  g_autoptr (GArray) origins = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; self->summaries != NULL && i < steps->len; i++)
    {
      const AdjStageSummary *summary = adj_stage_summaries_get (self->summaries, i);
      guint graph = g_array_index (steps, AdjStep, i).graph;

      if (summary == NULL || summary->origins == NULL)
        continue;
      if (graph == b && summary->before == (gint) a)
        {
          g_array_append_vals (origins, summary->origins, n);
          return g_steal_pointer (&origins);
        }
      if (graph != a || summary->before != (gint) b)
        continue;
      g_array_set_size (origins, n);
      memset (origins->data, 0xff, n * sizeof (guint32));
      for (guint32 k = adj_graph_get_n_nodes (from); k-- > 0;)
        if (summary->origins[k] != G_MAXUINT32)
          g_array_index (origins, guint32, summary->origins[k]) = k;
      return g_steal_pointer (&origins);
    }
  return NULL;
}

/* Prepares the view for another stage. */
static void
prepare_step (AdjCanvasPage *self, const AdjGraph *next)
{
  const AdjGraph *shown = adj_graph_view_get_graph (self->view);
  g_autoptr (GArray) origins =
      shown != NULL && shown != next ? find_origins (self, shown, next) : NULL;

  adj_graph_view_step_next (self->view, origins);
}

static void
update_scene (AdjCanvasPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  AdjScene *scene = adj_document_get_scene (adj_panel_get_document (self));
  AdjRecording *recording =
      scene != NULL ? adj_stages_get_recording (adj_panel_get_document (self)) : NULL;

  if (recording != NULL && recording == self->recording)
    prepare_step (self, graph->graph);
  g_clear_pointer (&self->recording, adj_recording_unref);
  self->recording = recording != NULL ? adj_recording_ref (recording) : NULL;
  adj_graph_view_set_scene (self->view, scene, scene != NULL ? graph->graph : NULL);
  adj_legend_update (self->legend);
  gtk_widget_queue_resize (GTK_WIDGET (self->minimap));
  follow_summaries (self);
  update_changes (self);
  update_marks (self);
  update_look (self);
  update_crumbs (self);
  on_camera_changed (self);
}

static void
update_selected (AdjCanvasPage *self)
{
  AdjNodeId selected = adj_document_get_selected (adj_panel_get_document (self));

  if (adj_graph_view_get_selected (self->view).index != selected.index)
    {
      adj_graph_view_set_selected (self->view, selected);
      if (adj_node_id_is_valid (selected))
        adj_graph_view_reveal (self->view, selected);
    }
  update_crumbs (self);
}

static void
on_view_selected (AdjCanvasPage *self)
{
  if (adj_panel_get_document (self) != NULL)
    adj_document_set_selected (adj_panel_get_document (self),
                               adj_graph_view_get_selected (self->view));
}

static void
update_chosen (AdjCanvasPage *self)
{
  adj_graph_view_set_chosen (self->view, adj_document_get_chosen (adj_panel_get_document (self)));
}

static void
on_node_added (AdjCanvasPage *self, guint node, gboolean toggle)
{
  adj_document_choose_more (adj_panel_get_document (self), (AdjNodeId){ node }, toggle);
}

static void
on_nodes_chosen (AdjCanvasPage *self, GArray *nodes)
{
  adj_document_choose (adj_panel_get_document (self), nodes);
}

static void
on_module_toggled (AdjCanvasPage *self, const char *path)
{
  adj_document_toggle_module (adj_panel_get_document (self), path);
}

/* Activating an input of backward goes to its maker. */
static void
on_node_activated (AdjCanvasPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjMaker maker;

  if (adj_maker_find (document, adj_graph_view_get_selected (self->view), &maker))
    adj_document_show (document, maker.graph, maker.node);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-page", "s", "source");
}

static void
adj_canvas_page_dispose (GObject *object)
{
  AdjCanvasPage *self = ADJ_CANVAS_PAGE (object);

  if (self->minimap != NULL)
    adj_minimap_set_view (self->minimap, NULL);
  g_clear_signal_handler (&self->changed, self->summaries);
  g_clear_weak_pointer (&self->summaries);
  g_clear_pointer (&self->recording, adj_recording_unref);

  G_OBJECT_CLASS (adj_canvas_page_parent_class)->dispose (object);
}

static void
adj_canvas_page_class_init (AdjCanvasPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update_scene;
  G_OBJECT_CLASS (klass)->dispose = adj_canvas_page_dispose;

  g_type_ensure (ADJ_TYPE_GRAPH_VIEW);
  g_type_ensure (ADJ_TYPE_MINIMAP);
  g_type_ensure (ADJ_TYPE_LEGEND);
  g_type_ensure (ADJ_TYPE_HOVER_CARD);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/canvas-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, view);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, legend);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, minimap);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, hover_card);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, crumbs);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, counts);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, zoom_button);
  gtk_widget_class_bind_template_child (widget_class, AdjCanvasPage, range);
}

static void
adj_canvas_page_init (AdjCanvasPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update_scene));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update_selected));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update_evaluation));
  adj_panel_watch (ADJ_PANEL (self), "notify::chosen", G_CALLBACK (update_chosen));
  adj_panel_watch (ADJ_PANEL (self), "notify::lit", G_CALLBACK (update_lit));
  adj_panel_watch (ADJ_PANEL (self), "notify::arrangement", G_CALLBACK (update_look));
  adj_minimap_set_view (self->minimap, self->view);
  adj_legend_set_view (self->legend, self->view);
  adj_graph_view_add_cover (self->view, GTK_WIDGET (self->legend));
  adj_graph_view_add_cover (self->view, GTK_WIDGET (self->minimap));
  adj_hover_card_set_view (self->hover_card, self->view);
  g_signal_connect_swapped (self->view, "camera-changed", G_CALLBACK (on_camera_changed), self);
  g_signal_connect_swapped (self->view, "notify::selected", G_CALLBACK (on_view_selected), self);
  g_signal_connect_swapped (self->view, "node-added", G_CALLBACK (on_node_added), self);
  g_signal_connect_swapped (self->view, "nodes-chosen", G_CALLBACK (on_nodes_chosen), self);
  g_signal_connect_swapped (self->view, "module-toggled", G_CALLBACK (on_module_toggled), self);
  g_signal_connect_swapped (self->view, "node-activated", G_CALLBACK (on_node_activated), self);
}

AdjGraphView *
adj_canvas_page_get_view (AdjCanvasPage *self)
{
  return self->view;
}
