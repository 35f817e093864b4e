/* SPDX-License-Identifier: MIT */
/* The mirror layout: boxes do not overlap, lines avoid cards, and the result is deterministic. */

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "formats/adj-bundle.h"
#include "formats/adj-format.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/layered-graph.h"
#include "support/random-graph.h"

#define NEAR 0.7f

static AdjScene *
lay_out (AdjGraph *graph, const AdjLayoutOptions *options, AdjLayoutCache *cache)
{
  g_autoptr (GError) error = NULL;
  AdjScene *scene = adj_layout_mirror (graph, options, cache, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (scene);
  return scene;
}

static gboolean
is_solid (const AdjSceneBox *box)
{
  return box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL || box->kind == ADJ_BOX_CHIP ||
         box->kind == ADJ_BOX_BRIDGE || box->fold == ADJ_FOLD_CLOSED;
}

static gboolean
overlap (const AdjRect *a, const AdjRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
         b->y < a->y + a->height;
}

static gboolean
contains (const AdjRect *outer, const AdjRect *inner)
{
  return inner->x >= outer->x - NEAR && inner->y >= outer->y - NEAR &&
         inner->x + inner->width <= outer->x + outer->width + NEAR &&
         inner->y + inner->height <= outer->y + outer->height + NEAR;
}

typedef struct
{
  const AdjScene *scene;
  guint index;
} Visit;

static gboolean
check_apart (guint other, gpointer data)
{
  const Visit *visit = data;
  const AdjSceneBox *a = adj_scene_get_box (visit->scene, visit->index);
  const AdjSceneBox *b = adj_scene_get_box (visit->scene, other);

  if (other != visit->index && is_solid (b) && overlap (&a->rect, &b->rect))
    g_error ("%s and %s overlap", a->title, b->title);
  return TRUE;
}

static void
check_boxes (const AdjScene *scene)
{
  AdjRect bounds = adj_scene_get_bounds (scene);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      Visit visit = { scene, i };

      g_assert_true (contains (&bounds, &box->rect));
      g_assert_nonnull (box->title);
      g_assert_nonnull (box->subtitle);
      if (is_solid (box))
        adj_scene_foreach_box (scene, &box->rect, check_apart, &visit);
      if (box->group != ADJ_NO_BOX)
        {
          const AdjSceneBox *group = adj_scene_get_box (scene, box->group);

          g_assert_cmpint (group->kind, ==, ADJ_BOX_GROUP);
          g_assert_cmpuint (box->group, <, i);
          g_assert_true (contains (&group->rect, &box->rect));
        }
    }
}

/* Every node is a box or part of exactly one. */
static void
check_nodes (const AdjScene *scene, const AdjGraph *graph)
{
  g_autofree guint *shown = g_new0 (guint, adj_scene_get_n_boxes (scene) + 1);

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint box = adj_scene_find_node (scene, (AdjNodeId){ i });

      g_assert_cmpuint (box, <, adj_scene_get_n_boxes (scene));
      g_assert_true (is_solid (adj_scene_get_box (scene, box)));
      shown[box]++;
    }
  for (guint b = 0; b < adj_scene_get_n_boxes (scene); b++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, b);

      if (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL)
        {
          g_assert_cmpuint (adj_scene_find_node (scene, box->node), ==, b);
          g_assert_cmpuint (box->n_nodes, ==, shown[b]);
        }
    }
}

static gboolean
on_border (const AdjRect *r, const AdjPoint *p)
{
  gboolean beside = p->y >= r->y - NEAR && p->y <= r->y + r->height + NEAR;
  gboolean above = p->x >= r->x - NEAR && p->x <= r->x + r->width + NEAR;

  return (beside && (fabsf (p->x - r->x) < NEAR || fabsf (p->x - r->x - r->width) < NEAR)) ||
         (above && (fabsf (p->y - r->y) < NEAR || fabsf (p->y - r->y - r->height) < NEAR));
}

