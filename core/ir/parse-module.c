/* SPDX-License-Identifier: MIT */

/* A class of graph text with those in it, or a function without one, or `graph():`. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/text-private.h"
#include "ir/text-reader-private.h"

#define MAX_LINE_LENGTH (64u << 20)

typedef struct
{
  AdjText *text;
  AdjModuleReader reader;
  AdjHeaderReader header;
  guint indent;      /* of the class line */
  guint body_indent; /* of the last line of the body */
  guint depth;
  gboolean has_output;
} Module;

/* -- Headers ---- */

/* Advances to `def forward`; skips other functions of the class. */
static gboolean
find_def (const Module *module, AdjLine *line)
{
  AdjText *text = module->text;

  for (; adj_text_peek_line (text, line); adj_text_skip_line (text))
    {
      if (adj_line_starts_with (line, "def forward"))
        return TRUE;
      if (adj_line_starts_with (line, "class ") || adj_line_starts_with (line, "Graph signature:"))
        break;
    }

  return FALSE;
}

/* Bounds the search for the end of the header that begins in the next line, so that unterminated
 * parameters do not make each function scan the rest of the text. */
static const char *
find_header_end (const AdjText *text)
{
  AdjText ahead = *text;
  AdjLine line;

  for (adj_text_skip_line (&ahead); adj_text_peek_line (&ahead, &line); adj_text_skip_line (&ahead))
    if (adj_line_starts_with (&line, "def forward") || adj_line_starts_with (&line, "class "))
      return ahead.at;

  return text->end;
}

static gboolean
parse_header (Module *module, GError **error)
{
  AdjText *text = module->text;
  AdjLine line = { 0 };
  AdjReader reader;

  if (!find_def (module, &line))
    {
      line.number = line.number > 0 ? line.number : text->number;
      adj_line_fail (error, ADJ_ERROR_PARSE, &line, "expected 'def forward(…):'");
      return FALSE;
    }

  adj_reader_init (&reader, text->at, find_header_end (text) - text->at, line.number);
  reader.lexer.keep_newlines = FALSE;
  adj_reader_advance (&reader);
  adj_reader_advance (&reader);
  if (!adj_header_read (&module->header, &reader))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "%u:%u: the parameters of forward are not understood from here on",
                   reader.token.span.line, reader.token.span.column);
      return FALSE;
    }

  while (text->at < text->end && text->number <= reader.token.span.line)
    adj_text_skip_line (text);

  return TRUE;
}

/* -- The body ---- */

static gboolean
read_class (Module *module, const AdjLine *line, GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (AdjGraph) child = NULL;

  adj_header_end (&module->header);
  child = adj_text_parse_module (module->text, line, module->depth + 1, &name, error);
  if (!child)
    return FALSE;

  adj_builder_add_subgraph (module->reader.builder, name, child);

  return TRUE;
}

/* The description in the comment of @line; NONE without a comment. */
static AdjValue
describe_line (const AdjLine *line)
{
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, line->at, line->length, line->number);
  lexer.keep_newlines = TRUE;
  do
    token = adj_lexer_next (&lexer);
  while (token.kind != ADJ_TOKEN_COMMENT && token.kind != ADJ_TOKEN_END &&
         token.kind != ADJ_TOKEN_BAD);

  return token.kind == ADJ_TOKEN_COMMENT ? adj_description_new (token.text, token.length)
                                         : ADJ_NONE;
}

static gboolean
has_description (const AdjValue *descriptions)
{
  for (guint i = 0; i < descriptions->n; i++)
    if (descriptions->items[i].kind != ADJ_VALUE_NONE)
      return TRUE;

  return FALSE;
}

