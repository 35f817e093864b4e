/* SPDX-License-Identifier: MIT */

/* Canonical form.  A size is kept as a sum of terms, a term as an integer times a product, a
 * product as factors in order with equal ones collected into powers; so sizes that were computed
 * in different ways meet in the same node:
 *
 *   ADD (ADD (MUL (2, s0), s1), 1)        MUL (MUL (s0, POW (s1, 2)), FLOORDIV (s2, 2))
 *
 * The file also has the known range of a value. */

#include "tensor/adj-symbols-private.h"

/* -- Ranges -------------------------------------------------------------------------------- */

static gboolean
is_infinite (gint64 bound)
{
  return bound == G_MININT64 || bound == G_MAXINT64;
}

static gint64
bound_add (gint64 a, gint64 b)
{
  gint64 sum;

  if (is_infinite (a))
    return a;
  if (is_infinite (b))
    return b;
  if (__builtin_add_overflow (a, b, &sum))
    return a < 0 ? G_MININT64 : G_MAXINT64;
  return sum;
}

static gint64
bound_negate (gint64 a)
{
  if (a == G_MININT64)
    return G_MAXINT64;
  return a == G_MAXINT64 ? G_MININT64 : -a;
}

static gint64
bound_multiply (gint64 a, gint64 b)
{
  gint64 product;

  if (a == 0 || b == 0)
    return 0;
  if (is_infinite (a) || is_infinite (b) || __builtin_mul_overflow (a, b, &product))
    return (a < 0) != (b < 0) ? G_MININT64 : G_MAXINT64;
  return product;
}

/* @b is positive. */
static gint64
bound_divide (gint64 a, gint64 b)
{
  gint64 quotient;

  if (is_infinite (a))
    return a;
  if (b == G_MAXINT64)
    return a < 0 ? -1 : 0;
  return adj_size_fold (ADJ_SIZE_FLOORDIV, a, b, &quotient) ? quotient : a;
}

static AdjRange
range_multiply (AdjRange a, AdjRange b)
{
  gint64 corners[] = {
    bound_multiply (a.min, b.min),
    bound_multiply (a.min, b.max),
    bound_multiply (a.max, b.min),
    bound_multiply (a.max, b.max),
  };
  AdjRange range = { corners[0], corners[0] };

  for (guint i = 1; i < G_N_ELEMENTS (corners); i++)
    {
      range.min = MIN (range.min, corners[i]);
      range.max = MAX (range.max, corners[i]);
    }
  return range;
}

static AdjRange
range_divide (AdjRange a, AdjRange b)
{
  if (b.min <= 0)
    return ADJ_RANGE_ANY;
  return (AdjRange){
    MIN (bound_divide (a.min, b.min), bound_divide (a.min, b.max)),
    MAX (bound_divide (a.max, b.min), bound_divide (a.max, b.max)),
  };
}

static AdjRange
range_modulo (AdjRange a, AdjRange b)
{
  AdjRange range = { 0, b.max };

  if (b.min <= 0)
    return ADJ_RANGE_ANY;
  if (!is_infinite (b.max))
    range.max--;
  if (a.min >= 0)
    range.max = MIN (range.max, a.max);
  return range;
}

static AdjRange
range_power (AdjRange a, AdjRange b)
{
  AdjRange range = { 1, 1 };

  if (b.min != b.max || b.min < 0 || b.min > 64)
    return ADJ_RANGE_ANY;
  if (a.min < 0)
    return b.min % 2 == 0 ? (AdjRange){ 0, G_MAXINT64 } : ADJ_RANGE_ANY;
  for (gint64 i = 0; i < b.min; i++)
    range = range_multiply (range, a);
  return range;
}

/* The range of a truth value: 1 if @surely, 0 if @never, else both. */
static AdjRange
range_truth (gboolean surely, gboolean never)
{
  return (AdjRange){ surely ? 1 : 0, never ? 0 : 1 };
}

static AdjRange
range_compare (AdjSizeOp op, AdjRange a, AdjRange b)
{
  gboolean single = a.min == a.max && b.min == b.max && !is_infinite (a.min);
  gboolean equal = single && a.min == b.min;
  gboolean apart = a.max < b.min || b.max < a.min;
  gboolean less = a.max < b.min;
  gboolean not_less = a.min >= b.max && !is_infinite (a.min);
  gboolean greater = a.min > b.max;
  gboolean not_greater = a.max <= b.min && !is_infinite (a.max);

  if (op == ADJ_SIZE_EQ)
    return range_truth (equal, apart);
  if (op == ADJ_SIZE_NE)
    return range_truth (apart, equal);
  if (op == ADJ_SIZE_LT)
    return range_truth (less, not_less);
  if (op == ADJ_SIZE_LE)
    return range_truth (not_greater, greater);
  if (op == ADJ_SIZE_GT)
    return range_truth (greater, not_greater);
  return range_truth (not_less, less);
}

