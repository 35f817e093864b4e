/* SPDX-License-Identifier: MIT */
/* Opens context menus: by right click, long press and key. */

#include "widgets/context-menu.h"

#define ITEM_KEY "adj-list-item"

/* -- asking -- */

typedef struct
{
  AdjMenuAsked asked;
  gpointer data;
} Watch;

static void
on_pressed (GtkGestureClick *click, int n_press, double x, double y, const Watch *watch)
{
  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  watch->asked (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (click)), x, y, watch->data);
}

static void
on_long_press (GtkGestureLongPress *press, double x, double y, const Watch *watch)
{
  gtk_gesture_set_state (GTK_GESTURE (press), GTK_EVENT_SEQUENCE_CLAIMED);
  watch->asked (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (press)), x, y, watch->data);
}

static gboolean
on_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  const Watch *watch = data;

  watch->asked (widget, -1, -1, watch->data);
  return TRUE;
}

void
adj_context_menu_watch (GtkWidget *widget, AdjMenuAsked asked, gpointer data)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *press = gtk_gesture_long_press_new ();
  GtkEventController *keys = gtk_shortcut_controller_new ();
  Watch *watch = g_new (Watch, 1);

  *watch = (Watch){ asked, data };
  g_object_set_data_full (G_OBJECT (widget), "adj-menu-watch", watch, g_free);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_SECONDARY);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), watch);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  /* Long press is for touch only: with a held mouse button one drags. */
  gtk_gesture_single_set_touch_only (GTK_GESTURE_SINGLE (press), TRUE);
  g_signal_connect (press, "pressed", G_CALLBACK (on_long_press), watch);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (press));
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_shortcut_trigger_parse_string ("Menu|<Shift>F10"),
                        gtk_callback_action_new (on_key, watch, NULL)));
  gtk_widget_add_controller (widget, keys);
}

void
adj_context_menu_open (GtkWidget *widget, AdjMenu menu, const char *target, const GdkRectangle *at)
{
  double x = at->x, y = at->y;

  gtk_widget_translate_coordinates (widget, GTK_WIDGET (gtk_widget_get_root (widget)), x, y, &x,
                                    &y);
  gtk_widget_activate_action (widget, "win.context-menu", "(usiiii)", menu,
                              target != NULL ? target : "", (int) x, (int) y, at->width,
                              at->height);
}

/* -- rows -- */

void
adj_context_menu_set_item (GtkWidget *child, GtkListItem *item)
{
  g_object_set_data (G_OBJECT (child), ITEM_KEY, item);
}

static GtkListItem *
find_item (GtkWidget *widget)
{
  GtkListItem *item = g_object_get_data (G_OBJECT (widget), ITEM_KEY);

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && item == NULL;
       child = gtk_widget_get_next_sibling (child))
    item = find_item (child);
  return item;
}

/* The row of a list around @widget.  (nullable) */
static GtkWidget *
find_row (GtkWidget *widget)
{
  while (widget != NULL && !GTK_IS_LIST_VIEW (gtk_widget_get_parent (widget)))
    widget = gtk_widget_get_parent (widget);
  return widget;
}

typedef struct
{
  AdjRowMenu prepare;
  gpointer data;
} Rows;

static void
on_row_asked (GtkWidget *list, double x, double y, gpointer data)
{
  const Rows *rows = data;
  gboolean by_key = x < 0;
  GtkWidget *at = by_key ? gtk_root_get_focus (gtk_widget_get_root (list))
                         : gtk_widget_pick (list, x, y, GTK_PICK_DEFAULT);
  GtkWidget *row = at != NULL && gtk_widget_is_ancestor (at, list) ? find_row (at) : NULL;
  GtkListItem *item = row != NULL ? find_item (row) : NULL;
  GdkRectangle place = { (int) x, (int) y, 1, 1 };
  g_autofree char *target = NULL;
  graphene_rect_t bounds;
  AdjMenu menu;

  if (item == NULL || gtk_list_item_get_item (item) == NULL)
    return;
  if (by_key && gtk_widget_compute_bounds (row, list, &bounds))
    place = (GdkRectangle){ (int) bounds.origin.x + 24, (int) bounds.origin.y, 1,
                            (int) bounds.size.height };
  menu = rows->prepare (gtk_list_item_get_item (item), gtk_list_item_get_position (item), &target,
                        rows->data);
  if (menu != 0)
    adj_context_menu_open (list, menu, target, &place);
}

void
adj_context_menu_watch_rows (GtkWidget *list, AdjRowMenu prepare, gpointer data)
{
  Rows *rows = g_new (Rows, 1);

  *rows = (Rows){ prepare, data };
  g_object_set_data_full (G_OBJECT (list), "adj-row-menu", rows, g_free);
  adj_context_menu_watch (list, on_row_asked, rows);
}
