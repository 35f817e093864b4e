/* SPDX-License-Identifier: MIT */
/* The search bar with the list of results. */

#include "window/adj-search-bar.h"

#include <glib/gi18n.h>
#include <string.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "model/adj-node-item.h"
#include "model/adj-search.h"
#include "report/adj-properties.h"
#include "widgets/adj-row-look.h"
#include "widgets/context-menu.h"
#include "widgets/scroll-to-row.h"

struct _AdjSearchBar
{
  AdjPanel parent_instance;

  GtkSearchEntry *entry;
  GtkLabel *count;
  GtkToggleButton *regex;
  gboolean wrong; /* the entry has an invalid regular expression */
  GtkListView *results;
  AdjNodeList *nodes;
  GtkSingleSelection *selection;
  char *query;   /* the query of the results */
  GArray *found; /* (owned) (nullable): of guint */
  GtkButton *select_all;
  GtkFlowBox *others; /* buttons of other graphs with results */
};

G_DEFINE_FINAL_TYPE (AdjSearchBar, adj_search_bar, ADJ_TYPE_PANEL)

static void
update_count (AdjSearchBar *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->nodes));
  guint at = gtk_single_selection_get_selected (self->selection);
  g_autofree char *text = NULL;

  if (*gtk_editable_get_text (GTK_EDITABLE (self->entry)) == '\0')
    text = g_strdup ("");
  else if (self->wrong)
    text = g_strdup (_ ("no pattern"));
  else if (n == 0)
    text = g_strdup (_ ("nothing"));
  else if (at < n)
    text = g_strdup_printf (_ ("%u of %u"), at + 1, n);
  else
    text = g_strdup_printf ("%u", n);
  gtk_label_set_text (self->count, text);
}

/* Other graphs with more nodes in all are not searched while typing. */
#define MAX_ELSEWHERE 100000

static void
on_other (GtkButton *button, AdjSearchBar *self)
{
  adj_document_set_graph_index (adj_panel_get_document (self),
                                GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "graph")));
}

static void
add_other (AdjSearchBar *self, guint index, const char *id, guint n)
{
  g_autofree char *label = g_strdup_printf ("%s  %u", id, n);
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "small");
  g_object_set_data (G_OBJECT (button), "graph", GUINT_TO_POINTER (index));
  g_signal_connect (button, "clicked", G_CALLBACK (on_other), self);
  gtk_flow_box_insert (self->others, button, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (gtk_widget_get_parent (button)),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_signal_connect_swapped (gtk_widget_get_parent (button), "activate",
                            G_CALLBACK (gtk_widget_activate), button);
}

/* Searches the other graphs: a button for each with its number of results. */
static void
search_elsewhere (AdjSearchBar *self)
{
  AdjGraphSet *graphs = adj_document_get_graphs (adj_panel_get_document (self));
  guint shown = adj_document_get_graph_index (adj_panel_get_document (self)), n_nodes = 0;
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->others))))
    gtk_flow_box_remove (self->others, child);
  for (guint i = 0; graphs != NULL && *self->query != '\0' && i < adj_graph_set_get_n (graphs); i++)
    {
      const AdjBundleGraph *graph = adj_graph_set_get (graphs, i);
      g_autoptr (GArray) found = NULL;

      n_nodes += adj_graph_get_n_nodes (graph->graph);
      if (i == shown || n_nodes > MAX_ELSEWHERE)
        continue;
      found = gtk_toggle_button_get_active (self->regex)
                  ? adj_search_match (graph->graph, self->query, NULL)
                  : adj_search_run (graph->graph, NULL, self->query);
      if (found != NULL && found->len > 0)
        add_other (self, i, graph->id, found->len);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->others),
                          gtk_widget_get_first_child (GTK_WIDGET (self->others)) != NULL);
}