/* Lines consist of horizontal and vertical segments, and begin and end at their boxes. */
static void
check_edges (const AdjScene *scene)
{
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);
      const AdjSceneBox *from = adj_scene_get_box (scene, edge->from);
      const AdjSceneBox *to = adj_scene_get_box (scene, edge->to);

      g_assert_cmpuint (edge->n_points, >=, 2);
      if (!on_border (&from->rect, &edge->points[0]) ||
          !on_border (&to->rect, &edge->points[edge->n_points - 1]))
        g_error ("the line from %s to %s does not reach them", from->title, to->title);
      for (guint k = 0; k + 1 < edge->n_points; k++)
        if (fabsf (edge->points[k].x - edge->points[k + 1].x) > 0.02f &&
            fabsf (edge->points[k].y - edge->points[k + 1].y) > 0.02f)
          g_error ("the line from %s to %s is slanted", from->title, to->title);
    }
}

typedef struct
{
  const AdjScene *scene;
  const AdjSceneEdge *edge;
  AdjRect piece;
} Crossing;

static gboolean
check_not_through (guint index, gpointer data)
{
  const Crossing *crossing = data;
  const AdjSceneBox *box = adj_scene_get_box (crossing->scene, index);
  AdjRect inside = { box->rect.x + 2, box->rect.y + 2, box->rect.width - 4, box->rect.height - 4 };

  if ((box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL || box->fold == ADJ_FOLD_CLOSED) &&
      overlap (&inside, &crossing->piece))
    g_error ("the line from %s to %s runs through %s",
             adj_scene_get_box (crossing->scene, crossing->edge->from)->title,
             adj_scene_get_box (crossing->scene, crossing->edge->to)->title, box->title);
  return TRUE;
}

/* No line runs through a card. */
static void
check_clear (const AdjScene *scene)
{
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);

      for (guint k = 0; k + 1 < edge->n_points; k++)
        {
          const AdjPoint *a = &edge->points[k], *b = &edge->points[k + 1];
          Crossing crossing = { .scene = scene, .edge = edge };

          crossing.piece = (AdjRect){ MIN (a->x, b->x), MIN (a->y, b->y),
                                      fabsf (a->x - b->x) + 0.01f, fabsf (a->y - b->y) + 0.01f };
          adj_scene_foreach_box (scene, &crossing.piece, check_not_through, &crossing);
        }
    }
}

typedef struct
{
  const AdjScene *scene;
  const AdjSceneEdge *edge;
  gboolean found;
} Showing;

static gboolean
find_showing (guint index, gpointer data)
{
  Showing *showing = data;
  const AdjSceneEdge *other = adj_scene_get_edge (showing->scene, index);

  showing->found |= other->from == showing->edge->from && other->kind == showing->edge->kind;
  return !showing->found;
}

/* A segment that an edge shares is drawn by another edge. */
static void
check_shared (const AdjScene *scene)
{
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);

      g_assert_cmpuint (edge->n_shared, <, edge->n_points - 1);
      for (guint k = 0; k < edge->n_shared; k++)
        for (float t = 0.1f; t < 1; t += 0.2f)
          {
            const AdjPoint *a = &edge->points[k], *b = &edge->points[k + 1];
            AdjRect place = { a->x + t * (b->x - a->x) - NEAR, a->y + t * (b->y - a->y) - NEAR,
                              2 * NEAR, 2 * NEAR };
            Showing showing = { scene, edge, FALSE };

            adj_scene_foreach_edge (scene, &place, find_showing, &showing);
            if (!showing.found)
              g_error ("the line from %s to %s is not shown near %g, %g",
                       adj_scene_get_box (scene, edge->from)->title,
                       adj_scene_get_box (scene, edge->to)->title, (double) place.x,
                       (double) place.y);
          }
    }
}

static void
check_scene (const AdjScene *scene, const AdjGraph *graph)
{
  check_boxes (scene);
  check_nodes (scene, graph);
  check_edges (scene);
  check_clear (scene);
  check_shared (scene);
}

