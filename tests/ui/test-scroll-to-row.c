/* SPDX-License-Identifier: MIT */

/* A list scrolls to a row although its rows change in every frame. */

#include <math.h>

#include "ui/adj-walk.h"
#include "widgets/scroll-to-row.h"

#define N_ROWS 500
#define N_FRAMES 12

typedef struct
{
  GtkStringList *rows;
  int frames; /* number of remaining frames */
} Changing;

/* The list has no positions for new rows before its layout. */
static void
change_rows (GdkFrameClock *clock, Changing *changing)
{
  g_autofree char **texts = g_new0 (char *, N_ROWS + 1);
  static char text[] = "row";

  for (guint i = 0; i < N_ROWS; i++)
    texts[i] = text;
  gtk_string_list_splice (changing->rows, 0, N_ROWS, (const char *const *) texts);
  changing->frames--;
}

static gboolean
is_over (gpointer data)
{
  return ((const Changing *) data)->frames <= 0;
}

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  gtk_list_item_set_child (item, gtk_label_new ("row"));
}

static void
test_changing (void)
{
  GtkWidget *window = gtk_window_new ();
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkStringList *rows = gtk_string_list_new (NULL);
  GtkWidget *list =
      gtk_list_view_new (GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (rows))), factory);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkAdjustment *adjustment;
  Changing changing = { rows, N_FRAMES };

  for (guint i = 0; i < N_ROWS; i++)
    gtk_string_list_append (rows, "row");
  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), NULL);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), list);
  gtk_window_set_child (GTK_WINDOW (window), scrolled);
  gtk_window_set_default_size (GTK_WINDOW (window), 300, 300);
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), ==, 0);

  g_signal_connect (gtk_widget_get_frame_clock (window), "before-paint", G_CALLBACK (change_rows),
                    &changing);
  adj_scroll_to_row (list, N_ROWS / 2, N_ROWS);
  g_assert_true (adj_wait_until (is_over, &changing, 60));
  g_signal_handlers_disconnect_by_data (gtk_widget_get_frame_clock (window), &changing);
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), >, 0);
  /* No row is cut off at the top. */
  g_assert_cmpfloat (fabs (remainder (gtk_adjustment_get_value (adjustment),
                                      gtk_adjustment_get_upper (adjustment) / N_ROWS)),
                     <, 0.5);
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char *argv[])
{
  AdjApplication *application = adj_walk_begin (&argc, &argv);

  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/scroll-to-row/changing", test_changing);
  return g_test_run ();
}
