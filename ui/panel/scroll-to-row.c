/* SPDX-License-Identifier: MIT */
#include "panel/scroll-to-row.h"

#define FRAMES 2

typedef struct
{
  guint row, n;
  guint frames; /* until the list has taken its new rows */
  guint tick;
} Wish;

static void
scroll (GtkWidget *list, const Wish *wish)
{
  GtkWidget *window = gtk_widget_get_ancestor (list, GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window));
  double page = gtk_adjustment_get_page_size (adjustment);
  double height = gtk_adjustment_get_upper (adjustment) / wish->n;
  double top = height * wish->row;
  double value = gtk_adjustment_get_value (adjustment);

  if (top < value || top + height > value + page)
    gtk_adjustment_set_value (adjustment, top + height / 2 - page / 2);
}

static gboolean
on_tick (GtkWidget *list, GdkFrameClock *clock, gpointer data)
{
  Wish *wish = data;

  if (gtk_widget_get_mapped (list) && wish->frames-- > 0)
    return G_SOURCE_CONTINUE;
  g_object_set_data (G_OBJECT (list), "adj-scroll-wish", NULL);
  if (gtk_widget_get_mapped (list))
    scroll (list, wish);
  return G_SOURCE_REMOVE;
}

void
adj_scroll_to_row (GtkWidget *list, guint row, guint n)
{
  Wish *old = g_object_get_data (G_OBJECT (list), "adj-scroll-wish");
  Wish *wish;

  if (old != NULL)
    gtk_widget_remove_tick_callback (list, old->tick);
  g_object_set_data (G_OBJECT (list), "adj-scroll-wish", NULL);
  if (row >= n || !gtk_widget_get_mapped (list))
    return;
  wish = g_new0 (Wish, 1);
  *wish = (Wish){ .row = row, .n = n, .frames = FRAMES };
  wish->tick = gtk_widget_add_tick_callback (list, on_tick, wish, g_free);
  g_object_set_data (G_OBJECT (list), "adj-scroll-wish", wish);
}
