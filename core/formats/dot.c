/* SPDX-License-Identifier: MIT */
/* Prints a graph as DOT, and the row of that format in the table. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"

/* A text inside the quotes of DOT: "\n" there ends a centred line. */
static void
put_escaped (const char *text, GString *out)
{
  for (const char *at = text; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (out, "\\%c", *at);
    else if (*at == '\n')
      g_string_append (out, "\\n");
    else
      g_string_append_c (out, *at);
}

static void
put_annotation (const AdjGraph *graph, const AdjValue *val, GString *out)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (val->kind == ADJ_VALUE_NONE)
    return;
  if (val->kind == ADJ_VALUE_META)
    adj_tensor_meta_print (val->meta, adj_graph_get_symbols (graph), text);
  else
    adj_value_print (val, graph, text);
  g_string_append (out, "\\n");
  put_escaped (text->str, out);
}

static const char *
get_shape (const AdjNode *node)
{
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return "ellipse";
  return node->opcode == ADJ_OPCODE_OUTPUT ? "doubleoctagon" : "box";
}

char *
adj_graph_print_dot (const AdjGraph *graph)
{
  GString *out = g_string_new ("digraph \"");

  put_escaped (adj_graph_get_name (graph), out);
  g_string_append (out, "\" {\n  node [fontname=\"monospace\"];\n");
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      g_string_append_printf (out, "  \"%s\" [shape=%s, label=\"%s", node->name, get_shape (node),
                              node->name);
      if (node->opcode != ADJ_OPCODE_PLACEHOLDER && node->opcode != ADJ_OPCODE_OUTPUT)
        {
          g_string_append (out, "\\n");
          put_escaped (node->target, out);
        }
      put_annotation (graph, &node->val, out);
      g_string_append (out, "\"];\n");
    }
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs; k++)
        g_string_append_printf (out, "  \"%s\" -> \"%s\";\n",
                                adj_graph_get_node (graph, node->inputs[k].index)->name,
                                node->name);
    }
  g_string_append (out, "}\n");
  return g_string_free (out, FALSE);
}
