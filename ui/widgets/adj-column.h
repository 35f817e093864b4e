/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A column of texts. */
typedef struct
{
  const char *title;
  char *(*get) (gpointer item); /* (transfer full) */
  int width;                    /* -1: takes what is left */
  gboolean bold, numeric;
  const char *(*get_class) (gpointer item); /* (nullable): style class of the cell */
} AdjColumn;

/* @columns: static */
void adj_columns_append (GtkColumnView *table, const AdjColumn *columns, guint n);
/* Leaves those of @columns of which @shown says so. */
void
adj_columns_show (GtkColumnView *table, const AdjColumn *columns, guint n, const gboolean *shown);
/* Leaves those that have a text for any row of @table, which is not nothing. */
#define ADJ_COLUMN_NOTHING "–"
void adj_columns_show_filled (GtkColumnView *table, const AdjColumn *columns, guint n);

G_END_DECLS
