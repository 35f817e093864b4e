/* SPDX-License-Identifier: MIT */
/* Pointwise bodies over complex numbers.
 *
 * Each subexpression becomes a pair of real expressions, so that tile programs need no complex
 * numbers.  Functions are pairs of texts over the parts of their operands, _a + i _b and _c + i _d,
 * or a text over the operands themselves, _z and _w. */

#include "ops/complex-body.h"

#include <string.h>

#include "ops/kernel-private.h"

typedef struct
{
  const AdjExpr *re, *im; /* @im (nullable): %NULL for 0 */
} Pair;

typedef struct Scope
{
  const char *name;
  Pair pair;
  const struct Scope *outer;
} Scope;

typedef struct
{
  const AdjOpCall *call;
  AdjArena *arena;
  gboolean failed;
} Splitter;

typedef struct
{
  const char *name;
  guint arity;
  const char *re, *im;   /* @im (nullable): the result is real */
  const char *composite; /* used instead of both */
} Function;

/* Quotients are scaled by the larger part of the divisor; roots compute first the part that does
 * not cancel. */
#define QUOTIENT(numerator)                                                                        \
  "let _m = max(abs(_c), abs(_d)), _p = _c / _m, _q = _d / _m: (" numerator                        \
  ") / (_c * _p + _d * _q)"
#define TANGENT(around, along)                                                                     \
  "let _t = tan(" around "), _s = sinh(" along "), _w = 1 + _t * _t, _n = 1 + _w * _s * _s: "
/* The ellipse through a + i b with foci -1 and 1 has half axes _e and √(_e² - 1); _d is _e² - _a²,
 * _m is _e - 1, all computed without cancellation. */
#define ELLIPSE(a, b)                                                                              \
  "let _x = abs(" a "), _y = " b " * " b ", _r = hypot(_x + 1, " b "), _s = hypot(_x - 1, " b      \
  "), "                                                                                            \
  "_e = (_r + _s) / 2, _p = _y / (_r + _x + 1), "                                                  \
  "_d = (_e + _x) * (_p + (_x > 1 ? _y / (_s + _x - 1) : _s + (1 - _x))) / 2, "                    \
  "_m = (_p + (_x < 1 ? _y / (_s + (1 - _x)) : _s + (_x - 1))) / 2: "
#define ALONG "log1p(_m + sqrt(_m * (_e + 1)))"
#define ROOT "let _t = sqrt((hypot(_a, _b) + abs(_a)) / 2): _t == 0 ? "

