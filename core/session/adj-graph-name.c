/* SPDX-License-Identifier: MIT */
/* Splits FILE#ID into path and id. */

#include <gio/gio.h>
#include <string.h>

#include "session/adj-session.h"

static gboolean
exists (const char *text, gsize length)
{
  g_autofree char *path = g_strndup (text, length);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* The length of the path at the start of @text: the longest that exists; when none does, all up to
 * the first separator after the folders. */
static gsize
path_length (const char *text)
{
  const char *slash = strrchr (text, '/');
  gsize length = strlen (text);

  for (gsize end = length; end > 0; end--)
    if ((text[end] == '\0' || text[end] == '#' || text[end] == '@') && exists (text, end))
      return end;
  if (slash != NULL)
    text = slash + 1;
  return length - strlen (text) + strcspn (text, "#@");
}

void
adj_graph_name_init (AdjGraphName *name, const char *text)
{
  gsize length = path_length (text);
  const char *rest = text + length;
  const char *how = strchr (rest, '@');

  name->path = g_strndup (text, length);
  name->how = how != NULL ? g_strdup (how + 1) : NULL;
  name->id = NULL;
  if (*rest == '#')
    name->id = how != NULL ? g_strndup (rest + 1, (gsize) (how - rest) - 1) : g_strdup (rest + 1);
}

void
adj_graph_name_clear (AdjGraphName *name)
{
  g_clear_pointer (&name->path, g_free);
  g_clear_pointer (&name->id, g_free);
  g_clear_pointer (&name->how, g_free);
}
