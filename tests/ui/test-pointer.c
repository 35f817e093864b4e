/* SPDX-License-Identifier: MIT */

/* What the mouse does on the canvas of a real window, sent by the X server. */

#include <math.h>

#include "canvas/adj-hover-card.h"
#include "canvas/adj-legend.h"
#include "canvas/adj-minimap.h"
#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "ui/adj-mouse.h"
#include "ui/adj-walk.h"

#define REST (400 * G_TIME_SPAN_MILLISECOND)
#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

typedef struct
{
  AdjWindow *window;
  AdjDocument *document;
  AdjGraphView *view;
  GtkWidget *canvas;
  const AdjGraph *graph;
} Fixture;

/* Moves the pointer to a place without card, line and frame. */
static void
go_away (Fixture *fixture)
{
  adj_mouse_move (GTK_WIDGET (fixture->window), 2, 2);
  UNTIL (fixture->view->hovered == ADJ_NO_BOX && fixture->view->hovered_edge == ADJ_NO_BOX);
}

static void
set_up (Fixture *fixture, gconstpointer name)
{
  fixture->window = adj_walk_open_graph (application, name, "joint");
  fixture->document = adj_window_get_document (fixture->window);
  fixture->view = adj_window_get_view (fixture->window);
  fixture->canvas = GTK_WIDGET (fixture->view);
  fixture->graph = adj_document_get_graph (fixture->document)->graph;
  /* Undoes the changes of the previous test. */
  adj_document_set_fold_depth (fixture->document, 0);
  UNTIL (!adj_document_is_busy (fixture->document));
  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
  adj_walk_settle (fixture->window);
  go_away (fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer name)
{
  adj_walk_close (fixture->window);
}

static const AdjScene *
get_scene (Fixture *fixture)
{
  return adj_document_get_scene (fixture->document);
}

static AdjNodeId
find (Fixture *fixture, const char *name)
{
  AdjNodeId id = adj_graph_find_node (fixture->graph, name);

  g_assert_true (adj_node_id_is_valid (id));
  return id;
}

static const AdjSceneBox *
find_box (Fixture *fixture, const char *name)
{
  return adj_scene_get_box (get_scene (fixture),
                            adj_scene_find_node (get_scene (fixture), find (fixture, name)));
}

static AdjPoint
middle_of (const AdjRect *rect)
{
  return (AdjPoint){ rect->x + rect->width / 2, rect->y + rect->height / 2 };
}

/* Scrolls a point of the scene to a position that the inspector does not cover. */
static AdjPoint
bring (Fixture *fixture, AdjPoint point, float zoom)
{
  AdjPoint at = { 260, 150 };
  AdjCamera camera = { point.x - at.x / zoom, point.y - at.y / zoom, zoom };

  adj_graph_view_set_camera (fixture->view, &camera);
  adj_walk_settle (fixture->window);
  return adj_camera_to_widget (&fixture->view->camera, point.x, point.y);
}

static AdjPoint
bring_node (Fixture *fixture, const char *name)
{
  return bring (fixture, middle_of (&find_box (fixture, name)->rect), 1);
}

static gboolean
is_selected (Fixture *fixture, const char *names)
{
  g_autofree char *selected = adj_document_list_names (fixture->document);

  return g_strcmp0 (selected, names) == 0;
}

/* Ignores the order. */
static gboolean
are_selected (Fixture *fixture, const char *const *names)
{
  const GArray *chosen = adj_document_get_chosen (fixture->document);
  guint n = g_strv_length ((char **) names), found = 0;

  for (guint i = 0; chosen != NULL && i < chosen->len; i++)
    found += g_strv_contains (
        names, adj_graph_get_node (fixture->graph, g_array_index (chosen, guint32, i))->name);
  return chosen != NULL && chosen->len == n && found == n;
}

/* -- moving -- */

static void
test_scrolls (Fixture *fixture, gconstpointer name)
{
  AdjPoint at = bring_node (fixture, "relu");
  AdjCamera before = fixture->view->camera;

  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_do ("click 5");
  UNTIL (fixture->view->camera.y > before.y);
  g_assert_cmpfloat (fixture->view->camera.x, ==, before.x);
  g_assert_cmpfloat (fixture->view->camera.zoom, ==, before.zoom);
  adj_mouse_do ("click 4");
  UNTIL (fixture->view->camera.y == before.y);
  adj_mouse_do ("keydown shift click 5 keyup shift");
  UNTIL (fixture->view->camera.x > before.x);
  g_assert_cmpfloat (fixture->view->camera.y, ==, before.y);
  g_assert_true (is_selected (fixture, NULL));
}

static void
test_zooms_at_pointer (Fixture *fixture, gconstpointer name)
{
  AdjPoint point = middle_of (&find_box (fixture, "relu")->rect), at = bring (fixture, point, 1);
  AdjPoint now;

  adj_mouse_move (fixture->canvas, at.x, at.y);
  UNTIL (fabsf (fixture->view->pointer.x - at.x) < 1 &&
         fabsf (fixture->view->pointer.y - at.y) < 1);
  for (guint i = 0; i < 4; i++)
    {
      AdjCamera before = fixture->view->camera;
      AdjPoint still =
          adj_camera_to_scene (&before, fixture->view->pointer.x, fixture->view->pointer.y);

      adj_mouse_do (i < 2 ? "keydown ctrl click 4 keyup ctrl" : "keydown ctrl click 5 keyup ctrl");
      UNTIL (fixture->view->camera.zoom != before.zoom);
      g_assert_true ((fixture->view->camera.zoom > before.zoom) == (i < 2));
      now = adj_camera_to_widget (&fixture->view->camera, still.x, still.y);
      g_assert_cmpfloat_with_epsilon (now.x, fixture->view->pointer.x, 0.5);
      g_assert_cmpfloat_with_epsilon (now.y, fixture->view->pointer.y, 0.5);
    }
}

/* A drag with @button moves the content under the pointer and selects nothing. */
static void
check_drag (Fixture *fixture, AdjPoint at, guint button)
{
  g_autofree char *press = g_strdup_printf ("mousedown %u", button);
  g_autofree char *release = g_strdup_printf ("mouseup %u", button);
  AdjCamera before = fixture->view->camera;

  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_do (press);
  adj_mouse_move (fixture->canvas, at.x + 20, at.y + 10);
  adj_mouse_move (fixture->canvas, at.x + 50, at.y + 30);
  UNTIL (fabsf (fixture->view->camera.x - (before.x - 50)) < 1 &&
         fabsf (fixture->view->camera.y - (before.y - 30)) < 1);
  adj_mouse_do (release);
  adj_walk_settle (fixture->window);
  g_assert_cmpfloat (fixture->view->camera.zoom, ==, before.zoom);
  g_assert_true (is_selected (fixture, NULL));
}

/* Finds empty space between two columns of cards. */
static AdjPoint
find_space (Fixture *fixture)
{
  for (float y = 60; y < 400; y += 7)
    for (float x = 60; x < 600; x += 7)
      {
        AdjPoint at = adj_camera_to_scene (&fixture->view->camera, x, y);
        AdjPoint aside = adj_camera_to_scene (&fixture->view->camera, x + 60, y + 40);
        guint box = adj_scene_hit (get_scene (fixture), at.x, at.y);

        if (box == ADJ_NO_BOX &&
            adj_scene_hit_edge (get_scene (fixture), at.x, at.y, 8) == ADJ_NO_BOX &&
            adj_scene_hit (get_scene (fixture), aside.x, aside.y) == ADJ_NO_BOX)
          return (AdjPoint){ x, y };
      }
  g_assert_not_reached ();
}

static void
test_drags (Fixture *fixture, gconstpointer name)
{
  AdjPoint at = bring_node (fixture, "relu");

  check_drag (fixture, at, 1);
  at = bring_node (fixture, "relu");
  check_drag (fixture, find_space (fixture), 1);
  bring_node (fixture, "relu");
  check_drag (fixture, at, 2);
}

/* Returns whether scrolling continues after a drag with @button that ends in a flick. */
static gboolean
flick (Fixture *fixture, AdjPoint at, guint button)
{
  g_autoptr (GString) hand = g_string_new (NULL);

  g_string_printf (hand, "mousedown %u", button);
  for (guint i = 0; i < 16; i++)
    g_string_append (hand, " mousemove_relative 0 8 sleep 0.01");
  g_string_append_printf (hand, " mouseup %u", button);
  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_do_live (hand->str);
  for (guint i = 0; i < 200 && fixture->view->tick == 0; i++)
    {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }
  return fixture->view->tick != 0 && fixture->view->speed_y > 0;
}

static void
check_glide (Fixture *fixture, guint button)
{
  AdjCamera before, released;
  AdjPoint at;
  guint i = 0;

  /* A drag that pauses before the release does not flick, and a busy machine can cause a pause. */
  do
    {
      at = bring_node (fixture, "relu");
      before = fixture->view->camera;
    }
  while (!flick (fixture, at, button) && ++i < 100);
  g_assert_cmpuint (i, <, 100);
  released = fixture->view->to;
  UNTIL (fixture->view->tick == 0);
  /* Further than the pointer moved. */
  g_assert_cmpfloat (released.y, <, before.y);
  g_assert_cmpfloat (fixture->view->camera.y, <, released.y - 1);
  g_assert_cmpfloat_with_epsilon (fixture->view->camera.x, before.x, 1);
}

static void
test_glides (Fixture *fixture, gconstpointer name)
{
  GtkSettings *settings = gtk_settings_get_default ();

  g_object_set (settings, "gtk-enable-animations", TRUE, NULL);
  check_glide (fixture, 1);
  check_glide (fixture, 2);
  g_object_set (settings, "gtk-enable-animations", FALSE, NULL);
}

/* -- selecting -- */

static void
test_clicks (Fixture *fixture, gconstpointer name)
{
  AdjPoint at = bring_node (fixture, "relu"), other;

  adj_mouse_click (fixture->canvas, at.x, at.y);
  UNTIL (is_selected (fixture, "relu"));
  g_assert_true (gtk_widget_has_focus (fixture->canvas));
  other = middle_of (&find_box (fixture, "addmm")->rect);
  at = adj_camera_to_widget (&fixture->view->camera, other.x, other.y);
  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_do ("keydown ctrl click 1 keyup ctrl");
  UNTIL (is_selected (fixture, "relu\naddmm"));
  adj_mouse_do ("keydown ctrl click 1 keyup ctrl");
  UNTIL (is_selected (fixture, "relu"));
  adj_mouse_do ("keydown shift click 1 keyup shift");
  UNTIL (is_selected (fixture, "relu\naddmm"));
  adj_mouse_do ("click 1");
  UNTIL (is_selected (fixture, "addmm"));
  at = find_space (fixture);
  adj_mouse_click (fixture->canvas, at.x, at.y);
  UNTIL (is_selected (fixture, NULL));
}

/* The legend and the overview, which lie on the canvas, take pointer events only where they are. */
static void
test_reaches_bottom (Fixture *fixture, gconstpointer name)
{
  AdjPoint point = middle_of (&find_box (fixture, "relu")->rect);
  AdjPoint at = { 260, gtk_widget_get_height (fixture->canvas) - 90 };
  AdjCamera camera = { point.x - at.x, point.y - at.y, 1 };

  adj_graph_view_set_camera (fixture->view, &camera);
  adj_walk_settle (fixture->window);
  at = adj_camera_to_widget (&fixture->view->camera, point.x, point.y);
  g_assert_cmpfloat (at.y, >, gtk_widget_get_height (fixture->canvas) - 110);
  adj_mouse_click (fixture->canvas, at.x, at.y);
  UNTIL (is_selected (fixture, "relu"));
}

static void
test_selects_band (Fixture *fixture, gconstpointer name)
{
  AdjPoint at = bring_node (fixture, "relu");
  const AdjRect *rect = &find_box (fixture, "relu")->rect;
  const AdjRect *below = &find_box (fixture, "addmm_1")->rect;
  AdjCamera before = fixture->view->camera;
  AdjPoint from, to;

  g_assert_cmpfloat (below->y, >, rect->y);
  from = adj_camera_to_widget (&before, MIN (rect->x, below->x) - 8, rect->y + 6);
  to = adj_camera_to_widget (&before, MAX (rect->x + rect->width, below->x + below->width) + 8,
                             below->y + below->height - 6);
  adj_mouse_move (fixture->canvas, from.x, from.y);
  adj_mouse_do ("keydown shift mousedown 1");
  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_move (fixture->canvas, to.x, to.y);
  UNTIL (fixture->view->banding && fixture->view->band.height > to.y - from.y - 2);
  g_assert_true (adj_camera_equal (&before, &fixture->view->camera));
  adj_mouse_do ("mouseup 1 keyup shift");
  UNTIL (adj_document_get_chosen (fixture->document) != NULL);
  g_assert_true (are_selected (fixture, (const char *const[]){ "relu", "addmm_1", NULL }));
  g_assert_false (fixture->view->banding);
}

static AdjFold
fold_of (Fixture *fixture, const char *path)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (get_scene (fixture)); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (get_scene (fixture), i);

      if (box->kind == ADJ_BOX_GROUP && g_str_equal (box->path, path))
        return box->fold;
    }
  return ADJ_FOLD_NONE;
}

