/* SPDX-License-Identifier: MIT */

/* Graph text, line by line: classes and what is in them.  Nothing that it says is trusted: what
 * is not understood is kept as text and reported, and everything is bounded. */

#include <string.h>

#include "ir/adj-text.h"
#include "ir/parse-private.h"
#include "ir/text-private.h"

#define MAX_LINE_LENGTH (64u << 20)

/* The whole text. */
typedef struct
{
  const char *at; /* the next line */
  const char *end;
  guint number; /* of the next line, from 1 */
  guint n_nodes;
  AdjSymbols *symbols;
  AdjDiags *diags;
  AdjWords words;
  gboolean is_export; /* the next module is of an exported program */
  GHashTable *facts;  /* (unowned) (nullable) name → text, of the outermost placeholders */
} Text;

typedef struct
{
  Text *text;
  AdjModuleReader reader;
  AdjHeaderReader header;
  guint indent;      /* of the class line */
  guint body_indent; /* of the last line of the body */
  guint depth;
  gboolean has_output;
} Module;

static AdjGraph *
parse_module (Text *text, const AdjLine *class_line, guint depth, char **name, GError **error);

/* -- Lines ---- */

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static gboolean
peek_line (const Text *text, AdjLine *line)
{
  const char *end;

  if (text->at >= text->end)
    return FALSE;

  end = memchr (text->at, '\n', text->end - text->at);
  line->at = text->at;
  line->length = (end ? end : text->end) - text->at;
  line->number = text->number;
  while (line->length > 0 && is_blank (line->at[line->length - 1]))
    line->length--;
  for (line->indent = 0; line->indent < line->length && is_blank (line->at[line->indent]);)
    line->indent++;

  return TRUE;
}

static void
skip_line (Text *text)
{
  const char *end = memchr (text->at, '\n', text->end - text->at);

  text->at = end ? end + 1 : text->end;
  text->number++;
}

static gboolean
starts_with (const AdjLine *line, const char *word)
{
  gsize n = strlen (word);

  return line->length - line->indent >= n && memcmp (line->at + line->indent, word, n) == 0;
}

/* The name between "class " and "(torch.nn.Module):", which may follow a file's name. */
static gboolean
find_class (const AdjLine *line, gsize *start, gsize *length)
{
  static const char head[] = "class ", tail[] = "(torch.nn.Module):";
  const char *found = memmem (line->at, line->length, head, strlen (head));
  const char *end = memmem (line->at, line->length, tail, strlen (tail));

  if (!found || !end || end < found + strlen (head) ||
      end + strlen (tail) != line->at + line->length)
    return FALSE;

  *start = found + strlen (head) - line->at;
  *length = end - (line->at + *start);

  return TRUE;
}

static void
fail (GError **error, AdjError code, const AdjLine *line, const char *message)
{
  g_set_error (error, ADJ_ERROR, code, "%u:%u: %s", line->number, line->indent + 1, message);
}

/* -- Headers ---- */

/* Comes to `def forward`; other functions of a class are passed over. */
static gboolean
find_def (const Module *module, AdjLine *line)
{
  Text *text = module->text;

  for (; peek_line (text, line); skip_line (text))
    {
      if (starts_with (line, "def forward"))
        return TRUE;
      if (starts_with (line, "class ") || starts_with (line, "Graph signature:"))
        break;
    }

  return FALSE;
}

/* Where the header that begins in the next line must have ended: parameters without an end do not
 * make each function look through all that follow. */
static const char *
find_header_end (const Text *text)
{
  Text ahead = *text;
  AdjLine line;

  for (skip_line (&ahead); peek_line (&ahead, &line); skip_line (&ahead))
    if (starts_with (&line, "def forward") || starts_with (&line, "class "))
      return ahead.at;

  return text->end;
}

