/* SPDX-License-Identifier: MIT */
/* The chart of partitions by peak memory and recomputation. */

#include "stages/adj-pareto-chart.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-scene-painter.h"
#include "report/adj-properties.h"
#include "widgets/adj-axis.h"
#include "widgets/chart-text.h"

#define LEFT 76.0 /* for the numbers of the peaks */
#define RIGHT 20.0
#define TOP 24.0    /* for the text about a point */
#define BOTTOM 38.0 /* for numbers and the name of the axis */
#define INSET 12.0  /* between the axis and the first point */
#define REACH 14.0  /* pixels around a point that react to the pointer */
#define SIZE 4.5    /* radius of a sign */
#define SHOWN_AROUND 4.0
#define SUBJECT_AROUND 8.0 /* radius of the circle around the described point */

struct _AdjParetoChart
{
  GtkWidget parent_instance;

  GtkSingleSelection *plans; /* (owned) (nullable) */
  guint hovered;             /* GTK_INVALID_LIST_POSITION: none */
  AdjAxis again, peak;
};

G_DEFINE_FINAL_TYPE (AdjParetoChart, adj_pareto_chart, GTK_TYPE_WIDGET)

static guint chosen_signal;

/* -- places -- */

static guint
count (AdjParetoChart *self)
{
  return self->plans != NULL ? g_list_model_get_n_items (G_LIST_MODEL (self->plans)) : 0;
}

/* (transfer none): the list keeps it. */
static AdjPlanItem *
get_item (AdjParetoChart *self, guint position)
{
  g_autoptr (AdjPlanItem) item = g_list_model_get_item (G_LIST_MODEL (self->plans), position);

  return item;
}

static double
x_of (AdjParetoChart *self, double again)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - LEFT - INSET - RIGHT;

  return LEFT + INSET + width * adj_axis_get_share (&self->again, again);
}

static double
y_of (AdjParetoChart *self, double peak)
{
  double height = gtk_widget_get_height (GTK_WIDGET (self)) - TOP - BOTTOM;

  return TOP + height * (1 - adj_axis_get_share (&self->peak, peak));
}

graphene_point_t
adj_pareto_chart_get_place (AdjParetoChart *self, guint position)
{
  const AdjTradeoffPlan *plan = adj_plan_item_get (get_item (self, position));

  return GRAPHENE_POINT_INIT ((float) x_of (self, plan->again),
                              (float) y_of (self, (double) plan->peak));
}

/* The nearest plan; among several at one place one that is not dominated. */
static guint
find_at (AdjParetoChart *self, double x, double y)
{
  guint best = GTK_INVALID_LIST_POSITION;
  double nearest = REACH;

  for (guint i = 0; i < count (self); i++)
    {
      graphene_point_t at = adj_pareto_chart_get_place (self, i);
      double distance = hypot (at.x - x, at.y - y);

      if (distance < nearest)
        {
          nearest = distance;
          best = i;
        }
    }
  return best;
}

/* -- choosing -- */

guint
adj_pareto_chart_get_subject (AdjParetoChart *self)
{
  guint selected = self->plans != NULL ? gtk_single_selection_get_selected (self->plans)
                                       : GTK_INVALID_LIST_POSITION;

  if (self->hovered != GTK_INVALID_LIST_POSITION)
    return self->hovered;
  if (selected != GTK_INVALID_LIST_POSITION)
    return selected;
  for (guint i = 0; i < count (self); i++)
    if (adj_plan_item_get (get_item (self, i))->is_shown)
      return i;
  return GTK_INVALID_LIST_POSITION;
}

static void
describe (AdjParetoChart *self)
{
  guint subject = adj_pareto_chart_get_subject (self);
  g_autofree char *text = subject != GTK_INVALID_LIST_POSITION
                              ? adj_plan_item_describe (get_item (self, subject))
                              : g_strdup_printf (_ ("%u plans"), count (self));

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Peak Memory against Recomputation"),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void
changed (AdjParetoChart *self)
{
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
hover (AdjParetoChart *self, guint position)
{
  if (position == self->hovered)
    return;
  self->hovered = position;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self),
                                   position != GTK_INVALID_LIST_POSITION ? "pointer" : NULL);
  changed (self);
}

static void
on_motion (AdjParetoChart *self, double x, double y)
{
  hover (self, find_at (self, x, y));
}

static void
on_leave (AdjParetoChart *self)
{
  hover (self, GTK_INVALID_LIST_POSITION);
}