static const Function functions[] = {
  { "+", 2, "_a + _c", "_b + _d", NULL },
  { "-", 2, "_a - _c", "_b - _d", NULL },
  { "*", 2, "_a * _c - _b * _d", "_a * _d + _b * _c", NULL },
  { "/", 2, QUOTIENT ("_a * _p + _b * _q"), QUOTIENT ("_b * _p - _a * _q"), NULL },
  { "==", 2, "_a == _c and _b == _d", NULL, NULL },
  { "!=", 2, "_a != _c or _b != _d", NULL, NULL },
  { "and", 2, "(_a != 0 or _b != 0) and (_c != 0 or _d != 0)", NULL, NULL },
  { "or", 2, "_a != 0 or _b != 0 or _c != 0 or _d != 0", NULL, NULL },
  { "xor", 2, "xor(_a != 0 or _b != 0, _c != 0 or _d != 0)", NULL, NULL },
  /* Small whole powers are products, as in PyTorch: a logarithm loses bits. */
  { "**", 2, NULL, NULL,
    "_w == 2 ? _z * _z : _w == 3 ? _z * _z * _z : _w == 0 ? 1 : _z == 0 ? 0 : exp(_w * log(_z))" },
  { "neg", 1, "-_a", "-_b", NULL },
  { "not", 1, "_a == 0 and _b == 0", NULL, NULL },
  { "abs", 1, "hypot(_a, _b)", NULL, NULL },
  { "real", 1, "_a", NULL, NULL },
  { "imag", 1, "_b", NULL, NULL },
  { "conj", 1, "_a", "-_b", NULL },
  { "isnan", 1, "isnan(_a) or isnan(_b)", NULL, NULL },
  { "isinf", 1, "isinf(_a) or isinf(_b)", NULL, NULL },
  { "sign", 1, NULL, NULL, "_z == 0 ? 0 : _z / abs(_z)" },
  { "reciprocal", 1, NULL, NULL, "1 / _z" },
  { "sqrt", 1, ROOT "0 : _a >= 0 ? _t : abs(_b) / (2 * _t)",
    ROOT "_b : _a >= 0 ? _b / (2 * _t) : copysign(_t, _b)", NULL },
  { "rsqrt", 1, NULL, NULL, "1 / sqrt(_z)" },
  { "exp", 1, "exp(_a) * cos(_b)", "_b == 0 ? _b : exp(_a) * sin(_b)", NULL },
  { "exp2", 1, NULL, NULL, "exp(_z * 0.6931471805599453)" },
  { "expm1", 1, "let _s = sin(_b / 2): expm1(_a) * cos(_b) - 2 * _s * _s", "exp(_a) * sin(_b)",
    NULL },
  { "log", 1, "log(hypot(_a, _b))", "atan2(_b, _a)", NULL },
  { "log2", 1, NULL, NULL, "log(_z) / 0.6931471805599453" },
  { "log10", 1, NULL, NULL, "log(_z) / 2.302585092994046" },
  { "log1p", 1, "log1p(_a * (2 + _a) + _b * _b) / 2", "atan2(_b, 1 + _a)", NULL },
  { "sin", 1, "sin(_a) * cosh(_b)", "cos(_a) * sinh(_b)", NULL },
  { "cos", 1, "cos(_a) * cosh(_b)", "-(sin(_a) * sinh(_b))", NULL },
  { "sinh", 1, "sinh(_a) * cos(_b)", "cosh(_a) * sin(_b)", NULL },
  { "cosh", 1, "cosh(_a) * cos(_b)", "sinh(_a) * sin(_b)", NULL },
  /* Kahan's formula: no cancellation, and overflow only if the result overflows. */
  { "tan", 1, TANGENT ("_a", "_b") "isinf(_s) ? 0 : _t / _n",
    TANGENT ("_a", "_b") "isinf(_s) ? copysign(1, _b) : _w * sqrt(1 + _s * _s) * _s / _n", NULL },
  { "tanh", 1,
    TANGENT ("_b", "_a") "isinf(_s) ? copysign(1, _a) : _w * sqrt(1 + _s * _s) * _s / _n",
    TANGENT ("_b", "_a") "isinf(_s) ? 0 : _t / _n", NULL },
  { "sigmoid", 1, NULL, NULL, "1 / (1 + exp(-_z))" },
  { "complex", 2, "_a", "_c", NULL },
  { "acos", 1, ELLIPSE ("_a", "_b") "atan2(sqrt(_d), _a)",
    ELLIPSE ("_a", "_b") "copysign(" ALONG ", -_b)", NULL },
  { "asin", 1, ELLIPSE ("_a", "_b") "copysign(atan2(_x, sqrt(_d)), _a)",
    ELLIPSE ("_a", "_b") "copysign(" ALONG ", _b)", NULL },
  { "acosh", 1, ELLIPSE ("_a", "_b") ALONG,
    ELLIPSE ("_a", "_b") "copysign(atan2(sqrt(_d), _a), _b)", NULL },
  { "asinh", 1, ELLIPSE ("_b", "_a") "copysign(" ALONG ", _a)",
    ELLIPSE ("_b", "_a") "copysign(atan2(_x, sqrt(_d)), _b)", NULL },
  { "atanh", 1,
    "let _x = abs(_a): copysign(log1p(4 * _x / ((1 - _x) * (1 - _x) + _b * _b)) / 4, _a)",
    "atan2(2 * _b, (1 - _a) * (1 + _a) - _b * _b) / 2", NULL },
  /* atanh(i z) / i */
  { "atan", 1, NULL, NULL,
    "let y = atanh(complex(-imag(_z), real(_z))): complex(imag(y), -real(y))" },
};

