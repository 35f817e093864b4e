/* SPDX-License-Identifier: MIT */
/* Scenes: the spatial index, fonts, contrast of palettes. */

#include <math.h>
#include <string.h>

#include "scene/adj-font.h"
#include "scene/adj-palette.h"
#include "scene/adj-scene-builder.h"
#include "scene/adj-scene.h"

#define N_BOXES 500
#define N_EDGES 300

/* Makes boxes and edges all over a large area. */
static AdjScene *
make_scene (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (N_BOXES);

  for (guint i = 0; i < N_BOXES; i++)
    {
      AdjSceneBox box = ADJ_SCENE_BOX_INIT;

      box.kind = i < 20 ? ADJ_BOX_GROUP : ADJ_BOX_NODE;
      box.rect = (AdjRect){ (float) g_rand_double_range (rand, -4000, 4000),
                            (float) g_rand_double_range (rand, -9000, 9000),
                            (float) g_rand_double_range (rand, 1, i < 20 ? 3000 : 200),
                            (float) g_rand_double_range (rand, 1, 80) };
      box.title = "node";
      adj_scene_builder_place_node (builder, (AdjNodeId){ i },
                                    adj_scene_builder_add_box (builder, &box));
    }
  for (guint i = 0; i < N_EDGES; i++)
    {
      AdjPoint points[4];
      AdjSceneEdge edge = { .from = i, .to = i + 1, .width = 2, .n_points = 4, .points = points };

      for (guint k = 0; k < 4; k++)
        points[k] = (AdjPoint){ (float) g_rand_double_range (rand, -4000, 4000),
                                (float) g_rand_double_range (rand, -9000, 9000) };
      points[1].x = points[0].x;
      points[2].y = points[1].y;
      points[3].x = points[2].x;
      adj_scene_builder_add_edge (builder, &edge);
    }
  adj_scene_builder_set_counterparts (builder, (AdjNodeId){ 3 }, (AdjNodeId){ 7 });
  return adj_scene_builder_seal (builder, 10, 1234);
}

static gboolean
touch (const AdjRect *a, const AdjRect *b)
{
  return a->x <= b->x + b->width && b->x <= a->x + a->width && a->y <= b->y + b->height &&
         b->y <= a->y + a->height;
}

static gboolean
edge_touches (const AdjSceneEdge *edge, const AdjRect *rect)
{
  for (guint k = 0; k + 1 < edge->n_points; k++)
    {
      const AdjPoint *a = &edge->points[k], *b = &edge->points[k + 1];
      AdjRect piece = { MIN (a->x, b->x) - edge->width / 2, MIN (a->y, b->y) - edge->width / 2,
                        fabsf (a->x - b->x) + edge->width, fabsf (a->y - b->y) + edge->width };

      if (touch (&piece, rect))
        return TRUE;
    }
  return FALSE;
}

static gboolean
collect (guint index, gpointer data)
{
  g_array_append_val ((GArray *) data, index);
  return TRUE;
}

/* The grid finds what a scan of all items finds, in the same order. */
static void
test_foreach (void)
{
  g_autoptr (AdjScene) scene = make_scene (1);
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint round = 0; round < 200; round++)
    {
      g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
      AdjRect rect = { (float) g_rand_double_range (rand, -500, 9000),
                       (float) g_rand_double_range (rand, -500, 19000),
                       (float) g_rand_double_range (rand, 0, 3000),
                       (float) g_rand_double_range (rand, 0, 3000) };
      guint at = 0;

      adj_scene_foreach_box (scene, &rect, collect, found);
      for (guint i = 0; i < N_BOXES; i++)
        if (touch (&adj_scene_get_box (scene, i)->rect, &rect))
          {
            g_assert_cmpuint (at, <, found->len);
            g_assert_cmpuint (g_array_index (found, guint, at++), ==, i);
          }
      g_assert_cmpuint (at, ==, found->len);

      g_array_set_size (found, 0);
      adj_scene_foreach_edge (scene, &rect, collect, found);
      at = 0;
      for (guint i = 0; i < N_EDGES; i++)
        if (edge_touches (adj_scene_get_edge (scene, i), &rect))
          {
            g_assert_cmpuint (at, <, found->len);
            g_assert_cmpuint (g_array_index (found, guint, at++), ==, i);
          }
      g_assert_cmpuint (at, ==, found->len);
    }
}

