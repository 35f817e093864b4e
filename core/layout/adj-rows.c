/* SPDX-License-Identifier: MIT */
/* Assigns modules and loose nodes to rows, forward on the left, backward on the right. */

#include "layout/adj-rows.h"

#include <string.h>

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "layout/rows-private.h"

static void
row_clear (gpointer data)
{
  AdjRow *row = data;

  g_array_unref (row->nodes[0]);
  g_array_unref (row->nodes[1]);
}

AdjRow *
sorter_append_row (GArray *rows, guint32 module)
{
  AdjRow row = { .module = module };

  row.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
  row.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (rows, row);
  return &g_array_index (rows, AdjRow, rows->len - 1);
}

GArray *
sorter_get_nodes (const AdjRow *row, AdjSide side)
{
  return row->nodes[side == ADJ_SIDE_BACKWARD];
}

guint32
sorter_append_module (AdjRows *self, const char *path, const char *class, guint32 parent)
{
  AdjRowsModule module = {
    .path = adj_arena_intern (self->texts, path),
    .class = adj_arena_intern (self->texts, class ? class : ""),
    .parent = parent,
    .depth = parent == ADJ_NO_MODULE ? 0 : adj_rows_module (self, parent)->depth + 1,
  };

  g_array_append_val (self->modules, module);
  return self->modules->len - 1;
}

gboolean
sorter_is_card (const AdjNodeRoles *roles, guint32 index)
{
  return roles->entries[index].host == index && roles->entries[index].kind == ADJ_NODE_ROLE_CARD;
}

guint32
sorter_get_writer (const AdjNodeRoles *roles, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (roles->graph, index);
  const AdjAlias *alias = &adj_graph_get_aliases (roles->graph)[index];
  guint32 maker = node->n_inputs == 2 ? roles->entries[node->inputs[1].index].host : index;

  return alias->kind == ADJ_ALIAS_SAME &&
                 adj_graph_get_node (roles->graph, alias->base)->opcode == ADJ_OPCODE_PLACEHOLDER &&
                 sorter_is_card (roles, maker) &&
                 roles->entries[maker].side == roles->entries[index].side
             ? maker
             : index;
}

gboolean
sorter_is_listed (const char *const *paths, const char *path)
{
  return paths && g_strv_contains (paths, path);
}

/* The outermost closed module around @module, or ADJ_NO_MODULE. */
static guint32
closed_around (const Sorter *self, guint32 module)
{
  guint32 closed = ADJ_NO_MODULE;

  for (guint32 at = module; at != 0; at = adj_rows_module (self->rows, at)->parent)
    {
      const AdjRowsModule *m = adj_rows_module (self->rows, at);

      if (sorter_is_listed (self->options->folded, m->path) ||
          (self->fold_depth > 0 && m->depth >= self->fold_depth && !m->opened &&
           !sorter_is_listed (self->options->unfolded, m->path)))
        closed = at;
    }
  return closed;
}

/* Merges the rows of a closed module into one. */
static void
close_modules (Sorter *self)
{
  GArray *old = self->rows->rows;
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (AdjRow));

  g_array_set_clear_func (rows, row_clear);
  for (guint r = 0; r < old->len; r++)
    {
      const AdjRow *from = &g_array_index (old, AdjRow, r);
      guint32 closed = closed_around (self, from->module);
      AdjRow *row = rows->len ? &g_array_index (rows, AdjRow, rows->len - 1) : NULL;

      if (!row || closed == ADJ_NO_MODULE || !row->closed || row->module != closed)
        row = sorter_append_row (rows, closed == ADJ_NO_MODULE ? from->module : closed);
      row->closed = closed != ADJ_NO_MODULE;
      if (row->closed)
        adj_rows_module (self->rows, closed)->closed = TRUE;
      for (guint s = 0; s < 2; s++)
        if (from->nodes[s]->len)
          g_array_append_vals (row->nodes[s], from->nodes[s]->data, from->nodes[s]->len);
      for (guint s = 0; s < 2; s++)
        for (guint k = 0; k < from->nodes[s]->len; k++)
          self->rows->row_of[g_array_index (from->nodes[s], guint32, k)] = rows->len - 1;
    }
  self->rows->rows = rows;
  g_array_unref (old);
}

static gboolean
any_nodes (const AdjRow *row)
{
  return row->nodes[0]->len + row->nodes[1]->len > 0;
}

/* Whether @host has a reader, directly or through @index, which is folded into it; @near: one in
 * the row right below, or one that it cannot be shown at (the output, a closed module). */
static gboolean
is_read (const Sorter *self, guint32 index, guint32 host, gboolean near)
{
  const AdjNode *node = adj_graph_get_node (self->roles->graph, index);

  for (guint k = 0; k < node->n_users; k++)
    {
      guint32 user = node->users[k].index, reader = self->roles->entries[user].host;
      guint32 row = self->rows->row_of[reader];

      if (reader == host
              ? user != index && is_read (self, user, host, near)
              : !near || row == 0 || row == ADJ_NO_ROW || adj_rows_row (self->rows, row)->closed)
        return TRUE;
    }
  return FALSE;
}

/* Puts inputs above all rows, but those that are only read far below, which are shown at their
 * readers; puts results and the tangents, where backward begins, below. */
