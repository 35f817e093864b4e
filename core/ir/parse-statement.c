/* SPDX-License-Identifier: MIT */

/* Simple statements: `name: "annotation" = expression;  x = None  # adj: {…}`, and other statements
 * of a function. */

#include <string.h>

#include "ir/statement-private.h"
#include "ir/text-private.h"

AdjSpan
adj_line_get_span (const AdjLine *line)
{
  const char *newline = memchr (line->at, '\n', line->length);
  gsize length = newline ? (gsize) (newline - line->at) : line->length;

  return (AdjSpan){ line->number, line->indent + 1, MAX (length, line->indent) - line->indent };
}

/* -- Targets ---- */

/* Whether an annotation goes on: brackets in it have no end of a statement, and no `=`. */
static gboolean
is_in_annotation (const AdjReader *r, guint outside)
{
  if (r->token.kind == ADJ_TOKEN_END)
    return FALSE;
  return r->brackets > outside || (!adj_reader_at_end_of_statement (r) && !adj_reader_at (r, "="));
}

static void
skip_annotation (AdjReader *r)
{
  guint outside = r->brackets;

  while (is_in_annotation (r, outside))
    adj_reader_advance (r);
}

/* `: "f32[2]"` or ` : list`, if present.  One that cannot be read is ignored. */
static void
read_annotation (AdjStatement *s, AdjReader *r)
{
  const char *start = NULL, *end = NULL;
  guint outside = r->brackets;

  if (!adj_reader_take (r, ":"))
    return;

  for (start = end = r->token.text; is_in_annotation (r, outside); adj_reader_advance (r))
    end = r->token.text + r->token.length;
  adj_parsed_meta_annotate (&s->metadata, start, end - start, s->module->symbols);
}

static char *
take_name (AdjReader *r)
{
  char *name;

  if (r->token.kind != ADJ_TOKEN_NAME || adj_token_is_keyword (&r->token))
    return NULL;
  name = adj_token_dup (&r->token);
  adj_reader_advance (r);

  return name;
}

/* The targets before an `=`: `a`, `(a)`, `a, (b, c)`, `[a, b]`.  Each name gets its item of the
 * value, by a getitem node for each step. */
typedef struct
{
  AdjStatement *s;
  const AdjLine *line; /* (nullable): nothing is assigned */
} Assigning;

static gboolean assign (Assigning *a, AdjReader *r, const AdjValue *value, const char *close);

/* Item @index of @value; @name (nullable) is given to its node. */
static void
take_item (Assigning *a, const AdjValue *value, guint index, const char *name, AdjValue *out)
{
  GArray *args = adj_value_array_new ();
  AdjValue object = adj_value_copy (value), at = ADJ_INT (index);

  g_array_append_val (args, object);
  g_array_append_val (args, at);
  *out = adj_statement_add_parsed (a->s, ADJ_OPCODE_CALL_FUNCTION, "operator.getitem", args, NULL,
                                   adj_line_get_span (a->line));
  adj_statement_commit (a->s, name, a->line);
}

/* Whether the items of @value are in the text. */
static gboolean
has_items (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TUPLE || value->kind == ADJ_VALUE_LIST;
}

/* `a` or `(…)`, which is given @value or, behind a comma, one of its items. */
static gboolean
assign_item (Assigning *a, AdjReader *r, const AdjValue *value, gint index)
{
  const char *close = adj_reader_at (r, "(") ? ")" : adj_reader_at (r, "[") ? "]" : NULL;
  g_auto (AdjValue) item = ADJ_NONE;
  g_autofree char *name = close ? NULL : take_name (r);

  if (!close && !name)
    return FALSE;
  if (index >= 0 && value && has_items (value))
    value = &value->items[index];
  else if (a->line && index >= 0)
    {
      take_item (a, value, (guint) index, name, &item);
      value = &item;
    }
  else if (index >= 0)
    value = NULL;
  if (close)
    {
      adj_reader_advance (r);
      return assign (a, r, value, close);
    }
  if (a->line && value)
    adj_module_set (a->s->module, name, value);

  return TRUE;
}

static gboolean
at_end_of_target (const AdjReader *r, const char *close)
{
  return adj_reader_at (r, close ? close : "=") || adj_reader_at (r, ":");
}

/* Whether a comma makes a tuple of what comes next, up to @close. */
static gboolean
is_unpacking (AdjReader r, const char *close)
{
  guint outside = r.brackets;

  if (close && *close == ']')
    return TRUE;
  for (; r.token.kind != ADJ_TOKEN_END && (r.brackets > outside || !at_end_of_target (&r, close));
       adj_reader_advance (&r))
    if (r.brackets == outside && adj_reader_at (&r, ","))
      return TRUE;

  return FALSE;
}

