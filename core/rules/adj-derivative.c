/* SPDX-License-Identifier: MIT */
/* Gradient rules written as mathematics. */

#include "rules/adj-derivative.h"

#include <math.h>
#include <string.h>

#include "base/adj-expr.h"
#include "call/adj-schema.h"
#include "ops/adj-op-table.h"
#include "rules/derivative-private.h"

#define MAX_DEPTH 3 /* of inlined bodies of backward operators */

/* Precedence of a text: one of lower precedence than its position requires gets brackets. */
enum
{
  HOLDS_CHOICE,
  HOLDS_COMPARISON,
  HOLDS_SUM,
  HOLDS_PRODUCT,
  HOLDS_SIGN,
  HOLDS_POWER,
  HOLDS_ALL,
};

static void print (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out);

/* -- operators -- */

typedef struct
{
  const char *name, *sign;
  guint holds;
} Sign;

static const Sign signs[] = {
  { "+", " + ", HOLDS_SUM },
  { "-", " − ", HOLDS_SUM },
  { "*", " · ", HOLDS_PRODUCT },
  { "/", " / ", HOLDS_PRODUCT },
  { "**", "^", HOLDS_POWER },
  { "==", " = ", HOLDS_COMPARISON },
  { "<", " < ", HOLDS_COMPARISON },
  { ">", " > ", HOLDS_COMPARISON },
  { "<=", " ≤ ", HOLDS_COMPARISON },
  { ">=", " ≥ ", HOLDS_COMPARISON },
  { "!=", " ≠ ", HOLDS_COMPARISON },
  { "and", " and ", HOLDS_CHOICE },
  { "or", " or ", HOLDS_CHOICE },
  { "add", " + ", HOLDS_SUM },
  { "sub", " − ", HOLDS_SUM },
  { "mul", " · ", HOLDS_PRODUCT },
  { "div", " / ", HOLDS_PRODUCT },
  { "mm", " @ ", HOLDS_PRODUCT },
  { "bmm", " @ ", HOLDS_PRODUCT },
  { "matmul", " @ ", HOLDS_PRODUCT },
  { "bitwise_and", " and ", HOLDS_CHOICE },
  { "pow", "^", HOLDS_POWER },
  { "eq", " = ", HOLDS_COMPARISON },
  { "ne", " ≠ ", HOLDS_COMPARISON },
  { "lt", " < ", HOLDS_COMPARISON },
  { "le", " ≤ ", HOLDS_COMPARISON },
  { "gt", " > ", HOLDS_COMPARISON },
  { "ge", " ≥ ", HOLDS_COMPARISON },
  { "logical_and", " and ", HOLDS_CHOICE },
  { "logical_or", " or ", HOLDS_CHOICE },
};

/* A call with notation of its own (mathematics.inc). */
typedef struct
{
  const char *name;
  guint n_args;
  const char *form;
  guint holds, inner;
} Form;

#define ANY G_MAXUINT
#define FORM(name, n_args, form, holds, inner) { name, n_args, form, holds, inner },
static const Form forms[] = {
#include "rules/mathematics.inc"
};
#undef FORM

typedef struct
{
  double value;
  const char *text;
  guint holds;
} Number;

#define NUMBER(value, text, holds) { value, text, holds },
static const Number numbers[] = {
#include "rules/mathematics.inc"
};
#undef NUMBER