static void
choose (AdjParetoChart *self, guint position)
{
  g_autoptr (AdjPlanItem) item = NULL;

  if (position == GTK_INVALID_LIST_POSITION)
    return;
  item = g_object_ref (get_item (self, position));
  gtk_single_selection_set_selected (self->plans, position);
  g_signal_emit (self, chosen_signal, 0, item);
}

static void
on_released (AdjParetoChart *self, int n_press, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  choose (self, find_at (self, x, y));
}

/* Moves from left to right, which is the order of the list; to the ends with G_MININT and G_MAXINT.
 */
static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjParetoChart *self = ADJ_PARETO_CHART (widget);
  gint64 by = g_variant_get_int32 (args);
  guint subject = adj_pareto_chart_get_subject (self);
  gint64 last = (gint64) count (self) - 1;
  gint64 at = subject != GTK_INVALID_LIST_POSITION ? (gint64) subject + by : by > 0 ? 0 : last;

  if (last < 0)
    return FALSE;
  self->hovered = GTK_INVALID_LIST_POSITION;
  gtk_single_selection_set_selected (self->plans, (guint) CLAMP (at, 0, last));
  changed (self);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjParetoChart *self = ADJ_PARETO_CHART (widget);

  if (self->plans == NULL)
    return FALSE;
  choose (self, gtk_single_selection_get_selected (self->plans));
  return TRUE;
}

/* -- painting -- */

static const GdkRGBA *
color_of (AdjPlanKind kind)
{
  static const GdkRGBA light[ADJ_N_PLAN_KINDS] = { { 0.659f, 0.475f, 0, 1 },
                                                   { 0.11f, 0.44f, 0.85f, 1 },
                                                   { 0.016f, 0.431f, 0.337f, 1 } };
  static const GdkRGBA dark[ADJ_N_PLAN_KINDS] = { { 1, 0.824f, 0.122f, 1 },
                                                  { 0.47f, 0.72f, 1, 1 },
                                                  { 0.361f, 0.941f, 0.682f, 1 } };

  return adw_style_manager_get_dark (adw_style_manager_get_default ()) ? &dark[kind] : &light[kind];
}

static void
trace_diamond (cairo_t *cr, double x, double y, double r)
{
  cairo_move_to (cr, x, y - r);
  cairo_line_to (cr, x + r, y);
  cairo_line_to (cr, x, y + r);
  cairo_line_to (cr, x - r, y);
  cairo_close_path (cr);
}

/* PyTorch's plans are rings, ours are diamonds, so that both are visible at one place.  The plan of
 * the file has a wide ring around its sign. */
void
adj_pareto_chart_draw_sign (
    cairo_t *cr, AdjPlanKind kind, double x, double y, gboolean is_dominated)
{
  const GdkRGBA *color = color_of (kind);
  gboolean contrast = adw_style_manager_get_high_contrast (adw_style_manager_get_default ());

  cairo_new_path (cr);
  cairo_set_line_width (cr, 2);
  cairo_set_source_rgba (cr, color->red, color->green, color->blue,
                         !is_dominated ? 1
                         : contrast    ? 0.6
                                       : 0.35);
  if (kind == ADJ_PLAN_OURS)
    {
      trace_diamond (cr, x, y, SIZE + 0.5);
      cairo_fill (cr);
      return;
    }
  cairo_arc (cr, x, y, kind == ADJ_PLAN_SHOWN ? SIZE + SHOWN_AROUND : SIZE + 1, 0, 2 * G_PI);
  cairo_stroke (cr);
}

/* A cross: a plan with known costs that would be another program. */
void
adj_pareto_chart_draw_wrong (cairo_t *cr, double x, double y)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GdkRGBA color =
      adj_verdict_color (ADJ_VERDICT_DIFFERS, dark ? ADJ_SCHEME_DARK : ADJ_SCHEME_LIGHT);

  cairo_new_path (cr);
  cairo_set_line_width (cr, 2);
  gdk_cairo_set_source_rgba (cr, &color);
  cairo_move_to (cr, x - SIZE, y - SIZE);
  cairo_line_to (cr, x + SIZE, y + SIZE);
  cairo_move_to (cr, x - SIZE, y + SIZE);
  cairo_line_to (cr, x + SIZE, y - SIZE);
  cairo_stroke (cr);
}

