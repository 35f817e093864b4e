/* SPDX-License-Identifier: MIT */

/* Tensors of a file that nothing refers to are kept when the file is saved. */

#include <string.h>

#include <glib/gstdio.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define MANIFEST                                                                                   \
  "{\"format\": \"adjoint\", \"version\": [1, 0], \"graphs\": [{\"id\": \"g\"}],"                  \
  "\"tensors\": [{\"id\": \"t\"}],"                                                                \
  "\"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\"]}]}]}"
#define GRAPH                                                                                      \
  "{\"graph\": {\"class\": \"G\", \"nodes\": [\n"                                                  \
  "{\"name\": \"x\", \"op\": \"placeholder\", \"target\": \"x\"},\n"                               \
  "{\"name\": \"output\", \"op\": \"output\", \"args\": [[{\"$n\": \"x\"}]]}]}}\n"

static const char *const keys[] = { "also", "six", "too" };
static const float numbers[] = { 1, 2, 3 };

static char *
make_place (const char *folder, const char *part, const char *name)
{
  g_autofree char *place = g_build_filename (folder, part, NULL);

  g_assert_cmpint (g_mkdir_with_parents (place, 0700), ==, 0);
  return g_build_filename (place, name, NULL);
}

/* Writes three tensors, one of them used by a call. */
static void
write_folder (const char *folder)
{
  g_autofree char *manifest = make_place (folder, "", "adjoint.json");
  g_autofree char *graph = make_place (folder, "graphs", "g.json");
  g_autofree char *tensors = make_place (folder, "tensors", "t.safetensors");
  AdjTensorData *all[G_N_ELEMENTS (keys)];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const gint64 size = 1;

      all[i] = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, &numbers[i], NULL);
    }
  g_assert_true (g_file_set_contents (manifest, MANIFEST, -1, NULL));
  g_assert_true (g_file_set_contents (graph, GRAPH, -1, NULL));
  adj_safetensors_save (tensors, keys, all, G_N_ELEMENTS (keys), &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    adj_tensor_data_unref (all[i]);
}

static void
convert (const char *from, const char *to)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (from, NULL, &error);

  g_assert_no_error (error);
  adj_format_find ("adjoint", NULL)->save (bundle, to, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
test_kept (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *first = g_build_filename (folder->path, "a", NULL);
  g_autofree char *second = g_build_filename (folder->path, "b.adjoint", NULL);
  g_autofree char *third = g_build_filename (folder->path, "c/", NULL);
  g_autofree char *tensors = make_place (third, "tensors", "t.safetensors");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjSafetensors) file = NULL;

  write_folder (first);
  convert (first, second);
  convert (second, third);
  file = adj_safetensors_load (tensors, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_safetensors_get_n (file), ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i += 2)
    {
      AdjTensorData *data = adj_safetensors_find (file, keys[i], &error);

      g_assert_no_error (error);
      g_assert_cmpfloat (adj_tensor_data_get_double (data, 0), ==, (double) numbers[i]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/loose-tensors/kept", test_kept);
  return g_test_run ();
}