static gboolean
assign (Assigning *a, AdjReader *r, const AdjValue *value, const char *close)
{
  gboolean unpacks = is_unpacking (*r, close);
  gboolean is_counted = unpacks && value && has_items (value);
  gint n = 0;

  if (++r->depth >= ADJ_MAX_DEPTH)
    return FALSE;
  do
    {
      if (unpacks && at_end_of_target (r, close))
        break;
      if (is_counted && (guint) n >= value->n)
        return FALSE;
      if (!assign_item (a, r, value, unpacks ? n : -1))
        return FALSE;
      n++;
    }
  while (adj_reader_take (r, ","));
  r->depth--;
  if (is_counted && (guint) n != value->n)
    return FALSE;

  return close ? adj_reader_take (r, close) : at_end_of_target (r, NULL);
}

/* -- Kinds of statements ---- */

/* A simple statement being read. */
typedef struct
{
  AdjStatement s;
  AdjReader targets; /* of an assignment: where the first one begins */
  guint n_targets;
  AdjValue value;    /* the value assigned to them */
  char *name;        /* of the node that it makes; (nullable) */
  gboolean in_place; /* the name of its node may follow in the next statement */
} Simple;

static void
simple_clear (Simple *simple)
{
  adj_statement_clear (&simple->s);
  adj_value_clear (&simple->value);
  g_free (simple->name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Simple, simple_clear)

static guint
count_targets (AdjReader r)
{
  guint n = 0, outside = r.brackets;

  for (; !adj_reader_at_end_of_statement (&r) || r.brackets > outside; adj_reader_advance (&r))
    {
      if (r.token.kind == ADJ_TOKEN_END)
        break;
      n += r.brackets == outside && adj_reader_at (&r, "=");
    }

  return n;
}

/* `a = `, `a, b = `, `a = b = `, `a: "f32[2]" = `: nothing is assigned yet. */
static gboolean
read_targets (Simple *simple)
{
  AdjReader *r = &simple->s.reader;
  Assigning looking = { &simple->s, NULL };

  simple->targets = *r;
  simple->n_targets = count_targets (*r);
  for (guint i = 0; i < simple->n_targets; i++)
    {
      AdjReader start = *r;
      g_autofree char *name = NULL;

      if (!assign (&looking, r, NULL, NULL))
        return FALSE;
      name = take_name (&start);
      if (name && !simple->name && (adj_reader_at (&start, "=") || adj_reader_at (&start, ":")))
        simple->name = g_steal_pointer (&name);
      if (adj_reader_at (r, ":") && simple->n_targets > 1)
        return FALSE;
      read_annotation (&simple->s, r);
      if (!adj_reader_take (r, "="))
        return FALSE;
    }

  return TRUE;
}

/* `x += 1` and `x[0] = 1`; PyTorch names their nodes in the next statement: `;  iadd = x`. */
static gboolean
read_in_place (Simple *simple)
{
  AdjReader *r = &simple->s.reader;
  g_autoptr (GArray) args = adj_value_array_new ();
  g_auto (AdjValue) value = ADJ_NONE;
  AdjValue right = ADJ_NONE;
  AdjSpan span = r->token.span;
  const char *target;

  if (!adj_expression_read_primary (r, &value) || value.kind != ADJ_VALUE_NODE)
    return FALSE;
  target = adj_reader_find_operator (r, ADJ_FIXITY_INPLACE);
  if (target)
    {
      g_array_append_val (args, value);
      value = ADJ_NONE;
      adj_reader_advance (r);
    }
  else
    {
      AdjParsedNode *item;

      /* x[0] was read as getitem; it becomes setitem. */
      if (!adj_statement_is_result (&simple->s, &value) || !adj_reader_take (r, "="))
        return FALSE;
      item =
          &g_array_index (simple->s.parsed_nodes, AdjParsedNode, simple->s.parsed_nodes->len - 1);
      if (!g_str_equal (item->target, "operator.getitem") ||
          item->opcode != ADJ_OPCODE_CALL_FUNCTION)
        return FALSE;
      g_array_append_vals (args, item->args->data, item->args->len);
      memset (item->args->data, 0, item->args->len * sizeof (AdjValue));
      g_array_set_size (simple->s.parsed_nodes, simple->s.parsed_nodes->len - 1);
      target = "operator.setitem";
    }
  if (!adj_statement_read_right (&simple->s, FALSE, &right))
    return FALSE;

  g_array_append_val (args, right);
  simple->value = adj_statement_add_parsed (&simple->s, ADJ_OPCODE_CALL_FUNCTION, target,
                                            g_steal_pointer (&args), NULL, span);
  simple->in_place = TRUE;

  return TRUE;
}

static gboolean
is_read (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_RAW;
}

/* The right side is computed by nodes, or is a value without unread text. */
static gboolean
read_assignment (Simple *simple)
{
  return read_targets (simple) && adj_statement_read_right (&simple->s, TRUE, &simple->value) &&
         adj_value_foreach (&simple->value, is_read, NULL);
}

/* `x: int`, which assigns nothing. */
static gboolean
read_declaration (AdjReader *r)
{
  g_autofree char *name = take_name (r);
  guint outside = r->brackets;

  if (!name || !adj_reader_take (r, ":"))
    return FALSE;
  for (; is_in_annotation (r, outside); adj_reader_advance (r))
    if (adj_reader_at (r, "?") || r->token.kind == ADJ_TOKEN_BAD)
      return FALSE;

  return r->brackets == outside && adj_reader_at_end_of_statement (r);
}

/* `pass`, `import math`, `assert x.shape[0] == 2`: statements that assign no value of the graph. */
static gboolean
read_idle (AdjReader *r)
{
  static const char *const words[] = { "pass", "import", "from", "global", "nonlocal", "assert" };
  guint outside = r->brackets;

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (adj_reader_at_name (r, words[i]) && !adj_reader_is_before (r, "="))
      {
        while (r->brackets > outside || !adj_reader_at_end_of_statement (r))
          {
            if (r->token.kind == ADJ_TOKEN_END || r->token.kind == ADJ_TOKEN_BAD)
              return FALSE;
            adj_reader_advance (r);
          }
        return TRUE;
      }

  return FALSE;
}

static void
start_again (Simple *simple, AdjModuleReader *module, const AdjLine *line)
{
  simple_clear (simple);
  *simple = (Simple){ .value = ADJ_NONE };
  adj_statement_init (&simple->s, module, line);
}

/* Reads the statement at the beginning of @line. */
static gboolean
read_simple (Simple *simple, AdjModuleReader *module, const AdjLine *line)
{
  gboolean (*const kinds[]) (Simple * simple) = { read_assignment, read_in_place };

  start_again (simple, module, line);
  if (read_idle (&simple->s.reader))
    return TRUE;
  start_again (simple, module, line);
  if (read_declaration (&simple->s.reader))
    return TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      start_again (simple, module, line);
      if (kinds[i](simple) && adj_reader_at_end_of_statement (&simple->s.reader) &&
          !simple->s.reader.raw_mentions_node)
        return TRUE;
    }

  return FALSE;
}

