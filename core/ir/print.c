/* SPDX-License-Identifier: MIT */

/* Graph text as print_readable of PyTorch 2.6 writes it into structured traces (ir/SPEC.md §5). */

#include <string.h>

#include "base/adj-lexer.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ir/text-private.h"

typedef struct
{
  const AdjGraph *graph;
  AdjPrintFlags flags;
  GString *out;
  guint *lines; /* (nullable) */
  guint line;
  guint indent; /* of the class line */
  gboolean has_body;
  const char *stack_trace; /* of the last comment; %NULL: none yet, "": "No stacktrace" */
} Printer;

/* -- One statement ---- */

static void
print_values (const AdjGraph *graph, GString *out, const AdjValue *items, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (out, ", ");
      adj_value_print (&items[i], graph, out);
    }
}

static void
print_arguments (const AdjGraph *graph, GString *out, const AdjNode *node, guint first)
{
  g_string_append_c (out, '(');
  if (node->args.n > first)
    print_values (graph, out, node->args.items + first, node->args.n - first);
  for (guint i = 0; i + 1 < node->kwargs.n; i += 2)
    {
      if (i > 0 || node->args.n > first)
        g_string_append (out, ", ");
      g_string_append_printf (out, "%s = ", node->kwargs.items[i].text);
      adj_value_print (&node->kwargs.items[i + 1], graph, out);
    }
  g_string_append_c (out, ')');
}

void
adj_print_path (GString *out, const char *base, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  gsize start = out->len;

  g_string_append (out, base);
  for (guint i = 0; parts[i]; i++)
    if (adj_text_is_identifier (parts[i], strlen (parts[i])))
      g_string_append_printf (out, ".%s", parts[i]);
    else
      {
        g_string_insert (out, start, "getattr(");
        g_string_append_printf (out, ", \"%s\")", parts[i]);
      }
}

static void
print_annotation (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  const AdjValue *val = &node->val;
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  const char *type = adj_node_get_type_text (node);

  if (val->kind == ADJ_VALUE_META)
    {
      g_string_append (out, ": \"");
      adj_tensor_meta_print (val->meta, symbols, out);
      g_string_append_c (out, '"');
    }
  else if (val->kind == ADJ_VALUE_SIZE)
    {
      g_string_append (out, ": \"Sym(");
      adj_size_print (symbols, val->size, out);
      g_string_append (out, ")\"");
    }
  else if (val->kind == ADJ_VALUE_RAW && adj_text_is_annotation (val->text, val->n))
    g_string_append_printf (out, ": \"%s\"", val->text);
  else if (type)
    g_string_append_printf (out, " : %s", type);
}

static void
print_binding (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_string_append (out, node->name);
  print_annotation (graph, out, node);
  g_string_append (out, " = ");
}

/* a + b, -a, a[b], and the in-place forms, which bind in a second statement. */
static gboolean
print_operator (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  const AdjValue *args = node->args.items;
  gboolean is_getitem = g_str_equal (node->target, "operator.getitem");
  gboolean is_setitem = g_str_equal (node->target, "operator.setitem");
  AdjFixity fixity = ADJ_FIXITY_INFIX;
  const char *symbol = adj_target_get_symbol (node->target, &fixity);
  guint n = is_setitem ? 3 : fixity == ADJ_FIXITY_PREFIX ? 1 : 2;
  gboolean binds_after = is_setitem || (symbol && fixity == ADJ_FIXITY_INPLACE);

  if ((!symbol && !is_getitem && !is_setitem) || node->args.n != n || node->kwargs.n > 0)
    return FALSE;

  if (!binds_after)
    print_binding (graph, out, node);
  if (n == 1)
    g_string_append (out, symbol);
  adj_value_print (&args[0], graph, out);
  if (symbol && n == 2)
    g_string_append_printf (out, " %s ", symbol);
  if (is_getitem || is_setitem)
    g_string_append_c (out, '[');
  if (n > 1)
    adj_value_print (&args[1], graph, out);
  if (is_getitem || is_setitem)
    g_string_append_c (out, ']');
  if (is_setitem)
    {
      g_string_append (out, " = ");
      adj_value_print (&args[2], graph, out);
    }
  if (binds_after)
    {
      g_string_append (out, ";  ");
      print_binding (graph, out, node);
      adj_value_print (&args[0], graph, out);
    }

  return TRUE;
}

