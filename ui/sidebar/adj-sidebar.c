/* SPDX-License-Identifier: MIT */
/* The sidebar: the graphs of a document and the modules of the shown one. */

#include "sidebar/adj-sidebar.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-graph-item.h"
#include "model/adj-module-item.h"
#include "report/adj-properties.h"
#include "sidebar/adj-graph-row.h"
#include "sidebar/module-rows.h"
#include "widgets/adj-row-look.h"
#include "widgets/context-menu.h"
#include "widgets/quick-find.h"
#include "widgets/scroll-to-row.h"

#define MAX_GRAPHS 420 /* greatest height of the list of graphs in pixels, above many modules */
#define FEW_MODULES 6  /* at most this many modules leave the height to the graphs */
#define MAX_FEW 260    /* greatest height of few modules in pixels, when they are opened */

struct _AdjSidebar
{
  AdjPanel parent_instance;

  GtkListBox *graphs;
  GtkListView *modules;
  GtkSearchBar *graph_bar, *module_bar;
  GtkScrolledWindow *graph_half;
  GtkWidget *module_half; /* hidden without modules */
  GtkLabel *module_title, *module_columns;
  GtkScrolledWindow *module_scroller;
  AdjGraphList *list;
  AdjModuleRows *rows; /* (owned) (nullable): rows of the tree */
  AdjGraph *graph;     /* (owned) (nullable): graph of the shown modules */
  gboolean leaving;    /* the focus is leaving the list of graphs */
};

G_DEFINE_FINAL_TYPE (AdjSidebar, adj_sidebar, ADJ_TYPE_PANEL)

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
  GtkWidget *label;

  if (g_str_equal (region, last))
    {
      gtk_list_box_row_set_header (row, NULL);
      return;
    }
  label = gtk_label_new (region);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "region-title");
  gtk_list_box_row_set_header (row, label);
}

static void
on_row_selected (AdjSidebar *self, GtkListBoxRow *row)
{
  if (row != NULL && !self->leaving && adj_panel_get_document (self) != NULL)
    adj_document_set_graph_index (
        adj_panel_get_document (self),
        adj_graph_item_get_index (adj_graph_row_get_item (ADJ_GRAPH_ROW (row))));
}

static void
on_graph_menu (GtkWidget *list, double x, double y, gpointer data)
{
  GtkWidget *focus = gtk_root_get_focus (gtk_widget_get_root (list));
  GtkListBoxRow *row = x < 0 ? (ADJ_IS_GRAPH_ROW (focus) ? GTK_LIST_BOX_ROW (focus) : NULL)
                             : gtk_list_box_get_row_at_y (GTK_LIST_BOX (list), (int) y);
  GdkRectangle at = { (int) x, (int) y, 1, 1 };
  graphene_rect_t bounds;

  if (row == NULL)
    return;
  if (x < 0 && gtk_widget_compute_bounds (GTK_WIDGET (row), list, &bounds))
    at = (GdkRectangle){ (int) bounds.origin.x + 24, (int) bounds.origin.y, 1,
                         (int) bounds.size.height };
  adj_context_menu_open (
      list, ADJ_MENU_GRAPH,
      adj_graph_item_get_graph (adj_graph_row_get_item (ADJ_GRAPH_ROW (row)))->id, &at);
}

static void
update_index (AdjSidebar *self)
{
  guint index = adj_document_get_graph_index (adj_panel_get_document (self));

  if (index == G_MAXUINT)
    gtk_list_box_unselect_all (self->graphs);
  else
    gtk_list_box_select_row (self->graphs,
                             gtk_list_box_get_row_at_index (self->graphs, (int) index));
}

static guint
count_graphs (gpointer self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (ADJ_SIDEBAR (self)->list));
}

static char *
get_graph_text (gpointer self, guint row)
{
  g_autoptr (AdjGraphItem) item =
      g_list_model_get_item (G_LIST_MODEL (ADJ_SIDEBAR (self)->list), row);

  return g_strdup_printf ("%s %s", adj_graph_item_get_title (item),
                          adj_graph_item_get_graph (item)->id);
}

static guint
get_current_graph (gpointer self)
{
  GtkListBoxRow *row = gtk_list_box_get_selected_row (ADJ_SIDEBAR (self)->graphs);

  return row != NULL ? (guint) gtk_list_box_row_get_index (row) : 0;
}

static void
show_graph (gpointer self, guint row)
{
  GtkListBox *graphs = ADJ_SIDEBAR (self)->graphs;

  gtk_list_box_select_row (graphs, gtk_list_box_get_row_at_index (graphs, (int) row));
}

static const AdjQuickFind graph_find = { count_graphs, get_graph_text, get_current_graph,
                                         show_graph, NULL };

/* Makes the row at the end of the list the focused one, so that Tab leaves the list instead of
 * moving from graph to graph and showing each; arrows do that. */
static void
leave_graphs (AdjSidebar *self, gboolean back)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->list));

  self->leaving = TRUE;
  gtk_widget_grab_focus (
      GTK_WIDGET (gtk_list_box_get_row_at_index (self->graphs, back || n == 0 ? 0 : (int) n - 1)));
  update_index (self);
  self->leaving = FALSE;
}

