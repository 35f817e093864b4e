/* SPDX-License-Identifier: MIT */
/* The lists of recent files and samples. */

#include "window/adj-file-list.h"

#include <glib/gi18n.h>

#include "window/adj-samples.h"

#define MAX_RECENT 5

struct _AdjFileList
{
  AdwBin parent_instance;

  GtkWidget *open_folder;
  AdwPreferencesGroup *samples;
  AdwPreferencesGroup *recent;
  GPtrArray *recent_rows; /* (unowned) of GtkWidget */
  gboolean filled;
};

G_DEFINE_FINAL_TYPE (AdjFileList, adj_file_list, ADW_TYPE_BIN)

/* Closes the popover that the list may be in, so that a chosen file does not open below it. */
static void
close_popover (GtkWidget *widget, gpointer data)
{
  GtkWidget *popover = gtk_widget_get_ancestor (widget, GTK_TYPE_POPOVER);

  if (popover != NULL)
    gtk_popover_popdown (GTK_POPOVER (popover));
}

static void
open_chosen (GtkWidget *widget, const char *action, GVariant *uri)
{
  close_popover (widget, NULL);
  gtk_widget_activate_action_variant (widget, "win.open-uri", uri);
}

static GtkWidget *
make_row (GFile *file, const char *subtitle)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *title = g_markup_escape_text (name, -1);
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  if (subtitle != NULL)
    {
      g_autofree char *escaped = g_markup_escape_text (subtitle, -1);

      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), escaped);
    }
  adw_action_row_add_suffix (ADW_ACTION_ROW (row),
                             g_object_new (GTK_TYPE_IMAGE, "icon-name", "go-next-symbolic",
                                           "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION,
                                           NULL));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "files.open");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", uri);
  return row;
}

static void
fill_samples (AdjFileList *self)
{
  static const struct
  {
    const char *name, *text;
  } known[] = {
    { "mlp.adjoint", N_ ("Begin here: a small network with cross-entropy") },
    { "torch-trace", N_ ("The folder that a run under TORCH_TRACE leaves") },
    { "gpt2.adjoint", N_ ("Two transformer blocks, the second checkpointed") },
    { "gpt2-inductor.adjoint", N_ ("The same blocks with the decompositions of Inductor") },
    { "llama.adjoint", N_ ("Two blocks with rotary attention") },
    { "resnet-block.adjoint", N_ ("Convolutions with batch norm") },
    { "lstm.adjoint", N_ ("A recurrent network, unrolled") },
    { "sac.adjoint", N_ ("Selective checkpointing by a policy") },
    { "dropout.adjoint", N_ ("Dropout and random numbers, drawn again as they were") },
  };
  g_autoptr (GPtrArray) files = adj_samples_list ();

  for (guint k = 0; k < G_N_ELEMENTS (known); k++)
    for (guint i = 0; i < files->len; i++)
      {
        g_autofree char *name = g_file_get_basename (files->pdata[i]);

        if (g_str_equal (name, known[k].name))
          adw_preferences_group_add (self->samples, make_row (files->pdata[i], _ (known[k].text)));
      }
  gtk_widget_set_visible (GTK_WIDGET (self->samples), files->len > 0);
}

static void
fill_recent (AdjFileList *self)
{
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  for (guint i = 0; i < self->recent_rows->len; i++)
    adw_preferences_group_remove (self->recent, self->recent_rows->pdata[i]);
  g_ptr_array_set_size (self->recent_rows, 0);
  for (GList *l = items; l != NULL && self->recent_rows->len < MAX_RECENT; l = l->next)
    {
      GtkRecentInfo *info = l->data;
      g_autoptr (GFile) file = NULL;
      g_autofree char *path = NULL;
      g_autofree char *folder = NULL;
      GtkWidget *row;

      if (!gtk_recent_info_has_application (info, g_get_application_name ()) ||
          !gtk_recent_info_exists (info))
        continue;
      file = g_file_new_for_uri (gtk_recent_info_get_uri (info));
      path = gtk_recent_info_get_uri_display (info);
      folder = g_path_get_dirname (path != NULL ? path : gtk_recent_info_get_uri (info));
      row = make_row (file, folder);
      g_ptr_array_add (self->recent_rows, row);
      adw_preferences_group_add (self->recent, row);
    }
  g_list_free_full (items, (GDestroyNotify) gtk_recent_info_unref);
  gtk_widget_set_visible (GTK_WIDGET (self->recent), self->recent_rows->len > 0);
}

/* Makes the rows when the list is first shown, as they cost more than the rest of a window.  The
 * start page has a button for folders beside the one for files. */
static void
adj_file_list_map (GtkWidget *widget)
{
  AdjFileList *self = ADJ_FILE_LIST (widget);

  if (!self->filled)
    fill_samples (self);
  self->filled = TRUE;
  fill_recent (self);
  gtk_widget_set_visible (self->open_folder,
                          gtk_widget_get_ancestor (widget, GTK_TYPE_POPOVER) != NULL);

  GTK_WIDGET_CLASS (adj_file_list_parent_class)->map (widget);
}

static void
adj_file_list_dispose (GObject *object)
{
  AdjFileList *self = ADJ_FILE_LIST (object);

  g_clear_pointer (&self->recent_rows, g_ptr_array_unref);
  adw_bin_set_child (ADW_BIN (object), NULL);

  G_OBJECT_CLASS (adj_file_list_parent_class)->dispose (object);
}

static void
adj_file_list_class_init (AdjFileListClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_file_list_dispose;
  widget_class->map = adj_file_list_map;
  gtk_widget_class_install_action (widget_class, "files.open", "s", open_chosen);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/file-list.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjFileList, open_folder);
  gtk_widget_class_bind_template_child (widget_class, AdjFileList, samples);
  gtk_widget_class_bind_template_child (widget_class, AdjFileList, recent);
  gtk_widget_class_bind_template_callback (widget_class, close_popover);
}

static void
adj_file_list_init (AdjFileList *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->recent_rows = g_ptr_array_new ();
}
