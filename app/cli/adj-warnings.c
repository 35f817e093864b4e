/* SPDX-License-Identifier: MIT */
/* Warnings of readers: kept while a command runs; the first ones are printed on stderr, the others
 * counted. */

#include "adj-warnings.h"

#include <stdio.h>

#define MAX_PRINTED 5

/* Warnings of the only command of the process; (nullable) (owned). */
static JsonArray *noted;

static void
print_warning (const char *path, const AdjDiag *diag)
{
  if (diag->span.line > 0)
    fprintf (stderr, "%s:%u:%u: warning: %s\n", path, diag->span.line, diag->span.column,
             diag->message);
  else
    fprintf (stderr, "%s: warning: %s\n", path, diag->message);
}

static void
note (const char *path, AdjSpan span, const char *message)
{
  JsonObject *warning = json_object_new ();

  json_object_set_string_member (warning, "file", path);
  json_object_set_int_member (warning, "line", span.line);
  json_object_set_int_member (warning, "column", span.column);
  json_object_set_string_member (warning, "message", message);
  json_array_add_object_element (noted, warning);
}

static void
note_rest (const char *path, guint n)
{
  g_autofree char *rest = g_strdup_printf ("and %u warnings more", n);

  note (path, (AdjSpan){ 0 }, rest);
}

void
adj_warnings_note (const char *path, const AdjDiags *diags)
{
  guint n_all = diags != NULL ? adj_diags_count (diags, ADJ_SEVERITY_WARNING) : 0;
  guint n = 0;

  if (n_all > 0 && noted == NULL)
    noted = json_array_new ();
  for (guint i = 0; n_all > 0 && i < adj_diags_get_n (diags); i++)
    {
      const AdjDiag *diag = adj_diags_get (diags, i);

      if (diag->severity == ADJ_SEVERITY_NOTE)
        continue; /* notes of the file itself, which `show` prints */
      if (n++ < MAX_PRINTED)
        print_warning (path, diag);
      note (path, diag->span, diag->message);
    }
  if (n_all > MAX_PRINTED)
    fprintf (stderr, "%s: and %u warnings more\n", path, n_all - MAX_PRINTED);
  if (n_all > n)
    note_rest (path, n_all - n);
}

void
adj_warnings_add (JsonNode *root)
{
  if (noted != NULL && JSON_NODE_HOLDS_OBJECT (root))
    json_object_set_array_member (json_node_get_object (root), "warnings",
                                  g_steal_pointer (&noted));
}
