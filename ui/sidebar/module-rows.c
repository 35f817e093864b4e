/* SPDX-License-Identifier: MIT */
/* The tree of modules as rows that open and close. */

#include "sidebar/module-rows.h"

typedef struct
{
  AdjModuleItem *item; /* (owned) */
  guint parent;        /* row, or G_MAXUINT */
  guint place;         /* among the children of @parent */
} Row;

struct _AdjModuleRows
{
  GArray *rows; /* of Row */
};

static void
add_children (AdjModuleRows *self, GListModel *children, guint parent)
{
  for (guint i = 0; children != NULL && i < g_list_model_get_n_items (children); i++)
    {
      Row row = { g_list_model_get_item (children, i), parent, i };

      g_array_append_val (self->rows, row);
      add_children (self, adj_module_item_get_children (row.item), self->rows->len - 1);
    }
}

static void
clear_row (gpointer data)
{
  g_object_unref (((Row *) data)->item);
}

AdjModuleRows *
adj_module_rows_new (GListModel *roots)
{
  AdjModuleRows *self = g_new (AdjModuleRows, 1);

  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_set_clear_func (self->rows, clear_row);
  add_children (self, roots, G_MAXUINT);
  return self;
}

void
adj_module_rows_free (AdjModuleRows *rows)
{
  g_array_unref (rows->rows);
  g_free (rows);
}

guint
adj_module_rows_get_n (const AdjModuleRows *rows)
{
  return rows->rows->len;
}

AdjModuleItem *
adj_module_rows_get (const AdjModuleRows *rows, guint row)
{
  return g_array_index (rows->rows, Row, row).item;
}

guint
adj_module_rows_find (const AdjModuleRows *rows, const AdjModuleItem *item)
{
  for (guint i = 0; i < rows->rows->len; i++)
    if (g_array_index (rows->rows, Row, i).item == item)
      return i;
  return G_MAXUINT;
}

/* (transfer full) */
static GtkTreeListRow *
open_row (const AdjModuleRows *rows, GtkTreeListModel *tree, guint index)
{
  const Row *row = &g_array_index (rows->rows, Row, index);
  g_autoptr (GtkTreeListRow) parent = NULL;

  if (row->parent == G_MAXUINT)
    return gtk_tree_list_model_get_child_row (tree, row->place);
  parent = open_row (rows, tree, row->parent);
  gtk_tree_list_row_set_expanded (parent, TRUE);
  return gtk_tree_list_row_get_child_row (parent, row->place);
}

guint
adj_module_rows_open (const AdjModuleRows *rows, GtkTreeListModel *tree, guint row)
{
  g_autoptr (GtkTreeListRow) found = open_row (rows, tree, row);

  return gtk_tree_list_row_get_position (found);
}
