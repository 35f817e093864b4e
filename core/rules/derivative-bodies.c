/* SPDX-License-Identifier: MIT */
/* The mathematics of calls in rules: the pattern of mathematics.inc that matches a call. */

#include <string.h>

#include "rules/derivative-private.h"

typedef struct
{
  const char *pattern, *body;
} Row;

#define AS(pattern, body) { pattern, body },
static const Row rows[] = {
#include "rules/mathematics.inc"
};
#undef AS

typedef struct
{
  const AdjExpr *pattern, *body;
} Parsed;

typedef struct
{
  AdjArena *arena;
  Parsed rows[G_N_ELEMENTS (rows)];
} Table;

/* Parses all rows once; never freed. */
static const Parsed *
get_parsed (void)
{
  static Table *table = NULL;

  if (g_once_init_enter (&table))
    {
      Table *made = g_new0 (Table, 1);

      made->arena = adj_arena_new ();
      for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
        {
          Parsed *row = &made->rows[i];

          row->pattern = adj_expr_parse (made->arena, rows[i].pattern, -1, NULL);
          row->body = adj_expr_parse (made->arena, rows[i].body, -1, NULL);
          g_assert (row->pattern != NULL && row->body != NULL);
        }
      g_once_init_leave (&table, made);
    }
  return table->rows;
}

const AdjExpr *
derivative_names_find (const DerivativeNames *names,
                       const char *name,
                       const DerivativeNames **around)
{
  for (const DerivativeNames *at = names; at != NULL; at = at->outer)
    for (guint i = 0; i < at->n; i++)
      if (at->values[i] != NULL && strcmp (at->names[i], name) == 0)
        {
          *around = at->outer;
          return at->values[i];
        }
  return NULL;
}

static gboolean
bind (DerivativeBinding *binding, const char *letter, const AdjExpr *expr)
{
  guint i = 0;

  while (i < binding->names.n && strcmp (binding->letters[i], letter) != 0)
    i++;
  if (i < binding->names.n)
    return adj_expr_equal (binding->values[i], expr);
  binding->letters[i] = letter;
  binding->values[i] = expr;
  binding->names.n++;
  return TRUE;
}

static gboolean
has_same_name (const AdjExpr *pattern, const AdjExpr *expr)
{
  gsize length;

  if (pattern->name == NULL || expr->name == NULL)
    return pattern->name == expr->name;
  length = strlen (pattern->name);
  return strncmp (pattern->name, expr->name, length) == 0 &&
         (expr->name[length] == '\0' || (expr->kind == ADJ_EXPR_CALL && expr->name[length] == '.'));
}

static gboolean
fits (const AdjExpr *pattern, const AdjExpr *expr, DerivativeBinding *binding)
{
  const DerivativeNames *around = NULL;
  const AdjExpr *value;

  if (pattern->kind == ADJ_EXPR_NAME && g_ascii_islower (pattern->name[0]) &&
      pattern->name[1] == '\0')
    return bind (binding, pattern->name, expr);
  value = pattern->n_args == 0 && expr->kind == ADJ_EXPR_NAME
              ? derivative_names_find (binding->names.outer, expr->name, &around)
              : NULL;
  expr = value != NULL ? value : expr;
  if (pattern->kind != expr->kind || pattern->n_args != expr->n_args ||
      !has_same_name (pattern, expr) || pattern->int_value != expr->int_value)
    return FALSE;
  for (guint i = 0; i < pattern->n_args; i++)
    if (!fits (pattern->args[i], expr->args[i], binding))
      return FALSE;
  return TRUE;
}

const AdjExpr *
derivative_find_body (const AdjExpr *expr, const DerivativeNames *names, DerivativeBinding *binding)
{
  const Parsed *parsed = get_parsed ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      binding->names = (DerivativeNames){ .outer = names,
                                          .names = binding->letters,
                                          .values = binding->values,
                                          .depth = names != NULL ? names->depth : 0 };
      if (fits (parsed[i].pattern, expr, binding))
        return parsed[i].body;
    }
  return NULL;
}
