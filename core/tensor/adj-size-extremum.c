/* SPDX-License-Identifier: MIT */

/* Max and Min of any number of sizes: a chain, MAX (MAX (a, b), c), of the operands that ranges do
 * not rule out, in the order in which sympy prints it. */

#include "tensor/adj-symbols-private.h"

/* The sort key of arguments in sympy, most significant member first. */
typedef struct
{
  gint kind; /* a number, a symbol, a product, a sum, a function */
  guint n_parts;
  AdjSize base;
  gint64 exponent, factor;
} Key;

static guint
count_parts (const AdjSymbols *symbols, AdjSize size, AdjSizeOp op)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  return node != NULL && node->op == op
             ? count_parts (symbols, node->a, op) + count_parts (symbols, node->b, op)
             : 1;
}

static Key
key_of (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);
  Key key = { .base = size, .exponent = 1, .factor = 1 };

  if (node != NULL && node->op == ADJ_SIZE_MUL && adj_size_is_int (node->a))
    {
      key.factor = node->a.word;
      key.base = node->b;
      node = adj_symbols_node (symbols, key.base);
    }
  if (node != NULL && node->op == ADJ_SIZE_POW && adj_size_is_int (node->b))
    {
      key.exponent = node->b.word;
      key.base = node->a;
      node = adj_symbols_node (symbols, key.base);
    }
  if (node == NULL)
    key.factor = key.base.word;
  else if (node->op == ADJ_SIZE_SYMBOL)
    key.kind = 1;
  else
    key.kind = node->op == ADJ_SIZE_MUL ? 2 : node->op == ADJ_SIZE_ADD ? 3 : 4;
  key.n_parts = node != NULL ? count_parts (symbols, key.base, node->op) : 0;
  return key;
}

static gint
order_arguments (gconstpointer a, gconstpointer b, gpointer data)
{
  const AdjSymbols *symbols = data;
  const AdjSize *x = a, *y = b;
  Key kx = key_of (symbols, *x), ky = key_of (symbols, *y);

  if (kx.kind != ky.kind)
    return kx.kind - ky.kind;
  if (kx.n_parts != ky.n_parts)
    return kx.n_parts < ky.n_parts ? -1 : 1;
  if (kx.kind > 0 && !adj_size_same (kx.base, ky.base))
    return adj_symbols_order (symbols, kx.base, ky.base);
  if (kx.exponent != ky.exponent)
    return kx.exponent < ky.exponent ? -1 : 1;
  return (kx.factor > ky.factor) - (kx.factor < ky.factor);
}

/* Whether a lower bound of @node follows from those of its operands, not just a sign. */
static gboolean
is_monotonic (const AdjSizeNode *node)
{
  return node->op == ADJ_SIZE_ADD || node->op == ADJ_SIZE_MUL || node->op == ADJ_SIZE_POW ||
         node->op == ADJ_SIZE_MAX;
}

/* A lower bound of @size that uses only the signs of symbols (positive or not negative), as sympy
 * does; quotients and remainders are only known to be not negative. */
static gint64
least_by_sign (AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);
  gint64 a, b, least = G_MININT64;

  if (node == NULL)
    return size.word;
  if (node->op == ADJ_SIZE_SYMBOL)
    {
      gint64 min = adj_symbols_range (symbols, size).min;

      return min >= 0 ? MIN (min, 1) : G_MININT64;
    }
  if (!is_monotonic (node) && node->op != ADJ_SIZE_FLOORDIV && node->op != ADJ_SIZE_MOD)
    return G_MININT64;
  a = least_by_sign (symbols, node->a);
  b = least_by_sign (symbols, node->b);
  if (!is_monotonic (node))
    return a >= 0 && b >= 0 ? 0 : G_MININT64;
  if (node->op == ADJ_SIZE_MAX)
    return MAX (a, b);
  if (node->op == ADJ_SIZE_ADD && a != G_MININT64 && b != G_MININT64)
    return __builtin_add_overflow (a, b, &least) ? G_MININT64 : least;
  if (node->op == ADJ_SIZE_MUL && a >= 0 && b >= 0)
    return __builtin_mul_overflow (a, b, &least) ? G_MININT64 : least;
  return node->op == ADJ_SIZE_POW && a >= 0 && b >= 0 ? MIN (a, 1) : G_MININT64;
}

static AdjRange
known_range (AdjSymbols *symbols, AdjSize size)
{
  if (!symbols->by_sign || adj_size_is_int (size))
    return adj_symbols_range (symbols, size);
  return (AdjRange){ least_by_sign (symbols, size), G_MAXINT64 };
}

/* Whether the range of @a is never beyond that of @b in the direction of @op, so that @b decides.
 */
static gboolean
is_decided (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  AdjRange ra = known_range (symbols, a), rb = known_range (symbols, b);

  return adj_size_same (a, b) || (op == ADJ_SIZE_MAX ? rb.min >= ra.max : rb.max <= ra.min);
}

/* Adds the operands of @size, an extremum. A large one is added whole: taking it apart each time
 * would make building one of n operands O(n³). */
static void
collect (AdjSymbols *symbols, AdjSizeOp op, AdjSize size, GArray *parts)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node != NULL && node->op == op && node->n_nodes <= 128)
    {
      AdjSize last = node->b;

      collect (symbols, op, node->a, parts);
      collect (symbols, op, last, parts);
      return;
    }
  for (guint i = parts->len; i-- > 0;)
    {
      AdjSize known = g_array_index (parts, AdjSize, i);

      if (is_decided (symbols, op, size, known))
        return;
      if (is_decided (symbols, op, known, size))
        g_array_remove_index (parts, i);
    }
  g_array_append_val (parts, size);
}

AdjSize
adj_size_extremum (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (AdjSize));
  AdjSize result;

  collect (symbols, op, a, parts);
  collect (symbols, op, b, parts);
  g_array_sort_with_data (parts, order_arguments, symbols);
  result = g_array_index (parts, AdjSize, 0);
  for (guint i = 1; i < parts->len; i++)
    result = adj_symbols_intern (symbols, op, result, g_array_index (parts, AdjSize, i));
  return result;
}
