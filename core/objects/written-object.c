/* SPDX-License-Identifier: MIT */
/* Value objects as Python writes them: "Scale(2.0, name='x')", "Speed.FAST". */

#include <string.h>

#include "base/adj-lexer.h"
#include "ir/adj-text.h"
#include "objects/written-object-private.h"

typedef struct
{
  GString *args;   /* "(2.0," */
  GString *kwargs; /* "{'name': 'x'," */
} Written;

static void
add_argument (Written *written, const char *at, gsize n)
{
  AdjLexer lexer;
  AdjToken name, equals;

  adj_lexer_init (&lexer, at, n, 1);
  name = adj_lexer_next (&lexer);
  equals = adj_lexer_next (&lexer);
  if (name.kind == ADJ_TOKEN_END)
    return;
  if (name.kind == ADJ_TOKEN_NAME && adj_token_is (&equals, "="))
    g_string_append_printf (written->kwargs, "'%.*s': %.*s,", (int) name.length, name.text,
                            (int) (at + n - equals.text - 1), equals.text + 1);
  else
    g_string_append_printf (written->args, "%.*s,", (int) n, at);
}

static int
get_step (const AdjToken *token)
{
  if (token->kind != ADJ_TOKEN_PUNCT || token->length != 1)
    return 0;
  return strchr ("([{", *token->text) != NULL ? 1 : strchr (")]}", *token->text) != NULL ? -1 : 0;
}

/* Splits the text between the parentheses at its commas. */
static void
split (Written *written, const char *inside, gsize n)
{
  const char *start = inside;
  AdjLexer lexer;
  AdjToken token;
  int depth = 0;

  adj_lexer_init (&lexer, inside, n, 1);
  while ((token = adj_lexer_next (&lexer)).kind != ADJ_TOKEN_END)
    {
      depth += get_step (&token);
      if (depth > 0 || !adj_token_is (&token, ","))
        continue;
      add_argument (written, start, (gsize) (token.text - start));
      start = token.text + 1;
    }
  add_argument (written, start, (gsize) (inside + n - start));
}

AdjObject *
object_read_written (const AdjObjectClass *klass, const char *inside, GError **error)
{
  g_autoptr (GString) args = g_string_new ("(");
  g_autoptr (GString) kwargs = g_string_new ("{");
  g_auto (AdjValue) positional = ADJ_NONE;
  g_auto (AdjValue) named = ADJ_NONE;
  g_auto (AdjValue) state = ADJ_NONE;

  if (g_str_has_suffix (inside, ")"))
    split (&(Written){ args, kwargs }, inside, strlen (inside) - 1);
  else
    g_string_append_printf (args, "'%s',", inside);
  g_string_append_c (args, ')');
  g_string_append_c (kwargs, '}');
  return adj_value_parse (args->str, -1, NULL, NULL, &positional, error) &&
                 adj_value_parse (kwargs->str, -1, NULL, NULL, &named, error) &&
                 klass->read (&positional, &named, &state, error)
             ? adj_object_new (klass, &state, error)
             : NULL;
}
