/* SPDX-License-Identifier: MIT */
/* The chart of a captured backward: its steps in both orders and what is held at each. */

#include "panel/adj-backward-chart.h"

#include <glib/gi18n.h>

#include "canvas/adj-graph-view.h"
#include "canvas/adj-scene-painter.h"
#include "report/adj-properties.h"

#define MARGIN 12.0f
#define SAYS 22.0f    /* the line that says what is chosen */
#define NAME 16.0f    /* of a lane */
#define TICK 11.0f    /* height of a step */
#define DOT 8.0f      /* of a breakpoint */
#define BETWEEN 46.0f /* the lanes */
#define CURVE 38.0f
#define BAR 5.0f
#define BAR_STEP 7.0f

#define TOP_LANE (SAYS + NAME)
#define LOW_LANE (TOP_LANE + TICK + BETWEEN)
#define CURVE_TOP (LOW_LANE + TICK + 2 * NAME + 8)
#define BARS_TOP (CURVE_TOP + CURVE + NAME + 4)

struct _AdjBackwardChart
{
  GtkWidget parent_instance;

  const AdjBackward *backward; /* (unowned) (nullable) */
  AdjStepping *stepping;       /* (unowned) (nullable) */
  guint *ranks;                /* (owned): of each step in the other order */
  guint step;                  /* chosen; G_MAXUINT: none */
  guint life;                  /* below the pointer; G_MAXUINT: none */
};

G_DEFINE_FINAL_TYPE (AdjBackwardChart, adj_backward_chart, GTK_TYPE_WIDGET)

static const AdjBackwardStep *
get_step (const AdjBackwardChart *self, guint index)
{
  return &g_array_index (self->backward->steps, AdjBackwardStep, index);
}

static const AdjBackwardLife *
get_life (const AdjBackwardChart *self, guint index)
{
  return &g_array_index (self->backward->lives, AdjBackwardLife, index);
}

static const AdjNode *
get_node (const AdjBackwardChart *self, AdjNodeId id)
{
  return adj_graph_get_node (adj_captured_get_graph (self->backward->captured), id.index);
}

/* -- places -- */

static float
width_of_step (AdjBackwardChart *self)
{
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)) - 2 * MARGIN;

  return MAX (width, 1) / (float) MAX (self->backward->steps->len, 1);
}

static float
x_of_place (AdjBackwardChart *self, float place)
{
  return MARGIN + place * width_of_step (self);
}

/* Where a node of the graph is among the steps: each takes as much room as any. */
static float
place_of_node (AdjBackwardChart *self, guint index)
{
  guint n = self->backward->steps->len, low = 0, high = n;
  guint from, to;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (get_step (self, middle)->node.index <= index)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return 0;
  from = get_step (self, low - 1)->node.index;
  to = low < n ? get_step (self, low)->node.index : self->backward->n;
  return (float) (low - 1) + MIN ((float) (index - from + 1) / (float) MAX (to - from, 1), 1.0f);
}

static guint
step_at (AdjBackwardChart *self, double x)
{
  gint at = (gint) ((x - (double) MARGIN) / (double) width_of_step (self));

  return (guint) CLAMP (at, 0, (gint) self->backward->steps->len - 1);
}

static guint
step_in_top_lane (AdjBackwardChart *self, double x)
{
  guint rank = step_at (self, x);

  for (guint i = 0; i < self->backward->steps->len; i++)
    if (self->ranks[i] == rank)
      return i;
  return G_MAXUINT;
}

/* -- choosing -- */

static char *
describe_step (AdjBackwardChart *self)
{
  const AdjBackwardStep *step = get_step (self, self->step);
  g_autofree char *bytes = adj_properties_bytes ((gint64) self->backward->held[step->node.index]);

  if (!step->moved)
    return g_strdup_printf (_ ("%s runs as step %u, in sequence; %s held"), step->title,
                            self->step + 1, bytes);
  if (self->backward->is_before)
    return g_strdup_printf (_ ("%s was captured as step %u, runs as %u"), step->title,
                            self->step + 1, self->ranks[self->step] + 1);
  return g_strdup_printf (_ ("%s runs as step %u, was %u; %s held"), step->title, self->step + 1,
                          self->ranks[self->step] + 1, bytes);
}

