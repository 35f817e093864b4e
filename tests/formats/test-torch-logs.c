/* SPDX-License-Identifier: MIT */
/* Pasted console output of TORCH_LOGS. */

#include <glib.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define LINE(tags, text) "I1120 10:34:57.280000 27000 torch/_functorch/x.py:404] " tags text "\n"

static const char paste[] = LINE ("[0/0] [__aot_graphs] ",
                                  "aot_config id: 0, fw_metadata=Meta(a=[])")
    LINE ("[0/0] [__aot_graphs] ", "TRACED GRAPH") LINE ("[0/0] [__aot_graphs] ",
                                                         " ===== Forward graph 0 =====")
        LINE ("[0/0] [__aot_graphs] ", " /usr/lib/fx.py class GraphModule(torch.nn.Module):")
            LINE ("[0/0] [__aot_graphs] ", "    def forward(self, primals_1: \"f32[4][1]cpu\"):") "the program says: loss 1.5\n" LINE (
                "[0/0] [__aot_graphs] ",
                "        relu: \"f32[4][1]cpu\" = torch.ops.aten.relu.default(primals_1);  "
                "primals_1 = None") LINE ("[0/0] [__aot_graphs] ", "        return (relu,)")
                LINE ("[0/0] [__aot_graphs] ", "        ") LINE ("[__compiled_autograd] ",
                                                                 "TRACED GRAPH")
                    LINE ("[__compiled_autograd] ", " ===== Compiled autograd graph =====")
                        LINE ("[__compiled_autograd] ",
                              " <eval_with_key>.5 class CompiledAutograd(torch.nn.Module):")
                            LINE ("[__compiled_autograd] ", "    def forward(self, inputs):") LINE (
                                "[__compiled_autograd] ", "        return []")
                                LINE ("[2/0_1] [__aot_graphs] ", "TRACED GRAPH") LINE (
                                    "[2/0_1] [__aot_graphs] ", " ===== Forward graph 2 =====")
                                    LINE ("[2/0_1] [__aot_graphs] ",
                                          " /usr/lib/fx.py class <lambda>(torch.nn.Module):")
                                        LINE ("[2/0_1] [__aot_graphs] ",
                                              "    def forward(self, arg0_1: \"f32[4][1]cpu\"):")
                                            LINE ("[2/0_1] [__aot_graphs] ",
                                                  "        return (arg0_1,)");

static void
test_paste (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "paste.txt", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  g_assert_true (g_file_set_contents (path, paste, -1, NULL));
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 3);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "0-0-forward");
  g_assert_cmpuint (adj_graph_get_n_calls (adj_bundle_get_graph (bundle, 0)->graph), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->id, ==, "ca0-compiled_autograd");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 2)->id, ==, "2-0-1-inference");
}

#define OF_RANK(rank, text) "[rank" rank "]:" LINE ("[__compiled_autograd] ", text)
#define MODULE_LINE " <eval_with_key>.2 class CompiledAutograd(torch.nn.Module):"
#define BOTH(text) OF_RANK ("0", text) OF_RANK ("1", text)
#define TWICE(one)                                                                                 \
  one ("Cache miss due to new autograd node") one ("TRACED GRAPH")                                 \
      one (" ===== Compiled autograd graph =====") one (MODULE_LINE)                               \
          one ("    def forward(self, inputs):") one ("        return []") one ("TRACED GRAPH")    \
              one (" ===== Compiled autograd graph =====") one (MODULE_LINE)                       \
                  one ("    def forward(self, inputs):") one ("        return []")

/* Lines of two ranks alternate, and both channels of a rank log the same graph. */
static void
test_ranks (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (TWICE (BOTH), -1, "console.txt", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 2);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "r0-ca0-compiled_autograd");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->id, ==, "r1-ca0-compiled_autograd");
}

#define OF_INDUCTOR(text) LINE ("[0/0] [__post_grad_graphs] ", text)
#define UNDER(heading)                                                                             \
  OF_INDUCTOR ("TRACED GRAPH")                                                                     \
  OF_INDUCTOR (" ===== " heading " =====")                                                         \
  OF_INDUCTOR (" <eval_with_key>.3 class <lambda>(torch.nn.Module):")                              \
  OF_INDUCTOR ("    def forward(self, arg0_1):") OF_INDUCTOR ("        return (arg0_1,)")

/* A graph is called as its heading says: as in TRACE logs where these have it, too. */
static void
test_headings (void)
{
  static const char *const ids[] = { "0-0-pre_grad", "0-0-inference", "0-0-forward_graph_early",
                                     "0-0-post_grad", "0-0-frozen_graph" };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (
      UNDER ("BEFORE PRE GRAD") UNDER ("Forward graph 7") UNDER ("Forward graph early 7")
          UNDER ("AFTER POST GRAD") UNDER ("FROZEN GRAPH"),
      -1, "console.txt", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, G_N_ELEMENTS (ids));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpstr (adj_bundle_get_graph (bundle, i)->id, ==, ids[i]);
}

/* Graphs that the program prints itself, before and between log messages. */
static void
test_own_output (void)
{
  static const char own[] = "loss 1.5\n"
                            "class Net(torch.nn.Module):\n"
                            "    def forward(self, x):\n"
                            "        sin = torch.ops.aten.sin.default(x);  x = None\n"
                            "        return (sin,)\n"
                            "        \n";
  g_autofree char *text = g_strconcat (own, "done\n", paste, own, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (text, -1, "console.txt", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 5);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "none-user");
  g_assert_cmpuint (adj_graph_get_n_calls (adj_bundle_get_graph (bundle, 0)->graph), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->id, ==, "0-0-forward");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 4)->id, ==, "none-user-2");
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
}

static void
test_no_graph (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "paste.txt", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, LINE ("[0/0] [__guards] ", "GUARDS:"), -1, NULL));
  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/torch-logs/paste", test_paste);
  g_test_add_func ("/formats/torch-logs/ranks", test_ranks);
  g_test_add_func ("/formats/torch-logs/headings", test_headings);
  g_test_add_func ("/formats/torch-logs/own-output", test_own_output);
  g_test_add_func ("/formats/torch-logs/no-graph", test_no_graph);
  return g_test_run ();
}