/* Checks @graph with the first @n drawing options, or all. */
static void
check_graph (AdjGraph *graph, guint n)
{
  static const AdjLayoutOptions options[] = {
    { 0 },
    { .fold_depth = 1 },
    { .fold_depth = 2 },
    { .keep_aliases = TRUE },
    { .view = ADJ_VIEW_STACKED },
  };

  g_autoptr (AdjLayoutCache) cache = adj_layout_cache_new (NULL);

  for (guint i = 0; i < MIN (n, G_N_ELEMENTS (options)); i++)
    {
      g_autoptr (AdjScene) scene = lay_out (graph, &options[i], cache);

      check_scene (scene, graph);
    }
}

static void
test_captures (void)
{
  static const char *const files[] = { "mlp", "gpt2", "sac", "resnet-block", "lstm" };
  static const char *const ids[] = { "joint", "forward", "backward", "dynamo" };

  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
      {
        g_autoptr (AdjGraph) graph = adj_test_load_graph (files[f], ids[i]);

        g_test_message ("%s#%s", files[f], ids[i]);
        check_graph (graph, i == 0 ? G_MAXUINT : 1);
      }
}

/* The line of a value that is read by every following node is drawn once. */
static void
test_many_readers (void)
{
  g_autoptr (GString) text =
      g_string_new ("class G(torch.nn.Module):\n    def forward(self, x, y):\n"
                    "        n0 = torch.ops.aten.add.Tensor(x, y)\n");
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjScene) scene = NULL;
  float shown = 0;

  for (guint i = 1; i < 400; i++)
    g_string_append_printf (text, "        n%u = torch.ops.aten.mul.Tensor(n%u, x)\n", i, i - 1);
  g_string_append (text, "        return (n399,)\n");
  graph = adj_test_parse_graph (text->str);
  scene = lay_out (graph, &(AdjLayoutOptions){ 0 }, NULL);
  check_scene (scene, graph);
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);

      for (guint k = edge->n_shared; k + 1 < edge->n_points; k++)
        shown += fabsf (edge->points[k].y - edge->points[k + 1].y);
    }
  g_assert_cmpfloat (shown, <, 6 * adj_scene_get_bounds (scene).height);
}

/* Half of the graphs use the built-in layering, the fallback without the helper. */
static void
test_random (void)
{
  g_autofree char *helper = g_strdup (g_getenv ("ADJ_LAYOUT_HELPER"));

  for (guint seed = 0; seed < 24; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) any = adj_test_random_graph (rand, 1 + seed * 3);
      g_autoptr (AdjGraph) program = adj_test_random_program (rand, 1 + seed * 3);

      g_test_message ("seed %u", seed);
      g_setenv ("ADJ_LAYOUT_HELPER", seed % 2 ? helper : "/nonexistent", TRUE);
      check_graph (any, seed % 2 ? 1 : G_MAXUINT);
      check_graph (program, seed % 2 ? 1 : G_MAXUINT);
    }
  g_setenv ("ADJ_LAYOUT_HELPER", helper, TRUE);
}

static void
test_layers (void)
{
  g_autoptr (AdjGraph) equal = adj_test_layered_graph (5, FALSE);
  g_autoptr (AdjGraph) different = adj_test_layered_graph (5, TRUE);

  check_graph (equal, G_MAXUINT);
  check_graph (different, G_MAXUINT);
}

static guint
find_group (const AdjScene *scene, const char *path, AdjSide side)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && box->side == side && g_str_equal (box->path, path))
        return i;
    }
  g_error ("no group %s", path);
}

/* Describes the boxes of a group relative to its first box. */
static char *
describe_inside (const AdjScene *scene, const char *path, AdjSide side)
{
  guint group = find_group (scene, path, side);
  GString *out = g_string_new (NULL);
  const AdjSceneBox *first = NULL;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->group != group || box->kind == ADJ_BOX_GROUP)
        continue;
      first = first ? first : box;
      g_string_append_printf (out, "%d %.1f %.1f %.1f %.1f\n", box->kind,
                              (double) (box->rect.x - first->rect.x),
                              (double) (box->rect.y - first->rect.y), (double) box->rect.width,
                              (double) box->rect.height);
    }
  return g_string_free (out, FALSE);
}

