/* SPDX-License-Identifier: MIT */
/* The row of a kept run, to choose or remove it. */

#include "panel/kept-run-row.h"

#include <glib/gi18n.h>

static char *
describe_run (const AdjBundle *bundle, const AdjRecordedCall *run)
{
  const AdjRunOrigin *origin = run->origin;
  guint n_values = adj_run_get_n_values (bundle, run);
  g_autoptr (GDateTime) date =
      origin->date != NULL ? g_date_time_new_from_iso8601 (origin->date, NULL) : NULL;
  g_autoptr (GDateTime) local = date != NULL ? g_date_time_to_local (date) : NULL;
  g_autofree char *when = local != NULL ? g_date_time_format (local, "%x %X") : NULL;
  GString *text = g_string_new (origin->producer != NULL ? origin->producer : _ ("unknown"));
  const char *parts[] = { origin->executor, origin->float64 ? "float64" : NULL, origin->inputs,
                          when };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] != NULL)
      g_string_append_printf (text, " · %s", parts[i]);
  if (n_values > 0)
    g_string_append_printf (
        text, ngettext (" · value of %u node", " · values of %u nodes", n_values), n_values);
  if (adj_run_is_stale (run))
    g_string_append (text, _ (" · of another graph than there is now"));
  return g_string_free (text, FALSE);
}

GtkWidget *
adj_kept_run_row_new (const AdjBundle *bundle, const AdjRecordedCall *run)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");
  g_autofree char *title = g_markup_escape_text (run->origin->name, -1);
  g_autofree char *description = describe_run (bundle, run);
  g_autofree char *subtitle = g_markup_escape_text (description, -1);
  g_autofree char *label = g_strdup_printf (_ ("Remove Run “%s”"), run->origin->name);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.remove-run");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", run->origin->name);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  return row;
}