static char *
describe_life (AdjBackwardChart *self)
{
  const AdjBackwardLife *life = get_life (self, self->life);
  g_autofree char *bytes = adj_properties_bytes (life->bytes);
  g_autofree char *title = adj_captured_name_node (self->backward->captured, life->node.index);

  if (life->last.index == life->node.index)
    return g_strdup_printf (_ ("%s, %s, read by no node"), title, bytes);
  return g_strdup_printf (_ ("%s, %s, let go after %s"), title, bytes,
                          get_node (self, life->last)->name);
}

char *
adj_backward_chart_describe (AdjBackwardChart *self)
{
  const AdjBackward *backward = self->backward;

  if (backward == NULL || backward->steps->len == 0)
    return g_strdup ("");
  if (self->life != G_MAXUINT)
    return describe_life (self);
  if (self->step != G_MAXUINT)
    return describe_step (self);
  if (backward->n_moved == 0)
    return g_strdup_printf (_ ("All %u steps stand in the same order"), backward->steps->len);
  return g_strdup_printf (_ ("%u of %u steps stand elsewhere"), backward->n_moved,
                          backward->steps->len);
}

static void
show (AdjBackwardChart *self)
{
  g_autofree char *text = adj_backward_chart_describe (self);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Orders and Live Ranges"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
choose (AdjBackwardChart *self, guint step, guint life)
{
  if (step == self->step && life == self->life)
    return;
  self->step = step;
  self->life = life;
  show (self);
}

static gboolean
is_empty (const AdjBackwardChart *self)
{
  return self->backward == NULL || self->backward->steps->len == 0;
}

static void
on_motion (AdjBackwardChart *self, double x, double y)
{
  guint bar;

  if (is_empty (self))
    return;
  bar = y >= (double) BARS_TOP ? (guint) ((y - (double) BARS_TOP) / (double) BAR_STEP) : G_MAXUINT;
  if (bar < self->backward->lives->len)
    choose (self, self->step, bar);
  else if (y < (double) (TOP_LANE + TICK + 4) && y > (double) SAYS)
    choose (self, step_in_top_lane (self, x), G_MAXUINT);
  else
    choose (self, step_at (self, x), G_MAXUINT);
}

static void
on_leave (AdjBackwardChart *self)
{
  choose (self, G_MAXUINT, G_MAXUINT);
}

static void
go_to (AdjBackwardChart *self)
{
  AdjNodeId node = ADJ_NO_NODE;

  if (is_empty (self))
    return;
  if (self->life != G_MAXUINT)
    node = get_life (self, self->life)->node;
  else if (self->step != G_MAXUINT)
    node = get_step (self, self->step)->node;
  if (adj_node_id_is_valid (node))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", node.index);
}

static void
on_released (AdjBackwardChart *self, int n_press, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  on_motion (self, x, y);
  go_to (self);
}

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  gint by = g_variant_get_int32 (args), last;

  if (is_empty (self))
    return FALSE;
  last = (gint) self->backward->steps->len - 1;
  choose (self,
          self->step != G_MAXUINT ? (guint) CLAMP ((gint) self->step + by, 0, last)
          : by > 0                ? 0
                                  : (guint) last,
          G_MAXUINT);
  return TRUE;
}

/* The first or the last step that moved. */
static gboolean
on_end (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  gint by = g_variant_get_int32 (args), at, n;

  if (is_empty (self))
    return FALSE;
  n = (gint) self->backward->steps->len;
  for (at = by > 0 ? 0 : n - 1; at >= 0 && at < n && !get_step (self, (guint) at)->moved; at += by)
    ;
  if (at < 0 || at >= n)
    at = by > 0 ? 0 : n - 1;
  choose (self, (guint) at, G_MAXUINT);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  go_to (ADJ_BACKWARD_CHART (widget));
  return TRUE;
}

/* -- painting -- */

typedef struct
{
  AdjBackwardChart *chart;
  GtkSnapshot *snapshot;
  const AdjPalette *palette;
  GdkRGBA text, pale, moved, stop;
} Painting;

static float
paint_text (const Painting *p, const char *text, float x, float y, const GdkRGBA *color)
{
  GtkWidget *widget = GTK_WIDGET (p->chart);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, text);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  int width;

  pango_attr_list_insert (attributes, pango_attr_scale_new (0.88));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_get_pixel_size (layout, &width, NULL);
  if (width > gtk_widget_get_width (widget) - (int) (2 * MARGIN))
    {
      width = gtk_widget_get_width (widget) - (int) (2 * MARGIN);
      pango_layout_set_width (layout, MAX (width, 1) * PANGO_SCALE);
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    }
  gtk_snapshot_save (p->snapshot);
  gtk_snapshot_translate (p->snapshot, &GRAPHENE_POINT_INIT (x, y));
  gtk_snapshot_append_layout (p->snapshot, layout, color);
  gtk_snapshot_restore (p->snapshot);
  return (float) width;
}

