/* SPDX-License-Identifier: MIT */
/* Parses and loads graphs for tests. */

#include "support/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

AdjGraph *
adj_test_parse_graph (const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

AdjBundle *
adj_test_load_bundle (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

void
adj_test_save_bundle (AdjBundle *bundle, const char *path)
{
  g_autoptr (GError) error = NULL;

  adj_format_for_path (path, &error)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
}

AdjBundle *
adj_test_load_capture (const char *name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autofree char *path = adj_test_data_path (file);

  return adj_test_load_bundle (path);
}

AdjGraph *
adj_test_load_graph (const char *name, const char *id)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, id, &error);

  g_assert_no_error (error);
  return adj_graph_ref (graph->graph);
}

static int
by_name (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

GPtrArray *
adj_test_list_captures (void)
{
  g_autofree char *folder = adj_test_data_path ("graphs");
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &error);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *entry;

  g_assert_no_error (error);
  while ((entry = g_dir_read_name (dir)))
    if (g_str_has_suffix (entry, ".adjoint"))
      g_ptr_array_add (names, g_strndup (entry, strlen (entry) - strlen (".adjoint")));
  qsort (names->pdata, names->len, sizeof (char *), by_name);
  g_assert_cmpuint (names->len, >, 0);
  return names;
}
