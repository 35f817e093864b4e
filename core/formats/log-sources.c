/* SPDX-License-Identifier: MIT */
/* Which expressions of a program the placeholders of a region come from, by Dynamo's spelling. */

#include <string.h>

#include "base/adj-lexer.h"
#include "formats/log-sources-private.h"
#include "ir/adj-graph.h"

#define MAX_SOURCES 100000 /* of a region */

void
log_sources_init (LogSources *sources)
{
  *sources = (LogSources){ 0 };
  sources->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  sources->in_inference = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
log_sources_clear (LogSources *sources)
{
  g_clear_pointer (&sources->texts, g_hash_table_unref);
  g_clear_pointer (&sources->in_inference, g_hash_table_unref);
}

/* As Dynamo names the placeholder of an input: "L['x']" → "L_x_". */
static char *
name_of_source (const char *source)
{
  GString *name = g_string_new (NULL);

  for (const char *p = source; *p != '\0'; p++)
    if (g_ascii_isalnum (*p))
      g_string_append_c (name, *p);
    else if (name->len == 0 || name->str[name->len - 1] != '_')
      g_string_append_c (name, '_');
  return g_string_free (name, FALSE);
}

/* "L['self']._modules['fc1']._parameters['weight']" → "fc1.weight"; %NULL: no parameter. */
static char *
parameter_of_source (const char *source)
{
  g_autoptr (GString) path = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit (source, "._", -1);
  guint n = g_strv_length (parts);

  if (n < 2 || !g_str_has_prefix (parts[n - 1], "parameters['"))
    return NULL;
  for (guint i = 1; i < n; i++)
    {
      const char *at = strstr (parts[i], "['");
      const char *end = at != NULL ? strstr (at, "']") : NULL;

      if (end == NULL || (i + 1 < n && !g_str_has_prefix (parts[i], "modules['")))
        return NULL;
      g_string_append_printf (path, "%s%.*s", i > 1 ? "." : "", (int) (end - at - 2), at + 2);
    }
  return g_string_free (g_steal_pointer (&path), FALSE);
}

static void
put_source (GHashTable *metadata_texts, const char *placeholder, const char *source)
{
  g_autoptr (GString) text = g_string_new ("{source: ");
  g_autofree char *parameter = parameter_of_source (source);

  adj_print_string (text, source);
  if (parameter != NULL)
    {
      g_string_append (text, ", param: ");
      adj_print_string (text, parameter);
    }
  g_string_append_c (text, '}');
  g_hash_table_replace (metadata_texts, g_strdup (placeholder), g_strdup (text->str));
}

void
log_sources_add (LogSources *sources, const char *source)
{
  g_autofree char *name = name_of_source (source);
  g_autofree char *lower = g_ascii_strdown (name, -1);

  if (sources->n++ >= MAX_SOURCES)
    return;
  put_source (sources->texts, name, source);
  put_source (sources->texts, lower, source);
  put_source (sources->in_inference, name, source);
  put_source (sources->in_inference, lower, source);
}

void
log_sources_keep_inputs (LogSources *sources, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_inputs (graph);

  for (guint i = 0; i < MAX (n, sources->n_inputs); i++)
    {
      g_autofree char *numbered = g_strdup_printf ("primals_%u", i + 1);
      g_autofree char *in_inference = g_strdup_printf ("arg%u_1", i);
      const char *source =
          i < n ? adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->meta.source
                : NULL;

      g_hash_table_remove (sources->texts, numbered);
      g_hash_table_remove (sources->in_inference, in_inference);
      if (source != NULL)
        {
          put_source (sources->texts, numbered, source);
          put_source (sources->in_inference, in_inference, source);
        }
    }
  sources->n_inputs = n;
}