/* The Pareto front: steps through the plans that are not dominated. */
static void
draw_front (AdjParetoChart *self, cairo_t *cr)
{
  const GdkRGBA *color = color_of (ADJ_PLAN_OURS);
  double y = TOP;
  gboolean any = FALSE;

  for (guint i = 0; i < count (self); i++)
    {
      graphene_point_t at = adj_pareto_chart_get_place (self, i);

      if (adj_plan_item_get (get_item (self, i))->is_dominated ||
          adj_plan_item_get (get_item (self, i))->wrong != NULL)
        continue;
      cairo_line_to (cr, at.x, y);
      cairo_line_to (cr, at.x, at.y);
      y = at.y;
      any = TRUE;
    }
  if (any)
    cairo_line_to (cr, gtk_widget_get_width (GTK_WIDGET (self)) - RIGHT, y);
  cairo_set_source_rgba (cr, color->red, color->green, color->blue, 0.45);
  cairo_set_line_width (cr, 1.5);
  cairo_stroke (cr);
}

static void
draw_points (AdjParetoChart *self, cairo_t *cr, const GdkRGBA *text)
{
  guint subject = adj_pareto_chart_get_subject (self);
  gboolean is_chosen = self->hovered != GTK_INVALID_LIST_POSITION ||
                       gtk_single_selection_get_selected (self->plans) != GTK_INVALID_LIST_POSITION;

  for (guint dominated = 2; dominated-- > 0;)
    for (guint i = 0; i < count (self); i++)
      {
        const AdjTradeoffPlan *plan = adj_plan_item_get (get_item (self, i));
        graphene_point_t at = adj_pareto_chart_get_place (self, i);

        if (plan->is_dominated != (dominated > 0))
          continue;
        if (plan->wrong != NULL)
          adj_pareto_chart_draw_wrong (cr, at.x, at.y);
        else
          adj_pareto_chart_draw_sign (cr, plan->kind, at.x, at.y,
                                      plan->is_dominated && i != subject);
        if (plan->is_shown)
          adj_pareto_chart_draw_sign (cr, ADJ_PLAN_SHOWN, at.x, at.y, FALSE);
        if (i != subject || !is_chosen)
          continue;
        gdk_cairo_set_source_rgba (cr, text);
        cairo_set_line_width (cr, 2);
        cairo_arc (cr, at.x, at.y, SIZE + SUBJECT_AROUND, 0, 2 * G_PI);
        cairo_stroke (cr);
      }
}

static void
draw_grid (AdjParetoChart *self, cairo_t *cr, const GdkRGBA *text)
{
  double right = gtk_widget_get_width (GTK_WIDGET (self)) - RIGHT;
  double bottom = gtk_widget_get_height (GTK_WIDGET (self)) - BOTTOM;

  cairo_set_line_width (cr, 1);
  for (guint i = 0; i < adj_axis_get_n (&self->peak); i++)
    {
      double y = floor (y_of (self, adj_axis_get (&self->peak, i))) + 0.5;

      cairo_set_source_rgba (cr, text->red, text->green, text->blue, 0.14);
      cairo_move_to (cr, LEFT, y);
      cairo_line_to (cr, right, y);
      cairo_stroke (cr);
    }
  cairo_set_source_rgba (cr, text->red, text->green, text->blue, 0.5);
  for (guint i = 0; i < adj_axis_get_n (&self->again); i++)
    {
      double x = floor (x_of (self, adj_axis_get (&self->again, i))) + 0.5;

      cairo_move_to (cr, x, floor (bottom) + 0.5);
      cairo_line_to (cr, x, floor (bottom) + 4.5);
    }
  cairo_move_to (cr, floor (LEFT) + 0.5, TOP);
  cairo_line_to (cr, floor (LEFT) + 0.5, floor (bottom) + 0.5);
  cairo_line_to (cr, right, floor (bottom) + 0.5);
  cairo_stroke (cr);
}

static void
write_numbers (AdjParetoChart *self, const AdjChartPen *pen)
{
  double height = gtk_widget_get_height (GTK_WIDGET (self));
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  g_autofree char *again =
      g_strdup_printf (_ ("Computed again in backward (%s)"), self->again.unit);
  g_autofree char *peak =
      g_strdup_printf (_ ("Peak memory beside the inputs (%s)"), self->peak.unit);
  g_autofree char *brief = g_strdup_printf (_ ("Peak (%s)"), self->peak.unit);
  guint subject = adj_pareto_chart_get_subject (self);

  for (guint i = 0; i < adj_axis_get_n (&self->peak); i++)
    {
      g_autofree char *text = adj_axis_print (&self->peak, i);

      adj_chart_write (pen, text, LEFT - 7, y_of (self, adj_axis_get (&self->peak, i)), 1, 0.8);
    }
  for (guint i = 0; i < adj_axis_get_n (&self->again); i++)
    {
      g_autofree char *text = adj_axis_print (&self->again, i);

      adj_chart_write (pen, text, x_of (self, adj_axis_get (&self->again, i)), height - BOTTOM + 13,
                       0.5, 0.8);
    }
  adj_chart_write (pen, again, (LEFT + width - RIGHT) / 2, height - 8, 0.5, 0.85);
  adj_chart_write_axis (pen, peak, brief, 10, (TOP + height - BOTTOM) / 2,
                        height - TOP - BOTTOM / 2, 0.85);
  if (subject != GTK_INVALID_LIST_POSITION)
    {
      g_autofree char *text = adj_plan_item_describe (get_item (self, subject));

      adj_chart_write_title (pen, text, LEFT, 9, width - LEFT, 0.9);
    }
}

