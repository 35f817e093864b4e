/* SPDX-License-Identifier: MIT */

/* Statements that are not understood: the text becomes a RAW node that reads the nodes it mentions.
 * Every name that it may assign denotes that node. */

#include <string.h>

#include "ir/adj-builder-internal.h"
#include "ir/statement-private.h"
#include "ir/text-private.h"

/* -- Text ---- */

/* Whether it is a string without end, with or without a prefix: r"… */
static gboolean
is_open_string (const AdjToken *token)
{
  return token->kind == ADJ_TOKEN_BAD && (memchr (token->text, '\'', token->length) != NULL ||
                                          memchr (token->text, '"', token->length) != NULL);
}

/* Appends a string over several lines as one line; in one without end, quotes and '#' become '?',
 * so that nothing is read out of them. */
static void
append_token (GString *out, const AdjToken *token)
{
  gboolean is_bad = token->kind == ADJ_TOKEN_BAD;

  for (guint i = 0; i < token->length; i++)
    if (token->text[i] == '\n')
      g_string_append (out, "\\n");
    else if (is_bad && strchr ("'\"#", token->text[i]))
      g_string_append_c (out, '?');
    else if (token->text[i] != '\r')
      g_string_append_c (out, token->text[i]);
}

#define NOT_UNDERSTOOD " ?"

/* Closes the brackets that @text leaves open, so that later text is not read as part of it, and
 * marks each statement in it as not understood. */
static void
close_brackets (GString *text, gboolean is_changed)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gssize)); /* of statements */
  guint depth = 0;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text->str, text->len, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_PUNCT && token.length == 1)
      {
        gssize at = token.text - text->str;

        depth += strchr ("([{", *token.text) != NULL;
        depth -= depth > 0 && strchr (")]}", *token.text) != NULL;
        if (depth == 0 && *token.text == ';')
          g_array_append_val (ends, at);
      }
  is_changed |= depth > 0;
  for (; depth > 0; depth--)
    g_string_append_c (text, ')');
  if (!is_changed)
    return;
  g_string_append (text, NOT_UNDERSTOOD);
  for (guint i = ends->len; i-- > 0;)
    g_string_insert (text, g_array_index (ends, gssize, i), NOT_UNDERSTOOD);
}

/* The text to put between two tokens where a line ends. */
static const char *
joint (const GString *before, const AdjToken *next, guint depth, gboolean ends_line)
{
  char last = before->len > 0 ? before->str[before->len - 1] : '(';

  if (strchr ("([{", last) || (next->kind == ADJ_TOKEN_PUNCT && strchr (")]}", *next->text)))
    return "";

  return ends_line && depth == 0 && last != ':' && last != ';' ? "; " : " ";
}

/* @text without its comments, in one line. */
static GString *
join_lines (const char *text, gsize length)
{
  GString *out = g_string_sized_new (length);
  const char *end = text;
  gboolean ends_line = FALSE, has_open_string = FALSE;
  guint depth = 0;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  lexer.keep_newlines = TRUE;
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      gboolean is_punct = token.kind == ADJ_TOKEN_PUNCT && token.length == 1;

      ends_line |= token.kind == ADJ_TOKEN_NEWLINE;
      has_open_string |= is_open_string (&token);
      if (token.kind == ADJ_TOKEN_NEWLINE || token.kind == ADJ_TOKEN_COMMENT)
        continue;
      if (is_punct && depth > 0 && strchr (")]}", *token.text))
        depth--;
      if (ends_line || memchr (end, '\n', token.text - end))
        g_string_append (out, joint (out, &token, depth, ends_line));
      else
        g_string_append_len (out, end, token.text - end);
      append_token (out, &token);
      depth += is_punct && strchr ("([{", *token.text);
      end = token.text + token.length;
      ends_line = FALSE;
    }

  close_brackets (out, has_open_string);
  g_string_erase (out, 0, (gssize) strspn (out->str, " \t\f"));

  return out;
}

/* -- Names that are given values ---- */

static gboolean
is_punct (const AdjToken *token, const char *text)
{
  return token->kind == ADJ_TOKEN_PUNCT && adj_token_is (token, text);
}

static gboolean
is_word (const AdjToken *token, const char *word)
{
  return token->kind == ADJ_TOKEN_NAME && adj_token_is (token, word);
}

