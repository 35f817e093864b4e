/* SPDX-License-Identifier: MIT */
/* Finds a name in a table of names. */

#include "base/adj-error.h"
#include "base/adj-names-internal.h"

gint
adj_names_find (const char *what, AdjNameFunc get, guint n, const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      if (g_str_equal (get (i), name))
        return (gint) i;
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", get (i));
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no %s '%s'; there %s %s", what, name,
               n == 1 ? "is" : "are", names->str);
  return -1;
}
