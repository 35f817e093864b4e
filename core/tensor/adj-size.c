/* SPDX-License-Identifier: MIT */
/* Arithmetic on sizes, integer or symbolic, with terms simplified. */

#include "tensor/adj-size.h"

#include "tensor/adj-symbols-private.h"

/* -- Integers ------------------------------------------------------------------------------ */

static gboolean
fold_power (gint64 base, gint64 exponent, gint64 *out)
{
  gint64 value = 1;

  if (exponent < 0)
    return FALSE;
  if (base == 0 || base == 1)
    {
      *out = exponent == 0 ? 1 : base;
      return TRUE;
    }
  if (base == -1)
    {
      *out = exponent % 2 == 0 ? 1 : -1;
      return TRUE;
    }
  for (gint64 i = 0; i < exponent; i++)
    if (__builtin_mul_overflow (value, base, &value))
      return FALSE;
  *out = value;
  return TRUE;
}

static gboolean
fold_division (AdjSizeOp op, gint64 a, gint64 b, gint64 *out)
{
  gint64 quotient;
  gint64 rest;

  if (b == 0 || (a == G_MININT64 && b == -1))
    return FALSE;
  quotient = a / b;
  rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0))
    {
      quotient--;
      rest += b;
    }
  *out = op == ADJ_SIZE_FLOORDIV ? quotient : rest;
  return TRUE;
}

static gboolean
fold (AdjSizeOp op, gint64 a, gint64 b, gint64 *out)
{
  switch (op)
    {
    case ADJ_SIZE_ADD:
      return !__builtin_add_overflow (a, b, out);
    case ADJ_SIZE_SUB:
      return !__builtin_sub_overflow (a, b, out);
    case ADJ_SIZE_MUL:
      return !__builtin_mul_overflow (a, b, out);
    case ADJ_SIZE_FLOORDIV:
    case ADJ_SIZE_MOD:
      return fold_division (op, a, b, out);
    case ADJ_SIZE_POW:
      return fold_power (a, b, out);
    case ADJ_SIZE_NEG:
      return !__builtin_sub_overflow (G_GINT64_CONSTANT (0), a, out);
    case ADJ_SIZE_MIN:
      *out = MIN (a, b);
      return TRUE;
    case ADJ_SIZE_MAX:
      *out = MAX (a, b);
      return TRUE;
    case ADJ_SIZE_EQ:
      *out = a == b;
      return TRUE;
    case ADJ_SIZE_NE:
      *out = a != b;
      return TRUE;
    case ADJ_SIZE_LT:
      *out = a < b;
      return TRUE;
    case ADJ_SIZE_LE:
      *out = a <= b;
      return TRUE;
    case ADJ_SIZE_GT:
      *out = a > b;
      return TRUE;
    case ADJ_SIZE_GE:
      *out = a >= b;
      return TRUE;
    case ADJ_SIZE_AND:
      *out = a != 0 && b != 0;
      return TRUE;
    case ADJ_SIZE_OR:
      *out = a != 0 || b != 0;
      return TRUE;
    case ADJ_SIZE_NOT:
      *out = a == 0;
      return TRUE;
    case ADJ_SIZE_OPAQUE:
    case ADJ_N_SIZE_OPS:
    default:
      return FALSE;
    }
}

gboolean
adj_size_fold (AdjSizeOp op, gint64 a, gint64 b, gint64 *out)
{
  gint64 value;

  /* A word that is an expression id cannot be an integer result. */
  if (!fold (op, a, b, &value) || !adj_size_is_int (ADJ_SIZE (value)))
    return FALSE;
  *out = value;
  return TRUE;
}

/* The nearest representable integer to a result that overflows: the sign is that of the true
 * result. */
static AdjSize
saturate (AdjSizeOp op, gint64 a, gint64 b)
{
  gboolean negative;

  if (op == ADJ_SIZE_MUL)
    negative = (a < 0) != (b < 0);
  else if (op == ADJ_SIZE_POW)
    negative = a < 0 && b % 2 != 0;
  else if (op == ADJ_SIZE_NEG)
    negative = a > 0;
  else
    negative = a < 0;
  return ADJ_SIZE (negative ? G_MININT64 + (G_GINT64_CONSTANT (1) << 32) : G_MAXINT64);
}

/* -- Expressions --------------------------------------------------------------------------- */