/* `return (`, a line for each item, `)`: what the comments say of the items. */
static void
describe_items (const AdjLine *line, AdjValue *descriptions)
{
  AdjText text = { .at = line->at, .end = line->at + line->length, .number = line->number };
  g_autoptr (GArray) items = adj_value_array_new ();
  AdjLine next;

  if (!adj_text_peek_line (&text, &next) || !strchr ("([", next.at[next.length - 1]))
    return;

  for (adj_text_skip_line (&text);
       adj_text_peek_line (&text, &next) && next.length > next.indent &&
       !strchr (")]", next.at[next.indent]) && items->len < ADJ_MAX_NODES;
       adj_text_skip_line (&text))
    {
      AdjValue description = describe_line (&next);

      g_array_append_val (items, description);
    }
  *descriptions = adj_value_array_end (items, ADJ_VALUE_LIST);
  if (!has_description (descriptions))
    adj_value_clear (descriptions);
}

/* Whether @line is a `return`, and nothing that only begins like it. */
static gboolean
begins_return (const AdjLine *line)
{
  AdjReader reader;

  adj_reader_init (&reader, line->at + line->indent, line->length - line->indent, line->number);

  return adj_reader_at_name (&reader, "return");
}

static void
read_return (Module *module, const AdjLine *line)
{
  g_auto (AdjValue) descriptions = ADJ_NONE;

  describe_items (line, &descriptions);
  adj_header_end (&module->header);
  adj_module_read_return (&module->reader, line, module->header.return_type, &descriptions);
  module->has_output = TRUE;
}

/* Whether @line consists of a string in triple quotes. */
static gboolean
is_block (const AdjLine *line)
{
  AdjLexer lexer;
  AdjToken token;

  if (!adj_line_starts_with (line, "\"\"\"") && !adj_line_starts_with (line, "'''"))
    return FALSE;
  adj_lexer_init (&lexer, line->at, line->length, line->number);
  token = adj_lexer_next (&lexer);

  return token.kind == ADJ_TOKEN_STRING && adj_lexer_next (&lexer).kind == ADJ_TOKEN_END;
}

/* """, lines of meta, """ */
static void
read_block (Module *module, const AdjLine *whole)
{
  AdjText text = { .at = whole->at, .end = whole->at + whole->length, .number = whole->number };
  AdjLine line;

  if (module->reader.block)
    g_string_free (g_steal_pointer (&module->reader.block), TRUE);
  for (; adj_text_peek_line (&text, &line); adj_text_skip_line (&text))
    adj_block_read (&module->reader, &line);
}

/* A line that makes or names placeholders; %FALSE when it is none. */
static gboolean
read_header_line (Module *module, const AdjLine *line)
{
  AdjReader reader;

  adj_reader_init (&reader, line->at + line->indent, line->length - line->indent, line->number);

  return adj_header_read_line (&module->header, &reader);
}

static void
read_body_line (Module *module, const AdjLine *line, gboolean is_ruled)
{
  guint n_nodes = adj_builder_get_n_nodes (module->reader.builder);

  if (module->has_output)
    return;

  if (is_block (line))
    read_block (module, line);
  else if (is_ruled)
    {
      adj_header_end (&module->header);
      adj_diags_add (module->text->diags, ADJ_SEVERITY_WARNING, adj_line_get_span (line),
                     "this statement is not understood; it is kept as text");
      adj_module_keep_raw (&module->reader, line);
    }
  else if (begins_return (line))
    read_return (module, line);
  else if (!read_header_line (module, line))
    {
      adj_header_end (&module->header);
      adj_module_read_statements (&module->reader, line);
    }
  module->text->n_nodes += adj_builder_get_n_nodes (module->reader.builder) - n_nodes;
}

/* Whether foreign output between the lines of a graph ends within a few lines. */
static gboolean
goes_on (const Module *module)
{
  AdjText ahead = *module->text;
  AdjLine line;
  gsize start, length;

  if (module->has_output || module->body_indent <= module->indent)
    return FALSE;

  for (guint i = 0; i < 16 && adj_text_peek_line (&ahead, &line); i++)
    {
      if (adj_line_find_class (&line, &start, &length) || adj_line_starts_with (&line, "def ") ||
          adj_line_starts_with (&line, "Graph signature:"))
        return FALSE;
      if (line.length > line.indent && line.indent == module->body_indent)
        return TRUE;
      adj_text_skip_line (&ahead);
    }

  return FALSE;
}

