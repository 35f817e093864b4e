/* SPDX-License-Identifier: MIT */
/* Settings: opened, bound to properties, and applied to the style. */

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
  /* Reads the setting once: open windows do not follow each other. */
  if (settings != NULL)
    g_settings_bind (settings, key, object, property,
                     G_SETTINGS_BIND_DEFAULT | G_SETTINGS_BIND_GET_NO_CHANGES);
}

static gboolean
get_scheme (GValue *value, GVariant *variant, gpointer data)
{
  const char *style = g_variant_get_string (variant, NULL);
  AdwColorScheme scheme = ADW_COLOR_SCHEME_DEFAULT;

  if (g_str_equal (style, "light"))
    scheme = ADW_COLOR_SCHEME_FORCE_LIGHT;
  else if (g_str_equal (style, "dark"))
    scheme = ADW_COLOR_SCHEME_FORCE_DARK;
  g_value_set_enum (value, scheme);
  return TRUE;
}

void
adj_settings_follow_style (GSettings *settings)
{
  if (settings != NULL)
    g_settings_bind_with_mapping (settings, "style", adw_style_manager_get_default (),
                                  "color-scheme", G_SETTINGS_BIND_GET, get_scheme, NULL, NULL,
                                  NULL);
}

gboolean
adj_settings_restores_views (GSettings *settings)
{
  return settings == NULL || g_settings_get_boolean (settings, "restore-views");
}

gboolean
adj_settings_begins_stacked (GSettings *settings)
{
  g_autofree char *view = settings != NULL ? g_settings_get_string (settings, "first-view") : NULL;

  return g_strcmp0 (view, "stacked") == 0;
}

char **
adj_settings_get_open_files (GSettings *settings)
{
  return settings != NULL && adj_settings_restores_views (settings)
             ? g_settings_get_strv (settings, "open-files")
             : NULL;
}

void
adj_settings_set_open_files (GSettings *settings, const char *const *uris)
{
  if (settings != NULL)
    g_settings_set_strv (settings, "open-files", uris);
}