static AdjSize
apply_sum (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  g_auto (AdjLinear) sum = { 0 };

  adj_linear_init (&sum);
  if (!adj_linear_add (symbols, &sum, a, op == ADJ_SIZE_NEG ? -1 : 1) ||
      (op != ADJ_SIZE_NEG && !adj_linear_add (symbols, &sum, b, op == ADJ_SIZE_SUB ? -1 : 1)))
    return adj_symbols_intern (symbols, op, a, b);
  return adj_linear_finish (symbols, &sum);
}

/* Splits an integer factor off @size; %FALSE for a sum of several terms. */
static gboolean
split_product (AdjSymbols *symbols, AdjSize size, AdjTerm *out)
{
  g_auto (AdjLinear) linear = { 0 };

  adj_linear_init (&linear);
  if (!adj_linear_add (symbols, &linear, size, 1) || linear.constant != 0 || linear.terms->len != 1)
    return FALSE;
  *out = g_array_index (linear.terms, AdjTerm, 0);
  return TRUE;
}

static AdjSize
apply_product (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  g_auto (AdjLinear) scaled = { 0 };
  AdjTerm ta = { 1, a };
  AdjTerm tb = { 1, b };
  AdjSize product;
  gint64 factor;

  adj_linear_init (&scaled);
  if (adj_size_is_int (a) || adj_size_is_int (b))
    {
      if (!adj_linear_add (symbols, &scaled, adj_size_is_int (a) ? b : a,
                           adj_size_is_int (a) ? a.word : b.word))
        return adj_symbols_intern (symbols, ADJ_SIZE_MUL, a, b);
      return adj_linear_finish (symbols, &scaled);
    }

  split_product (symbols, a, &ta);
  split_product (symbols, b, &tb);
  if (__builtin_mul_overflow (ta.factor, tb.factor, &factor) ||
      !adj_product_multiply (symbols, ta.product, tb.product, &product) ||
      !adj_linear_add (symbols, &scaled, product, factor))
    return adj_symbols_intern (symbols, ADJ_SIZE_MUL, a, b);
  return adj_linear_finish (symbols, &scaled);
}

static AdjSize
apply_power (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  AdjSize product = a;

  if (!adj_size_is_int (b) || b.word < 0 || b.word > 8)
    return adj_symbols_intern (symbols, ADJ_SIZE_POW, a, b);
  if (b.word == 0)
    return ADJ_SIZE (1);
  for (gint64 i = 1; i < b.word; i++)
    product = apply_product (symbols, product, a);
  return product;
}

/* Adds to @whole the quotients of the terms of @from that @divisor divides, and the others to
 * @rest. */
static gboolean
split_divisible (AdjSymbols *symbols,
                 const AdjLinear *from,
                 const AdjTerm *divisor,
                 AdjLinear *whole,
                 AdjLinear *rest)
{
  AdjLinear part = { g_array_new (FALSE, FALSE, sizeof (AdjTerm)), 0 };
  gboolean fine = TRUE;

  for (guint i = 0; fine && i <= from->terms->len; i++)
    {
      const AdjTerm *term = i < from->terms->len ? &g_array_index (from->terms, AdjTerm, i) : NULL;

      g_array_set_size (part.terms, 0);
      part.constant = term == NULL ? from->constant : 0;
      if (term != NULL)
        g_array_append_vals (part.terms, term, 1);

      if (adj_linear_divide (symbols, &part, divisor, whole))
        continue;
      if (term != NULL)
        fine = adj_linear_add (symbols, rest, term->product, term->factor);
      else
        rest->constant = from->constant;
    }
  g_array_unref (part.terms);
  return fine;
}

/* Cancels common factors: (6·s·t) // (4·s) = (3·t) // 2. */
static void
reduce_fraction (AdjSymbols *symbols, AdjSize *a, AdjSize *b)
{
  g_auto (AdjLinear) above = { 0 };
  g_auto (AdjLinear) below = { 0 };
  g_auto (AdjLinear) less_above = { 0 };
  g_auto (AdjLinear) less_below = { 0 };
  AdjTerm common;

  adj_linear_init (&above);
  adj_linear_init (&below);
  adj_linear_init (&less_above);
  adj_linear_init (&less_below);
  if (!adj_linear_add (symbols, &above, *a, 1) || !adj_linear_add (symbols, &below, *b, 1))
    return;
  common = adj_linear_common (symbols, &above, &below);
  if (common.factor < 1 || !adj_linear_divide (symbols, &above, &common, &less_above) ||
      !adj_linear_divide (symbols, &below, &common, &less_below))
    return;
  *a = adj_linear_finish (symbols, &less_above);
  *b = adj_linear_finish (symbols, &less_below);
}

