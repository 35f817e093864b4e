/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A column of texts. */
typedef struct
{
  const char *title;
  char *(*get) (gpointer item); /* (transfer full) */
  int width;                    /* -1: expands */
  gboolean bold, numeric;
  const char *(*get_class) (gpointer item); /* (nullable): style class of the cell */
} AdjColumn;

/* @columns: static */
void adj_columns_append (GtkColumnView *table, const AdjColumn *columns, guint n);
/* Shows only those of @columns whose @shown is %TRUE. */
void
adj_columns_show (GtkColumnView *table, const AdjColumn *columns, guint n, const gboolean *shown);
/* Shows only the columns that have a text other than ADJ_COLUMN_NOTHING in any row of @table. */
#define ADJ_COLUMN_NOTHING "–"
void adj_columns_show_filled (GtkColumnView *table, const AdjColumn *columns, guint n);

G_END_DECLS