static GdkRGBA
color_of_role (const Painting *p, AdjRole role)
{
  return role == ADJ_ROLE_NONE ? p->pale : adj_color_to_rgba (&p->palette->roles[role]);
}

static void
fill (const Painting *p, const GdkRGBA *color, float x, float y, float width, float height)
{
  gtk_snapshot_append_color (p->snapshot, color, &GRAPHENE_RECT_INIT (x, y, width, height));
}

/* Below the lane as it runs: a dot for a breakpoint, a bar where a run waits. */
static void
paint_stepping (const Painting *p)
{
  AdjBackwardChart *self = p->chart;
  AdjSteppingEvent event = { .step = G_MAXUINT };
  const GdkRGBA here = adj_color_to_rgba (&p->palette->selection);

  if (self->stepping == NULL)
    return;
  adj_stepping_get_event (self->stepping, &event);
  for (guint i = 0; i < self->backward->steps->len; i++)
    {
      const float x = x_of_place (self, (float) i + 0.5f);
      GskRoundedRect dot;

      if (i == event.step)
        fill (p, &here, x - 2, LOW_LANE - 4, 4, TICK + 8);
      if (!adj_stepping_has_breakpoint (self->stepping, i))
        continue;
      gsk_rounded_rect_init_from_rect (
          &dot, &GRAPHENE_RECT_INIT (x - DOT / 2, LOW_LANE - DOT - 1, DOT, DOT), DOT / 2);
      gtk_snapshot_push_rounded_clip (p->snapshot, &dot);
      fill (p, &p->stop, x - DOT / 2, LOW_LANE - DOT - 1, DOT, DOT);
      gtk_snapshot_pop (p->snapshot);
    }
}

static void
paint_lane (const Painting *p, gboolean top)
{
  AdjBackwardChart *self = p->chart;
  float room = width_of_step (self), width = CLAMP (room - 1.5f, 1.5f, 22);

  for (guint i = 0; i < self->backward->steps->len; i++)
    {
      const AdjBackwardStep *step = get_step (self, i);
      GdkRGBA color = color_of_role (p, step->role);
      float place = (float) (top ? self->ranks[i] : i) + 0.5f;
      float x = x_of_place (self, place) - width / 2;

      fill (p, &color, x, top ? TOP_LANE : LOW_LANE, width, TICK);
      if (i == self->step)
        fill (p, &p->text, x - 1, top ? TOP_LANE - 3 : LOW_LANE + TICK + 1, width + 2, 2);
    }
}

/* From each step to itself: those that moved stand out and come last, on top. */
static void
paint_crossings (const Painting *p)
{
  AdjBackwardChart *self = p->chart;
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self));
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, TOP_LANE + TICK, width, BETWEEN);
  cairo_t *cr = gtk_snapshot_append_cairo (p->snapshot, &bounds);

  for (guint moved = 0; moved < 2; moved++)
    for (guint i = 0; i < self->backward->steps->len; i++)
      {
        GdkRGBA color = moved ? p->moved : p->pale;
        double top = TOP_LANE + TICK, low = LOW_LANE, middle = (top + low) / 2;
        double x0 = (double) x_of_place (self, (float) self->ranks[i] + 0.5f);
        double x1 = (double) x_of_place (self, (float) i + 0.5f);

        if (get_step (self, i)->moved != (moved == 1))
          continue;
        color.alpha *= i == self->step ? 1 : moved ? 0.85f : 0.45f;
        gdk_cairo_set_source_rgba (cr, i == self->step ? &p->text : &color);
        cairo_set_line_width (cr, i == self->step ? 2 : moved ? 1.4 : 1);
        cairo_move_to (cr, x0, top);
        cairo_curve_to (cr, x0, middle, x1, middle, x1, low);
        cairo_stroke (cr);
      }
  cairo_destroy (cr);
}

typedef struct
{
  AdjRole role;
  const char *name;
  gboolean small; /* a line, not a step */
} Kind;

