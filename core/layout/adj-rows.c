/* SPDX-License-Identifier: MIT */
#include "layout/adj-rows.h"

#include <string.h>

#define SMALL 3         /* fewer cards than this get no frame of their own */
#define MAX_UNIT 40     /* cards of a module whose parts get no rows of their own */
#define MAX_LOOSE 16    /* cards in a row outside every module */
#define MIN_STRETCH 6   /* cards of a stretch cut from a graph without modules */
#define LONG_STRETCH 48 /* … where no single value crosses */
#define MAX_STRETCH 200 /* cards of any row */

typedef struct
{
  const AdjCensus *census;
  const AdjLayoutOptions *options;
  AdjRows *rows;
  GHashTable *by_path; /* module path → index + 1 */
  guint32 *unit;       /* of each node: the module whose row it belongs to */
  AdjSide leading;     /* the side that decides what the rows are */
  GHashTable *lines;   /* hash of (row, source line) of the leading side */
} Sorter;

static void
row_clear (gpointer data)
{
  AdjRow *row = data;

  g_array_unref (row->nodes[0]);
  g_array_unref (row->nodes[1]);
}

static AdjRow *
row_append (GArray *rows, guint32 module)
{
  AdjRow row = { .module = module };

  row.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
  row.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (rows, row);
  return &g_array_index (rows, AdjRow, rows->len - 1);
}

static GArray *
side_of_row (const AdjRow *row, AdjSide side)
{
  return row->nodes[side == ADJ_SIDE_BACKWARD];
}

static guint32
module_append (AdjRows *self, const char *path, const char *class, guint32 parent)
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

/* "L['self'].h.0" and "h.0" are one. */
static const char *
plain_path (const char *path)
{
  if (g_str_has_prefix (path, "L['self']"))
    path += strlen ("L['self']");
  return *path == '.' ? path + 1 : path;
}