static AdjRange
range_logic (AdjSizeOp op, AdjRange a, AdjRange b)
{
  gboolean true_a = a.min > 0 || a.max < 0;
  gboolean true_b = b.min > 0 || b.max < 0;
  gboolean false_a = a.min == 0 && a.max == 0;
  gboolean false_b = b.min == 0 && b.max == 0;

  if (op == ADJ_SIZE_NOT)
    return range_truth (false_a, true_a);
  if (op == ADJ_SIZE_AND)
    return range_truth (true_a && true_b, false_a || false_b);
  return range_truth (true_a || true_b, false_a && false_b);
}

AdjRange
adj_range_apply (AdjSizeOp op, AdjRange a, AdjRange b)
{
  switch (op)
    {
    case ADJ_SIZE_ADD:
      return (AdjRange){ bound_add (a.min, b.min), bound_add (a.max, b.max) };
    case ADJ_SIZE_SUB:
      return (AdjRange){ bound_add (a.min, bound_negate (b.max)),
                         bound_add (a.max, bound_negate (b.min)) };
    case ADJ_SIZE_NEG:
      return (AdjRange){ bound_negate (a.max), bound_negate (a.min) };
    case ADJ_SIZE_MUL:
      return range_multiply (a, b);
    case ADJ_SIZE_FLOORDIV:
      return range_divide (a, b);
    case ADJ_SIZE_MOD:
      return range_modulo (a, b);
    case ADJ_SIZE_POW:
      return range_power (a, b);
    case ADJ_SIZE_MIN:
      return (AdjRange){ MIN (a.min, b.min), MIN (a.max, b.max) };
    case ADJ_SIZE_MAX:
      return (AdjRange){ MAX (a.min, b.min), MAX (a.max, b.max) };
    case ADJ_SIZE_EQ:
    case ADJ_SIZE_NE:
    case ADJ_SIZE_LT:
    case ADJ_SIZE_LE:
    case ADJ_SIZE_GT:
    case ADJ_SIZE_GE:
      return range_compare (op, a, b);
    case ADJ_SIZE_AND:
    case ADJ_SIZE_OR:
    case ADJ_SIZE_NOT:
      return range_logic (op, a, b);
    case ADJ_SIZE_OPAQUE:
    case ADJ_N_SIZE_OPS:
    default:
      return ADJ_RANGE_ANY;
    }
}

/* A sum or product of more nodes is an opaque term: taking it apart each time would make building
 * one cubic in its length. */
static gboolean
is_large (const AdjSizeNode *node)
{
  return node->n_nodes > 128;
}

/* -- Products ------------------------------------------------------------------------------ */

typedef struct
{
  AdjSize base;
  gint64 exponent;
} Factor;

static gboolean
add_factor (const AdjSymbols *symbols, GArray *factors, AdjSize base, gint64 exponent)
{
  Factor factor = { base, exponent };
  guint at = 0;

  for (; at < factors->len; at++)
    {
      Factor *known = &g_array_index (factors, Factor, at);

      if (adj_size_same (known->base, base))
        {
          if (__builtin_add_overflow (known->exponent, exponent, &known->exponent))
            return FALSE;
          if (known->exponent == 0)
            g_array_remove_index (factors, at);
          return TRUE;
        }
      if (adj_symbols_order (symbols, known->base, base) > 0)
        break;
    }
  g_array_insert_val (factors, at, factor);
  return TRUE;
}

/* Multiplies @factors by @product (divides, when @sign is -1). */
static gboolean
add_factors (const AdjSymbols *symbols, GArray *factors, AdjSize product, gint64 sign)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, product);

  if (node == NULL)
    return product.word == 1;
  if (node->op == ADJ_SIZE_MUL && !is_large (node) && !adj_size_is_int (node->a) &&
      !adj_size_is_int (node->b))
    return add_factors (symbols, factors, node->a, sign) &&
           add_factors (symbols, factors, node->b, sign);
  if (node->op == ADJ_SIZE_POW && adj_size_is_int (node->b) && node->b.word > 0)
    return add_factor (symbols, factors, node->a, sign * node->b.word);
  return add_factor (symbols, factors, product, sign);
}

