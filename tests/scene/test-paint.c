/* SPDX-License-Identifier: MIT */
/* Pictures: SVG, PDF, PNG in tiles, failures, progress. */

#include <gio/gio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/adj-error.h"
#include "scene/adj-scene-builder.h"
#include "scene/paint-cairo.h"
#include "support/adj-test.h"

/* Makes one box of every kind and role, and one edge of every kind. */
static AdjScene *
make_scene (void)
{
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (0);

  for (guint kind = 0; kind < ADJ_N_BOX_KINDS; kind++)
    for (guint role = 0; role < ADJ_N_ROLES; role++)
      {
        AdjSceneBox box = ADJ_SCENE_BOX_INIT;

        box.kind = kind;
        box.role = role;
        box.fold = kind != ADJ_BOX_GROUP ? ADJ_FOLD_NONE
                   : role % 2            ? ADJ_FOLD_OPEN
                                         : ADJ_FOLD_CLOSED;
        box.title = "a <b> & \"c\"";
        box.subtitle = "f32[8, 32]";
        box.rect = (AdjRect){ (float) kind * 200, (float) role * 60, 160, 36 };
        adj_scene_builder_add_box (builder, &box);
      }
  for (guint kind = 0; kind < ADJ_N_EDGE_KINDS; kind++)
    {
      AdjPoint points[] = { { 0, 0 }, { 0, (float) kind * 20 }, { 900, (float) kind * 20 } };
      AdjSceneEdge edge = {
        .kind = kind, .from = kind, .width = 1.4f, .n_points = 3, .points = points
      };

      adj_scene_builder_add_edge (builder, &edge);
    }
  return adj_scene_builder_seal (builder, 20, 0);
}

static char *
render (const AdjTestFolder *folder, const char *name, const AdjPaintOptions *options)
{
  g_autoptr (AdjScene) scene = make_scene ();
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (folder->path, name, NULL);

  g_assert_true (adj_scene_render_file (scene, path, options, &error));
  g_assert_no_error (error);
  return path;
}

