/* SPDX-License-Identifier: MIT */
/* The page of a tab without a document. */

#include "window/adj-start-page.h"

#include "window/adj-file-list.h"

struct _AdjStartPage
{
  AdwBin parent_instance;
};

G_DEFINE_FINAL_TYPE (AdjStartPage, adj_start_page, ADW_TYPE_BIN)

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
}

static void
adj_start_page_init (AdjStartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
