/* SPDX-License-Identifier: MIT */
/* The page of a tab without a document. */

#include "window/adj-start-page.h"

#include "window/adj-file-list.h"

struct _AdjStartPage
{
  AdwBin parent_instance;

  GtkLabel *log_line, *snippet;
  GtkButton *copy_log_line, *copy_snippet;
};

G_DEFINE_FINAL_TYPE (AdjStartPage, adj_start_page, ADW_TYPE_BIN)

static void
copy (GtkLabel *label)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (label)),
                          gtk_label_get_text (label));
}

static void
adj_start_page_dispose (GObject *object)
{
  adw_bin_set_child (ADW_BIN (object), NULL);

  G_OBJECT_CLASS (adj_start_page_parent_class)->dispose (object);
}

static void
adj_start_page_class_init (AdjStartPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_start_page_dispose;

  g_type_ensure (ADJ_TYPE_FILE_LIST);
  gtk_widget_class_set_template_from_resource (GTK_WIDGET_CLASS (klass),
                                               "/org/adjoint/Workbench/ui/start-page.ui");
  gtk_widget_class_bind_template_child (GTK_WIDGET_CLASS (klass), AdjStartPage, log_line);
  gtk_widget_class_bind_template_child (GTK_WIDGET_CLASS (klass), AdjStartPage, snippet);
  gtk_widget_class_bind_template_child (GTK_WIDGET_CLASS (klass), AdjStartPage, copy_log_line);
  gtk_widget_class_bind_template_child (GTK_WIDGET_CLASS (klass), AdjStartPage, copy_snippet);
}

static void
adj_start_page_init (AdjStartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->copy_log_line, "clicked", G_CALLBACK (copy), self->log_line);
  g_signal_connect_swapped (self->copy_snippet, "clicked", G_CALLBACK (copy), self->snippet);
}
