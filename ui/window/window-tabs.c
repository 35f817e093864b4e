/* SPDX-License-Identifier: MIT */
/* The window's tabs: adding, finding, selecting and closing them. */

#include <glib/gi18n.h>

#include "window/window-private.h"

AdjDocumentPage *
adj_window_get_page (AdjWindow *self)
{
  AdwTabPage *tab = adw_tab_view_get_selected_page (self->tabs);

  return tab != NULL ? ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab)) : NULL;
}

AdjDocument *
adj_window_get_nth_document (AdjWindow *self, int n)
{
  if (n < 0 || n >= adw_tab_view_get_n_pages (self->tabs))
    return NULL;
  return adj_document_page_get_document (
      ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (adw_tab_view_get_nth_page (self->tabs, n))));
}

static AdwTabPage *
find_tab (AdjWindow *self, AdjDocument *document)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    {
      AdwTabPage *tab = adw_tab_view_get_nth_page (self->tabs, i);

      if (adj_document_page_get_document (ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab))) ==
          document)
        return tab;
    }
  return NULL;
}

static void
update_tab (AdjWindow *self, GParamSpec *pspec, AdjDocument *document)
{
  AdwTabPage *tab = find_tab (self, document);
  const char *title = adj_document_get_title (document);
  GFile *file = adj_document_get_file (document);
  g_autofree char *tooltip = file != NULL ? g_file_get_parse_name (file) : g_strdup (title);
  g_autofree char *shown =
      g_strconcat (adj_document_is_unsaved (document) ? ADJ_UNSAVED_SIGN : "", title, NULL);
  g_autoptr (GIcon) icon = NULL;

  if (tab == NULL)
    return;
  if (adj_document_get_error (document) != NULL)
    icon = g_themed_icon_new ("dialog-error-symbolic");
  adw_tab_page_set_title (tab, *title != '\0' ? shown : _ ("New Tab"));
  adw_tab_page_set_tooltip (tab, tooltip);
  adw_tab_page_set_icon (tab, icon);
  adw_tab_page_set_loading (tab, adj_document_get_status (document) != NULL);
}

static void
on_tab_status (AdjDocument *document, GParamSpec *pspec, AdjWindow *self)
{
  update_tab (self, pspec, document);
}

static void
on_tab_saved (AdjDocument *document, gboolean written, AdjWindow *self)
{
  AdwTabPage *tab = find_tab (self, document);

  if (tab != NULL)
    adj_window_on_saved (self, tab, written);
}

/* A trace that failed at a node closes its tab and shows the tab with that node. */
static void
on_tab_failed (AdjDocument *document, GParamSpec *pspec, AdjWindow *self)
{
  AdwTabPage *tab = find_tab (self, document);
  AdjDocument *blamed = adj_document_get_blamed (document);
  AdwTabPage *other = blamed != NULL ? find_tab (self, blamed) : NULL;

  if (tab == NULL || other == NULL || adj_document_get_error (document) == NULL)
    return;
  if (adw_tab_page_get_selected (tab))
    adw_tab_view_set_selected_page (self->tabs, other);
  else if (!adw_tab_page_get_selected (other))
    adw_tab_page_set_needs_attention (other, TRUE);
  adw_tab_view_close_page (self->tabs, tab);
}

/* Marks a tab that is not visible and has a result. */
static void
on_tab_evaluated (AdjDocument *document, GParamSpec *pspec, AdjWindow *self)
{
  AdwTabPage *tab = find_tab (self, document);

  if (tab != NULL && document != self->document && adj_document_get_evaluation (document) != NULL)
    adw_tab_page_set_needs_attention (tab, TRUE);
}

static void
on_selected_tab (AdjWindow *self)
{
  AdjDocumentPage *page = adj_window_get_page (self);

  /* The window is being destroyed. */
  if (page == NULL)
    return;
  adw_tab_page_set_needs_attention (adw_tab_view_get_selected_page (self->tabs), FALSE);
  g_set_object (&self->document, adj_document_page_get_document (page));
  g_signal_group_set_target (self->signals, self->document);
  adj_panel_set_document (self->search_bar, self->document);
  adj_document_page_add_actions (page, G_ACTION_MAP (self));
  gtk_widget_insert_action_group (GTK_WIDGET (self), "canvas",
                                  adj_graph_view_get_actions (adj_document_page_get_view (page)));
  adj_window_update_all (self);
}

