/* SPDX-License-Identifier: MIT */
/* The legend: the roles in the picture; a click highlights one of them. */

#include "canvas/adj-legend.h"

#include <glib/gi18n.h>

#include "canvas/adj-role-badge.h"
#include "widgets/name-widgets.h"

struct _AdjLegend
{
  AdwBin parent_instance;

  GtkBox *box;
  AdjGraphView *view; /* (unowned) */
  AdjScene *scene;    /* (owned) (nullable): whose roles are shown */
};

G_DEFINE_FINAL_TYPE (AdjLegend, adj_legend, ADW_TYPE_BIN)

static AdjRole
get_role (gpointer button)
{
  return GPOINTER_TO_UINT (g_object_get_data (button, "role"));
}

/* Only one role is highlighted at a time; a second click removes the highlight. */
static void
on_clicked (GtkToggleButton *button, AdjLegend *self)
{
  if (self->view != NULL)
    adj_graph_view_set_role (self->view, gtk_toggle_button_get_active (button) ? get_role (button)
                                                                               : ADJ_ROLE_NONE);
}

static void
follow_role (AdjLegend *self)
{
  AdjRole role = adj_graph_view_get_role (self->view);

  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->box)); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (child), get_role (child) == role);
}

static GtkWidget *
make_button (AdjLegend *self, AdjRole role)
{
  GtkWidget *button = gtk_toggle_button_new ();
  GtkWidget *content = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);

  gtk_box_append (GTK_BOX (content), adj_role_badge_new (role));
  gtk_box_append (GTK_BOX (content),
                  gtk_label_new (_ (adj_scene_get_role_name (self->scene, role))));
  gtk_button_set_child (GTK_BUTTON (button), content);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, _ ("Show only these"));
  g_object_set_data (G_OBJECT (button), "role", GUINT_TO_POINTER (role));
  g_signal_connect (button, "clicked", G_CALLBACK (on_clicked), self);
  return button;
}

static guint
collect_roles (const AdjScene *scene)
{
  guint roles = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind != ADJ_BOX_BRIDGE)
        roles |= 1u << box->role;
    }
  return roles;
}

void
adj_legend_update (AdjLegend *self)
{
  AdjScene *scene = self->view != NULL ? adj_graph_view_get_scene (self->view) : NULL;
  GtkWidget *child;
  guint roles;

  if (scene == self->scene)
    return;
  g_clear_pointer (&self->scene, adj_scene_unref);
  self->scene = scene != NULL ? adj_scene_ref (scene) : NULL;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))))
    gtk_box_remove (self->box, child);

  roles = scene != NULL ? collect_roles (scene) : 0;
  for (AdjRole role = ADJ_ROLE_SAVED; role < ADJ_N_ROLES; role++)
    if (roles & (1u << role))
      gtk_box_append (self->box, make_button (self, role));
  adj_name_widgets (GTK_WIDGET (self));
  gtk_widget_set_visible (GTK_WIDGET (self),
                          gtk_widget_get_first_child (GTK_WIDGET (self->box)) != NULL);
}

static void
adj_legend_dispose (GObject *object)
{
  AdjLegend *self = ADJ_LEGEND (object);

  adj_legend_set_view (self, NULL);
  g_clear_pointer (&self->scene, adj_scene_unref);

  G_OBJECT_CLASS (adj_legend_parent_class)->dispose (object);
}

static void
adj_legend_class_init (AdjLegendClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_legend_dispose;
}

static void
adj_legend_init (AdjLegend *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->box = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_EXTERNAL,
                                  GTK_POLICY_NEVER);
  gtk_scrolled_window_set_propagate_natural_width (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->box));
  gtk_accessible_update_property (GTK_ACCESSIBLE (scroller), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Roles"), -1);
  adw_bin_set_child (ADW_BIN (self), scroller);
  gtk_widget_add_css_class (GTK_WIDGET (self), "legend");
}

void
adj_legend_set_view (AdjLegend *self, AdjGraphView *view)
{
  if (self->view != NULL)
    g_signal_handlers_disconnect_by_func (self->view, follow_role, self);
  g_set_weak_pointer (&self->view, view);
  if (view != NULL)
    g_signal_connect_object (view, "notify::role", G_CALLBACK (follow_role), self,
                             G_CONNECT_SWAPPED);
}
