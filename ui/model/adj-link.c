/* SPDX-License-Identifier: MIT */
/* Links to a place in a file: adjoint:… made and parsed. */

#include "model/adj-link.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

#define PREFIX ADJ_LINK_SCHEME ":"
#define MAX_STAGE 10000

gboolean
adj_link_is (const char *text)
{
  return g_ascii_strncasecmp (text, PREFIX, strlen (PREFIX)) == 0;
}

/* -- making -- */

static void
append_value (GString *uri, const char *key, const char *value)
{
  g_autofree char *escaped = NULL;

  if (value == NULL)
    return;
  escaped = g_uri_escape_string (value, NULL, TRUE);
  g_string_append_printf (uri, "%c%s=%s", strchr (uri->str, '#') == NULL ? '#' : '&', key, escaped);
}

char *
adj_link_make (GFile *file, const char *graph, const char *node)
{
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *escaped = NULL;
  GString *uri;

  if (path == NULL)
    return NULL;
  escaped = g_uri_escape_string (path, "/", FALSE);
  uri = g_string_new (PREFIX "//");
  g_string_append (uri, escaped);
  append_value (uri, "graph", graph);
  append_value (uri, "node", node);
  return g_string_free (uri, FALSE);
}

/* -- reading -- */

static gboolean
fail (const char *text, const char *why, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, _ ("%.200s is no link: %s"), text,
               why);
  return FALSE;
}

static gboolean
take_pair (AdjLink *link, const char *pair)
{
  const char *value = strchr (pair, '=');
  g_autofree char *key = value != NULL ? g_strndup (pair, (gsize) (value - pair)) : NULL;
  g_autofree char *plain = value != NULL ? g_uri_unescape_string (value + 1, NULL) : NULL;
  guint64 stage;

  if (plain == NULL || *plain == '\0' || !g_utf8_validate (plain, -1, NULL))
    return FALSE;
  if (g_str_equal (key, "graph"))
    {
      g_free (link->graph);
      link->graph = g_steal_pointer (&plain);
    }
  else if (g_str_equal (key, "node"))
    {
      g_free (link->node);
      link->node = g_steal_pointer (&plain);
    }
  else if (g_str_equal (key, "stage"))
    {
      if (!g_ascii_string_to_unsigned (plain, 10, 1, MAX_STAGE, &stage, NULL))
        return FALSE;
      link->stage = (guint) stage;
    }
  return TRUE;
}

gboolean
adj_link_parse (AdjLink *link, const char *text, GError **error)
{
  const char *path = text + strlen (PREFIX);
  const char *fragment;
  g_autofree char *escaped = NULL, *plain = NULL;
  g_auto (GStrv) pairs = NULL;

  *link = (AdjLink){ NULL };
  if (!adj_link_is (text))
    return fail (text, _ ("it does not begin with " PREFIX), error);
  if (g_str_has_prefix (path, "//"))
    path += strlen ("//");
  fragment = strchr (path, '#');
  escaped = fragment != NULL ? g_strndup (path, (gsize) (fragment - path)) : g_strdup (path);
  plain = g_uri_unescape_string (escaped, NULL);
  if (plain == NULL || *plain != '/')
    return fail (text, _ ("it has no path that begins with /"), error);
  link->file = g_file_new_for_path (plain);
  pairs = g_strsplit (fragment != NULL ? fragment + 1 : "", "&", -1);
  for (guint i = 0; pairs[i] != NULL; i++)
    if (*pairs[i] != '\0' && !take_pair (link, pairs[i]))
      {
        g_autofree char *why = g_strdup_printf (_ ("“%.80s” says nothing"), pairs[i]);

        adj_link_clear (link);
        return fail (text, why, error);
      }
  return TRUE;
}

void
adj_link_clear (AdjLink *link)
{
  g_clear_object (&link->file);
  g_clear_pointer (&link->graph, g_free);
  g_clear_pointer (&link->node, g_free);
}