/* The innermost module of a node, made where it is new. */
static guint32
module_of_node (Sorter *self, const AdjNode *node)
{
  const AdjModule *modules = node->meta.n_modules ? node->meta.modules : node->meta.fwd_modules;
  guint n = node->meta.n_modules ? node->meta.n_modules : node->meta.n_fwd_modules;
  guint32 at = 0;

  for (guint i = 0; i < n; i++)
    {
      const char *path = plain_path (modules[i].path ? modules[i].path : "");
      guint found = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_path, path));

      if (!*path)
        continue;
      if (!found)
        {
          found = module_append (self->rows, path, modules[i].class_name, at) + 1;
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

static gboolean
is_card (const AdjCensus *census, guint32 index)
{
  return census->entries[index].host == index && census->entries[index].kind == ADJ_CENSUS_CARD;
}

static void
count_cards (Sorter *self)
{
  for (guint32 i = 0; i < self->census->n; i++)
    if (is_card (self->census, i) && self->census->entries[i].side == self->leading)
      for (guint32 at = self->unit[i]; at != ADJ_NO_MODULE;
           at = adj_rows_module (self->rows, at)->parent)
        adj_rows_module (self->rows, at)->n_cards++;
}

/* The outermost module around @module that holds nothing but leaves and is not large. */
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

static void
find_units (Sorter *self)
{
  const AdjCensus *census = self->census;

  for (guint i = 0; i < census->n; i++)
    self->unit[i] = module_of_node (self, adj_graph_get_node (census->graph, i));
  find_heights (self->rows);
  count_cards (self);
  for (guint i = 0; i < census->n; i++)
    self->unit[i] = unit_of_module (self->rows, self->unit[i]);
}

/* Cards of the leading side in the order of rows, top to bottom. */
static GArray *
leading_cards (const Sorter *self)
{
  GArray *cards = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = self->census->n;

  for (guint32 k = 0; k < n; k++)
    {
      guint32 i = self->leading == ADJ_SIDE_FORWARD ? k : n - 1 - k;

      if (is_card (self->census, i) && self->census->entries[i].side == self->leading)
        g_array_append_val (cards, i);
    }
  return cards;
}

/* live[k]: values made in cards[0 … k] that a later card of the same side reads.  Where there is
 * but one, the graph can be cut. */
static guint *
count_live (const Sorter *self, const GArray *cards)
{
  const AdjCensus *census = self->census;
  g_autofree guint32 *at = g_new (guint32, census->n);
  g_autofree guint32 *last = g_new0 (guint32, MAX (cards->len, 1));
  guint *live = g_new0 (guint, cards->len + 1);

  memset (at, 0xff, sizeof (guint32) * census->n);
  for (guint k = 0; k < cards->len; k++)
    at[g_array_index (cards, guint32, k)] = k;
  for (guint i = 0; i < census->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (census->graph, i);
      guint32 reader = at[census->entries[i].host];

      for (guint j = 0; j < node->n_inputs && reader != G_MAXUINT32; j++)
        {
          guint32 maker = at[census->entries[node->inputs[j].index].host];

          if (maker != G_MAXUINT32)
            {
              guint32 low = MIN (maker, reader), high = MAX (maker, reader);

              last[low] = MAX (last[low], high);
            }
        }
    }
  for (guint k = 0; k < cards->len; k++)
    if (last[k] > k)
      {
        live[k]++;
        live[last[k]]--;
      }
  for (guint k = 1; k <= cards->len; k++)
    live[k] += live[k - 1];
  return live;
}

static const char *
base_name (const char *file)
{
  const char *slash = strrchr (file, '/');

  return slash ? slash + 1 : file;
}

/* "model.py:45–50", from the innermost frames of the cards. */
static char *
name_stretch (const AdjGraph *graph, const GArray *cards, guint from, guint to)
{
  const char *file = NULL;
  guint low = G_MAXUINT, high = 0;

  for (guint k = from; k < to; k++)
    {
      const AdjNode *node = adj_graph_get_node (graph, g_array_index (cards, guint32, k));
      const AdjFrame *frame =
          node->meta.n_frames ? &node->meta.frames[node->meta.n_frames - 1] : NULL;

      if (!frame || (file && strcmp (file, frame->file) != 0))
        continue;
      file = frame->file;
      low = MIN (low, frame->line);
      high = MAX (high, frame->line);
    }
  if (!file)
    return g_strdup_printf ("%u nodes", to - from);
  return low == high ? g_strdup_printf ("%s:%u", base_name (file), low)
                     : g_strdup_printf ("%s:%u–%u", base_name (file), low, high);
}

/* Gives cards[from … to] a row, in a frame of its own when @module is too small or too large. */
static void
append_stretch (Sorter *self, GArray *cards, guint from, guint to, guint32 module)
{
  AdjRow *row;

  if (module == 0 && to - from >= SMALL)
    {
      g_autofree char *class = name_stretch (self->census->graph, cards, from, to);
      g_autofree char *path = g_strdup_printf ("#%u", self->rows->rows->len);

      module = module_append (self->rows, path, class, 0);
    }
  row = row_append (self->rows->rows, module);
  for (guint k = from; k < to; k++)
    {
      guint32 node = g_array_index (cards, guint32, k);

      g_array_append_val (side_of_row (row, self->leading), node);
      self->rows->row_of[node] = self->rows->rows->len - 1;
    }
}

/* Where to cut a run that begins at @from: after the first place with but one live value, else the
 * place with the fewest. */
static guint
find_cut (guint from, guint to, gboolean loose, const guint *live)
{
  guint low = from + (loose ? MIN_STRETCH : MAX_STRETCH / 2);
  guint high = MIN (to - SMALL, from + (loose ? LONG_STRETCH : MAX_STRETCH));
  guint best = low;

  for (guint cut = low; cut <= high && live[best - 1] > 1; cut++)
    if (live[cut - 1] < live[best - 1])
      best = cut;
  return best;
}

/* Cuts a long run into rows. */
static void
append_cut (Sorter *self, GArray *cards, guint from, guint to, guint32 module, const guint *live)
{
  guint limit = module == 0 ? MAX_LOOSE : MAX_STRETCH;

  while (to - from > limit)
    {
      guint cut = find_cut (from, to, module == 0, live);

      append_stretch (self, cards, from, cut, module);
      from = cut;
    }
  append_stretch (self, cards, from, to, module);
}

/* Runs of nodes that stand directly in a module with inner ones, and runs too small for a frame,
 * are loose: they stand in the frame outside. */
static gboolean
run_is_loose (AdjRows *self, guint32 unit, guint length)
{
  const AdjRowsModule *module = adj_rows_module (self, unit);

  return unit == 0 || length < SMALL || module->height > 1 ||
         (module->height == 1 && module->n_cards > MAX_UNIT);
}

static guint32
frame_of_run (AdjRows *self, guint32 unit, guint length)
{
  const AdjRowsModule *module = adj_rows_module (self, unit);

  if (unit != 0 && length < SMALL &&
      (module->height == 0 || (module->height == 1 && module->n_cards <= MAX_UNIT)))
    return module->parent;
  return unit;
}

static guint32
common_module (AdjRows *self, guint32 a, guint32 b)
{
  while (a != b)
    {
      guint32 *deeper =
          adj_rows_module (self, a)->depth >= adj_rows_module (self, b)->depth ? &a : &b;

      *deeper = adj_rows_module (self, *deeper)->parent;
    }
  return a;
}

/* A few nodes without a module, between two runs of one module, belong to it. */
static void
adopt_strays (Sorter *self, const GArray *cards)
{
  guint32 before = ADJ_NO_MODULE;

  for (guint k = 0, end; k < cards->len; k = end)
    {
      guint32 unit = self->unit[g_array_index (cards, guint32, k)];

      for (end = k + 1; end < cards->len; end++)
        if (self->unit[g_array_index (cards, guint32, end)] != unit)
          break;
      if (unit == 0 && before != ADJ_NO_MODULE && end < cards->len && end - k < SMALL)
        {
          guint32 after = self->unit[g_array_index (cards, guint32, end)];

          unit = common_module (self->rows, before, after);
          for (guint i = k; i < end; i++)
            self->unit[g_array_index (cards, guint32, i)] = unit;
        }
      before = unit;
    }
}

static void
make_rows (Sorter *self)
{
  g_autoptr (GArray) cards = leading_cards (self);
  g_autofree guint *live = count_live (self, cards);
  guint start = 0;
  guint32 frame = ADJ_NO_MODULE;
  gboolean was_loose = FALSE;

  adopt_strays (self, cards);
  for (guint k = 0; k < cards->len;)
    {
      guint32 unit = self->unit[g_array_index (cards, guint32, k)], next;
      guint end = k + 1;
      gboolean loose;

      while (end < cards->len && self->unit[g_array_index (cards, guint32, end)] == unit)
        end++;
      next = frame_of_run (self->rows, unit, end - k);
      loose = run_is_loose (self->rows, unit, end - k);
      if (k > start && (next != frame || !loose || !was_loose))
        {
          append_cut (self, cards, start, k, frame, live);
          start = k;
        }
      frame = next;
      was_loose = loose;
      k = end;
    }
  if (cards->len > start)
    append_cut (self, cards, start, cards->len, frame, live);
}

static gint64
line_key (guint32 row, const AdjNode *node)
{
  const AdjFrame *frame = node->meta.n_frames ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  guint32 line = frame ? g_str_hash (frame->file) * 31 + frame->line : 0;

  return ((gint64) row << 32) | line;
}

static void
collect_lines (Sorter *self)
{
  for (guint i = 0; i < self->census->n; i++)
    if (self->rows->row_of[i] != ADJ_NO_ROW)
      {
        gint64 *key = g_new (gint64, 1);

        *key = line_key (self->rows->row_of[i], adj_graph_get_node (self->census->graph, i));
        g_hash_table_add (self->lines, key);
      }
}

static gboolean
row_has_line (const Sorter *self, guint32 row, const AdjNode *node)
{
  gint64 key = line_key (row, node);

  return node->meta.n_frames > 0 && g_hash_table_contains (self->lines, &key);
}

/* Where to put a node that names no module: backward runs up the rows, so the row where it stands
 * now or the nearest above it that has its source line, or whose values it reads. */
static guint32
row_by_lines (const Sorter *self, const AdjNode *node, guint32 now)
{
  guint32 read = ADJ_NO_ROW;

  for (guint32 row = now + 1; row-- > 0;)
    if (row_has_line (self, row, node))
      return row;
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 host = self->census->entries[node->inputs[k].index].host;
      guint32 row = self->rows->row_of[host];

      if (row != ADJ_NO_ROW && row <= now && self->census->entries[host].side == self->leading)
        read = read == ADJ_NO_ROW ? row : MAX (read, row);
    }
  return read != ADJ_NO_ROW ? read : now;
}

