/* SPDX-License-Identifier: MIT */
/* The panel page of the log. */

#include "panel/adj-log-page.h"

#include <glib/gi18n.h>

#include "model/adj-log.h"
#include "widgets/adj-row-look.h"
#include "widgets/quick-find.h"
#include "widgets/scroll-to-row.h"

struct _AdjLogPage
{
  AdjPanel parent_instance;

  GtkSearchBar *bar;
  GtkListView *lines;
};

G_DEFINE_FINAL_TYPE (AdjLogPage, adj_log_page, ADJ_TYPE_PANEL)

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjLogItem *line = gtk_list_item_get_item (item);
  const char *plain[] = { NULL }, *warning[] = { "warning", NULL },
             *problem[] = { "problem", NULL };
  const char **const classes[] = { plain, warning, problem };

  gtk_label_set_text (cells[0], adj_log_item_get_time (line));
  gtk_label_set_text (cells[1], adj_log_item_get_text (line));
  gtk_widget_set_css_classes (GTK_WIDGET (cells[1]), classes[adj_log_item_get_kind (line)]);
}

static const AdjRowLook line_look = {
  .n = 2,
  .cells = { { .css_class = "time" }, { .wrap = TRUE, .selectable = TRUE } },
  .spacing = 12,
  .inactivable = TRUE,
  .bind = bind,
};

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return g_strdup (adj_log_item_get_text (item));
}

static void
update (AdjLogPage *self)
{
  GListStore *log = adj_document_get_log (adj_panel_get_document (self));
  g_autoptr (GtkSingleSelection) model = gtk_single_selection_new (NULL);

  gtk_single_selection_set_autoselect (model, FALSE);
  gtk_single_selection_set_can_unselect (model, TRUE);
  gtk_single_selection_set_model (model, G_LIST_MODEL (log));
  gtk_list_view_set_model (self->lines, GTK_SELECTION_MODEL (model));
}

/* Goes to the last entry of the problem. */
static void
go_to_problem (AdjLogPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint graph;
  AdjNodeId node;
  const GError *problem =
      document != NULL ? adj_document_get_problem (document, &graph, &node) : NULL;
  GListModel *log = document != NULL ? G_LIST_MODEL (adj_document_get_log (document)) : NULL;
  guint n = problem != NULL ? g_list_model_get_n_items (log) : 0;

  for (guint i = n; i-- > 0;)
    {
      g_autoptr (AdjLogItem) line = g_list_model_get_item (log, i);

      if (!g_str_equal (adj_log_item_get_text (line), problem->message))
        continue;
      adj_scroll_to_row (GTK_WIDGET (self->lines), i, n);
      return;
    }
}

static void
adj_log_page_class_init (AdjLogPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/log-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjLogPage, lines);
  gtk_widget_class_bind_template_child (widget_class, AdjLogPage, bar);
}

static void
adj_log_page_init (AdjLogPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&line_look, NULL);

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->lines, factory);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->lines), _ ("Find a Line"), get_row_text,
                           self);
  g_signal_connect (self, "map", G_CALLBACK (go_to_problem), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::problem", G_CALLBACK (go_to_problem));
}
