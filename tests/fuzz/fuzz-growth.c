/* SPDX-License-Identifier: MIT */
/* Fuzzes logs and consoles that are read while they are written: what a log shows before it grew is
 * there behind that, too. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static AdjBundle *
read_first (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  return adj_format_find ("torch-trace", NULL)->load_bytes (bytes, "fuzz", NULL, NULL);
}

static const AdjBundleGraph *
find (const AdjBundle *bundle, const char *id)
{
  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    if (strcmp (adj_bundle_get_graph (bundle, i)->id, id) == 0)
      return adj_bundle_get_graph (bundle, i);
  return NULL;
}

/* A log grows by whole lines; the record that is written last is not complete before the next. */
static void
check_first (const AdjBundle *before, const AdjBundle *whole)
{
  guint n = adj_bundle_get_n_graphs (before);

  for (guint i = 0; i + 1 < n; i++)
    {
      const AdjBundleGraph *early = adj_bundle_get_graph (before, i);
      const AdjBundleGraph *late = find (whole, early->id);

      if (late == NULL)
        g_error ("'%s' went when the log grew", early->id);
      g_assert_cmpstr (late->role, ==, early->role);
      g_assert_cmpuint (adj_graph_get_n_nodes (late->graph), ==,
                        adj_graph_get_n_nodes (early->graph));
    }
}

/* In two steps, of which the second goes on where the first ended, or begins anew. */
static void
read_on (const AdjFormat *format, const guint8 *data, gsize size)
{
  int file = memfd_create ("fuzz", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  gsize middle = size / 2;
  gpointer growth = NULL;

  g_assert_cmpint (file, >=, 0);
  g_assert_cmpint (write (file, data, middle), ==, (gssize) middle);
  adj_bundle_unref (format->load_growing (path, &growth, NULL, NULL));
  g_assert_cmpint (write (file, data + middle, size - middle), ==, (gssize) (size - middle));
  adj_bundle_unref (format->load_growing (path, &growth, NULL, NULL));
  if (growth != NULL)
    format->growth_free (growth);
  close (file);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (AdjBundle) whole = read_first (data, size);
  gsize middle = size / 2;
  const guint8 *end = middle > 0 ? memchr (data + middle, '\n', size - middle) : NULL;
  g_autoptr (AdjBundle) first = end != NULL ? read_first (data, (gsize) (end - data) + 1) : NULL;

  if (first != NULL)
    check_first (first, whole);
  /* In the middle of a line it is cut, too. */
  adj_bundle_unref (read_first (data, middle));
  read_on (adj_format_find ("torch-trace", NULL), data, size);
  read_on (adj_format_find ("torch-logs", NULL), data, size);
  return 0;
}
