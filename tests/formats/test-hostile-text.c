/* SPDX-License-Identifier: MIT */

/* Texts that make a quadratic reader slow: each repeats a construct that could be scanned again
 * and again. A linear reader takes a fraction of a second, a quadratic one minutes, more than
 * the test's timeout. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

#define HEAD "class G(torch.nn.Module):\n    def forward(self, a):\n"
#define TAIL "        return (a,)\n"
#define LOG "V0101 00:00:00.000000 1 torch/x.py:1] "
#define IDS ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"
#define FORWARD                                                                                    \
  LOG "{\"aot_forward_graph\": {}" IDS ", \"has_payload\": \"0\"}\n"                               \
      "\tclass G(torch.nn.Module):\n\t    def forward(self, a):\n\t        return (a,)\n"
#define PROGRAM                                                                                    \
  "ExportedProgram:\n    class a(torch.nn.Module):\n        def forward(self, x):\n"               \
  "            return (x,)\n"

/* `@` stands for the index of the repetition, from 0. */
static const struct
{
  const char *name;
  const char *head;
  const char *first; /* (nullable) */
  guint n_first;
  const char *middle;
  const char *second; /* (nullable) */
  guint n_second;
  const char *tail;
  guint n_graphs;
} rows[] = {
  { "parameters-without-end", "", "def forward(a=[\n", 100000, "", NULL, 0, "", 0 },
  { "annotations-without-end", "", "class a(torch.nn.Module):\ndef forward(a: [\n", 50000, "", NULL,
    0, "", 0 },
  { "types-without-end", "", "def forward(a) -> [\n", 100000, "", NULL, 0, "", 0 },
  { "brackets-without-end", HEAD "        x = f(", "[", 60, "", "a,", 500000, "\n" TAIL, 1 },
  { "brackets-and-string", HEAD "        x = f(", "(", 60, "", "a,", 500000, "'\n" TAIL, 1 },
  { "numbered-names-twice", HEAD, "        x_@ = a + 1\n        x_@ = a + 1\n", 100000, "", NULL, 0,
    TAIL, 1 },
  { "made-up-names-taken", HEAD, "        raw_@ = a + 1\n", 50000, "", "        @ a ?\n", 50000,
    TAIL, 1 },
  { "parameters-twice", "class G(torch.nn.Module):\n    def forward(self, b", ", a_4@", 50000, "",
    ", a", 50000, "):\n        return (b,)\n", 1 },
  { "aliases", "class G(torch.nn.Module):\n    def forward(self, b", ", a@", 400000, "):\n",
    "        b@ = a@\n", 400000, "        return (b,)\n", 1 },
  { "programs-and-signature", "", PROGRAM, 9000, "Graph signature:\n    # inputs\n",
    "    p_w: PARAMETER target='net.w'\n", 50000, "", 9000 },
  { "ranges", PROGRAM "Graph signature:\n    # inputs\nRange constraints: {s0: VR[2, 64]",
    ", s@: VR[2, 64]", 200000, "}\n", NULL, 0, "", 1 },
  { "letters-in-ranges", PROGRAM "Graph signature:\n    # inputs\nRange constraints: {", "a",
    2000000, "}\n", NULL, 0, "", 1 },
  { "tags", LOG, "[a] ", 1000000,
    "x\n" LOG " /a.py class G(torch.nn.Module):\n" LOG "    def forward(self, a):\n" LOG TAIL, NULL,
    0, "", 1 },
  { "graphs-of-one-role", "", FORWARD, 9000, "", NULL, 0, "", 9000 },
  { "symbols-and-graphs", "",
    LOG "{\"create_symbol\": {\"symbol\": \"s@\", \"val\": \"8\", \"vr\": \"[2, 10]\"}" IDS "}\n",
    50000, "", FORWARD, 9000, "", 9000 },
  { "sources-and-graphs", "",
    LOG "{\"describe_source\": {\"describer_id\": 0, \"id\": @, \"source\": \"L['x@']\"}" IDS "}\n",
    50000, "", FORWARD, 9000, "", 9000 },
  { "regions", FORWARD,
    LOG "{\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"8\", \"vr\": \"[2, 10]\"}, "
        "\"frame_id\": @,"
        " \"frame_compile_id\": 0}\n",
    100000, "", NULL, 0, "", 1 },
};

static void
repeat (GString *text, const char *piece, guint n)
{
  g_auto (GStrv) parts = piece ? g_strsplit (piece, "@", -1) : NULL;

  for (guint i = 0; i < n; i++)
    for (guint k = 0; parts[k]; k++)
      {
        if (k > 0)
          g_string_append_printf (text, "%u", i);
        g_string_append (text, parts[k]);
      }
}

/* A graph that was read can be printed, and the text parses. */
static void
check_print (AdjGraph *graph)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) back = adj_graph_parse (printed, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_nodes (back), ==, adj_graph_get_n_nodes (graph));
}

static void
test_row (gconstpointer data)
{
  guint row = GPOINTER_TO_UINT (data);
  g_autoptr (GString) text = g_string_new (rows[row].head);
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;

  repeat (text, rows[row].first, rows[row].n_first);
  g_string_append (text, rows[row].middle);
  repeat (text, rows[row].second, rows[row].n_second);
  g_string_append (text, rows[row].tail);
  bundle = adj_bundle_load_text (text->str, (gssize) text->len, "hostile", &error);

  if (rows[row].n_graphs == 0)
    {
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, rows[row].n_graphs);
  check_print (adj_bundle_get_graph (bundle, 0)->graph);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/hostile-text/", rows[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_row);
    }
  return g_test_run ();
}
