/* SPDX-License-Identifier: MIT */

/* The HTML report of a graph: well formed, self-contained, and all text from files escaped. */

#include <math.h>
#include <string.h>

#include "formats/adj-format.h"
#include "layout/adj-layout.h"
#include "report/report-private.h"
#include "session/adj-pipeline.h"
#include "session/adj-session.h"
#include "support/adj-test.h"
#include "support/planted-bundle.h"

/* -- escaping -- */

static void
test_escapes (void)
{
  static const struct
  {
    const char *text, *html;
  } cases[] = {
    { "a < b && \"c\" > 'd'", "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;" },
    { "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;" },
    { "&lt;", "&amp;lt;" },
    { "\x01\x1b[31m\x7f", "\xEF\xBF\xBD\xEF\xBF\xBD[31m\xEF\xBF\xBD" },
    { "\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD" },
    { "Größe\n\t→", "Größe\n\t→" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      html_text (out, cases[i].text);
      g_assert_cmpstr (out->str, ==, cases[i].html);
    }
}

/* -- pages -- */

static char *
make_page (AdjBundle *bundle,
           const AdjBundleGraph *graph,
           const char *file,
           AdjComparison *comparison)
{
  AdjLayoutOptions options = { .fold_depth = 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph->graph, &options, NULL, NULL, &error);
  AdjReport report = { .file = file,
                       .generator = "Adjoint <test>",
                       .bundle = bundle,
                       .graph = graph,
                       .comparison = comparison,
                       .compared = "what was recorded" };
  char *page;

  g_assert_no_error (error);
  report.scene = scene;
  page = adj_report_make (&report, &error);
  g_assert_no_error (error);
  return page;
}

/* Counts of elements and URLs in the attributes of a page. */
typedef struct
{
  GHashTable *ids;
  GPtrArray *targets; /* targets of links */
  guint n_tables, n_captions, n_images, n_scripts;
} Content;

static void
on_start (GMarkupParseContext *context,
          const char *name,
          const char **names,
          const char **values,
          gpointer data,
          GError **error)
{
  Content *content = data;

  content->n_tables += g_str_equal (name, "table");
  content->n_captions += g_str_equal (name, "caption");
  content->n_images += g_str_equal (name, "img");
  content->n_scripts += g_str_equal (name, "script") || g_str_equal (name, "link") ||
                        g_str_equal (name, "iframe") || g_str_equal (name, "object");
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_assert_false (g_str_has_prefix (names[i], "on"));
      if (g_str_equal (names[i], "src") || g_str_equal (names[i], "srcset"))
        g_assert_true (g_str_has_prefix (values[i], "data:image/svg+xml;base64,"));
      if (g_str_equal (names[i], "href"))
        {
          g_assert_cmpint (values[i][0], ==, '#');
          g_ptr_array_add (content->targets, g_strdup (values[i] + 1));
        }
      if (g_str_equal (names[i], "id"))
        g_assert_true (g_hash_table_add (content->ids, g_strdup (values[i])));
      if (g_str_equal (name, "img") && g_str_equal (names[i], "alt"))
        g_assert_cmpstr (values[i], !=, "");
    }
}

static void
check_page (const char *page)
{
  static const GMarkupParser parser = { .start_element = on_start };
  Content content = { .ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                      .targets = g_ptr_array_new_with_free_func (g_free) };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, &content, NULL);
  g_autoptr (GError) error = NULL;

  g_markup_parse_context_parse (context, page, -1, &error);
  g_assert_no_error (error);
  g_markup_parse_context_end_parse (context, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (content.n_scripts, ==, 0);
  g_assert_cmpuint (content.n_images, ==, 1);
  g_assert_cmpuint (content.n_tables, >, 0);
  g_assert_cmpuint (content.n_captions, ==, content.n_tables);
  for (guint i = 0; i < content.targets->len; i++)
    g_assert_true (g_hash_table_contains (content.ids, content.targets->pdata[i]));
  g_hash_table_unref (content.ids);
  g_ptr_array_unref (content.targets);
}

static void
assert_says (const char *page, const char *text)
{
  if (strstr (page, text) == NULL)
    g_error ("the page does not say “%s”", text);
}

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static AdjComparison *
compare (AdjBundle *bundle, const AdjBundleGraph *graph)
{
  AdjSessionRun run = { .bundle = bundle, .graph = graph };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);

  g_assert_no_error (error);
  return comparison;
}

