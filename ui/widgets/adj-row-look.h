/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ADJ_MAX_CELLS 3

typedef struct
{
  const char *css_class; /* (nullable) */
  float xalign;
  gboolean expand;
  PangoEllipsizeMode ellipsize;
  gboolean numeric, wrap, selectable;
  int least; /* characters that are always shown; 0: none */
} AdjCellLook;

/* How the rows of a list of labels look, and what they say. */
typedef struct
{
  guint n;
  AdjCellLook cells[ADJ_MAX_CELLS];
  int spacing;
  gboolean tree;        /* items are GtkTreeListRow, with an expander */
  gboolean inactivable; /* rows are to be read only */
  void (*setup) (GtkListItem *item, GtkWidget *row, gpointer data); /* (nullable) */
  void (*bind) (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data);
} AdjRowLook;

/* @look: static.  Rows are named for assistive technology by what their labels say. */
GtkListItemFactory *adj_row_look_make_factory (const AdjRowLook *look, gpointer data);

G_END_DECLS
