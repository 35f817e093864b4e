/* SPDX-License-Identifier: MIT */

/* One statement, one node: `name: "annotation" = expression;  x = None  # adj: {…}`. */

#include <string.h>

#include "ir/parse-private.h"
#include "ir/text-private.h"

/* A statement being taken apart. */
typedef struct
{
  AdjModuleReader *module;
  AdjReader reader;
  AdjNodeFacts facts;
  char *name;     /* on the left side */
  char *own_name; /* of a RAW node without one */
  gboolean is_bound_first;
  char *target; /* %NULL until the expression is understood */
  AdjOpcode opcode;
  GArray *args;   /* AdjValue */
  GArray *kwargs; /* AdjValue: key, value, … */
} Statement;

/* -- Names ---- */

gboolean
adj_module_resolve (const char *name, AdjValue *out, gpointer data)
{
  AdjModuleReader *module = data;
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (module->names, name));

  if (place == 0)
    return FALSE;

  *out = ADJ_NODE (((AdjNodeId){ place - 1 }));

  return TRUE;
}

static GHashTable *
collect_words (const AdjWords *words)
{
  GHashTable *set = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, words->text, words->length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_NAME)
      g_hash_table_add (set, adj_token_dup (&token));

  return set;
}

/* "x_1_2" → "x": the namespace goes on from the last number of a base, but from 1 for a name that
 * has one, through all that are taken. */
static char *
dup_base (const char *name)
{
  gsize length = strlen (name);

  for (;;)
    {
      gsize at = length;

      while (at > 0 && g_ascii_isdigit (name[at - 1]))
        at--;
      if (at == length || at < 2 || name[at - 1] != '_')
        return g_strndup (name, length);
      length = at - 1;
    }
}

/* A name for a node that the text calls otherwise, or not at all. */
static char *
make_up_name (AdjModuleReader *module, const char *candidate)
{
  AdjWords *words = module->words;
  g_autofree char *base = dup_base (candidate);
  char *name = adj_builder_unique_name (module->builder, base);

  if (!words->set)
    words->set = collect_words (words);
  while (g_hash_table_contains (words->set, name))
    {
      g_free (name);
      name = adj_builder_unique_name (module->builder, base);
    }

  return name;
}

char *
adj_module_bind (AdjModuleReader *module, const char *name, AdjSpan span)
{
  char *unique = NULL;

  if (adj_node_id_is_valid (adj_builder_find (module->builder, name)))
    {
      unique = make_up_name (module, name);
      adj_diags_add (module->diags, ADJ_SEVERITY_WARNING, span,
                     "'%s' is defined twice; the second is called '%s' here", name, unique);
    }

  g_hash_table_insert (module->names, g_strdup (name),
                       GUINT_TO_POINTER (adj_builder_get_n_nodes (module->builder) + 1));

  return unique ? unique : g_strdup (name);
}

static AdjSpan
get_span (const AdjLine *line)
{
  return (AdjSpan){ line->number, line->indent + 1, line->length - line->indent };
}

static void
init_values (GArray **array)
{
  *array = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_array_set_clear_func (*array, (GDestroyNotify) adj_value_clear);
}

static void
take_value (GArray *values, AdjValue *value)
{
  AdjValue stolen = adj_value_steal (value);

  g_array_append_val (values, stolen);
}

static void
take_string (GArray *values, const char *text)
{
  AdjValue value = adj_value_new_string (text);

  g_array_append_val (values, value);
}

static void
understand (Statement *s, AdjOpcode opcode, const char *target)
{
  s->opcode = opcode;
  g_free (s->target);
  s->target = g_strdup (target);
}

/* -- Left side ---- */