/* Whether a name before @next is assigned; @depth: of brackets.  `x += 1` does not rebind x. */
static gboolean
assigns (const AdjToken *next, guint depth)
{
  if (next->kind != ADJ_TOKEN_PUNCT)
    return FALSE;
  if (adj_token_is (next, ":="))
    return TRUE;

  return depth == 0 && adj_token_is (next, "=");
}

static void
add_name (GHashTable *names, const AdjToken *token)
{
  g_hash_table_insert (names, (gpointer) token->text, adj_token_dup (token));
}

/* `x = …`, `x := …`, `for x in`, `as x`, `import x`. */
static void
find_bound (const char *text, gsize length, GHashTable *names)
{
  gboolean binds = FALSE, binds_one = FALSE;
  guint depth = 0;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      AdjToken next = adj_lexer_peek (&lexer);

      if (token.kind == ADJ_TOKEN_PUNCT && token.length == 1)
        {
          depth += strchr ("([{", *token.text) != NULL;
          depth -= depth > 0 && strchr (")]}", *token.text);
          binds &= strchr (":;", *token.text) == NULL;
        }
      if (token.kind != ADJ_TOKEN_NAME || (token.text > text && token.text[-1] == '.'))
        continue;
      if (adj_token_is_keyword (&token) && assigns (&next, depth))
        continue;
      if (depth == 0 && (is_word (&token, "for") || is_word (&token, "import")))
        binds = TRUE;
      else if (depth == 0 && (is_word (&token, "as") || is_word (&token, "def")))
        binds_one = TRUE;
      else if (is_word (&token, "in"))
        binds = FALSE;
      else if (binds || binds_one || assigns (&next, depth))
        {
          if (!adj_token_is_keyword (&token))
            add_name (names, &token);
          binds_one = FALSE;
        }
    }
}

/* `a, (b, c) = …`: also the names before the last comma. */
static void
find_unpacked (const char *text, gsize length, GHashTable *names)
{
  g_autoptr (GArray) pattern = g_array_new (FALSE, FALSE, sizeof (AdjToken));
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  for (token = adj_lexer_next (&lexer);
       token.kind == ADJ_TOKEN_NAME ||
       (token.kind == ADJ_TOKEN_PUNCT && strchr ("()[],*", *token.text) != NULL);
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_NAME && !adj_token_is_keyword (&token))
      g_array_append_val (pattern, token);
  for (guint i = 0; is_punct (&token, "=") && i < pattern->len; i++)
    add_name (names, &g_array_index (pattern, AdjToken, i));
}

/* Every name that @text may assign: position → name. */
static GHashTable *
find_assigned (const char *text, gsize length)
{
  GHashTable *names = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  find_bound (text, length, names);
  find_unpacked (text, length, names);

  return names;
}

/* -- Nodes that are read ---- */

static gboolean
collect_node (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_NODE)
    g_array_append_val (data, *leaf);

  return TRUE;
}

/* The name of a node, or those of the nodes in a container, in brackets. */
static void
append_names (AdjModuleReader *module, const AdjValue *value, const GArray *nodes, GString *out)
{
  if (value->kind != ADJ_VALUE_NODE)
    g_string_append_c (out, '(');
  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (
        out, "%s%s", i > 0 ? ", " : "",
        adj_builder_get_name (module->builder, g_array_index (nodes, AdjValue, i).node));
  if (value->kind != ADJ_VALUE_NODE)
    g_string_append (out, ",)");
}

/* A RAW node in the making. */
typedef struct
{
  AdjModuleReader *module;
  const char *text; /* in one line */
  gsize length;
  char *name;           /* (owned) */
  GHashTable *assigned; /* (owned): position → name that is assigned and denotes the node */
  GArray *args;         /* (owned): the nodes that are mentioned, each once */
} Raw;

static void
raw_clear (Raw *raw)
{
  g_free (raw->name);
  g_hash_table_unref (raw->assigned);
  g_array_unref (raw->args);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Raw, raw_clear)

static void
mention (Raw *raw, GHashTable *seen, const GArray *nodes)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      AdjValue node = g_array_index (nodes, AdjValue, i);

      if (g_hash_table_add (seen, GUINT_TO_POINTER (node.node.index + 1)))
        g_array_append_val (raw->args, node);
    }
}