static void
test_svg (void)
{
  static const GMarkupParser parser = { 0 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = render (folder, "x.svg", NULL);
  gsize length;
  g_autofree char *text = adj_test_read_file (path, &length);
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_markup_parse_context_parse (context, text, (gssize) length, &error));
  g_assert_no_error (error);
  g_assert_true (g_markup_parse_context_end_parse (context, &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (text, "<svg"));
}

static void
test_pdf (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjPaintOptions options = { .legend = TRUE };
  g_autofree char *path = render (folder, "x.pdf", &options);
  gsize length;
  g_autofree char *text = adj_test_read_file (path, &length);

  g_assert_cmpuint (length, >, 1000);
  g_assert_true (memcmp (text, "%PDF-", 5) == 0);
}

static guint32
corner (const char *path, int *width, int *height)
{
  cairo_surface_t *surface = cairo_image_surface_create_from_png (path);
  guint32 pixel;

  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  *width = cairo_image_surface_get_width (surface);
  *height = cairo_image_surface_get_height (surface);
  memcpy (&pixel, cairo_image_surface_get_data (surface), sizeof pixel);
  cairo_surface_destroy (surface);
  return pixel & 0xffffff;
}

static void
test_png (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjRect part = { 10, 10, 200, 100 };
  AdjPaintOptions twice = { .scale = 2 };
  AdjPaintOptions dark = { .scheme = ADJ_SCHEME_DARK, .part = &part };
  g_autofree char *one = render (folder, "one.png", NULL);
  g_autofree char *two = render (folder, "two.png", &twice);
  g_autofree char *three = render (folder, "three.png", &dark);
  int width[3], height[3];

  g_assert_cmphex (corner (one, &width[0], &height[0]), ==, 0xfcfcfc);
  g_assert_cmphex (corner (two, &width[1], &height[1]), ==, 0xfcfcfc);
  g_assert_cmphex (corner (three, &width[2], &height[2]), ==, 0x1e1e22);
  g_assert_cmpint (width[1], ==, 2 * width[0]);
  g_assert_cmpint (height[1], ==, 2 * height[0]);
  g_assert_cmpint (width[2], ==, 200);
  g_assert_cmpint (height[2], ==, 100);
}

/* A failure leaves no new file and does not change an existing one. */
static void
test_failures (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjScene) scene = make_scene ();
  g_autoptr (GError) error = NULL;
  g_autofree char *gif = g_build_filename (folder->path, "x.gif", NULL);
  g_autofree char *png = g_build_filename (folder->path, "x.png", NULL);
  g_autofree char *lost = g_build_filename (folder->path, "none", "x.svg", NULL);
  g_autofree char *kept = NULL;
  AdjPaintOptions huge = { .scale = 1e7f };
  g_autoptr (GDir) dir = NULL;

  g_assert_false (adj_scene_render_file (scene, gif, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (adj_scene_render_file (scene, lost, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (png, "old", 3, NULL));
  g_assert_false (adj_scene_render_file (scene, png, &huge, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
  kept = adj_test_read_file (png, NULL);
  g_assert_cmpstr (kept, ==, "old");

  dir = g_dir_open (folder->path, 0, NULL);
  g_assert_cmpstr (g_dir_read_name (dir), ==, "x.png");
  g_assert_null (g_dir_read_name (dir));
}

/* Returns the pixels of a PNG from column @from on. */
static GByteArray *
columns (const char *path, int from, int n)
{
  cairo_surface_t *surface = cairo_image_surface_create_from_png (path);
  GByteArray *pixels = g_byte_array_new ();

  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  g_assert_cmpint (cairo_image_surface_get_width (surface), >=, from + n);
  for (int y = 0; y < cairo_image_surface_get_height (surface); y++)
    for (int x = from; x < from + n; x++)
      g_byte_array_append (pixels,
                           cairo_image_surface_get_data (surface) +
                               y * cairo_image_surface_get_stride (surface) + x * 4,
                           3);
  cairo_surface_destroy (surface);
  return pixels;
}

/* A picture of several tiles shows no seams: a picture with other tile boundaries has the same
 * pixels. */
static void
test_tiles (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjRect part = { -790, 0, 1400, 80 }, shifted = { -278, 0, 888, 80 }; /* cuts through a title */
  AdjPaintOptions options = { .scale = 8, .part = &part };
  g_autofree char *whole = render (folder, "whole.png", &options);
  g_autofree char *rest = NULL;
  g_autoptr (GByteArray) expected = NULL, got = NULL;
  guint n_off = 0;

  options.part = &shifted;
  rest = render (folder, "rest.png", &options);
  got = columns (whole, 4096, 7104);
  expected = columns (rest, 0, 7104);
  g_assert_cmpuint (got->len, ==, expected->len);
  /* Curves are flattened depending on their position; since cairo 1.18 antialiasing of text
   * depends on it too. */
  for (guint i = 0; i < got->len; i++)
    {
      n_off += ABS (got->data[i] - expected->data[i]) > 8;
      g_assert_cmpint (ABS (got->data[i] - expected->data[i]), <=, 64);
    }
  g_assert_cmpuint (n_off, <=, got->len / 100000);
}

/* A page larger than PDF viewers accept is scaled down. */
static void
test_wide_pdf (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjRect part = { 0, 0, 28800, 100 };
  AdjPaintOptions options = { .part = &part };
  g_autofree char *path = render (folder, "x.pdf", &options);
  gsize length;
  g_autofree char *text = adj_test_read_file (path, &length);

  g_assert_nonnull (
      memmem (text, length, "/MediaBox [ 0 0 14400 50 ]", strlen ("/MediaBox [ 0 0 14400 50 ]")));
}

typedef struct
{
  GCancellable *cancellable;
  guint n, done, total;
} Watch;

static void
stop_at_first (guint done, guint total, gpointer data)
{
  Watch *watch = data;

  watch->n++;
  watch->done = done;
  watch->total = total;
  if (watch->cancellable != NULL)
    g_cancellable_cancel (watch->cancellable);
}

/* If cancelled it leaves no file; otherwise it finishes. */
static void
test_stops (void)
{
  static const char *const names[] = { "x.svg", "x.pdf", "x.png" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjScene) scene = make_scene ();
  g_autoptr (GDir) dir = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autofree char *path = g_build_filename (folder->path, names[i], NULL);
      g_autoptr (GError) error = NULL;
      Watch watch = { .cancellable = cancellable };
      AdjPaintOptions options = {
        .scale = 8, .cancellable = cancellable, .progress = stop_at_first, .data = &watch
      };

      g_assert_false (adj_scene_render_file (scene, path, &options, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (watch.n, ==, 1);
      g_assert_cmpuint (watch.done, <, watch.total);
    }
  dir = g_dir_open (folder->path, 0, NULL);
  g_assert_null (g_dir_read_name (dir));
}

static void
test_progress (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjRect part = { 0, 0, 1400, 80 };
  Watch watch = { 0 };
  AdjPaintOptions options = {
    .scale = 8, .part = &part, .progress = stop_at_first, .data = &watch
  };
  g_autofree char *path = render (folder, "x.png", &options);

  g_assert_cmpuint (watch.total, ==, 4);
  g_assert_cmpuint (watch.done, ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene/paint/svg", test_svg);
  g_test_add_func ("/scene/paint/pdf", test_pdf);
  g_test_add_func ("/scene/paint/png", test_png);
  g_test_add_func ("/scene/paint/tiles", test_tiles);
  g_test_add_func ("/scene/paint/wide-pdf", test_wide_pdf);
  g_test_add_func ("/scene/paint/stops", test_stops);
  g_test_add_func ("/scene/paint/progress", test_progress);
  g_test_add_func ("/scene/paint/failures", test_failures);
  return g_test_run ();
}
