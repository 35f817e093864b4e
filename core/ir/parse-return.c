/* SPDX-License-Identifier: MIT */

/* `return (a, b)` and `return pytree.tree_unflatten((a, b), self._out_spec)`: the output node. */

#include <string.h>

#include "ir/statement-private.h"

/* `, self._out_spec)` */
static gboolean
read_out_spec (AdjReader *r)
{
  g_autoptr (GString) path = g_string_new (NULL);

  return adj_reader_take (r, ",") && adj_reader_at_name (r, "self") &&
         adj_reader_read_self_path (r, path, 0) && g_str_equal (path->str, "_out_spec") &&
         adj_reader_take (r, ")");
}

/* The stretch of @line that is returned, without `pytree.tree_unflatten(`. */
static gboolean
split_return (AdjModuleReader *module, const AdjLine *line, gsize end, AdjLine *out)
{
  static const char unflatten[] = "pytree.tree_unflatten(", shuffle[] = "self._out_shuffle_graph";
  const char *text = line->at + line->indent + strlen ("return");
  gsize length = MAX (line->at + end, text) - text;
  gboolean unflattens;

  for (; length > 0 && *text == ' '; length--)
    text++;
  unflattens = length > strlen (unflatten) && strncmp (text, unflatten, strlen (unflatten)) == 0;
  if (unflattens)
    {
      text += strlen (unflatten);
      length -= strlen (unflatten);
    }
  if (module->n_leaves > 0 && length > strlen (shuffle) &&
      strncmp (text, shuffle, strlen (shuffle)) == 0)
    {
      text += strlen (shuffle);
      length -= strlen (shuffle);
    }
  else
    module->n_leaves = 0;
  *out = (AdjLine){ .at = text, .length = length, .number = line->number };

  return unflattens;
}

/* The function that shuffles outputs gets the leaves of the inputs first. */
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

static void
read_returned (AdjStatement *s, const AdjLine *line, const AdjLine *returned, gboolean unflattens)
{
  g_autoptr (GString) unread = g_string_new (NULL);
  AdjValue value = ADJ_NONE;

  if (adj_reader_read (&s->reader, &value) && (!unflattens || read_out_spec (&s->reader)) &&
      adj_reader_at_end (&s->reader) && !s->reader.raw_mentions_node)
    {
      drop_leaves (&value, s->module->n_leaves);
      adj_statement_take (s->args, &value);
      return;
    }

  adj_diags_add (s->module->diags, ADJ_SEVERITY_WARNING, adj_line_get_span (line),
                 "what is returned is not understood; only its nodes are kept");
  adj_value_clear (&value);
  adj_statement_mention_nodes (s, returned->at, returned->length, unread);
  value = adj_value_new_items (ADJ_VALUE_TUPLE, (gpointer) s->args->data, s->args->len);
  g_array_set_size (s->args, 0);
  adj_statement_take (s->args, &value);
}

void
adj_module_read_return (AdjModuleReader *module,
                        const AdjLine *line,
                        const char *type,
                        AdjValue *descriptions)
{
  const char *facts;
  gsize n_facts, end = adj_tail_split (line, &facts, &n_facts);
  AdjLine returned;
  gboolean unflattens = split_return (module, line, end, &returned);
  g_auto (AdjStatement) s;

  adj_statement_init (&s, module, returned.at, returned.length, line->number);
  read_returned (&s, line, &returned, unflattens);
  if (type)
    adj_node_facts_annotate (&s.facts, type, strlen (type), module->symbols);
  if (descriptions->kind != ADJ_VALUE_NONE)
    adj_node_facts_keep (&s.facts, "desc", descriptions);
  if (facts)
    adj_node_facts_parse (&s.facts, facts, n_facts, module->symbols);

  s.name = adj_builder_unique_name (module->builder, "output");
  adj_statement_understand (&s, ADJ_OPCODE_OUTPUT, "output");
  g_clear_pointer (&module->stack_trace, g_free);
  adj_statement_add (&s, line);
}