static gboolean
print_getattr (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_autoptr (GString) object = NULL;
  const AdjValue *name;

  if (!g_str_equal (node->target, "getattr") || node->args.n != 2 || node->kwargs.n > 0)
    return FALSE;
  name = &node->args.items[1];
  if (name->kind != ADJ_VALUE_STRING || !adj_text_is_identifier (name->text, name->n))
    return FALSE;

  object = g_string_new (NULL);
  adj_value_print (&node->args.items[0], graph, object);
  print_binding (graph, out, node);
  adj_print_path (out, object->str, name->text);

  return TRUE;
}

static void
print_function (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_autofree char *printed = NULL;

  if (print_operator (graph, out, node) || print_getattr (graph, out, node))
    return;

  printed = adj_target_get_printed (node->target);
  print_binding (graph, out, node);
  g_string_append (out, printed);
  print_arguments (graph, out, node, 0);
}

static void
print_method (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_autoptr (GString) receiver = g_string_new (NULL);

  if (node->args.n > 0)
    adj_value_print (&node->args.items[0], graph, receiver);
  print_binding (graph, out, node);
  adj_print_path (out, receiver->str, node->target);
  print_arguments (graph, out, node, 1);
}

static void
print_module (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  print_binding (graph, out, node);
  adj_print_path (out, "self", node->target);
  print_arguments (graph, out, node, 0);
}

static void
print_attribute (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  print_binding (graph, out, node);
  adj_print_path (out, "self", node->target);
}

static void
print_placeholder (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_string_append (out, node->target);
  print_annotation (graph, out, node);
  if (node->args.n > 0)
    {
      g_string_append (out, " = ");
      adj_value_print (&node->args.items[0], graph, out);
    }
}

static void
print_output (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  gboolean pytree = adj_graph_get_header (graph) == ADJ_HEADER_PYTREE;

  g_string_append (out, pytree ? "return pytree.tree_unflatten(" : "return ");
  print_values (graph, out, node->args.items, node->args.n);
  if (pytree)
    g_string_append (out, ", self._out_spec)");
}

static void
print_raw (const AdjGraph *graph, GString *out, const AdjNode *node)
{
  g_string_append (out, node->target);
}

static void (*const printers[ADJ_N_OPCODES]) (const AdjGraph *, GString *, const AdjNode *) = {
  [ADJ_OPCODE_PLACEHOLDER] = print_placeholder,
  [ADJ_OPCODE_GET_ATTR] = print_attribute,
  [ADJ_OPCODE_CALL_FUNCTION] = print_function,
  [ADJ_OPCODE_CALL_METHOD] = print_method,
  [ADJ_OPCODE_CALL_MODULE] = print_module,
  [ADJ_OPCODE_OUTPUT] = print_output,
  [ADJ_OPCODE_RAW] = print_raw,
};

/* Prints ";  x = y = None" for the values whose last use is this node. */
static void
print_deletes (const AdjGraph *graph, GString *out, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const char *separator = ";  ";

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
    return;

  for (guint i = 0; i < node->n_inputs; i++)
    if (adj_graph_get_last_use (graph, node->inputs[i].index).index == index)
      {
        g_string_append (out, separator);
        g_string_append (out, adj_graph_get_node (graph, node->inputs[i].index)->name);
        separator = " = ";
      }
  if (node->n_users == 0)
    {
      g_string_append (out, separator);
      g_string_append (out, node->name);
      separator = " = ";
    }
  if (separator[0] == ' ')
    g_string_append (out, " = None");
}

void
adj_node_print (const AdjGraph *graph, guint index, GString *out)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  printers[node->opcode](graph, out, node);
  print_deletes (graph, out, index);
}

/* -- The whole text ---- */

static void
begin_line (Printer *p, guint indent)
{
  for (guint i = 0; i < p->indent + indent; i++)
    g_string_append_c (p->out, ' ');
}

static void
end_line (Printer *p)
{
  g_string_append_c (p->out, '\n');
  p->line++;
}