/* `: "f32[2]"` or ` : list`, if it is there. */
static gboolean
read_annotation (Statement *s)
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
read_left (Statement *s)
{
  if (s->reader.token.kind != ADJ_TOKEN_NAME)
    return FALSE;

  g_free (s->name);
  s->name = adj_token_dup (&s->reader.token);
  adj_reader_advance (&s->reader);

  return read_annotation (s) && adj_reader_take (&s->reader, "=");
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
read_arguments (Statement *s)
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
      take_value (key ? s->kwargs : s->args, &value);
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

static gboolean
at_name (const AdjReader *r, const char *name)
{
  return r->token.kind == ADJ_TOKEN_NAME && adj_token_is (&r->token, name);
}

/* What stands below self: `self.a.b`, `getattr(self.a, "0").b`. */
static gboolean
read_self_path (AdjReader *r, GString *path, guint depth)
{
  if (at_name (r, "self"))
    {
      adj_reader_advance (r);
      return read_parts (r, path);
    }

  if (!at_name (r, "getattr") || depth > ADJ_MAX_DEPTH)
    return FALSE;
  adj_reader_advance (r);
  if (!adj_reader_take (r, "(") || !read_self_path (r, path, depth + 1) ||
      !adj_reader_take (r, ",") || r->token.kind != ADJ_TOKEN_STRING)
    return FALSE;

  if (path->len > 0)
    g_string_append_c (path, '.');
  g_string_append_len (path, r->token.text + 1, r->token.length - 2);
  adj_reader_advance (r);

  return adj_reader_take (r, ")") && read_parts (r, path);
}

static gboolean
read_attribute (Statement *s)
{
  g_autoptr (GString) path = g_string_new (NULL);

  if (!read_self_path (&s->reader, path, 0) || path->len == 0)
    return FALSE;

  if (!adj_reader_take (&s->reader, "("))
    {
      understand (s, ADJ_OPCODE_GET_ATTR, path->str);
      return TRUE;
    }

  understand (s, ADJ_OPCODE_CALL_MODULE, path->str);

  return read_arguments (s);
}

/* `x.relu(…)` and `x.shape`, where x is a node. */
static gboolean
read_member (Statement *s, AdjValue *receiver)
{
  AdjReader *r = &s->reader;
  g_autofree char *member = NULL;

  adj_reader_advance (r);
  if (r->token.kind != ADJ_TOKEN_NAME)
    return FALSE;
  member = adj_token_dup (&r->token);
  adj_reader_advance (r);

  take_value (s->args, receiver);
  if (adj_reader_take (r, "("))
    {
      understand (s, ADJ_OPCODE_CALL_METHOD, member);
      return read_arguments (s);
    }

  take_string (s->args, member);
  understand (s, ADJ_OPCODE_CALL_FUNCTION, "getattr");

  return TRUE;
}

/* `torch.ops.aten.add.Tensor(…)` */
static gboolean
read_function (Statement *s)
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
  understand (s, ADJ_OPCODE_CALL_FUNCTION, target ? target : path->str);

  return read_arguments (s);
}

/* -- Operators ---- */

static const char *
find_operator (const AdjReader *r, AdjFixity fixity)
{
  g_autofree char *symbol = NULL;

  if (r->token.kind != ADJ_TOKEN_PUNCT)
    return NULL;
  symbol = adj_token_dup (&r->token);

  return adj_target_from_symbol (symbol, fixity);
}

static gboolean
read_operand (Statement *s)
{
  AdjValue value = ADJ_NONE;

  if (!adj_reader_read_operand (&s->reader, &value))
    return FALSE;

  take_value (s->args, &value);

  return TRUE;
}

/* `a + b`, `a[b]`, with a taken. */
static gboolean
read_tail (Statement *s)
{
  AdjReader *r = &s->reader;
  const char *target = find_operator (r, ADJ_FIXITY_INFIX);
  AdjValue index = ADJ_NONE;

  if (target)
    {
      adj_reader_advance (r);
      understand (s, ADJ_OPCODE_CALL_FUNCTION, target);
      return read_operand (s);
    }

  if (!adj_reader_take (r, "[") || !adj_reader_read (r, &index))
    return FALSE;
  take_value (s->args, &index);
  understand (s, ADJ_OPCODE_CALL_FUNCTION, "operator.getitem");

  return adj_reader_take (r, "]");
}