static void
test_equal_groups (void)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (4, FALSE);
  g_autoptr (AdjScene) scene = lay_out (graph, NULL, NULL);

  for (AdjSide side = ADJ_SIDE_FORWARD; side <= ADJ_SIDE_BACKWARD; side++)
    {
      g_autofree char *one = describe_inside (scene, "h.1.attn", side);
      g_autofree char *two = describe_inside (scene, "h.2.attn", side);

      g_assert_cmpuint (strlen (one), >, 100);
      g_assert_cmpstr (one, ==, two);
      g_assert_cmpuint (adj_scene_get_box (scene, find_group (scene, "h.1.attn", side))->n_same, >=,
                        2);
    }
}

static void
test_fold_moves_rows (void)
{
  static const char *const folded[] = { "h.1", NULL };
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (4, TRUE);
  AdjLayoutOptions options = { .folded = folded };
  g_autoptr (AdjScene) open = lay_out (graph, NULL, NULL);
  g_autoptr (AdjScene) closed = lay_out (graph, &options, NULL);
  const AdjSceneBox *box = adj_scene_get_box (closed, find_group (closed, "h.1", ADJ_SIDE_FORWARD));

  g_assert_cmpint (box->fold, ==, ADJ_FOLD_CLOSED);
  g_assert_cmpuint (box->n_nodes, >=, 70);
  for (guint layer = 0; layer < 4; layer++)
    {
      g_autofree char *path = g_strdup_printf ("h.%u.attn", layer);
      g_autofree char *before = NULL, *after = NULL;

      if (layer == 1)
        continue;
      before = describe_inside (open, path, ADJ_SIDE_FORWARD);
      after = describe_inside (closed, path, ADJ_SIDE_FORWARD);
      g_assert_cmpstr (before, ==, after);
    }
}

static void
test_unfold (void)
{
  static const char *const unfolded[] = { "h.0", NULL };
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (3, FALSE);
  AdjLayoutOptions options = { .fold_depth = 1, .unfolded = unfolded };
  g_autoptr (AdjScene) scene = lay_out (graph, &options, NULL);

  g_assert_cmpint (adj_scene_get_box (scene, find_group (scene, "h.0", ADJ_SIDE_FORWARD))->fold, ==,
                   ADJ_FOLD_OPEN);
  g_assert_cmpint (adj_scene_get_box (scene, find_group (scene, "h.2", ADJ_SIDE_FORWARD))->fold, ==,
                   ADJ_FOLD_CLOSED);
}

static void
assert_same (const AdjScene *a, const AdjScene *b)
{
  g_assert_cmpuint (adj_scene_get_n_boxes (a), ==, adj_scene_get_n_boxes (b));
  g_assert_cmpuint (adj_scene_get_n_edges (a), ==, adj_scene_get_n_edges (b));
  for (guint i = 0; i < adj_scene_get_n_boxes (a); i++)
    {
      const AdjSceneBox *x = adj_scene_get_box (a, i), *y = adj_scene_get_box (b, i);

      g_assert_cmpmem (&x->rect, sizeof x->rect, &y->rect, sizeof y->rect);
      g_assert_cmpstr (x->title, ==, y->title);
    }
  for (guint i = 0; i < adj_scene_get_n_edges (a); i++)
    {
      const AdjSceneEdge *x = adj_scene_get_edge (a, i), *y = adj_scene_get_edge (b, i);

      g_assert_cmpmem (x->points, x->n_points * sizeof *x->points, y->points,
                       y->n_points * sizeof *y->points);
    }
}

