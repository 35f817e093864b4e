/* SPDX-License-Identifier: MIT */
/* The widget that shows a scene: its scene, hovering and the snapshot. */

#include "canvas/adj-graph-view.h"

#include <adwaita.h>

#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"

enum
{
  PROP_SELECTED = 1,
  PROP_ROLE,
  N_PROPS
};

enum
{
  NODE_ACTIVATED,
  MODULE_TOGGLED,
  CAMERA_CHANGED,
  NODE_ADDED,
  NODES_CHOSEN,
  HOVERED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AdjGraphView, adj_graph_view, GTK_TYPE_WIDGET)

AdjScheme
adj_scheme_from_style (void)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  gboolean dark = adw_style_manager_get_dark (style);

  if (adw_style_manager_get_high_contrast (style))
    return dark ? ADJ_SCHEME_HIGH_CONTRAST_DARK : ADJ_SCHEME_HIGH_CONTRAST_LIGHT;
  return dark ? ADJ_SCHEME_DARK : ADJ_SCHEME_LIGHT;
}

/* -- camera -- */

void
adj_graph_view_camera_changed (AdjGraphView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  if (self->scene != NULL && gtk_widget_get_width (widget) > 0)
    {
      AdjRect bounds = adj_scene_get_bounds (self->scene);

      adj_camera_clamp (&self->camera, &bounds, gtk_widget_get_width (widget),
                        gtk_widget_get_height (widget));
    }
  adj_graph_view_hover (self, ADJ_NO_BOX, ADJ_NO_BOX);
  gtk_widget_queue_draw (widget);
  g_signal_emit (self, signals[CAMERA_CHANGED], 0);
}

void
adj_graph_view_hover (AdjGraphView *self, guint box, guint edge)
{
  gboolean any = box != ADJ_NO_BOX || edge != ADJ_NO_BOX;

  if (box == self->hovered && edge == self->hovered_edge)
    return;
  self->hovered = box;
  self->hovered_edge = edge;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), any ? "pointer" : NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[HOVERED], 0);
}

/* -- modules -- */

void
adj_graph_view_toggle_module (AdjGraphView *self, const char *path)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  for (guint i = 0; self->scene != NULL && i < adj_scene_get_n_boxes (self->scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (self->scene, i);

      if (box->kind == ADJ_BOX_GROUP && g_str_equal (box->path, path))
        {
          self->anchor = i;
          break;
        }
    }
  g_signal_emit (self, signals[MODULE_TOGGLED], 0, path);
}

void
adj_graph_view_activate_box (AdjGraphView *self, guint index)
{
  const AdjSceneBox *box;

  if (index == ADJ_NO_BOX)
    return;
  box = adj_scene_get_box (self->scene, index);
  if (box->kind == ADJ_BOX_GROUP && *box->path != '\0')
    {
      self->anchor = index;
      g_signal_emit (self, signals[MODULE_TOGGLED], 0, box->path);
    }
  else if (adj_node_id_is_valid (box->node))
    {
      adj_graph_view_set_selected (self, box->node);
      g_signal_emit (self, signals[NODE_ACTIVATED], 0);
    }
}

/* -- what is drawn over the scene -- */

void
adj_graph_view_set_marks (AdjGraphView *self, AdjMarks *marks)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  g_clear_pointer (&self->marks, adj_marks_free);
  self->marks = marks;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
adj_graph_view_set_changes (AdjGraphView *self, GBytes *changes)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  if (changes == self->changes)
    return;
  g_clear_pointer (&self->changes, g_bytes_unref);
  self->changes = changes != NULL ? g_bytes_ref (changes) : NULL;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
adj_graph_view_set_heat (AdjGraphView *self, AdjHeat *heat)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  g_clear_pointer (&self->heat, adj_heat_free);
  self->heat = heat;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

AdjHeat *
adj_graph_view_get_heat (AdjGraphView *self)
{
  return self->heat;
}

void
adj_graph_view_set_labeling (AdjGraphView *self, AdjLabeling labeling)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  self->labeling = labeling;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

