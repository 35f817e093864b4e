/* SPDX-License-Identifier: MIT */
/* Paints the chart of a captured backward: two orders of its steps, live memory, lifetimes. */

#include <glib/gi18n.h>

#include "canvas/adj-graph-view.h"
#include "canvas/adj-scene-painter.h"
#include "panel/backward-chart-private.h"
#include "report/adj-properties.h"

#define BAR 5.0f

static float
x_of_place (AdjBackwardChart *self, float place)
{
  return BACKWARD_MARGIN + place * backward_chart_step_width (self);
}

/* The position of a node among the steps, which all have the same width. */
static float
place_of_node (AdjBackwardChart *self, guint index)
{
  guint n = self->backward->steps->len, low = 0, high = n;
  guint from, to;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (backward_chart_step (self, middle)->node.index <= index)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return 0;
  from = backward_chart_step (self, low - 1)->node.index;
  to = low < n ? backward_chart_step (self, low)->node.index : self->backward->n;
  return (float) (low - 1) + MIN ((float) (index - from + 1) / (float) MAX (to - from, 1), 1.0f);
}

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
  if (width > gtk_widget_get_width (widget) - (int) (2 * BACKWARD_MARGIN))
    {
      width = gtk_widget_get_width (widget) - (int) (2 * BACKWARD_MARGIN);
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

static void
paint_dot (const Painting *p, guint step, float opacity)
{
  const float x = x_of_place (p->chart, (float) step + 0.5f) - BACKWARD_DOT / 2;
  const float y = BACKWARD_LOW_LANE - BACKWARD_DOT - 1;
  GdkRGBA color = p->stop;
  GskRoundedRect dot;

  color.alpha *= opacity;
  gsk_rounded_rect_init_from_rect (&dot, &GRAPHENE_RECT_INIT (x, y, BACKWARD_DOT, BACKWARD_DOT),
                                   BACKWARD_DOT / 2);
  gtk_snapshot_push_rounded_clip (p->snapshot, &dot);
  fill (p, &color, x, y, BACKWARD_DOT, BACKWARD_DOT);
  gtk_snapshot_pop (p->snapshot);
}

/* Above the lane of the execution order: a dot for a breakpoint, a pale one where a click sets one;
 * a bar where a run waits. */
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
      if (i == event.step)
        fill (p, &here, x_of_place (self, (float) i + 0.5f) - 2, BACKWARD_LOW_LANE - 4, 4,
              BACKWARD_TICK + 8);
      if (adj_stepping_has_breakpoint (self->stepping, i))
        paint_dot (p, i, 1);
      else if (i == self->stop)
        paint_dot (p, i, 0.4f);
    }
}

static void
paint_lane (const Painting *p, gboolean top)
{
  AdjBackwardChart *self = p->chart;
  float room = backward_chart_step_width (self), width = CLAMP (room - 1.5f, 1.5f, 22);

  for (guint i = 0; i < self->backward->steps->len; i++)
    {
      const AdjBackwardStep *step = backward_chart_step (self, i);
      GdkRGBA color = color_of_role (p, step->role);
      float place = (float) (top ? self->ranks[i] : i) + 0.5f;
      float x = x_of_place (self, place) - width / 2;

      fill (p, &color, x, top ? BACKWARD_TOP_LANE : BACKWARD_LOW_LANE, width, BACKWARD_TICK);
      if (i == self->step)
        fill (p, &p->text, x - 1,
              top ? BACKWARD_TOP_LANE - 3 : BACKWARD_LOW_LANE + BACKWARD_TICK + 1, width + 2, 2);
    }
}