static gboolean
parse_header (Module *module, GError **error)
{
  Text *text = module->text;
  AdjLine line = { 0 };
  AdjReader reader;

  if (!find_def (module, &line))
    {
      line.number = line.number > 0 ? line.number : text->number;
      fail (error, ADJ_ERROR_PARSE, &line, "expected 'def forward(…):'");
      return FALSE;
    }

  adj_reader_init (&reader, text->at, find_header_end (text) - text->at, line.number);
  reader.lexer.keep_newlines = FALSE;
  adj_reader_advance (&reader);
  adj_reader_advance (&reader);
  if (!adj_header_read (&module->header, &reader))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%u:%u: malformed parameters",
                   reader.token.span.line, reader.token.span.column);
      return FALSE;
    }

  while (text->at < text->end && text->number <= reader.token.span.line)
    skip_line (text);

  return TRUE;
}

/* -- The body ---- */

static gboolean
read_class (Module *module, const AdjLine *line, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (AdjGraph) child = NULL;

  adj_header_end (&module->header);
  child = parse_module (module->text, line, module->depth + 1, &name, error);
  if (!child)
    return FALSE;

  adj_builder_add_subgraph (module->reader.builder, name, child);

  return TRUE;
}

/* Appends @line without its comment, which is added to @descriptions. */
static void
join_line (const AdjLine *line, GString *joined, AdjValue *descriptions)
{
  AdjValue description = ADJ_NONE;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, line->at, line->length, line->number);
  lexer.keep_newlines = TRUE;
  do
    token = adj_lexer_next (&lexer);
  while (token.kind != ADJ_TOKEN_COMMENT && token.kind != ADJ_TOKEN_END &&
         token.kind != ADJ_TOKEN_BAD);
  if (token.kind == ADJ_TOKEN_COMMENT)
    description = adj_description_new (token.text, token.length);
  else
    token.text = line->at + line->length;

  g_string_append_len (joined, line->at, token.text - line->at);
  descriptions->kind = ADJ_VALUE_LIST;
  descriptions->items = g_renew (AdjValue, descriptions->items, descriptions->n + 1);
  descriptions->items[descriptions->n++] = description;
}

static gboolean
has_description (const AdjValue *descriptions)
{
  for (guint i = 0; i < descriptions->n; i++)
    if (descriptions->items[i].kind != ADJ_VALUE_NONE)
      return TRUE;

  return FALSE;
}

/* `return (`, a line for each item, `)`: all as one line. */
static void
join_return (Module *module, const AdjLine *line, GString *joined, AdjValue *descriptions)
{
  AdjLine next;

  g_string_append_len (joined, line->at, line->length);
  if (line->length == 0 || !strchr ("([", line->at[line->length - 1]))
    return;

  while (peek_line (module->text, &next) && next.length > next.indent &&
         next.indent >= line->indent && descriptions->n < ADJ_MAX_NODES)
    {
      gboolean closes = strchr (")]", next.at[next.indent]) != NULL;

      skip_line (module->text);
      if (closes)
        {
          g_string_append_len (joined, next.at, next.length);
          break;
        }
      join_line (&next, joined, descriptions);
    }
  if (!has_description (descriptions))
    adj_value_clear (descriptions);
}

static void
read_return (Module *module, const AdjLine *line)
{
  g_autoptr (GString) joined = g_string_new (NULL);
  g_auto (AdjValue) descriptions = ADJ_NONE;
  AdjLine whole = *line;

  join_return (module, line, joined, &descriptions);
  whole.at = joined->str;
  whole.length = joined->len;
  adj_header_end (&module->header);
  adj_module_read_return (&module->reader, &whole, module->header.return_type, &descriptions);
  module->has_output = TRUE;
}

/* """, lines of meta, """ */
static void
read_block (Module *module)
{
  AdjLine line;

  if (module->reader.block)
    g_string_free (g_steal_pointer (&module->reader.block), TRUE);
  while (peek_line (module->text, &line))
    {
      skip_line (module->text);
      if (starts_with (&line, "\"\"\""))
        break;
      adj_block_read (&module->reader, &line);
    }
}