static gboolean
stop (guint index, gpointer data)
{
  return ++*(guint *) data < 3;
}

static void
test_foreach_stops (void)
{
  g_autoptr (AdjScene) scene = make_scene (1);
  AdjRect all = adj_scene_get_bounds (scene);
  guint n = 0;

  adj_scene_foreach_box (scene, &all, stop, &n);
  g_assert_cmpuint (n, ==, 3);
}

static void
test_hit (void)
{
  g_autoptr (AdjScene) scene = make_scene (5);

  for (guint i = 0; i < N_BOXES; i++)
    {
      const AdjRect *r = &adj_scene_get_box (scene, i)->rect;
      guint hit = adj_scene_hit (scene, r->x + r->width / 2, r->y + r->height / 2);

      g_assert_cmpuint (hit, !=, ADJ_NO_BOX);
      g_assert_cmpuint (hit, >=, i);
    }
  for (guint e = 0; e < N_EDGES; e++)
    {
      const AdjPoint *p = adj_scene_get_edge (scene, e)->points;

      g_assert_cmpuint (adj_scene_hit_edge (scene, p[0].x, (p[0].y + p[1].y) / 2, 3), <=, e);
    }
  g_assert_cmpuint (adj_scene_hit (scene, -50, -50), ==, ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_hit_edge (scene, -50, -50, 3), ==, ADJ_NO_BOX);
}

static void
test_nodes (void)
{
  g_autoptr (AdjScene) scene = make_scene (1);

  g_assert_cmpuint (adj_scene_find_node (scene, (AdjNodeId){ 17 }), ==, 17);
  g_assert_cmpuint (adj_scene_find_node (scene, (AdjNodeId){ N_BOXES }), ==, ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_find_node (scene, ADJ_NO_NODE), ==, ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_get_counterpart (scene, (AdjNodeId){ 3 }).index, ==, 7);
  g_assert_cmpuint (adj_scene_get_counterpart (scene, (AdjNodeId){ 7 }).index, ==, 3);
  g_assert_false (adj_node_id_is_valid (adj_scene_get_counterpart (scene, (AdjNodeId){ 4 })));
  g_assert_cmpint (adj_scene_get_saved_bytes (scene), ==, 1234);
}

static void
test_empty (void)
{
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (0);
  g_autoptr (AdjScene) scene = adj_scene_builder_seal (builder, 10, 0);
  AdjRect bounds = adj_scene_get_bounds (scene);

  g_assert_cmpfloat (bounds.width, ==, 20);
  g_assert_cmpuint (adj_scene_hit (scene, 5, 5), ==, ADJ_NO_BOX);
}

/* An area so large that cells must grow. */
static void
test_large (void)
{
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (0);
  g_autoptr (AdjScene) scene = NULL;
  AdjSceneBox box = ADJ_SCENE_BOX_INIT;

  box.kind = ADJ_BOX_NODE;
  box.rect = (AdjRect){ 0, 0, 10, 10 };
  adj_scene_builder_add_box (builder, &box);
  box.rect = (AdjRect){ 4e6f, 4e6f, 10, 10 };
  adj_scene_builder_add_box (builder, &box);
  scene = adj_scene_builder_seal (builder, 0, 0);
  g_assert_cmpuint (adj_scene_hit (scene, 5, 5), ==, 0);
  g_assert_cmpuint (adj_scene_hit (scene, 4e6f + 5, 4e6f + 5), ==, 1);
}