/* Whether @name is @packet or an overload of it: "mul.Tensor" of "mul". */
static gboolean
is_called (const char *name, const char *packet)
{
  gsize length = strlen (packet);

  return strncmp (name, packet, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static const Sign *
find_sign (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (signs); i++)
    if (is_called (name, signs[i].name))
      return &signs[i];
  return NULL;
}

static const Form *
find_form (const AdjExpr *call)
{
  g_autofree char *packet = g_strndup (call->name, strcspn (call->name, "."));

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if ((forms[i].n_args == call->n_args || forms[i].n_args == ANY) &&
        g_pattern_match_simple (forms[i].name, packet))
      return &forms[i];
  return NULL;
}

static void
print_form (
    const Form *form, const AdjExpr *call, const DerivativeNames *names, guint holds, GString *out)
{
  gboolean brackets = form->holds < holds;

  g_string_append (out, brackets ? "(" : "");
  for (const char *at = form->form; *at != '\0'; at++)
    if (*at == '$')
      print (call->args[*++at - '0'], names, form->inner, out);
    else
      g_string_append_c (out, *at);
  g_string_append (out, brackets ? ")" : "");
}

/* Compares all digits: rules have constants as PyTorch's files write them. */
static const Number *
find_number (double value)
{
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (fabs (value / numbers[i].value - 1) < 1e-15)
      return &numbers[i];
  return NULL;
}

static void
print_number (const AdjExpr *expr, guint holds, GString *out)
{
  const Number *number = find_number (expr->float_value);

  if (number != NULL)
    g_string_append_printf (out, number->holds < holds ? "(%s)" : "%s", number->text);
  else if (fabs (expr->float_value) < 1e6 && expr->float_value == floor (expr->float_value))
    g_string_append_printf (out, "%d", (gint) expr->float_value);
  else
    adj_expr_print (expr, out);
}

/* -- products -- */

/* The two factors of a product; %NULL: @expr is none. */
static const AdjExpr *const *
get_factors (const AdjExpr *expr)
{
  gboolean is_product =
      (expr->kind == ADJ_EXPR_BINARY && g_str_equal (expr->name, "*")) ||
      (expr->kind == ADJ_EXPR_CALL && expr->n_args == 2 && is_called (expr->name, "mul"));

  return is_product ? (const AdjExpr *const *) expr->args : NULL;
}

/* Drops conj, assuming real numbers. */
static const AdjExpr *
get_real (const AdjExpr *expr)
{
  gboolean is_conjugate = expr->kind == ADJ_EXPR_CALL && expr->n_args == 1 &&
                          (is_called (expr->name, "conj") || is_called (expr->name, "conjugate"));

  return is_conjugate ? expr->args[0] : expr;
}

static const char *const raised[] = { "", "", "²", "³", "⁴" };

/* x · x · x as x³. */
static void
print_power (const AdjExpr *base, guint n, const DerivativeNames *names, guint holds, GString *out)
{
  print (base, names, n == 1 ? holds : HOLDS_ALL, out);
  if (n < G_N_ELEMENTS (raised))
    g_string_append (out, raised[n]);
  else
    g_string_append_printf (out, "^%u", n);
}

/* Writes equal factors at the end as a power. */
static void
print_product (const AdjExpr *product, const DerivativeNames *names, guint holds, GString *out)
{
  const AdjExpr *left = product, *last = get_real (get_factors (product)[1]);
  gboolean brackets;
  guint n = 0;

  while (left != NULL)
    {
      const AdjExpr *const *factors = get_factors (left);

      if (!adj_expr_equal (get_real (factors != NULL ? factors[1] : left), last))
        break;
      left = factors != NULL ? factors[0] : NULL;
      n++;
    }
  brackets = left != NULL && holds > HOLDS_PRODUCT;
  g_string_append (out, brackets ? "(" : "");
  if (left != NULL)
    {
      print (left, names, HOLDS_PRODUCT, out);
      g_string_append (out, " · ");
    }
  print_power (last, n, names, left != NULL ? HOLDS_PRODUCT + 1 : holds, out);
  g_string_append (out, brackets ? ")" : "");
}

static void
print_pair (const Sign *sign,
            const AdjExpr *left,
            const AdjExpr *right,
            const DerivativeNames *names,
            guint holds,
            GString *out)
{
  gboolean brackets = sign->holds < holds;

  g_string_append (out, brackets ? "(" : "");
  print (left, names, sign->holds, out);
  g_string_append (out, sign->sign);
  print (right, names, sign->holds + 1, out);
  g_string_append (out, brackets ? ")" : "");
}

/* An operation of two arguments. */
static void
print_operation (
    const Sign *sign, const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  const AdjExpr *right = expr->args[1];

  if (get_factors (expr) != NULL)
    print_product (expr, names, holds, out);
  else if (sign->holds == HOLDS_POWER && right->kind == ADJ_EXPR_INT && right->int_value > 1 &&
           right->int_value < (gint64) G_N_ELEMENTS (raised))
    print_power (expr->args[0], (guint) right->int_value, names, holds, out);
  else
    print_pair (sign, expr->args[0], right, names, holds, out);
}

static void
print_negative (const AdjExpr *of, const DerivativeNames *names, guint holds, GString *out)
{
  g_string_append (out, holds > HOLDS_SIGN ? "(−" : "−");
  print (of, names, HOLDS_SIGN, out);
  g_string_append (out, holds > HOLDS_SIGN ? ")" : "");
}

/* -- names -- */

static void
print_name (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  const DerivativeNames *around = NULL;
  const AdjExpr *value = derivative_names_find (names, expr->name, &around);

  if (value != NULL)
    print (value, around, holds, out);
  else if (!g_str_has_prefix (expr->name, "result"))
    g_string_append (out, expr->name);
  else
    g_string_append_printf (out, "y%s", expr->name + strlen ("result"));
}

/* Whether @expr is the constant @name, or a name with that value. */
static gboolean
is_constant (const AdjExpr *expr, const DerivativeNames *names, const char *name)
{
  const DerivativeNames *around = NULL;
  const AdjExpr *value =
      expr->kind == ADJ_EXPR_NAME ? derivative_names_find (names, expr->name, &around) : NULL;

  if (value != NULL)
    return is_constant (value, around, name);
  return expr->kind == ADJ_EXPR_NAME && g_str_equal (expr->name, name);
}

/* -- calls -- */

static void print_part (
    const AdjExpr *expr, guint part, const DerivativeNames *names, guint holds, GString *out);

/* Writes the pointwise body of the operator that @expr calls, with its arguments substituted;
 * @part: index of the result. */
static gboolean
print_body (
    const AdjExpr *expr, guint part, const DerivativeNames *names, guint holds, GString *out)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s%s", expr->name,
                                             strchr (expr->name, '.') == NULL ? ".default" : "");
  const AdjOp *op = names == NULL || names->depth < MAX_DEPTH ? adj_op_find (target) : NULL;
  const AdjSchema *schema = op != NULL && op->expr != NULL ? adj_op_get_schema (op) : NULL;
  const char *arg_names[16];
  const AdjExpr *values[16] = { NULL };
  AdjArena *arena;
  const AdjExpr *body;
  DerivativeNames inner = { names, arg_names, values, 0, names != NULL ? names->depth + 1 : 1 };

  if (schema == NULL || strstr (expr->name, "backward") == NULL || schema->n_arguments > 16)
    return FALSE;
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      arg_names[i] = schema->arguments[i].name;
      for (guint k = 0; k < expr->n_args; k++)
        if (expr->arg_names != NULL && expr->arg_names[k] != NULL
                ? g_str_equal (expr->arg_names[k], arg_names[i])
                : k == i)
          values[i] = expr->args[k];
    }
  inner.n = schema->n_arguments;
  arena = adj_arena_new ();
  body = adj_expr_parse (arena, op->expr, -1, NULL);
  if (body != NULL)
    print_part (body, part, &inner, holds, out);
  adj_arena_free (arena);
  return body != NULL;
}

