/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The subject of a context menu.  Its content comes from the tables of commands
 * (window/window-commands.h) and of the canvas; commands apply to the selection. */
typedef enum
{
  ADJ_MENU_NODE = 1 << 0,      /* the selected nodes */
  ADJ_MENU_LINE = 1 << 1,      /* a line or bridge, whose ends are selected */
  ADJ_MENU_MODULE = 1 << 2,    /* a module, whose path is the target and whose nodes are selected */
  ADJ_MENU_CANVAS = 1 << 3,    /* no item */
  ADJ_MENU_GRAPH = 1 << 4,     /* a graph, whose id is the target */
  ADJ_MENU_ELSEWHERE = 1 << 5, /* nodes of another graph, which are the target (node-rows.h) */
} AdjMenu;

/* @x, @y: in pixels of @widget; both -1: opened by a key, for the focused item */
typedef void (*AdjMenuAsked) (GtkWidget *widget, double x, double y, gpointer data);

/* Calls @asked when a context menu of @widget is requested: by right click, long press, the Menu
 * key or Shift+F10. */
void adj_context_menu_watch (GtkWidget *widget, AdjMenuAsked asked, gpointer data);

/* Opens the menu beside @at of @widget.  @target: (nullable) */
void
adj_context_menu_open (GtkWidget *widget, AdjMenu menu, const char *target, const GdkRectangle *at);

/* Selects the subject of @item at @position of a list.  @target: (out) (transfer full).  0: there
 * is no menu for it. */
typedef AdjMenu (*AdjRowMenu) (gpointer item, guint position, char **target, gpointer data);

/* The same for the rows of @list, a GtkListView or GtkColumnView that AdjRowLook or AdjColumn
 * fills. */
void adj_context_menu_watch_rows (GtkWidget *list, AdjRowMenu prepare, gpointer data);
/* For factories of rows: @child shows @item. */
void adj_context_menu_set_item (GtkWidget *child, GtkListItem *item);

G_END_DECLS