/* Advance widths of Cantarell as in the font file, in units of 1/1000. */
static void
test_font (void)
{
  static const struct
  {
    AdjFont font;
    const char *text;
    float width;
  } rows[] = {
    { ADJ_FONT_REGULAR, "", 0 },
    { ADJ_FONT_REGULAR, " ", 0.220f },
    { ADJ_FONT_REGULAR, "A0", 0.626f + 0.614f },
    { ADJ_FONT_REGULAR, "m", 0.886f },
  };
  g_autofree char *whole = adj_font_ellipsize (ADJ_FONT_BOLD, 12, "addmm_10", 500);
  g_autofree char *cut =
      adj_font_ellipsize (ADJ_FONT_BOLD, 12, "native_layer_norm_backward_12", 90);
  g_autofree char *none = adj_font_ellipsize (ADJ_FONT_BOLD, 12, "native_layer_norm", 1);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpfloat_with_epsilon (adj_font_measure (rows[i].font, 10, rows[i].text),
                                    10 * rows[i].width, 1e-3f);
  g_assert_cmpstr (whole, ==, "addmm_10");
  g_assert_cmpfloat (adj_font_measure (ADJ_FONT_BOLD, 12, cut), <=, 90);
  g_assert_true (g_str_has_prefix (cut, "nat"));
  g_assert_true (g_str_has_suffix (cut, "12"));
  g_assert_nonnull (strstr (cut, "…"));
  g_assert_cmpstr (none, ==, "…");
}

static double
channel (float c)
{
  return c <= 0.03928f ? (double) c / 12.92 : pow (((double) c + 0.055) / 1.055, 2.4);
}

static double
luminance (const AdjColor *c)
{
  return 0.2126 * channel (c->red) + 0.7152 * channel (c->green) + 0.0722 * channel (c->blue);
}

static double
contrast (const AdjColor *a, const AdjColor *b)
{
  double x = luminance (a), y = luminance (b);

  return (MAX (x, y) + 0.05) / (MIN (x, y) + 0.05);
}

/* WCAG minimum: 3 for graphics, 4.5 for text. */
static void
test_contrast (void)
{
  for (guint s = 0; s < ADJ_N_SCHEMES; s++)
    {
      const AdjPalette *p = adj_palette_get (s);

      for (guint role = ADJ_ROLE_SAVED; role < ADJ_N_ROLES; role++)
        g_assert_cmpfloat (contrast (&p->roles[role], &p->card), >=, 3);
      for (guint kind = 0; kind < ADJ_N_EDGE_KINDS; kind++)
        g_assert_cmpfloat (contrast (&p->edges[kind], &p->group), >=, 2.9);
      g_assert_cmpfloat (contrast (&p->text, &p->card), >=, 7);
      g_assert_cmpfloat (contrast (&p->text, &p->copy_fill), >=, 4.5);
      g_assert_cmpfloat (contrast (&p->dim_text, &p->card), >=, 4.4);
    }
}

static void
test_lod (void)
{
  g_assert_cmpint (adj_lod_from_zoom (1), ==, ADJ_LOD_FULL);
  g_assert_cmpint (adj_lod_from_zoom (20.0f / 36), ==, ADJ_LOD_NAMES);
  g_assert_cmpint (adj_lod_from_zoom (10.0f / 36), ==, ADJ_LOD_MODULES);
  g_assert_cmpint (adj_lod_from_zoom (2.0f / 36), ==, ADJ_LOD_TEXTURE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene/scene/foreach-finds-what-touches", test_foreach);
  g_test_add_func ("/scene/scene/foreach-stops", test_foreach_stops);
  g_test_add_func ("/scene/scene/hit", test_hit);
  g_test_add_func ("/scene/scene/nodes", test_nodes);
  g_test_add_func ("/scene/scene/empty", test_empty);
  g_test_add_func ("/scene/scene/large", test_large);
  g_test_add_func ("/scene/font/widths", test_font);
  g_test_add_func ("/scene/palette/contrast", test_contrast);
  g_test_add_func ("/scene/lod/thresholds", test_lod);
  return g_test_run ();
}
