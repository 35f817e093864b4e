/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-rows.h"

G_BEGIN_DECLS

#define ROWS_MAX_HEIGHT 1000 /* cards of the following side in one row */
#define MAX_UNIT 40          /* cards of a module whose parts get no rows of their own */

/* Rows in the making. */
typedef struct
{
  const AdjNodeRoles *roles;
  const AdjLayoutOptions *options;
  AdjRows *rows;
  GHashTable *by_path; /* module path → index + 1 */
  guint32 *unit;       /* of each node: the module whose row it belongs to */
  AdjSide leading;     /* the side that decides what the rows are */
  GHashTable *lines;   /* hash of a source line → rows of the leading side that have it, sorted */
  guint fold_depth;    /* that of the options, with ADJ_FOLD_BY_SIZE resolved */
} Sorter;

AdjRow *sorter_append_row (GArray *rows, guint32 module);
GArray *sorter_get_nodes (const AdjRow *row, AdjSide side); /* (transfer none) */
guint32 sorter_append_module (AdjRows *self, const char *path, const char *class, guint32 parent);
gboolean sorter_is_listed (const char *const *paths, const char *path); /* @paths: (nullable) */
gboolean sorter_is_card (const AdjNodeRoles *roles, guint32 index);
/* The card whose result @index copies into an input of the graph at the end: the copy stands beside
 * it.  @index itself where it is no such copy. */
guint32 sorter_get_writer (const AdjNodeRoles *roles, guint32 index);

/* Fills the modules, and the one of each node. */
void sorter_find_units (Sorter *self);
/* Makes rows of the cards of the leading side. */
void sorter_cut_rows (Sorter *self);
/* Makes a row for each autograd node of a captured backward; %FALSE where its nodes do not name
 * them. */
gboolean sorter_cut_calls (Sorter *self);
/* Gives every card of the other side the row of its counterpart, of its module, or of its source
 * line. */
void sorter_place_following (Sorter *self);

/* Joins equal modules that follow each other into a stack, "h.0 … h.75", which opens and closes
 * like a module. */
void sorter_stack_modules (Sorter *self);

G_END_DECLS
