/* SPDX-License-Identifier: MIT */
/* Reads the tables of tests/tensor/data. */

#include "tensor/table.h"

char **
table_read_lines (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "tensor", "data", name, NULL);
  g_autofree char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return g_strsplit (text, "\n", -1);
}

void
table_read (const char *name, TableFunc each)
{
  g_auto (GStrv) lines = table_read_lines (name);
  guint n_rows = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      {
        g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);

        each (words, g_strv_length (words), lines[i]);
        n_rows++;
      }
  g_assert_cmpuint (n_rows, >, 0);
}