static void
test_agrees (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjBundle) bundle = load (path);
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, "joint", NULL);
  g_autoptr (AdjComparison) comparison = compare (bundle, graph);
  g_autofree char *page = make_page (bundle, graph, "mlp.adjoint", comparison);
  g_autofree char *alone = make_page (bundle, graph, "mlp.adjoint", NULL);

  check_page (page);
  assert_says (page, "agrees with what was recorded");
  assert_says (page, " within");
  assert_says (page, "Saved for backward, each storage once");
  assert_says (page, "aten.gelu_backward.default");
  assert_says (page, "does not record how its graphs came");
  g_assert_null (strstr (page, "First difference"));
  check_page (alone);
  assert_says (alone, "The graph was not run.");
}

/* The first difference is named with its line, and whether it originated there. */
static void
test_differs (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *source = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autofree char *path = g_build_filename (folder->path, "planted.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autofree char *page = NULL;
  const AdjBundleGraph *graph;

  adj_planted_write (source, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  bundle = load (path);
  graph = adj_bundle_find_graph (bundle, "joint", NULL);
  comparison = compare (bundle, graph);
  g_assert_cmpint (comparison->first, >=, 0);
  page = make_page (bundle, graph, "planted.adjoint", comparison);
  check_page (page);
  assert_says (page, "differs from what was recorded");
  assert_says (page, "First difference: <code>gelu");
  assert_says (page, "its inputs agree, so the difference begins here");
  assert_says (page, "models.py:");
}

/* Names and source lines that contain markup. */
static void
test_hostile (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2, 3]\"):\n"
      "         # File: /a/<img src=x onerror=alert(1)>.py:7 in f, code: y = \"</td><script>"
      "alert('\xE2\x80\xAE')</script>&\"\n"
      "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(x);  x = None\n"
      "        return (relu,)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (text, -1, "clipboard", &error);
  const AdjBundleGraph *graph;
  g_autofree char *page = NULL;

  g_assert_no_error (error);
  graph = adj_bundle_find_graph (bundle, NULL, NULL);
  page = make_page (bundle, graph, "</title><script>alert(2)</script>.adjoint", NULL);
  check_page (page);
  g_assert_null (strstr (page, "<script"));
  g_assert_null (strstr (page, "<img src=x"));
  assert_says (page, "&lt;/title&gt;&lt;script&gt;alert(2)");
  assert_says (page, "&lt;img src=x onerror=alert(1)&gt;.py:7");
}

static void
test_stages (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjBundle) source = load (path);
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (source, "dynamo", NULL);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) traced = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *page = NULL;

  adj_pipeline_run (dynamo->graph, "dynamo", NULL, &result, NULL, &error);
  g_assert_no_error (error);
  traced = adj_pipeline_result_to_bundle (&result, source, dynamo);
  page = make_page (traced, adj_bundle_find_graph (traced, "joint", NULL), "traced", NULL);
  check_page (page);
  assert_says (page, "What each pass made of the graph before it");
  assert_says (page, "changes, equal ones once");
}

/* Facts of a log about the graph are appended as text. */
static void
test_log (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (AdjBundle) bundle = load (path);
  g_autofree char *page =
      make_page (bundle, adj_bundle_find_graph (bundle, "0-0-joint", NULL), "torch-trace", NULL);

  check_page (page);
  assert_says (page, "aot_forward_graph_fw_metadata");
  assert_says (page, "ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=");
}

/* The page of a large graph is limited in size and says that it shows a part; edges to hidden
 * nodes are left out, also for a value that all nodes read. */
static void
test_large (void)
{
  g_autoptr (GString) text = g_string_new ("class G(torch.nn.Module):\n    def forward(self, x: "
                                           "\"f32[4][1]cpu\"):\n        n0: \"f32[4][1]cpu\" = "
                                           "torch.ops.aten.sin.default(x)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  g_autofree char *page = NULL;

  for (guint i = 1; i < 20000; i++)
    g_string_append_printf (
        text, "        n%u: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(n%u, x)\n", i, i - 1);
  g_string_append (text, "        return n19999\n");
  bundle = adj_bundle_load_text (text->str, -1, "large", &error);
  g_assert_no_error (error);
  page = make_page (bundle, adj_bundle_get_graph (bundle, 0), "large", NULL);
  g_assert_cmpuint (strlen (page), <, 12 << 20);
  g_assert_nonnull (strstr (page, "This is the upper part of it"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/escapes", test_escapes);
  g_test_add_func ("/report/agrees", test_agrees);
  g_test_add_func ("/report/differs", test_differs);
  g_test_add_func ("/report/hostile", test_hostile);
  g_test_add_func ("/report/stages", test_stages);
  g_test_add_func ("/report/log", test_log);
  g_test_add_func ("/report/large", test_large);
  return g_test_run ();
}
