/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-module-item.h"

G_BEGIN_DECLS

/* All modules of a tree, in the order of the fully open tree. */
typedef struct _AdjModuleRows AdjModuleRows;

/* @roots: as adj_module_tree_new() makes it */
AdjModuleRows *adj_module_rows_new (GListModel *roots);
void adj_module_rows_free (AdjModuleRows *rows);

guint adj_module_rows_get_n (const AdjModuleRows *rows);
AdjModuleItem *adj_module_rows_get (const AdjModuleRows *rows, guint row); /* (transfer none) */
/* G_MAXUINT when it is not one of them. */
guint adj_module_rows_find (const AdjModuleRows *rows, const AdjModuleItem *item);
/* Opens the ancestors of the module.  Returns: its position in @tree */
guint adj_module_rows_open (const AdjModuleRows *rows, GtkTreeListModel *tree, guint row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjModuleRows, adj_module_rows_free)

G_END_DECLS
