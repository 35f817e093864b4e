/* SPDX-License-Identifier: MIT */
/* Drives the window in tests: opening, choosing, running, finding widgets. */

#include "ui/adj-walk.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "support/adj-test.h"

#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options (void);
const char *__lsan_default_suppressions (void);

/* GTK is built without frame pointers; without the slow unwinder its caches look like our leaks. */
const char *
__asan_default_options (void)
{
  return "fast_unwind_on_malloc=0:malloc_context_size=20";
}

/* One-time allocations of an image loader that is unloaded later, so that its frames have no
 * name. */
const char *
__lsan_default_suppressions (void)
{
  return "leak:__pthread_once_slow\n";
}
#endif

static AdjTestFolder *home;

static void
remove_home (void)
{
  g_clear_pointer (&home, adj_test_folder_free);
}

gboolean
adj_walk_init (void)
{
  /* View settings go to a temporary home folder. */
  home = adj_test_folder_new ();
  atexit (remove_home);
  g_setenv ("XDG_DATA_HOME", home->path, TRUE);
  if (!gtk_init_check ())
    return FALSE;
  adw_init ();
  g_set_prgname ("adjoint-workbench");
  g_set_application_name ("Adjoint");
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, "gtk-font-name",
                "Cantarell 11", NULL);
  return TRUE;
}

/* A warning of GTK 4.8 on a busy machine about a popover that was just closed. */
static gboolean
is_of_closed_popover (const char *domain, const char *message)
{
  if (g_strcmp0 (domain, "Gdk") == 0)
    return strstr (message, "gdk_surface_get_device_position") != NULL;
  return g_strcmp0 (domain, "Gtk") == 0 && strstr (message, "_gtk_widget_find_at_coords") != NULL;
}

/* A warning of GTK 4.18: libadwaita 1.7 measures the heading of its message dialog too narrow. */
static gboolean
is_of_heading (const char *domain, const char *message)
{
  gpointer label;

  return g_strcmp0 (domain, "Gtk") == 0 &&
         sscanf (message, "Trying to measure GtkLabel %p", &label) == 1 &&
         gtk_widget_get_ancestor (label, ADW_TYPE_MESSAGE_DIALOG) != NULL;
}

static gboolean
is_fatal (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  return !is_of_closed_popover (domain, message);
}

/* GLib's test handler reports a fatal error before the filter is asked, so this handler replaces
 * it. */
static void
on_critical (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if (!is_of_closed_popover (domain, message))
    g_log_default_handler (domain, level, message, data);
}

/* GTK 4.18 logs structured messages, which do not reach handlers. */
static GLogWriterOutput
on_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  const char *domain = NULL, *message = "";

  for (gsize i = 0; i < n_fields; i++)
    if (g_str_equal (fields[i].key, "GLIB_DOMAIN"))
      domain = fields[i].value;
    else if (g_str_equal (fields[i].key, "MESSAGE"))
      message = fields[i].value;
  return is_of_closed_popover (domain, message) || is_of_heading (domain, message)
             ? G_LOG_WRITER_HANDLED
             : g_log_writer_default (level, fields, n_fields, data);
}

static void
excuse_toolkit (void)
{
  GLogLevelFlags levels = G_LOG_LEVEL_CRITICAL | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION;

  g_log_set_writer_func (on_log, NULL, NULL);
  g_log_set_handler ("Gdk", levels, on_critical, NULL);
  g_log_set_handler ("Gtk", levels, on_critical, NULL);
}

AdjApplication *
adj_walk_begin (int *argc, char ***argv)
{
  AdjApplication *application;

  g_setenv ("GTK_A11Y", "test", TRUE);
  g_test_init (argc, argv, NULL);
  if (!adj_walk_init ())
    {
      g_test_skip ("there is no display");
      return NULL;
    }
  excuse_toolkit ();
  application = adj_application_new (G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, NULL));
  return application;
}

AdjWindow *
adj_walk_open_window (AdjApplication *application, int width, int height)
{
  AdjWindow *window = ADJ_WINDOW (adj_window_new (ADW_APPLICATION (application)));

  g_test_log_set_fatal_handler (is_fatal, NULL);
  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_window_present (GTK_WINDOW (window));
  adj_walk_settle (window);
  return window;
}