/* The row of @unit nearest to @now. */
static guint32
row_by_unit (const GArray *rows_of_unit, guint32 now)
{
  guint32 best = ADJ_NO_ROW;

  for (guint i = 0; rows_of_unit && i < rows_of_unit->len; i++)
    {
      guint32 row = g_array_index (rows_of_unit, guint32, i);
      guint far = row > now ? row - now : now - row;
      guint best_far = best == ADJ_NO_ROW ? G_MAXUINT : best > now ? best - now : now - best;

      if (far <= best_far)
        best = row;
    }
  return best;
}

static GPtrArray *
list_rows_of_units (const Sorter *self)
{
  GPtrArray *lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = 0; i < self->rows->modules->len; i++)
    g_ptr_array_add (lists, g_array_new (FALSE, FALSE, sizeof (guint32)));
  for (guint i = 0; i < self->census->n; i++)
    if (self->rows->row_of[i] != ADJ_NO_ROW)
      {
        GArray *list = g_ptr_array_index (lists, self->unit[i]);
        guint32 row = self->rows->row_of[i];

        if (!list->len || g_array_index (list, guint32, list->len - 1) != row)
          g_array_append_val (list, row);
      }
  return lists;
}

/* Gradients flow up: the highest row of the gradients that a node reads, or @row. */
static guint32
row_above_inputs (const Sorter *self, const AdjNode *node, guint32 row)
{
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 host = self->census->entries[node->inputs[k].index].host;

      if (is_card (self->census, host) && self->census->entries[host].side != self->leading &&
          self->rows->row_of[host] != ADJ_NO_ROW)
        row = MIN (row, self->rows->row_of[host]);
    }
  return row;
}