static void
test_deterministic (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "joint");
  g_autoptr (AdjLayoutCache) memory = adj_layout_cache_new (folder->path);
  g_autoptr (AdjLayoutCache) disk = adj_layout_cache_new (folder->path);
  g_autoptr (AdjScene) first = lay_out (graph, NULL, NULL);
  g_autoptr (AdjScene) fresh = lay_out (graph, NULL, memory);
  g_autoptr (AdjScene) kept = lay_out (graph, NULL, memory);
  g_autoptr (AdjScene) read = NULL;

  /* A cached layout does not need the helper. */
  g_autofree char *helper = g_strdup (g_getenv ("ADJ_LAYOUT_HELPER"));
  g_setenv ("ADJ_LAYOUT_HELPER", "/nonexistent", TRUE);
  read = lay_out (graph, NULL, disk);
  g_setenv ("ADJ_LAYOUT_HELPER", helper, TRUE);
  assert_same (first, fresh);
  assert_same (first, kept);
  assert_same (first, read);
}

/* A joint graph, checked against PyTorch's own print of it. */
static void
test_mlp (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  g_autoptr (AdjScene) scene = lay_out (graph, NULL, NULL);
  static const struct
  {
    const char *node;
    AdjSide side;
    AdjRole role;
  } rows[] = {
    { "addmm", ADJ_SIDE_FORWARD, ADJ_ROLE_NONE },
    { "relu", ADJ_SIDE_FORWARD, ADJ_ROLE_SAVED },
    { "gelu", ADJ_SIDE_FORWARD, ADJ_ROLE_SAVED },
    { "gelu_backward", ADJ_SIDE_BACKWARD, ADJ_ROLE_NONE },
    { "mm_3", ADJ_SIDE_BACKWARD, ADJ_ROLE_GRADIENT },
    { "primals_3", ADJ_SIDE_FORWARD, ADJ_ROLE_PLACEHOLDER },
    { "tangents_1", ADJ_SIDE_BACKWARD, ADJ_ROLE_PLACEHOLDER },
    { "output", ADJ_SIDE_FORWARD, ADJ_ROLE_OUTPUT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjNodeId id = adj_graph_find_node (graph, rows[i].node);
      const AdjSceneBox *box = adj_scene_get_box (scene, adj_scene_find_node (scene, id));

      g_assert_cmpuint (box->node.index, ==, id.index);
      g_assert_cmpint (box->side, ==, rows[i].side);
      g_assert_cmpint (box->role, ==, rows[i].role);
    }

  /* Saved: relu, addmm_1 and gelu 8×32, tanh and _log_softmax 8×10, all f32, and the total
   * weight of the loss, one f32.  The input 8×16 and the target are counted separately. */
  g_assert_cmpint (adj_scene_get_saved_bytes (scene), ==, (3 * 8 * 32 + 2 * 8 * 10 + 1) * 4);
  /* A view is part of its base's box; a parameter is a chip. */
  g_assert_cmpuint (adj_scene_find_node (scene, adj_graph_find_node (graph, "detach")), ==,
                    adj_scene_find_node (scene, adj_graph_find_node (graph, "relu")));
  g_assert_cmpint (adj_scene_get_box (
                       scene, adj_scene_find_node (scene, adj_graph_find_node (graph, "primals_1")))
                       ->kind,
                   ==, ADJ_BOX_CHIP);
  g_assert_cmpuint (
      adj_scene_get_counterpart (scene, adj_graph_find_node (graph, "threshold_backward")).index,
      ==, adj_graph_find_node (graph, "relu").index);
}

/* Forward runs downwards and backward upwards. */
static void
test_direction (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "joint");
  g_autoptr (AdjScene) scene = lay_out (graph, NULL, NULL);
  guint n = 0;

  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);
      const AdjRect *from = &adj_scene_get_box (scene, edge->from)->rect;
      const AdjRect *to = &adj_scene_get_box (scene, edge->to)->rect;

      if (edge->kind == ADJ_EDGE_DATA || edge->kind == ADJ_EDGE_BLOCK)
        g_assert_cmpfloat (from->y, <, to->y);
      else if (edge->kind == ADJ_EDGE_GRADIENT)
        g_assert_cmpfloat (from->y, >, to->y);
      else
        g_assert_cmpfloat (from->x, <, to->x);
      n += edge->kind == ADJ_EDGE_GRADIENT;
    }
  g_assert_cmpuint (n, >, 50);
}

