/* SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <string.h>

#include "session/adj-session.h"

static char *
cut_at (char *text, char separator)
{
  char *at = strrchr (text, separator);

  if (at == NULL || g_file_test (text, G_FILE_TEST_EXISTS))
    return NULL;
  *at = '\0';
  return g_strdup (at + 1);
}

void
adj_graph_name_init (AdjGraphName *name, const char *text)
{
  name->path = g_strdup (text);
  name->how = cut_at (name->path, '@');
  name->id = cut_at (name->path, '#');
}

void
adj_graph_name_clear (AdjGraphName *name)
{
  g_clear_pointer (&name->path, g_free);
  g_clear_pointer (&name->id, g_free);
  g_clear_pointer (&name->how, g_free);
}
