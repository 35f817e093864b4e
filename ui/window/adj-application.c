/* SPDX-License-Identifier: MIT */
/* The application: start, plugins, open, about, quit. */

#include "window/adj-application.h"

#include <glib/gi18n.h>

#include "model/adj-opening.h"
#include "session/adj-program.h"
#include "window/adj-settings.h"
#include "window/adj-window.h"
#include "window/window-actions.h"

struct _AdjApplication
{
  AdwApplication parent_instance;

  GSettings *settings; /* (owned) (nullable) */
  GPtrArray *programs; /* AdjProgram: of the plugins named on the command line */
  GPtrArray *known; /* AdjExtensions: of the first plugin, of the first two, …; must outlive the
                       bundles that were opened with them */
};

G_DEFINE_FINAL_TYPE (AdjApplication, adj_application, ADW_TYPE_APPLICATION)

static void
on_new_window (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_present (GTK_WINDOW (adj_window_new (ADW_APPLICATION (data))));
}

/* -- plugins: --plugin FILE.so:FUNCTION; a window that is open already gets them too -- */

static AdjExtensions *
extend (const GPtrArray *programs, GError **error)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();

  for (guint i = 0; i < programs->len; i++)
    if (!adj_program_extend (programs->pdata[i], extensions, NULL, error))
      return NULL;
  return g_steal_pointer (&extensions);
}

static gboolean
add_plugin (AdjApplication *self, const char *name, GError **error)
{
  const AdjProgram *program = adj_program_open (name, error);
  AdjExtensions *extensions;

  if (program == NULL)
    return FALSE;
  if (g_ptr_array_find (self->programs, program, NULL))
    return TRUE;
  g_ptr_array_add (self->programs, (gpointer) program);
  extensions = extend (self->programs, error);
  if (extensions == NULL)
    {
      g_ptr_array_set_size (self->programs, (gint) self->programs->len - 1);
      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }
  g_ptr_array_add (self->known, extensions);
  adj_opening_set_extensions (extensions);
  return TRUE;
}

static void
on_plugin (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (!add_plugin (data, g_variant_get_string (parameter, NULL), &error))
    g_printerr ("%s\n", error->message);
}

static gboolean
take_plugins (AdjApplication *self, char **names, GError **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      char *absolute = g_canonicalize_filename (names[i], NULL);

      g_free (names[i]);
      names[i] = absolute;
      if (!add_plugin (self, names[i], error))
        return FALSE;
    }
  return g_application_register (G_APPLICATION (self), NULL, error);
}

static int
adj_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  g_auto (GStrv) names = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_variant_dict_lookup (options, "plugin", "^as", &names))
    return -1;
  if (!take_plugins (ADJ_APPLICATION (application), names, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }
  for (guint i = 0; names[i] != NULL && g_application_get_is_remote (application); i++)
    g_action_group_activate_action (G_ACTION_GROUP (application), "plugin",
                                    g_variant_new_string (names[i]));
  return -1;
}

static void
on_quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (GTK_APPLICATION (data)));

  /* Each window may ask before it closes. */
  for (GList *l = windows; l != NULL; l = l->next)
    gtk_window_close (l->data);
}

static char *
describe_system (GtkWidget *window)
{
  GskRenderer *renderer = gtk_native_get_renderer (GTK_NATIVE (window));

  return g_strdup_printf (
      "Adjoint %s\nGTK %u.%u.%u\nlibadwaita %u.%u.%u\n%s\n%s, %u processors\n", ADJ_VERSION,
      gtk_get_major_version (), gtk_get_minor_version (), gtk_get_micro_version (),
      adw_get_major_version (), adw_get_minor_version (), adw_get_micro_version (),
      renderer != NULL ? G_OBJECT_TYPE_NAME (renderer) : "no renderer",
      G_OBJECT_TYPE_NAME (gtk_widget_get_display (window)), g_get_num_processors ());
}

static void
on_about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (data));
  g_autofree char *system = window != NULL ? describe_system (GTK_WIDGET (window)) : NULL;
  GtkWidget *about = adw_about_window_new ();

  g_object_set (about, "application-name", _ ("Adjoint"), "application-icon", ADJ_APPLICATION_ID,
                "version", ADJ_VERSION, "comments",
                _ ("See, run and compare the graphs of automatic differentiation"), "license-type",
                GTK_LICENSE_MIT_X11, "developer-name", _ ("The Adjoint developers"), "debug-info",
                system, "transient-for", window, "modal", TRUE, NULL);
  gtk_window_present (GTK_WINDOW (about));
}

static void
adj_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window == NULL)
    {
      window = GTK_WINDOW (adj_window_new (ADW_APPLICATION (application)));
      adj_window_reopen (ADJ_WINDOW (window));
    }
  gtk_window_present (window);
}

static void
adj_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window == NULL)
    window = GTK_WINDOW (adj_window_new (ADW_APPLICATION (application)));
  for (int i = 0; i < n_files; i++)
    adj_window_open (ADJ_WINDOW (window), files[i]);
  gtk_window_present (window);
}

static void
adj_application_startup (GApplication *application)
{
  static const GActionEntry entries[] = {
    { .name = "new-window", .activate = on_new_window },
    { .name = "about", .activate = on_about },
    { .name = "plugin", .activate = on_plugin, .parameter_type = "s" },
    { .name = "quit", .activate = on_quit },
  };

  AdjApplication *self = ADJ_APPLICATION (application);

  G_APPLICATION_CLASS (adj_application_parent_class)->startup (application);

  g_action_map_add_action_entries (G_ACTION_MAP (application), entries, G_N_ELEMENTS (entries),
                                   application);
  self->settings = adj_settings_new ();
  adj_settings_follow_style (self->settings);
  adj_window_add_accels (GTK_APPLICATION (application));
  gtk_window_set_default_icon_name (ADJ_APPLICATION_ID);
}

static void
adj_application_finalize (GObject *object)
{
  AdjApplication *self = ADJ_APPLICATION (object);

  g_clear_object (&self->settings);
  adj_opening_set_extensions (NULL);
  g_ptr_array_unref (self->programs);
  g_ptr_array_unref (self->known);

  G_OBJECT_CLASS (adj_application_parent_class)->finalize (object);
}

static void
adj_application_class_init (AdjApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = adj_application_finalize;
  application_class->activate = adj_application_activate;
  application_class->handle_local_options = adj_application_handle_local_options;
  application_class->open = adj_application_open;
  application_class->startup = adj_application_startup;
}

static void
adj_application_init (AdjApplication *self)
{
  static const GOptionEntry entries[] = {
    { "plugin", 0, 0, G_OPTION_ARG_STRING_ARRAY, NULL,
      N_ ("Know the classes and operators of a plugin; may be given again"), "FILE.so:FUNCTION" },
    G_OPTION_ENTRY_NULL,
  };

  self->programs = g_ptr_array_new ();
  self->known = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_extensions_unref);
  g_application_add_main_option_entries (G_APPLICATION (self), entries);
}

AdjApplication *
adj_application_new (GApplicationFlags flags)
{
  return g_object_new (ADJ_TYPE_APPLICATION, "application-id", ADJ_APPLICATION_ID,
                       "resource-base-path", "/org/adjoint/Workbench", "flags",
                       G_APPLICATION_HANDLES_OPEN | flags, NULL);
}