/* y = gelu (x), recomputed in backward, as activation checkpointing does. */
static void
test_recompute_copy (void)
{
  static const gint64 sizes[] = { 8, 32 };
  g_autoptr (AdjBuilder) builder = adj_builder_new ("joint", NULL, adj_op_find);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .storage = -1 };
  AdjNodeMeta seq = ADJ_NODE_META_INIT;
  AdjValue items[2], args[3];
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_CALL_FUNCTION, .meta = &seq, .origin = ADJ_NO_NODE };
  AdjNodeId x, tangent, gelu, copy, mul, relu;
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjScene) scene = NULL;
  g_autoptr (GError) error = NULL;
  guint n_threads = 0;

  adj_shape_init_ints (&meta.shape, 2, sizes);
  spec.val = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta };
  x = adj_builder_placeholder (builder, "primals_1", &meta);
  tangent = adj_builder_placeholder (builder, "tangents_1", &meta);
  items[0] = ADJ_NODE (x);
  spec.args = adj_value_new_items (ADJ_VALUE_TUPLE, items, 1);
  spec.target = "torch.ops.aten.gelu.default";
  seq.seq_nr = 4;
  gelu = adj_builder_add (builder, &spec);
  items[0] = ADJ_NODE (gelu);
  relu = adj_builder_call (builder, "torch.ops.aten.relu.default", items, 1);
  items[0] = ADJ_NODE (tangent);
  mul = adj_builder_call (builder, "torch.ops.aten.neg.default", items, 1);
  copy = adj_builder_add (builder, &spec);
  items[0] = ADJ_NODE (mul);
  items[1] = ADJ_NODE (copy);
  mul = adj_builder_call (builder, "torch.ops.aten.mul.Tensor", items, 2);
  args[0] = ADJ_NODE (relu);
  args[1] = ADJ_NODE (mul);
  args[2] = ADJ_NONE;
  items[0] = adj_value_new_items (ADJ_VALUE_LIST, args, 3);
  adj_builder_output (builder, &items[0]);
  adj_value_clear (&items[0]);
  adj_value_clear (&spec.args);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);

  scene = lay_out (graph, NULL, NULL);
  check_scene (scene, graph);
  g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, copy))->role, ==,
                   ADJ_ROLE_RECOMPUTE_COPY);
  g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, copy))->side, ==,
                   ADJ_SIDE_BACKWARD);
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);

      n_threads += edge->kind == ADJ_EDGE_RECOMPUTE &&
                   edge->from == adj_scene_find_node (scene, gelu) &&
                   edge->to == adj_scene_find_node (scene, copy);
    }
  g_assert_cmpuint (n_threads, ==, 1);
  /* Only the input is kept, which exists anyway. */
  g_assert_cmpint (adj_scene_get_saved_bytes (scene), ==, 0);
}

static void
with_helper (const char *program, AdjGraph *graph)
{
  g_autofree char *helper = g_strdup (g_getenv ("ADJ_LAYOUT_HELPER"));
  g_autoptr (AdjScene) scene = NULL;

  g_setenv ("ADJ_LAYOUT_HELPER", program, TRUE);
  scene = lay_out (graph, NULL, NULL);
  g_setenv ("ADJ_LAYOUT_HELPER", helper, TRUE);
  check_scene (scene, graph);
}

static char *
make_script (const AdjTestFolder *folder, const char *text)
{
  char *path = g_build_filename (folder->path, "helper", NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, &error);
  g_assert_no_error (error);
  return path;
}