void
adj_walk_close (AdjWindow *window)
{
  gpointer left = window;

  /* A leaked reference to the window would keep its pages and their computations. */
  g_object_add_weak_pointer (G_OBJECT (window), &left);
  gtk_window_destroy (GTK_WINDOW (window));
  adj_wait_for_threads ();
  g_assert_null (left);
}

static gboolean
count_frame (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  return --*(int *) data > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean
is_zero (gpointer data)
{
  return *(int *) data == 0;
}

void
adj_walk_settle (AdjWindow *window)
{
  int frames = 4;

  gtk_widget_add_tick_callback (GTK_WIDGET (window), count_frame, &frames, NULL);
  adj_wait_until (is_zero, &frames, ADJ_WAIT_SECONDS);
  while (g_main_context_pending (NULL))
    g_main_context_iteration (NULL, FALSE);
}

static gboolean
has_result (gpointer data)
{
  AdjDocument *document = adj_window_get_document (data);

  return adj_document_get_scene (document) != NULL || adj_document_get_error (document) != NULL;
}

gboolean
adj_walk_open (AdjWindow *window, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  adj_window_open (window, file);
  return adj_wait_until (has_result, window, ADJ_WAIT_SECONDS);
}

static gboolean
shows_wanted (gpointer data)
{
  AdjDocument *document = adj_window_get_document (data);

  return adj_document_get_graph (document) ==
         adj_graph_set_get (adj_document_get_graphs (document),
                            adj_document_get_graph_index (document));
}

gboolean
adj_walk_choose_graph (AdjWindow *window, const char *role)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphSet *graphs = adj_document_get_graphs (document);

  for (guint i = 0; i < adj_graph_set_get_n (graphs); i++)
    if (g_str_equal (adj_graph_set_get (graphs, i)->role, role))
      {
        adj_document_set_graph_index (document, i);
        return adj_wait_until (shows_wanted, window, ADJ_WAIT_SECONDS);
      }
  return FALSE;
}

AdjWindow *
adj_walk_open_graph (AdjApplication *application, const char *name, const char *role)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autofree char *path = adj_test_data_path (name);

  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, role));
  adj_walk_settle (window);
  return window;
}

gboolean
adj_walk_select (AdjWindow *window, const char *node)
{
  AdjDocument *document = adj_window_get_document (window);
  const AdjBundleGraph *graph = adj_document_get_graph (document);
  AdjNodeId id = graph != NULL ? adj_graph_find_node (graph->graph, node) : ADJ_NO_NODE;

  adj_document_set_selected (document, id);
  adj_walk_settle (window);
  return adj_node_id_is_valid (id);
}

static gboolean
is_idle (gpointer data)
{
  return !adj_document_is_running (adj_window_get_document (data));
}

gboolean
adj_walk_run (AdjWindow *window, const char *action)
{
  gboolean done;

  gtk_widget_activate_action (GTK_WIDGET (window), action, NULL);
  done = adj_wait_until (is_idle, window, ADJ_WAIT_SECONDS);
  adj_walk_settle (window);
  return done;
}

GtkWidget *
adj_walk_find (GtkWidget *root, GType type, const char *label)
{
  if (g_type_is_a (G_OBJECT_TYPE (root), type) &&
      (label == NULL ||
       (GTK_IS_LABEL (root) && g_str_equal (gtk_label_get_text (GTK_LABEL (root)), label))))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = adj_walk_find (child, type, label);

      if (found != NULL)
        return found;
    }
  return NULL;
}

GtkWidget *
adj_walk_find_mapped (GtkWidget *root, GType type)
{
  if (g_type_is_a (G_OBJECT_TYPE (root), type) && gtk_widget_get_mapped (root))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = adj_walk_find_mapped (child, type);

      if (found != NULL)
        return found;
    }
  return NULL;
}

GtkWidget *
adj_walk_find_row (GtkWidget *root, const char *title)
{
  GtkWidget *label = adj_walk_find (root, GTK_TYPE_LABEL, title);

  g_assert_nonnull (label);
  return gtk_widget_get_ancestor (label, ADW_TYPE_PREFERENCES_ROW);
}

void
adj_walk_click (GtkWidget *root, const char *label)
{
  GtkWidget *found = adj_walk_find (root, GTK_TYPE_LABEL, label);

  g_assert_nonnull (found);
  g_signal_emit_by_name (gtk_widget_get_ancestor (found, GTK_TYPE_BUTTON), "clicked");
}

