/* SPDX-License-Identifier: MIT */
/* The panel page of a log's facts: the kernels that Inductor made from the shown graph, with their
 * nodes and lines; graph breaks, guards, metadata and code as text. */

#include "panel/adj-facts-page.h"

#include <glib/gi18n.h>

#include "formats/adj-kernels.h"
#include "ir/adj-graph.h"
#include "widgets/adj-row-look.h"
#include "widgets/scroll-to-row.h"

#define MAX_NODES 4         /* nodes of a kernel that a row lists */
#define MAX_TEXT (1u << 20) /* bytes of a text that are shown */

/* A kernel, or a fact. */
typedef struct
{
  const AdjKernel *kernel;   /* (nullable) */
  const AdjBundleFact *fact; /* (nullable): the text to show; of a kernel the code */
} Row;

struct _AdjFactsPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  GtkListView *list;
  GtkTextView *text;
  GtkTextTag *called;          /* (unowned): marks the line of the shown kernel */
  AdjBundle *bundle;           /* (owned) (nullable): bundle of the rows */
  const AdjBundleGraph *graph; /* (nullable) */
  AdjKernels *kernels;         /* (owned) (nullable) */
  GArray *rows;                /* (owned): of Row */
};

G_DEFINE_FINAL_TYPE (AdjFactsPage, adj_facts_page, ADJ_TYPE_PANEL)

/* -- rows -- */

/* (transfer full): "mul, relu, … 7 nodes" */
static char *
name_nodes (const AdjFactsPage *self, const AdjKernel *kernel)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < kernel->n_nodes && i < MAX_NODES; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            adj_graph_get_node (self->graph->graph, kernel->nodes[i].index)->name);
  if (kernel->n_nodes > MAX_NODES)
    g_string_append_printf (text, _ (", … %u nodes"), kernel->n_nodes);
  return g_string_free (text, FALSE);
}

static guint
count_lines (const AdjBundleFact *fact)
{
  gsize length;
  const char *text = g_bytes_get_data (fact->text, &length);
  guint n = length > 0;

  for (gsize i = 0; i + 1 < length; i++)
    n += text[i] == '\n';
  return n;
}

static void
bind (GtkListItem *item, GtkWidget *widget, GtkLabel *const *cells, gpointer data)
{
  AdjFactsPage *self = data;
  const Row *row = &g_array_index (self->rows, Row, gtk_list_item_get_position (item));
  guint n = row->kernel != NULL ? row->kernel->line : count_lines (row->fact);
  g_autofree char *what = row->kernel != NULL         ? name_nodes (self, row->kernel)
                          : row->fact->region != NULL ? g_strdup (row->fact->region->id)
                                                      : g_strdup (_ ("of the file"));
  g_autofree char *where = row->kernel == NULL
                               ? g_strdup_printf (ngettext ("%u line", "%u lines", n), n)
                           : n > 0 ? g_strdup_printf (_ ("line %u"), n)
                                   : g_strdup ("");

  gtk_label_set_text (cells[0], row->kernel != NULL ? row->kernel->name : row->fact->name);
  gtk_label_set_text (cells[1], what);
  gtk_label_set_text (cells[2], where);
}

static const AdjRowLook look = {
  .n = 3,
  .cells = { { .css_class = "heading", .least = 16, .ellipsize = PANGO_ELLIPSIZE_MIDDLE },
             { .expand = TRUE, .ellipsize = PANGO_ELLIPSIZE_END },
             { .css_class = "dim-label", .numeric = TRUE } },
  .spacing = 12,
  .bind = bind,
};

/* -- the text beside -- */

/* @line: the line to scroll to, from 1; 0: the first */
static void
show_text (AdjFactsPage *self, const AdjBundleFact *fact, guint line)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->text);
  gsize length = 0;
  const char *text = fact != NULL ? g_bytes_get_data (fact->text, &length) : "";
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) MIN (length, MAX_TEXT));
  GtkTextIter start, end;

  gtk_text_buffer_set_text (buffer, valid, -1);
  if (line == 0 || !gtk_text_buffer_get_iter_at_line (buffer, &start, (int) line - 1))
    return;
  end = start;
  gtk_text_iter_forward_to_line_end (&end);
  gtk_text_buffer_place_cursor (buffer, &start);
  gtk_text_buffer_apply_tag (buffer, self->called, &start, &end);
  gtk_text_view_scroll_to_mark (self->text, gtk_text_buffer_get_insert (buffer), 0, TRUE, 0, 0.3);
}

