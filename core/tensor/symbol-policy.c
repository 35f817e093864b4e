/* SPDX-License-Identifier: MIT */

/* Symbols made for a program that is being traced, and the bounds learned for them (tensor/SPEC.md
 * §5.2, tensor/SPEC.md §5.3). */

#include "tensor/adj-symbols-internal.h"
#include "tensor/adj-symbols-private.h"

/* Adds the symbol "s0", or the first free number. */
static AdjSize
add (AdjSymbols *symbols, const char *prefix, AdjSymbol *symbol)
{
  for (guint i = 0;; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s%u", prefix, i);

      if (adj_symbols_find (symbols, name) != NULL)
        continue;
      symbol->name = name;
      return adj_symbols_define (symbols, symbol);
    }
}

/* The symbol of an earlier size with this hint; 0 when there is none. */
static AdjSize
find_duck (const AdjSymbols *symbols, gint64 hint)
{
  for (guint i = 0; i < adj_symbols_get_n (symbols); i++)
    {
      const AdjSymbol *symbol = adj_symbols_get (symbols, i);

      if (symbol->hint == hint && symbol->min == 2 && symbol->max == G_MAXINT64)
        return g_array_index (symbols->symbol_nodes, AdjSize, i);
    }
  return ADJ_SIZE (0);
}

AdjSize
adj_symbols_add_size (AdjSymbols *symbols, AdjSizePolicy policy, gint64 hint, const char *source)
{
  AdjSymbol symbol = { .hint = hint, .min = 2, .max = G_MAXINT64, .source = source };
  AdjSize duck;

  g_return_val_if_fail (symbols != NULL, ADJ_SIZE (hint));

  if (policy == ADJ_SIZES_UNSPECIFIED)
    {
      symbol.min = G_MININT64;
      return add (symbols, "s", &symbol);
    }
  if (policy == ADJ_SIZES_STATIC || hint == 0 || hint == 1)
    return ADJ_SIZE (hint);
  duck = policy == ADJ_SIZES_DUCK ? find_duck (symbols, hint) : ADJ_SIZE (0);
  return adj_size_is_int (duck) ? add (symbols, "s", &symbol) : duck;
}

AdjSize
adj_symbols_add_unbacked (AdjSymbols *symbols, gint64 min, gint64 max, const char *source)
{
  AdjSymbol symbol = { .hint = ADJ_SYMBOL_UNBACKED, .min = min, .max = max, .source = source };

  g_return_val_if_fail (symbols != NULL, ADJ_SIZE (0));

  return add (symbols, "u", &symbol);
}

AdjSize
adj_symbols_add_unbacked_float (AdjSymbols *symbols, const char *source)
{
  AdjSymbol symbol = {
    .hint = ADJ_SYMBOL_UNBACKED, .min = G_MININT64, .max = G_MAXINT64, .source = source
  };

  g_return_val_if_fail (symbols != NULL, ADJ_SIZE (0));

  return add (symbols, "zuf", &symbol);
}

static gboolean
names_float (const char *name)
{
  return g_str_has_prefix (name, "zuf") || g_str_has_prefix (name, "zf");
}

gboolean
adj_symbols_have_data (const AdjSymbols *symbols)
{
  for (guint i = 0; i < adj_symbols_get_n (symbols); i++)
    {
      const char *name = adj_symbols_get (symbols, i)->name;

      if (names_float (name) || (name[0] == 'u' && g_ascii_isdigit (name[1])))
        return TRUE;
    }
  return FALSE;
}

gboolean
adj_symbols_is_float (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node;

  if (adj_size_is_int (size))
    return FALSE;
  node = adj_symbols_node (symbols, size);
  return node != NULL && node->op == ADJ_SIZE_SYMBOL &&
         names_float (adj_symbols_get (symbols, node->symbol)->name);
}

/* -- What becomes known ------------------------------------------------------------------------ */

static void
set_range (AdjSymbols *symbols, guint index, gint64 min, gint64 max)
{
  AdjSymbol entry = *adj_symbols_get (symbols, index);

  entry.min = min;
  entry.max = max;
  symbols->n_pinned += min == max;
  adj_symbols_define (symbols, &entry);
}

