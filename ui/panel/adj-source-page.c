/* SPDX-License-Identifier: MIT */
/* The panel page of the source file behind the selected node. */

#include "panel/adj-source-page.h"

#include <glib/gi18n.h>
#include <string.h>

#include "base/adj-arena.h"
#include "ir/adj-graph.h"
#include "model/adj-maker.h"
#include "model/adj-source.h"
#include "panel/adj-lines-pane.h"
#include "widgets/adj-row-look.h"
#include "widgets/scroll-to-row.h"

#define MAX_NAMES 4

struct _AdjSourcePage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  GtkLabel *hint;
  GtkListBox *frames;
  GtkListView *code;
  AdjLinesPane *lines; /* shown while nothing is selected */
  AdjGraph *graph;     /* (owned) (nullable): the graph of @node */
  GArray *places;      /* of AdjFrame: stack frames of the node, and of the hook it calls */
  AdjArena *texts;     /* owns the texts of the latter */
  AdjNodeId node;
  guint place;   /* index of @graph in the document; for an input of backward another graph than the
                    shown one */
  AdjTask *task; /* (owned) (nullable): reads the file of the chosen frame */
  gboolean returns; /* the focus returns to the code when it is loaded */
  guint current;    /* current line of the shown code */
};

G_DEFINE_FINAL_TYPE (AdjSourcePage, adj_source_page, ADJ_TYPE_PANEL)

/* -- code -- */

static void
choose_line (AdjSourcePage *self, AdjSourceLine *line)
{
  AdjDocument *document = adj_panel_get_document (self);

  if (line != NULL && document != NULL && adj_source_line_get_n_nodes (line) > 0)
    adj_document_show (document, self->place, adj_source_line_get_node (line, 0));
}

static void
on_line_clicked (GtkGestureClick *click, int n_press, double x, double y, GtkListItem *item)
{
  GtkWidget *page = gtk_widget_get_ancestor (gtk_list_item_get_child (item), ADJ_TYPE_SOURCE_PAGE);

  choose_line (ADJ_SOURCE_PAGE (page), gtk_list_item_get_item (item));
}

static void
on_line_activated (AdjSourcePage *self, guint position)
{
  GListModel *lines = G_LIST_MODEL (gtk_list_view_get_model (self->code));
  g_autoptr (AdjSourceLine) line = g_list_model_get_item (lines, position);

  choose_line (self, line);
}

static void
set_up_line (GtkListItem *item, GtkWidget *row, gpointer data)
{
  GtkGesture *click = gtk_gesture_click_new ();

  g_signal_connect (click, "released", G_CALLBACK (on_line_clicked), item);
  gtk_widget_add_controller (row, GTK_EVENT_CONTROLLER (click));
}

static void
append_name (AdjSourcePage *self, GString *text, AdjNodeId node)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "",
                          adj_graph_get_node (self->graph, node.index)->name);
}

/* Lists the selected node first, since the line was opened for it. */
static char *
list_nodes (AdjSourcePage *self, AdjSourceLine *line)
{
  guint n = adj_source_line_get_n_nodes (line), shown = 0;
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    if (adj_source_line_get_node (line, i).index == self->node.index)
      {
        append_name (self, text, self->node);
        shown++;
      }
  for (guint i = 0; i < n && shown < MAX_NAMES; i++)
    if (adj_source_line_get_node (line, i).index != self->node.index)
      {
        append_name (self, text, adj_source_line_get_node (line, i));
        shown++;
      }
  if (n > shown)
    g_string_append_printf (text, _ (" and %u more"), n - shown);
  return g_string_free (text, FALSE);
}

static void
bind_line (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjSourceLine *line = gtk_list_item_get_item (item);
  g_autofree char *digits = adj_source_line_get_number (line) > 0
                                ? g_strdup_printf ("%u", adj_source_line_get_number (line))
                                : g_strdup ("");
  g_autofree char *names = list_nodes (data, line);
  const char *plain[] = { "line", NULL }, *current[] = { "line", "current", NULL };

  gtk_label_set_text (cells[0], digits);
  gtk_label_set_text (cells[1], adj_source_line_get_text (line));
  gtk_label_set_text (cells[2], names);
  gtk_widget_set_css_classes (row, adj_source_line_is_current (line) ? current : plain);
}

static const AdjRowLook line_look = {
  .n = 3,
  .cells = { { .css_class = "line-number", .xalign = 1, .numeric = TRUE },
             { .expand = TRUE, .ellipsize = PANGO_ELLIPSIZE_END, .least = 16 },
             { .css_class = "made", .ellipsize = PANGO_ELLIPSIZE_END } },
  .setup = set_up_line,
  .bind = bind_line,
};

static void
stop_loading (AdjSourcePage *self)
{
  if (self->task != NULL)
    adj_task_cancel (self->task);
  g_clear_pointer (&self->task, adj_task_unref);
}