static void
read_body_line (Module *module, const AdjLine *line)
{
  AdjReader reader;

  if (line->at[line->indent] == '#')
    {
      adj_comment_read (&module->header, line);
      return;
    }
  if (module->has_output || starts_with (line, "pass"))
    return;

  if (starts_with (line, "return"))
    read_return (module, line);
  else if (starts_with (line, "\"\"\""))
    read_block (module);
  else
    {
      adj_reader_init (&reader, line->at + line->indent, line->length - line->indent, line->number);
      if (adj_header_read_line (&module->header, &reader))
        return;
      adj_header_end (&module->header);
      adj_module_read_statement (&module->reader, line);
      module->text->n_nodes++;
    }
}

/* Whether what a program printed in between has ended a few lines below. */
static gboolean
goes_on (const Module *module)
{
  Text ahead = *module->text;
  AdjLine line;
  gsize start, length;

  if (module->has_output || module->body_indent <= module->indent)
    return FALSE;

  for (guint i = 0; i < 16 && peek_line (&ahead, &line); i++)
    {
      if (find_class (&line, &start, &length) || starts_with (&line, "def ") ||
          starts_with (&line, "Graph signature:"))
        return FALSE;
      if (line.length > line.indent && line.indent == module->body_indent)
        return TRUE;
      skip_line (&ahead);
    }

  return FALSE;
}

static gboolean
check_limits (Module *module, const AdjLine *line, GError **error)
{
  if (line->length <= MAX_LINE_LENGTH && module->text->n_nodes <= ADJ_MAX_NODES)
    return TRUE;

  fail (error, ADJ_ERROR_LIMIT, line,
        line->length > MAX_LINE_LENGTH ? "the line is too long" : "too many nodes");

  return FALSE;
}

static gboolean
parse_body (Module *module, GError **error)
{
  Text *text = module->text;
  AdjLine line;

  while (peek_line (text, &line))
    {
      gboolean is_empty = line.length <= line.indent;
      gsize start, length;

      if (!check_limits (module, &line, error))
        return FALSE;
      if (!is_empty && line.indent <= module->indent && !goes_on (module))
        break;

      if (!is_empty && starts_with (&line, "class ") && find_class (&line, &start, &length))
        {
          if (!read_class (module, &line, error))
            return FALSE;
          continue;
        }

      skip_line (text);
      if (is_empty)
        continue;
      if (line.indent <= module->indent)
        {
          adj_diags_add (text->diags, ADJ_SEVERITY_WARNING,
                         (AdjSpan){ line.number, line.indent + 1, line.length - line.indent },
                         "this line is not of the graph; it is passed over");
          continue;
        }
      if (line.at[line.indent] != '#')
        module->body_indent = line.indent;
      read_body_line (module, &line);
    }

  return TRUE;
}

static void
module_init (Module *module, Text *text, const char *name, guint indent, guint depth)
{
  *module = (Module) {
    .text = text,
    .indent = indent,
    .depth = depth,
    .reader = {
      .words = &text->words,
      .builder = adj_builder_new (name, text->symbols),
      .symbols = text->symbols,
      .diags = text->diags,
      .names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    },
  };
  adj_header_init (&module->header, &module->reader);
}