static gboolean
check_limits (Module *module, const AdjLine *line, GError **error)
{
  if (line->length <= MAX_LINE_LENGTH && module->text->n_nodes <= ADJ_MAX_NODES)
    return TRUE;

  adj_line_fail (error, ADJ_ERROR_LIMIT, line,
                 line->length > MAX_LINE_LENGTH ? "the line is too long" : "too many nodes");

  return FALSE;
}

static gboolean
parse_body (Module *module, GError **error)
{
  AdjText *text = module->text;
  AdjLine line;

  while (adj_text_peek_line (text, &line))
    {
      gboolean is_empty = line.length <= line.indent, is_ruled;
      gsize start, length;

      if (!check_limits (module, &line, error))
        return FALSE;
      if (!is_empty && line.indent <= module->indent && !goes_on (module))
        break;

      if (!is_empty && adj_line_starts_with (&line, "class ") &&
          adj_line_find_class (&line, &start, &length))
        {
          if (!read_class (module, &line, error))
            return FALSE;
          continue;
        }

      if (is_empty)
        {
          adj_text_skip_line (text);
          continue;
        }
      if (line.indent <= module->indent)
        {
          adj_text_skip_line (text);
          adj_diags_add (text->diags, ADJ_SEVERITY_WARNING,
                         (AdjSpan){ line.number, line.indent + 1, line.length - line.indent },
                         "this line is not of the graph; it is passed over");
          continue;
        }
      if (line.at[line.indent] == '#')
        {
          adj_text_skip_line (text);
          adj_comment_read (&module->header, &line);
          continue;
        }
      module->body_indent = line.indent;
      is_ruled = adj_text_take_statement (text, &line);
      if (!check_limits (module, &line, error))
        return FALSE;
      read_body_line (module, &line, is_ruled);
    }

  return TRUE;
}

static void
module_init (Module *module, AdjText *text, const char *name, guint indent, guint depth)
{
  *module = (Module) {
    .text = text,
    .indent = indent,
    .depth = depth,
    .reader = {
      .words = &text->words,
      .quotes_raw = text->quotes_raw,
      .builder = adj_builder_new (name, text->symbols, text->find_op),
      .symbols = text->symbols,
      .diags = text->diags,
      .names = adj_module_names_new (),
      .targets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    },
  };
  adj_header_init (&module->header, &module->reader);
}

static void
module_clear (Module *module)
{
  adj_header_clear (&module->header);
  g_hash_table_unref (module->reader.names);
  g_hash_table_unref (module->reader.targets);
  adj_builder_free (module->reader.builder);
  g_free (module->reader.stack_trace);
  g_free (module->reader.notes);
  if (module->reader.block)
    g_string_free (module->reader.block, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Module, module_clear)

AdjGraph *
adj_text_parse_module (
    AdjText *text, const AdjLine *class_line, guint depth, char **name, GError **error)
{
  gsize start = 0, length = 0;
  gboolean has_class = adj_line_find_class (class_line, &start, &length);
  g_auto (Module) module;

  *name = has_class ? g_strndup (class_line->at + start, length) : g_strdup ("GraphModule");
  module_init (&module, text, *name, class_line->indent, depth);
  if (depth > ADJ_MAX_DEPTH)
    {
      adj_line_fail (error, ADJ_ERROR_LIMIT, class_line, "classes are nested too deep");
      return NULL;
    }

  if (has_class)
    adj_text_skip_line (text);
  module.header.given = depth == 0 ? text->metadata : NULL;
  if (depth == 0 && text->is_export)
    adj_export_read (text->at, text->end - text->at, module.header.metadata, text->symbols);
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

AdjGraph *
adj_text_parse_lines (AdjText *text, const AdjLine *first, GError **error)
{
  g_auto (Module) module;
  AdjLine line;

  module_init (&module, text, "GraphModule", first->indent, 0);
  module.header.has_ended = TRUE;
  adj_text_skip_line (text);
  adj_lines_read_parameters (&module.reader, first);
  while (!module.has_output && adj_text_peek_line (text, &line))
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
      adj_text_skip_line (text);
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