/* Appends the replacement of @token in the text of the node: its own name at an assignment, names
 * of nodes where they are read. %FALSE, with nothing appended: the token stays. */
static gboolean
append_name (Raw *raw, const AdjToken *token, GHashTable *seen, GString *out)
{
  g_autofree char *name = NULL;
  g_autoptr (GArray) nodes = adj_value_array_new ();
  g_auto (AdjValue) value = ADJ_NONE;

  if (token->kind != ADJ_TOKEN_NAME || (token->text > raw->text && token->text[-1] == '.'))
    return FALSE;
  if (g_hash_table_contains (raw->assigned, token->text))
    {
      g_string_append (out, raw->name);
      return TRUE;
    }
  name = adj_token_dup (token);
  if (!adj_module_resolve (name, &value, raw->module))
    return FALSE;
  adj_value_foreach (&value, collect_node, nodes);
  mention (raw, seen, nodes);
  if (nodes->len > 0)
    append_names (raw->module, &value, nodes, out);
  else
    {
      /* In brackets, or `a = b` would become a delete. */
      g_string_append_c (out, '(');
      adj_value_print (&value, NULL, out);
      g_string_append_c (out, ')');
    }

  return TRUE;
}

/* The text with the names that nodes have here; finds those that it mentions. */
static char *
dup_target (Raw *raw)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) out = g_string_sized_new (raw->length);
  g_autoptr (GString) names = g_string_new (NULL);
  const char *copied = raw->text;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, raw->text, raw->length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      g_string_truncate (names, 0);
      if (!append_name (raw, &token, seen, names))
        continue;
      g_string_append_len (out, copied, token.text - copied);
      g_string_append_len (out, names->str, names->len);
      copied = token.text + token.length;
    }
  g_string_append_len (out, copied, raw->text + raw->length - copied);

  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* `raw = ('x = "', y) ?`: the text as a string, and what it mentions.  Nothing in it can be
 * understood otherwise when it is read again. */
static char *
dup_quoted (const Raw *raw)
{
  g_autoptr (GString) out = g_string_new (raw->name);

  g_string_append (out, " = (");
  adj_print_string (out, raw->text);
  g_string_append_c (out, ',');
  for (guint i = 0; i < raw->args->len; i++)
    g_string_append_printf (
        out, " %s,",
        adj_builder_get_name (raw->module->builder, g_array_index (raw->args, AdjValue, i).node));
  g_string_append (out, ")" NOT_UNDERSTOOD);

  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* -- The node ---- */

static gboolean
is_free (const AdjModuleReader *module, const char *name)
{
  return !adj_node_id_is_valid (adj_builder_find (module->builder, name));
}

/* The only name that the text assigns; %NULL: none or several. */
static const char *
find_only (const Raw *raw)
{
  const char *only = NULL;
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, raw->assigned);
  while (g_hash_table_iter_next (&iter, NULL, &name))
    {
      if (only && !g_str_equal (only, name))
        return NULL;
      only = name;
    }

  return only;
}

/* The name of the node: @bound, which begins the text; else the only name that it assigns, or
 * @last, which it deletes: a RAW node without an assignment is printed so. */
static char *
name_raw (Raw *raw, const char *bound, const char *last, AdjSpan span)
{
  g_auto (AdjValue) value = ADJ_NONE;
  const char *only = find_only (raw);

  if (bound)
    return adj_module_take_name (raw->module, bound, span);
  if (only && is_free (raw->module, only))
    return g_strdup (only);
  if (last && !adj_module_resolve (last, &value, raw->module) && is_free (raw->module, last))
    return g_strdup (last);

  return adj_module_make_up_name (raw->module, "raw");
}

/* The name on the left of @text, also of `%x : [num_users=1] = …`, and where it stands; %NULL: it
 * does not begin with an assignment to one. */
