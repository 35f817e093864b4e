/* SPDX-License-Identifier: MIT */

/* Logs of a training step of every model in data/graphs, by PyTorch 2.6 and a current release:
 * each graph is read with the number of nodes that the generating program counted. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"

static const char *const rows[] = {
  "trace-2.6.log",
  "trace-2.15.log",
  "console-2.6.txt",
  "console-2.15.txt",
};

static char *
read_data (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);

  return adj_test_read_file (path, NULL);
}

/* "models-trace-2.15.log" → "models-2.15.txt" */
static char *
list_of (const char *row)
{
  const char *release = strchr (row, '-') + 1;
  g_autofree char *number = g_strndup (release, strlen (release) - strlen (".log"));
  g_autofree char *name = g_strdup_printf ("models-%s.txt", number);

  return read_data (name);
}

/* Counts classes that are not nested in others. */
static guint
count_classes (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GInputStream) packed = G_INPUT_STREAM (g_file_read (file, NULL, NULL));
  g_autoptr (GConverter) inflater =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (packed, inflater);
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (stream);
  char *line;
  guint n = 0;

  while ((line = g_data_input_stream_read_line (lines, NULL, NULL, NULL)) != NULL)
    {
      const char *at = strstr (line, "class ");

      n += g_str_has_suffix (line, "(torch.nn.Module):") && at != NULL &&
           (at == line || (at[-1] == '\t' || !g_str_has_prefix (at - 2, "  ")));
      g_free (line);
    }
  return n;
}

static guint
count_raw (const AdjGraph *graph)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_RAW;
  return n;
}

/* "joint 33 334" */
static char *
describe (const AdjBundleGraph *entry)
{
  return g_strdup_printf ("%s %u %u", entry->role, adj_graph_get_n_inputs (entry->graph),
                          adj_graph_get_n_calls (entry->graph));
}

/* A console log also shows graphs before and after minor passes. */
static gboolean
is_listed (const char *role)
{
  static const char *const listed[] = { "dynamo", "joint", "forward", "backward", NULL };

  return g_strv_contains (listed, role);
}

static void
test_log (gconstpointer row)
{
  g_autofree char *name = g_strdup_printf ("models-%s.gz", (const char *) row);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);
  g_autofree char *list = list_of (row);
  g_auto (GStrv) expected = g_strsplit (g_strchomp (list), "\n", -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  guint n_parsed = 0, n_listed = 0, n_found = count_classes (path);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);
      g_autofree char *got = describe (entry);

      n_parsed += count_raw (entry->graph) == 0;
      if (is_listed (entry->role))
        g_assert_cmpstr (got, ==, expected[n_listed++]);
    }
  for (guint i = 0; g_str_has_prefix (row, "trace") && i < adj_bundle_get_n_regions (bundle); i++)
    g_assert_nonnull (adj_bundle_get_region (bundle, i)->metadata);
  g_test_message ("%s: parsed %u of %u graphs, %u of them as counted by PyTorch", name, n_parsed,
                  n_found, n_listed);
  g_assert_cmpuint (n_listed, ==, g_strv_length (expected));
  g_assert_cmpuint (n_parsed, ==, n_found);
}

/* -- what AOTAutograd knows of a region: in a log as repr(), in a capture as JSON -- */

static const AdjValue *
member (const AdjValue *dict, const char *key)
{
  g_assert_cmpint (dict->kind, ==, ADJ_VALUE_DICT);
  for (guint i = 0; i + 1 < dict->n; i += 2)
    if (g_str_equal (dict->items[i].text, key))
      return &dict->items[i + 1];
  g_error ("no '%s'", key);
}

static void
assert_same_members (const AdjValue *a, const AdjValue *b, const char *key)
{
  g_assert_true (adj_value_equal (member (a, key), member (b, key)));
}

static void
assert_same_metadata (const AdjValue *logged, const AdjValue *captured)
{
  const AdjValue *inputs = member (logged, "input_info"), *other = member (captured, "input_info");
  const AdjValue *outputs = member (logged, "output_info");

  g_assert_cmpuint (inputs->n, ==, other->n);
  for (guint i = 0; i < inputs->n; i++)
    {
      assert_same_members (&inputs->items[i], &other->items[i], "is_leaf");
      assert_same_members (&inputs->items[i], &other->items[i], "mutates_data");
      assert_same_members (&inputs->items[i], &other->items[i], "mutates_metadata");
      assert_same_members (&inputs->items[i], &other->items[i], "requires_grad");
    }
  other = member (captured, "output_info");
  g_assert_cmpuint (outputs->n, ==, other->n);
  for (guint i = 0; i < outputs->n; i++)
    {
      assert_same_members (&outputs->items[i], &other->items[i], "output_type");
      assert_same_members (&outputs->items[i], &other->items[i], "base_idx");
      assert_same_members (&outputs->items[i], &other->items[i], "dynamic_dims");
      assert_same_members (&outputs->items[i], &other->items[i], "requires_grad");
    }
  assert_same_members (logged, captured, "num_intermediate_bases");
  assert_same_members (logged, captured, "is_train");
  assert_same_members (logged, captured, "tokens");
  g_assert_cmpuint (member (logged, "traced_tangents")->n, ==,
                    member (captured, "traced_tangents")->n);
}

/* The captures of the same models come from another run of the same release. */
static void
test_metadata (gconstpointer row)
{
  static const char *const models[] = { "mlp",  "gpt2", "resnet-block", "llama",
                                        "lstm", "sac",  "dropout",      "unet" };
  g_autofree char *name = g_strdup_printf ("models-%s.gz", (const char *) row);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) log = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", models[i]);
      g_autofree char *place = adj_test_data_path (file);
      g_autoptr (AdjBundle) capture = adj_bundle_load (place, NULL, &error);
      const AdjRegion *region = adj_bundle_get_region (log, i);

      g_assert_no_error (error);
      g_assert_nonnull (region->metadata);
      assert_same_metadata (region->metadata, adj_bundle_get_region (capture, 0)->metadata);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/model-logs/", rows[i], NULL);

      g_test_add_data_func (path, rows[i], test_log);
    }
  g_test_add_data_func ("/formats/model-logs/metadata-of-trace", rows[0], test_metadata);
  g_test_add_data_func ("/formats/model-logs/metadata-of-console", rows[2], test_metadata);
  return g_test_run ();
}