AdjScene *
adj_graph_view_get_scene (AdjGraphView *self)
{
  return self->scene;
}

AdjGraph *
adj_graph_view_get_graph (AdjGraphView *self)
{
  return self->graph;
}

void
adj_graph_view_fit_next (AdjGraphView *self, gboolean selected)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  self->fits_next = TRUE;
  self->wants_selected = selected;
}

static guint
find_group (const AdjScene *scene, const AdjSceneBox *like)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && box->side == like->side &&
          g_str_equal (box->path, like->path))
        return i;
    }
  return ADJ_NO_BOX;
}

/* Whether @box is the module that is being opened, which contains the selected node. */
static gboolean
hides_selected (AdjGraphView *self, const AdjSceneBox *box)
{
  return box->fold == ADJ_FOLD_CLOSED &&
         g_str_equal (box->path, adj_scene_get_box (self->scene, self->anchor)->path);
}

/* Keeps the module that was opened or closed in place; the selected node of one that opens moves to
 * the module's old place. */
static void
keep_anchor (AdjGraphView *self, const AdjScene *next)
{
  guint from = self->anchor, found;

  if (self->anchor == ADJ_NO_BOX)
    return;
  found = find_group (next, adj_scene_get_box (self->scene, self->anchor));
  if (adj_node_id_is_valid (self->selected))
    {
      guint closed = adj_scene_find_node (self->scene, self->selected);
      guint shown = adj_scene_find_node (next, self->selected);

      if (closed != ADJ_NO_BOX && shown != ADJ_NO_BOX &&
          hides_selected (self, adj_scene_get_box (self->scene, closed)))
        {
          from = closed;
          found = shown;
        }
    }
  if (found == ADJ_NO_BOX)
    return;
  adj_graph_view_keep_box (self, &adj_scene_get_box (self->scene, from)->rect,
                           &adj_scene_get_box (next, found)->rect);
}

void
adj_graph_view_step_next (AdjGraphView *self, GArray *origins)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  self->keeps_place = TRUE;
  g_clear_pointer (&self->origins, g_array_unref);
  self->origins = origins != NULL ? g_array_ref (origins) : NULL;
}

void
adj_graph_view_set_scene (AdjGraphView *self, AdjScene *scene, AdjGraph *graph)
{
  gboolean same, kept = FALSE;

  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));
  g_return_if_fail ((scene == NULL) == (graph == NULL));

  same = graph != NULL && graph == self->graph;
  self->kept = ADJ_NO_NODE;
  if (scene != NULL)
    adj_scene_ref (scene);
  if (graph != NULL)
    adj_graph_ref (graph);
  if (same && !self->fits_next)
    keep_anchor (self, scene);
  if (!same && self->keeps_place && scene != NULL && !self->fits_next)
    {
      adj_graph_view_stop_moving (self);
      kept = adj_graph_view_morph_to (self, scene, graph);
    }
  else
    adj_graph_view_stop_morph (self);
  self->keeps_place = FALSE;
  g_clear_pointer (&self->origins, g_array_unref);
  self->anchor = ADJ_NO_BOX;
  adj_graph_view_hover (self, ADJ_NO_BOX, ADJ_NO_BOX);
  g_clear_pointer (&self->highlight, adj_highlight_free);
  g_clear_pointer (&self->marks, adj_marks_free);
  g_clear_pointer (&self->changes, g_bytes_unref);
  g_clear_pointer (&self->heat, adj_heat_free);
  g_clear_pointer (&self->scene, adj_scene_unref);
  g_clear_pointer (&self->graph, adj_graph_unref);
  self->scene = scene;
  self->graph = graph;
  if (!same)
    {
      adj_graph_view_stop_moving (self);
      self->selected = ADJ_NO_NODE;
      self->value = ADJ_NO_NODE;
      g_clear_pointer (&self->chosen, g_array_unref);
      adj_graph_view_set_role (self, ADJ_ROLE_NONE);
      g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SELECTED]);
    }
  if ((!same && !kept) || self->fits_next)
    {
      self->wants_fit = TRUE;
      self->fits_next = FALSE;
      gtk_widget_queue_allocate (GTK_WIDGET (self));
    }
  adj_graph_view_update_highlight (self);
  adj_graph_view_announce_selection (self);
  adj_graph_view_camera_changed (self);
}

