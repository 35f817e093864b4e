/* SPDX-License-Identifier: MIT */

/* Arithmetic on Python floats: PyTorch records it when a size becomes a ratio, such as the scale of
 * an interpolation or the 2 / (n − 1) of a variance. */

#include <math.h>

#include "interpreter/builtins-private.h"

static gboolean
get_number (AdjContext *cx, const AdjValue *arg, double *out)
{
  if (arg->kind == ADJ_VALUE_FLOAT)
    *out = arg->number;
  else if (arg->kind == ADJ_VALUE_INT)
    *out = (double) arg->integer;
  else if (arg->kind == ADJ_VALUE_BOOL)
    *out = arg->boolean;
  else if (arg->kind == ADJ_VALUE_SIZE)
    return adj_builtin_fail (cx, "a float is not computed from sizes that are symbols");
  else
    return adj_builtin_fail (cx, "arithmetic outside of operators works on numbers only");
  return TRUE;
}

static gboolean
get_numbers (AdjContext *cx, const AdjValue *args, guint n_args, guint n, double *out)
{
  if (n_args != n)
    return adj_builtin_fail (cx, "this takes %u numbers", n);
  for (guint i = 0; i < n; i++)
    if (!get_number (cx, &args[i], &out[i]))
      return FALSE;
  return TRUE;
}

/* By Python's rules; NaN for operations that floats do not have. */
static double
compute (AdjSizeOp op, double a, double b)
{
  double rest;

  switch ((guint) op)
    {
    case ADJ_SIZE_ADD:
      return a + b;
    case ADJ_SIZE_SUB:
      return a - b;
    case ADJ_SIZE_MUL:
      return a * b;
    case ADJ_SIZE_NEG:
      return -a;
    case ADJ_SIZE_FLOORDIV:
      return floor (a / b);
    case ADJ_SIZE_MOD:
      rest = fmod (a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    case ADJ_SIZE_POW:
      return pow (a, b);
    case ADJ_SIZE_MIN:
      return b < a ? b : a;
    case ADJ_SIZE_MAX:
      return b > a ? b : a;
    default:
      return NAN;
    }
}

static gboolean
holds (AdjSizeOp op, double a, double b)
{
  switch ((guint) op)
    {
    case ADJ_SIZE_EQ:
      return a == b;
    case ADJ_SIZE_NE:
      return a != b;
    case ADJ_SIZE_LT:
      return a < b;
    case ADJ_SIZE_LE:
      return a <= b;
    case ADJ_SIZE_GT:
      return a > b;
    case ADJ_SIZE_GE:
      return a >= b;
    default:
      return a == 0; /* not a */
    }
}

gboolean
adj_builtin_compute (
    AdjContext *cx, AdjSizeOp op, const AdjValue *args, guint n_args, AdjValue *out)
{
  gboolean unary = op == ADJ_SIZE_NEG || op == ADJ_SIZE_NOT;
  double numbers[2] = { 0 };

  if (!get_numbers (cx, args, n_args, unary ? 1 : 2, numbers))
    return FALSE;
  if ((op == ADJ_SIZE_FLOORDIV || op == ADJ_SIZE_MOD) && numbers[1] == 0)
    return adj_builtin_fail (cx, "division of a number by zero");
  *out = op >= ADJ_SIZE_EQ && op <= ADJ_SIZE_NOT ? ADJ_BOOL (holds (op, numbers[0], numbers[1]))
                                                 : ADJ_FLOAT (compute (op, numbers[0], numbers[1]));
  return TRUE;
}

gboolean
adj_builtin_truediv (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  double numbers[2];

  if (!get_numbers (cx, args, n_args, 2, numbers))
    return FALSE;
  if (numbers[1] == 0)
    return adj_builtin_fail (cx, "division of a number by zero");
  *out = ADJ_FLOAT (numbers[0] / numbers[1]);
  return TRUE;
}

gboolean
adj_builtin_apply_math (
    AdjContext *cx, double (*function) (double), const AdjValue *args, guint n_args, AdjValue *out)
{
  double number;

  if (!get_numbers (cx, args, n_args, 1, &number))
    return FALSE;
  *out = ADJ_FLOAT (function (number));
  return isfinite (out->number) || !isfinite (number) ||
         adj_builtin_fail (cx, "%g is outside of the domain of this function", number);
}

gboolean
adj_builtin_float (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  double number;

  if (!get_numbers (cx, args, n_args, 1, &number))
    return FALSE;
  *out = ADJ_FLOAT (number);
  return TRUE;
}

gboolean
adj_builtin_trunc (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  double number;

  if (n_args == 1 && args[0].kind == ADJ_VALUE_SIZE)
    {
      *out = args[0];
      return TRUE;
    }
  if (!get_numbers (cx, args, n_args, 1, &number))
    return FALSE;
  if (!(fabs (number) < 0x1p53))
    return adj_builtin_fail (cx, "%g is not a size", number);
  *out = ADJ_INT ((gint64) number);
  return TRUE;
}
