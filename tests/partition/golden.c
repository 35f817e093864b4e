/* SPDX-License-Identifier: MIT */
/* Makes joint graphs from the short notation of the goldens. */

#include "golden.h"

#include "adjoint.h"
#include "support/graphs.h"

static char *
spell_names (const char *text)
{
  g_autoptr (GRegex) primal = g_regex_new ("\\bp(\\d+)\\b", 0, 0, NULL);
  g_autoptr (GRegex) tangent = g_regex_new ("\\bt(\\d+)\\b", 0, 0, NULL);
  g_autofree char *half = g_regex_replace (primal, text, -1, 0, "primals_\\1", 0, NULL);

  return g_regex_replace (tangent, half, -1, 0, "tangents_\\1", 0, NULL);
}

static void
append_input (GString *text, const char *input)
{
  g_auto (GStrv) parts = g_strsplit (input, ":", 2);
  g_auto (GStrv) sizes = g_strsplit (parts[1], "x", -1);
  GString *strides = g_string_new (NULL);
  g_autofree char *list = g_strjoinv (", ", sizes);

  for (guint i = 0; sizes[i] != NULL; i++)
    {
      g_autofree char *right = g_strjoinv ("*", sizes + i + 1);
      gint64 stride = 1;

      for (guint k = i + 1; sizes[k] != NULL; k++)
        stride *= g_ascii_strtoll (sizes[k], NULL, 10);
      if (sizes[i + 1] != NULL && *sizes[i + 1] == 's')
        g_string_append_printf (strides, "%s, ", right);
      else
        g_string_append_printf (strides, "%" G_GINT64_FORMAT "%s", stride,
                                sizes[i + 1] != NULL ? ", " : "");
    }
  g_string_append_printf (text, "%s: \"f32[%s][%s]cpu\", ", parts[0], list, strides->str);
  g_string_free (strides, TRUE);
}

/* Appends a statement such as "cos@MUST_SAVE/1 = cos.default(p1)". */
static void
append_statement (GString *text, const char *statement)
{
  g_auto (GStrv) sides = g_strsplit (statement, " = ", 2);
  g_auto (GStrv) name = g_strsplit (sides[0], "@", 2);
  gboolean is_item = sides[1] != NULL && strchr (sides[1], '(') == NULL;

  if (sides[1] == NULL)
    {
      g_string_append_printf (text, "        %s\n", statement);
      return;
    }
  g_string_append_printf (text, "        %s = %s%s", name[0], is_item ? "" : "torch.ops.aten.",
                          sides[1]);
  if (name[1] != NULL)
    {
      g_auto (GStrv) tag = g_strsplit (name[1], "/", 2);

      g_string_append_printf (text, "  # adj: {recompute: %s, ac: %s}", tag[0],
                              tag[1] != NULL ? tag[1] : "1");
    }
  g_string_append_c (text, '\n');
}

static AdjGraph *
infer (AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *inferred = adj_retrace (graph, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_nodes (inferred), ==, adj_graph_get_n_nodes (graph));
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    g_assert_cmpstr (adj_graph_get_node (inferred, i)->name, ==,
                     adj_graph_get_node (graph, i)->name);
  return inferred;
}

AdjGraph *
golden_parse (const char *inputs, const char *program)
{
  g_autofree char *spelled_inputs = spell_names (inputs);
  g_autofree char *spelled = spell_names (program);
  g_auto (GStrv) words = g_strsplit (spelled_inputs, " ", -1);
  g_auto (GStrv) statements = g_strsplit (spelled, ";", -1);
  g_autoptr (GString) text = g_string_new ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, ");
  g_autoptr (AdjGraph) graph = NULL;

  for (guint i = 0; words[i] != NULL; i++)
    append_input (text, words[i]);
  g_string_truncate (text, text->len - 2);
  g_string_append (text, "):\n");
  for (guint i = 0; statements[i] != NULL; i++)
    append_statement (text, g_strstrip (statements[i]));
  graph = adj_test_parse_graph (text->str);
  return infer (graph);
}