/* -- widget -- */

static void
paint_band (AdjGraphView *self, GtkSnapshot *snapshot, const AdjColor *color)
{
  graphene_rect_t rect =
      GRAPHENE_RECT_INIT (self->band.x, self->band.y, self->band.width, self->band.height);
  GdkRGBA line = adj_color_to_rgba (color), fill = line;

  fill.alpha = 0.12f;
  gtk_snapshot_append_color (snapshot, &fill, &rect);
  gtk_snapshot_append_border (
      snapshot,
      &GSK_ROUNDED_RECT_INIT (rect.origin.x, rect.origin.y, rect.size.width, rect.size.height),
      (float[4]){ 1, 1, 1, 1 }, (GdkRGBA[4]){ line, line, line, line });
}

/* Paints boxes of the stage before that are not in this one. */
static void
paint_ghosts (const AdjSceneFrame *frame, GtkSnapshot *snapshot)
{
  AdjPoint shift = adj_morph_get_shift (frame->morph);
  AdjSceneFrame before = *frame;

  before.scene = adj_morph_get_before (frame->morph);
  before.ghosts = TRUE;
  before.highlight = NULL;
  before.marks = NULL;
  before.changes = NULL;
  before.heat = NULL;
  before.labeling = ADJ_LABEL_NOTHING;
  before.selected = before.hovered = before.hovered_edge = ADJ_NO_BOX;
  before.camera.x -= shift.x;
  before.camera.y -= shift.y;
  adj_scene_painter_paint (&before, snapshot);
}

static void
adj_graph_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  AdjSceneFrame frame = {
    .scene = self->scene,
    .texts = self->texts,
    .arrows = self->arrows,
    .scheme = adj_scheme_from_style (),
    .highlight = self->highlight,
    .marks = self->marks,
    .changes = self->changes,
    .heat = self->heat,
    .graph = self->graph,
    .morph = self->morph,
    .labeling = self->labeling,
    .selected = ADJ_NO_BOX,
    .hovered = self->hovered,
    .hovered_edge = self->hovered_edge,
    .camera = self->camera,
    .width = width,
    .height = height,
    .device_scale = gtk_widget_get_scale_factor (widget),
  };
  GdkRGBA background = adj_color_to_rgba (&adj_palette_get (frame.scheme)->background);

  gtk_snapshot_append_color (snapshot, &background, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->scene == NULL)
    return;
  if (adj_node_id_is_valid (self->selected))
    frame.selected = adj_scene_find_node (self->scene, self->selected);
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  adj_scene_painter_paint (&frame, snapshot);
  if (self->morph != NULL)
    paint_ghosts (&frame, snapshot);
  if (self->banding)
    paint_band (self, snapshot, &adj_palette_get (frame.scheme)->selection);
  gtk_snapshot_pop (snapshot);
}

/* Announces the camera from a tick, since labels that show the zoom must not change during
 * allocation. */
static gboolean
announce_camera (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  self->announcing = 0;
  adj_graph_view_show_cut (self);
  g_signal_emit (self, signals[CAMERA_CHANGED], 0);
  return G_SOURCE_REMOVE;
}

static void
adj_graph_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->scene != NULL && width > 1 && height > 1)
    {
      if (self->wants_sight && adj_graph_view_count_visible (self) == 0)
        self->wants_fit = self->wants_selected = TRUE;
      self->wants_sight = FALSE;
      if (self->wants_fit)
        adj_graph_view_fit_first (self, width, height);
    }
  adj_graph_view_resized (self, width, height);
  if (self->announcing == 0)
    self->announcing = gtk_widget_add_tick_callback (widget, announce_camera, NULL, NULL);
}

static void
adj_graph_view_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  *minimum = 100;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : 400;
}

