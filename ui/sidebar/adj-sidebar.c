/* SPDX-License-Identifier: MIT */
#include "sidebar/adj-sidebar.h"

#include <glib/gi18n.h>

#include "model/adj-facts.h"
#include "model/adj-graph-item.h"
#include "model/adj-module-item.h"
#include "sidebar/adj-graph-row.h"

struct _AdjSidebar
{
  AdwBin parent_instance;

  GtkListBox *graphs;
  GtkListView *modules;
  AdjGraphList *list;
  AdjDocument *document; /* (owned) (nullable) */
  AdjGraph *graph;       /* (owned) (nullable): whose modules are shown */
};

G_DEFINE_FINAL_TYPE (AdjSidebar, adj_sidebar, ADW_TYPE_BIN)

/* -- graphs -- */

static GtkWidget *
make_row (gpointer item, gpointer data)
{
  return adj_graph_row_new (ADJ_GRAPH_ITEM (item));
}

static void
add_header (GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
  const char *region = adj_graph_item_get_region (adj_graph_row_get_item (ADJ_GRAPH_ROW (row)));
  const char *last =
      before != NULL ? adj_graph_item_get_region (adj_graph_row_get_item (ADJ_GRAPH_ROW (before)))
                     : "";
  g_autofree char *text = NULL;
  GtkWidget *label;

  if (g_str_equal (region, last))
    {
      gtk_list_box_row_set_header (row, NULL);
      return;
    }
  text = g_strdup_printf (_ ("Region %s"), region);
  label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "region-title");
  gtk_list_box_row_set_header (row, label);
}

static void
on_row_selected (AdjSidebar *self, GtkListBoxRow *row)
{
  if (row != NULL && self->document != NULL)
    adj_document_set_graph_index (
        self->document, adj_graph_item_get_index (adj_graph_row_get_item (ADJ_GRAPH_ROW (row))));
}

static void
update_index (AdjSidebar *self)
{
  guint index = adj_document_get_graph_index (self->document);

  if (index == G_MAXUINT)
    gtk_list_box_unselect_all (self->graphs);
  else
    gtk_list_box_select_row (self->graphs,
                             gtk_list_box_get_row_at_index (self->graphs, (int) index));
}

/* -- modules -- */

static GListModel *
get_children (gpointer item, gpointer data)
{
  GListModel *children = adj_module_item_get_children (ADJ_MODULE_ITEM (item));

  return children != NULL ? g_object_ref (children) : NULL;
}

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *expander = gtk_tree_expander_new (),
            *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 4);
  GtkWidget *title = gtk_label_new (NULL), *count = gtk_label_new (NULL);
  GtkWidget *saved = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (count), 1);
  gtk_label_set_xalign (GTK_LABEL (saved), 1);
  gtk_widget_add_css_class (count, "count");
  gtk_widget_add_css_class (count, "numeric");
  gtk_widget_add_css_class (saved, "saved");
  gtk_widget_add_css_class (saved, "numeric");
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), count);
  gtk_box_append (GTK_BOX (box), saved);
  gtk_tree_expander_set_child (GTK_TREE_EXPANDER (expander), box);
  gtk_list_item_set_child (item, expander);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkTreeExpander *expander = GTK_TREE_EXPANDER (gtk_list_item_get_child (item));
  GtkTreeListRow *row = gtk_list_item_get_item (item);
  g_autoptr (AdjModuleItem) module = gtk_tree_list_row_get_item (row);
  GtkWidget *title = gtk_widget_get_first_child (gtk_tree_expander_get_child (expander));
  GtkWidget *count = gtk_widget_get_next_sibling (title);
  GtkWidget *saved = gtk_widget_get_next_sibling (count);
  gint64 bytes = adj_module_item_get_saved_bytes (module);
  g_autofree char *number = g_strdup_printf ("%u", adj_module_item_get_n_nodes (module));
  g_autofree char *size = bytes > 0 ? adj_facts_bytes (bytes) : g_strdup ("");

  gtk_tree_expander_set_list_row (expander, row);
  gtk_label_set_text (GTK_LABEL (title), adj_module_item_get_title (module));
  gtk_label_set_text (GTK_LABEL (count), number);
  gtk_label_set_text (GTK_LABEL (saved), size);
  gtk_widget_set_tooltip_text (title, adj_module_item_get_path (module));
}

static void
on_module_activated (AdjSidebar *self, guint position)
{
  GtkSelectionModel *model = gtk_list_view_get_model (self->modules);
  g_autoptr (GtkTreeListRow) row = g_list_model_get_item (G_LIST_MODEL (model), position);
  g_autoptr (AdjModuleItem) module = gtk_tree_list_row_get_item (row);

  adj_document_set_selected (self->document, adj_module_item_get_first (module));
}

static void
update_modules (AdjSidebar *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  g_autoptr (GtkSelectionModel) model = NULL;
  GtkTreeListModel *tree;

  if (graph != NULL && graph->graph == self->graph)
    return;
  g_clear_pointer (&self->graph, adj_graph_unref);
  if (graph != NULL)
    {
      self->graph = adj_graph_ref (graph->graph);
      tree = gtk_tree_list_model_new (adj_module_tree_new (self->graph), FALSE, FALSE, get_children,
                                      NULL, NULL);
      model = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (tree)));
      gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (model), FALSE);
      gtk_single_selection_set_can_unselect (GTK_SINGLE_SELECTION (model), TRUE);
      gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (model), GTK_INVALID_LIST_POSITION);
    }
  gtk_list_view_set_model (self->modules, model);
}

static void
update_bundle (AdjSidebar *self)
{
  adj_graph_list_set_bundle (self->list, adj_document_get_bundle (self->document));
  update_index (self);
}

static void
adj_sidebar_dispose (GObject *object)
{
  AdjSidebar *self = ADJ_SIDEBAR (object);

  adj_sidebar_set_document (self, NULL);
  if (self->graphs != NULL)
    gtk_list_box_bind_model (self->graphs, NULL, NULL, NULL, NULL);
  g_clear_object (&self->list);
  g_clear_pointer (&self->graph, adj_graph_unref);
  adw_bin_set_child (ADW_BIN (object), NULL);
  self->graphs = NULL;

  G_OBJECT_CLASS (adj_sidebar_parent_class)->dispose (object);
}

static void
adj_sidebar_class_init (AdjSidebarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_sidebar_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/sidebar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, graphs);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, modules);
}

static void
adj_sidebar_init (AdjSidebar *self)
{
  g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  self->list = adj_graph_list_new ();
  gtk_list_box_set_header_func (self->graphs, add_header, NULL, NULL);
  gtk_list_box_bind_model (self->graphs, G_LIST_MODEL (self->list), make_row, NULL, NULL);
  g_signal_connect_swapped (self->graphs, "row-selected", G_CALLBACK (on_row_selected), self);
  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), NULL);
  gtk_list_view_set_factory (self->modules, factory);
  g_signal_connect_swapped (self->modules, "activate", G_CALLBACK (on_module_activated), self);
}

void
adj_sidebar_set_document (AdjSidebar *self, AdjDocument *document)
{
  if (self->document == document)
    return;
  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_set_object (&self->document, document);
  if (document == NULL)
    return;
  g_signal_connect_swapped (document, "notify::bundle", G_CALLBACK (update_bundle), self);
  g_signal_connect_swapped (document, "notify::graph-index", G_CALLBACK (update_index), self);
  g_signal_connect_swapped (document, "notify::scene", G_CALLBACK (update_modules), self);
  update_bundle (self);
  update_modules (self);
}