static void
search (AdjSearchBar *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  g_autoptr (GArray) found = NULL;

  g_free (self->query);
  self->query = g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->entry)));
  if (graph != NULL && gtk_toggle_button_get_active (self->regex))
    found = adj_search_match (graph->graph, self->query, NULL);
  else if (graph != NULL)
    found = adj_search_run (graph->graph, adj_document_get_scene (adj_panel_get_document (self)),
                            self->query);
  self->wrong = graph != NULL && found == NULL;
  if (found == NULL)
    found = g_array_new (FALSE, FALSE, sizeof (guint));
  adj_node_list_set (self->nodes, graph != NULL ? graph->graph : NULL, found, NULL);
  gtk_single_selection_set_selected (self->selection, GTK_INVALID_LIST_POSITION);
  g_clear_pointer (&self->found, g_array_unref);
  self->found = g_array_ref (found);
  gtk_widget_set_sensitive (GTK_WIDGET (self->select_all), found->len > 0);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    search_elsewhere (self);
  update_count (self);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    adj_document_set_lit (adj_panel_get_document (self), found->len > 0 ? found : NULL);
}

/* Results are highlighted only while the bar is shown. */
static void
on_unmap (AdjSearchBar *self)
{
  if (adj_panel_get_document (self) != NULL)
    adj_document_set_lit (adj_panel_get_document (self), NULL);
}

void
adj_search_bar_step (AdjSearchBar *self, gint step)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->nodes));
  guint at = gtk_single_selection_get_selected (self->selection);
  g_autoptr (AdjNodeItem) item = NULL;

  if (n == 0)
    return;
  if (at >= n)
    at = step > 0 ? 0 : n - 1;
  else
    at = (guint) (((gint64) at + step + n) % n);
  gtk_single_selection_set_selected (self->selection, at);
  adj_scroll_to_row (GTK_WIDGET (self->results), at, n);
  item = g_list_model_get_item (G_LIST_MODEL (self->nodes), at);
  adj_document_set_selected (adj_panel_get_document (self), adj_node_item_get_id (item));
  update_count (self);
}

/* Runs the pending search at once, when Enter is pressed before typing has settled. */
static void
catch_up (AdjSearchBar *self)
{
  if (g_strcmp0 (self->query, gtk_editable_get_text (GTK_EDITABLE (self->entry))) != 0)
    search (self);
}

static void
on_next (AdjSearchBar *self)
{
  catch_up (self);
  adj_search_bar_step (self, 1);
}

static void
close_popover (AdjSearchBar *self)
{
  GtkWidget *popover = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_POPOVER);

  if (popover != NULL)
    gtk_popover_popdown (GTK_POPOVER (popover));
  gtk_widget_activate_action (GTK_WIDGET (self), "win.focus-canvas", NULL);
}

static void
on_stop (AdjSearchBar *self)
{
  close_popover (self);
}

/* Closes the bar from any focus inside it. */
static gboolean
on_escape (GtkWidget *widget, GVariant *args, gpointer data)
{
  close_popover (ADJ_SEARCH_BAR (widget));
  return TRUE;
}

/* Selects all results: for their flow, their total bytes, their names. */
static void
on_select_all (AdjSearchBar *self)
{
  adj_document_choose (adj_panel_get_document (self), self->found);
  close_popover (self);
}

static void
on_previous (AdjSearchBar *self)
{
  adj_search_bar_step (self, -1);
}

static void
on_row_activated (AdjSearchBar *self, guint position)
{
  g_autoptr (AdjNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), position);

  if (item != NULL)
    adj_document_set_selected (adj_panel_get_document (self), adj_node_item_get_id (item));
  update_count (self);
}

static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  AdjSearchBar *self = data;

  gtk_single_selection_set_selected (self->selection, position);
  on_row_activated (self, position);
  return ADJ_MENU_NODE;
}

