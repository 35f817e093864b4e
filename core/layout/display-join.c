/* SPDX-License-Identifier: MIT */
/* One display list of several stages: what any of them shows has a place, and one of them is shown.
 *
 * Rows are the same when they are the same row of the same module.  Cards of the same half of a row
 * are the same when they do the same in the same order: of all ways to lay two of these beside each
 * other the one with most names and shapes in common is taken.  What only other stages have is
 * absent: it is laid out and not drawn.  So the cards that two stages have stand in one place. */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/display-list-private.h"

/* A row of the joined list, and who had it first. */
typedef struct
{
  char *key;
  const AdjRows *from;
  guint32 row;
} JoinedRow;

/* An item of the joined list, and what it is in the list that had it first. */
typedef struct
{
  AdjDisplayItem item;
  const AdjNode *node; /* (nullable): of a closed module */
  const char *subtitle;
} JoinedItem;

typedef struct
{
  AdjDisplayList *const *lists;
  guint n, shown;
  GPtrArray *rows;     /* of JoinedRow */
  guint32 **row_of;    /* of each row of each list */
  GPtrArray *halves;   /* of GArray of guint32, of each row and side: items, in order */
  GArray *items;       /* of JoinedItem, as they were found */
  guint32 **item_of;   /* of each item of each list */
  GHashTable *modules; /* path → module + 1 */
  AdjRows *joined_rows;
  guint32 *place; /* of each item, in the joined list */
} Joining;

static void
row_free (gpointer data)
{
  g_free (((JoinedRow *) data)->key);
  g_free (data);
}

/* -- rows -- */

static gboolean
has_ends (const AdjDisplayList *list, guint32 r)
{
  const AdjRow *row = adj_rows_row (list->rows, r);

  for (guint s = 0; s < 2; s++)
    for (guint k = 0; k < row->nodes[s]->len; k++)
      if (list->roles->entries[g_array_index (row->nodes[s], guint32, k)].kind !=
          ADJ_NODE_ROLE_CARD)
        return TRUE;
  return FALSE;
}

/* Inputs stand above everything and results below, whatever is between. */
static char *
make_row_key (const AdjDisplayList *list, guint32 r, GHashTable *counts)
{
  const AdjRow *row = adj_rows_row (list->rows, r);
  const char *path = adj_rows_module (list->rows, row->module)->path;
  guint n;

  if (row->module == 0 && r == 0 && has_ends (list, r))
    return g_strdup ("first");
  if (row->module == 0 && r + 1 == list->rows->rows->len && has_ends (list, r))
    return g_strdup ("last");
  n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, path));
  g_hash_table_insert (counts, (gpointer) path, GUINT_TO_POINTER (n + 1));
  return g_strdup_printf ("%u %d %s", n, row->closed, path);
}

static guint
find_row (const Joining *self, const char *key, guint from)
{
  guint n = self->rows->len;

  for (guint k = 0; k < n; k++)
    {
      const JoinedRow *row = self->rows->pdata[(from + k) % n];

      if (strcmp (row->key, key) == 0)
        return (from + k) % n;
    }
  return G_MAXUINT;
}

/* A row that none had before stands behind the one before it. */
static void
add_rows (Joining *self, const AdjDisplayList *list)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);
  guint at = 0;

  for (guint32 r = 0; r < list->rows->rows->len; r++)
    {
      g_autofree char *key = make_row_key (list, r, counts);
      guint found = find_row (self, key, at);

      if (found == G_MAXUINT)
        {
          JoinedRow *row = g_new (JoinedRow, 1);

          *row = (JoinedRow){ g_steal_pointer (&key), list->rows, r };
          g_ptr_array_insert (self->rows, (gint) at, row);
          found = at;
        }
      at = MAX (at, found + 1);
    }
}

