/* SPDX-License-Identifier: MIT */

/* Graph text: the graphs in it.  The input is not trusted: what is not understood is kept as text
 * and reported, and everything is bounded. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ir/text-reader-private.h"

/* Advances to the next class, or function outside of a class. */
static gboolean
find_module (AdjText *text, AdjLine *line)
{
  gsize start, length;

  for (text->is_export = FALSE; adj_text_peek_line (text, line); adj_text_skip_line (text))
    {
      if (adj_line_find_class (line, &start, &length) ||
          adj_line_starts_with (line, "def forward(") || adj_lines_begin (line))
        return TRUE;
      if (adj_line_starts_with (line, "ExportedProgram:"))
        text->is_export = TRUE;
    }

  return FALSE;
}

static AdjGraph *
parse_one (AdjText *text, const AdjLine *line, GError **error)
{
  g_autofree char *name = NULL;

  g_clear_pointer (&text->symbols, adj_symbols_unref);
  text->symbols = adj_symbols_new ();
  if (adj_lines_begin (line))
    return adj_text_parse_lines (text, line, error);

  return adj_text_parse_module (text, line, 0, &name, error);
}

/* -- Text that was kept ---- */

static gboolean
is_read (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_RAW;
}

static gboolean
is_raw (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_RAW || !adj_value_foreach (&node->args, is_read, NULL) ||
         !adj_value_foreach (&node->kwargs, is_read, NULL);
}

static gboolean
has_raw (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (is_raw (adj_graph_get_node (graph, i)))
      return TRUE;
  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    if (has_raw (adj_graph_get_subgraph (graph, i, NULL)))
      return TRUE;

  return FALSE;
}

/* Whether @graph, printed and read again, prints the same. */
static gboolean
prints_back (const AdjGraph *graph, AdjFindOpFunc find_op)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autofree char *again = NULL;
  g_autoptr (AdjGraph) back = NULL;
  g_auto (AdjText) text;
  AdjLine line;

  if (!adj_text_init (&text, printed, -1, NULL, NULL))
    return FALSE;
  text.find_op = find_op;
  back = find_module (&text, &line) ? parse_one (&text, &line, NULL) : NULL;
  again = back ? adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL) : NULL;

  return g_strcmp0 (again, printed) == 0;
}

/* The graph that begins in @line.  Text that is not understood may be read differently once it is
 * printed between other statements: if the graph does not print back, such text is kept in quotes.
 */
static AdjGraph *
parse_next (AdjText *text, const AdjLine *line, GError **error)
{
  const AdjText before = *text;
  g_autoptr (AdjGraph) graph = parse_one (text, line, error), quoted = NULL;
  AdjText quoting = before;

  if (!graph || !has_raw (graph) || prints_back (graph, text->find_op))
    return g_steal_pointer (&graph);

  quoting.symbols = NULL;
  quoting.words.set = NULL;
  quoting.diags = NULL;
  quoting.quotes_raw = TRUE;
  quoted = parse_one (&quoting, line, NULL);
  adj_text_clear (&quoting);

  return quoted ? g_steal_pointer (&quoted) : g_steal_pointer (&graph);
}

static void
fail_empty (const AdjText *text, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%u:1: there is no graph in this text: no line 'class …(torch.nn.Module):'",
               text->number);
}

AdjGraph *
adj_graph_parse_with (const char *text,
                      gssize length,
                      AdjFindOpFunc find_op,
                      GHashTable *metadata,
                      AdjDiags *diags,
                      GError **error)
{
  g_auto (AdjText) state;
  g_autofree char *plain = adj_text_strip_colors (text, length);
  AdjLine line;

  if (!adj_text_init (&state, plain ? plain : text, plain ? -1 : length, diags, error))
    return NULL;
  state.find_op = find_op;
  state.metadata = metadata;
  if (find_module (&state, &line))
    return parse_next (&state, &line, error);

  fail_empty (&state, error);

  return NULL;
}

AdjGraph *
adj_graph_parse (
    const char *text, gssize length, AdjFindOpFunc find_op, AdjDiags *diags, GError **error)
{
  return adj_graph_parse_with (text, length, find_op, NULL, diags, error);
}

static void
parsed_graph_clear (gpointer data)
{
  AdjParsedGraph *parsed = data;

  adj_graph_unref (parsed->graph);
  g_bytes_unref (parsed->text);
}

/* Skips the classes in the class of @line; a comment may stand further left. */
static void
skip_nested (AdjText *text, const AdjLine *line)
{
  AdjLine next;

  while (adj_text_peek_line (text, &next) &&
         (next.length == 0 || next.indent > line->indent || next.at[next.indent] == '#'))
    adj_text_skip_line (text);
}

static void
report_left_out (AdjText *text, const AdjLine *line, const GError *error)
{
  gsize start = 0, length = 0;
  g_autofree char *name = adj_line_find_class (line, &start, &length)
                              ? g_strdup_printf ("the graph '%.*s'", (int) length, line->at + start)
                              : g_strdup ("this graph");

  adj_diags_add (text->diags, ADJ_SEVERITY_ERROR, (AdjSpan){ line->number, 1, 0 },
                 "%s is left out: %s", name, error->message);
}

/* Parses one graph. Malformed text is reported in the diagnostics, and the graphs in it are not
 * graphs of their own; @first is set to the first error. */
static gboolean
take_graph (AdjText *text, const AdjLine *line, GArray *graphs, GError **first)
{
  g_autoptr (GError) error = NULL;
  const char *start = text->at, *end;
  AdjGraph *graph = parse_next (text, line, &error);
  AdjParsedGraph parsed = { .graph = graph, .line = line->number };

  if (!graph)
    {
      report_left_out (text, line, error);
      skip_nested (text, line);
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
adj_graph_parse_all (
    const char *text, gssize length, AdjFindOpFunc find_op, AdjDiags *diags, GError **error)
{
  g_autoptr (GArray) graphs = g_array_new (FALSE, FALSE, sizeof (AdjParsedGraph));
  g_autoptr (GError) first = NULL;
  g_autofree char *plain = adj_text_strip_colors (text, length);
  g_auto (AdjText) state;
  AdjLine line;

  g_array_set_clear_func (graphs, parsed_graph_clear);
  if (!adj_text_init (&state, plain ? plain : text, plain ? -1 : length, diags, error))
    return NULL;

  state.find_op = find_op;
  while (graphs->len < ADJ_MAX_PARSED && find_module (&state, &line))
    {
      const char *start = state.at;

      take_graph (&state, &line, graphs, &first);
      if (state.at == start)
        adj_text_skip_line (&state);
    }
  if (graphs->len > 0)
    return g_steal_pointer (&graphs);

  if (first)
    g_propagate_error (error, g_steal_pointer (&first));
  else
    fail_empty (&state, error);

  return NULL;
}