static void
add_ends (Sorter *self)
{
  const AdjNodeRoles *roles = self->roles;
  GArray *rows = self->rows->rows;
  AdjRow top = { 0 };

  top.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
  top.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
  sorter_append_row (rows, 0);
  for (guint32 i = 0; i < roles->n; i++)
    {
      const AdjNodeRole *entry = &roles->entries[i];
      AdjRow *bottom = &g_array_index (rows, AdjRow, rows->len - 1);

      if (entry->host != i)
        continue;
      if (entry->kind == ADJ_NODE_ROLE_OUTPUT && !roles->only_backward)
        g_array_append_val (bottom->nodes[0], i);
      else if (entry->kind == ADJ_NODE_ROLE_PILL && !roles->one_column &&
               adj_graph_get_input_role (roles->graph, i) == ADJ_INPUT_TANGENT)
        g_array_append_val (bottom->nodes[entry->side == ADJ_SIDE_BACKWARD], i);
      else if (entry->kind == ADJ_NODE_ROLE_PILL &&
               (is_read (self, i, i, TRUE) || !is_read (self, i, i, FALSE)))
        g_array_append_val (top.nodes[0], i);
      else if (entry->kind == ADJ_NODE_ROLE_OUTPUT)
        g_array_append_val (top.nodes[1], i);
    }
  self->rows->begin = any_nodes (&top);
  if (any_nodes (&top))
    g_array_prepend_val (rows, top);
  else
    row_clear (&top);
  if (!any_nodes (&g_array_index (rows, AdjRow, rows->len - 1)))
    g_array_set_size (rows, rows->len - 1);
}

/* Puts everything into one row without frames. */
static void
make_one_row (Sorter *self)
{
  AdjRow *row = sorter_append_row (self->rows->rows, 0);

  for (guint32 i = 0; i < self->roles->n; i++)
    {
      const AdjNodeRole *entry = &self->roles->entries[i];

      if (entry->host == i && entry->kind != ADJ_NODE_ROLE_CHIP &&
          entry->kind != ADJ_NODE_ROLE_HIDDEN)
        g_array_append_val (row->nodes[0], i);
    }
}

static void
make_rows_by_module (Sorter *self)
{
  if (self->roles->captured == NULL || !sorter_cut_calls (self))
    {
      sorter_find_units (self);
      sorter_cut_rows (self);
    }
  if (self->rows->rows->len == 0)
    sorter_append_row (self->rows->rows, 0);
  sorter_place_following (self);
  if (self->fold_depth > 0)
    sorter_stack_modules (self);
  close_modules (self);
  add_ends (self);
}

static void
number_rows (AdjRows *self)
{
  for (guint32 r = 0; r < self->rows->len; r++)
    for (guint s = 0; s < 2; s++)
      {
        const GArray *nodes = adj_rows_row (self, r)->nodes[s];

        for (guint k = 0; k < nodes->len; k++)
          self->row_of[g_array_index (nodes, guint32, k)] = r;
      }
}

/* The side whose nodes decide the rows: backward in a graph that is only that, else forward. */
static AdjSide
leading_side (const AdjNodeRoles *roles)
{
  return roles->only_backward ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
}

static guint
depth_to_fold (const AdjNodeRoles *roles, const AdjLayoutOptions *options)
{
  return options->fold_depth != ADJ_FOLD_BY_SIZE ? options->fold_depth : roles->n > ADJ_MANY_NODES;
}

AdjRows *
adj_rows_new (const AdjNodeRoles *roles, const AdjLayoutOptions *options)
{
  AdjRows *rows = g_new0 (AdjRows, 1);
  Sorter sorter = { .roles = roles, .options = options, .rows = rows };

  rows->texts = adj_arena_new ();
  rows->modules = g_array_new (FALSE, FALSE, sizeof (AdjRowsModule));
  rows->rows = g_array_new (FALSE, FALSE, sizeof (AdjRow));
  g_array_set_clear_func (rows->rows, row_clear);
  rows->row_of = g_new (guint32, MAX (roles->n, 1));
  memset (rows->row_of, 0xff, sizeof (guint32) * roles->n);
  sorter_append_module (rows, "", "", ADJ_NO_MODULE);

  sorter.by_path = g_hash_table_new (g_str_hash, g_str_equal);
  sorter.lines = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  sorter.unit = g_new0 (guint32, MAX (roles->n, 1));
  sorter.leading = leading_side (roles);
  sorter.fold_depth = depth_to_fold (roles, options);

  if (options->view == ADJ_VIEW_FLOW || options->view == ADJ_VIEW_DOT)
    make_one_row (&sorter);
  else
    make_rows_by_module (&sorter);
  number_rows (rows);

  g_hash_table_unref (sorter.by_path);
  g_hash_table_unref (sorter.lines);
  g_free (sorter.unit);
  return rows;
}

char *
adj_rows_describe_module (const AdjRowsModule *module, gboolean backward)
{
  const char *path = module->path[0] == '#' ? "" : module->path;

  return g_strdup_printf ("%s%s%s%s", path, *path && *module->class ? " " : "", module->class,
                          backward ? " backward" : "");
}

char *
adj_rows_describe_count (const AdjRowsModule *module, guint n)
{
  guint all = module->n_nodes[0] + module->n_nodes[1];

  return all > n ? g_strdup_printf ("%u of %u nodes", n, all) : g_strdup_printf ("%u nodes", n);
}

void
adj_rows_free (AdjRows *rows)
{
  g_array_unref (rows->modules);
  g_array_unref (rows->rows);
  adj_arena_free (rows->texts);
  g_free (rows->row_of);
  g_free (rows);
}