/* -- What follows a statement ---- */

/* Advances to the next statement. */
static void
skip_ends (AdjReader *r)
{
  while (r->token.kind == ADJ_TOKEN_COMMENT || r->token.kind == ADJ_TOKEN_NEWLINE ||
         adj_reader_at (r, ";"))
    adj_reader_advance (r);
}

/* `iadd: "f32[2]" = x` behind `x += 1`. */
static gboolean
read_name_in_place (Simple *simple, AdjReader *r)
{
  const AdjParsedNode *parsed =
      &g_array_index (simple->s.parsed_nodes, AdjParsedNode, simple->s.parsed_nodes->len - 1);
  AdjReader ahead = *r;
  g_autofree char *name = take_name (&ahead);
  g_auto (AdjValue) value = ADJ_NONE;
  guint n_parsed = simple->s.parsed_nodes->len;
  gboolean ok;

  if (!name || simple->name)
    return FALSE;
  read_annotation (&simple->s, &ahead);
  ok = adj_reader_take (&ahead, "=") && adj_reader_read_operand (&ahead, &value) &&
       adj_reader_at_end_of_statement (&ahead) && simple->s.parsed_nodes->len == n_parsed &&
       adj_value_equal (&value, &g_array_index (parsed->args, AdjValue, 0));
  g_array_set_size (simple->s.parsed_nodes, n_parsed);
  if (!ok)
    return FALSE;

  simple->name = g_steal_pointer (&name);
  *r = ahead;

  return TRUE;
}

/* Reads the name and the deleted names that follow @simple, and advances @r to the next statement.
 * @deletes: names that denote nothing from here on. */
static void
read_tail (Simple *simple, AdjReader *r, GPtrArray *deletes)
{
  for (skip_ends (r); r->token.kind == ADJ_TOKEN_NAME; skip_ends (r))
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      AdjReader ahead = *r;

      if (simple->in_place && read_name_in_place (simple, r))
        continue;
      if (!adj_tail_read_deletes (&ahead, names))
        break;
      g_ptr_array_extend_and_steal (deletes, g_steal_pointer (&names));
      *r = ahead;
    }
}

static void
delete_names (AdjModuleReader *module, const GPtrArray *names)
{
  const AdjValue none = ADJ_NONE;

  for (guint i = 0; i < names->len; i++)
    adj_module_set (module, names->pdata[i], &none);
}

/* -- Adding ---- */

/* Assigns to every target its item; without @line only checks whether there are as many items as
 * targets. */