static void
on_selected (AdjFactsPage *self, GParamSpec *pspec, GtkSingleSelection *model)
{
  guint position = gtk_single_selection_get_selected (model);
  const Row *row;

  if (position >= self->rows->len)
    return;
  row = &g_array_index (self->rows, Row, position);
  show_text (self, row->fact, row->kernel != NULL ? row->kernel->line : 0);
}

/* -- from code to nodes -- */

static void
show_nodes (AdjFactsPage *self, const AdjKernel *kernel)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint graph = adj_document_find_graph (document, self->graph->graph);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < kernel->n_nodes; i++)
    g_array_append_val (nodes, kernel->nodes[i].index);
  if (graph != G_MAXUINT && nodes->len > 0)
    adj_document_show_nodes (document, graph, nodes);
}

static void
on_activated (AdjFactsPage *self, guint position)
{
  const Row *row = &g_array_index (self->rows, Row, position);

  if (row->kernel != NULL)
    show_nodes (self, row->kernel);
}

/* The shown text; %NULL where there are no rows. */
static const AdjBundleFact *
get_shown (AdjFactsPage *self)
{
  GtkSelectionModel *model = gtk_list_view_get_model (self->list);
  guint position =
      model != NULL ? gtk_single_selection_get_selected (GTK_SINGLE_SELECTION (model)) : G_MAXUINT;

  return position < self->rows->len ? g_array_index (self->rows, Row, position).fact : NULL;
}

/* The kernel of the line at the cursor, when code is shown.  (nullable) */
static const AdjKernel *
get_kernel_at_cursor (AdjFactsPage *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->text);
  const AdjBundleFact *shown = get_shown (self);
  GtkTextIter at;
  guint kernel;

  if (self->kernels == NULL || shown == NULL || shown != adj_kernels_get_code (self->kernels))
    return NULL;
  gtk_text_buffer_get_iter_at_mark (buffer, &at, gtk_text_buffer_get_insert (buffer));
  kernel = adj_kernels_find_line (self->kernels, (guint) gtk_text_iter_get_line (&at) + 1);
  return kernel != G_MAXUINT ? adj_kernels_get (self->kernels, kernel) : NULL;
}

static void
show_nodes_at_cursor (AdjFactsPage *self)
{
  const AdjKernel *kernel = get_kernel_at_cursor (self);

  if (kernel != NULL)
    show_nodes (self, kernel);
}

/* A click; ignored after text was selected. */
static void
on_clicked (AdjFactsPage *self)
{
  if (!gtk_text_buffer_get_has_selection (gtk_text_view_get_buffer (self->text)))
    show_nodes_at_cursor (self);
}

static gboolean
on_key (GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, gpointer self)
{
  if (key != GDK_KEY_Return && key != GDK_KEY_KP_Enter)
    return FALSE;
  show_nodes_at_cursor (self);
  return TRUE;
}

/* -- from nodes to code -- */

static gboolean
computes (const AdjKernel *kernel, AdjNodeId node)
{
  for (guint i = 0; i < kernel->n_nodes; i++)
    if (kernel->nodes[i].index == node.index)
      return TRUE;
  return FALSE;
}

/* While code is shown, goes to the first kernel of the selected node, unless the cursor is in one
 * of its kernels. */