static void
print_list (const AdjExpr *expr,
            guint n,
            const char *open,
            const char *close,
            const DerivativeNames *names,
            GString *out)
{
  g_string_append (out, open);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print (expr->args[i], names, HOLDS_CHOICE, out);
    }
  g_string_append (out, close);
}

static void
print_call (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  const Sign *sign = expr->n_args == 2 ? find_sign (expr->name) : NULL;
  const Form *form = find_form (expr);

  if (sign != NULL)
    print_operation (sign, expr, names, holds, out);
  else if (form != NULL)
    print_form (form, expr, names, holds, out);
  else if (expr->n_args == 2 && is_called (expr->name, "rsub"))
    print_pair (find_sign ("sub"), expr->args[1], expr->args[0], names, holds, out);
  else if (expr->n_args == 1 && is_called (expr->name, "neg"))
    print_negative (expr->args[0], names, holds, out);
  else if (get_real (expr) != expr)
    print (get_real (expr), names, holds, out);
  else if (!print_body (expr, G_MAXUINT, names, holds, out))
    {
      g_string_append_len (out, expr->name, (gssize) strcspn (expr->name, "."));
      print_list (expr, expr->n_args, "(", ")", names, out);
    }
}

/* -- all -- */

static void
print_choice (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  if (is_constant (expr->args[0], names, "True") || is_constant (expr->args[2], names, "None"))
    {
      print (expr->args[1], names, holds, out);
      return;
    }
  if (is_constant (expr->args[0], names, "False"))
    {
      print (expr->args[2], names, holds, out);
      return;
    }
  g_string_append (out, holds > HOLDS_CHOICE ? "(" : "");
  print (expr->args[1], names, HOLDS_CHOICE + 1, out);
  g_string_append (out, " if ");
  print (expr->args[0], names, HOLDS_CHOICE + 1, out);
  g_string_append (out, ", else ");
  print (expr->args[2], names, HOLDS_CHOICE, out);
  g_string_append (out, holds > HOLDS_CHOICE ? ")" : "");
}