/* Those of @kinds that @roles has, by bit. */
static void
paint_kinds (const Painting *p, const Kind *kinds, guint n, guint roles, float x, float y)
{
  for (guint i = 0; i < n; i++)
    {
      GdkRGBA color = color_of_role (p, kinds[i].role);

      if ((roles & 1u << kinds[i].role) == 0)
        continue;
      if (kinds[i].small)
        fill (p, &color, x, y + 7, 10, 2);
      else
        fill (p, &color, x, y + 4, 8, 8);
      x += 13;
      x += paint_text (p, _ (kinds[i].name), x, y, &p->text) + 12;
    }
}

static void
paint_names (const Painting *p)
{
  static const Kind kinds[] = {
    { ADJ_ROLE_NONE, N_ ("node of autograd"), FALSE },
    { ADJ_ROLE_HOOK, N_ ("hook"), FALSE },
    { ADJ_ROLE_CUSTOM_BACKWARD, N_ ("custom backward"), FALSE },
    { ADJ_ROLE_ACCUMULATE, N_ ("accumulation"), FALSE },
  };
  const AdjBackward *backward = p->chart->backward;
  const char *own = backward->is_before ? _ ("As captured (this graph)") : _ ("As it runs");
  const char *other = backward->is_before ? _ ("As it runs, with hooks and accumulations moved")
                      : backward->has_unordered
                          ? _ ("As captured, before hooks and accumulations moved")
                          : _ ("Node by node, as autograd was visited");
  float y = LOW_LANE + TICK + 2;
  guint roles = 0;

  for (guint i = 0; i < backward->steps->len; i++)
    roles |= 1u << get_step (p->chart, i)->role;
  paint_text (p, other, MARGIN, SAYS - 3, &p->text);
  paint_kinds (p, kinds, G_N_ELEMENTS (kinds), roles,
               MARGIN + paint_text (p, own, MARGIN, y, &p->text) + 20, y);
}

/* What is held at each step of gradients and saved tensors. */
static void
paint_curve (const Painting *p)
{
  AdjBackwardChart *self = p->chart;
  const AdjBackward *backward = self->backward;
  guint64 most = MAX (backward->held[backward->peak], 1);
  GdkRGBA color = adj_color_to_rgba (&p->palette->roles[ADJ_ROLE_SAVED]);
  g_autofree char *bytes = adj_properties_bytes ((gint64) backward->held[backward->peak]);
  g_autofree char *text =
      g_strdup_printf (_ ("Saved tensors and gradients held: %s at most, by %s"), bytes,
                       get_node (self, (AdjNodeId){ backward->peak })->name);
  g_autofree char *unknown =
      g_strdup_printf (_ ("%s, and %u of unknown size"), text, backward->n_unknown);

  color.alpha = 0.55f;
  for (guint i = backward->first; i < backward->n; i++)
    {
      float from = i > backward->first ? x_of_place (self, place_of_node (self, i - 1)) : MARGIN;
      float to = x_of_place (self, place_of_node (self, i));
      float height = CURVE * (float) ((double) backward->held[i] / (double) most);

      fill (p, &color, from, CURVE_TOP + CURVE - height, MAX (to - from, 0), height);
    }
  fill (p, &p->pale, MARGIN, CURVE_TOP + CURVE,
        x_of_place (self, (float) backward->steps->len) - MARGIN, 1);
  paint_text (p, backward->n_unknown > 0 ? unknown : text, MARGIN, CURVE_TOP - NAME, &p->text);
}

