/* SPDX-License-Identifier: MIT */

/* Sorting along one dim: runs merged pairwise, which keeps equal elements in order. */

#include <stdlib.h>
#include <string.h>

#include "adj-kernel-sort.h"

typedef struct
{
  union
  {
    double f; /* also for 16 and 32 bits: a double represents all their values */
    int64_t i;
  } key;
  int64_t index;
} Item;

typedef bool (*Before) (const Item *a, const Item *b);

static bool
before_f_up (const Item *a, const Item *b)
{
  return a->key.f < b->key.f || (b->key.f != b->key.f && a->key.f == a->key.f);
}

static bool
before_f_down (const Item *a, const Item *b)
{
  return before_f_up (b, a);
}

static bool
before_i_up (const Item *a, const Item *b)
{
  return a->key.i < b->key.i;
}

static bool
before_i_down (const Item *a, const Item *b)
{
  return a->key.i > b->key.i;
}

/* Merges [0, middle) and [middle, n) of @from into @to. */
static void
merge (Item *to, const Item *from, int64_t middle, int64_t n, Before before)
{
  int64_t a = 0, b = middle;

  for (int64_t i = 0; i < n; i++)
    if (b == n || (a < middle && !before (&from[b], &from[a])))
      to[i] = from[a++];
    else
      to[i] = from[b++];
}

/* Sorts @items with @spare as buffer; returns which of the two has the result. */
static Item *
sort_items (Item *items, Item *spare, int64_t n, Before before)
{
  for (int64_t run = 1; run < n; run *= 2)
    {
      Item *swap = items;

      for (int64_t at = 0; at < n; at += 2 * run)
        {
          int64_t length = 2 * run < n - at ? 2 * run : n - at;

          merge (spare + at, items + at, run < length ? run : length, length, before);
        }
      items = spare;
      spare = swap;
    }
  return items;
}

/* Row @row of @view along @dim; rows count in row-major order of the other dims. */
static AdjKView
row_of (const AdjKView *view, int dim, int64_t row)
{
  AdjKView out = { .type = view->type, .rank = 1 };
  int64_t offset = 0;

  for (int d = view->rank - 1; d >= 0; d--)
    if (d != dim)
      {
        offset += row % view->size[d] * view->stride[d];
        row /= view->size[d];
      }
  out.data = (char *) view->data + (size_t) offset * adj_k_type_get_size (view->type);
  out.size[0] = view->size[dim];
  out.stride[0] = view->stride[dim];
  return out;
}

/* The keys, or the indices, of items as a view. */
static AdjKView
items_view (void *first, AdjKType type, int64_t n)
{
  return (AdjKView){ .data = first, .type = type, .rank = 1, .size = { n }, .stride = { 2 } };
}

_Static_assert(sizeof (Item) == 16, "an item is two words, so that views can step over one");

bool
adj_k_sort (
    const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim, bool descending)
{
  AdjKType type = adj_k_type_is_float (in->type) ? ADJ_K_F64 : ADJ_K_I64;
  int64_t n = in->size[dim], k = values->size[dim];
  int64_t n_rows = n > 0 ? adj_k_view_count (in) / n : 0;
  Before before = type == ADJ_K_F64 ? (descending ? before_f_down : before_f_up)
                                    : (descending ? before_i_down : before_i_up);
  Item *items;

  if (n_rows == 0)
    return true;
  if ((size_t) n > SIZE_MAX / (2 * sizeof *items))
    return false;
  items = malloc (2 * (size_t) n * sizeof *items);
  if (items == NULL)
    return false;
  for (int64_t row = 0; row < n_rows; row++)
    {
      AdjKView from = row_of (in, dim, row);
      AdjKView to = row_of (values, dim, row);
      AdjKView to_index = row_of (indices, dim, row);
      AdjKView keys = items_view (&items->key, type, n);
      AdjKView places;
      Item *sorted;

      adj_k_copy (&keys, &from);
      for (int64_t i = 0; i < n; i++)
        items[i].index = i;
      sorted = sort_items (items, items + n, n, before);
      keys = items_view (&sorted->key, type, k);
      places = items_view (&sorted->index, ADJ_K_I64, k);
      adj_k_copy (&to, &keys);
      adj_k_copy (&to_index, &places);
    }
  free (items);
  return true;
}
