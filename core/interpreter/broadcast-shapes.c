/* SPDX-License-Identifier: MIT */
/* torch.broadcast_shapes: the sizes that several sizes broadcast to. */

#include "interpreter/builtins-private.h"
#include "tensor/adj-shape.h"
#include "tensor/adj-symbols.h"

typedef struct
{
  AdjSymbols *symbols;
  AdjSize sizes[ADJ_MAX_RANK]; /* in reverse order */
  guint rank;
} Broadcast;

static gboolean
add_size (Broadcast *all, guint from_end, AdjSize size)
{
  AdjSize *own;

  if (from_end >= ADJ_MAX_RANK)
    return FALSE;
  own = &all->sizes[from_end];
  while (all->rank <= from_end)
    all->sizes[all->rank++] = ADJ_SIZE (1);
  if (adj_size_same (*own, size) || adj_size_test (all->symbols, ADJ_SIZE_EQ, size, ADJ_SIZE (1)))
    return TRUE;
  if (!adj_size_test (all->symbols, ADJ_SIZE_EQ, *own, ADJ_SIZE (1)))
    return adj_size_test (all->symbols, ADJ_SIZE_EQ, *own, size);
  *own = size;
  return TRUE;
}

static gboolean
add_sizes (Broadcast *all, const AdjValue *value)
{
  AdjSize size;

  if (adj_value_get_size (value, &size))
    return add_size (all, 0, size);
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    if (!adj_value_get_size (&value->items[i], &size) || !add_size (all, value->n - 1 - i, size))
      return FALSE;
  return adj_value_is_container (value);
}

/* torch.broadcast_shapes (shape, shape, …) */
gboolean
adj_builtin_broadcast_shapes (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  Broadcast all = { .symbols = adj_context_get_symbols (cx) };
  AdjValue items[ADJ_MAX_RANK];

  *out = ADJ_NONE;
  for (guint i = 0; i < n_args; i++)
    if (!add_sizes (&all, &args[i]))
      return adj_builtin_fail (cx, "torch.broadcast_shapes: shape %u does not fit the ones before",
                               i);
  for (guint i = 0; i < all.rank; i++)
    items[i] = adj_value_from_size (all.sizes[all.rank - 1 - i]);
  *out = adj_value_new_items (ADJ_VALUE_TUPLE, items, all.rank);
  return TRUE;
}