static void
module_clear (Module *module)
{
  adj_header_clear (&module->header);
  g_hash_table_unref (module->reader.names);
  adj_builder_free (module->reader.builder);
  g_free (module->reader.stack_trace);
  g_free (module->reader.notes);
  if (module->reader.block)
    g_string_free (module->reader.block, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Module, module_clear)

/* Reads the class of @class_line, which is the next line, and those inside of it; or a function
 * without a class. */
static AdjGraph *
parse_module (Text *text, const AdjLine *class_line, guint depth, char **name, GError **error)
{
  gsize start = 0, length = 0;
  gboolean has_class = find_class (class_line, &start, &length);
  g_auto (Module) module;

  *name = has_class ? g_strndup (class_line->at + start, length) : g_strdup ("GraphModule");
  module_init (&module, text, *name, class_line->indent, depth);
  if (depth > ADJ_MAX_DEPTH)
    {
      fail (error, ADJ_ERROR_LIMIT, class_line, "classes are nested too deep");
      return NULL;
    }

  if (has_class)
    skip_line (text);
  module.header.given = depth == 0 ? text->facts : NULL;
  if (depth == 0 && text->is_export)
    adj_export_read (text->at, text->end - text->at, module.header.facts, text->symbols);
  if (!parse_header (&module, error) || !parse_body (&module, error))
    return NULL;

  adj_header_end (&module.header);
  if (!module.has_output)
    {
      AdjValue none = ADJ_NONE;

      adj_diags_add (text->diags, ADJ_SEVERITY_WARNING,
                     (AdjSpan){ class_line->number, class_line->indent + 1, 0 },
                     "'%s' returns nothing: the text may be cut off", *name);
      adj_builder_output (module.reader.builder, &none);
    }

  return adj_builder_seal (module.reader.builder, error);
}

/* -- A node in each line ---- */

static AdjGraph *
parse_lines (Text *text, const AdjLine *first, GError **error)
{
  g_auto (Module) module;
  AdjLine line;

  module_init (&module, text, "GraphModule", first->indent, 0);
  module.header.has_ended = TRUE;
  skip_line (text);
  adj_lines_read_parameters (&module.reader, first);
  while (!module.has_output && peek_line (text, &line))
    {
      if (!check_limits (&module, &line, error))
        return NULL;
      if (line.length > line.indent)
        {
          module.has_output = adj_lines_read_return (&module.reader, &line);
          if (!module.has_output && !adj_lines_read_node (&module.reader, &line))
            break;
          text->n_nodes++;
        }
      skip_line (text);
    }
  if (!module.has_output)
    {
      AdjValue none = ADJ_NONE;

      adj_diags_add (text->diags, ADJ_SEVERITY_WARNING,
                     (AdjSpan){ first->number, first->indent + 1, 0 },
                     "the graph returns nothing: the text may be cut off");
      adj_builder_output (module.reader.builder, &none);
    }
  return adj_builder_seal (module.reader.builder, error);
}

/* -- Texts ---- */

/* Comes to the next class, or to a function without one. */
static gboolean
find_module (Text *text, AdjLine *line)
{
  gsize start, length;

  for (text->is_export = FALSE; peek_line (text, line); skip_line (text))
    {
      if (find_class (line, &start, &length) || starts_with (line, "def forward(") ||
          adj_lines_begin (line))
        return TRUE;
      if (starts_with (line, "ExportedProgram:"))
        text->is_export = TRUE;
    }

  return FALSE;
}

static gboolean
text_init (Text *text, const char *at, gssize length, AdjDiags *diags, GError **error)
{
  const char *bad = NULL;

  *text = (Text){ .at = at, .number = 1, .diags = diags };
  text->end = at + (length < 0 ? strlen (at) : (gsize) length);
  text->words = (AdjWords){ .text = at, .length = text->end - at };
  if (g_utf8_validate_len (at, text->end - at, &bad))
    return TRUE;

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "byte %" G_GSIZE_FORMAT ": not UTF-8 text",
               (gsize) (bad - at));

  return FALSE;
}

static void
text_clear (Text *text)
{
  g_clear_pointer (&text->words.set, g_hash_table_unref);
  g_clear_pointer (&text->symbols, adj_symbols_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Text, text_clear)

static AdjGraph *
parse_next (Text *text, const AdjLine *line, GError **error)
{
  g_autofree char *name = NULL;

  g_clear_pointer (&text->symbols, adj_symbols_unref);
  text->symbols = adj_symbols_new ();
  if (adj_lines_begin (line))
    return parse_lines (text, line, error);

  return parse_module (text, line, 0, &name, error);
}

static void
fail_empty (const Text *text, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%u:1: there is no graph in this text: no line 'class …(torch.nn.Module):'",
               text->number);
}