static void
test_opens_modules (Fixture *fixture, gconstpointer name)
{
  const AdjScene *scene = get_scene (fixture);
  const AdjSceneBox *group = adj_scene_get_box (scene, find_box (fixture, "relu")->group);
  g_autofree char *path = g_strdup (group->path);
  AdjPoint at = bring (fixture, (AdjPoint){ group->rect.x + 60, group->rect.y + 12 }, 1);

  g_assert_cmpint (fold_of (fixture, path), ==, ADJ_FOLD_OPEN);
  adj_mouse_move (fixture->canvas, at.x, at.y);
  adj_mouse_do ("click --repeat 2 --delay 10 1");
  UNTIL (fold_of (fixture, path) == ADJ_FOLD_CLOSED);
  adj_walk_settle (fixture->window);
  /* The title stays under the pointer. */
  adj_mouse_do ("click --repeat 2 --delay 10 1");
  UNTIL (fold_of (fixture, path) == ADJ_FOLD_OPEN);
}

/* -- lines -- */

static const AdjSceneBox *
find_bridge (Fixture *fixture, guint anchor)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (get_scene (fixture)); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (get_scene (fixture), i);

      if (box->kind == ADJ_BOX_BRIDGE && box->anchor == anchor)
        return box;
    }
  g_assert_not_reached ();
}

