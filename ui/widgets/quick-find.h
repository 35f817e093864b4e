/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Typing in a list finds a row: a letter or "/" opens the bar above it, Up and Down go to other
 * rows that match, Enter and Escape go back to the list; Enter activates what was found. */

typedef struct
{
  /* How many rows there are, shown or not. */
  guint (*count) (gpointer self);
  /* (transfer full): what is searched */
  char *(*get_text) (gpointer self, guint row);
  /* The row to begin from. */
  guint (*get_current) (gpointer self);
  /* Selects and shows it. */
  void (*show) (gpointer self, guint row);
  /* (nullable) As Enter in the list does. */
  void (*activate) (gpointer self);
} AdjQuickFind;

/**
 * adj_quick_find_add:
 * @bar: above the list; gets an entry
 * @list: a list whose keys are caught
 * @what: of the entry, for assistive technology: "Find a Module"
 * @find: static
 * @self: (unowned): lives as long as @bar
 */
void adj_quick_find_add (
    GtkSearchBar *bar, GtkWidget *list, const char *what, const AdjQuickFind *find, gpointer self);

/* What is searched of a row.  (transfer full) */
typedef char *(*AdjRowText) (gpointer item, guint position, gpointer self);

/* The same for the rows of a GtkListView or GtkColumnView, whatever its model is then: a row that
 * is found is selected, Enter activates it. */
void adj_quick_find_add_rows (
    GtkSearchBar *bar, GtkWidget *list, const char *what, AdjRowText get_text, gpointer self);

/**
 * adj_quick_find_match:
 * @step: 0: from @from on; 1: after it; -1: before it; round the end
 *
 * The nearest row that begins with @text, else one that contains it; the case does not matter.
 *
 * Returns: G_MAXUINT when there is none
 */
guint adj_quick_find_match (
    const AdjQuickFind *find, gpointer self, const char *text, guint from, int step);

G_END_DECLS
