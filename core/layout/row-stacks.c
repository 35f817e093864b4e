/* SPDX-License-Identifier: MIT */
/* Stacks: equal modules of one level that follow each other become one module around them. */

#include <string.h>

#include "analysis/adj-blocks.h"
#include "ir/adj-graph.h"
#include "layout/rows-private.h"

#define MIN_STACK 3 /* modules */

/* The rows of one module of a level. */
typedef struct
{
  guint32 module; /* ADJ_NO_MODULE: rows outside of all modules */
  guint64 look;   /* hash; equal for modules that compute the same */
  gboolean again; /* the module has rows elsewhere too */
} Stretch;

/* The module just under @parent in which @module is, or ADJ_NO_MODULE. */
static guint32
child_around (const AdjRows *rows, guint32 module, guint32 parent)
{
  guint32 child = ADJ_NO_MODULE;

  for (guint32 at = module; at != ADJ_NO_MODULE; at = adj_rows_module (rows, at)->parent)
    {
      if (at == parent)
        return child;
      child = at;
    }
  return ADJ_NO_MODULE;
}

static guint64
mix (guint64 hash, guint64 value)
{
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

/* Hashes the leading side only: the backward of a first layer often lacks a gradient. */
static guint64
look_of_row (const Sorter *self, guint64 look, const AdjRow *row)
{
  const GArray *nodes = sorter_get_nodes (row, self->leading);

  for (guint k = 0; k < nodes->len; k++)
    {
      const AdjNode *node =
          adj_graph_get_node (self->roles->graph, g_array_index (nodes, guint32, k));

      look = mix (mix (look, g_str_hash (node->target)), node->n_inputs);
    }
  return look;
}

/* The rows from the first to the last of a module. */
typedef struct
{
  guint32 first, end;
} Range;

/* (transfer full): of each module. */
static Range *
find_ranges (const AdjRows *rows)
{
  Range *ranges = g_new0 (Range, rows->modules->len);

  for (guint32 r = 0; r < rows->rows->len; r++)
    for (guint32 at = adj_rows_row (rows, r)->module; at != ADJ_NO_MODULE;
         at = adj_rows_module (rows, at)->parent)
      {
        if (ranges[at].end == 0)
          ranges[at].first = r;
        ranges[at].end = r + 1;
      }
  return ranges;
}

/* (transfer full): of Stretch, the direct children of @parent in the order of rows. */
static GArray *
collect_stretches (const Sorter *self, guint32 parent, const Range *range)
{
  const AdjRows *rows = self->rows;
  GArray *stretches = g_array_new (FALSE, FALSE, sizeof (Stretch));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint32 r = range->first; r < range->end; r++)
    {
      const AdjRow *row = adj_rows_row (rows, r);
      guint32 child = child_around (rows, row->module, parent);
      Stretch *last =
          stretches->len ? &g_array_index (stretches, Stretch, stretches->len - 1) : NULL;

      if (!last || last->module != child || child == ADJ_NO_MODULE)
        {
          Stretch fresh = { child, 0, FALSE };

          if (child != ADJ_NO_MODULE)
            {
              fresh.again = !g_hash_table_add (seen, GUINT_TO_POINTER (child));
              fresh.look = g_str_hash (adj_rows_module (rows, child)->class);
            }
          g_array_append_val (stretches, fresh);
          last = &g_array_index (stretches, Stretch, stretches->len - 1);
        }
      last->look = look_of_row (self, last->look, row);
    }
  return stretches;
}

static const AdjBlock *
block_of_module (const Sorter *self, guint32 module)
{
  const AdjBlocks *blocks = adj_graph_get_blocks (self->roles->graph);
  const char *path = adj_rows_module (self->rows, module)->path;

  for (guint b = 0; b < blocks->n_blocks; b++)
    if (strcmp (blocks->blocks[b].module.path, path) == 0)
      return &blocks->blocks[b];
  return NULL;
}

/* "h.0 … h.75"; of blocks "models.py:40–71 · 76 ×", and of a part "models.py:40–71 · 2–75 of 76".
 */
static char *
name_stack (const Sorter *self, guint32 first, guint32 last)
{
  const AdjBlock *begin = block_of_module (self, first), *end = block_of_module (self, last);

  if (!begin || !end)
    return g_strdup_printf ("%s … %s", adj_rows_module (self->rows, first)->path,
                            adj_rows_module (self->rows, last)->path);
  if (end->position - begin->position + 1 == begin->n_of_run)
    return g_strdup_printf ("%s · %u ×", begin->name, begin->n_of_run);
  return g_strdup_printf ("%s · %u–%u of %u", begin->name, begin->position, end->position,
                          begin->n_of_run);
}

static void
append_stack (Sorter *self, const GArray *stretches, guint from, guint to, guint32 parent)
{
  guint32 first = g_array_index (stretches, Stretch, from).module;
  guint32 last = g_array_index (stretches, Stretch, to - 1).module;
  const AdjRowsModule *m = adj_rows_module (self->rows, first);
  guint depth = m->depth;
  g_autofree char *path = name_stack (self, first, last);
  g_autofree char *class =
      *m->class != '\0' ? g_strdup_printf ("×%u %s", to - from, m->class) : NULL;
  guint32 index = sorter_append_module (self->rows, path, class, parent);
  AdjRowsModule *stack = adj_rows_module (self->rows, index);

  stack->depth = depth;
  for (guint i = from; i < to; i++)
    {
      AdjRowsModule *child =
          adj_rows_module (self->rows, g_array_index (stretches, Stretch, i).module);

      child->parent = index;
      stack->opened |= sorter_is_listed (self->options->unfolded, child->path);
      for (guint side = 0; side < 2; side++)
        stack->n_nodes[side] += child->n_nodes[side];
    }
}

static void
stack_children (Sorter *self, guint32 parent, const Range *range)
{
  g_autoptr (GArray) stretches = collect_stretches (self, parent, range);

  for (guint from = 0, to; from < stretches->len; from = to)
    {
      const Stretch *begin = &g_array_index (stretches, Stretch, from);

      for (to = from + 1; to < stretches->len && begin->module != ADJ_NO_MODULE; to++)
        {
          const Stretch *next = &g_array_index (stretches, Stretch, to);

          if (next->module == ADJ_NO_MODULE || next->look != begin->look || next->again ||
              begin->again)
            break;
        }
      if (to - from >= MIN_STACK)
        append_stack (self, stretches, from, to, parent);
    }
}

void
sorter_stack_modules (Sorter *self)
{
  guint n = self->rows->modules->len;
  g_autofree guint *n_children = g_new0 (guint, n);
  g_autofree Range *ranges = find_ranges (self->rows);

  for (guint32 m = 1; m < n; m++)
    n_children[adj_rows_module (self->rows, m)->parent]++;
  for (guint32 m = 0; m < n; m++)
    if (n_children[m] >= MIN_STACK)
      stack_children (self, m, &ranges[m]);
}
