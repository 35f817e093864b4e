/* SPDX-License-Identifier: MIT */

/* Fuzzes TORCH_TRACE logs: the graphs read from them print as text that reads back the same. */

#include <sys/mman.h>
#include <unistd.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Makes a file in memory with a path through which the reader can open it. */
static char *
make_file (const guint8 *data, gsize size, int *file)
{
  *file = memfd_create ("fuzz", MFD_CLOEXEC);
  g_assert_cmpint (*file, >=, 0);
  g_assert_cmpint (write (*file, data, size), ==, (gssize) size);
  return g_strdup_printf ("/proc/self/fd/%d", *file);
}

static void
check_graph (const AdjGraph *graph)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (AdjGraph) again = NULL;
  g_autofree char *twice = NULL;
  g_autoptr (GError) error = NULL;

  again = adj_graph_parse (printed, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  twice = adj_graph_print (again, ADJ_PRINT_DEFAULT, NULL);
  g_assert_cmpstr (twice, ==, printed);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  int file;
  g_autofree char *path = make_file (data, size, &file);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_format_find ("torch-trace", NULL)->load (path, NULL, &error);

  close (file);
  if (bundle == NULL)
    {
      g_assert_nonnull (error);
      return 0;
    }
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    check_graph (adj_bundle_get_graph (bundle, i)->graph);
  return 0;
}