/* A comment stands under a blank line, but not on top of the body. */
static void
begin_comment (Printer *p, guint indent)
{
  if (p->has_body)
    {
      begin_line (p, 8);
      end_line (p);
    }
  p->has_body = TRUE;
  begin_line (p, indent);
}

static void
print_comment (Printer *p, const AdjNode *node)
{
  const char *trace = node->meta.stack_trace;
  AdjPlace place;

  if (p->flags & ADJ_PRINT_NO_COMMENTS)
    return;

  if (!trace || *trace == '\0')
    {
      if (p->stack_trace && *p->stack_trace == '\0')
        return;
      p->stack_trace = "";
      begin_comment (p, 8);
      g_string_append (p->out, "# No stacktrace found for following nodes");
      end_line (p);
      return;
    }

  if (p->stack_trace && (p->stack_trace == trace || g_str_equal (p->stack_trace, trace)))
    return;

  p->stack_trace = trace;
  begin_comment (p, 9);
  g_string_append (p->out, "# ");
  if (adj_stack_trace_innermost (trace, &place))
    {
      g_string_append (p->out, "File: ");
      g_string_append_len (p->out, place.file, place.file_length);
      g_string_append_printf (p->out, ":%u in ", place.line);
      g_string_append_len (p->out, place.function, place.function_length);
      g_string_append (p->out, ", code: ");
      g_string_append_len (p->out, place.code, place.code_length);
    }
  end_line (p);
}

static gboolean
has_annotation (const AdjNode *node)
{
  return node->val.kind == ADJ_VALUE_META || node->val.kind == ADJ_VALUE_SIZE ||
         node->val.kind == ADJ_VALUE_RAW || adj_node_get_type_text (node) != NULL;
}

/* (nullable): the expression that is flattened, if it is not just the list of the parameters. */
static const char *
find_flattened (const AdjGraph *graph)
{
  const char *mark = strstr (adj_graph_get_parameters (graph), ADJ_FLATTENED_MARK);

  return mark ? mark + strlen (ADJ_FLATTENED_MARK) : NULL;
}

static void
print_unpacking (Printer *p)
{
  guint n = adj_graph_get_n_inputs (p->graph);
  const char *flattened;
  gboolean annotated = FALSE;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (p->graph, i);

      if (!has_annotation (node))
        continue;
      if (!annotated)
        begin_line (p, 8);
      annotated = TRUE;
      print_placeholder (p->graph, p->out, node);
      g_string_append (p->out, "; ");
    }
  if (annotated)
    {
      end_line (p);
      begin_line (p, 4);
      end_line (p);
    }
  if (n == 0)
    return;

  flattened = find_flattened (p->graph);
  begin_line (p, 8);
  if (flattened && g_str_has_prefix (flattened, "[self"))
    g_string_append (p->out, "self, ");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (p->out, "%s, ", adj_graph_get_node (p->graph, i)->target);
  g_string_append_printf (p->out,
                          flattened ? "= fx_pytree.tree_flatten_spec(%s, self._in_spec)"
                                    : "= fx_pytree.tree_flatten_spec([%s], self._in_spec)",
                          flattened ? flattened : adj_graph_get_parameters (p->graph));
  end_line (p);
}

static void
print_signature (Printer *p)
{
  const char *parameters = adj_graph_get_parameters (p->graph);
  const char *mark = strstr (parameters, ADJ_FLATTENED_MARK);
  gsize length = mark ? (gsize) (mark - parameters) : strlen (parameters);

  if (length > 0)
    g_string_append_printf (p->out, ", %.*s", (int) length, parameters);
}

static void
print_header (Printer *p)
{
  const AdjGraph *graph = p->graph;
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  const char *type = adj_node_get_type_text (output);
  gboolean pytree = adj_graph_get_header (graph) == ADJ_HEADER_PYTREE;

  begin_line (p, 4);
  g_string_append (p->out, "def forward(self");
  if (pytree)
    print_signature (p);
  for (guint i = 0; !pytree && i < adj_graph_get_n_inputs (graph); i++)
    {
      g_string_append (p->out, ", ");
      print_placeholder (graph, p->out, adj_graph_get_node (graph, i));
    }
  g_string_append_c (p->out, ')');
  if (type)
    g_string_append_printf (p->out, " -> %s", type);
  g_string_append_c (p->out, ':');
  end_line (p);

  if (pytree)
    print_unpacking (p);
}

