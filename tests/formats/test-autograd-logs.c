/* SPDX-License-Identifier: MIT */
/* Logs of steps under compiled autograd: those of make-autograd-logs.py, and additions of later
 * releases. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"

static AdjBundle *
load_data (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  return bundle;
}

/* Returns reason @index for the capture of a region; @n: number of reasons. */
static const char *
get_reason (AdjBundle *bundle, guint region, guint index, guint *n)
{
  const AdjValue *capture = adj_bundle_get_region (bundle, region)->capture;

  g_assert_nonnull (capture);
  g_assert_cmpuint (capture->n, ==, 2);
  g_assert_cmpstr (capture->items[0].text, ==, "reasons");
  *n = capture->items[1].n;
  g_assert_cmpuint (index, <, *n);
  return capture->items[1].items[index].text;
}

/* Expects three captures; a fourth would be a duplicate. */
static void
assert_captures (AdjBundle *bundle, guint step)
{
  static const guint n_calls[] = { 32, 35, 43 };

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 3 * step);
  for (guint i = 0; i < G_N_ELEMENTS (n_calls); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i * step);
      g_autofree char *id = g_strdup_printf ("ca%u-compiled_autograd", i);

      g_assert_cmpstr (entry->id, ==, id);
      g_assert_cmpstr (entry->role, ==, "compiled_autograd");
      g_assert_cmpuint (adj_graph_get_n_calls (entry->graph), ==, n_calls[i]);
    }
}

static void
test_console (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("autograd-console-2.6.txt");

  assert_captures (bundle, 1);
  g_assert_null (adj_bundle_get_region (bundle, 0)->capture);
}

/* If both log channels are on, each graph is logged twice. */
static void
test_verbose (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("autograd-verbose-2.6.txt");
  guint n;

  assert_captures (bundle, 1);
  g_assert_cmpstr (get_reason (bundle, 1, 0, &n), ==,
                   "Cache miss due to new autograd node: torch::autograd::AccumulateGrad (NodeCall "
                   "4) with key size 33, previous key sizes=[22]");
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpstr (get_reason (bundle, 2, 7, &n), ==,
                   "Cache miss due to changed shapes: marking size idx 6 of CubedBackward "
                   "(NodeCall 5) as dynamic");
  g_assert_cmpuint (n, ==, 8);
}

/* In a trace folder Dynamo's graph of each captured backward follows it. */
static void
test_trace (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("autograd-trace");

  assert_captures (bundle, 2);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 5)->role, ==, "dynamo");
}

#define RECORD "V0302 09:15:01.004000 4711 torch/_dynamo/compiled_autograd.py:27] "
#define GRAPH                                                                                      \
  "\tclass CompiledAutograd0(torch.nn.Module):\n"                                                  \
  "\t    def forward(self, inputs):\n"                                                             \
  "\t        return []\n"
#define ARTIFACT(name, encoding)                                                                   \
  RECORD "{\"artifact\": {\"name\": \"" name "\", \"encoding\": \"" encoding                       \
         "\"}, \"compiled_autograd_id\": 3, \"attempt\": 0}\n"

/* The form of 2.7 and later. */
static void
test_artifacts (void)
{
  static const char text[] =
      ARTIFACT ("compiled_autograd_compile_reasons",
                "json") "\t[\n\t\"!1: first\",\n"
                        "\t\"!3: second\"\n\t]\n" ARTIFACT ("compiled_autograd_graph_pre_"
                                                            "reordering",
                                                            "string") GRAPH RECORD
      "{\"compiled_autograd_graph\": {}, \"compiled_autograd_id\": 3, \"attempt\": 0}\n" GRAPH;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.log", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  guint n;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_regions (bundle), ==, 1);
  g_assert_cmpuint (adj_bundle_get_region (bundle, 0)->n_graphs, ==, 2);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->role, ==, "compiled_autograd_pre_reordering");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->role, ==, "compiled_autograd");
  g_assert_cmpstr (get_reason (bundle, 0, 1, &n), ==, "!3: second");
  g_assert_cmpuint (n, ==, 2);
}

/* A reason that is not a list of texts is ignored. */
static void
test_malformed_reasons (void)
{
  static const char *const payloads[] = { "", "\t{\"a\": 1}\n", "\t[\n", "\t[3, null]\n" };

  for (guint i = 0; i < G_N_ELEMENTS (payloads); i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = g_build_filename (folder->path, "x.log", NULL);
      g_autofree char *text = g_strconcat (
          ARTIFACT ("compiled_autograd_compile_reasons", "json"), payloads[i],
          RECORD "{\"compiled_autograd_graph\": {}, \"compiled_autograd_id\": 3}\n" GRAPH, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = NULL;

      g_assert_true (g_file_set_contents (path, text, -1, NULL));
      bundle = adj_bundle_load (path, NULL, &error);
      g_assert_no_error (error);
      g_assert_null (adj_bundle_get_region (bundle, 0)->capture);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/autograd-logs/console", test_console);
  g_test_add_func ("/formats/autograd-logs/verbose", test_verbose);
  g_test_add_func ("/formats/autograd-logs/trace", test_trace);
  g_test_add_func ("/formats/autograd-logs/artifacts", test_artifacts);
  g_test_add_func ("/formats/autograd-logs/malformed-reasons", test_malformed_reasons);

  return g_test_run ();
}