static void
adj_pareto_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjParetoChart *self = ADJ_PARETO_CHART (widget);
  float width = (float) gtk_widget_get_width (widget);
  float height = (float) gtk_widget_get_height (widget);
  AdjChartPen pen = { .widget = widget, .snapshot = snapshot };
  cairo_t *cr;

  if (count (self) == 0 || width < LEFT + RIGHT + 10 || height < TOP + BOTTOM + 10)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &pen.color);
  cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  draw_grid (self, cr, &pen.color);
  draw_front (self, cr);
  draw_points (self, cr, &pen.color);
  cairo_destroy (cr);
  write_numbers (self, &pen);
}

static void
adj_pareto_chart_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 220 : 130;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 520 : 180;
}

static gboolean
on_query_tooltip (
    AdjParetoChart *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  guint at = keyboard ? adj_pareto_chart_get_subject (self) : find_at (self, x, y);
  g_autofree char *text = NULL;

  if (at == GTK_INVALID_LIST_POSITION)
    return FALSE;
  text = adj_plan_item_describe (get_item (self, at));
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* -- widget -- */

static void
adj_pareto_chart_dispose (GObject *object)
{
  adj_pareto_chart_set_plans (ADJ_PARETO_CHART (object), NULL);

  G_OBJECT_CLASS (adj_pareto_chart_parent_class)->dispose (object);
}

static void
adj_pareto_chart_class_init (AdjParetoChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct
  {
    guint key;
    gint by;
  } keys[] = {
    { GDK_KEY_Left, -1 }, { GDK_KEY_Right, 1 },       { GDK_KEY_Up, -1 },
    { GDK_KEY_Down, 1 },  { GDK_KEY_Home, G_MININT }, { GDK_KEY_End, G_MAXINT },
  };

  G_OBJECT_CLASS (klass)->dispose = adj_pareto_chart_dispose;
  widget_class->snapshot = adj_pareto_chart_snapshot;
  widget_class->measure = adj_pareto_chart_measure;

  chosen_signal = g_signal_new ("plan-chosen", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                                NULL, NULL, NULL, G_TYPE_NONE, 1, ADJ_TYPE_PLAN_ITEM);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (widget_class, keys[i].key, 0, on_arrow, "i", keys[i].by);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_KP_Enter, 0, on_enter, NULL);
  gtk_widget_class_set_css_name (widget_class, "paretochart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_pareto_chart_init (AdjParetoChart *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->hovered = GTK_INVALID_LIST_POSITION;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  g_signal_connect_object (adw_style_manager_get_default (), "notify",
                           G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
  describe (self);
}

static void
measure_axes (AdjParetoChart *self)
{
  double most = 0, highest = 0, lowest = INFINITY;
  gboolean by_bytes = count (self) > 0 && adj_plan_item_counts_bytes (get_item (self, 0));

  for (guint i = 0; i < count (self); i++)
    {
      const AdjTradeoffPlan *plan = adj_plan_item_get (get_item (self, i));

      most = MAX (most, plan->again);
      highest = MAX (highest, (double) plan->peak);
      lowest = MIN (lowest, (double) plan->peak);
    }
  adj_axis_init (&self->again, 0, most, by_bytes ? ADJ_AXIS_BYTES : ADJ_AXIS_FLOPS);
  adj_axis_init (&self->peak, lowest, highest, ADJ_AXIS_BYTES);
}

void
adj_pareto_chart_set_plans (AdjParetoChart *self, GtkSingleSelection *plans)
{
  g_return_if_fail (ADJ_IS_PARETO_CHART (self));

  if (self->plans != NULL)
    g_signal_handlers_disconnect_by_func (self->plans, changed, self);
  g_set_object (&self->plans, plans);
  self->hovered = GTK_INVALID_LIST_POSITION;
  if (plans == NULL)
    return;
  measure_axes (self);
  g_signal_connect_swapped (plans, "notify::selected", G_CALLBACK (changed), self);
  changed (self);
}
