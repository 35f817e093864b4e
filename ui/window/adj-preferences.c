/* SPDX-License-Identifier: MIT */
/* The preferences. */

#include "window/adj-preferences.h"

#include <glib/gi18n.h>

#include "widgets/name-widgets.h"

typedef struct
{
  const char *value, *title;
} Choice;

/* A setting with its possible values; a switch if it has none. */
typedef struct
{
  const char *key, *title, *subtitle;
  const Choice *choices; /* (nullable): ends with %NULL */
} Option;

static const Choice styles[] = {
  { "system", N_ ("As the System") },
  { "light", N_ ("Light") },
  { "dark", N_ ("Dark") },
  { NULL, NULL },
};

static const Choice views[] = {
  { "mirror", N_ ("Mirror") },
  { "stacked", N_ ("Stacked") },
  { NULL, NULL },
};

static const Option options[] = {
  { "style", N_ ("Style"), NULL, styles },
  { "first-view", N_ ("First View"), N_ ("Of files that were never looked at"), views },
  { "restore-views", N_ ("Restore Views"),
    N_ ("Files come back with graph, folds, selection and inputs as they were left"), NULL },
};

static gboolean
get_index (GValue *value, GVariant *variant, gpointer data)
{
  const Choice *choices = data;
  guint i = 0;

  while (choices[i].value != NULL &&
         !g_str_equal (choices[i].value, g_variant_get_string (variant, NULL)))
    i++;
  g_value_set_uint (value, choices[i].value != NULL ? i : 0);
  return TRUE;
}

static GVariant *
set_index (const GValue *value, const GVariantType *type, gpointer data)
{
  const Choice *choices = data;

  for (guint i = 0; choices[i].value != NULL; i++)
    if (i == g_value_get_uint (value))
      return g_variant_new_string (choices[i].value);
  return NULL;
}

static GtkWidget *
make_choice (const Option *option, GSettings *settings)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint i = 0; option->choices[i].value != NULL; i++)
    gtk_string_list_append (names, _ (option->choices[i].title));
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (names));
  adj_name_choices (row, _ (option->title));
  g_settings_bind_with_mapping (settings, option->key, row, "selected", G_SETTINGS_BIND_DEFAULT,
                                get_index, set_index, (gpointer) option->choices, NULL);
  return row;
}

static GtkWidget *
make_switch (const Option *option, GSettings *settings)
{
  GtkWidget *row = adw_action_row_new (), *toggle = gtk_switch_new ();

  gtk_widget_set_valign (toggle, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), toggle);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), toggle);
  g_settings_bind (settings, option->key, toggle, "active", G_SETTINGS_BIND_DEFAULT);
  return row;
}

GtkWidget *
adj_preferences_new (GSettings *settings)
{
  GtkWidget *window = adw_preferences_window_new (), *page = adw_preferences_page_new ();
  GtkWidget *group = adw_preferences_group_new ();

  for (guint i = 0; settings != NULL && i < G_N_ELEMENTS (options); i++)
    {
      GtkWidget *row = options[i].choices != NULL ? make_choice (&options[i], settings)
                                                  : make_switch (&options[i], settings);

      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ (options[i].title));
      if (options[i].subtitle != NULL)
        adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _ (options[i].subtitle));
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (window), ADW_PREFERENCES_PAGE (page));
  adw_preferences_window_set_search_enabled (ADW_PREFERENCES_WINDOW (window), FALSE);
  gtk_window_set_title (GTK_WINDOW (window), _ ("Preferences"));
  gtk_window_set_default_size (GTK_WINDOW (window), 560, 360);
  gtk_window_set_modal (GTK_WINDOW (window), TRUE);
  return window;
}
