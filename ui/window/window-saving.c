/* SPDX-License-Identifier: MIT */
/* Saving, exporting and copying of links, and the question before a tab closes. */

#include "window/window-saving.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-link.h"
#include "window/window-private.h"

static void
ask_where (AdjWindow *self,
           const char *title,
           const char *accept,
           const char *name,
           GPtrArray *filters,
           void (*chosen) (AdjWindow *self, GFile *file))
{
  GFile *file = adj_document_get_file (self->document);
  g_autoptr (GFile) folder = file != NULL ? g_file_get_parent (file) : NULL;
  g_autoptr (GtkFileChooserNative) chooser = gtk_file_chooser_native_new (
      title, GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SAVE, accept, _ ("_Cancel"));

  if (folder != NULL)
    gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (chooser), folder, NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), name);
  for (guint i = 0; i < filters->len; i++)
    gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filters->pdata[i]);
  adj_window_choose (self, chooser, chosen);
}

static void
add_filter (GPtrArray *filters, const char *title, const char *suffix)
{
  GtkFileFilter *filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, title);
  gtk_file_filter_add_suffix (filter, suffix);
  g_ptr_array_add (filters, filter);
}

/* "gpt2" of "gpt2.adjoint", "mlp" of "mlp.adjoint, traced". */
static char *
get_stem (AdjDocument *document)
{
  const char *title = adj_document_get_title (document);
  const char *dot = strrchr (title, '.');

  return dot != NULL && dot != title ? g_strndup (title, (gsize) (dot - title)) : g_strdup (title);
}

/* -- saving -- */

static void
save_over (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_autoptr (AdjSavedView) view = adj_document_page_make_view (adj_window_get_page (self));

  if (path != NULL)
    adj_document_save (self->document, path, view);
}

void
adj_save_as (AdjWindow *self, GVariant *unused)
{
  g_autofree char *stem = get_stem (self->document);
  g_autofree char *name = g_strdup_printf (
      "%s%s.adjoint", stem, adj_document_get_file (self->document) == NULL ? "-traced" : "");
  g_autoptr (GPtrArray) filters = g_ptr_array_new_with_free_func (g_object_unref);

  add_filter (filters, _ ("Adjoint files"), "adjoint");
  ask_where (self, _ ("Save As"), _ ("_Save"), name, filters, save_over);
}

static void
on_replace (AdwMessageDialog *dialog, const char *response, AdjWindow *self)
{
  if (g_str_equal (response, "replace"))
    save_over (self, adj_document_get_file (self->document));
  else if (g_str_equal (response, "save-as"))
    adj_save_as (self, NULL);
  else
    adj_window_stay (self);
}

/* @heading, @body: (transfer full) */
static GtkWidget *
make_question (AdjWindow *self, char *heading, char *body)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), heading, body);

  gtk_window_set_title (GTK_WINDOW (dialog), heading);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"));
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_free (heading);
  g_free (body);
  return dialog;
}

static void
ask_replace (AdjWindow *self)
{
  GtkWidget *dialog = make_question (
      self, g_strdup_printf (_ ("Replace %s?"), adj_document_get_title (self->document)),
      g_strdup (_ ("Somebody else has written the file since it was opened here. What they wrote "
                   "would be lost.")));

  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "save-as", _ ("Save _As…"),
                                    "replace", _ ("_Replace"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "replace",
                                              ADW_RESPONSE_DESTRUCTIVE);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_replace), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

void
adj_save (AdjWindow *self, GVariant *unused)
{
  if (!adj_document_has_own_file (self->document))
    adj_save_as (self, NULL);
  else if (adj_document_is_changed_outside (self->document))
    ask_replace (self);
  else
    save_over (self, adj_document_get_file (self->document));
}

/* -- closing -- */

static AdjDocument *
get_document (AdwTabPage *tab)
{
  return adj_document_page_get_document (ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab)));
}

void
adj_window_stay (AdjWindow *self)
{
  self->closing = NULL;
  self->closes = FALSE;
}

static void
on_close_response (AdwMessageDialog *dialog, const char *response, AdjWindow *self)
{
  AdwTabPage *tab = self->closing;

  if (tab == NULL)
    return;
  if (g_str_equal (response, "save"))
    adj_save (self, NULL);
  else if (g_str_equal (response, "discard"))
    {
      g_object_set_data (G_OBJECT (tab), "adj-discard", tab);
      adw_tab_view_close_page (self->tabs, tab);
    }
  else
    adj_window_stay (self);
}

