/* SPDX-License-Identifier: MIT */
/* The command palette. */

#include "window/adj-command-palette.h"

#include <glib/gi18n.h>

#include "model/adj-fuzzy.h"
#include "widgets/adj-row-look.h"
#include "widgets/scroll-to-row.h"
#include "window/adj-window.h"
#include "window/palette-entries.h"

struct _AdjCommandPalette
{
  GtkPopover parent_instance;

  AdjPaletteEntries *entries; /* (owned) (nullable): while it is open */
  GtkWidget *before;          /* (nullable): has the focus again when it is closed */
  GtkSingleSelection *selection;

  GtkEntry *entry;
  GtkStack *stack;
  GtkListView *list;
};

G_DEFINE_FINAL_TYPE (AdjCommandPalette, adj_command_palette, GTK_TYPE_POPOVER)

/* -- rows -- */

/* Makes the matched letters bold. */
static void
embolden (GtkLabel *label, const char *title, const char *query)
{
  g_autoptr (GArray) positions = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();

  adj_fuzzy_match (title, query, positions);
  for (guint i = 0; i < positions->len; i++)
    {
      PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);

      bold->start_index = g_array_index (positions, guint, i);
      bold->end_index = bold->start_index + 1;
      pango_attr_list_insert (attributes, bold);
    }
  gtk_label_set_attributes (label, attributes);
}

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjCommandPalette *self = data;
  AdjPaletteEntry *entry = gtk_list_item_get_item (item);

  gtk_label_set_text (cells[0], adj_palette_entry_get_title (entry));
  embolden (cells[0], adj_palette_entry_get_title (entry),
            gtk_editable_get_text (GTK_EDITABLE (self->entry)));
  gtk_label_set_text (cells[1], adj_palette_entry_get_detail (entry));
  gtk_label_set_text (cells[2], adj_palette_entry_get_keys (entry));
  gtk_widget_set_visible (GTK_WIDGET (cells[2]), *adj_palette_entry_get_keys (entry) != '\0');
}

static const AdjRowLook look = {
  .n = 3,
  .cells = { { .expand = TRUE, .ellipsize = PANGO_ELLIPSIZE_MIDDLE },
             { .css_class = "found-what", .xalign = 1 },
             { .css_class = "keys", .xalign = 0.5f } },
  .spacing = 12,
  .bind = bind,
};

/* -- finding -- */

/* Announces to screen readers what Enter would run. */
static void
describe_selected (AdjCommandPalette *self)
{
  AdjPaletteEntry *entry = gtk_single_selection_get_selected_item (self->selection);
  g_autofree char *text = NULL;

  if (entry == NULL)
    text = g_strdup (_ ("Nothing matches"));
  else
    text =
        g_strdup_printf ("%s, %s %s", adj_palette_entry_get_title (entry),
                         adj_palette_entry_get_detail (entry), adj_palette_entry_get_keys (entry));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text, -1);
}

static void
find (AdjCommandPalette *self)
{
  g_autoptr (GListStore) found = NULL;

  if (self->entries == NULL)
    return;
  found =
      adj_palette_entries_find (self->entries, gtk_editable_get_text (GTK_EDITABLE (self->entry)));
  gtk_single_selection_set_model (self->selection, G_LIST_MODEL (found));
  gtk_single_selection_set_selected (self->selection, 0);
  gtk_stack_set_visible_child_name (
      self->stack, g_list_model_get_n_items (G_LIST_MODEL (found)) > 0 ? "found" : "nothing");
  adj_scroll_to_row (GTK_WIDGET (self->list), 0, g_list_model_get_n_items (G_LIST_MODEL (found)));
  describe_selected (self);
}

static void
step (AdjCommandPalette *self, gint by)
{
  gint n = (gint) g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  gint at = (gint) gtk_single_selection_get_selected (self->selection);

  if (n == 0)
    return;
  /* One step wraps around, a page stops at the end. */
  at = ABS (by) == 1 ? (at + by + n) % n : CLAMP (at + by, 0, n - 1);
  gtk_single_selection_set_selected (self->selection, (guint) at);
  adj_scroll_to_row (GTK_WIDGET (self->list), (guint) at, (guint) n);
  describe_selected (self);
}

/* The action may open something else, so the popover is closed first. */
static void
run (AdjCommandPalette *self)
{
  AdjPaletteEntry *selected = gtk_single_selection_get_selected_item (self->selection);
  g_autoptr (AdjPaletteEntry) entry = selected != NULL ? g_object_ref (selected) : NULL;
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (ADJ_WINDOW (window)));
  const char *action;

  if (entry == NULL)
    return;
  gtk_popover_popdown (GTK_POPOVER (self));
  action = adj_palette_entry_get_action (entry);
  gtk_widget_grab_focus (view);
  gtk_widget_activate_action_variant (window, action, adj_palette_entry_get_target (entry));
}

static gboolean
on_key (AdjCommandPalette *self, guint key, guint code, GdkModifierType state)
{
  switch (key)
    {
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      step (self, 1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      step (self, -1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Page_Down:
      step (self, 8);
      return GDK_EVENT_STOP;
    case GDK_KEY_Page_Up:
      step (self, -8);
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

static void
on_row_activated (AdjCommandPalette *self, guint position)
{
  gtk_single_selection_set_selected (self->selection, position);
  run (self);
}

/* -- widget -- */

static void
adj_command_palette_closed (GtkPopover *popover)
{
  AdjCommandPalette *self = ADJ_COMMAND_PALETTE (popover);

  g_clear_pointer (&self->entries, adj_palette_entries_free);
  if (self->before != NULL)
    gtk_widget_grab_focus (self->before);
  g_clear_weak_pointer (&self->before);
}

static void
adj_command_palette_dispose (GObject *object)
{
  AdjCommandPalette *self = ADJ_COMMAND_PALETTE (object);

  g_clear_weak_pointer (&self->before);
  g_clear_pointer (&self->entries, adj_palette_entries_free);
  g_clear_object (&self->selection);

  G_OBJECT_CLASS (adj_command_palette_parent_class)->dispose (object);
}

static void
adj_command_palette_class_init (AdjCommandPaletteClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_command_palette_dispose;
  GTK_POPOVER_CLASS (klass)->closed = adj_command_palette_closed;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/command-palette.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjCommandPalette, entry);
  gtk_widget_class_bind_template_child (widget_class, AdjCommandPalette, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjCommandPalette, list);
}

static void
adj_command_palette_init (AdjCommandPalette *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&look, self);

  gtk_widget_init_template (GTK_WIDGET (self));
  self->selection = gtk_single_selection_new (NULL);
  gtk_list_view_set_factory (self->list, factory);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect_swapped (self->entry, "changed", G_CALLBACK (find), self);
  g_signal_connect_swapped (self->entry, "activate", G_CALLBACK (run), self);
  g_signal_connect_swapped (self->list, "activate", G_CALLBACK (on_row_activated), self);
}

AdjCommandPalette *
adj_command_palette_new (void)
{
  return g_object_new (ADJ_TYPE_COMMAND_PALETTE, NULL);
}

void
adj_command_palette_open (AdjCommandPalette *self, AdjDocument *document)
{
  g_return_if_fail (ADJ_IS_COMMAND_PALETTE (self));

  g_clear_pointer (&self->entries, adj_palette_entries_free);
  self->entries = adj_palette_entries_new (document);
  g_set_weak_pointer (&self->before, gtk_root_get_focus (gtk_widget_get_root (GTK_WIDGET (self))));
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  find (self);
  gtk_popover_popup (GTK_POPOVER (self));
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
}
