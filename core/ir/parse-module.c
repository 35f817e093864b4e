/* SPDX-License-Identifier: MIT */

/* A class of graph text with those in it, or a function without one, or `graph():`. */

#include <string.h>

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

/* Comes to `def forward`; other functions of a class are passed over. */
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

/* Where the header that begins in the next line must have ended: parameters without an end do not
 * make each function look through all that follow. */
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

  while (adj_text_peek_line (module->text, &next) && next.length > next.indent &&
         next.indent >= line->indent && descriptions->n < ADJ_MAX_NODES)
    {
      gboolean closes = strchr (")]", next.at[next.indent]) != NULL;

      adj_text_skip_line (module->text);
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
  while (adj_text_peek_line (module->text, &line))
    {
      adj_text_skip_line (module->text);
      if (adj_line_starts_with (&line, "\"\"\""))
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
  if (module->has_output || adj_line_starts_with (line, "pass"))
    return;

  if (adj_line_starts_with (line, "return"))
    read_return (module, line);
  else if (adj_line_starts_with (line, "\"\"\""))
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
      gboolean is_empty = line.length <= line.indent;
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

      adj_text_skip_line (text);
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
module_init (Module *module, AdjText *text, const char *name, guint indent, guint depth)
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
