/* SPDX-License-Identifier: MIT */
#include "window/adj-settings.h"

GSettings *
adj_settings_new (void)
{
  GSettingsSchemaSource *source = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchemaSource) built = NULL;
  g_autoptr (GSettingsSchema) schema = NULL;

  if (source != NULL)
    schema = g_settings_schema_source_lookup (source, ADJ_APPLICATION_ID, TRUE);
  if (schema == NULL)
    {
      built = g_settings_schema_source_new_from_directory (ADJ_BUILT_SCHEMAS, source, TRUE, NULL);
      if (built != NULL)
        schema = g_settings_schema_source_lookup (built, ADJ_APPLICATION_ID, TRUE);
    }
  return schema != NULL ? g_settings_new_full (schema, NULL, NULL) : NULL;
}

void
adj_settings_keep (GSettings *settings, const char *key, gpointer object, const char *property)
{
  /* Windows that are open do not follow each other. */
  if (settings != NULL)
    g_settings_bind (settings, key, object, property,
                     G_SETTINGS_BIND_DEFAULT | G_SETTINGS_BIND_GET_NO_CHANGES);
}