static void
test_bad_helpers (void)
{
  static const char *const scripts[] = {
    "#!/bin/sh\nexit 3\n",
    "#!/bin/sh\nhead -c 100 /dev/zero\n",
    "#!/bin/sh\nprintf '\\377\\377\\377\\377nonsense'\nexec sleep 9\n",
    "#!/bin/sh\nexec head -c 3000 /dev/urandom\n",
    "#!/bin/sh\nexec sleep 9\n",
  };
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  with_helper ("/nonexistent", graph);
  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autofree char *path = make_script (folder, scripts[i]);

      g_test_message ("%s", scripts[i]);
      with_helper (path, graph);
    }
}

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (50 * 1000);
  g_cancellable_cancel (data);
  return NULL;
}

/* The helper blocks until it is killed; unless the layout is cancelled, it is started for every
 * block. */
static void
test_cancel (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path =
      make_script (folder, "#!/bin/sh\necho >> \"$(dirname \"$0\")/starts\"\nexec sleep 9\n");
  g_autofree char *starts = g_build_filename (folder->path, "starts", NULL);
  g_autofree char *helper = g_strdup (g_getenv ("ADJ_LAYOUT_HELPER"));
  g_autofree char *started = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GThread *thread;

  g_setenv ("ADJ_LAYOUT_HELPER", path, TRUE);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (adj_layout_mirror (graph, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  if (g_file_get_contents (starts, &started, NULL, NULL))
    g_assert_cmpuint (strlen (started), <=, 2);
  g_clear_error (&error);
  g_assert_null (adj_layout_mirror (graph, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_setenv ("ADJ_LAYOUT_HELPER", helper, TRUE);
}

static void
refuse_progress (guint done, guint total, guint n_equal, gpointer data)
{
  g_assert_not_reached ();
}

/* Of stages that could share their places no block is laid out. */
static void
test_cancel_stages (void)
{
  g_autoptr (AdjGraph) joint = adj_test_load_graph ("mlp", "joint");
  g_autoptr (AdjGraph) same = adj_test_load_graph ("mlp", "joint");
  AdjGraph *const stages[] = { joint, same };
  AdjLayoutOptions options = { .stages = stages,
                               .n_stages = G_N_ELEMENTS (stages),
                               .progress = refuse_progress };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (adj_layout_mirror (joint, &options, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
count_progress (guint done, guint total, guint n_equal, gpointer data)
{
  guint *last = data;

  g_assert_cmpuint (done, <=, total);
  g_assert_cmpuint (done, >=, last[0]);
  last[0] = done;
  last[1] = total;
  last[2] = n_equal;
}

/* Blocks of equal layers are laid out once. */
static void
test_progress (void)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (20, FALSE);
  guint last[3] = { 0 };
  AdjLayoutOptions options = { .progress = count_progress, .progress_data = last };
  g_autoptr (AdjScene) scene = lay_out (graph, &options, NULL);

  g_assert_cmpuint (last[0], ==, last[1]);
  g_assert_cmpuint (last[1], >, 0);
  g_assert_cmpuint (last[1], <, 20);
  g_assert_cmpuint (last[2], >, 60);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/mirror/captures", test_captures);
  g_test_add_func ("/layout/mirror/random", test_random);
  g_test_add_func ("/layout/mirror/layers", test_layers);
  g_test_add_func ("/layout/mirror/many-readers", test_many_readers);
  g_test_add_func ("/layout/mirror/mlp", test_mlp);
  g_test_add_func ("/layout/mirror/forward-down-backward-up", test_direction);
  g_test_add_func ("/layout/mirror/equal-groups-look-equal", test_equal_groups);
  g_test_add_func ("/layout/mirror/fold-moves-rows-only", test_fold_moves_rows);
  g_test_add_func ("/layout/mirror/unfold", test_unfold);
  g_test_add_func ("/layout/mirror/deterministic", test_deterministic);
  g_test_add_func ("/layout/mirror/recompute-copy", test_recompute_copy);
  g_test_add_func ("/layout/mirror/bad-helpers", test_bad_helpers);
  g_test_add_func ("/layout/mirror/cancel", test_cancel);
  g_test_add_func ("/layout/mirror/cancel-stages", test_cancel_stages);
  g_test_add_func ("/layout/mirror/progress", test_progress);
  return g_test_run ();
}