static AdjSize
finish_product (AdjSymbols *symbols, const GArray *factors)
{
  AdjSize product = ADJ_SIZE (1);

  for (guint i = 0; i < factors->len; i++)
    {
      const Factor *factor = &g_array_index (factors, Factor, i);
      AdjSize power = factor->base;

      if (factor->exponent != 1)
        power = adj_symbols_intern (symbols, ADJ_SIZE_POW, power, ADJ_SIZE (factor->exponent));
      product = i == 0 ? power : adj_symbols_intern (symbols, ADJ_SIZE_MUL, product, power);
    }
  return product;
}

gboolean
adj_product_multiply (AdjSymbols *symbols, AdjSize a, AdjSize b, AdjSize *out)
{
  g_autoptr (GArray) factors = g_array_new (FALSE, FALSE, sizeof (Factor));

  if (!add_factors (symbols, factors, a, 1) || !add_factors (symbols, factors, b, 1))
    return FALSE;
  *out = finish_product (symbols, factors);
  return TRUE;
}

static gboolean
product_divide (AdjSymbols *symbols, AdjSize a, AdjSize b, AdjSize *out)
{
  g_autoptr (GArray) factors = g_array_new (FALSE, FALSE, sizeof (Factor));

  if (!add_factors (symbols, factors, a, 1) || !add_factors (symbols, factors, b, -1))
    return FALSE;
  for (guint i = 0; i < factors->len; i++)
    if (g_array_index (factors, Factor, i).exponent < 0)
      return FALSE;
  *out = finish_product (symbols, factors);
  return TRUE;
}

static gboolean
is_single (const AdjSymbols *symbols, AdjSize product)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, product);

  return node == NULL || (node->op != ADJ_SIZE_MUL && node->op != ADJ_SIZE_POW);
}

/* Sums are written with the higher powers of the earlier symbols first. */
static gint
order_products (const AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  g_autoptr (GArray) fa = NULL;
  g_autoptr (GArray) fb = NULL;

  if (is_single (symbols, a) && is_single (symbols, b))
    return adj_symbols_order (symbols, a, b);

  fa = g_array_new (FALSE, FALSE, sizeof (Factor));
  fb = g_array_new (FALSE, FALSE, sizeof (Factor));
  add_factors (symbols, fa, a, 1);
  add_factors (symbols, fb, b, 1);
  for (guint i = 0; i < MIN (fa->len, fb->len); i++)
    {
      const Factor *x = &g_array_index (fa, Factor, i);
      const Factor *y = &g_array_index (fb, Factor, i);

      if (!adj_size_same (x->base, y->base))
        return adj_symbols_order (symbols, x->base, y->base);
      if (x->exponent != y->exponent)
        return x->exponent > y->exponent ? -1 : 1;
    }
  return (fa->len < fb->len) - (fa->len > fb->len);
}

/* -- Sums ---------------------------------------------------------------------------------- */

void
adj_linear_init (AdjLinear *linear)
{
  *linear = (AdjLinear){ g_array_new (FALSE, FALSE, sizeof (AdjTerm)), 0 };
}

void
adj_linear_clear (AdjLinear *linear)
{
  g_clear_pointer (&linear->terms, g_array_unref);
}

static gboolean
add_term (AdjSymbols *symbols, AdjLinear *linear, AdjSize product, gint64 factor)
{
  AdjTerm term = { factor, product };
  guint at = 0;

  for (; at < linear->terms->len; at++)
    {
      AdjTerm *known = &g_array_index (linear->terms, AdjTerm, at);

      if (adj_size_same (known->product, product))
        {
          if (!adj_size_fold (ADJ_SIZE_ADD, known->factor, factor, &known->factor))
            return FALSE;
          if (known->factor == 0)
            g_array_remove_index (linear->terms, at);
          return TRUE;
        }
      if (order_products (symbols, known->product, product) > 0)
        break;
    }
  g_array_insert_val (linear->terms, at, term);
  return TRUE;
}

gboolean
adj_linear_add (AdjSymbols *symbols, AdjLinear *linear, AdjSize size, gint64 factor)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);
  gint64 scaled;

  if (factor == 0)
    return TRUE;
  if (node == NULL)
    return adj_size_fold (ADJ_SIZE_MUL, size.word, factor, &scaled) &&
           adj_size_fold (ADJ_SIZE_ADD, linear->constant, scaled, &linear->constant);

  /* An operation on two integers has overflowed: it stays a term of its own. */
  if (node->op == ADJ_SIZE_ADD && !is_large (node) &&
      !(adj_size_is_int (node->a) && adj_size_is_int (node->b)))
    {
      AdjSize a = node->a;
      AdjSize b = node->b;

      return adj_linear_add (symbols, linear, a, factor) &&
             adj_linear_add (symbols, linear, b, factor);
    }
  if (node->op == ADJ_SIZE_MUL && adj_size_is_int (node->a) && !adj_size_is_int (node->b))
    return adj_size_fold (ADJ_SIZE_MUL, node->a.word, factor, &scaled) &&
           adj_linear_add (symbols, linear, node->b, scaled);
  return add_term (symbols, linear, size, factor);
}