/* addmm_1 has one reader in backward, for gelu. */
static void
test_clicks_bridge (Fixture *fixture, gconstpointer name)
{
  guint from = adj_scene_find_node (get_scene (fixture), find (fixture, "addmm_1"));
  AdjPoint at = bring (fixture, middle_of (&find_bridge (fixture, from)->rect), 1);
  const char *const ends[] = { "addmm_1", "gelu_backward", NULL };
  guint bridge;

  adj_mouse_click (fixture->canvas, at.x, at.y);
  UNTIL (are_selected (fixture, ends));
  g_assert_cmpstr (adj_graph_get_node (fixture->graph, fixture->view->selected.index)->name, ==,
                   "addmm_1");
  /* The size label on the bridge is highlighted with it. */
  bridge = adj_scene_hit (get_scene (fixture), middle_of (&find_bridge (fixture, from)->rect).x,
                          middle_of (&find_bridge (fixture, from)->rect).y);
  g_assert_true (adj_highlight_has_box (fixture->view->highlight, bridge));
  g_assert_true (adj_highlight_has_chosen (fixture->view->highlight, from));

  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
  /* Left of the size label: on the line itself. */
  at = bring (fixture,
              (AdjPoint){ find_bridge (fixture, from)->rect.x - 6,
                          middle_of (&find_bridge (fixture, from)->rect).y },
              1);
  adj_mouse_click (fixture->canvas, at.x, at.y + 2);
  UNTIL (are_selected (fixture, ends));
}

