/* SPDX-License-Identifier: MIT */
/* A widget that shows the sign of a role as cards have it. */

#include "canvas/adj-role-badge.h"

#include <adwaita.h>

#include "canvas/adj-graph-view.h"
#include "canvas/adj-scene-painter.h"

#define SIZE 15

struct _AdjRoleBadge
{
  GtkWidget parent_instance;

  AdjRole role;
  PangoLayout *sign; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjRoleBadge, adj_role_badge, GTK_TYPE_WIDGET)

static PangoLayout *
get_sign (AdjRoleBadge *self)
{
  g_autoptr (PangoAttrList) attributes = NULL;

  if (self->sign != NULL)
    return self->sign;
  attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_size_new_absolute (9 * PANGO_SCALE));
  pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  self->sign = gtk_widget_create_pango_layout (GTK_WIDGET (self), adj_role_sign (self->role));
  pango_layout_set_attributes (self->sign, attributes);
  return self->sign;
}

static int
badge_width (AdjRoleBadge *self)
{
  int width;

  pango_layout_get_pixel_size (get_sign (self), &width, NULL);
  return MAX (SIZE, width + 8);
}

static void
adj_role_badge_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  *minimum = *natural =
      orientation == GTK_ORIENTATION_HORIZONTAL ? badge_width (ADJ_ROLE_BADGE (widget)) : SIZE;
}

static void
adj_role_badge_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjRoleBadge *self = ADJ_ROLE_BADGE (widget);
  const AdjPalette *palette = adj_palette_get (adj_scheme_from_style ());
  GdkRGBA fill = adj_color_to_rgba (&palette->roles[self->role]);
  GdkRGBA text = adj_color_to_rgba (&palette->sign_text);
  float width = badge_width (self), middle = gtk_widget_get_height (widget) / 2.0f;
  GskRoundedRect disc;
  int text_width, text_height;

  gsk_rounded_rect_init_from_rect (
      &disc, &GRAPHENE_RECT_INIT (0, middle - SIZE / 2.0f, width, SIZE), SIZE / 2.0f);
  gtk_snapshot_push_rounded_clip (snapshot, &disc);
  gtk_snapshot_append_color (snapshot, &fill, &disc.bounds);
  gtk_snapshot_pop (snapshot);

  pango_layout_get_pixel_size (get_sign (self), &text_width, &text_height);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((width - text_width) / 2, middle - text_height / 2.0f));
  gtk_snapshot_append_layout (snapshot, get_sign (self), &text);
}

static void
adj_role_badge_dispose (GObject *object)
{
  g_clear_object (&ADJ_ROLE_BADGE (object)->sign);

  G_OBJECT_CLASS (adj_role_badge_parent_class)->dispose (object);
}

static void
adj_role_badge_class_init (AdjRoleBadgeClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_role_badge_dispose;
  widget_class->measure = adj_role_badge_measure;
  widget_class->snapshot = adj_role_badge_snapshot;
  gtk_widget_class_set_css_name (widget_class, "rolebadge");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
adj_role_badge_init (AdjRoleBadge *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();

  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

void
adj_role_badge_set_role (AdjRoleBadge *self, AdjRole role)
{
  g_return_if_fail (ADJ_IS_ROLE_BADGE (self));

  self->role = role;
  g_clear_object (&self->sign);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

GtkWidget *
adj_role_badge_new (AdjRole role)
{
  AdjRoleBadge *self = g_object_new (ADJ_TYPE_ROLE_BADGE, NULL);

  self->role = role;
  return GTK_WIDGET (self);
}