static void
adj_graph_view_system_setting_changed (GtkWidget *widget, GtkSystemSetting setting)
{
  adj_text_cache_clear (ADJ_GRAPH_VIEW (widget)->texts);
  GTK_WIDGET_CLASS (adj_graph_view_parent_class)->system_setting_changed (widget, setting);
}

static void
adj_graph_view_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (object);

  if (id == PROP_SELECTED)
    g_value_set_uint (value, self->selected.index);
  else if (id == PROP_ROLE)
    g_value_set_uint (value, self->role);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
adj_graph_view_dispose (GObject *object)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (object);

  adj_graph_view_stop_moving (self);
  adj_graph_view_stop_morph (self);
  g_clear_pointer (&self->origins, g_array_unref);
  if (self->uncovering != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->uncovering);
  self->uncovering = 0;
  if (self->announcing != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->announcing);
  self->announcing = 0;
  g_clear_pointer (&self->highlight, adj_highlight_free);
  g_clear_pointer (&self->lit, g_array_unref);
  g_clear_pointer (&self->chosen, g_array_unref);
  g_clear_pointer (&self->scene, adj_scene_unref);
  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->marks, adj_marks_free);
  g_clear_pointer (&self->changes, g_bytes_unref);
  g_clear_pointer (&self->heat, adj_heat_free);
  g_clear_pointer (&self->texts, adj_text_cache_free);
  g_clear_pointer (&self->arrows, g_hash_table_unref);
  g_clear_pointer (&self->covers, g_ptr_array_unref);
  g_clear_object (&self->actions);

  G_OBJECT_CLASS (adj_graph_view_parent_class)->dispose (object);
}

static void
adj_graph_view_class_init (AdjGraphViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = adj_graph_view_get_property;
  object_class->dispose = adj_graph_view_dispose;
  widget_class->snapshot = adj_graph_view_snapshot;
  widget_class->size_allocate = adj_graph_view_size_allocate;
  widget_class->measure = adj_graph_view_measure;
  widget_class->system_setting_changed = adj_graph_view_system_setting_changed;

  properties[PROP_SELECTED] =
      g_param_spec_uint ("selected", NULL, NULL, 0, G_MAXUINT, G_MAXUINT,
                         G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  properties[PROP_ROLE] =
      g_param_spec_uint ("role", NULL, NULL, 0, ADJ_N_ROLES - 1, ADJ_ROLE_NONE,
                         G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  signals[NODE_ACTIVATED] = g_signal_new ("node-activated", G_TYPE_FROM_CLASS (klass),
                                          G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[MODULE_TOGGLED] =
      g_signal_new ("module-toggled", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[CAMERA_CHANGED] = g_signal_new ("camera-changed", G_TYPE_FROM_CLASS (klass),
                                          G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);

  signals[NODE_ADDED] =
      g_signal_new ("node-added", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                    G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_BOOLEAN);
  signals[NODES_CHOSEN] =
      g_signal_new ("nodes-chosen", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  signals[HOVERED] = g_signal_new ("hovered", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);

  adj_graph_view_install_keys (widget_class);
  gtk_widget_class_set_css_name (widget_class, "graphview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_graph_view_init (AdjGraphView *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();

  self->selected = ADJ_NO_NODE;
  self->hovered = self->hovered_edge = ADJ_NO_BOX;
  self->value = ADJ_NO_NODE;
  self->anchor = ADJ_NO_BOX;
  self->camera = (AdjCamera) ADJ_CAMERA_INIT;
  self->texts = adj_text_cache_new (GTK_WIDGET (self));
  self->arrows = adj_scene_painter_new_arrows ();
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  self->covers = g_ptr_array_new_with_free_func (g_object_unref);
  adj_graph_view_add_actions (self);
  adj_graph_view_add_controllers (self);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
  adj_graph_view_announce_selection (self);
}

GtkWidget *
adj_graph_view_new (void)
{
  return g_object_new (ADJ_TYPE_GRAPH_VIEW, NULL);
}
