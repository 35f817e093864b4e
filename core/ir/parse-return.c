/* SPDX-License-Identifier: MIT */

/* `return (a, b)` and `return pytree.tree_unflatten((a, b), self._out_spec)`: the output node. */

#include <string.h>

#include "ir/statement-private.h"

/* `, self._out_spec)` */
static gboolean
read_out_spec (AdjReader *r)
{
  g_autoptr (GString) path = g_string_new (NULL);

  if (!adj_reader_take (r, ",") || !adj_reader_at_name (r, "self") ||
      !adj_reader_read_self_path (r, path, 0) || !g_str_equal (path->str, "_out_spec"))
    return FALSE;
  adj_reader_take (r, ",");

  return adj_reader_take (r, ")");
}

/* Takes the words @words, the last of which is %NULL, if all of them are next. */
static gboolean
take_words (AdjReader *r, const char *const *words)
{
  AdjReader ahead = *r;

  for (; *words; words++)
    {
      if (!adj_token_is (&ahead.token, *words))
        return FALSE;
      adj_reader_advance (&ahead);
    }
  *r = ahead;

  return TRUE;
}

/* Drops the leaves of the inputs, which the function that shuffles outputs gets first. */
static void
drop_leaves (AdjValue *value, guint n_leaves)
{
  AdjValue rest;

  if (n_leaves == 0 || value->kind != ADJ_VALUE_TUPLE)
    return;

  n_leaves = MIN (n_leaves, value->n);
  rest = adj_value_new_items (ADJ_VALUE_TUPLE, value->items + n_leaves, value->n - n_leaves);
  for (guint i = n_leaves; i < value->n; i++)
    value->items[i] = ADJ_NONE;
  adj_value_clear (value);
  *value = rest;
}

/* A value, computed or not; an unknown one is kept as text if it mentions no node. */
static gboolean
read_value (AdjStatement *s, AdjValue *out)
{
  AdjReader start = s->reader;

  if (adj_reader_at_end_of_statement (&s->reader))
    return TRUE;
  if (adj_reader_read (&s->reader, out) && adj_reader_at_end_of_statement (&s->reader) &&
      out->kind != ADJ_VALUE_RAW && !s->reader.raw_mentions_node)
    return TRUE;

  adj_value_clear (out);
  g_array_set_size (s->parsed_nodes, 0);
  s->reader = start;
  if (adj_statement_read_right (s, TRUE, out))
    return TRUE;

  adj_value_clear (out);
  g_array_set_size (s->parsed_nodes, 0);
  s->reader = start;

  return adj_reader_read (&s->reader, out) && adj_reader_at_end_of_statement (&s->reader) &&
         !s->reader.raw_mentions_node;
}

/* `return X`, `return pytree.tree_unflatten(X, self._out_spec)` and
 * `return self._out_shuffle_graph(X)`, which is next. */
static gboolean
read_returned (AdjStatement *s, AdjValue *out)
{
  static const char *const unflatten[] = { "pytree", ".", "tree_unflatten", "(", NULL };
  static const char *const shuffle[] = { "self", ".", "_out_shuffle_graph", NULL };
  AdjReader *r = &s->reader;

  gboolean unflattens;

  adj_reader_advance (r);
  unflattens = take_words (r, unflatten);
  if (s->module->n_leaves == 0 || !take_words (r, shuffle))
    s->module->n_leaves = 0;
  if (unflattens ? !adj_reader_read (r, out) || !read_out_spec (r) ||
                       !adj_reader_at_end_of_statement (r) || r->raw_mentions_node
                 : !read_value (s, out))
    return FALSE;

  drop_leaves (out, s->module->n_leaves);

  return TRUE;
}

/* The part of the line after `return`. */
static AdjLine
find_value (const AdjStatement *s, const AdjLine *line)
{
  AdjReader r = s->reader;
  AdjLine found = *line;

  while (!adj_reader_at_end_of_statement (&r) && r.token.kind != ADJ_TOKEN_BAD)
    adj_reader_advance (&r);
  if (r.token.kind != ADJ_TOKEN_BAD)
    found.length = r.token.text - line->at;

  return found;
}

void
adj_module_read_return (AdjModuleReader *module,
                        const AdjLine *line,
                        const char *type,
                        AdjValue *descriptions)
{
  g_auto (AdjStatement) s;
  AdjValue value = ADJ_NONE;
  AdjLine whole;

  adj_statement_init (&s, module, line);
  whole = find_value (&s, line);
  g_clear_pointer (&module->stack_trace, g_free);
  if (!read_returned (&s, &value))
    {
      adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, s.reader.token.span,
                     "what is returned is not understood; it is kept as text");
      adj_value_clear (&value);
      adj_value_clear (descriptions);
      adj_module_return_raw (module, &whole);
      return;
    }

  adj_statement_read_metadata (&s, line->at + line->indent, line->length - line->indent);
  if (type)
    adj_parsed_meta_annotate (&s.metadata, type, strlen (type), module->symbols);
  if (descriptions->kind != ADJ_VALUE_NONE)
    adj_parsed_meta_keep (&s.metadata, "desc", descriptions);
  adj_statement_add_output (&s, &value, line);
}