static gboolean
adj_sidebar_focus (GtkWidget *widget, GtkDirectionType direction)
{
  AdjSidebar *self = ADJ_SIDEBAR (widget);
  gboolean tab = direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD;

  if (tab && gtk_widget_get_focus_child (GTK_WIDGET (self->graphs)) != NULL)
    leave_graphs (self, direction == GTK_DIR_TAB_BACKWARD);
  return GTK_WIDGET_CLASS (adj_sidebar_parent_class)->focus (widget, direction);
}

/* -- modules -- */

static GListModel *
get_children (gpointer item, gpointer data)
{
  GListModel *children = adj_module_item_get_children (ADJ_MODULE_ITEM (item));

  return children != NULL ? g_object_ref (children) : NULL;
}

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  g_autoptr (AdjModuleItem) module = gtk_tree_list_row_get_item (gtk_list_item_get_item (item));
  gint64 bytes = adj_module_item_get_saved_bytes (module);
  g_autofree char *number = g_strdup_printf ("%u", adj_module_item_get_n_nodes (module));
  g_autofree char *size = bytes > 0 ? adj_properties_bytes (bytes) : g_strdup ("");

  gtk_label_set_text (cells[0], adj_module_item_get_title (module));
  gtk_label_set_text (cells[1], number);
  gtk_label_set_text (cells[2], size);
  gtk_widget_set_tooltip_text (GTK_WIDGET (cells[0]), adj_module_item_get_path (module));
}

static const AdjRowLook module_look = {
  .n = 3,
  .cells = { { .expand = TRUE, .ellipsize = PANGO_ELLIPSIZE_MIDDLE },
             { .css_class = "count", .xalign = 1, .numeric = TRUE },
             { .css_class = "saved", .xalign = 1, .numeric = TRUE } },
  .spacing = 4,
  .tree = TRUE,
  .bind = bind,
};

static void
on_module_activated (AdjSidebar *self, guint position)
{
  GtkSelectionModel *model = gtk_list_view_get_model (self->modules);
  g_autoptr (GtkTreeListRow) row = g_list_model_get_item (G_LIST_MODEL (model), position);
  g_autoptr (AdjModuleItem) module = gtk_tree_list_row_get_item (row);

  adj_document_set_selected (adj_panel_get_document (self), adj_module_item_get_first (module));
}

static AdjMenu
prepare_module (gpointer item, guint position, char **target, gpointer data)
{
  AdjSidebar *self = data;
  g_autoptr (AdjModuleItem) module = gtk_tree_list_row_get_item (item);
  g_autoptr (GArray) nodes = adj_module_item_list_nodes (module, self->graph);

  gtk_selection_model_select_item (gtk_list_view_get_model (self->modules), position, TRUE);
  adj_document_choose (adj_panel_get_document (self), nodes);
  *target = g_strdup (adj_module_item_get_path (module));
  return ADJ_MENU_MODULE;
}

static guint
count_modules (gpointer self)
{
  return ADJ_SIDEBAR (self)->rows != NULL ? adj_module_rows_get_n (ADJ_SIDEBAR (self)->rows) : 0;
}

/* The text that is searched: its own name, then those of the enclosing modules. */
static char *
get_module_text (gpointer self, guint row)
{
  AdjModuleItem *item = adj_module_rows_get (ADJ_SIDEBAR (self)->rows, row);

  return g_strdup_printf ("%s %s", adj_module_item_get_title (item),
                          adj_module_item_get_path (item));
}

static GtkSingleSelection *
get_selection (AdjSidebar *self)
{
  return GTK_SINGLE_SELECTION (gtk_list_view_get_model (self->modules));
}

static guint
get_current_module (gpointer data)
{
  AdjSidebar *self = data;
  GtkTreeListRow *row =
      self->rows != NULL ? gtk_single_selection_get_selected_item (get_selection (self)) : NULL;
  g_autoptr (AdjModuleItem) module = row != NULL ? gtk_tree_list_row_get_item (row) : NULL;
  guint current = module != NULL ? adj_module_rows_find (self->rows, module) : 0;

  return current != G_MAXUINT ? current : 0;
}

static void
show_module (gpointer data, guint row)
{
  AdjSidebar *self = data;
  GtkSingleSelection *selection = get_selection (self);
  GtkTreeListModel *tree = GTK_TREE_LIST_MODEL (gtk_single_selection_get_model (selection));
  guint position = adj_module_rows_open (self->rows, tree, row);

  gtk_single_selection_set_selected (selection, position);
  adj_scroll_to_row (GTK_WIDGET (self->modules), position,
                     g_list_model_get_n_items (G_LIST_MODEL (tree)));
}

static void
activate_module (gpointer data)
{
  AdjSidebar *self = data;
  guint selected = self->rows != NULL ? gtk_single_selection_get_selected (get_selection (self))
                                      : GTK_INVALID_LIST_POSITION;

  if (selected != GTK_INVALID_LIST_POSITION)
    on_module_activated (self, selected);
}

