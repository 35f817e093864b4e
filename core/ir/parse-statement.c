/* SPDX-License-Identifier: MIT */

/* One statement, one node: `name: "annotation" = expression;  x = None  # adj: {…}`. */

#include <string.h>

#include "ir/statement-private.h"
#include "ir/text-private.h"

AdjSpan
adj_line_get_span (const AdjLine *line)
{
  return (AdjSpan){ line->number, line->indent + 1, line->length - line->indent };
}

void
adj_statement_take (GArray *values, AdjValue *value)
{
  AdjValue stolen = adj_value_steal (value);

  g_array_append_val (values, stolen);
}

void
adj_statement_understand (AdjStatement *s, AdjOpcode opcode, const char *target)
{
  s->opcode = opcode;
  g_free (s->target);
  s->target = g_strdup (target);
}

/* -- Left side ---- */

/* `: "f32[2]"` or ` : list`, if it is there. */
static gboolean
read_annotation (AdjStatement *s)
{
  AdjReader *r = &s->reader;
  const char *start, *end;

  if (!adj_reader_take (r, ":"))
    return TRUE;

  start = end = r->token.text;
  for (gint depth = 0; !adj_reader_at_end (r); adj_reader_advance (r))
    {
      if (depth == 0 && (adj_reader_at (r, "=") || adj_reader_at (r, ";")))
        break;
      depth += adj_reader_at (r, "[") || adj_reader_at (r, "(");
      depth -= adj_reader_at (r, "]") || adj_reader_at (r, ")");
      end = r->token.text + r->token.length;
    }

  return adj_node_facts_annotate (&s->facts, start, end - start, s->module->symbols);
}

static gboolean
read_left (AdjStatement *s)
{
  if (s->reader.token.kind != ADJ_TOKEN_NAME || adj_token_is (&s->reader.token, "None"))
    return FALSE;

  g_free (s->name);
  s->name = adj_token_dup (&s->reader.token);
  adj_reader_advance (&s->reader);

  return read_annotation (s) && adj_reader_take (&s->reader, "=");
}

/* `x += 1;  iadd = x` and `x[0] = 1;  setitem = x`: the binding comes second. */
static gboolean
read_in_place (AdjStatement *s)
{
  AdjReader *r = &s->reader;
  const char *target;
  AdjValue value = ADJ_NONE;
  g_auto (AdjValue) bound = ADJ_NONE;

  if (!adj_statement_read_operand (s))
    return FALSE;

  target = adj_statement_find_operator (r, ADJ_FIXITY_INPLACE);
  if (target)
    adj_reader_advance (r);
  else
    {
      if (!adj_reader_take (r, "[") || !adj_reader_read (r, &value))
        return FALSE;
      adj_statement_take (s->args, &value);
      if (!adj_reader_take (r, "]") || !adj_reader_take (r, "="))
        return FALSE;
      target = "operator.setitem";
    }
  if (!adj_reader_read (r, &value))
    return FALSE;
  adj_statement_take (s->args, &value);
  if (!adj_reader_take (r, ";") || !read_left (s) || !adj_reader_read_operand (r, &bound) ||
      !adj_value_equal (&bound, &g_array_index (s->args, AdjValue, 0)))
    return FALSE;
  adj_statement_understand (s, ADJ_OPCODE_CALL_FUNCTION, target);

  return TRUE;
}

/* -- Adding ---- */

void
adj_statement_init (
    AdjStatement *s, AdjModuleReader *module, const char *text, gsize length, guint line)
{
  *s = (AdjStatement){
    .module = module,
    .args = adj_value_array_new (),
    .kwargs = adj_value_array_new (),
  };
  adj_node_facts_init (&s->facts);
  adj_reader_init (&s->reader, text, length, line);
  s->reader.resolve = adj_module_resolve;
  s->reader.data = module;
  s->reader.symbols = module->symbols;
}

void
adj_statement_clear (AdjStatement *s)
{
  adj_node_facts_clear (&s->facts);
  g_array_unref (s->args);
  g_array_unref (s->kwargs);
  g_free (s->name);
  g_free (s->own_name);
  g_free (s->target);
}

void
adj_statement_mention_nodes (AdjStatement *s, const char *text, gsize length, GString *out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  const char *copied = text;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      g_autofree char *name = NULL;
      AdjValue node = ADJ_NONE;

      if (token.kind != ADJ_TOKEN_NAME || (token.text > text && token.text[-1] == '.'))
        continue;
      name = adj_token_dup (&token);
      if (!adj_module_resolve (name, &node, s->module))
        continue;

      if (g_hash_table_add (seen, GUINT_TO_POINTER (node.node.index + 1)))
        g_array_append_val (s->args, node);
      g_string_append_len (out, copied, token.text - copied);
      g_string_append (out, adj_builder_get_name (s->module->builder, node.node));
      copied = token.text + token.length;
    }
  g_string_append_len (out, copied, text + length - copied);
}

/* A statement that binds nothing, when we print it, deletes the name that its node goes by. */
static char *
name_raw (AdjModuleReader *module, const char *last)
{
  AdjValue node;

  if (last && !adj_module_resolve (last, &node, module) &&
      !adj_node_id_is_valid (adj_builder_find (module->builder, last)))
    return g_strdup (last);

  return adj_module_make_up_name (module, "raw");
}

