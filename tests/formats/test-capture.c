/* SPDX-License-Identifier: MIT */
/* What only the capture module writes: facts about a region beside its graphs and calls. */

#include "formats/adj-format.h"
#include "support/adj-test.h"

#define GRAPHS "\"graphs\": [{\"id\": \"g\", \"role\": \"user\"}]"
#define GRAPH                                                                                      \
  "{\"graph\": {\"class\": \"G\", \"nodes\": [\n"                                                  \
  "{\"name\": \"x\", \"op\": \"placeholder\", \"target\": \"x\"},\n"                               \
  "{\"name\": \"output\", \"op\": \"output\", \"args\": [[{\"$n\": \"x\"}]]}]}}\n"

/* A capture of one graph with @members in its manifest, in a folder of its own. */
static char *
write_capture (const AdjTestFolder *folder, const char *members)
{
  g_autofree char *graphs = g_build_filename (folder->path, "graphs", NULL);
  g_autofree char *graph = g_build_filename (graphs, "g.json", NULL);
  g_autofree char *manifest = g_build_filename (folder->path, "adjoint.json", NULL);
  g_autofree char *text = g_strdup_printf (
      "{\"format\": \"adjoint\", \"version\": [1, 2], \"requires\": [],\n%s}", members);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (graphs, 0700);
  g_file_set_contents (graph, GRAPH, -1, &error);
  g_assert_no_error (error);
  g_file_set_contents (manifest, text, -1, &error);
  g_assert_no_error (error);
  return g_strdup (folder->path);
}

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* -- how a region was partitioned -- */

#define PARTITIONED(what)                                                                          \
  GRAPHS ",\n\"regions\": [{\"id\": \"r\", \"graphs\": {\"user\": \"g\"},\n\"partition\": " what   \
         "}]"

static void
test_partition (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_capture (
      folder, "\"source\": {\"kind\": \"capture\", \"torch_version\": \"2.8.0+cpu\"},\n" //
      PARTITIONED ("{\"partitioner\": \"min-cut\", \"activation_memory_budget\": 0.5, "
                   "\"options\": {\"recompute_views\": true, \"max_dist_from_bw\": 1000}}"));
  g_autofree char *copy = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (AdjBundle) first = load (path);
  g_autoptr (AdjBundle) again = NULL;
  g_autoptr (GError) error = NULL;
  const AdjValue *partition;

  adj_format_for_path (copy, &error)->save (first, copy, NULL, NULL, &error);
  g_assert_no_error (error);
  again = load (copy);
  partition = adj_bundle_get_region (again, 0)->partition;
  g_assert_true (adj_value_equal (adj_bundle_get_region (first, 0)->partition, partition));
  g_assert_cmpint (partition->kind, ==, ADJ_VALUE_DICT);
  g_assert_cmpuint (partition->n, ==, 6);
  g_assert_cmpstr (adj_bundle_get_torch_version (again), ==, "2.8.0+cpu");
}

/* -- what is malformed -- */

typedef struct
{
  const char *name, *members;
  const char *message; /* after the path of the folder */
} Bad;

static const Bad bads[] = {
  { "partition-no-object", PARTITIONED ("0.5"),
    ": adjoint.json:4:14: \"partition\" must be an object" },
  { "partitioner-no-text", PARTITIONED ("{\"partitioner\": 1}"),
    ": adjoint.json:4:30: \"partitioner\" must be a text" },
  { "budget-negative", PARTITIONED ("{\"activation_memory_budget\": -0.5}"),
    ": adjoint.json:4:43: \"activation_memory_budget\" must be a number from 0 on" },
  { "option-is-list", PARTITIONED ("{\"options\": {\"cse\": []}}"),
    ": adjoint.json:4:34: an option is a number, a text or a bool" },
};

static void
test_error (gconstpointer data)
{
  const Bad *bad = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_capture (folder, bad->members);
  g_autofree char *expected = g_strconcat (path, bad->message, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/capture/partition", test_partition);
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/capture/bad/", bads[i].name, NULL);

      g_test_add_data_func (path, &bads[i], test_error);
    }
  return g_test_run ();
}