static void
paint_lives (const Painting *p)
{
  static const AdjRole roles[] = {
    [ADJ_FROM_GRADIENT] = ADJ_ROLE_GRADIENT,
    [ADJ_FROM_SAVED] = ADJ_ROLE_SAVED,
    [ADJ_FROM_LEAF] = ADJ_ROLE_PARAMETER,
    [ADJ_FROM_GRAD] = ADJ_ROLE_ACCUMULATE,
  };
  static const Kind kinds[] = {
    { ADJ_ROLE_SAVED, N_ ("saved"), TRUE },
    { ADJ_ROLE_PARAMETER, N_ ("leaf"), TRUE },
    { ADJ_ROLE_GRADIENT, N_ ("gradient given"), TRUE },
    { ADJ_ROLE_ACCUMULATE, N_ (".grad before"), TRUE },
  };
  AdjBackwardChart *self = p->chart;
  float y = CURVE_TOP + CURVE + 3;
  guint found = 0;

  for (guint i = 0; i < self->backward->lives->len; i++)
    found |= 1u << roles[get_life (self, i)->from];
  paint_kinds (
      p, kinds, G_N_ELEMENTS (kinds), found,
      MARGIN + paint_text (p, _ ("Inputs, up to where they are let go"), MARGIN, y, &p->text) + 20,
      y);
  for (guint i = 0; i < self->backward->lives->len; i++)
    {
      const AdjBackwardLife *life = get_life (self, i);
      GdkRGBA color = adj_color_to_rgba (&p->palette->roles[roles[life->from]]);
      float end = x_of_place (self, place_of_node (self, life->last.index));
      float top = BARS_TOP + (float) i * BAR_STEP;

      if (self->life != G_MAXUINT && self->life != i)
        color.alpha = 0.45f;
      fill (p, &color, MARGIN, top + 1.5f, MAX (end - MARGIN, 1), BAR - 3);
      fill (p, &color, MAX (end - 2, MARGIN), top, 2, BAR);
    }
}

static void
adj_backward_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  Painting p = { .chart = self,
                 .snapshot = snapshot,
                 .palette = adj_palette_get (adj_scheme_from_style ()) };
  g_autofree char *description = adj_backward_chart_describe (self);

  if (is_empty (self))
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &p.text);
  p.stop = p.text;
  gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), "error_color", &p.stop);
  p.pale = p.text;
  p.pale.alpha *= 0.4f;
  p.moved = adj_color_to_rgba (&p.palette->roles[ADJ_ROLE_OPAQUE]);
  if (self->step != G_MAXUINT)
    {
      GdkRGBA band = p.text;

      band.alpha = 0.07f;
      fill (&p, &band, x_of_place (self, (float) self->step), LOW_LANE, width_of_step (self),
            (float) gtk_widget_get_height (widget) - LOW_LANE);
    }
  paint_crossings (&p);
  paint_lane (&p, TRUE);
  paint_lane (&p, FALSE);
  paint_stepping (&p);
  paint_names (&p);
  paint_curve (&p);
  paint_lives (&p);
  paint_text (&p, description, MARGIN, 2, &p.text);
}

static void
adj_backward_chart_measure (GtkWidget *widget,
                            GtkOrientation orientation,
                            int for_size,
                            int *minimum,
                            int *natural,
                            int *minimum_baseline,
                            int *natural_baseline)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  guint n = self->backward != NULL ? self->backward->lives->len : 0;

  *minimum =
      orientation == GTK_ORIENTATION_HORIZONTAL ? 300 : (int) (BARS_TOP + BAR_STEP * (float) n + 6);
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : *minimum;
}

static void
adj_backward_chart_finalize (GObject *object)
{
  g_free (ADJ_BACKWARD_CHART (object)->ranks);

  G_OBJECT_CLASS (adj_backward_chart_parent_class)->finalize (object);
}

static void
adj_backward_chart_class_init (AdjBackwardChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = adj_backward_chart_finalize;
  widget_class->snapshot = adj_backward_chart_snapshot;
  widget_class->measure = adj_backward_chart_measure;

  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, on_arrow, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, on_arrow, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Home, 0, on_end, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_End, 0, on_end, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_set_css_name (widget_class, "backwardchart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_backward_chart_init (AdjBackwardChart *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->step = self->life = G_MAXUINT;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  show (self);
}

void
adj_backward_chart_set_backward (AdjBackwardChart *self, const AdjBackward *backward)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  self->backward = backward;
  self->step = self->life = G_MAXUINT;
  g_clear_pointer (&self->ranks, g_free);
  if (backward != NULL)
    {
      g_autofree guint *order = adj_backward_list_before (backward);

      self->ranks = g_new0 (guint, backward->steps->len + 1);
      for (guint i = 0; i < backward->steps->len; i++)
        self->ranks[order[i]] = i;
    }
  show (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
adj_backward_chart_set_stepping (AdjBackwardChart *self, AdjStepping *stepping)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  self->stepping = stepping;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
adj_backward_chart_choose_node (AdjBackwardChart *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  for (guint i = 0; !is_empty (self) && i < self->backward->steps->len; i++)
    if (get_step (self, i)->node.index == node.index)
      choose (self, i, G_MAXUINT);
}
