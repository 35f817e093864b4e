/* SPDX-License-Identifier: MIT */

/* Layers of current models: decomposed norms, gates, buffers that each call updates.  Logs
 * without names give pictures as good as those with names. */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/layout-metrics.h"
#include "support/pictured-graphs.h"

#define N_LAYERS 12
#define AS_GOOD 1.25f

/* Appends a line of layer @layer in its module @module. */
static void
add (GString *text, guint layer, const char *module, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append (text, "        ");
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
  g_string_append_printf (text, "  # adj: {modules: [('layers.%u', 'Layer')", layer);
  if (*module != '\0')
    g_string_append_printf (text, ", ('layers.%u.%s', 'Part')", layer, module);
  g_string_append (text, "]}\n");
}

#define X "\"f32[4, 8][8, 1]cpu\""
#define ONE "\"f32[4, 1][1, 1]cpu\""

/* x · rsqrt (mean (x²) + ε) · w, then a gated product, with residual connections around both. */
static void
add_layer (GString *text, guint i)
{
  add (text, i, "norm", "pow_%u: " X " = torch.ops.aten.pow.Tensor_Scalar(x_%u, 2)", i, i);
  add (text, i, "norm", "mean_%u: " ONE " = torch.ops.aten.mean.dim(pow_%u, [-1], True)", i, i);
  add (text, i, "norm", "eps_%u: " ONE " = torch.ops.aten.add.Tensor(mean_%u, 1e-06)", i, i);
  add (text, i, "norm", "rsqrt_%u: " ONE " = torch.ops.aten.rsqrt.default(eps_%u)", i, i);
  add (text, i, "norm", "even_%u: " X " = torch.ops.aten.mul.Tensor(x_%u, rsqrt_%u)", i, i, i);
  add (text, i, "norm", "norm_%u: " X " = torch.ops.aten.mul.Tensor(even_%u, w_%u)", i, i, i);
  add (text, i, "gate", "gate_%u: " X " = torch.ops.aten.mm.default(norm_%u, a_%u)", i, i, i);
  add (text, i, "", "silu_%u: " X " = torch.ops.aten.silu.default(gate_%u)", i, i);
  add (text, i, "up", "up_%u: " X " = torch.ops.aten.mm.default(norm_%u, b_%u)", i, i, i);
  add (text, i, "", "both_%u: " X " = torch.ops.aten.mul.Tensor(silu_%u, up_%u)", i, i, i);
  add (text, i, "down", "down_%u: " X " = torch.ops.aten.mm.default(both_%u, c_%u)", i, i, i);
  add (text, i, "", "x_%u: " X " = torch.ops.aten.add.Tensor(x_%u, down_%u)", i + 1, i, i);
}

/* (transfer full): the forward graph; @writes: each layer updates a mean, written at the end */
static AdjGraph *
make_forward (gboolean writes)
{
  g_autoptr (GString) text = g_string_new ("class Layers(torch.nn.Module):\n    def forward(self");

  g_string_append (text, ", x_0: " X);
  for (guint i = 0; i < N_LAYERS; i++)
    g_string_append_printf (
        text,
        ", w_%u: \"f32[8][1]cpu\", a_%u: \"f32[8, 8][8, 1]cpu\", b_%u: \"f32[8, 8][8, 1]cpu\""
        ", c_%u: \"f32[8, 8][8, 1]cpu\", kept_%u: " ONE,
        i, i, i, i, i);
  g_string_append (text, "):\n");
  for (guint i = 0; i < N_LAYERS; i++)
    for (const char *name = "wabc"; *name != '\0'; name++)
      g_string_append_printf (text, "        # adj: %c_%u {requires_grad: True}\n", *name, i);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      add_layer (text, i);
      if (writes)
        add (text, i, "norm", "new_%u: " ONE " = torch.ops.aten.mul.Tensor(mean_%u, 0.5)", i, i);
    }
  for (guint i = 0; i < N_LAYERS && writes; i++)
    g_string_append_printf (
        text, "        copy_%u: " ONE " = torch.ops.aten.copy_.default(kept_%u, new_%u)\n", i, i,
        i);
  g_string_append_printf (text, "        return (x_%u,)\n", N_LAYERS);
  return adj_test_parse_graph (text->str);
}

static AdjScene *
lay_out (AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  AdjScene *scene = adj_layout_mirror (graph, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return scene;
}

static AdjLayoutMetrics
measure (AdjGraph *graph)
{
  g_autoptr (AdjScene) scene = lay_out (graph);

  return adj_layout_metrics_take (scene, graph);
}

static void
test_log (gconstpointer log)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) forward = make_forward (FALSE);
  g_autoptr (AdjAotGraph) aot =
      adj_aot_trace_graph (forward, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);
  g_autoptr (AdjGraph) plain = NULL;
  AdjLayoutMetrics names, no_names;

  g_assert_no_error (error);
  plain = adj_test_through_log (adj_aot_graph_get_graph (aot), GPOINTER_TO_UINT (log));
  names = measure (adj_aot_graph_get_graph (aot));
  no_names = measure (plain);
  g_test_message ("p95 %.0f → %.0f, height %.0f → %.0f, crossings %" G_GUINT64_FORMAT
                  " → %" G_GUINT64_FORMAT,
                  (double) names.p95, (double) no_names.p95, (double) names.height,
                  (double) no_names.height, names.n_crossings, no_names.n_crossings);
  g_assert_cmpfloat (no_names.median, <=, AS_GOOD * names.median);
  g_assert_cmpfloat (no_names.p95, <=, AS_GOOD * names.p95);
  g_assert_cmpfloat (no_names.height, <=, AS_GOOD * names.height);
  g_assert_cmpfloat ((double) no_names.n_crossings, <=, AS_GOOD * (double) names.n_crossings);
  g_assert_cmpuint (no_names.n_outside, ==, 0);
}

static const AdjRect *
find_frame (const AdjScene *scene, const char *path)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && g_strcmp0 (box->path, path) == 0)
        return &box->rect;
    }
  g_error ("no frame of %s", path);
}

/* Writes at the end of the graph are placed beside the nodes that made the values, not in a
 * group at the end. */
static void
test_writes (void)
{
  g_autoptr (AdjGraph) graph = make_forward (TRUE);
  g_autoptr (AdjScene) scene = lay_out (graph);

  for (guint i = 0; i < N_LAYERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("copy_%u", i);
      g_autofree char *path = g_strdup_printf ("layers.%u", i);
      const AdjRect *frame = find_frame (scene, path);
      const AdjRect *card =
          &adj_scene_get_box (scene, adj_scene_find_node (scene, adj_graph_find_node (graph, name)))
               ->rect;

      g_assert_cmpfloat (card->y, >=, frame->y);
      g_assert_cmpfloat (card->y + card->height, <=, frame->y + frame->height);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/layout/layers/log-lines", GUINT_TO_POINTER (ADJ_TEST_LOG_LINES),
                        test_log);
  g_test_add_data_func ("/layout/layers/log-nothing", GUINT_TO_POINTER (ADJ_TEST_LOG_NOTHING),
                        test_log);
  g_test_add_func ("/layout/layers/writes", test_writes);
  return g_test_run ();
}