AdjDocumentPage *
adj_window_add_tab (AdjWindow *self)
{
  GtkWidget *page = adj_document_page_new (self->settings);
  AdjDocument *document = adj_document_page_get_document (ADJ_DOCUMENT_PAGE (page));
  AdwTabPage *tab = adw_tab_view_append (self->tabs, page);
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (on_tab_status) },
    { "notify::error", G_CALLBACK (on_tab_status) },
    { "notify::error", G_CALLBACK (on_tab_failed) },
    { "notify::status", G_CALLBACK (on_tab_status) },
    { "notify::unsaved", G_CALLBACK (on_tab_status) },
    { "notify::evaluation", G_CALLBACK (on_tab_evaluated) },
    { "saved", G_CALLBACK (on_tab_saved) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i].signal, signals[i].callback, self, 0);
  g_signal_connect_object (document, "remark", G_CALLBACK (adj_window_remark), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "exported", G_CALLBACK (adj_window_announce_export), self,
                           G_CONNECT_SWAPPED);
  /* The popover of the search bar covers the canvas. */
  adj_graph_view_add_cover (
      adj_document_page_get_view (ADJ_DOCUMENT_PAGE (page)),
      gtk_widget_get_ancestor (GTK_WIDGET (self->search_bar), GTK_TYPE_POPOVER));
  update_tab (self, NULL, document);
  adw_tab_view_set_selected_page (self->tabs, tab);
  return ADJ_DOCUMENT_PAGE (page);
}

static gboolean
close_window (gpointer window)
{
  gtk_window_close (GTK_WINDOW (window));
  return G_SOURCE_REMOVE;
}

static gboolean
on_close_tab (AdjWindow *self, AdwTabPage *tab)
{
  AdjDocumentPage *page = ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab));

  if (!adj_window_may_close (self, tab))
    {
      adw_tab_view_close_page_finish (self->tabs, tab, FALSE);
      return GDK_EVENT_STOP;
    }
  if (self->closing == tab)
    self->closing = NULL;
  adj_document_stop (adj_document_page_get_document (page));
  adw_tab_view_close_page_finish (self->tabs, tab, TRUE);
  /* Waits while a dialog of the window is being answered. */
  if (adw_tab_view_get_n_pages (self->tabs) == 0 || self->closes)
    g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, close_window, g_object_ref (self), g_object_unref);
  return GDK_EVENT_STOP;
}

void
adj_window_new_tab (AdjWindow *self)
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  adj_window_add_tab (self);
}

void
adj_window_close_tab (AdjWindow *self)
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  adw_tab_view_close_page (self->tabs, adw_tab_view_get_selected_page (self->tabs));
}

/* The current tab if it is free, else a new one. */
AdjDocumentPage *
adj_window_get_room (AdjWindow *self)
{
  AdjDocumentPage *page = adj_window_get_page (self);

  if (page == NULL || !adj_document_page_is_free (page))
    page = adj_window_add_tab (self);
  return page;
}

/* Selects the tab of @file, if it has one. */
AdjDocumentPage *
adj_window_find_open (AdjWindow *self, GFile *file)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    {
      AdwTabPage *tab = adw_tab_view_get_nth_page (self->tabs, i);
      AdjDocumentPage *page = ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab));
      GFile *other = adj_document_get_file (adj_document_page_get_document (page));

      if (other != NULL && g_file_equal (other, file))
        {
          adw_tab_view_set_selected_page (self->tabs, tab);
          return page;
        }
    }
  return NULL;
}

void
adj_window_watch_tabs (AdjWindow *self)
{
  /* Alt with a digit selects stages, Ctrl+Home fits the picture. */
  adw_tab_view_remove_shortcuts (
      self->tabs, ADW_TAB_VIEW_SHORTCUT_ALT_DIGITS | ADW_TAB_VIEW_SHORTCUT_ALT_ZERO |
                      ADW_TAB_VIEW_SHORTCUT_CONTROL_HOME | ADW_TAB_VIEW_SHORTCUT_CONTROL_END);
  g_signal_connect_swapped (self->tabs, "notify::selected-page", G_CALLBACK (on_selected_tab),
                            self);
  g_signal_connect_swapped (self->tabs, "close-page", G_CALLBACK (on_close_tab), self);
}