/* Scrolls to the current line when the page is visible; code that is loaded before is scrolled
 * then. */
static void
show_current (AdjSourcePage *self)
{
  GtkSelectionModel *lines = gtk_list_view_get_model (self->code);

  if (lines != NULL)
    adj_scroll_to_row (GTK_WIDGET (self->code), self->current,
                       g_list_model_get_n_items (G_LIST_MODEL (lines)));
}

static void
on_loaded (GObject *object, GAsyncResult *result, gpointer data)
{
  AdjSourcePage *self = ADJ_SOURCE_PAGE (object);
  const gboolean returns = self->returns;
  g_autoptr (AdjSource) source = NULL;
  g_autoptr (GtkSelectionModel) model = NULL;

  /* Another frame was chosen meanwhile. */
  if (adj_task_from_result (result) != self->task)
    return;
  g_clear_pointer (&self->task, adj_task_unref);
  self->returns = FALSE;
  source = adj_task_finish (result, NULL);
  if (source == NULL)
    return;
  model = GTK_SELECTION_MODEL (gtk_no_selection_new (g_object_ref (source->lines)));
  gtk_list_view_set_model (self->code, model);
  self->current = source->current;
  show_current (self);
  if (returns)
    gtk_widget_grab_focus (GTK_WIDGET (self->code));
}

static void
on_frame_selected (AdjSourcePage *self, GtkListBoxRow *row)
{
  g_autoptr (GFile) folder = NULL;
  GFile *file;
  const AdjFrame *frames = (const AdjFrame *) (gconstpointer) self->places->data;
  guint index;

  if (row == NULL || self->graph == NULL || adj_panel_get_document (self) == NULL)
    return;
  index = (guint) gtk_list_box_row_get_index (row);
  if (index >= self->places->len)
    return;
  file = adj_document_get_file (adj_panel_get_document (self));
  if (file != NULL)
    folder = g_file_get_parent (file);
  stop_loading (self);
  self->task = adj_source_start (G_OBJECT (self), self->graph, &frames[index], folder, on_loaded);
}

/* -- frames -- */

static GtkWidget *
make_frame_row (const AdjFrame *frame)
{
  g_autofree char *base = g_path_get_basename (frame->file);
  g_autofree char *where = g_strdup_printf (_ ("%s, line %u"), frame->function, frame->line);
  g_autofree char *name = g_strdup_printf ("%s, %s", base, where);
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *file = gtk_label_new (base), *place = gtk_label_new (where);

  gtk_label_set_xalign (GTK_LABEL (file), 0);
  gtk_label_set_xalign (GTK_LABEL (place), 0);
  gtk_label_set_ellipsize (GTK_LABEL (place), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (file, "file");
  gtk_widget_add_css_class (place, "where");
  gtk_box_append (GTK_BOX (box), file);
  gtk_box_append (GTK_BOX (box), place);
  gtk_widget_set_tooltip_text (box, frame->file);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return row;
}

/* The graph of the node to show: for an input of backward its maker in forward, else the selected
 * node. */
static const AdjBundleGraph *
find_subject (AdjSourcePage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjMaker maker;

  self->node = adj_document_get_selected (document);
  self->place = adj_document_get_graph_index (document);
  if (!adj_maker_find (document, self->node, &maker))
    return adj_document_get_graph (document);
  self->node = maker.node;
  self->place = maker.graph;
  return adj_graph_set_get (adj_document_get_graphs (document), maker.graph);
}

/* "train.py:12": adds the place of the hook that the node calls. */
static void
append_hook (AdjSourcePage *self)
{
  AdjCaptured *captured = adj_document_get_captured (adj_panel_get_document (self));
  const AdjCapturedNode *node =
      captured != NULL ? adj_captured_get_node (captured, self->node.index) : NULL;
  const char *where = NULL, *name, *colon;
  AdjFrame frame = { .code = "" };
  g_autofree char *file = NULL;

  if (node != NULL && (node->kind == ADJ_CAPTURED_HOOK || node->kind == ADJ_CAPTURED_BACKWARD))
    where = adj_captured_get_text (captured, "hooks", node->item, "where");
  colon = where != NULL ? strrchr (where, ':') : NULL;
  if (colon == NULL)
    return;
  name = adj_captured_get_text (captured, "hooks", node->item, "name");
  file = g_strndup (where, (gsize) (colon - where));
  frame.file = adj_arena_intern (self->texts, file);
  frame.line = (guint) g_ascii_strtoull (colon + 1, NULL, 10);
  frame.function = adj_arena_intern (self->texts, name != NULL ? name : "");
  g_array_append_val (self->places, frame);
}

static void
find_places (AdjSourcePage *self, const AdjBundleGraph *graph)
{
  g_array_set_size (self->places, 0);
  if (graph == NULL || !adj_node_id_is_valid (self->node))
    return;
  for (guint i = 0; i < adj_graph_get_node (graph->graph, self->node.index)->meta.n_frames; i++)
    g_array_append_val (self->places,
                        adj_graph_get_node (graph->graph, self->node.index)->meta.frames[i]);
  if (graph == adj_document_get_graph (adj_panel_get_document (self)))
    append_hook (self);
}

/* The innermost frame that is not compiled autograd's own. */
static guint
find_best_place (AdjSourcePage *self)
{
  guint best = self->places->len - 1;

  if (best > 0 &&
      g_str_equal (g_array_index (self->places, AdjFrame, best).function, "set_node_origin"))
    best--;
  return best;
}

/* Lists the lines of the whole graph; nothing is selected. */
static gboolean
show_lines (AdjSourcePage *self)
{
  if (adj_node_id_is_valid (self->node) || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return FALSE;
  adj_panel_set_document (self->lines, adj_panel_get_document (self));
  return adj_lines_pane_update (self->lines);
}

/* Why there is no source.  (nullable) */
static const char *
explain_nothing (const AdjSourcePage *self, const AdjBundleGraph *graph)
{
  if (graph == NULL || !adj_node_id_is_valid (self->node))
    return _ ("Select a node to see the lines of your code that made it");
  if (self->places->len == 0)
    return _ ("This node was recorded without a stack trace");
  return NULL;
}

static void
update (AdjSourcePage *self)
{
  const AdjBundleGraph *graph = find_subject (self);
  const char *hint;
  GtkWidget *row;

  find_places (self, graph);
  hint = explain_nothing (self, graph);
  self->returns = adj_panel_leave (GTK_WIDGET (self->code)) || self->returns;
  if (hint != NULL)
    adj_panel_leave (GTK_WIDGET (self->stack));
  stop_loading (self);
  gtk_list_view_set_model (self->code, NULL);
  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->frames))))
    gtk_list_box_remove (self->frames, row);
  g_clear_pointer (&self->graph, adj_graph_unref);
  if (hint != NULL)
    {
      self->returns = FALSE;
      gtk_label_set_text (self->hint, hint);
      gtk_stack_set_visible_child_name (self->stack, show_lines (self) ? "lines" : "empty");
      return;
    }
  self->graph = adj_graph_ref (graph->graph);
  for (guint i = 0; i < self->places->len; i++)
    gtk_list_box_append (self->frames, make_frame_row (&g_array_index (self->places, AdjFrame, i)));
  gtk_stack_set_visible_child_name (self->stack, "source");
  gtk_list_box_select_row (
      self->frames, gtk_list_box_get_row_at_index (self->frames, (int) find_best_place (self)));
}

