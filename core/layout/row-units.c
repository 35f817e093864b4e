/* SPDX-License-Identifier: MIT */
/* Finds the modules that become rows: the outermost ones that are not too large. */

#include <string.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "layout/rows-private.h"

/* Strips "L['self'].", so that "L['self'].h.0" equals "h.0". */
static const char *
plain_path (const char *path)
{
  if (g_str_has_prefix (path, "L['self']"))
    path += strlen ("L['self']");
  return *path == '.' ? path + 1 : path;
}

/* The innermost module of a node, made where it is new. */
static guint32
module_of_node (Sorter *self, guint index)
{
  guint n;
  const AdjModule *modules = adj_graph_get_modules (self->roles->graph, index, &n);
  guint32 at = 0;

  for (guint i = 0; i < n; i++)
    {
      const char *path = plain_path (modules[i].path ? modules[i].path : "");
      guint found = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_path, path));

      if (!*path)
        continue;
      if (!found)
        {
          found = sorter_append_module (self->rows, path, modules[i].class_name, at) + 1;
          g_hash_table_insert (self->by_path,
                               (gpointer) adj_rows_module (self->rows, found - 1)->path,
                               GUINT_TO_POINTER (found));
        }
      at = found - 1;
    }
  return at;
}

static void
find_heights (AdjRows *self)
{
  /* Children come after their parents. */
  for (guint i = self->modules->len; i-- > 1;)
    {
      const AdjRowsModule *module = adj_rows_module (self, i);
      AdjRowsModule *parent = adj_rows_module (self, module->parent);

      parent->height = MAX (parent->height, module->height + 1);
    }
}

static void
count_nodes (Sorter *self)
{
  for (guint32 i = 0; i < self->roles->n; i++)
    for (guint32 at = self->unit[i]; at != ADJ_NO_MODULE;
         at = adj_rows_module (self->rows, at)->parent)
      adj_rows_module (self->rows, at)
          ->n_nodes[self->roles->entries[i].side == ADJ_SIDE_BACKWARD]++;
}

static void
count_cards (Sorter *self)
{
  for (guint32 i = 0; i < self->roles->n; i++)
    if (sorter_is_card (self->roles, i) && self->roles->entries[i].side == self->leading)
      for (guint32 at = self->unit[i]; at != ADJ_NO_MODULE;
           at = adj_rows_module (self->rows, at)->parent)
        adj_rows_module (self->rows, at)->n_cards++;
}

/* The outermost module around @module that only has leaf modules inside and is not large. */
static guint32
unit_of_module (AdjRows *self, guint32 module)
{
  guint32 unit = module;

  for (guint32 at = module; at != 0; at = adj_rows_module (self, at)->parent)
    {
      const AdjRowsModule *m = adj_rows_module (self, at);

      if (m->height == 0 || (m->height == 1 && m->n_cards <= MAX_UNIT))
        unit = at;
    }
  return unit;
}

void
sorter_find_units (Sorter *self)
{
  const AdjNodeRoles *roles = self->roles;

  for (guint i = 0; i < roles->n; i++)
    self->unit[i] = module_of_node (self, i);
  for (guint i = 0; i < roles->n; i++)
    if (self->unit[i] == 0)
      self->unit[i] = self->unit[sorter_get_writer (roles, i)];
  find_heights (self->rows);
  count_nodes (self);
  count_cards (self);
  for (guint i = 0; i < roles->n; i++)
    self->unit[i] = unit_of_module (self->rows, self->unit[i]);
}
