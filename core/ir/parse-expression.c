/* SPDX-License-Identifier: MIT */

/* The right side of a statement: a call, an operator or an attribute, of values that do not nest.
 */

#include <string.h>

#include "ir/statement-private.h"

static void
take_string (GArray *values, const char *text)
{
  AdjValue value = adj_value_new_string (text);

  g_array_append_val (values, value);
}

/* -- Calls ---- */

static gboolean
follows (const AdjReader *r, const char *punct)
{
  AdjToken next = adj_lexer_peek (&r->lexer);

  return next.kind == ADJ_TOKEN_PUNCT && adj_token_is (&next, punct);
}

static char *
read_keyword (AdjReader *r)
{
  char *key;

  if (r->token.kind != ADJ_TOKEN_NAME || !follows (r, "="))
    return NULL;

  key = adj_token_dup (&r->token);
  adj_reader_advance (r);
  adj_reader_advance (r);

  return key;
}

/* Arguments; the opening bracket is taken. */
static gboolean
read_arguments (AdjStatement *s)
{
  AdjReader *r = &s->reader;

  while (!adj_reader_take (r, ")"))
    {
      g_autofree char *key = read_keyword (r);
      AdjValue value = ADJ_NONE;

      if (!adj_reader_read (r, &value))
        return FALSE;
      if (key)
        take_string (s->kwargs, key);
      adj_statement_take (key ? s->kwargs : s->args, &value);
      if (!adj_reader_take (r, ",") && !adj_reader_at (r, ")"))
        return FALSE;
    }

  return TRUE;
}

/* `a.b` after its first name; the last token taken is a name. */
static gboolean
read_parts (AdjReader *r, GString *path)
{
  while (adj_reader_take (r, "."))
    {
      if (r->token.kind != ADJ_TOKEN_NAME)
        return FALSE;
      if (path->len > 0)
        g_string_append_c (path, '.');
      g_string_append_len (path, r->token.text, r->token.length);
      adj_reader_advance (r);
    }

  return TRUE;
}

/* What stands below self: `self.a.b`, `getattr(self.a, "0").b`. */
gboolean
adj_reader_read_self_path (AdjReader *r, GString *path, guint depth)
{
  if (adj_reader_at_name (r, "self"))
    {
      adj_reader_advance (r);
      return read_parts (r, path);
    }

  if (!adj_reader_at_name (r, "getattr") || depth > ADJ_MAX_DEPTH)
    return FALSE;
  adj_reader_advance (r);
  if (!adj_reader_take (r, "(") || !adj_reader_read_self_path (r, path, depth + 1) ||
      !adj_reader_take (r, ",") || r->token.kind != ADJ_TOKEN_STRING)
    return FALSE;

  if (path->len > 0)
    g_string_append_c (path, '.');
  g_string_append_len (path, r->token.text + 1, r->token.length - 2);
  adj_reader_advance (r);

  return adj_reader_take (r, ")") && read_parts (r, path);
}

static gboolean
read_attribute (AdjStatement *s)
{
  g_autoptr (GString) path = g_string_new (NULL);

  if (!adj_reader_read_self_path (&s->reader, path, 0) || path->len == 0)
    return FALSE;

  if (!adj_reader_take (&s->reader, "("))
    {
      adj_statement_understand (s, ADJ_OPCODE_GET_ATTR, path->str);
      return TRUE;
    }

  adj_statement_understand (s, ADJ_OPCODE_CALL_MODULE, path->str);

  return read_arguments (s);
}

/* `x.relu(…)` and `x.shape`, where x is a node. */
static gboolean
read_member (AdjStatement *s, AdjValue *receiver)
{
  AdjReader *r = &s->reader;
  g_autofree char *member = NULL;

  adj_reader_advance (r);
  if (r->token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  member = adj_token_dup (&r->token);
  adj_reader_advance (r);

  adj_statement_take (s->args, receiver);
  if (adj_reader_take (r, "("))
    {
      adj_statement_understand (s, ADJ_OPCODE_CALL_METHOD, member);
      return read_arguments (s);
    }

  take_string (s->args, member);
  adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, "getattr");

  return TRUE;
}

/* `torch.ops.aten.add.Tensor(…)` */
static gboolean
read_function (AdjStatement *s)
{
  AdjReader *r = &s->reader;
  g_autofree char *first = adj_token_dup (&r->token);
  g_autoptr (GString) path = g_string_new (first);
  g_autofree char *target = NULL;

  adj_reader_advance (r);
  if (!read_parts (r, path) || !adj_reader_take (r, "("))
    return FALSE;

  if (g_str_has_prefix (path->str, "_operator_"))
    target = g_strconcat ("operator.", path->str + strlen ("_operator_"), NULL);
  adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, target ? target : path->str);

  return read_arguments (s);
}

/* -- Operators ---- */

const char *
adj_statement_find_operator (const AdjReader *r, AdjFixity fixity)
{
  g_autofree char *symbol = NULL;

  if (r->token.kind != ADJ_TOKEN_PUNCT)
    return NULL;
  symbol = adj_token_dup (&r->token);

  return adj_target_from_symbol (symbol, fixity);
}

gboolean
adj_statement_read_operand (AdjStatement *s)
{
  AdjValue value = ADJ_NONE;

  if (!adj_reader_read_operand (&s->reader, &value))
    return FALSE;

  adj_statement_take (s->args, &value);

  return TRUE;
}

/* `a + b`, `a[b]`, with a taken. */
static gboolean
read_tail (AdjStatement *s)
{
  AdjReader *r = &s->reader;
  const char *target = adj_statement_find_operator (r, ADJ_FIXITY_INFIX);
  AdjValue index = ADJ_NONE;

  if (target)
    {
      adj_reader_advance (r);
      adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, target);
      return adj_statement_read_operand (s);
    }

  if (!adj_reader_take (r, "[") || !adj_reader_read (r, &index))
    return FALSE;
  adj_statement_take (s->args, &index);
  adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, "operator.getitem");

  return adj_reader_take (r, "]");
}

static gboolean
read_prefixed (AdjStatement *s)
{
  const char *target = adj_statement_find_operator (&s->reader, ADJ_FIXITY_PREFIX);
  AdjReader start;

  if (!target)
    return FALSE;

  start = s->reader;
  adj_reader_advance (&s->reader);
  if (!adj_statement_read_operand (s))
    return FALSE;
  if (adj_reader_at_end (&s->reader) || adj_reader_at (&s->reader, ";"))
    {
      adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, target);
      return TRUE;
    }

  /* -1 * x: the sign belongs to the number. */
  g_array_set_size (s->args, 0);
  s->reader = start;

  return adj_statement_read_operand (s) && read_tail (s);
}

gboolean
adj_statement_read_expression (AdjStatement *s)
{
  AdjReader *r = &s->reader;
  AdjReader start = *r;
  g_auto (AdjValue) node = ADJ_NONE;

  if (r->token.kind == ADJ_TOKEN_NAME)
    {
      g_autofree char *name = adj_token_dup (&r->token);
      gboolean is_node = adj_module_resolve (name, &node, s->module);

      if (is_node && follows (r, "."))
        {
          adj_reader_advance (r);
          return read_member (s, &node);
        }
      if (read_attribute (s))
        return TRUE;
      g_array_set_size (s->args, 0);
      g_array_set_size (s->kwargs, 0);
      *r = start;
      /* A node is never called, but it may have the name of what it calls. */
      if (follows (r, "(") || (!is_node && follows (r, ".")))
        return read_function (s);
    }

  return read_prefixed (s) || (adj_statement_read_operand (s) && read_tail (s));
}