static char *
dup_bound (const char *text, gsize length, const char **at)
{
  AdjLexer lexer;
  AdjToken name, token;
  guint depth = 0;

  *at = text + (length > 0 && *text == '%');
  adj_lexer_init (&lexer, *at, length - (gsize) (*at - text), 1);
  name = token = adj_lexer_next (&lexer);
  if (name.kind != ADJ_TOKEN_NAME || adj_token_is_keyword (&name))
    return NULL;
  token = adj_lexer_next (&lexer);
  if (token.kind == ADJ_TOKEN_PUNCT && adj_token_is (&token, ":"))
    for (; token.kind != ADJ_TOKEN_END; token = adj_lexer_next (&lexer))
      {
        if (token.kind != ADJ_TOKEN_PUNCT)
          continue;
        depth += token.length == 1 && strchr ("([{", *token.text) != NULL;
        depth -= depth > 0 && token.length == 1 && strchr (")]}", *token.text) != NULL;
        if (depth == 0 && (adj_token_is (&token, "=") || adj_token_is (&token, ";")))
          break;
      }

  return token.kind == ADJ_TOKEN_PUNCT && adj_token_is (&token, "=") ? adj_token_dup (&name) : NULL;
}

/* Every name that the text assigns denotes the node; the node's own name, if only deleted, denotes
 * nothing. */
static void
set_assigned (const Raw *raw)
{
  const AdjValue none = ADJ_NONE;
  AdjValue node = ADJ_NODE (((AdjNodeId){ adj_builder_get_n_nodes (raw->module->builder) }));
  GHashTableIter iter;
  gpointer name;

  adj_module_set (raw->module, raw->name, &none);
  g_hash_table_iter_init (&iter, raw->assigned);
  while (g_hash_table_iter_next (&iter, NULL, &name))
    adj_module_set (raw->module, name, &node);
}

/* Adds the node of @text, which is one line; @bound: (nullable): the name at its beginning, which
 * stands at @at. */
static void
add_raw (AdjModuleReader *module,
         const GString *text,
         const char *bound,
         const char *at,
         const char *last,
         AdjSpan span,
         AdjParsedMeta *metadata)
{
  g_auto (Raw) raw = {
    .module = module,
    .text = text->str,
    .length = text->len,
    .assigned = find_assigned (text->str, text->len),
    .args = adj_value_array_new (),
  };
  g_autofree char *target = NULL;
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_RAW,
                       .kwargs = { .kind = ADJ_VALUE_DICT },
                       .val = metadata->val,
                       .meta = &metadata->meta,
                       .span = span,
                       .origin = ADJ_NO_NODE };

  if (bound)
    g_hash_table_insert (raw.assigned, (gpointer) at, g_strdup (bound));
  raw.name = name_raw (&raw, bound, last, span);
  spec.name = raw.name;
  target = dup_target (&raw);
  if (module->quotes_raw)
    {
      g_free (target);
      target = dup_quoted (&raw);
    }
  spec.target = target;
  spec.args = adj_value_array_end (raw.args, ADJ_VALUE_TUPLE);
  set_assigned (&raw);
  metadata->meta.stack_trace = module->stack_trace;
  metadata->meta.extra = &metadata->extra;
  adj_builder_add (module->builder, &spec);
  adj_value_clear (&spec.args);
}

void
adj_module_add_raw (AdjModuleReader *module, const AdjLine *line, AdjParsedMeta *metadata)
{
  g_autoptr (GString) text = join_lines (line->at + line->indent, line->length - line->indent);
  g_autofree char *last = NULL;
  g_autofree char *bound = NULL;
  const char *at;

  g_string_truncate (text, adj_tail_find_deletes (text->str, text->len, &last));
  /* Nothing is left of a string without end. */
  if (strspn (text->str, NOT_UNDERSTOOD) == text->len)
    return;
  bound = dup_bound (text->str, text->len, &at);
  add_raw (module, text, bound, at, last, adj_line_get_span (line), metadata);
}

void
adj_module_return_raw (AdjModuleReader *module, const AdjLine *line)
{
  g_autoptr (GString) text = join_lines (line->at + line->indent, line->length - line->indent);
  g_autofree char *name = adj_module_make_up_name (module, "raw");
  AdjNodeId id = { adj_builder_get_n_nodes (module->builder) };
  AdjValue value = ADJ_NODE (id);
  AdjParsedMeta metadata;

  adj_parsed_meta_init (&metadata);
  g_string_prepend (text, " = ");
  g_string_prepend (text, name);
  add_raw (module, text, name, text->str, NULL, adj_line_get_span (line), &metadata);
  adj_parsed_meta_clear (&metadata);
  adj_builder_output (module->builder, &value);
}
