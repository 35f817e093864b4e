/* SPDX-License-Identifier: MIT */
#include "panel/scroll-to-row.h"

#define FRAMES 2

typedef struct
{
  guint row, n;
  int frames; /* until the list has taken its new rows */
  gboolean has_jumped;
  guint tick;
} Wish;

static GtkAdjustment *
get_adjustment (GtkWidget *list)
{
  GtkWidget *window = gtk_widget_get_ancestor (list, GTK_TYPE_SCROLLED_WINDOW);

  return gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window));
}

/* Whether it had to. */
static gboolean
scroll (GtkWidget *list, const Wish *wish)
{
  GtkAdjustment *adjustment = get_adjustment (list);
  double page = gtk_adjustment_get_page_size (adjustment);
  double height = gtk_adjustment_get_upper (adjustment) / wish->n;
  double top = height * wish->row;
  double value = gtk_adjustment_get_value (adjustment);

  if (top >= value && top + height <= value + page)
    return FALSE;
  gtk_adjustment_set_value (adjustment, top + height / 2 - page / 2);
  return TRUE;
}

static gboolean
on_tick (GtkWidget *list, GdkFrameClock *clock, gpointer data)
{
  Wish *wish = data;
  gboolean mapped = gtk_widget_get_mapped (list);

  if (mapped && wish->frames-- > 0)
    return G_SOURCE_CONTINUE;
  if (mapped && !wish->has_jumped && scroll (list, wish))
    {
      wish->has_jumped = TRUE;
      wish->frames = FRAMES;
      return G_SOURCE_CONTINUE;
    }
  /* After a jump over many rows GTK 4.8 gives the new ones no place until it scrolls again. */
  if (mapped && wish->has_jumped)
    gtk_adjustment_set_value (get_adjustment (list),
                              gtk_adjustment_get_value (get_adjustment (list)) - 1);
  g_object_set_data (G_OBJECT (list), "adj-scroll-wish", NULL);
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