/* Popovers have surfaces of their own and are painted separately. */
static void
add_popovers (GtkWidget *root, GtkSnapshot *snapshot)
{
  if (GTK_IS_POPOVER (root) && gtk_widget_get_mapped (root))
    {
      g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (root);
      GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (root));
      int x = gdk_popup_get_position_x (GDK_POPUP (surface));
      int y = gdk_popup_get_position_y (GDK_POPUP (surface));

      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y));
      gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (root),
                              gtk_widget_get_height (root));
      gtk_snapshot_restore (snapshot);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    add_popovers (child, snapshot);
}

/* (transfer full) (nullable): %NULL while the layout is pending. */
static GskRenderNode *
paint_window (GtkWidget *window)
{
  int scale = gtk_widget_get_scale_factor (window);
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (window);
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();

  gtk_snapshot_scale (snapshot, scale, scale);
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (window),
                          gtk_widget_get_height (window));
  add_popovers (window, snapshot);
  return gtk_snapshot_to_node (snapshot);
}

static gboolean
is_painted (gpointer data)
{
  g_autoptr (GskRenderNode) node = paint_window (data);

  return node != NULL;
}

void
adj_walk_shoot (GtkWidget *window, const char *path)
{
  int scale = gtk_widget_get_scale_factor (window);
  int width = gtk_widget_get_width (window) * scale;
  int height = gtk_widget_get_height (window) * scale;
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) texture = NULL;

  g_assert_true (adj_wait_until (is_painted, window, ADJ_WAIT_SECONDS));
  node = paint_window (window);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (window)), node,
                                         &GRAPHENE_RECT_INIT (0, 0, width, height));
  g_assert_true (gdk_texture_save_to_png (texture, path));
}

static GtkGesture *
find_click (GtkWidget *widget, guint button)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_GESTURE_CLICK (controller) &&
          gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (controller)) == button)
        return GTK_GESTURE (controller);
    }
  return NULL;
}

GtkWidget *
adj_walk_ask_menu (GtkWidget *widget, double x, double y)
{
  AdjWindow *window = ADJ_WINDOW (gtk_widget_get_root (widget));

  g_signal_emit_by_name (find_click (widget, GDK_BUTTON_SECONDARY), "pressed", 1, x, y);
  adj_walk_settle (window);
  return adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_POPOVER_MENU);
}

static GtkWidget *
find_item (GtkWidget *menu, const char *label)
{
  GtkWidget *item = adj_walk_find (menu, GTK_TYPE_LABEL, label);

  while (item != NULL && !g_str_equal (G_OBJECT_TYPE_NAME (item), "GtkModelButton"))
    item = gtk_widget_get_parent (item);
  return item;
}

gboolean
adj_walk_menu_offers (GtkWidget *menu, const char *label)
{
  GtkWidget *item = find_item (menu, label);

  return item != NULL && gtk_widget_is_sensitive (item);
}

void
adj_walk_choose_item (GtkWidget *menu, const char *label)
{
  AdjWindow *window = ADJ_WINDOW (gtk_widget_get_root (menu));

  g_signal_emit_by_name (find_item (menu, label), "clicked");
  adj_walk_settle (window);
}

static void
on_text (GObject *source, GAsyncResult *result, gpointer data)
{
  *(char **) data = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (source), result, NULL);
}

static gboolean
is_set (gpointer data)
{
  return *(char **) data != NULL;
}

char *
adj_walk_read_clipboard (AdjWindow *window)
{
  char *text = NULL;

  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (GTK_WIDGET (window)), NULL, on_text,
                                 &text);
  g_assert_true (adj_wait_until (is_set, &text, ADJ_WAIT_SECONDS));
  return text;
}

GtkWidget *
adj_walk_find_window (const char *title)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWindow) window = g_list_model_get_item (windows, i);

      if (g_strcmp0 (gtk_window_get_title (window), title) == 0)
        return GTK_WIDGET (window);
    }
  return NULL;
}

void
adj_walk_keep (AdjWindow *window, const char *name)
{
  const char *folder = g_getenv ("ADJ_SHOTS");
  g_autofree char *file = g_strdup_printf ("%s.png", name);
  g_autofree char *path = folder != NULL ? g_build_filename (folder, file, NULL) : NULL;

  adj_walk_settle (window);
  if (path != NULL)
    adj_walk_shoot (GTK_WIDGET (window), path);
}