AdjGraph *
adj_graph_parse_with (
    const char *text, gssize length, GHashTable *facts, AdjDiags *diags, GError **error)
{
  g_auto (Text) state;
  g_autofree char *plain = adj_text_strip_colors (text, length);
  AdjLine line;

  if (!text_init (&state, plain ? plain : text, plain ? -1 : length, diags, error))
    return NULL;
  state.facts = facts;
  if (find_module (&state, &line))
    return parse_next (&state, &line, error);

  fail_empty (&state, error);

  return NULL;
}

AdjGraph *
adj_graph_parse (const char *text, gssize length, AdjDiags *diags, GError **error)
{
  return adj_graph_parse_with (text, length, NULL, diags, error);
}

static void
parsed_graph_clear (gpointer data)
{
  AdjParsedGraph *parsed = data;

  adj_graph_unref (parsed->graph);
  g_bytes_unref (parsed->text);
}

/* What is malformed is said in the diagnostics; @first is set to the first such error. */
static gboolean
parse_one (Text *text, const AdjLine *line, GArray *graphs, GError **first)
{
  g_autoptr (GError) error = NULL;
  const char *start = text->at, *end;
  AdjGraph *graph = parse_next (text, line, &error);
  AdjParsedGraph parsed = { .graph = graph, .line = line->number };

  if (!graph)
    {
      adj_diags_add (text->diags, ADJ_SEVERITY_ERROR, (AdjSpan){ line->number, 1, 0 },
                     "this graph is left out: %s", error->message);
      if (first && !*first)
        g_propagate_error (first, g_steal_pointer (&error));
      return FALSE;
    }

  for (end = text->at; end > start && g_ascii_isspace (end[-1]);)
    end--;
  parsed.text = g_bytes_new (start, end - start);
  g_array_append_val (graphs, parsed);

  return TRUE;
}

GArray *
adj_graph_parse_all (const char *text, gssize length, AdjDiags *diags, GError **error)
{
  g_autoptr (GArray) graphs = g_array_new (FALSE, FALSE, sizeof (AdjParsedGraph));
  g_autoptr (GError) first = NULL;
  g_autofree char *plain = adj_text_strip_colors (text, length);
  g_auto (Text) state;
  AdjLine line;

  g_array_set_clear_func (graphs, parsed_graph_clear);
  if (!text_init (&state, plain ? plain : text, plain ? -1 : length, diags, error))
    return NULL;

  while (graphs->len < ADJ_MAX_PARSED && find_module (&state, &line))
    {
      const char *start = state.at;

      parse_one (&state, &line, graphs, &first);
      if (state.at == start)
        skip_line (&state);
    }
  if (graphs->len > 0)
    return g_steal_pointer (&graphs);

  if (first)
    g_propagate_error (error, g_steal_pointer (&first));
  else
    fail_empty (&state, error);

  return NULL;
}

char *
adj_text_strip_colors (const char *text, gssize length)
{
  gsize n = length < 0 ? strlen (text) : (gsize) length;
  const char *end = text + n, *at = memchr (text, '\033', n);
  GString *plain;

  if (!at)
    return NULL;

  plain = g_string_new_len (text, at - text);
  while (at < end)
    {
      const char *next = end - at > 1 && at[0] == '\033' && at[1] == '[' ? at + 2 : NULL;

      while (next && next < end && (g_ascii_isdigit (*next) || *next == ';'))
        next++;
      if (next && next < end && *next == 'm')
        at = next + 1;
      else if (*at == '\033') /* what is left over might begin another one now */
        at++;
      else
        g_string_append_c (plain, *at++);
    }

  return g_string_free (plain, FALSE);
}