static gboolean
read_prefixed (Statement *s)
{
  const char *target = find_operator (&s->reader, ADJ_FIXITY_PREFIX);
  AdjReader start;

  if (!target)
    return FALSE;

  start = s->reader;
  adj_reader_advance (&s->reader);
  if (!read_operand (s))
    return FALSE;
  if (adj_reader_at_end (&s->reader) || adj_reader_at (&s->reader, ";"))
    {
      understand (s, ADJ_OPCODE_CALL_FUNCTION, target);
      return TRUE;
    }

  /* -1 * x: the sign belongs to the number. */
  g_array_set_size (s->args, 0);
  s->reader = start;

  return read_operand (s) && read_tail (s);
}

static gboolean
read_expression (Statement *s)
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

  return read_prefixed (s) || (read_operand (s) && read_tail (s));
}

/* `x += 1;  iadd = x` and `x[0] = 1;  setitem = x`: the binding comes second. */
static gboolean
read_in_place (Statement *s)
{
  AdjReader *r = &s->reader;
  const char *target;
  AdjValue value = ADJ_NONE;
  g_auto (AdjValue) bound = ADJ_NONE;

  if (!read_operand (s))
    return FALSE;

  target = find_operator (r, ADJ_FIXITY_INPLACE);
  if (target)
    adj_reader_advance (r);
  else
    {
      if (!adj_reader_take (r, "[") || !adj_reader_read (r, &value))
        return FALSE;
      take_value (s->args, &value);
      if (!adj_reader_take (r, "]") || !adj_reader_take (r, "="))
        return FALSE;
      target = "operator.setitem";
    }
  if (!adj_reader_read (r, &value))
    return FALSE;
  take_value (s->args, &value);
  if (!adj_reader_take (r, ";") || !read_left (s) || !adj_reader_read_operand (r, &bound) ||
      !adj_value_equal (&bound, &g_array_index (s->args, AdjValue, 0)))
    return FALSE;
  understand (s, ADJ_OPCODE_CALL_FUNCTION, target);

  return TRUE;
}

/* -- Adding ---- */

static void
statement_init (Statement *s, AdjModuleReader *module, const char *text, gsize length, guint line)
{
  *s = (Statement){ .module = module };
  adj_node_facts_init (&s->facts);
  init_values (&s->args);
  init_values (&s->kwargs);
  adj_reader_init (&s->reader, text, length, line);
  s->reader.resolve = adj_module_resolve;
  s->reader.data = module;
  s->reader.symbols = module->symbols;
}

static void
statement_clear (Statement *s)
{
  adj_node_facts_clear (&s->facts);
  g_array_unref (s->args);
  g_array_unref (s->kwargs);
  g_free (s->name);
  g_free (s->own_name);
  g_free (s->target);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Statement, statement_clear)

/* Takes the nodes that @text mentions as arguments, each once, and appends it to @out with their
 * names in place of those that the text gives them. */
static void
mention_nodes (Statement *s, const char *text, gsize length, GString *out)
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

  return make_up_name (module, "raw");
}

/* Keeps the statement as text; @last is what its deletes end with, if it has any. */
static void
keep_raw (Statement *s, const char *text, gsize length, const char *last)
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
  mention_nodes (s, text + n_name, length - n_name, kept);
  understand (s, ADJ_OPCODE_RAW, kept->str);
}

typedef struct
{
  const AdjModuleReader *module;
  const AdjLine *line;
} Place;

/* A name that stands for nothing is kept, but said. */
static gboolean
report_undefined (const AdjValue *leaf, gpointer data)
{
  const Place *place = data;
  AdjSpan span = get_span (place->line);
  const char *at;

  if (leaf->kind != ADJ_VALUE_RAW || !adj_text_is_identifier (leaf->text, leaf->n))
    return TRUE;
  at = memmem (place->line->at, place->line->length, leaf->text, leaf->n);
  if (at)
    span.column = at - place->line->at + 1;
  span.length = leaf->n;
  adj_diags_add (place->module->diags, ADJ_SEVERITY_WARNING, span,
                 "'%s' is not defined before this line; it is kept as text", leaf->text);

  return TRUE;
}