gboolean
adj_linear_divide (AdjSymbols *symbols,
                   const AdjLinear *linear,
                   const AdjTerm *divisor,
                   AdjLinear *out)
{
  AdjSize product;

  if (linear->constant != 0 && (!adj_size_same (divisor->product, ADJ_SIZE (1)) ||
                                divisor->factor == -1 || linear->constant % divisor->factor != 0))
    return FALSE;
  for (guint i = 0; i < linear->terms->len; i++)
    {
      const AdjTerm *term = &g_array_index (linear->terms, AdjTerm, i);

      if (divisor->factor == -1 || term->factor % divisor->factor != 0 ||
          !product_divide (symbols, term->product, divisor->product, &product) ||
          !adj_linear_add (symbols, out, product, term->factor / divisor->factor))
        return FALSE;
    }
  return linear->constant == 0 ||
         adj_linear_add (symbols, out, ADJ_SIZE (linear->constant / divisor->factor), 1);
}

static gint64
gcd (gint64 a, gint64 b)
{
  while (b != 0)
    {
      gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a == G_MININT64 ? 1 : ABS (a);
}

/* Lowers the exponents in @common to those in @product. */
static void
keep_common (AdjSymbols *symbols, GArray *common, AdjSize product)
{
  g_autoptr (GArray) factors = g_array_new (FALSE, FALSE, sizeof (Factor));

  add_factors (symbols, factors, product, 1);
  for (guint i = common->len; i-- > 0;)
    {
      Factor *shared = &g_array_index (common, Factor, i);
      gint64 exponent = 0;

      for (guint k = 0; k < factors->len; k++)
        if (adj_size_same (g_array_index (factors, Factor, k).base, shared->base))
          exponent = g_array_index (factors, Factor, k).exponent;
      shared->exponent = MIN (shared->exponent, exponent);
      if (shared->exponent <= 0)
        g_array_remove_index (common, i);
    }
}

AdjTerm
adj_linear_common (AdjSymbols *symbols, const AdjLinear *a, const AdjLinear *b)
{
  g_autoptr (GArray) common = g_array_new (FALSE, FALSE, sizeof (Factor));
  const AdjLinear *both[] = { b, a };
  AdjTerm term = { gcd (a->constant, b->constant), ADJ_SIZE (1) };

  if (b->terms->len > 0)
    add_factors (symbols, common, g_array_index (b->terms, AdjTerm, 0).product, 1);
  if (a->constant != 0 || b->constant != 0)
    g_array_set_size (common, 0);
  for (guint i = 0; i < G_N_ELEMENTS (both); i++)
    for (guint k = 0; k < both[i]->terms->len; k++)
      {
        const AdjTerm *part = &g_array_index (both[i]->terms, AdjTerm, k);

        term.factor = gcd (term.factor, part->factor);
        keep_common (symbols, common, part->product);
      }
  term.product = finish_product (symbols, common);
  return term;
}

AdjRange
adj_linear_range (AdjSymbols *symbols, const AdjLinear *linear)
{
  AdjRange range = { linear->constant, linear->constant };

  for (guint i = 0; i < linear->terms->len; i++)
    {
      const AdjTerm *term = &g_array_index (linear->terms, AdjTerm, i);
      AdjRange scaled = range_multiply (adj_symbols_range (symbols, term->product),
                                        (AdjRange){ term->factor, term->factor });

      range = adj_range_apply (ADJ_SIZE_ADD, range, scaled);
    }
  return range;
}

AdjSize
adj_linear_finish (AdjSymbols *symbols, const AdjLinear *linear)
{
  AdjSize sum = ADJ_SIZE (linear->constant);

  for (guint i = 0; i < linear->terms->len; i++)
    {
      const AdjTerm *term = &g_array_index (linear->terms, AdjTerm, i);
      AdjSize scaled = term->product;

      if (term->factor != 1)
        scaled = adj_symbols_intern (symbols, ADJ_SIZE_MUL, ADJ_SIZE (term->factor), scaled);
      sum = i == 0 ? scaled : adj_symbols_intern (symbols, ADJ_SIZE_ADD, sum, scaled);
    }
  if (linear->terms->len > 0 && linear->constant != 0)
    sum = adj_symbols_intern (symbols, ADJ_SIZE_ADD, sum, ADJ_SIZE (linear->constant));
  return sum;
}
