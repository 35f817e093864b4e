/* SPDX-License-Identifier: MIT */

/* What is not understood: its text is kept as a node that reads the nodes it mentions.  Every name
 * that it may give a value stands for that node. */

#include <string.h>

#include "ir/statement-private.h"
#include "ir/text-private.h"

/* -- Text ---- */

/* A string over several lines, in one. */
static void
append_string (GString *out, const AdjToken *token)
{
  for (guint i = 0; i < token->length; i++)
    if (token->text[i] == '\n')
      g_string_append (out, "\\n");
    else if (token->text[i] != '\r')
      g_string_append_c (out, token->text[i]);
}

/* What stands between two tokens where a line ends. */
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
  gboolean ends_line = FALSE;
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
      if (token.kind == ADJ_TOKEN_NEWLINE || token.kind == ADJ_TOKEN_COMMENT)
        continue;
      if (is_punct && depth > 0 && strchr (")]}", *token.text))
        depth--;
      if (ends_line || memchr (end, '\n', token.text - end))
        g_string_append (out, joint (out, &token, depth, ends_line));
      else
        g_string_append_len (out, end, token.text - end);
      append_string (out, &token);
      depth += is_punct && strchr ("([{", *token.text);
      end = token.text + token.length;
      ends_line = FALSE;
    }

  return out;
}

/* -- Names ---- */

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

GArray *
adj_module_find_mentions (AdjModuleReader *module, const char *text, gsize length, GString *out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *mentioned = adj_value_array_new ();
  const char *copied = text;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      g_autoptr (GArray) nodes = adj_value_array_new ();
      g_autofree char *name = NULL;
      g_auto (AdjValue) value = ADJ_NONE;

      if (token.kind != ADJ_TOKEN_NAME || (token.text > text && token.text[-1] == '.'))
        continue;
      name = adj_token_dup (&token);
      if (!adj_module_resolve (name, &value, module))
        continue;
      adj_value_foreach (&value, collect_node, nodes);
      if (nodes->len == 0)
        continue;

      for (guint i = 0; i < nodes->len; i++)
        {
          AdjValue node = g_array_index (nodes, AdjValue, i);

          if (g_hash_table_add (seen, GUINT_TO_POINTER (node.node.index + 1)))
            g_array_append_val (mentioned, node);
        }
      g_string_append_len (out, copied, token.text - copied);
      append_names (module, &value, nodes, out);
      copied = token.text + token.length;
    }
  g_string_append_len (out, copied, text + length - copied);

  return mentioned;
}

static gboolean
is_word (const AdjToken *token, const char *word)
{
  return token->kind == ADJ_TOKEN_NAME && adj_token_is (token, word);
}

/* Whether a name before @next, outside of brackets or not, is given a value. */
static gboolean
assigns (const AdjToken *next, guint depth)
{
  if (next->kind != ADJ_TOKEN_PUNCT)
    return FALSE;
  if (adj_token_is (next, ":="))
    return TRUE;

  return depth == 0 && next->text[next->length - 1] == '=' && !adj_token_is (next, "==") &&
         !adj_token_is (next, "!=") && !adj_token_is (next, "<=") && !adj_token_is (next, ">=");
}

/* Every name that @text may give a value: `x = …`, `x := …`, `for x in`, `as x`, `import x`. */
static GPtrArray *
find_assigned (const char *text, gsize length)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  gboolean binds = FALSE;
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
      if (token.kind != ADJ_TOKEN_NAME)
        continue;
      if (depth == 0 && (is_word (&token, "for") || is_word (&token, "as") ||
                         is_word (&token, "import") || is_word (&token, "def")))
        binds = TRUE;
      else if (is_word (&token, "in"))
        binds = FALSE;
      else if (binds || assigns (&next, depth))
        g_ptr_array_add (names, adj_token_dup (&token));
    }

  return names;
}

