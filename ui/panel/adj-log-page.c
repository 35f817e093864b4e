/* SPDX-License-Identifier: MIT */
#include "panel/adj-log-page.h"

#include "model/adj-log.h"

struct _AdjLogPage
{
  AdwBin parent_instance;

  GtkListView *lines;
};

G_DEFINE_FINAL_TYPE (AdjLogPage, adj_log_page, ADW_TYPE_BIN)

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *time = gtk_label_new (NULL), *text = gtk_label_new (NULL);

  gtk_widget_add_css_class (time, "time");
  gtk_label_set_xalign (GTK_LABEL (text), 0);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_selectable (GTK_LABEL (text), TRUE);
  gtk_box_append (GTK_BOX (box), time);
  gtk_box_append (GTK_BOX (box), text);
  gtk_list_item_set_child (item, box);
  gtk_list_item_set_activatable (item, FALSE);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  AdjLogItem *line = gtk_list_item_get_item (item);
  GtkWidget *time = gtk_widget_get_first_child (gtk_list_item_get_child (item));
  GtkWidget *text = gtk_widget_get_next_sibling (time);
  const char *plain[] = { NULL }, *warning[] = { "warning", NULL },
             *problem[] = { "problem", NULL };
  const char **const classes[] = { plain, warning, problem };

  gtk_label_set_text (GTK_LABEL (time), adj_log_item_get_time (line));
  gtk_label_set_text (GTK_LABEL (text), adj_log_item_get_text (line));
  gtk_widget_set_css_classes (text, classes[adj_log_item_get_kind (line)]);
}

static void
adj_log_page_dispose (GObject *object)
{
  adw_bin_set_child (ADW_BIN (object), NULL);

  G_OBJECT_CLASS (adj_log_page_parent_class)->dispose (object);
}

static void
adj_log_page_class_init (AdjLogPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_log_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/log-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjLogPage, lines);
}

static void
adj_log_page_init (AdjLogPage *self)
{
  g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), NULL);
  gtk_list_view_set_factory (self->lines, factory);
}

void
adj_log_page_set_document (AdjLogPage *self, AdjDocument *document)
{
  g_autoptr (GtkSelectionModel) model = NULL;

  if (document != NULL)
    model = GTK_SELECTION_MODEL (
        gtk_no_selection_new (G_LIST_MODEL (g_object_ref (adj_document_get_log (document)))));
  gtk_list_view_set_model (self->lines, model);
}