/* (s // 2) // 3 = s // 6 */
static void
join_fractions (AdjSymbols *symbols, AdjSize *a, AdjSize *b)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, *a);
  AdjSize inner;

  if (node == NULL || node->op != ADJ_SIZE_FLOORDIV || adj_symbols_range (symbols, *b).min <= 0)
    return;
  inner = node->b;
  *a = node->a;
  *b = adj_size_mul (symbols, inner, *b);
}

/* @a // @b for what is left after the divisible terms; @a is no multiple of @b. */
static AdjSize
divide_rest (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  join_fractions (symbols, &a, &b);
  reduce_fraction (symbols, &a, &b);
  if (adj_size_same (b, ADJ_SIZE (1)))
    return a;
  return adj_size_is_int (a) && adj_size_is_int (b)
             ? adj_size_apply (symbols, ADJ_SIZE_FLOORDIV, a, b)
             : adj_symbols_intern (symbols, ADJ_SIZE_FLOORDIV, a, b);
}

/* (k·n + r) // n = k + r // n for an integer n; for a symbolic n PyTorch keeps the sum together.
 * (k·b + r) % b = r % b. */
static AdjSize
apply_division (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  g_auto (AdjLinear) linear = { 0 };
  g_auto (AdjLinear) whole = { 0 };
  g_auto (AdjLinear) rest = { 0 };
  AdjTerm divisor = { 1, ADJ_SIZE (1) };
  AdjSize left;

  adj_linear_init (&linear);
  adj_linear_init (&whole);
  adj_linear_init (&rest);
  if (adj_size_is_int (b))
    divisor.factor = b.word;
  else if (!split_product (symbols, b, &divisor))
    divisor.product = b;

  if (divisor.factor == 0 || !adj_linear_add (symbols, &linear, a, 1) ||
      !split_divisible (symbols, &linear, &divisor, &whole, &rest))
    return adj_symbols_intern (symbols, op, a, b);

  if (rest.terms->len == 0 && rest.constant == 0)
    return op == ADJ_SIZE_MOD ? ADJ_SIZE (0) : adj_linear_finish (symbols, &whole);

  left = adj_linear_finish (symbols, &rest);
  if (op == ADJ_SIZE_MOD)
    return adj_size_is_int (left) && adj_size_is_int (b)
               ? adj_size_apply (symbols, op, left, b)
               : adj_symbols_intern (symbols, op, left, b);
  if (!adj_size_is_int (b))
    return divide_rest (symbols, a, b);
  return adj_size_add (symbols, adj_linear_finish (symbols, &whole),
                       divide_rest (symbols, left, b));
}

static gboolean
is_comparison (AdjSizeOp op)
{
  return op >= ADJ_SIZE_EQ && op <= ADJ_SIZE_GE;
}

/* The range of @a - @b. */
static AdjRange
difference (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  g_auto (AdjLinear) linear = { 0 };

  adj_linear_init (&linear);
  if (!adj_linear_add (symbols, &linear, a, 1) || !adj_linear_add (symbols, &linear, b, -1))
    return ADJ_RANGE_ANY;
  return adj_linear_range (symbols, &linear);
}

static AdjSize
apply_comparison (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  AdjRange range = difference (symbols, a, b);
  gint64 value;

  if (range.min == range.max && adj_size_fold (op, range.min, 0, &value))
    return ADJ_SIZE (value);
  if ((op == ADJ_SIZE_EQ || op == ADJ_SIZE_NE) &&
      (adj_size_is_int (a) || (!adj_size_is_int (b) && adj_symbols_order (symbols, a, b) > 0)))
    return adj_symbols_intern (symbols, op, b, a);
  return adj_symbols_intern (symbols, op, a, b);
}

static AdjSize
apply_logic (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  gboolean absorbing = op == ADJ_SIZE_OR;

  if (op == ADJ_SIZE_NOT)
    return adj_symbols_intern (symbols, op, a, ADJ_SIZE (0));
  if (adj_size_is_int (a))
    return (a.word != 0) == absorbing ? ADJ_SIZE (absorbing) : b;
  if (adj_size_is_int (b))
    return (b.word != 0) == absorbing ? ADJ_SIZE (absorbing) : a;
  return adj_size_same (a, b) ? a : adj_symbols_intern (symbols, op, a, b);
}