static void
number_rows (Joining *self)
{
  for (guint m = 0; m < self->n; m++)
    {
      const AdjRows *rows = self->lists[m]->rows;
      g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);

      self->row_of[m] = g_new (guint32, MAX (rows->rows->len, 1));
      for (guint32 r = 0, at = 0; r < rows->rows->len; r++)
        {
          g_autofree char *key = make_row_key (self->lists[m], r, counts);

          at = find_row (self, key, at);
          self->row_of[m][r] = at;
        }
    }
}

/* Its numbers are those of the list that is shown. */
static guint32
add_module (Joining *self, const AdjRows *rows, guint32 index)
{
  AdjRows *joined = self->joined_rows;
  AdjRowsModule module = *adj_rows_module (rows, index);
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (self->modules, module.path));

  if (found > 0)
    return found - 1;
  if (module.parent != ADJ_NO_MODULE)
    module.parent = add_module (self, rows, module.parent);
  if (rows != self->lists[self->shown]->rows)
    module.n_nodes[0] = module.n_nodes[1] = 0;
  g_array_append_val (joined->modules, module);
  g_hash_table_insert (self->modules, (gpointer) module.path,
                       GUINT_TO_POINTER (joined->modules->len));
  return joined->modules->len - 1;
}

static void
clear_row (gpointer data)
{
  AdjRow *row = data;

  g_array_unref (row->nodes[0]);
  g_array_unref (row->nodes[1]);
}

static void
make_rows (Joining *self)
{
  AdjRows *joined = self->joined_rows = g_new0 (AdjRows, 1);
  const AdjRows *shown = self->lists[self->shown]->rows;

  joined->texts = adj_arena_new ();
  joined->modules = g_array_new (FALSE, FALSE, sizeof (AdjRowsModule));
  joined->rows = g_array_new (FALSE, FALSE, sizeof (AdjRow));
  g_array_set_clear_func (joined->rows, clear_row);
  for (guint32 m = 0; m < shown->modules->len; m++)
    add_module (self, shown, m);
  for (guint r = 0; r < self->rows->len; r++)
    {
      const JoinedRow *from = self->rows->pdata[r];
      AdjRow row = *adj_rows_row (from->from, from->row);

      row.module = add_module (self, from->from, row.module);
      row.nodes[0] = g_array_new (FALSE, FALSE, sizeof (guint32));
      row.nodes[1] = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_val (joined->rows, row);
    }
}

/* -- items -- */

static const AdjNode *
node_of_item (const AdjDisplayList *list, const AdjDisplayItem *item)
{
  return adj_node_id_is_valid (item->node) ? adj_display_list_node (list, item->node.index) : NULL;
}

/* How much is in common; 0: they are not the same. */
static guint
compare (const JoinedItem *known, const AdjDisplayList *list, const AdjDisplayItem *item)
{
  const AdjNode *node = node_of_item (list, item);
  gboolean copy = item->role == ADJ_ROLE_RECOMPUTE_COPY;

  if (known->node == NULL || node == NULL)
    return known->node == node;
  if (g_strcmp0 (known->node->target, node->target) != 0 || known->node->opcode != node->opcode ||
      (known->item.role == ADJ_ROLE_RECOMPUTE_COPY) != copy)
    return 0;
  return 1 + 2 * (strcmp (known->subtitle, item->subtitle) == 0) +
         (strcmp (known->node->name, node->name) == 0);
}

/* What is larger has the larger place. */
static void
widen (AdjDisplayItem *item, const AdjDisplayItem *other)
{
  item->width = MAX (item->width, other->width);
  item->height = MAX (item->height, other->height);
  for (guint s = 0; s < 2; s++)
    item->chips_width[s] = MAX (item->chips_width[s], other->chips_width[s]);
}

/* As if it were there, without anything in it. */
static AdjDisplayItem
make_absent (const AdjDisplayItem *item)
{
  AdjDisplayItem absent = *item;

  absent.absent = TRUE;
  absent.node = ADJ_NO_NODE;
  absent.title = absent.subtitle = "";
  absent.n_nodes = absent.n_read = absent.n_recomputed = 0;
  absent.bytes = -1;
  absent.kept = 0;
  absent.n_chips[0] = absent.n_chips[1] = 0;
  return absent;
}

