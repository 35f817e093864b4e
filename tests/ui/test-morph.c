/* SPDX-License-Identifier: MIT */

/* The transition between the pictures of two stages: cards that stay, disappear and appear. */

#include "canvas/adj-morph.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"

typedef struct
{
  AdjBundle *bundle;
  AdjGraph *before, *after; /* (unowned) */
  AdjScene *from, *to;
  GArray *origins;
} Step;

/* Makes the step from @a to @b of @file; nodes are matched by name. */
static Step *
step_new_in (const char *file, const char *a, const char *b)
{
  Step *step = g_new (Step, 1);
  g_autofree char *path = adj_test_data_path (file);

  step->bundle = adj_bundle_load (path, NULL, NULL);
  step->before = adj_bundle_find_graph (step->bundle, a, NULL)->graph;
  step->after = adj_bundle_find_graph (step->bundle, b, NULL)->graph;
  step->from = adj_layout_mirror (step->before, NULL, NULL, NULL, NULL);
  step->to = adj_layout_mirror (step->after, NULL, NULL, NULL, NULL);
  step->origins = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < adj_graph_get_n_nodes (step->after); i++)
    {
      guint32 origin =
          adj_graph_find_node (step->before, adj_graph_get_node (step->after, i)->name).index;

      g_array_append_val (step->origins, origin);
    }
  return step;
}

static Step *
step_new (const char *a, const char *b)
{
  return step_new_in ("graphs/mlp.adjoint", a, b);
}

static void
step_free (Step *step)
{
  adj_scene_unref (step->from);
  adj_scene_unref (step->to);
  g_array_unref (step->origins);
  adj_bundle_unref (step->bundle);
  g_free (step);
}

static const AdjRect *
get_rect (AdjScene *scene, AdjGraph *graph, const char *name)
{
  return &adj_scene_get_box (scene, adj_scene_find_node (scene, adj_graph_find_node (graph, name)))
              ->rect;
}

static void
assert_rect (const AdjRect *a, const AdjRect *b, AdjPoint shift)
{
  g_assert_cmpfloat_with_epsilon (a->x, b->x + shift.x, 0.01);
  g_assert_cmpfloat_with_epsilon (a->y, b->y + shift.y, 0.01);
  g_assert_cmpfloat_with_epsilon (a->width, b->width, 0.01);
  g_assert_cmpfloat_with_epsilon (a->height, b->height, 0.01);
}

/* The selected card does not move on the screen; others move to their new positions. */
static void
test_stays (void)
{
  Step *step = step_new ("joint", "forward");
  g_autoptr (AdjMorph) morph = adj_morph_new (step->from, step->to, step->origins);
  AdjNodeId gelu = adj_graph_find_node (step->before, "gelu");
  AdjRect all = adj_scene_get_bounds (step->from);
  const AdjRect *was = get_rect (step->from, step->before, "gelu");
  const AdjRect *is = get_rect (step->to, step->after, "gelu");
  guint box = adj_scene_find_node (step->to, adj_graph_find_node (step->after, "addmm"));
  AdjPoint shift, none = { 0, 0 };

  g_assert_true (adj_morph_find_shift (morph, &all, gelu, &shift));
  g_assert_cmpfloat (shift.x, ==, is->x - was->x);
  g_assert_cmpfloat (shift.y, ==, is->y - was->y);
  all.x += shift.x;
  all.y += shift.y;
  g_assert_true (adj_morph_begin (morph, shift, &all));
  g_assert_true (adj_morph_stays (morph, box));
  assert_rect (adj_morph_get_rect (morph, box), get_rect (step->from, step->before, "addmm"),
               shift);
  adj_morph_set_progress (morph, 1);
  assert_rect (adj_morph_get_rect (morph, box), get_rect (step->to, step->after, "addmm"), none);
  step_free (step);
}

static guint
count_still (const Step *step, const AdjPoint *shift)
{
  guint n = 0;

  for (guint i = 0; i < step->origins->len; i++)
    {
      AdjNodeId origin = { g_array_index (step->origins, guint32, i) };
      guint is = adj_scene_find_node (step->to, (AdjNodeId){ i });
      guint was =
          origin.index != G_MAXUINT32 ? adj_scene_find_node (step->from, origin) : ADJ_NO_BOX;
      const AdjRect *a, *b;

      if (is == ADJ_NO_BOX || was == ADJ_NO_BOX ||
          adj_scene_get_box (step->to, is)->kind != ADJ_BOX_NODE ||
          adj_scene_get_box (step->to, is)->node.index != i)
        continue;
      a = &adj_scene_get_box (step->from, was)->rect;
      b = &adj_scene_get_box (step->to, is)->rect;
      n += ABS (b->x - a->x - shift->x) < 1 && ABS (b->y - a->y - shift->y) < 1;
    }
  return n;
}

/* Without a selection as many cards as possible stay, rather than the ones in the middle. */
static void
test_most_stays (void)
{
  Step *step = step_new_in ("graphs/gpt2.adjoint", "joint", "backward");
  g_autoptr (AdjMorph) morph = adj_morph_new (step->from, step->to, step->origins);
  AdjRect all = adj_scene_get_bounds (step->from);
  AdjPoint shift;
  guint n;

  g_assert_true (adj_morph_find_shift (morph, &all, ADJ_NO_NODE, &shift));
  n = count_still (step, &shift);
  g_test_message ("%u stay", n);
  for (guint i = 0; i < step->origins->len; i++)
    {
      AdjNodeId origin = { g_array_index (step->origins, guint32, i) };
      AdjPoint other;

      if (origin.index != G_MAXUINT32 && adj_morph_find_shift (morph, &all, origin, &other))
        g_assert_cmpuint (count_still (step, &other), <=, n + 2); /* differs by rounding */
    }
  step_free (step);
}