/* A bridge of a closed module: all values it saves for backward, and all their readers. */
static void
test_clicks_bundle (Fixture *fixture, gconstpointer name)
{
  guint from;
  AdjPoint at;
  const GArray *chosen;
  guint n_makers = 0;

  adj_document_set_fold_depth (fixture->document, 1);
  UNTIL (!adj_document_is_busy (fixture->document));
  adj_walk_settle (fixture->window);
  from = adj_scene_find_node (get_scene (fixture), find (fixture, "relu"));
  g_assert_cmpint (adj_scene_get_box (get_scene (fixture), from)->kind, ==, ADJ_BOX_GROUP);
  at = bring (fixture, middle_of (&find_bridge (fixture, from)->rect), 1);
  adj_mouse_click (fixture->canvas, at.x, at.y);
  UNTIL (adj_document_get_chosen (fixture->document) != NULL);
  chosen = adj_document_get_chosen (fixture->document);
  for (guint i = 0; i < chosen->len; i++)
    {
      AdjNodeId node = { g_array_index (chosen, guint32, i) };

      n_makers += adj_scene_find_node (get_scene (fixture), node) == from;
      g_assert_true (adj_scene_find_node (get_scene (fixture), node) == from ||
                     adj_graph_is_backward (fixture->graph, node.index));
    }
  g_assert_cmpuint (n_makers, >, 0);
  g_assert_cmpuint (n_makers, <, chosen->len);
}