static const AdjQuickFind module_find = { count_modules, get_module_text, get_current_module,
                                          show_module, activate_module };

/* Gives the spare height to the list of graphs or to the modules. */
static void
share_height (AdjSidebar *self, guint n_roots)
{
  gboolean many = n_roots > FEW_MODULES;

  gtk_widget_set_visible (self->module_half, n_roots > 0);
  gtk_widget_set_vexpand (GTK_WIDGET (self->graph_half), !many);
  gtk_scrolled_window_set_max_content_height (self->graph_half, many ? MAX_GRAPHS : -1);
  gtk_widget_set_vexpand (self->module_half, many);
  gtk_widget_set_vexpand (GTK_WIDGET (self->module_scroller), many);
  gtk_scrolled_window_set_propagate_natural_height (self->module_scroller, !many);
  gtk_scrolled_window_set_max_content_height (self->module_scroller, many ? -1 : MAX_FEW);
}

/* Has a column of bytes where any module saves some; a graph without a backward saves nothing. */
static const char *
name_columns (const AdjBundleGraph *graph, GListModel *roots)
{
  gint64 bytes = 0;

  for (guint i = 0; i < g_list_model_get_n_items (roots); i++)
    {
      g_autoptr (AdjModuleItem) module = g_list_model_get_item (roots, i);

      bytes += adj_module_item_get_saved_bytes (module);
    }
  if (bytes == 0)
    return _ ("nodes");
  return adj_bundle_graph_is_undecided (graph) ? _ ("nodes · read") : _ ("nodes · saved");
}

static void
update_modules (AdjSidebar *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  g_autoptr (GtkSelectionModel) model = NULL;
  GtkTreeListModel *tree;

  if (graph != NULL && graph->graph == self->graph)
    return;
  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->rows, adj_module_rows_free);
  gtk_search_bar_set_search_mode (self->module_bar, FALSE);
  if (graph != NULL)
    {
      AdjCaptured *captured = adj_document_get_captured (adj_panel_get_document (self));
      GListModel *roots = adj_module_tree_new (graph->graph, captured);

      gtk_label_set_text (self->module_title,
                          captured != NULL ? _ ("Nodes of Autograd") : _ ("Modules"));
      gtk_label_set_text (self->module_columns, name_columns (graph, roots));
      share_height (self, g_list_model_get_n_items (roots));
      self->graph = adj_graph_ref (graph->graph);
      self->rows = adj_module_rows_new (roots);
      tree = gtk_tree_list_model_new (roots, FALSE, FALSE, get_children, NULL, NULL);
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
  adj_graph_list_set_graphs (self->list, adj_document_get_graphs (adj_panel_get_document (self)));
  update_index (self);
}

static void
update (AdjSidebar *self)
{
  update_bundle (self);
  update_modules (self);
}

static void
adj_sidebar_dispose (GObject *object)
{
  AdjSidebar *self = ADJ_SIDEBAR (object);

  if (self->graphs != NULL)
    gtk_list_box_bind_model (self->graphs, NULL, NULL, NULL, NULL);
  g_clear_object (&self->list);
  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->rows, adj_module_rows_free);
  self->graphs = NULL;

  G_OBJECT_CLASS (adj_sidebar_parent_class)->dispose (object);
}

static void
adj_sidebar_class_init (AdjSidebarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  G_OBJECT_CLASS (klass)->dispose = adj_sidebar_dispose;
  widget_class->focus = adj_sidebar_focus;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/sidebar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, graph_half);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, module_half);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, module_title);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, module_columns);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, module_scroller);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, graphs);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, modules);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, graph_bar);
  gtk_widget_class_bind_template_child (widget_class, AdjSidebar, module_bar);
}

static void
adj_sidebar_init (AdjSidebar *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&module_look, NULL);

  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update_bundle));
  adj_panel_watch (ADJ_PANEL (self), "notify::graph-index", G_CALLBACK (update_index));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update_modules));
  self->list = adj_graph_list_new ();
  gtk_list_box_set_header_func (self->graphs, add_header, NULL, NULL);
  gtk_list_box_bind_model (self->graphs, G_LIST_MODEL (self->list), make_row, NULL, NULL);
  g_signal_connect_swapped (self->graphs, "row-selected", G_CALLBACK (on_row_selected), self);
  gtk_list_view_set_factory (self->modules, factory);
  g_signal_connect_swapped (self->modules, "activate", G_CALLBACK (on_module_activated), self);
  adj_context_menu_watch_rows (GTK_WIDGET (self->modules), prepare_module, self);
  adj_context_menu_watch (GTK_WIDGET (self->graphs), on_graph_menu, NULL);
  adj_quick_find_add (self->graph_bar, GTK_WIDGET (self->graphs), _ ("Find a Graph"), &graph_find,
                      self);
  adj_quick_find_add (self->module_bar, GTK_WIDGET (self->modules), _ ("Find a Module"),
                      &module_find, self);
}
