/* SPDX-License-Identifier: MIT */
/* Finds the sample files. */

#include "window/adj-samples.h"

#define MAX_SAMPLES 16
#define LOGS "torch-trace" /* a folder */

static int
compare_names (gconstpointer a, gconstpointer b)
{
  g_autofree char *x = g_file_get_basename (*(GFile *const *) a);
  g_autofree char *y = g_file_get_basename (*(GFile *const *) b);

  return g_strcmp0 (x, y);
}

static void
add_folder (GPtrArray *files, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && files->len < MAX_SAMPLES && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".adjoint") || g_str_equal (name, LOGS))
      g_ptr_array_add (files, g_file_new_build_filename (folder, name, NULL));
}

GPtrArray *
adj_samples_list (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);

  add_folder (files, ADJ_GRAPHS);
  if (files->len == 0)
    add_folder (files, ADJ_SOURCE_GRAPHS);
  g_ptr_array_sort (files, compare_names);
  return files;
}