static void
on_node_selected (AdjFactsPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjKernel *at_cursor;
  AdjNodeId node;

  if (document == NULL || self->kernels == NULL || get_shown (self) == NULL ||
      get_shown (self) != adj_kernels_get_code (self->kernels) ||
      adj_document_get_graph (document) != self->graph)
    return;
  node = adj_document_get_selected (document);
  at_cursor = get_kernel_at_cursor (self);
  if (at_cursor != NULL && computes (at_cursor, node))
    return;
  for (guint i = 0; i < adj_kernels_get_n (self->kernels); i++)
    if (computes (adj_kernels_get (self->kernels, i), node))
      {
        gtk_single_selection_set_selected (
            GTK_SINGLE_SELECTION (gtk_list_view_get_model (self->list)), i);
        adj_scroll_to_row (GTK_WIDGET (self->list), i, self->rows->len);
        return;
      }
}

static void
watch_text (AdjFactsPage *self)
{
  static const GdkRGBA color = { 0.21f, 0.52f, 0.89f, 0.25f };
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->called = gtk_text_buffer_create_tag (gtk_text_view_get_buffer (self->text), NULL,
                                             "paragraph-background-rgba", &color, NULL);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_clicked), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (GTK_WIDGET (self->text), GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (GTK_WIDGET (self->text), keys);
}

/* -- what there is -- */

static void
forget (AdjFactsPage *self)
{
  gtk_list_view_set_model (self->list, NULL);
  g_array_set_size (self->rows, 0);
  g_clear_pointer (&self->kernels, adj_kernels_free);
  g_clear_pointer (&self->bundle, adj_bundle_unref);
  self->graph = NULL;
}

static void
gather (AdjFactsPage *self)
{
  const AdjRegion *region = adj_bundle_find_region (self->bundle, self->graph);

  self->kernels = adj_kernels_new (self->bundle, self->graph);
  for (guint i = 0; self->kernels != NULL && i < adj_kernels_get_n (self->kernels); i++)
    {
      Row row = { adj_kernels_get (self->kernels, i), adj_kernels_get_code (self->kernels) };

      g_array_append_val (self->rows, row);
    }
  for (guint i = 0; i < adj_bundle_get_n_facts (self->bundle); i++)
    {
      Row row = { NULL, adj_bundle_get_fact (self->bundle, i) };

      if (row.fact->region == region || row.fact->region == NULL)
        g_array_append_val (self->rows, row);
    }
}

static void
fill (AdjFactsPage *self)
{
  g_autoptr (GListStore) store = g_list_store_new (G_TYPE_OBJECT);
  GtkSingleSelection *model;

  for (guint i = 0; i < self->rows->len; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_append (store, row);
    }
  model = gtk_single_selection_new (G_LIST_MODEL (g_steal_pointer (&store)));
  g_signal_connect_object (model, "notify::selected", G_CALLBACK (on_selected), self,
                           G_CONNECT_SWAPPED);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (model));
  on_selected (self, NULL, model);
  g_object_unref (model);
}

/* Runs only while the page is visible, as it searches all nodes for kernels. */
static void
update (AdjFactsPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjBundle *bundle = document != NULL ? adj_document_get_bundle (document) : NULL;
  const AdjBundleGraph *graph = bundle != NULL ? adj_document_get_graph (document) : NULL;

  if (bundle == self->bundle && graph == self->graph)
    return;
  if (document != NULL && !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  forget (self);
  if (graph != NULL)
    {
      self->bundle = adj_bundle_ref (bundle);
      self->graph = graph;
      gather (self);
      fill (self);
    }
  gtk_stack_set_visible_child_name (self->stack, self->rows->len > 0 ? "facts" : "nothing");
}

static void
adj_facts_page_dispose (GObject *object)
{
  AdjFactsPage *self = ADJ_FACTS_PAGE (object);

  if (self->rows != NULL)
    forget (self);
  g_clear_pointer (&self->rows, g_array_unref);

  G_OBJECT_CLASS (adj_facts_page_parent_class)->dispose (object);
}

static void
adj_facts_page_class_init (AdjFactsPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_facts_page_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/facts-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjFactsPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjFactsPage, list);
  gtk_widget_class_bind_template_child (widget_class, AdjFactsPage, text);
}

static void
adj_facts_page_init (AdjFactsPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&look, self);

  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->list, factory);
  g_signal_connect_swapped (self->list, "activate", G_CALLBACK (on_activated), self);
  watch_text (self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (on_node_selected));
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
}
