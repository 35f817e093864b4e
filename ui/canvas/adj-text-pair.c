/* SPDX-License-Identifier: MIT */
/* The texts of two graphs side by side. */

#include "canvas/adj-text-pair.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-text.h"

#define MAX_LINES 20000 /* with more lines, equal ones are left out */

typedef struct
{
  AdjNodeId nodes[2]; /* of the own and the other graph */
  AdjChangeKind kind;
} Line;

struct _AdjTextPair
{
  GtkWidget parent_instance;

  GtkTextView *views[2];
  GArray *lines; /* of Line */
  gint selected;
};

G_DEFINE_FINAL_TYPE (AdjTextPair, adj_text_pair, GTK_TYPE_WIDGET)

static guint selected_signal;

static GtkTextBuffer *
get_buffer (AdjTextPair *self, guint side)
{
  return gtk_text_view_get_buffer (self->views[side]);
}

/* -- texts -- */

/* The length of the common beginning and end of two texts. */
static void
find_common (const char *a, const char *b, gsize *begin, gsize *end)
{
  gsize n_a = strlen (a), n_b = strlen (b), n = MIN (n_a, n_b);

  for (*begin = 0; *begin < n && a[*begin] == b[*begin];)
    ++*begin;
  for (*end = 0; *end < n - *begin && a[n_a - 1 - *end] == b[n_b - 1 - *end];)
    ++*end;
  /* Reduces them to whole characters and words. */
  while (*begin > 0 && (g_ascii_isalnum (a[*begin - 1]) || (guchar) a[*begin - 1] >= 0x80))
    --*begin;
  while (*end > 0 && (g_ascii_isalnum (a[n_a - *end]) || (guchar) a[n_a - *end] >= 0x80))
    --*end;
}

static void
append (AdjTextPair *self, guint side, const char *text, gsize n, const char *tag)
{
  GtkTextIter end;

  gtk_text_buffer_get_end_iter (get_buffer (self, side), &end);
  if (tag != NULL)
    gtk_text_buffer_insert_with_tags_by_name (get_buffer (self, side), &end, text, (int) n, tag,
                                              NULL);
  else
    gtk_text_buffer_insert (get_buffer (self, side), &end, text, (int) n);
}

static char *
print_node (const AdjGraph *graph, AdjNodeId node)
{
  GString *text = g_string_new (NULL);

  if (adj_node_id_is_valid (node))
    adj_node_print (graph, node.index, text);
  return g_string_free (text, FALSE);
}

static void
append_line (AdjTextPair *self, const Line *line, const AdjGraph *const graphs[2])
{
  g_autofree char *own = print_node (graphs[0], line->nodes[0]);
  g_autofree char *other = print_node (graphs[1], line->nodes[1]);
  const char *texts[] = { own, other }, *tags[] = { "added", "removed" };
  gsize begin = 0, end = 0;

  if (line->kind == ADJ_CHANGE_CHANGED)
    find_common (own, other, &begin, &end);
  for (guint side = 0; side < 2; side++)
    {
      gsize n = strlen (texts[side]);

      if (line->kind == ADJ_CHANGE_NONE)
        append (self, side, texts[side], n, NULL);
      else
        {
          append (self, side, texts[side], begin, NULL);
          append (self, side, texts[side] + begin, n - begin - end, tags[side]);
          append (self, side, texts[side] + n - end, end, NULL);
        }
      append (self, side, "\n", 1, NULL);
    }
}

void
adj_text_pair_set (AdjTextPair *self,
                   const AdjAlignment *alignment,
                   const AdjGraph *other,
                   const AdjGraph *own)
{
  const AdjGraph *graphs[] = { own, other };

  g_return_if_fail (ADJ_IS_TEXT_PAIR (self));

  self->selected = -1;
  g_array_set_size (self->lines, 0);
  for (guint side = 0; side < 2; side++)
    gtk_text_buffer_set_text (get_buffer (self, side), "", -1);
  for (guint i = 0; alignment != NULL && i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      Line line = { { change->b, change->a }, change->kind };

      if (alignment->n_changes > MAX_LINES && change->kind == ADJ_CHANGE_NONE)
        continue;
      if (self->lines->len >= MAX_LINES)
        break;
      append_line (self, &line, graphs);
      g_array_append_val (self->lines, line);
    }
}

guint
adj_text_pair_get_n_lines (AdjTextPair *self)
{
  return self->lines->len;
}

GtkTextView *
adj_text_pair_get_view (AdjTextPair *self, guint side)
{
  g_return_val_if_fail (side < 2, NULL);

  return self->views[side];
}

/* -- selecting -- */

static void
mark (AdjTextPair *self, gint line, gboolean scroll)
{
  for (guint side = 0; side < 2; side++)
    {
      GtkTextBuffer *buffer = get_buffer (self, side);
      GtkTextIter begin, end;

      gtk_text_buffer_get_bounds (buffer, &begin, &end);
      gtk_text_buffer_remove_tag_by_name (buffer, "selected", &begin, &end);
      if (line < 0)
        continue;
      gtk_text_buffer_get_iter_at_line (buffer, &begin, line);
      end = begin;
      gtk_text_iter_forward_line (&end);
      gtk_text_buffer_apply_tag_by_name (buffer, "selected", &begin, &end);
      gtk_text_buffer_place_cursor (buffer, &begin);
      if (scroll && side == 0)
        gtk_text_view_scroll_to_mark (self->views[side], gtk_text_buffer_get_insert (buffer), 0.1,
                                      FALSE, 0, 0);
    }
  self->selected = line;
}