/* Gives every card of the other side the row of its twin, of its module, or of its source line. */
static void
place_following (Sorter *self)
{
  const AdjCensus *census = self->census;
  g_autoptr (GPtrArray) of_units = list_rows_of_units (self);
  gboolean down = self->leading == ADJ_SIDE_BACKWARD;
  guint32 now = down ? 0 : self->rows->rows->len - 1;

  for (guint32 i = 0; i < census->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (census->graph, i);
      guint32 twin = census->entries[i].twin, row = ADJ_NO_ROW;

      if (!is_card (census, i) || census->entries[i].side == self->leading)
        continue;
      if (twin != G_MAXUINT32)
        row = self->rows->row_of[census->entries[twin].host];
      if (row == ADJ_NO_ROW && self->unit[i] != 0)
        row = row_by_unit (g_ptr_array_index (of_units, self->unit[i]), now);
      if (row == ADJ_NO_ROW)
        row = down ? now : row_by_lines (self, node, now);
      if (!down)
        row = row_above_inputs (self, node, row);
      self->rows->row_of[i] = now = row;
      g_array_append_val (
          side_of_row (adj_rows_row (self->rows, row),
                       ADJ_SIDE_FORWARD == self->leading ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD),
          i);
    }
}

static gboolean
is_listed (const char *const *paths, const char *path)
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
      guint depth = self->options->fold_depth;

      if (is_listed (self->options->folded, m->path) ||
          (depth > 0 && m->depth >= depth && !is_listed (self->options->unfolded, m->path)))
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
        row = row_append (rows, closed == ADJ_NO_MODULE ? from->module : closed);
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