/* Result @part of several. */
static void
print_part (
    const AdjExpr *expr, guint part, const DerivativeNames *names, guint holds, GString *out)
{
  if (part < expr->n_args && (expr->kind == ADJ_EXPR_LIST || expr->kind == ADJ_EXPR_TUPLE))
    print (expr->args[part], names, holds, out);
  else
    print (expr, names, holds, out);
}

/* @part: as in print_part(), of the body's value. */
static void
print_let (const AdjExpr *expr, guint part, const DerivativeNames *names, guint holds, GString *out)
{
  g_string_append (out, holds > HOLDS_CHOICE ? "(" : "");
  print_part (expr->args[expr->n_args - 1], part, names, HOLDS_CHOICE + 1, out);
  for (guint i = 0; i + 1 < expr->n_args; i++)
    {
      g_string_append_printf (out, i > 0 ? ", %s = " : " where %s = ", expr->arg_names[i]);
      print (expr->args[i], names, HOLDS_CHOICE + 1, out);
    }
  g_string_append (out, holds > HOLDS_CHOICE ? ")" : "");
}

static gboolean
gives_several (const AdjExpr *expr)
{
  return expr->kind == ADJ_EXPR_LIST || expr->kind == ADJ_EXPR_TUPLE;
}

static void
print_index (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  const AdjExpr *of = expr->args[0];
  gboolean known = expr->args[1]->kind == ADJ_EXPR_INT;
  guint part = known ? (guint) expr->args[1]->int_value : 0;

  if (known && gives_several (of))
    print_part (of, part, names, holds, out);
  else if (known && of->kind == ADJ_EXPR_LET && gives_several (of->args[of->n_args - 1]))
    print_let (of, part, names, holds, out);
  else if (!known || of->kind != ADJ_EXPR_CALL || !print_body (of, part, names, holds, out))
    {
      print (of, names, HOLDS_ALL, out);
      g_string_append_c (out, '[');
      print (expr->args[1], names, HOLDS_CHOICE, out);
      g_string_append_c (out, ']');
    }
}

static void
print (const AdjExpr *expr, const DerivativeNames *names, guint holds, GString *out)
{
  const Sign *sign = expr->kind == ADJ_EXPR_BINARY ? find_sign (expr->name) : NULL;
  DerivativeBinding binding;
  const AdjExpr *body = expr->n_args > 0 ? derivative_find_body (expr, names, &binding) : NULL;

  if (body != NULL)
    print (body, &binding.names, holds, out);
  else if (sign != NULL)
    print_operation (sign, expr, names, holds, out);
  else if (expr->kind == ADJ_EXPR_FLOAT)
    print_number (expr, holds, out);
  else if (expr->kind == ADJ_EXPR_UNARY && g_str_equal (expr->name, "-"))
    print_negative (expr->args[0], names, holds, out);
  else if (expr->kind == ADJ_EXPR_NAME)
    print_name (expr, names, holds, out);
  else if (expr->kind == ADJ_EXPR_CALL)
    print_call (expr, names, holds, out);
  else if (expr->kind == ADJ_EXPR_CHOICE)
    print_choice (expr, names, holds, out);
  else if (expr->kind == ADJ_EXPR_LET)
    print_let (expr, G_MAXUINT, names, holds, out);
  else if (expr->kind == ADJ_EXPR_INDEX)
    print_index (expr, names, holds, out);
  else if (expr->kind == ADJ_EXPR_LIST)
    print_list (expr, expr->n_args, "[", "]", names, out);
  else
    adj_expr_print (expr, out);
}

static void
derivative_free (gpointer data)
{
  AdjDerivative *derivative = data;

  g_free (derivative->argument);
  g_free (derivative->text);
  g_free (derivative);
}

static gboolean
add_entry (const char *name, const AdjExpr *expr, gpointer data, GError **error)
{
  GPtrArray *list = data;
  AdjDerivative *derivative = g_new (AdjDerivative, 1);
  GString *text = g_string_new (NULL);

  print (expr, NULL, HOLDS_CHOICE, text);
  *derivative = (AdjDerivative){ g_strdup (name), g_string_free (text, FALSE) };
  g_ptr_array_add (list, derivative);
  return TRUE;
}

GPtrArray *
adj_derivative_list (const AdjOp *op)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (derivative_free);
  AdjArena *arena = adj_arena_new ();

  if (op->grad != NULL)
    adj_rules_parse (arena, op->grad, add_entry, list, NULL);
  adj_arena_free (arena);
  return list;
}