/* Makes the matched text bold.  (transfer full) */
static char *
mark (const char *text, const char *query)
{
  g_autofree char *lower = g_ascii_strdown (text, -1), *wanted = g_ascii_strdown (query, -1);
  const char *at = *wanted != '\0' ? strstr (lower, wanted) : NULL;
  gsize begin = at != NULL ? (gsize) (at - lower) : 0;
  g_autofree char *before = NULL, *match = NULL, *after = NULL;

  if (at == NULL)
    return g_markup_escape_text (text, -1);
  before = g_markup_escape_text (text, (gssize) begin);
  match = g_markup_escape_text (text + begin, (gssize) strlen (wanted));
  after = g_markup_escape_text (text + begin + strlen (wanted), -1);
  return g_strdup_printf ("%s<span underline='single' weight='heavy'>%s</span>%s", before, match,
                          after);
}

/* The first word of the query, without its field. */
static char *
get_first_word (AdjSearchBar *self)
{
  g_auto (GStrv) words = g_strsplit (self->query != NULL ? self->query : "", " ", 2);
  const char *word = words[0] != NULL ? words[0] : "";
  const char *colon = strchr (word, ':');

  return g_strdup (colon != NULL ? colon + 1 : word);
}

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  g_autofree char *word = get_first_word (data);
  g_autofree char *name = NULL, *marked = NULL;
  const AdjNode *node = adj_node_item_get_node (gtk_list_item_get_item (item));
  g_autofree char *what =
      g_strdup_printf ("%s  %s", adj_properties_target (node), adj_node_get_module_path (node));

  name = mark (node->name, word);
  marked = mark (what, word);
  gtk_label_set_markup (cells[0], name);
  gtk_label_set_markup (cells[1], marked);
}

static const AdjRowLook result_look = {
  .n = 2,
  .cells = { { .css_class = "heading", .expand = TRUE },
             { .css_class = "found-what", .xalign = 1, .ellipsize = PANGO_ELLIPSIZE_START } },
  .spacing = 12,
  .bind = bind,
};

static void
adj_search_bar_dispose (GObject *object)
{
  AdjSearchBar *self = ADJ_SEARCH_BAR (object);

  g_clear_object (&self->selection);
  g_clear_object (&self->nodes);
  g_clear_pointer (&self->query, g_free);
  g_clear_pointer (&self->found, g_array_unref);

  G_OBJECT_CLASS (adj_search_bar_parent_class)->dispose (object);
}

static void
adj_search_bar_class_init (AdjSearchBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) search;
  G_OBJECT_CLASS (klass)->dispose = adj_search_bar_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/search-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, entry);
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, count);
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, regex);
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, results);
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, select_all);
  gtk_widget_class_bind_template_child (widget_class, AdjSearchBar, others);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, on_escape, NULL);
}

static void
adj_search_bar_init (AdjSearchBar *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&result_look, self);

  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (search));
  self->nodes = adj_node_list_new ();
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->nodes)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_list_view_set_factory (self->results, factory);
  gtk_list_view_set_model (self->results, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (catch_up), self);
  g_signal_connect_swapped (self->entry, "activate", G_CALLBACK (on_next), self);
  g_signal_connect_swapped (self->select_all, "clicked", G_CALLBACK (on_select_all), self);
  g_signal_connect_swapped (self->regex, "toggled", G_CALLBACK (search), self);
  g_signal_connect (self, "unmap", G_CALLBACK (on_unmap), NULL);
  g_signal_connect (self, "map", G_CALLBACK (search), NULL);
  g_signal_connect_swapped (self->entry, "stop-search", G_CALLBACK (on_stop), self);
  g_signal_connect_swapped (self->entry, "next-match", G_CALLBACK (on_next), self);
  g_signal_connect_swapped (self->entry, "previous-match", G_CALLBACK (on_previous), self);
  g_signal_connect_swapped (self->results, "activate", G_CALLBACK (on_row_activated), self);
  adj_context_menu_watch_rows (GTK_WIDGET (self->results), prepare_row, self);
}

void
adj_search_bar_focus (AdjSearchBar *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
}