/* An item that none had before. */
static guint32
append_item (Joining *self, guint m, const AdjDisplayItem *item, guint half)
{
  JoinedItem fresh = { .item = make_absent (item),
                       .node = node_of_item (self->lists[m], item),
                       .subtitle = item->subtitle };

  fresh.item.row = half / 2;
  g_array_append_val (self->items, fresh);
  return self->items->len - 1;
}

static void
put_item (Joining *self, guint m, guint32 i, guint32 joined)
{
  AdjDisplayItem *at = &g_array_index (self->items, JoinedItem, joined).item;
  AdjDisplayItem before = *at;

  self->item_of[m][i] = joined;
  if (m == self->shown)
    {
      *at = *adj_display_item (self->lists[m], i);
      at->row = before.row;
    }
  widen (at, m == self->shown ? &before : adj_display_item (self->lists[m], i));
}

/* Lays the items @from … of a half beside those that the joined list has of it, in order. */
static void
join_half (Joining *self, guint m, guint32 from, guint n, guint half)
{
  const AdjDisplayList *list = self->lists[m];
  GArray *known = self->halves->pdata[half];
  GArray *order = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint width = n + 1, a = 0, b = 0;
  g_autofree guint *best = g_new0 (guint, (known->len + 1) * width);

#define KNOWN(k) (&g_array_index (self->items, JoinedItem, g_array_index (known, guint32, k)))
#define BEST(k, i) best[(k) *width + (i)]
  for (guint k = known->len; k-- > 0;)
    for (guint i = n; i-- > 0;)
      {
        guint same = compare (KNOWN (k), list, adj_display_item (list, from + i));

        BEST (k, i) = MAX (BEST (k + 1, i), BEST (k, i + 1));
        if (same > 0)
          BEST (k, i) = MAX (BEST (k, i), same + BEST (k + 1, i + 1));
      }
  while (a < known->len || b < n)
    {
      guint32 joined = a < known->len ? g_array_index (known, guint32, a) : ADJ_NO_BOX;

      if (a < known->len && (b == n || BEST (a, b) == BEST (a + 1, b)))
        a++;
      else if (a == known->len || BEST (a, b) == BEST (a, b + 1))
        {
          joined = append_item (self, m, adj_display_item (list, from + b), half);
          put_item (self, m, from + b++, joined);
        }
      else
        {
          put_item (self, m, from + b++, joined);
          a++;
        }
      g_array_append_val (order, joined);
    }
#undef KNOWN
#undef BEST
  g_array_unref (known);
  self->halves->pdata[half] = order;
}

static void
add_items (Joining *self, guint m)
{
  const AdjDisplayList *list = self->lists[m];

  self->item_of[m] = g_new (guint32, MAX (list->items->len, 1));
  for (guint32 from = 0, to; from < list->items->len; from = to)
    {
      const AdjDisplayItem *item = adj_display_item (list, from);

      for (to = from + 1; to < list->items->len; to++)
        if (adj_display_item (list, to)->row != item->row ||
            adj_display_item (list, to)->side != item->side)
          break;
      join_half (self, m, from, to - from,
                 2 * self->row_of[m][item->row] + (item->side == ADJ_SIDE_BACKWARD));
    }
}

static void
number_items (Joining *self)
{
  guint32 place = 0;

  self->place = g_new (guint32, MAX (self->items->len, 1));
  for (guint h = 0; h < self->halves->len; h++)
    for (guint k = 0; k < ((GArray *) self->halves->pdata[h])->len; k++)
      self->place[g_array_index ((GArray *) self->halves->pdata[h], guint32, k)] = place++;
}

/* -- links -- */

static gint
by_ends (gconstpointer a, gconstpointer b)
{
  const AdjDisplayLink *x = a, *y = b;

  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return x->absent - y->absent;
}