/* Keeps the statement as text; @last is what its deletes end with, if it has any. */
static void
keep_raw (AdjStatement *s, const char *text, gsize length, const char *last)
{
  g_autoptr (GString) kept = g_string_new (NULL);
  gsize n_name = 0;

  g_array_set_size (s->args, 0);
  g_array_set_size (s->kwargs, 0);
  adj_node_facts_clear (&s->facts);
  adj_node_facts_init (&s->facts);

  if (s->is_bound_first)
    g_string_append_len (kept, text, n_name = strlen (s->name));
  else
    {
      g_clear_pointer (&s->name, g_free);
      s->own_name = name_raw (s->module, last);
    }
  adj_statement_mention_nodes (s, text + n_name, length - n_name, kept);
  adj_statement_understand (s, ADJ_OPCODE_RAW, kept->str);
}

typedef struct
{
  const AdjModuleReader *module;
  const AdjLine *line;
  gsize from; /* of the line; leaves come in its order */
} Place;

/* A name that stands for nothing is kept, but said. */
static gboolean
report_undefined (const AdjValue *leaf, gpointer data)
{
  Place *place = data;
  AdjSpan span = adj_line_get_span (place->line);
  const char *at;

  if (leaf->kind != ADJ_VALUE_RAW || !adj_text_is_identifier (leaf->text, leaf->n))
    return TRUE;
  at = memmem (place->line->at + place->from, place->line->length - place->from, leaf->text,
               leaf->n);
  if (at)
    {
      place->from = at - place->line->at;
      span.column = place->from + 1;
    }
  span.length = leaf->n;
  adj_diags_add (place->module->diags, ADJ_SEVERITY_WARNING, span,
                 "'%s' is not defined before this line; it is kept as text", leaf->text);

  return TRUE;
}

void
adj_statement_add (AdjStatement *s, const AdjLine *line)
{
  Place place = { s->module, line, 0 };
  g_autofree char *bound = NULL;
  g_autofree char *renamed = NULL;
  AdjNodeSpec spec = {
    .name = s->own_name,
    .opcode = s->opcode,
    .target = s->target,
    .args = { .kind = ADJ_VALUE_TUPLE, .n = s->args->len, .items = (gpointer) s->args->data },
    .kwargs = { .kind = ADJ_VALUE_DICT, .n = s->kwargs->len, .items = (gpointer) s->kwargs->data },
    .val = s->facts.val,
    .meta = &s->facts.meta,
    .span = adj_line_get_span (line),
    .origin = ADJ_NO_NODE,
  };

  adj_value_foreach (&spec.args, report_undefined, &place);
  adj_value_foreach (&spec.kwargs, report_undefined, &place);
  if (s->name)
    spec.name = bound = adj_module_bind (s->module, s->name, spec.span);
  if (s->name && s->opcode == ADJ_OPCODE_RAW)
    spec.target = renamed = g_strconcat (bound, s->target + strlen (s->name), NULL);
  s->facts.meta.stack_trace = s->module->stack_trace;
  s->facts.meta.extra = &s->facts.extra;
  adj_builder_add (s->module->builder, &spec);
}

static gboolean
read_statement (AdjStatement *s)
{
  AdjReader start = s->reader;

  s->is_bound_first = read_left (s);
  if (s->is_bound_first)
    return adj_statement_read_expression (s) && adj_tail_read (&s->reader, NULL);

  adj_node_facts_clear (&s->facts);
  adj_node_facts_init (&s->facts);
  g_clear_pointer (&s->name, g_free);
  s->reader = start;

  return read_in_place (s) && adj_tail_read (&s->reader, NULL);
}

static void
report_unread (const AdjStatement *s, const AdjLine *line)
{
  AdjSpan span = adj_line_get_span (line);

  span.column += s->reader.token.span.column - 1;
  span.length = s->reader.token.length;
  adj_diags_add (s->module->diags, ADJ_SEVERITY_WARNING, span,
                 "this statement is not understood; it is kept as text");
}

/* Reads the @length bytes of @text, anew if need be. */
static gboolean
try_statement (AdjStatement *s, const char *text, gsize length, guint line)
{
  AdjModuleReader *module = s->module;

  adj_statement_clear (s);
  adj_statement_init (s, module, text, length, line);

  return read_statement (s) && !s->reader.raw_mentions_node;
}

void
adj_module_read_statement (AdjModuleReader *module, const AdjLine *line)
{
  const char *text = line->at + line->indent, *facts = NULL;
  gsize length = line->length - line->indent, n_facts = 0;
  g_auto (AdjStatement) s;

  adj_statement_init (&s, module, text, length, line->number);
  if (read_statement (&s) && !s.reader.raw_mentions_node)
    facts = adj_tail_find_facts (&s.reader, &n_facts);
  else
    {
      g_autofree char *last = NULL;
      gsize with_deletes;

      length = adj_tail_split (line, &facts, &n_facts);
      with_deletes = MAX (length, line->indent) - line->indent;
      length = adj_tail_find_deletes (text, with_deletes, &last);
      if (length == with_deletes || !try_statement (&s, text, length, line->number))
        {
          report_unread (&s, line);
          keep_raw (&s, text, length, last);
        }
    }
  /* Facts behind text that nobody understands might not be read back. */
  adj_notes_apply (module, s.opcode == ADJ_OPCODE_RAW ? NULL : &s.facts);
  if (facts)
    adj_node_facts_parse (&s.facts, facts, n_facts, module->symbols);

  adj_statement_add (&s, line);
}
