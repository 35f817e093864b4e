/* SPDX-License-Identifier: MIT */

/* Logs of a training step of every model of data/graphs, by PyTorch 2.6 and a current release: each
 * graph in them is read, with the nodes that the program that wrote them counted itself. */

#include <string.h>

#include "formats/adj-format.h"
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

/* Of classes that do not stand inside of others. */
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

/* A console also shows what a graph was before and after small steps. */
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
  g_test_message ("%s: parsed %u of %u graphs, %u of them as counted by PyTorch", name, n_parsed,
                  n_found, n_listed);
  g_assert_cmpuint (n_listed, ==, g_strv_length (expected));
  g_assert_cmpuint (n_parsed, ==, n_found);
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
  return g_test_run ();
}
