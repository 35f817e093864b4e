/* SPDX-License-Identifier: MIT */
/* The base of panel pages, which follow one document. */

#include "widgets/adj-panel.h"

typedef struct
{
  AdjDocument *document; /* (owned) (nullable) */
  GSignalGroup *signals;
} AdjPanelPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (AdjPanel, adj_panel, ADW_TYPE_BIN)

static void
adj_panel_dispose (GObject *object)
{
  AdjPanelPrivate *private = adj_panel_get_instance_private (ADJ_PANEL (object));

  adj_panel_set_document (object, NULL);
  g_clear_object (&private->signals);
  adw_bin_set_child (ADW_BIN (object), NULL);

  G_OBJECT_CLASS (adj_panel_parent_class)->dispose (object);
}

static void
adj_panel_class_init (AdjPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_panel_dispose;
}

static void
adj_panel_init (AdjPanel *self)
{
  AdjPanelPrivate *private = adj_panel_get_instance_private (self);

  private->signals = g_signal_group_new (ADJ_TYPE_DOCUMENT);
}

void
adj_panel_watch (AdjPanel *self, const char *signal, GCallback callback)
{
  AdjPanelPrivate *private = adj_panel_get_instance_private (self);

  g_return_if_fail (private->document == NULL);

  g_signal_group_connect_swapped (private->signals, signal, callback, self);
}

AdjDocument *
adj_panel_get_document (gpointer self)
{
  AdjPanelPrivate *private = adj_panel_get_instance_private (ADJ_PANEL (self));

  return private->document;
}

void
adj_panel_set_document (gpointer self, AdjDocument *document)
{
  AdjPanelPrivate *private = adj_panel_get_instance_private (ADJ_PANEL (self));

  if (!g_set_object (&private->document, document))
    return;
  g_signal_group_set_target (private->signals, document);
  if (document != NULL && ADJ_PANEL_GET_CLASS (self)->update != NULL)
    ADJ_PANEL_GET_CLASS (self)->update (self);
}

gboolean
adj_panel_leave (GtkWidget *part)
{
  GtkRoot *root = gtk_widget_get_root (part);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  GtkWidget *tabs = gtk_widget_get_ancestor (part, GTK_TYPE_NOTEBOOK);

  return focus != NULL && tabs != NULL && gtk_widget_is_ancestor (focus, part) &&
         gtk_widget_grab_focus (tabs);
}