/* Lines from each step to itself; those of steps that moved are painted last and stand out. */
static void
paint_crossings (const Painting *p)
{
  AdjBackwardChart *self = p->chart;
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self));
  graphene_rect_t bounds =
      GRAPHENE_RECT_INIT (0, BACKWARD_TOP_LANE + BACKWARD_TICK, width, BACKWARD_BETWEEN);
  cairo_t *cr = gtk_snapshot_append_cairo (p->snapshot, &bounds);

  for (guint moved = 0; moved < 2; moved++)
    for (guint i = 0; i < self->backward->steps->len; i++)
      {
        GdkRGBA color = moved ? p->moved : p->pale;
        double top = BACKWARD_TOP_LANE + BACKWARD_TICK, low = BACKWARD_LOW_LANE,
               middle = (top + low) / 2;
        double x0 = (double) x_of_place (self, (float) self->ranks[i] + 0.5f);
        double x1 = (double) x_of_place (self, (float) i + 0.5f);

        if (backward_chart_step (self, i)->moved != (moved == 1))
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

/* Paints those of @kinds whose bit is set in @roles. */
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
  float y = BACKWARD_LOW_LANE + BACKWARD_TICK + 2;
  guint roles = 0;

  for (guint i = 0; i < backward->steps->len; i++)
    roles |= 1u << backward_chart_step (p->chart, i)->role;
  paint_text (p, other, BACKWARD_MARGIN, BACKWARD_SAYS - 3, &p->text);
  paint_kinds (p, kinds, G_N_ELEMENTS (kinds), roles,
               BACKWARD_MARGIN + paint_text (p, own, BACKWARD_MARGIN, y, &p->text) + 20, y);
}

/* The bytes of gradients and saved tensors at each step. */
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
                       backward_chart_node (self, (AdjNodeId){ backward->peak })->name);
  g_autofree char *unknown =
      g_strdup_printf (_ ("%s, and %u of unknown size"), text, backward->n_unknown);

  color.alpha = 0.55f;
  for (guint i = backward->first; i < backward->n; i++)
    {
      float from =
          i > backward->first ? x_of_place (self, place_of_node (self, i - 1)) : BACKWARD_MARGIN;
      float to = x_of_place (self, place_of_node (self, i));
      float height = BACKWARD_CURVE * (float) ((double) backward->held[i] / (double) most);

      fill (p, &color, from, BACKWARD_CURVE_TOP + BACKWARD_CURVE - height, MAX (to - from, 0),
            height);
    }
  fill (p, &p->pale, BACKWARD_MARGIN, BACKWARD_CURVE_TOP + BACKWARD_CURVE,
        x_of_place (self, (float) backward->steps->len) - BACKWARD_MARGIN, 1);
  paint_text (p, backward->n_unknown > 0 ? unknown : text, BACKWARD_MARGIN,
              BACKWARD_CURVE_TOP - BACKWARD_NAME, &p->text);
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
  float y = BACKWARD_CURVE_TOP + BACKWARD_CURVE + 3;
  guint found = 0;

  for (guint i = 0; i < self->backward->lives->len; i++)
    found |= 1u << roles[backward_chart_life (self, i)->from];
  paint_kinds (
      p, kinds, G_N_ELEMENTS (kinds), found,
      BACKWARD_MARGIN +
          paint_text (p, _ ("Inputs; | stolen, freed there"), BACKWARD_MARGIN, y, &p->text) + 20,
      y);
  for (guint i = 0; i < self->backward->lives->len; i++)
    {
      const AdjBackwardLife *life = backward_chart_life (self, i);
      GdkRGBA color = adj_color_to_rgba (&p->palette->roles[roles[life->from]]);
      float end = x_of_place (self, place_of_node (self, life->last.index));
      float top = BACKWARD_BARS_TOP + (float) i * BACKWARD_BAR_STEP;

      if (self->life != G_MAXUINT && self->life != i)
        color.alpha = 0.45f;
      fill (p, &color, BACKWARD_MARGIN, top + 1.5f, MAX (end - BACKWARD_MARGIN, 1), BAR - 3);
      if (life->stolen)
        fill (p, &color, MAX (end - 2, BACKWARD_MARGIN), top, 2, BAR);
    }
}

void
backward_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  Painting p = { .chart = self,
                 .snapshot = snapshot,
                 .palette = adj_palette_get (adj_scheme_from_style ()) };
  g_autofree char *description = adj_backward_chart_describe (self);

  if (backward_chart_is_empty (self))
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
      fill (&p, &band, x_of_place (self, (float) self->step), BACKWARD_LOW_LANE,
            backward_chart_step_width (self),
            (float) gtk_widget_get_height (widget) - BACKWARD_LOW_LANE);
    }
  paint_crossings (&p);
  paint_lane (&p, TRUE);
  paint_lane (&p, FALSE);
  paint_stepping (&p);
  paint_names (&p);
  paint_curve (&p);
  paint_lives (&p);
  paint_text (&p, description, BACKWARD_MARGIN, 2, &p.text);
}