/* Inputs stand above everything; results, and the tangents that begin the way back, below. */
static void
add_ends (Sorter *self)
{
  const AdjCensus *census = self->census;
  GArray *rows = self->rows->rows;
  AdjRow top = { 0 };

  top.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
  top.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
  row_append (rows, 0);
  for (guint32 i = 0; i < census->n; i++)
    {
      const AdjCensusEntry *entry = &census->entries[i];
      AdjRow *bottom = &g_array_index (rows, AdjRow, rows->len - 1);

      if (entry->host != i)
        continue;
      if (entry->kind == ADJ_CENSUS_OUTPUT && !census->only_backward)
        g_array_append_val (bottom->nodes[0], i);
      else if (entry->kind == ADJ_CENSUS_PILL && !census->one_column &&
               adj_census_is_tangent (census->graph, i))
        g_array_append_val (bottom->nodes[entry->side == ADJ_SIDE_BACKWARD], i);
      else if (entry->kind == ADJ_CENSUS_PILL)
        g_array_append_val (top.nodes[0], i);
      else if (entry->kind == ADJ_CENSUS_OUTPUT)
        g_array_append_val (top.nodes[1], i);
    }
  if (any_nodes (&top))
    g_array_prepend_val (rows, top);
  else
    row_clear (&top);
  if (!any_nodes (&g_array_index (rows, AdjRow, rows->len - 1)))
    g_array_set_size (rows, rows->len - 1);
}

/* Everything in one row without frames. */
static void
make_one_row (Sorter *self)
{
  AdjRow *row = row_append (self->rows->rows, 0);

  for (guint32 i = 0; i < self->census->n; i++)
    {
      const AdjCensusEntry *entry = &self->census->entries[i];

      if (entry->host == i && entry->kind != ADJ_CENSUS_CHIP && entry->kind != ADJ_CENSUS_HIDDEN)
        g_array_append_val (row->nodes[0], i);
    }
}

static void
make_rows_by_module (Sorter *self)
{
  find_units (self);
  make_rows (self);
  if (self->rows->rows->len == 0)
    row_append (self->rows->rows, 0);
  collect_lines (self);
  place_following (self);
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

/* The side with more to tell leads, unless there is no telling. */
static AdjSide
leading_side (const AdjCensus *census)
{
  return census->only_backward ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
}

AdjRows *
adj_rows_new (const AdjCensus *census, const AdjLayoutOptions *options)
{
  AdjRows *rows = g_new0 (AdjRows, 1);
  Sorter sorter = { .census = census, .options = options, .rows = rows };

  rows->texts = adj_arena_new ();
  rows->modules = g_array_new (FALSE, FALSE, sizeof (AdjRowsModule));
  rows->rows = g_array_new (FALSE, FALSE, sizeof (AdjRow));
  g_array_set_clear_func (rows->rows, row_clear);
  rows->row_of = g_new (guint32, MAX (census->n, 1));
  memset (rows->row_of, 0xff, sizeof (guint32) * census->n);
  module_append (rows, "", "", ADJ_NO_MODULE);

  sorter.by_path = g_hash_table_new (g_str_hash, g_str_equal);
  sorter.lines = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  sorter.unit = g_new0 (guint32, MAX (census->n, 1));
  sorter.leading = leading_side (census);

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

void
adj_rows_free (AdjRows *rows)
{
  g_array_unref (rows->modules);
  g_array_unref (rows->rows);
  adj_arena_free (rows->texts);
  g_free (rows->row_of);
  g_free (rows);
}