/* `a, (b, c) = …`: also the names before the last comma. */
static void
find_unpacked (const char *text, gsize length, GPtrArray *names)
{
  g_autoptr (GPtrArray) pattern = g_ptr_array_new_with_free_func (g_free);
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  for (token = adj_lexer_next (&lexer);
       token.kind == ADJ_TOKEN_NAME ||
       (token.kind == ADJ_TOKEN_PUNCT && strchr ("()[],*", *token.text) != NULL);
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_NAME)
      g_ptr_array_add (pattern, adj_token_dup (&token));
  if (token.kind == ADJ_TOKEN_PUNCT && adj_token_is (&token, "="))
    g_ptr_array_extend_and_steal (names, g_steal_pointer (&pattern));
}

/* -- The node ---- */

/* A statement that binds nothing, when we print it, deletes the name that its node goes by. */
static char *
name_raw (AdjModuleReader *module, const char *last)
{
  g_auto (AdjValue) value = ADJ_NONE;

  if (last && !adj_module_resolve (last, &value, module) &&
      !adj_node_id_is_valid (adj_builder_find (module->builder, last)))
    return g_strdup (last);

  return adj_module_make_up_name (module, "raw");
}

/* The name on the left of @text; %NULL: it does not begin with an assignment to one. */
static char *
dup_bound (const char *text, gsize length)
{
  AdjLexer lexer;
  AdjToken name, token;
  guint depth = 0;

  adj_lexer_init (&lexer, text, length, 1);
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

static void
set_all (AdjModuleReader *module, const GPtrArray *names, guint index)
{
  AdjValue node = ADJ_NODE (((AdjNodeId){ index }));

  for (guint i = 0; i < names->len; i++)
    adj_module_set (module, names->pdata[i], &node);
}

/* Adds the node of @text, in one line; @bound: (nullable) the name that it begins with. */
static void
add_raw (AdjModuleReader *module,
         const GString *text,
         const char *bound,
         const char *last,
         AdjSpan span,
         AdjNodeFacts *facts)
{
  guint index = adj_builder_get_n_nodes (module->builder);
  gsize n_bound = bound ? strlen (bound) : 0;
  g_autoptr (GPtrArray) assigned = find_assigned (text->str, text->len);
  g_autoptr (GString) rest = g_string_new (NULL);
  g_autoptr (GArray) args =
      adj_module_find_mentions (module, text->str + n_bound, text->len - n_bound, rest);
  g_autofree char *name = bound ? adj_module_bind (module, bound, span) : name_raw (module, last);
  g_autofree char *target = g_strconcat (bound ? name : "", rest->str, NULL);
  AdjNodeSpec spec = {
    .name = name,
    .opcode = ADJ_OPCODE_RAW,
    .target = target,
    .args = { .kind = ADJ_VALUE_TUPLE, .n = args->len, .items = (gpointer) args->data },
    .kwargs = { .kind = ADJ_VALUE_DICT },
    .val = facts->val,
    .meta = &facts->meta,
    .span = span,
    .origin = ADJ_NO_NODE,
  };

  find_unpacked (text->str, text->len, assigned);
  set_all (module, assigned, index);
  facts->meta.stack_trace = module->stack_trace;
  facts->meta.extra = &facts->extra;
  adj_builder_add (module->builder, &spec);
}

void
adj_module_add_raw (AdjModuleReader *module, const AdjLine *line, AdjNodeFacts *facts)
{
  g_autoptr (GString) text = join_lines (line->at + line->indent, line->length - line->indent);
  g_autofree char *last = NULL;
  g_autofree char *bound = NULL;

  g_string_truncate (text, adj_tail_find_deletes (text->str, text->len, &last));
  bound = dup_bound (text->str, text->len);
  add_raw (module, text, bound, last, adj_line_get_span (line), facts);
}

void
adj_module_return_raw (AdjModuleReader *module, const AdjLine *line)
{
  g_autoptr (GString) text = join_lines (line->at + line->indent, line->length - line->indent);
  g_autofree char *name = adj_module_make_up_name (module, "raw");
  AdjNodeId id = { adj_builder_get_n_nodes (module->builder) };
  AdjValue value = ADJ_NODE (id);
  AdjNodeFacts facts;

  adj_node_facts_init (&facts);
  g_string_prepend (text, " = ");
  g_string_prepend (text, name);
  add_raw (module, text, name, NULL, adj_line_get_span (line), &facts);
  adj_node_facts_clear (&facts);
  adj_builder_output (module->builder, &value);
}