gboolean
adj_window_may_close (AdjWindow *self, AdwTabPage *tab)
{
  AdjDocument *document = get_document (tab);
  GtkWidget *dialog;

  if (g_object_get_data (G_OBJECT (tab), "adj-discard") != NULL ||
      (!adj_document_is_saving (document) &&
       (!adj_document_is_unsaved (document) || adj_document_can_remake (document))))
    return TRUE;
  adw_tab_view_set_selected_page (self->tabs, tab);
  self->closing = tab;
  if (adj_document_is_saving (document))
    return FALSE; /* adj_window_on_saved() continues */
  dialog = make_question (
      self, g_strdup_printf (_ ("Save %s?"), adj_document_get_title (document)),
      g_strdup (adj_document_get_file (document) == NULL
                    ? _ ("Its graphs are in no file. They are lost when they are not saved.")
                    : _ ("The runs that you kept or removed are not in the file as they are here. "
                         "That is lost when it is not saved.")));
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "discard", _ ("_Discard"), "save",
                                    _ ("_Save…"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard",
                                              ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save");
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_close_response), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  return FALSE;
}

void
adj_window_on_saved (AdjWindow *self, AdwTabPage *tab, gboolean written)
{
  if (self->closing != tab)
    return;
  if (written)
    adw_tab_view_close_page (self->tabs, tab);
  else
    adj_window_stay (self);
}

gboolean
adj_window_may_close_all (AdjWindow *self)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    if (!adj_window_may_close (self, adw_tab_view_get_nth_page (self->tabs, i)))
      {
        self->closes = TRUE;
        return FALSE;
      }
  return TRUE;
}

/* -- pictures -- */

static const struct
{
  const char *title, *suffix;
} pictures[] = {
  { N_ ("Vector Picture (.svg)"), "svg" },
  { N_ ("Picture (.png)"), "png" },
  { N_ ("Document (.pdf)"), "pdf" },
};

static void
export_to (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);

  if (path != NULL)
    adj_document_export (self->document, path, self->has_part ? &self->part : NULL,
                         adj_scheme_from_style ());
}

/* "gpt2-joint.svg" of "gpt2.adjoint". */
static void
ask_export (AdjWindow *self, const char *what)
{
  g_autofree char *stem = get_stem (self->document);
  g_autofree char *name =
      g_strdup_printf ("%s-%s%s.svg", stem, adj_document_get_graph (self->document)->role, what);
  g_autoptr (GPtrArray) filters = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    add_filter (filters, _ (pictures[i].title), pictures[i].suffix);
  ask_where (self, _ ("Export Picture"), _ ("_Export"), name, filters, export_to);
}

void
adj_export (AdjWindow *self, GVariant *unused)
{
  self->has_part = FALSE;
  ask_export (self, "");
}

void
adj_export_view (AdjWindow *self, GVariant *unused)
{
  self->has_part = adj_graph_view_get_visible (adj_window_get_view (self), &self->part);
  if (self->has_part)
    ask_export (self, "-view");
}

void
adj_export_selection (AdjWindow *self, GVariant *unused)
{
  self->has_part = adj_graph_view_get_around_selected (adj_window_get_view (self), &self->part);
  if (self->has_part)
    ask_export (self, "-selection");
}

/* -- reports -- */

static void
report_to (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);

  if (path != NULL)
    adj_document_report (self->document, path);
}

void
adj_export_report (AdjWindow *self, GVariant *unused)
{
  g_autofree char *stem = get_stem (self->document);
  g_autofree char *name =
      g_strdup_printf ("%s-%s.html", stem, adj_document_get_graph (self->document)->role);
  g_autoptr (GPtrArray) filters = g_ptr_array_new_with_free_func (g_object_unref);

  add_filter (filters, _ ("Web pages (.html)"), "html");
  ask_where (self, _ ("Export Report"), _ ("_Export"), name, filters, report_to);
}

/* -- links -- */

static void
copy_link (AdjWindow *self, const char *graph, const char *node)
{
  g_autofree char *link = adj_link_make (adj_document_get_file (self->document), graph, node);

  if (link != NULL)
    adj_window_copy (self, link);
}

void
adj_copy_link (AdjWindow *self, GVariant *unused)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjNodeId node = adj_document_get_selected (self->document);

  copy_link (self, graph->id,
             adj_node_id_is_valid (node) ? adj_graph_get_node (graph->graph, node.index)->name
                                         : NULL);
}

void
adj_copy_graph_link (AdjWindow *self, GVariant *id)
{
  copy_link (self, g_variant_get_string (id, NULL), NULL);
}

/* -- the capture module -- */

static void
save_module (AdjWindow *self, GFile *file)
{
  const char *const places[] = { ADJ_MODULE, ADJ_SOURCE_MODULE };
  g_autoptr (GFile) module = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; module == NULL && i < G_N_ELEMENTS (places); i++)
    if (g_file_test (places[i], G_FILE_TEST_EXISTS))
      module = g_file_new_for_path (places[i]);
  if (module == NULL)
    adj_window_remark (self, _ ("The capture module is not installed here"));
  else if (g_file_copy (module, file, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, &error))
    adj_window_remark (self, _ ("Saved adjoint_capture.py"));
  else
    adj_window_remark (self, error->message);
}

void
adj_save_module (AdjWindow *self, GVariant *unused)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new_with_free_func (g_object_unref);

  add_filter (filters, _ ("Python modules (.py)"), "py");
  ask_where (self, _ ("Save Module"), _ ("_Save"), "adjoint_capture.py", filters, save_module);
}
