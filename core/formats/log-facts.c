/* SPDX-License-Identifier: MIT */
/* Facts of TRACE logs, that is records without a graph: their names, and which are bookkeeping. */

#include <string.h>

#include "formats/log-facts-private.h"

/* Members that say where a record was made. */
static const char *const context[] = {
  "rank",   "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt",
  "stack",  "has_payload",          "severity", "timestamp",        "pathname",
  "thread",
};

/* Profiles, texts that other records refer to, and what is read elsewhere. */
static const char *const bookkeeping[] = {
  "str",
  "chromium_event",
  "describe_storage",
  "describe_tensor",
  "describe_source",
  "create_symbol",
  "dynamo_start",
  "create_unbacked_symbol",
  "expression_created",
};

static gboolean
is_one_of (const char *name, const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      return TRUE;
  return FALSE;
}

static const JsonItem *
kind_of (const JsonItem *record)
{
  for (guint i = 0; record->kind == JSON_OBJECT && i < record->n; i++)
    if (!is_one_of (record->items[i].key, context, G_N_ELEMENTS (context)))
      return &record->items[i];
  return NULL;
}

/* Kinds under which many things are logged, each by its name. */
static gboolean
has_names (const char *kind)
{
  return strcmp (kind, "artifact") == 0 || strcmp (kind, "graph_dump") == 0 ||
         strcmp (kind, "optimize_ddp_split_child") == 0;
}

const char *
log_fact_name (const JsonItem *record)
{
  const JsonItem *kind = kind_of (record);
  const char *name;

  if (kind == NULL || is_one_of (kind->key, bookkeeping, G_N_ELEMENTS (bookkeeping)))
    return NULL;
  name = has_names (kind->key) ? json_get_text (kind, "name") : NULL;
  return name != NULL && *name != '\0' && strlen (name) <= 200 ? name : kind->key;
}

char *
log_fact_text (const JsonItem *record, const char *payload)
{
  const JsonItem *kind = kind_of (record);
  GString *text;

  if (*payload != '\0' || kind == NULL)
    return g_strdup (payload);
  text = g_string_new (NULL);
  json_print (kind, text);
  return g_string_free (text, FALSE);
}

/* Where the release stands: in the first record of a log, and in the script that repeats a
 * compilation. */
static const struct
{
  const char *name, *head;
} versions[] = {
  { "torch_version", "\"pytorch_version\": \"" },
  { "fx_graph_runnable", "# torch version: " },
};

char *
log_fact_torch_version (const char *name, const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      const char *at =
          strcmp (name, versions[i].name) == 0 ? strstr (text, versions[i].head) : NULL;

      if (at != NULL)
        {
          at += strlen (versions[i].head);
          return g_strndup (at, MIN (strcspn (at, "\n\" "), 64));
        }
    }
  return NULL;
}