static AdjSize
apply_symbolic (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  switch (op)
    {
    case ADJ_SIZE_ADD:
    case ADJ_SIZE_SUB:
    case ADJ_SIZE_NEG:
      return apply_sum (symbols, op, a, b);
    case ADJ_SIZE_MUL:
      return apply_product (symbols, a, b);
    case ADJ_SIZE_POW:
      return apply_power (symbols, a, b);
    case ADJ_SIZE_FLOORDIV:
    case ADJ_SIZE_MOD:
      return apply_division (symbols, op, a, b);
    case ADJ_SIZE_MIN:
    case ADJ_SIZE_MAX:
      return adj_size_extremum (symbols, op, a, b);
    case ADJ_SIZE_EQ:
    case ADJ_SIZE_NE:
    case ADJ_SIZE_LT:
    case ADJ_SIZE_LE:
    case ADJ_SIZE_GT:
    case ADJ_SIZE_GE:
      return apply_comparison (symbols, op, a, b);
    case ADJ_SIZE_AND:
    case ADJ_SIZE_OR:
    case ADJ_SIZE_NOT:
      return apply_logic (symbols, op, a, b);
    case ADJ_SIZE_OPAQUE:
    case ADJ_N_SIZE_OPS:
    default:
      g_return_val_if_reached (a);
    }
}

AdjSize
adj_size_apply (AdjSymbols *symbols, AdjSizeOp op, AdjSize a, AdjSize b)
{
  gboolean unary = op == ADJ_SIZE_NEG || op == ADJ_SIZE_NOT;
  gint64 value;

  a = adj_symbols_unspell (symbols, a);
  b = unary ? ADJ_SIZE (0) : adj_symbols_unspell (symbols, b);
  if (adj_size_is_int (a) && adj_size_is_int (b))
    {
      if (adj_size_fold (op, a.word, b.word, &value))
        return ADJ_SIZE (value);
      return symbols != NULL ? adj_symbols_intern (symbols, op, a, b)
                             : saturate (op, a.word, b.word);
    }

  g_return_val_if_fail (symbols != NULL, a);
  return apply_symbolic (symbols, op, a, b);
}

/* -- Tests --------------------------------------------------------------------------------- */

gboolean
adj_size_decide (AdjSymbols *symbols, AdjSizeOp comparison, AdjSize a, AdjSize b, gboolean *holds)
{
  AdjRange zero = { 0, 0 };
  AdjRange decided;
  gint64 hint_a;
  gint64 hint_b;
  gint64 value;

  g_return_val_if_fail (is_comparison (comparison), FALSE);

  a = adj_symbols_unspell (symbols, a);
  b = adj_symbols_unspell (symbols, b);
  if (adj_size_is_int (a) && adj_size_is_int (b))
    {
      *holds = adj_size_fold (comparison, a.word, b.word, &value) && value != 0;
      return TRUE;
    }
  g_return_val_if_fail (symbols != NULL, FALSE);

  decided = adj_range_apply (comparison, difference (symbols, a, b), zero);
  if (decided.min != decided.max)
    decided = adj_range_apply (comparison, adj_symbols_range (symbols, a),
                               adj_symbols_range (symbols, b));
  *holds = decided.min != 0;
  if (decided.min == decided.max)
    return TRUE;

  if (!adj_size_get_hint (symbols, a, &hint_a) || !adj_size_get_hint (symbols, b, &hint_b) ||
      !adj_size_fold (comparison, hint_a, hint_b, &value))
    return FALSE;
  *holds = value != 0;
  adj_symbols_add_guard (symbols, adj_size_apply (symbols, comparison, a, b), *holds);
  if (*holds == (comparison == ADJ_SIZE_EQ) &&
      (comparison == ADJ_SIZE_EQ || comparison == ADJ_SIZE_NE))
    adj_symbols_pin (symbols, a, b);
  return TRUE;
}

gboolean
adj_size_test (AdjSymbols *symbols, AdjSizeOp comparison, AdjSize a, AdjSize b)
{
  gboolean holds;

  return adj_size_decide (symbols, comparison, a, b, &holds) && holds;
}