/* Metadata lines below the header: thread settings, symbols, then placeholders. */
static void
print_header_metadata (Printer *p, gboolean with_symbols)
{
  AdjSymbols *symbols = adj_graph_get_symbols (p->graph);
  guint n_symbols = with_symbols ? adj_symbols_get_n (symbols) : 0;
  g_autoptr (GString) metadata = g_string_new (NULL);

  if (adj_thread_state_print (adj_graph_get_thread_state (p->graph), metadata))
    {
      begin_line (p, 8);
      g_string_append_printf (p->out, "# adj: called under %s", metadata->str);
      end_line (p);
    }
  for (guint i = 0; i < n_symbols; i++)
    {
      const AdjSymbol *symbol = adj_symbols_get (symbols, i);

      g_string_truncate (metadata, 0);
      if (!adj_symbol_metadata_print (symbol, metadata))
        continue;
      begin_line (p, 8);
      g_string_append_printf (p->out, "# adj: symbol %s %s", symbol->name, metadata->str);
      end_line (p);
    }

  for (guint i = 0; i < adj_graph_get_n_inputs (p->graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (p->graph, i);

      g_string_truncate (metadata, 0);
      if (!adj_metadata_print (p->graph, node, metadata))
        continue;
      begin_line (p, 8);
      g_string_append_printf (p->out, "# adj: %s %s", node->name, metadata->str);
      end_line (p);
    }
}

/* A placeholder shows in the body only where its name differs from its parameter's. */
static void
print_alias (Printer *p, const AdjNode *node)
{
  const char *parameter = node->target + strspn (node->target, "*");

  if (g_str_equal (parameter, node->name))
    return;

  p->has_body = TRUE;
  begin_line (p, 8);
  g_string_append_printf (p->out, "%s = %s", node->name, parameter);
  end_line (p);
}

static void
print_statement (Printer *p, guint index)
{
  const AdjNode *node = adj_graph_get_node (p->graph, index);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    {
      print_alias (p, node);
      return;
    }

  if (node->opcode != ADJ_OPCODE_OUTPUT)
    print_comment (p, node);
  p->has_body = TRUE;
  if (p->lines)
    p->lines[index] = p->line;
  begin_line (p, 8);
  adj_node_print (p->graph, index, p->out);
  if (!(p->flags & ADJ_PRINT_NO_METADATA))
    {
      gsize start = p->out->len;

      g_string_append (p->out, "  # adj: ");
      if (!adj_metadata_print (p->graph, node, p->out))
        g_string_truncate (p->out, start);
    }
  end_line (p);
}

static void
print_graph (Printer *p, const char *name)
{
  const AdjGraph *graph = p->graph;

  begin_line (p, 0);
  g_string_append_printf (p->out, "class %s(torch.nn.Module):", name);
  end_line (p);
  print_header (p);
  if (!(p->flags & ADJ_PRINT_NO_METADATA))
    print_header_metadata (p, p->indent == 0);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    print_statement (p, i);
  begin_line (p, 8);

  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    {
      const char *child_name;
      Printer child = {
        .graph = adj_graph_get_subgraph (graph, i, &child_name),
        .flags = p->flags,
        .out = p->out,
        .line = p->line,
        .indent = p->indent + 4,
      };

      end_line (&child);
      print_graph (&child, child_name);
      p->line = child.line;
    }
}

char *
adj_graph_print (const AdjGraph *graph, AdjPrintFlags flags, guint *lines)
{
  Printer p = {
    .graph = graph,
    .flags = flags,
    .out = g_string_sized_new (128 * (gsize) adj_graph_get_n_nodes (graph)),
    .lines = lines,
    .line = 1,
  };

  if (lines)
    memset (lines, 0, sizeof *lines * adj_graph_get_n_nodes (graph));
  print_graph (&p, adj_graph_get_name (graph));
  end_line (&p);

  return g_string_free (p.out, FALSE);
}
