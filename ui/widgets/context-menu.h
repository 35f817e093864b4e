/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What a context menu is about.  What stands in it the table of commands says
 * (window/window-commands.h), and that of the canvas; what it does is done to what is selected. */
typedef enum
{
  ADJ_MENU_NODE = 1 << 0,      /* the selected nodes */
  ADJ_MENU_LINE = 1 << 1,      /* a line or bridge: what it joins is selected */
  ADJ_MENU_MODULE = 1 << 2,    /* whose path is the target: its nodes are selected */
  ADJ_MENU_CANVAS = 1 << 3,    /* nothing in particular */
  ADJ_MENU_GRAPH = 1 << 4,     /* whose id is the target */
  ADJ_MENU_ELSEWHERE = 1 << 5, /* nodes of another graph, which are the target (node-rows.h) */
} AdjMenu;

/* @x, @y: in pixels of @widget; both -1: by a key, about what has the focus */
typedef void (*AdjMenuAsked) (GtkWidget *widget, double x, double y, gpointer data);

/* Calls @asked for what asks for a context menu in @widget: right click, long press, the Menu key
 * and Shift+F10. */
void adj_context_menu_watch (GtkWidget *widget, AdjMenuAsked asked, gpointer data);

/* Opens the menu beside @at of @widget.  @target: (nullable) */
void
adj_context_menu_open (GtkWidget *widget, AdjMenu menu, const char *target, const GdkRectangle *at);

/* Selects what @item at @position of a list stands for.  @target: (out) (transfer full).  0: there
 * is no menu for it. */
typedef AdjMenu (*AdjRowMenu) (gpointer item, guint position, char **target, gpointer data);

/* The same for the rows of @list, a GtkListView or GtkColumnView that AdjRowLook or AdjColumn
 * fills. */
void adj_context_menu_watch_rows (GtkWidget *list, AdjRowMenu prepare, gpointer data);
/* For those who fill rows: @child shows @item. */
void adj_context_menu_set_item (GtkWidget *child, GtkListItem *item);

G_END_DECLS
