/* SPDX-License-Identifier: MIT */
/* The panel page of the graph as text. */

#include "panel/adj-text-page.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"

/* Text views get slow with very long lines and files. */
#define MAX_BYTES (8 * 1024 * 1024)

struct _AdjTextPage
{
  AdjPanel parent_instance;

  GtkTextView *text;
  GtkTextTag *selection;
  AdjGraph *graph; /* (owned) (nullable): the graph of the text */
  guint *lines;    /* per node: its line from 1; 0: none */
  guint scroll;    /* idle source */
};

G_DEFINE_FINAL_TYPE (AdjTextPage, adj_text_page, ADJ_TYPE_PANEL)

/* Scrolls when the text has been laid out. */
static gboolean
scroll_to_cursor (gpointer data)
{
  AdjTextPage *self = data;
  GtkTextMark *cursor = gtk_text_buffer_get_insert (gtk_text_view_get_buffer (self->text));

  self->scroll = 0;
  gtk_text_view_scroll_to_mark (self->text, cursor, 0, TRUE, 0, 0.4);
  return G_SOURCE_REMOVE;
}

static void
show_selected (AdjTextPage *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->text);
  AdjNodeId selected = adj_document_get_selected (adj_panel_get_document (self));
  GtkTextIter begin, end;

  if (self->graph == NULL)
    return;
  gtk_text_buffer_get_bounds (buffer, &begin, &end);
  gtk_text_buffer_remove_tag (buffer, self->selection, &begin, &end);
  if (!adj_node_id_is_valid (selected) || selected.index >= adj_graph_get_n_nodes (self->graph) ||
      self->lines[selected.index] == 0)
    return;
  gtk_text_buffer_get_iter_at_line (buffer, &begin, (int) self->lines[selected.index] - 1);
  end = begin;
  gtk_text_iter_forward_line (&end);
  gtk_text_buffer_apply_tag (buffer, self->selection, &begin, &end);
  gtk_text_buffer_place_cursor (buffer, &begin);
  if (self->scroll == 0)
    self->scroll = g_idle_add_full (G_PRIORITY_LOW, scroll_to_cursor, self, NULL);
}

static void
show_text (GtkTextBuffer *buffer, const char *text)
{
  const gsize length = strlen (text);
  const char *end;
  GtkTextIter last;

  g_utf8_validate_len (text, MIN (length, MAX_BYTES), &end);
  gtk_text_buffer_set_text (buffer, text, (int) (end - text));
  if (end == text + length)
    return;
  gtk_text_buffer_get_end_iter (buffer, &last);
  gtk_text_buffer_insert (buffer, &last, _ ("\n# Cut here: 'adjoint show' prints the rest\n"), -1);
}

/* Prints the graph only when the page is visible. */
static void
update (AdjTextPage *self)
{
  const AdjBundleGraph *graph = adj_panel_get_document (self) != NULL
                                    ? adj_document_get_graph (adj_panel_get_document (self))
                                    : NULL;
  g_autofree char *text = NULL;

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)) || graph == NULL)
    return;
  if (self->graph != graph->graph)
    {
      g_clear_pointer (&self->graph, adj_graph_unref);
      g_free (self->lines);
      self->graph = adj_graph_ref (graph->graph);
      self->lines = g_new0 (guint, adj_graph_get_n_nodes (self->graph));
      text = adj_graph_print (self->graph, ADJ_PRINT_DEFAULT, self->lines);
      show_text (gtk_text_view_get_buffer (self->text), text);
    }
  show_selected (self);
}

static void
on_released (GtkGestureClick *click, int n_press, double x, double y, AdjTextPage *self)
{
  GtkTextIter iter;
  int bx, by;
  guint line;

  if (self->graph == NULL)
    return;
  gtk_text_view_window_to_buffer_coords (self->text, GTK_TEXT_WINDOW_WIDGET, (int) x, (int) y, &bx,
                                         &by);
  gtk_text_view_get_iter_at_location (self->text, &iter, bx, by);
  line = (guint) gtk_text_iter_get_line (&iter) + 1;
  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    if (self->lines[i] == line)
      {
        adj_document_set_selected (adj_panel_get_document (self), (AdjNodeId){ i });
        return;
      }
}

static void
adj_text_page_dispose (GObject *object)
{
  AdjTextPage *self = ADJ_TEXT_PAGE (object);

  g_clear_handle_id (&self->scroll, g_source_remove);
  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->lines, g_free);

  G_OBJECT_CLASS (adj_text_page_parent_class)->dispose (object);
}

static void
adj_text_page_class_init (AdjTextPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  G_OBJECT_CLASS (klass)->dispose = adj_text_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/text-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjTextPage, text);
}

static void
adj_text_page_init (AdjTextPage *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GdkRGBA color = { 0.96f, 0.76f, 0.07f, 0.3f };

  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update));
  self->selection = gtk_text_buffer_create_tag (gtk_text_view_get_buffer (self->text), NULL,
                                                "paragraph-background-rgba", &color, NULL);
  g_signal_connect (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (GTK_WIDGET (self->text), GTK_EVENT_CONTROLLER (click));
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
}
