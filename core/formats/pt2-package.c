/* SPDX-License-Identifier: MIT */
/* Packages of AOTInductor: archives of compiled code, which hold no graph.  Says what they hold. */

#include <string.h>

#include "formats/pt2-private.h"

/* Of the list, in bytes. */
#define MAX_LIST (8 << 10)

/* What a file is, by the end of its name; the first row that fits. */
static const struct
{
  const char *suffix;
  const char *what;
} kinds[] = {
  { ".so", "compiled code" },
  { ".pyd", "compiled code" },
  { ".dll", "compiled code" },
  { ".o", "object code" },
  { ".obj", "object code" },
  { ".cpp", "C++" },
  { ".h", "C++" },
  { ".cubin", "code of a GPU" },
  { ".hsaco", "code of a GPU" },
  { ".spv", "code of a GPU" },
  { ".ptx", "assembly of a GPU" },
  { "_metadata.json", "metadata" },
  { "_flags.json", "flags of the compiler" },
  { "weights_config.json", "where weights are" },
  { ".json", "settings" },
  { "CMakeLists.txt", "build description" },
  { ".bin", "weights" },
  { ".blob", "weights" },
};

/* The folders that hold what a package runs with: what the first one holds is named by its path
 * below it. */
static const struct
{
  const char *path;
  const char *what; /* (nullable): of files that no row of kinds fits */
  gboolean is_short;
} folders[] = {
  { "data/aotinductor/", NULL, TRUE },
  { "data/weights/", "weights", FALSE },
  { "data/constants/", "a constant", FALSE },
  { "extra/", NULL, FALSE },
};

static const char *
what_is (const char *name, const char *otherwise)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_suffix (name, kinds[i].suffix))
      return kinds[i].what;
  return otherwise;
}

static void
list_entry (GString *list, const char *name, guint folder, guint *n, guint *n_left)
{
  const char *what = what_is (name, folders[folder].what);
  const char *shown = folders[folder].is_short ? name + strlen (folders[folder].path) : name;

  (*n)++;
  if (list->len + strlen (shown) > MAX_LIST)
    {
      (*n_left)++;
      return;
    }
  g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", shown);
  if (what != NULL)
    g_string_append_printf (list, " (%s)", what);
}

char *
pt2_package_describe (const Pt2Archive *archive)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = 0, n_left = 0, n_compiled = 0;

  for (guint k = 0; k < G_N_ELEMENTS (folders); k++)
    {
      g_autofree char *folder = g_strconcat (archive->root, folders[k].path, NULL);

      for (guint i = 0; i < zip_get_n (archive->archive); i++)
        if (g_str_has_prefix (zip_get_name (archive->archive, i), folder) &&
            !g_str_has_suffix (zip_get_name (archive->archive, i), "/"))
          list_entry (list, zip_get_name (archive->archive, i) + strlen (archive->root), k, &n,
                      &n_left);
      if (k == 0)
        n_compiled = n;
    }
  if (n_compiled == 0)
    return NULL;
  if (n_left > 0)
    g_string_append_printf (list, ", and %u more", n_left);
  return g_strdup_printf ("%u file%s: %s", n, n == 1 ? "" : "s", list->str);
}