static Pair split (Splitter *s, const AdjExpr *e, const Scope *scope);

static Pair
fail (Splitter *s, const char *what)
{
  if (!s->failed)
    adj_op_call_fail_as (s->call, ADJ_ERROR_UNSUPPORTED, "%s is not defined for complex numbers",
                         what);
  s->failed = TRUE;
  return (Pair){ NULL, NULL };
}

gboolean
op_argument_is_complex (const AdjOpCall *call, guint arg)
{
  const AdjValue *value = &call->args[arg];

  return value->kind == ADJ_VALUE_COMPLEX ||
         (value->kind == ADJ_VALUE_TENSOR &&
          op_is_complex (adj_tensor_get_meta (value->tensor)->dtype));
}

/* -- making expressions -- */

static const AdjExpr *
make (Splitter *s, AdjExprKind kind, const char *name, const AdjExpr *const *args, guint n)
{
  AdjExpr *e = adj_arena_new0 (s->arena, AdjExpr, 1);

  e->kind = kind;
  e->name = name;
  e->n_args = n;
  e->args = adj_arena_memdup (s->arena, args, n * sizeof *args);
  return e;
}

static const AdjExpr *
make_zero (Splitter *s)
{
  return make (s, ADJ_EXPR_INT, NULL, NULL, 0);
}

/* Parses @text and substitutes its names. */
static const AdjExpr *
fill_in (
    Splitter *s, const char *text, const char *const *names, const AdjExpr *const *values, guint n)
{
  const AdjExpr *args[5];
  AdjExpr *let;

  for (guint i = 0; i < n; i++)
    args[i] = values[i];
  args[n] = adj_expr_parse (s->arena, text, -1, NULL);
  g_assert (args[n] != NULL);
  let = (AdjExpr *) make (s, ADJ_EXPR_LET, NULL, args, n + 1);
  let->arg_names = adj_arena_memdup (s->arena, names, n * sizeof *names);
  return let;
}

/* -- splitting -- */