static void
add_statement (Statement *s, const AdjLine *line)
{
  Place place = { s->module, line };
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
    .span = get_span (line),
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
read_statement (Statement *s)
{
  AdjReader start = s->reader;

  s->is_bound_first = read_left (s);
  if (s->is_bound_first)
    return read_expression (s) && adj_tail_read (&s->reader, NULL);

  adj_node_facts_clear (&s->facts);
  adj_node_facts_init (&s->facts);
  g_clear_pointer (&s->name, g_free);
  s->reader = start;

  return read_in_place (s) && adj_tail_read (&s->reader, NULL);
}

static void
report_unread (const Statement *s, const AdjLine *line)
{
  AdjSpan span = get_span (line);

  span.column += s->reader.token.span.column - 1;
  span.length = s->reader.token.length;
  adj_diags_add (s->module->diags, ADJ_SEVERITY_WARNING, span,
                 "this statement is not understood; it is kept as text");
}

/* Reads the @length bytes of @text, anew if need be. */
static gboolean
try_statement (Statement *s, const char *text, gsize length, guint line)
{
  AdjModuleReader *module = s->module;

  statement_clear (s);
  statement_init (s, module, text, length, line);

  return read_statement (s) && !s->reader.raw_mentions_node;
}

void
adj_module_read_statement (AdjModuleReader *module, const AdjLine *line)
{
  const char *text = line->at + line->indent, *facts = NULL;
  gsize length = line->length - line->indent, n_facts = 0;
  g_auto (Statement) s;

  statement_init (&s, module, text, length, line->number);
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

  add_statement (&s, line);
}

/* `, self._out_spec)` */
static gboolean
read_out_spec (AdjReader *r)
{
  g_autoptr (GString) path = g_string_new (NULL);

  return adj_reader_take (r, ",") && at_name (r, "self") && read_self_path (r, path, 0) &&
         g_str_equal (path->str, "_out_spec") && adj_reader_take (r, ")");
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
read_returned (Statement *s, const AdjLine *line, const AdjLine *returned, gboolean unflattens)
{
  g_autoptr (GString) unread = g_string_new (NULL);
  AdjValue value = ADJ_NONE;

  if (adj_reader_read (&s->reader, &value) && (!unflattens || read_out_spec (&s->reader)) &&
      adj_reader_at_end (&s->reader) && !s->reader.raw_mentions_node)
    {
      drop_leaves (&value, s->module->n_leaves);
      take_value (s->args, &value);
      return;
    }

  adj_diags_add (s->module->diags, ADJ_SEVERITY_WARNING, get_span (line),
                 "what is returned is not understood; only its nodes are kept");
  adj_value_clear (&value);
  mention_nodes (s, returned->at, returned->length, unread);
  value = adj_value_new_items (ADJ_VALUE_TUPLE, (gpointer) s->args->data, s->args->len);
  g_array_set_size (s->args, 0);
  take_value (s->args, &value);
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
  g_auto (Statement) s;

  statement_init (&s, module, returned.at, returned.length, line->number);
  read_returned (&s, line, &returned, unflattens);
  if (type)
    adj_node_facts_annotate (&s.facts, type, strlen (type), module->symbols);
  if (descriptions->kind != ADJ_VALUE_NONE)
    adj_node_facts_keep (&s.facts, "desc", descriptions);
  if (facts)
    adj_node_facts_parse (&s.facts, facts, n_facts, module->symbols);

  s.name = adj_builder_unique_name (module->builder, "output");
  understand (&s, ADJ_OPCODE_OUTPUT, "output");
  g_clear_pointer (&module->stack_trace, g_free);
  add_statement (&s, line);
}
