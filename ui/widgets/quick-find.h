/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Type-ahead search in a list: a letter or "/" opens the bar above it, Up and Down go to other
 * matches, Enter and Escape return to the list; Enter activates the match. */

typedef struct
{
  /* The number of rows, including hidden ones. */
  guint (*count) (gpointer self);
  /* (transfer full): the text that is searched */
  char *(*get_text) (gpointer self, guint row);
  /* The row to start from. */
  guint (*get_current) (gpointer self);
  /* Selects the row and scrolls to it. */
  void (*show) (gpointer self, guint row);
  /* (nullable) Activates the selected row, as Enter in the list does. */
  void (*activate) (gpointer self);
} AdjQuickFind;

/**
 * adj_quick_find_add:
 * @bar: above the list; gets an entry
 * @list: a list whose keys are caught
 * @what: accessible name of the entry: "Find a Module"
 * @find: static
 * @self: (unowned): lives as long as @bar
 */
void adj_quick_find_add (
    GtkSearchBar *bar, GtkWidget *list, const char *what, const AdjQuickFind *find, gpointer self);

/* The text of a row that is searched.  (transfer full) */
typedef char *(*AdjRowText) (gpointer item, guint position, gpointer self);

/* The same for the rows of a GtkListView or GtkColumnView, with its model at the time: the match is
 * selected, Enter activates it. */
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