/* -- what is told -- */

static GtkWidget *
get_card (Fixture *fixture)
{
  return adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_HOVER_CARD, NULL);
}

static gboolean
card_says (Fixture *fixture, const char *text)
{
  return gtk_widget_get_mapped (get_card (fixture)) &&
         adj_walk_find (get_card (fixture), GTK_TYPE_LABEL, text) != NULL;
}

static void
test_hovers (Fixture *fixture, gconstpointer name)
{
  guint from = adj_scene_find_node (get_scene (fixture), find (fixture, "addmm_1"));
  AdjPoint at = bring_node (fixture, "relu");
  gint64 begun = g_get_monotonic_time ();
  graphene_rect_t bounds;

  adj_mouse_move (fixture->canvas, at.x, at.y);
  UNTIL (card_says (fixture, "relu"));
  g_assert_cmpint (g_get_monotonic_time () - begun, >=, REST);
  adj_walk_settle (fixture->window);
  g_assert_true (gtk_widget_compute_bounds (get_card (fixture), fixture->canvas, &bounds));
  g_assert_cmpfloat (bounds.origin.x, >, at.x);
  g_assert_cmpfloat (bounds.origin.y, >, at.y);
  go_away (fixture);
  UNTIL (!gtk_widget_get_mapped (get_card (fixture)));

  /* The card of a line names both ends. */
  at = bring (fixture, middle_of (&find_bridge (fixture, from)->rect), 1);
  adj_mouse_move (fixture->canvas, at.x, at.y);
  UNTIL (card_says (fixture, "addmm_1 → gelu_backward"));
  /* The card disappears when the picture moves. */
  adj_mouse_do ("click 5");
  UNTIL (!gtk_widget_get_mapped (get_card (fixture)));
}

static void
test_overview (Fixture *fixture, gconstpointer name)
{
  GtkWidget *minimap = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_MINIMAP, NULL);
  AdjRect bounds = adj_scene_get_bounds (get_scene (fixture));
  double width = gtk_widget_get_width (minimap), height = gtk_widget_get_height (minimap);
  AdjCamera before;
  AdjPoint seen;

  bring_node (fixture, "relu");
  adj_mouse_move (minimap, width / 2, height / 2);
  adj_mouse_do ("mousedown 1");
  before = fixture->view->camera;
  UNTIL (!adj_camera_equal (&before, &fixture->view->camera));
  seen = adj_camera_to_scene (&fixture->view->camera, gtk_widget_get_width (fixture->canvas) / 2.0f,
                              gtk_widget_get_height (fixture->canvas) / 2.0f);
  g_assert_cmpfloat_with_epsilon (seen.x, bounds.width / 2, bounds.width * 0.05);
  g_assert_cmpfloat_with_epsilon (seen.y, bounds.height / 2, bounds.height * 0.05);
  before = fixture->view->camera;
  adj_mouse_move (minimap, width / 2, height / 2 + 20);
  UNTIL (fixture->view->camera.y > before.y);
  adj_mouse_do ("mouseup 1");
  adj_walk_settle (fixture->window);
  g_assert_cmpfloat (fixture->view->camera.zoom, ==, before.zoom);
}