/* What the lines cost and whether the page is seen matters only where they are listed. */
static void
update_lines (AdjSourcePage *self)
{
  if (adj_panel_get_document (self) != NULL && self->graph == NULL)
    update (self);
}

static void
on_all_lines (AdjSourcePage *self)
{
  adj_document_set_selected (adj_panel_get_document (self), ADJ_NO_NODE);
}

static void
adj_source_page_dispose (GObject *object)
{
  AdjSourcePage *self = ADJ_SOURCE_PAGE (object);

  stop_loading (self);
  g_clear_pointer (&self->graph, adj_graph_unref);

  G_OBJECT_CLASS (adj_source_page_parent_class)->dispose (object);
}

static void
adj_source_page_finalize (GObject *object)
{
  AdjSourcePage *self = ADJ_SOURCE_PAGE (object);

  g_array_unref (self->places);
  adj_arena_free (self->texts);

  G_OBJECT_CLASS (adj_source_page_parent_class)->finalize (object);
}

static void
adj_source_page_class_init (AdjSourcePageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  G_OBJECT_CLASS (klass)->dispose = adj_source_page_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_source_page_finalize;
  g_type_ensure (ADJ_TYPE_LINES_PANE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/source-page.ui");
  gtk_widget_class_bind_template_callback (widget_class, on_all_lines);
  gtk_widget_class_bind_template_child (widget_class, AdjSourcePage, lines);
  gtk_widget_class_bind_template_child (widget_class, AdjSourcePage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjSourcePage, hint);
  gtk_widget_class_bind_template_child (widget_class, AdjSourcePage, frames);
  gtk_widget_class_bind_template_child (widget_class, AdjSourcePage, code);
}

static void
adj_source_page_init (AdjSourcePage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&line_look, self);

  self->places = g_array_new (FALSE, FALSE, sizeof (AdjFrame));
  self->texts = adj_arena_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update_lines));
  g_signal_connect (self, "map", G_CALLBACK (update_lines), NULL);
  gtk_list_view_set_factory (self->code, factory);
  g_signal_connect_swapped (self->code, "activate", G_CALLBACK (on_line_activated), self);
  g_signal_connect_swapped (self->code, "map", G_CALLBACK (show_current), self);
  g_signal_connect_swapped (self->frames, "row-selected", G_CALLBACK (on_frame_selected), self);
}