static gboolean
assign_targets (Simple *simple, const AdjLine *line)
{
  Assigning assigning = { &simple->s, line };
  AdjReader r = simple->targets;

  for (guint i = 0; i < simple->n_targets; i++)
    {
      if (!assign (&assigning, &r, &simple->value, NULL))
        return FALSE;
      skip_annotation (&r);
      adj_reader_take (&r, "=");
    }

  return TRUE;
}

/* @end: the end of the text that belongs to it. */
static void
add_simple (Simple *simple, const char *end, const AdjLine *line)
{
  const char *start = line->at + line->indent;
  AdjModuleReader *module = simple->s.module;
  gboolean is_node = adj_statement_is_result (&simple->s, &simple->value);

  adj_notes_apply (module, &simple->s.metadata);
  adj_statement_read_metadata (&simple->s, start, end - start);
  adj_statement_commit (&simple->s, is_node ? simple->name : NULL, line);
  assign_targets (simple, line);
}

static void
report_unread (const AdjReader *r, AdjModuleReader *module)
{
  adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, r->token.span,
                 "this statement is not understood; it is kept as text");
}

/* The part of @line from @r on. */
static AdjLine
rest_of_line (const AdjLine *line, const AdjReader *r)
{
  AdjLine rest = {
    .at = r->token.text - (r->token.span.column - 1),
    .number = r->token.span.line,
    .indent = r->token.span.column - 1,
  };

  rest.length = line->at + line->length - rest.at;

  return rest;
}

/* The part of @line that an unreadable statement at its beginning takes: its whole logical line. */
static AdjLine
find_raw (const AdjLine *line)
{
  AdjLine found = *line;
  AdjReader r;

  adj_reader_init (&r, line->at + line->indent, line->length - line->indent, line->number);
  while (!adj_reader_at_end (&r))
    adj_reader_advance (&r);
  found.length = r.token.text - line->at;

  return found;
}

static void
read_raw (AdjModuleReader *module, AdjReader *r, const AdjLine *line)
{
  AdjLine raw = find_raw (line);
  g_autoptr (GPtrArray) deletes = g_ptr_array_new_with_free_func (g_free);
  const char *start = line->at + line->indent, *metadata_text;
  Simple nothing = { .value = ADJ_NONE };
  AdjParsedMeta metadata;
  gsize n_metadata;

  while (r->token.kind != ADJ_TOKEN_END && r->token.text < raw.at + raw.length)
    r->token = adj_lexer_next (&r->lexer);
  r->brackets = 0;
  read_tail (&nothing, r, deletes);
  adj_parsed_meta_init (&metadata);
  /* Metadata after text that is not understood might not be read back. */
  adj_notes_apply (module, NULL);
  metadata_text = adj_tail_find_metadata (start, r->token.text - start, &n_metadata);
  if (metadata_text)
    adj_parsed_meta_parse (&metadata, metadata_text, n_metadata, module->symbols);
  adj_module_add_raw (module, &raw, &metadata);
  adj_parsed_meta_clear (&metadata);
  delete_names (module, deletes);
}

/* Reads the statement at @r and advances to the next one. */
static void
read_next (AdjModuleReader *module, AdjReader *r, const AdjLine *line)
{
  AdjLine rest = rest_of_line (line, r);
  g_autoptr (GPtrArray) deletes = g_ptr_array_new_with_free_func (g_free);
  g_auto (Simple) simple = { .value = ADJ_NONE };

  adj_statement_init (&simple.s, module, &rest);
  if (adj_tail_read_del (&simple.s.reader, deletes))
    {
      *r = simple.s.reader;
      r->statement = NULL;
      delete_names (module, deletes);
      return;
    }
  g_ptr_array_set_size (deletes, 0);
  if (!read_simple (&simple, module, &rest) || !assign_targets (&simple, NULL))
    {
      report_unread (&simple.s.reader, module);
      read_raw (module, r, &rest);
      return;
    }

  *r = simple.s.reader;
  read_tail (&simple, r, deletes);
  add_simple (&simple, r->token.text, &rest);
  delete_names (module, deletes);
  r->statement = NULL;
}

void
adj_module_read_statements (AdjModuleReader *module, const AdjLine *line)
{
  AdjStatement s;
  AdjReader r;

  adj_statement_init (&s, module, line);
  r = s.reader;
  adj_statement_clear (&s);
  r.statement = NULL;
  for (skip_ends (&r); r.token.kind != ADJ_TOKEN_END; skip_ends (&r))
    read_next (module, &r, line);
}

void
adj_module_keep_raw (AdjModuleReader *module, const AdjLine *line)
{
  AdjParsedMeta metadata;

  adj_parsed_meta_init (&metadata);
  adj_notes_apply (module, NULL);
  adj_module_add_raw (module, line, &metadata);
  adj_parsed_meta_clear (&metadata);
}
