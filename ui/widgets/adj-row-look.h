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
  int least; /* width in characters that is always kept; 0: none */
} AdjCellLook;

/* The look and content of the rows of a list of labels. */
typedef struct
{
  guint n;
  AdjCellLook cells[ADJ_MAX_CELLS];
  int spacing;
  gboolean tree;        /* items are GtkTreeListRow, with an expander */
  gboolean inactivable; /* rows cannot be activated */
  void (*setup) (GtkListItem *item, GtkWidget *row, gpointer data); /* (nullable) */
  void (*bind) (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data);
} AdjRowLook;

/* @look: static.  The accessible names of rows are the texts of their labels. */
GtkListItemFactory *adj_row_look_make_factory (const AdjRowLook *look, gpointer data);

G_END_DECLS
