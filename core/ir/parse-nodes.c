/* SPDX-License-Identifier: MIT */

/* The nodes that one statement makes: a nested call is a node of its own, named as PyTorch names
 * them. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/statement-private.h"
#include "ir/text-private.h"

static void
parsed_clear (gpointer data)
{
  AdjParsedNode *parsed = data;

  g_free (parsed->target);
  g_array_unref (parsed->args);
  g_array_unref (parsed->kwargs);
}

void
adj_statement_init (AdjStatement *s, AdjModuleReader *module, const AdjLine *line)
{
  *s = (AdjStatement){
    .module = module,
    .parsed_nodes = g_array_new (FALSE, FALSE, sizeof (AdjParsedNode)),
  };
  g_array_set_clear_func (s->parsed_nodes, parsed_clear);
  adj_parsed_meta_init (&s->metadata);
  adj_reader_init (&s->reader, line->at + line->indent, line->length - line->indent, line->number);
  s->reader.lexer.line_start = line->at;
  s->reader.token.span.column = line->indent + 1;
  s->reader.resolve = adj_module_resolve;
  s->reader.data = module;
  s->reader.symbols = module->symbols;
  s->reader.quotes_raw = module->quotes_raw;
  s->reader.statement = s;
}

void
adj_statement_clear (AdjStatement *s)
{
  adj_parsed_meta_clear (&s->metadata);
  g_array_unref (s->parsed_nodes);
}

void
adj_statement_read_metadata (AdjStatement *s, const char *text, gsize length)
{
  gsize n_metadata;
  const char *metadata = adj_tail_find_metadata (text, length, &n_metadata);

  if (metadata)
    adj_parsed_meta_parse (&s->metadata, metadata, n_metadata, s->module->symbols);
}

AdjValue
adj_statement_add_parsed (AdjStatement *s,
                          AdjOpcode opcode,
                          const char *target,
                          GArray *args,
                          GArray *kwargs,
                          AdjSpan span)
{
  AdjParsedNode parsed = {
    .opcode = opcode,
    .target = g_strdup (target),
    .args = args,
    .kwargs = kwargs ? kwargs : adj_value_array_new (),
    .span = span,
  };
  AdjNodeId id = { adj_builder_get_n_nodes (s->module->builder) + s->parsed_nodes->len };

  g_array_append_val (s->parsed_nodes, parsed);

  return ADJ_NODE (id);
}

gboolean
adj_statement_is_result (const AdjStatement *s, const AdjValue *value)
{
  guint n = adj_builder_get_n_nodes (s->module->builder) + s->parsed_nodes->len;

  return value->kind == ADJ_VALUE_NODE && s->parsed_nodes->len > 0 && value->node.index + 1 == n;
}

typedef struct
{
  const AdjModuleReader *module;
  AdjSpan span;
  const char *at, *end; /* the part of the statement that is not searched yet */
  const char *line_start;
} Place;

/* Reports a value that is unknown and kept as text. Objects, <function f at 0x…>, are kept
 * silently: PyTorch prints them so. */
static gboolean
report_unread (const AdjValue *leaf, gpointer data)
{
  Place *place = data;
  const char *found;

  if (leaf->kind != ADJ_VALUE_RAW || *leaf->text == '<')
    return TRUE;

  /* The text of a nested call may precede the search position: then the last known place is used.
   */
  found = memmem (place->at, place->end - place->at, leaf->text, leaf->n);
  for (const char *at = place->at; found && at < found; at++)
    if (*at == '\n')
      {
        place->span.line++;
        place->line_start = at + 1;
      }
  place->at = found ? found : place->end;
  if (found)
    place->span.column = found - place->line_start + 1;
  place->span.length = leaf->n;
  adj_diags_add (place->module->diags, ADJ_SEVERITY_WARNING, place->span,
                 adj_text_is_identifier (leaf->text, leaf->n)
                     ? "'%s' is not defined before this line; it is kept as text"
                     : ADJ_UNREAD_VALUE,
                 leaf->text);

  return TRUE;
}

static char *
make_name (AdjModuleReader *module, const AdjParsedNode *parsed)
{
  g_autofree char *stem = parsed->opcode == ADJ_OPCODE_CALL_FUNCTION
                              ? adj_target_get_stem (parsed->target)
                              : adj_target_get_path_stem (parsed->target);

  return parsed->opcode == ADJ_OPCODE_OUTPUT ? adj_builder_unique_name (module->builder, stem)
                                             : adj_module_make_up_name (module, stem);
}

static void
add_node (AdjStatement *s, const AdjParsedNode *parsed, const char *name, AdjParsedMeta *metadata)
{
  AdjModuleReader *module = s->module;
  g_autofree char *bound =
      name ? adj_module_bind (module, name, parsed->span) : make_name (module, parsed);
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  AdjNodeSpec spec = {
    .name = bound,
    .opcode = parsed->opcode,
    .target = parsed->target,
    .args = { .kind = ADJ_VALUE_TUPLE,
              .n = parsed->args->len,
              .items = (gpointer) parsed->args->data },
    .kwargs = { .kind = ADJ_VALUE_DICT,
                .n = parsed->kwargs->len,
                .items = (gpointer) parsed->kwargs->data },
    .meta = &meta,
    .span = parsed->span,
    .origin = ADJ_NO_NODE,
  };

  if (metadata)
    {
      spec.val = metadata->val;
      meta = metadata->meta;
      meta.extra = &metadata->extra;
    }
  meta.stack_trace = module->stack_trace;
  adj_builder_add (module->builder, &spec);
}

void
adj_statement_commit (AdjStatement *s, const char *name, const AdjLine *line)
{
  const char *start = line->at + line->indent;
  Place place = {
    .module = s->module,
    .span = { line->number, line->indent + 1, 0 },
    .at = start,
    .end = line->at + line->length,
    .line_start = line->at,
  };

  for (guint i = 0; i < s->parsed_nodes->len; i++)
    {
      AdjParsedNode *parsed = &g_array_index (s->parsed_nodes, AdjParsedNode, i);
      gboolean is_last = i + 1 == s->parsed_nodes->len;

      for (guint k = 0; k < parsed->args->len; k++)
        adj_value_foreach (&g_array_index (parsed->args, AdjValue, k), report_unread, &place);
      for (guint k = 0; k < parsed->kwargs->len; k++)
        adj_value_foreach (&g_array_index (parsed->kwargs, AdjValue, k), report_unread, &place);
      add_node (s, parsed, is_last ? name : NULL, is_last ? &s->metadata : NULL);
    }
  g_array_set_size (s->parsed_nodes, 0);
}

void
adj_statement_add_output (AdjStatement *s, AdjValue *value, const AdjLine *line)
{
  GArray *args = adj_value_array_new ();
  AdjValue returned = adj_value_steal (value);

  g_array_append_val (args, returned);
  adj_statement_add_parsed (s, ADJ_OPCODE_OUTPUT, "output", args, NULL, adj_line_get_span (line));
  adj_statement_commit (s, NULL, line);
}
