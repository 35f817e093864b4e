/* SPDX-License-Identifier: MIT */
/* A card of the inspector: a title and rows of properties. */

#include "inspect/adj-property-card.h"

struct _AdjPropertyCard
{
  AdwBin parent_instance;

  GtkLabel *title;
  GtkGrid *grid;
  int n_rows;
};

G_DEFINE_FINAL_TYPE (AdjPropertyCard, adj_property_card, ADW_TYPE_BIN)

static void
adj_property_card_dispose (GObject *object)
{
  adw_bin_set_child (ADW_BIN (object), NULL);

  G_OBJECT_CLASS (adj_property_card_parent_class)->dispose (object);
}

static void
adj_property_card_class_init (AdjPropertyCardClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_property_card_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/property-card.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjPropertyCard, title);
  gtk_widget_class_bind_template_child (widget_class, AdjPropertyCard, grid);
}

static void
adj_property_card_init (AdjPropertyCard *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

AdjPropertyCard *
adj_property_card_new (const char *title)
{
  AdjPropertyCard *self = g_object_new (ADJ_TYPE_PROPERTY_CARD, NULL);

  gtk_label_set_text (self->title, title);
  return self;
}

static GtkWidget *
make_label (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  gtk_widget_add_css_class (label, css_class);
  return label;
}

void
adj_property_card_add (AdjPropertyCard *self, const char *key, const char *value)
{
  GtkWidget *label;

  g_return_if_fail (ADJ_IS_PROPERTY_CARD (self));

  if (value == NULL || *value == '\0')
    return;
  label = make_label (value, "property-value");
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_can_focus (label, FALSE);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_grid_attach (self->grid, make_label (key, "property-key"), 0, self->n_rows, 1, 1);
  gtk_grid_attach (self->grid, label, 1, self->n_rows++, 2, 1);
}

void
adj_property_card_add_text (AdjPropertyCard *self, const char *text, gboolean monospace)
{
  GtkWidget *label;

  if (text == NULL || *text == '\0')
    return;
  label = make_label (text, "property-value");
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_can_focus (label, FALSE);
  if (monospace)
    gtk_widget_add_css_class (label, "monospace");
  adj_property_card_add_widget (self, label);
}

void
adj_property_card_add_link (
    AdjPropertyCard *self, const char *key, const char *text, AdjNodeId node, const char *trailing)
{
  adj_property_card_add_action (self, key, text, "win.select-node",
                                g_variant_new_uint32 (node.index), trailing);
}

void
adj_property_card_add_action (AdjPropertyCard *self,
                              const char *key,
                              const char *text,
                              const char *action,
                              GVariant *target,
                              const char *trailing)
{
  GtkWidget *label = gtk_label_new (text), *button = gtk_button_new ();
  int column = key != NULL ? 1 : 0;

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "link");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_widget_set_hexpand (button, TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_actionable_set_action_target_value (GTK_ACTIONABLE (button), target);
  if (key != NULL)
    gtk_grid_attach (self->grid, make_label (key, "property-key"), 0, self->n_rows, 1, 1);
  gtk_grid_attach (self->grid, button, column, self->n_rows, (trailing != NULL ? 2 : 3) - column,
                   1);
  if (trailing != NULL)
    {
      GtkWidget *end = make_label (trailing, "property-trailing");

      gtk_label_set_ellipsize (GTK_LABEL (end), PANGO_ELLIPSIZE_END);
      gtk_label_set_xalign (GTK_LABEL (end), 1);
      gtk_widget_set_valign (end, GTK_ALIGN_CENTER);
      gtk_grid_attach (self->grid, end, 2, self->n_rows, 1, 1);
    }
  self->n_rows++;
}

void
adj_property_card_add_widget (AdjPropertyCard *self, GtkWidget *widget)
{
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_grid_attach (self->grid, widget, 0, self->n_rows++, 3, 1);
}

gboolean
adj_property_card_is_empty (AdjPropertyCard *self)
{
  return self->n_rows == 0;
}