/* Returns the legend's button for @role. */
static GtkWidget *
find_role (Fixture *fixture, AdjRole role)
{
  GtkWidget *legend = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_LEGEND, NULL);
  AdjScene *scene = adj_document_get_scene (adj_window_get_document (fixture->window));

  return gtk_widget_get_ancestor (
      adj_walk_find (legend, GTK_TYPE_LABEL, adj_scene_get_role_name (scene, role)),
      GTK_TYPE_TOGGLE_BUTTON);
}

static void
click_role (Fixture *fixture, AdjRole role)
{
  GtkWidget *button = find_role (fixture, role);

  adj_mouse_click (button, gtk_widget_get_width (button) / 2.0,
                   gtk_widget_get_height (button) / 2.0);
}

static guint
find_one (Fixture *fixture, AdjRole role)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (get_scene (fixture)); i++)
    if (adj_scene_get_box (get_scene (fixture), i)->role == role)
      return i;
  g_assert_not_reached ();
}

static void
test_legend (Fixture *fixture, gconstpointer name)
{
  guint saved = find_one (fixture, ADJ_ROLE_SAVED);
  guint gradient = find_one (fixture, ADJ_ROLE_GRADIENT);

  click_role (fixture, ADJ_ROLE_SAVED);
  UNTIL (adj_graph_view_get_role (fixture->view) == ADJ_ROLE_SAVED);
  g_assert_true (adj_highlight_has_box (fixture->view->highlight, saved));
  g_assert_false (adj_highlight_has_box (fixture->view->highlight, gradient));
  click_role (fixture, ADJ_ROLE_GRADIENT);
  UNTIL (adj_graph_view_get_role (fixture->view) == ADJ_ROLE_GRADIENT);
  g_assert_false (adj_highlight_has_box (fixture->view->highlight, saved));
  g_assert_true (adj_highlight_has_box (fixture->view->highlight, gradient));
  g_assert_false (
      gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (find_role (fixture, ADJ_ROLE_SAVED))));
  /* A second click shows all roles equally again. */
  click_role (fixture, ADJ_ROLE_GRADIENT);
  UNTIL (adj_graph_view_get_role (fixture->view) == ADJ_ROLE_NONE);
  g_assert_null (fixture->view->highlight);
  /* Escape shows all and releases the button. */
  click_role (fixture, ADJ_ROLE_SAVED);
  UNTIL (adj_graph_view_get_role (fixture->view) == ADJ_ROLE_SAVED);
  gtk_widget_activate_action (fixture->canvas, "canvas.clear", NULL);
  g_assert_false (
      gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (find_role (fixture, ADJ_ROLE_SAVED))));
}

int
main (int argc, char *argv[])
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
#define ADD(path, test) g_test_add (path, Fixture, "graphs/mlp.adjoint", set_up, test, tear_down)
  ADD ("/ui/pointer/scrolls", test_scrolls);
  ADD ("/ui/pointer/zooms-at-pointer", test_zooms_at_pointer);
  ADD ("/ui/pointer/drags", test_drags);
  ADD ("/ui/pointer/glides", test_glides);
  ADD ("/ui/pointer/clicks", test_clicks);
  ADD ("/ui/pointer/reaches-bottom", test_reaches_bottom);
  ADD ("/ui/pointer/selects-band", test_selects_band);
  ADD ("/ui/pointer/opens-modules", test_opens_modules);
  ADD ("/ui/pointer/clicks-bridge", test_clicks_bridge);
  ADD ("/ui/pointer/clicks-bundle", test_clicks_bundle);
  ADD ("/ui/pointer/hovers", test_hovers);
  ADD ("/ui/pointer/overview", test_overview);
  ADD ("/ui/pointer/legend", test_legend);
  return g_test_run ();
}