/* The links of all lists, each once: as it is shown, if it is. */
static GArray *
collect_links (const Joining *self)
{
  GArray *links = g_array_new (FALSE, TRUE, sizeof (AdjDisplayLink));
  guint n = 0;

  for (guint m = 0; m < self->n; m++)
    for (guint l = 0; l < self->lists[m]->links->len; l++)
      {
        AdjDisplayLink link = *adj_display_link (self->lists[m], l);

        link.from = self->place[self->item_of[m][link.from]];
        link.to = self->place[self->item_of[m][link.to]];
        link.absent = m != self->shown;
        if (link.absent)
          link.value = ADJ_NO_NODE;
        g_array_append_val (links, link);
      }
  g_array_sort (links, by_ends);
  for (guint k = 0; k < links->len; k++)
    {
      const AdjDisplayLink *link = &g_array_index (links, AdjDisplayLink, k);
      const AdjDisplayLink *before = n ? &g_array_index (links, AdjDisplayLink, n - 1) : NULL;

      if (before == NULL || before->from != link->from || before->to != link->to)
        g_array_index (links, AdjDisplayLink, n++) = *link;
    }
  g_array_set_size (links, n);
  return links;
}

/* -- the list -- */

static AdjDisplayList *
make_list (const Joining *self)
{
  const AdjDisplayList *shown = self->lists[self->shown];
  AdjDisplayList *list = g_new0 (AdjDisplayList, 1);
  guint n = self->items->len;

  *list = *shown;
  list->rows = self->joined_rows;
  list->texts = adj_arena_new ();
  list->items = g_array_sized_new (FALSE, TRUE, sizeof (AdjDisplayItem), n);
  g_array_set_size (list->items, n);
  for (guint i = 0; i < n; i++)
    *adj_display_item (list, self->place[i]) = g_array_index (self->items, JoinedItem, i).item;
  list->n_above = list->n_far_readers = list->n_far_makers = NULL;
  list->links = collect_links (self);
  list->chips = g_array_ref (shown->chips);
  list->item_of = g_memdup2 (shown->item_of, sizeof (guint32) * MAX (shown->roles->n, 1));
  list->chip_of = g_memdup2 (shown->chip_of, sizeof (guint32) * MAX (shown->roles->n, 1));
  for (guint32 i = 0; i < shown->roles->n; i++)
    if (list->item_of[i] != ADJ_NO_BOX)
      list->item_of[i] = self->place[self->item_of[self->shown][list->item_of[i]]];
  for (guint m = 0; m < self->n; m++)
    list->widest_bridge = MAX (list->widest_bridge, self->lists[m]->widest_bridge);
  return list;
}

AdjDisplayList *
display_list_join (AdjDisplayList *const *lists, guint n, guint shown, AdjRows **rows)
{
  Joining self = { .lists = lists, .n = n, .shown = shown };
  AdjDisplayList *list;

  self.rows = g_ptr_array_new_with_free_func (row_free);
  self.row_of = g_new0 (guint32 *, n);
  self.item_of = g_new0 (guint32 *, n);
  self.modules = g_hash_table_new (g_str_hash, g_str_equal);
  self.items = g_array_new (FALSE, TRUE, sizeof (JoinedItem));
  self.halves = g_ptr_array_new ();
  for (guint m = 0; m < n; m++)
    add_rows (&self, lists[m]);
  number_rows (&self);
  make_rows (&self);
  for (guint h = 0; h < 2 * self.rows->len; h++)
    g_ptr_array_add (self.halves, g_array_new (FALSE, FALSE, sizeof (guint32)));
  for (guint m = 0; m < n; m++)
    add_items (&self, m);
  number_items (&self);
  list = make_list (&self);
  *rows = self.joined_rows;
  for (guint m = 0; m < n; m++)
    {
      g_free (self.row_of[m]);
      g_free (self.item_of[m]);
    }
  for (guint h = 0; h < self.halves->len; h++)
    g_array_unref (self.halves->pdata[h]);
  g_free (self.row_of);
  g_free (self.item_of);
  g_free (self.place);
  g_ptr_array_unref (self.rows);
  g_ptr_array_unref (self.halves);
  g_array_unref (self.items);
  g_hash_table_unref (self.modules);
  return list;
}