gboolean
adj_symbols_restrict (AdjSymbols *symbols, AdjSize size, gint64 min, gint64 max)
{
  const AdjSizeNode *node;
  AdjRange range;

  g_return_val_if_fail (symbols != NULL, FALSE);

  size = adj_symbols_unspell (symbols, size);
  range = adj_symbols_range (symbols, size);
  min = MAX (min, range.min);
  max = MIN (max, range.max);
  if (min > max)
    return FALSE;
  node = adj_symbols_node (symbols, size);
  if (node != NULL && node->op == ADJ_SIZE_SYMBOL)
    set_range (symbols, node->symbol, min, max);
  return TRUE;
}

/* Records @symbol @op @bound. */
static gboolean
assume_bound (AdjSymbols *symbols, AdjSizeOp op, AdjSize symbol, gint64 bound)
{
  if (op == ADJ_SIZE_EQ)
    return adj_symbols_restrict (symbols, symbol, bound, bound);
  if (op == ADJ_SIZE_LT || op == ADJ_SIZE_LE)
    return adj_symbols_restrict (symbols, symbol, G_MININT64, bound - (op == ADJ_SIZE_LT));
  if (op == ADJ_SIZE_GT || op == ADJ_SIZE_GE)
    return adj_symbols_restrict (symbols, symbol, bound + (op == ADJ_SIZE_GT), G_MAXINT64);
  return TRUE;
}

static AdjSizeOp
turn_around (AdjSizeOp op)
{
  static const AdjSizeOp turned[ADJ_N_SIZE_OPS] = {
    [ADJ_SIZE_EQ] = ADJ_SIZE_EQ, [ADJ_SIZE_NE] = ADJ_SIZE_NE, [ADJ_SIZE_LT] = ADJ_SIZE_GT,
    [ADJ_SIZE_LE] = ADJ_SIZE_GE, [ADJ_SIZE_GT] = ADJ_SIZE_LT, [ADJ_SIZE_GE] = ADJ_SIZE_LE,
  };

  return turned[op];
}

gboolean
adj_symbols_assume (AdjSymbols *symbols, AdjSize condition)
{
  AdjRange range = adj_symbols_range (symbols, condition);
  AdjSizeOp op;
  AdjSize a, b;

  if (range.min == range.max)
    return range.min != 0;
  if (!adj_symbols_get_operands (symbols, condition, &op, &a, &b) || op < ADJ_SIZE_EQ ||
      op > ADJ_SIZE_GE)
    return TRUE;
  if (adj_size_is_int (b))
    return assume_bound (symbols, op, a, b.word);
  if (adj_size_is_int (a))
    return assume_bound (symbols, turn_around (op), b, a.word);
  return TRUE;
}

void
adj_symbols_pin (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  g_auto (AdjLinear) linear = { 0 };
  const AdjSizeNode *node = NULL;
  const AdjTerm *term;

  adj_linear_init (&linear);
  if (!adj_linear_add (symbols, &linear, a, 1) || !adj_linear_add (symbols, &linear, b, -1) ||
      linear.terms->len != 1)
    return;
  term = &g_array_index (linear.terms, AdjTerm, 0);
  node = adj_symbols_node (symbols, term->product);
  if (node != NULL && node->op == ADJ_SIZE_SYMBOL && linear.constant % term->factor == 0)
    set_range (symbols, node->symbol, -linear.constant / term->factor,
               -linear.constant / term->factor);
}

AdjSize
adj_symbols_simplify (AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = NULL;
  AdjSize a, b, simple;
  AdjRange range;

  if (adj_size_is_int (size) || symbols->n_pinned == 0)
    return size;
  range = adj_symbols_range (symbols, size);
  if (range.min == range.max)
    return ADJ_SIZE (range.min);
  node = adj_symbols_node (symbols, adj_symbols_unspell (symbols, size));
  if (node->op == ADJ_SIZE_SYMBOL || node->op == ADJ_SIZE_OPAQUE)
    return size;
  a = node->a;
  b = node->b;
  simple = adj_size_apply (symbols, node->op, adj_symbols_simplify (symbols, a),
                           adj_symbols_simplify (symbols, b));
  return adj_size_same (simple, adj_symbols_unspell (symbols, size)) ? size : simple;
}

void
adj_symbols_set_by_sign (AdjSymbols *symbols, gboolean by_sign)
{
  symbols->by_sign = by_sign;
}
