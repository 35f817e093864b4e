/* SPDX-License-Identifier: MIT */

/* Replaces libFuzzer for compilers without it: runs the target on every file in the folders
 * given as arguments. */

#include <gio/gio.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static gboolean
replay (const char *path)
{
  g_autofree char *data = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL))
    return FALSE;
  LLVMFuzzerTestOneInput ((const guint8 *) data, size);
  return TRUE;
}

int
main (int argc, char **argv)
{
  guint n = 0;

  for (int i = 1; i < argc; i++)
    {
      g_autoptr (GDir) dir = g_dir_open (argv[i], 0, NULL);
      const char *name;

      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = g_build_filename (argv[i], name, NULL);

          n += replay (path);
        }
    }
  if (n == 0)
    g_printerr ("no file to replay\n");
  return n > 0 ? 0 : 1;
}