static const Function *
find_function (const char *name, guint arity)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (functions[i].arity == arity && strcmp (functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}

static Pair
apply (Splitter *s, const Function *function, const Pair *operands)
{
  static const char *const names[] = { "_a", "_b", "_c", "_d" };
  const AdjExpr *values[4];
  Pair out = { NULL, NULL };

  if (function->composite != NULL)
    {
      Scope z = { "_z", operands[0], NULL }, w = { "_w", { NULL, NULL }, &z };

      if (function->arity > 1)
        w.pair = operands[1];
      return split (s, adj_expr_parse (s->arena, function->composite, -1, NULL),
                    function->arity > 1 ? &w : &z);
    }
  for (guint i = 0; i < function->arity; i++)
    {
      values[2 * i] = operands[i].re;
      values[2 * i + 1] = operands[i].im != NULL ? operands[i].im : make_zero (s);
    }
  out.re = fill_in (s, function->re, names, values, 2 * function->arity);
  if (function->im != NULL)
    out.im = fill_in (s, function->im, names, values, 2 * function->arity);
  return out;
}

/* A function of real operands is unchanged. */
static Pair
split_call (Splitter *s, const AdjExpr *e, const char *name, const Scope *scope)
{
  const Function *function = find_function (name, e->n_args);
  const AdjExpr *reals[3];
  Pair operands[3];
  gboolean complex = FALSE;

  if (e->n_args > G_N_ELEMENTS (operands))
    return fail (s, name);
  for (guint i = 0; i < e->n_args; i++)
    {
      operands[i] = split (s, e->args[i], scope);
      reals[i] = operands[i].re;
      complex |= operands[i].im != NULL;
    }
  if (s->failed)
    return (Pair){ NULL, NULL };
  if (strcmp (name, "fma") == 0 && complex)
    {
      operands[0] = apply (s, find_function ("*", 2), operands);
      operands[1] = operands[2];
      return apply (s, find_function ("+", 2), operands);
    }
  if (complex || strcmp (name, "complex") == 0)
    return function != NULL ? apply (s, function, operands) : fail (s, name);
  return (Pair){ make (s, e->kind, e->name, reals, e->n_args), NULL };
}

static Pair
split_choice (Splitter *s, const AdjExpr *e, const Scope *scope)
{
  const AdjExpr *condition = split (s, e->args[0], scope).re;
  Pair a = split (s, e->args[1], scope), b = split (s, e->args[2], scope);
  const AdjExpr *re[] = { condition, a.re, b.re };
  const AdjExpr *im[] = { condition, a.im, b.im };

  if (s->failed)
    return a;
  if (a.im == NULL && b.im == NULL)
    return (Pair){ make (s, ADJ_EXPR_CHOICE, NULL, re, 3), NULL };
  for (guint i = 1; i < 3; i++)
    if (im[i] == NULL)
      im[i] = make_zero (s);
  return (Pair){ make (s, ADJ_EXPR_CHOICE, NULL, re, 3), make (s, ADJ_EXPR_CHOICE, NULL, im, 3) };
}

static Pair
split_name (Splitter *s, const AdjExpr *e, const Scope *scope)
{
  for (; scope != NULL; scope = scope->outer)
    if (strcmp (scope->name, e->name) == 0)
      return scope->pair;
  for (guint i = 0; i < s->call->schema->n_arguments; i++)
    if (strcmp (s->call->schema->arguments[i].name, e->name) == 0 &&
        op_argument_is_complex (s->call, i))
      return (Pair){ e, make (s, ADJ_EXPR_CALL, "imag", &e, 1) };
  return (Pair){ e, NULL };
}

static Pair
split_let (Splitter *s, const AdjExpr *let, guint index, const Scope *scope)
{
  Scope inner = { NULL, { NULL, NULL }, scope };

  if (index + 1 == let->n_args)
    return split (s, let->args[index], scope);
  inner.name = let->arg_names[index];
  inner.pair = split (s, let->args[index], scope);
  return split_let (s, let, index + 1, &inner);
}

static Pair
split (Splitter *s, const AdjExpr *e, const Scope *scope)
{
  if (s->failed)
    return (Pair){ NULL, NULL };
  if (e->kind == ADJ_EXPR_NAME)
    return split_name (s, e, scope);
  if (e->kind == ADJ_EXPR_CHOICE)
    return split_choice (s, e, scope);
  if (e->kind == ADJ_EXPR_LET)
    return split_let (s, e, 0, scope);
  if (e->kind == ADJ_EXPR_UNARY)
    return split_call (s, e, e->name[0] == '-' ? "neg" : e->name, scope);
  if (e->kind == ADJ_EXPR_BINARY && e->args[1]->kind == ADJ_EXPR_STRING)
    return (Pair){ e, NULL };
  if (e->kind == ADJ_EXPR_CALL && strcmp (e->name, "given") == 0)
    return (Pair){ e, NULL };
  if (e->kind == ADJ_EXPR_BINARY || e->kind == ADJ_EXPR_CALL)
    return split_call (s, e, e->name, scope);
  return (Pair){ e, NULL };
}

/* Result @result of a body that is a tuple, possibly inside `let`. */
static const AdjExpr *
pick (const AdjExpr *body, guint result)
{
  return body->kind == ADJ_EXPR_TUPLE && result < body->n_args ? body->args[result] : body;
}

const AdjExpr *
op_complex_body (
    const AdjOpCall *call, const AdjExpr *body, guint result, AdjPart part, AdjArena *arena)
{
  Splitter s = { .call = call, .arena = arena };
  Pair pair = split (&s, pick (body, result), NULL);

  if (s.failed)
    return NULL;
  if (part == ADJ_PART_REAL)
    return pair.re;
  return pair.im != NULL ? pair.im : make_zero (&s);
}
