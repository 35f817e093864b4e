/* SPDX-License-Identifier: MIT */
/* Plugins that are named together with a file. */

#include "plugins.h"

#include "adj-warnings.h"

/* Of the only command of the process; lives as long as its graphs; (nullable) (owned). */
static AdjExtensions *extensions;

gboolean
plugins_add (const char *option, const char *value, gpointer data, GError **error)
{
  const AdjProgram *program = adj_program_open (value, error);
  g_autoptr (AdjDiags) diags = adj_diags_new ();

  if (program == NULL)
    return FALSE;
  if (extensions == NULL)
    extensions = adj_extensions_new ();
  if (!adj_program_extend (program, extensions, diags, error))
    {
      g_prefix_error (error, "%s: ", value);
      return FALSE;
    }
  adj_warnings_note (value, diags);
  return TRUE;
}

const AdjExtensions *
plugins_get (void)
{
  return extensions;
}

AdjBundle *
plugins_load_bundle (const char *path, GError **error)
{
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, error);

  if (bundle == NULL || extensions == NULL)
    return g_steal_pointer (&bundle);
  if (!adj_bundle_extend (bundle, extensions, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  return g_steal_pointer (&bundle);
}