static gint
find_line (AdjTextPair *self, AdjNodeId own, AdjNodeId other)
{
  for (guint i = 0; i < self->lines->len; i++)
    {
      const Line *line = &g_array_index (self->lines, Line, i);

      if ((adj_node_id_is_valid (own) && line->nodes[0].index == own.index) ||
          (adj_node_id_is_valid (other) && line->nodes[1].index == other.index))
        return (gint) i;
    }
  return -1;
}

void
adj_text_pair_select (AdjTextPair *self, AdjNodeId own, AdjNodeId other)
{
  gint line = find_line (self, own, other);

  g_return_if_fail (ADJ_IS_TEXT_PAIR (self));

  if (line != self->selected)
    mark (self, line, TRUE);
}

gint
adj_text_pair_get_selected (AdjTextPair *self)
{
  return self->selected;
}

static void
on_pressed (GtkGestureClick *click, int n_press, double x, double y, AdjTextPair *self)
{
  GtkTextView *view =
      GTK_TEXT_VIEW (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (click)));
  const Line *line;
  GtkTextIter at;
  int bx, by;

  gtk_text_view_window_to_buffer_coords (view, GTK_TEXT_WINDOW_WIDGET, (int) x, (int) y, &bx, &by);
  gtk_text_view_get_line_at_y (view, &at, by, NULL);
  if ((guint) gtk_text_iter_get_line (&at) >= self->lines->len)
    return;
  line = &g_array_index (self->lines, Line, gtk_text_iter_get_line (&at));
  mark (self, gtk_text_iter_get_line (&at), FALSE);
  g_signal_emit (self, selected_signal, 0, line->nodes[0].index, line->nodes[1].index);
}

/* -- widget -- */

static void
adj_text_pair_dispose (GObject *object)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (object))) != NULL)
    gtk_widget_unparent (child);

  G_OBJECT_CLASS (adj_text_pair_parent_class)->dispose (object);
}

static void
adj_text_pair_finalize (GObject *object)
{
  g_array_unref (ADJ_TEXT_PAIR (object)->lines);

  G_OBJECT_CLASS (adj_text_pair_parent_class)->finalize (object);
}

static void
adj_text_pair_class_init (AdjTextPairClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_text_pair_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_text_pair_finalize;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BOX_LAYOUT);
  selected_signal = g_signal_new ("selected", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_UINT);
}

static GtkWidget *
make_side (AdjTextPair *self, guint side)
{
  static const char *const names[] = { N_ ("Text of the Shown Graph"),
                                       N_ ("Text of the Other Graph") };
  GtkWidget *view = gtk_text_view_new (), *scroller = gtk_scrolled_window_new ();
  GtkGesture *click = gtk_gesture_click_new ();
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));

  self->views[side] = GTK_TEXT_VIEW (view);
  gtk_text_view_set_editable (self->views[side], FALSE);
  gtk_text_view_set_monospace (self->views[side], TRUE);
  gtk_text_view_set_left_margin (self->views[side], 8);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (names[side]), -1);
  gtk_text_buffer_create_tag (buffer, "added", "foreground", "#26a269", "weight", 700, NULL);
  gtk_text_buffer_create_tag (buffer, "removed", "foreground", "#c64600", "weight", 700, NULL);
  gtk_text_buffer_create_tag (buffer, "selected", "paragraph-background-rgba",
                              &(GdkRGBA){ 0.95f, 0.75f, 0.1f, 0.3f }, NULL);
  /* Captures the click, since the text view takes it for the beginning of a selection. */
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (click), GTK_PHASE_CAPTURE);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  gtk_widget_add_controller (view, GTK_EVENT_CONTROLLER (click));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  gtk_widget_set_hexpand (scroller, TRUE);
  gtk_widget_set_vexpand (scroller, TRUE);
  return scroller;
}

static void
scroll_together (GtkAdjustment *a, GtkAdjustment *b)
{
  g_object_bind_property (a, "value", b, "value", G_BINDING_BIDIRECTIONAL);
}

static void
adj_text_pair_init (AdjTextPair *self)
{
  GtkScrolledWindow *sides[2];

  self->lines = g_array_new (FALSE, FALSE, sizeof (Line));
  self->selected = -1;
  gtk_box_layout_set_homogeneous (
      GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (GTK_WIDGET (self))), TRUE);
  for (guint side = 0; side < 2; side++)
    {
      sides[side] = GTK_SCROLLED_WINDOW (make_side (self, side));
      gtk_widget_set_parent (GTK_WIDGET (sides[side]), GTK_WIDGET (self));
    }
  scroll_together (gtk_scrolled_window_get_vadjustment (sides[0]),
                   gtk_scrolled_window_get_vadjustment (sides[1]));
  scroll_together (gtk_scrolled_window_get_hadjustment (sides[0]),
                   gtk_scrolled_window_get_hadjustment (sides[1]));
}