/* Any selected card stays, even if others move differently. */
static void
test_each_stays (void)
{
  Step *step = step_new ("dynamo", "joint");
  AdjRect all = adj_scene_get_bounds (step->from);
  AdjPoint first = { 0, 0 }, shift;
  guint n = 0, n_apart = 0;

  /* Nodes are matched by call order, because few names are equal. */
  for (guint i = 0, at = 0; i < adj_graph_get_n_nodes (step->after); i++)
    if (adj_graph_get_node (step->after, i)->opcode == ADJ_OPCODE_CALL_FUNCTION &&
        at < adj_graph_get_n_nodes (step->before))
      g_array_index (step->origins, guint32, i) = at++;
  {
    g_autoptr (AdjMorph) morph = adj_morph_new (step->from, step->to, step->origins);

    for (guint i = 0; i < adj_graph_get_n_nodes (step->after); i++)
      {
        AdjNodeId origin = { g_array_index (step->origins, guint32, i) };
        guint is = adj_scene_find_node (step->to, (AdjNodeId){ i });
        guint was =
            origin.index != G_MAXUINT32 ? adj_scene_find_node (step->from, origin) : ADJ_NO_BOX;

        if (is == ADJ_NO_BOX || was == ADJ_NO_BOX ||
            adj_scene_get_box (step->to, is)->kind != ADJ_BOX_NODE ||
            adj_scene_get_box (step->to, is)->node.index != i ||
            adj_scene_get_box (step->from, was)->kind != ADJ_BOX_NODE ||
            adj_scene_get_box (step->from, was)->node.index != origin.index)
          continue;
        g_assert_true (adj_morph_find_shift (morph, &all, origin, &shift));
        g_assert_cmpfloat (shift.y, ==,
                           adj_scene_get_box (step->to, is)->rect.y -
                               adj_scene_get_box (step->from, was)->rect.y);
        if (n++ == 0)
          first = shift;
        n_apart += shift.x != first.x || shift.y != first.y;
      }
  }
  g_assert_cmpuint (n, >, 2);
  g_assert_cmpuint (n_apart, >, 0);
  step_free (step);
}

static gboolean
is_ghost (const AdjMorph *morph, const Step *step, const char *name)
{
  guint box = adj_scene_find_node (step->from, adj_graph_find_node (step->before, name));
  const GArray *ghosts = adj_morph_get_ghosts (morph);

  for (guint i = 0; i < ghosts->len; i++)
    if (g_array_index (ghosts, guint, i) == box)
      return TRUE;
  return FALSE;
}

/* Backward disappears when only forward is shown, and returns with the joint graph. */
static void
test_goes_and_comes (void)
{
  Step *away = step_new ("joint", "forward"), *back = step_new ("forward", "joint");
  g_autoptr (AdjMorph) going = adj_morph_new (away->from, away->to, away->origins);
  g_autoptr (AdjMorph) coming = adj_morph_new (back->from, back->to, back->origins);
  AdjRect all = adj_scene_get_bounds (away->from), none;
  guint box = adj_scene_find_node (back->to, adj_graph_find_node (back->after, "gelu_backward"));
  AdjPoint shift;

  g_assert_true (adj_morph_find_shift (going, &all, ADJ_NO_NODE, &shift));
  g_assert_true (adj_morph_begin (going, (AdjPoint){ 0, 0 }, &all));
  g_assert_true (is_ghost (going, away, "gelu_backward"));
  g_assert_false (is_ghost (going, away, "gelu"));
  g_assert_false (adj_morph_stays (coming, box));
  none = (AdjRect){ -5000, -5000, 10, 10 };
  g_assert_false (adj_morph_find_shift (coming, &none, ADJ_NO_NODE, &shift));
  step_free (away);
  step_free (back);
}

/* A parameter moves with its card. */
static void
test_chips (void)
{
  Step *step = step_new ("joint", "forward");
  g_autoptr (AdjMorph) morph = adj_morph_new (step->from, step->to, step->origins);
  AdjRect all = adj_scene_get_bounds (step->to);
  guint n = 0;

  all = (AdjRect){ -10000, -10000, 20000 + all.width, 20000 + all.height };
  g_assert_true (adj_morph_begin (morph, (AdjPoint){ 300, -200 }, &all));
  adj_morph_set_progress (morph, 0.3f);
  for (guint i = 0; i < adj_scene_get_n_boxes (step->to); i++)
    {
      const AdjSceneBox *chip = adj_scene_get_box (step->to, i);
      const AdjSceneBox *card;

      if (chip->anchor == ADJ_NO_BOX)
        continue;
      card = adj_scene_get_box (step->to, chip->anchor);
      g_assert_cmpfloat_with_epsilon (adj_morph_get_rect (morph, i)->x -
                                          adj_morph_get_rect (morph, chip->anchor)->x,
                                      chip->rect.x - card->rect.x, 0.01);
      n++;
    }
  g_assert_cmpuint (n, >, 4);
  step_free (step);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/morph/stays", test_stays);
  g_test_add_func ("/morph/most-stays", test_most_stays);
  g_test_add_func ("/morph/each-stays", test_each_stays);
  g_test_add_func ("/morph/goes-and-comes", test_goes_and_comes);
  g_test_add_func ("/morph/chips", test_chips);
  return g_test_run ();
}
