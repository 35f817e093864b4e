/* SPDX-License-Identifier: MIT */
/* Scrolls a list to a row, which GTK before 4.12 cannot. */

#include "widgets/scroll-to-row.h"

#include <math.h>

#define FRAMES 2
#define WISH_KEY "adj-scroll-wish"

typedef struct
{
  guint row, n;
  int frames; /* frames until the list has its new rows */
  gboolean has_jumped;
  GtkWidget *list;
  GdkFrameClock *clock; /* (owned) */
} Wish;

static GtkAdjustment *
get_adjustment (GtkWidget *list)
{
  GtkWidget *window = gtk_widget_get_ancestor (list, GTK_TYPE_SCROLLED_WINDOW);

  return gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window));
}

/* Scrolls if the row is not in view; whether it did. */
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
  /* Aligns to whole rows, so that none is cut at the top, below the titles of a table. */
  gtk_adjustment_set_value (adjustment,
                            floor ((top + height / 2 - page / 2) / height) * height + 1);
  return TRUE;
}

/* Whether another frame is needed. */
static gboolean
go_on (GtkWidget *list, Wish *wish)
{
  if (!gtk_widget_get_mapped (list))
    return FALSE;
  if (wish->frames-- > 0)
    return TRUE;
  if (!wish->has_jumped && scroll (list, wish))
    {
      wish->has_jumped = TRUE;
      wish->frames = FRAMES;
      return TRUE;
    }
  /* After a jump over many rows GTK 4.8 does not allocate the new ones until it scrolls again. */
  if (wish->has_jumped)
    gtk_adjustment_set_value (get_adjustment (list),
                              gtk_adjustment_get_value (get_adjustment (list)) - 1);
  return FALSE;
}

/* Runs after painting, when every row is allocated: before the next layout the list may get other
 * rows, and cannot be scrolled. */
static void
on_painted (GtkWidget *list)
{
  if (go_on (list, g_object_get_data (G_OBJECT (list), WISH_KEY)))
    gtk_widget_queue_draw (list);
  else
    g_object_set_data (G_OBJECT (list), WISH_KEY, NULL);
}

/* The handlers may be gone already, with the window of the clock. */
static void
wish_free (gpointer data)
{
  Wish *wish = data;

  g_signal_handlers_disconnect_by_func (wish->clock, on_painted, wish->list);
  g_object_unref (wish->clock);
  g_free (wish);
}

void
adj_scroll_to_row (GtkWidget *list, guint row, guint n)
{
  Wish *wish;

  g_object_set_data (G_OBJECT (list), WISH_KEY, NULL);
  if (row >= n || !gtk_widget_get_mapped (list))
    return;
  wish = g_new (Wish, 1);
  *wish = (Wish){ .row = row,
                  .n = n,
                  .frames = FRAMES,
                  .list = list,
                  .clock = g_object_ref (gtk_widget_get_frame_clock (list)) };
  g_signal_connect_swapped (wish->clock, "after-paint", G_CALLBACK (on_painted), list);
  g_object_set_data_full (G_OBJECT (list), WISH_KEY, wish, wish_free);
  gtk_widget_queue_draw (list);
}
