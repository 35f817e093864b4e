/* SPDX-License-Identifier: MIT */
/* The GPU executor on an emulated GPU: results, reports, and that each failure gives one
 * sentence and leaves everything usable. */

#include <gio/gio.h>
#include <string.h>

#include "call/adj-generator.h"
#include "emulated-gpu.h"
#include "ir/adj-graph.h"
#include "session/adj-session.h"
#include "support/adj-test.h"
#include "support/graphs.h"

/* -- captures -- */

/* Every bundled capture that runs, with its graphs. */
#define STAGES                                                                                     \
  {                                                                                                \
    "dynamo", "joint", "forward", "backward"                                                       \
  }

static const struct
{
  const char *name;
  const char *graphs[4];
} captures[] = {
  { "mlp", STAGES },
  { "dropout", STAGES },
  { "resnet-block", STAGES },
  { "lstm", STAGES },
  { "gpt2", STAGES },
  { "sac", STAGES },
  { "llama", STAGES },
  { "unet", STAGES },
  { "gpt2-inductor", STAGES },
  { "mlp-ddp", { "r0-ca0-compiled_autograd", "r0-ca1-compiled_autograd" } },
};

/* Compares node by node, like `compare X@interpreter X@cuda --nodes`. */
static void
test_capture (gconstpointer data)
{
  guint k = GPOINTER_TO_UINT (data);
  const char *const *graphs = captures[k].graphs;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (captures[k].name);
  g_autoptr (AdjGpu) gpu = emulated_gpu_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (captures[k].graphs) && graphs[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      AdjSessionRun a = { .bundle = bundle,
                          .graph = adj_bundle_find_graph (bundle, graphs[i], &error),
                          .executor = adj_executor_find ("interpreter", NULL) };
      AdjSessionRun b = a;
      AdjComparison *comparison;

      g_assert_no_error (error);
      b.executor = adj_executor_find ("cuda", NULL);
      b.gpu = gpu;
      comparison = adj_session_compare (&a, &b, TRUE, NAN, NAN, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%s#%s: %u nodes, %s", captures[k].name, graphs[i], comparison->n_nodes,
                      comparison->peer_note);
      if (comparison->verdict == ADJ_VERDICT_DIFFERS)
        g_test_message ("first: %s", adj_graph_get_node (
                                         a.graph->graph,
                                         comparison->nodes[MAX (comparison->first, 0)].node.index)
                                         ->name);
      g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
      adj_comparison_free (comparison);
    }
}

/* -- one small graph -- */

static const char *const small =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[4, 8][8, 1]cpu\", w: \"f32[8, 8][8, 1]cpu\"):\n"
    "        mm: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.mm.default(x, w)\n"
    "        relu: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.relu.default(mm)\n"
    "        mul: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.mul.Tensor(relu, 2)\n"
    "        sum_1: \"f32[4][1]cpu\" = torch.ops.aten.sum.dim_IntList(mul, [1])\n"
    "        return (mul, sum_1)\n";

static AdjTensorData *
new_numbers (gint64 rows, gint64 columns)
{
  const gint64 sizes[] = { rows, columns };
  g_autofree float *numbers = g_new (float, rows *columns);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU };
  g_autoptr (GBytes) bytes = NULL;

  for (gint64 i = 0; i < rows * columns; i++)
    numbers[i] = (float) (i % 7) - 3;
  adj_shape_init_ints (&meta.shape, 2, sizes);
  bytes = g_bytes_new (numbers, (gsize) (rows * columns) * sizeof numbers[0]);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

typedef struct
{
  AdjGraph *graph;
  AdjValue inputs[2];
  AdjGpuRuntime *runtime;
  AdjGpu *gpu;
} Fixture;

static void
begin (Fixture *f, const AdjEmulation *emulation)
{
  f->graph = adj_test_parse_graph (small);
  f->inputs[0] = ADJ_DATA (new_numbers (4, 8));
  f->inputs[1] = ADJ_DATA (new_numbers (8, 8));
  f->gpu = emulated_gpu_new (emulation);
  f->runtime = adj_gpu_get_runtime (f->gpu);
}

/* Expects no allocations on the device except those that the device itself keeps. */
static void
end (Fixture *f)
{
  adj_graph_unref (f->graph);
  adj_value_clear (&f->inputs[0]);
  adj_value_clear (&f->inputs[1]);
  g_assert_cmpuint (adj_emulated_runtime_get_n_alive (f->runtime), ==, 0);
  adj_gpu_unref (f->gpu);
}

static gboolean
run_with (Fixture *f,
          const char *executor,
          AdjRunResult *result,
          GCancellable *cancellable,
          GError **error)
{
  const AdjRunRequest request = {
    .graph = f->graph, .inputs = f->inputs, .n_inputs = 2, .gpu = f->gpu
  };

  *result = (AdjRunResult){ 0 };
  return adj_executor_run (adj_executor_find (executor, NULL), &request, result, cancellable,
                           error);
}

static void
assert_same (const AdjValue *a, const AdjValue *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  for (guint i = 0; i < a->n; i++)
    g_assert_true (g_bytes_equal (adj_tensor_data_get_bytes (a->items[i].data),
                                  adj_tensor_data_get_bytes (b->items[i].data)));
}

/* The first run, later runs that reuse memory, and a captured CUDA graph give the same values. */
static void
test_runs_again (void)
{
  Fixture f;
  AdjRunResult wanted;
  GError *error = NULL;

  begin (&f, NULL);
  run_with (&f, "interpreter", &wanted, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 5; i++)
    {
      AdjRunResult result;

      run_with (&f, "cuda", &result, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("run %u: %s", i, result.note);
      assert_same (&wanted.output, &result.output);
      g_assert_cmpint (i >= 2, ==, strstr (result.note, "as one captured graph") != NULL);
      adj_run_result_clear (&result);
    }
  adj_run_result_clear (&wanted);
  end (&f);
}

/* -- faults -- */

static guint
run_four (Fixture *f, GError **error)
{
  guint n = 0;

  for (; n < 4; n++)
    {
      AdjRunResult result;

      if (!run_with (f, "cuda", &result, NULL, error))
        return n;
      adj_run_result_clear (&result);
    }
  return n;
}

static guint
count_calls (void)
{
  Fixture f;
  GError *error = NULL;
  guint n;

  begin (&f, NULL);
  run_four (&f, &error);
  g_assert_no_error (error);
  n = adj_emulated_runtime_get_n_calls (f.runtime);
  end (&f);
  return n;
}

/* Each driver call of four runs fails once: with an error of one sentence, or without effect if
 * the call is optional; later runs work. */
static void
test_fault (gconstpointer data)
{
  guint n = count_calls (), failed = 0;

  for (guint i = 1; i <= n; i++)
    {
      const AdjEmulation emulation = { .fail_at = i, .fault = GPOINTER_TO_UINT (data) };
      g_autoptr (GError) error = NULL;
      Fixture f;

      begin (&f, &emulation);
      if (run_four (&f, &error) < 4)
        {
          failed++;
          g_assert_true (error->domain == ADJ_ERROR);
          g_assert_null (strchr (error->message, '\n'));
          g_assert_nonnull (strstr (error->message, "the GPU fails at"));
          g_clear_error (&error);
        }
      adj_emulated_runtime_plan_fault (f.runtime, 0, ADJ_EMULATED_FAILS);
      g_assert_cmpuint (run_four (&f, &error), ==, 4);
      g_assert_no_error (error);
      end (&f);
    }
  g_test_message ("%u of %u calls fail the run", failed, n);
  g_assert_cmpuint (failed, >, 0);
}

/* -- what is told -- */

static void
test_full (void)
{
  const AdjEmulation emulation = { .memory_bytes = 1024 };
  GError *error = NULL;
  AdjRunResult result;
  Fixture f;

  begin (&f, &emulation);
  g_assert_false (run_with (&f, "cuda", &result, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
  g_assert_nonnull (strstr (error->message, "of the memory of emulated:0, 1 KiB are free there"));
  g_clear_error (&error);
  end (&f);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GError *error = NULL;
  AdjRunResult result;
  Fixture f;

  begin (&f, NULL);
  g_cancellable_cancel (cancellable);
  g_assert_false (run_with (&f, "cuda", &result, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (run_with (&f, "cuda", &result, NULL, &error));
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  end (&f);
}

/* Operators without a GPU kernel run on the CPU and are reported in one row, their copies in
 * another. */
static void
test_copies_are_told (void)
{
  GError *error = NULL;
  AdjRunResult result;
  guint n_copies = 0, n_on_cpu = 0;
  Fixture f;

  begin (&f, NULL);
  adj_graph_unref (f.graph);
  f.graph = adj_test_parse_graph (
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4, 8][8, 1]cpu\", w: \"f32[8, 8][8, 1]cpu\"):\n"
      "        mm: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.mm.default(x, w)\n"
      "        near: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten._cdist_forward.default(mm, w, 2.0, "
      "None)\n"
      "        return (near,)\n");
  run_with (&f, "cuda", &result, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < result.n_regions; i++)
    {
      n_copies += g_str_equal (result.regions[i].kind, "copies");
      n_on_cpu +=
          g_str_equal (result.regions[i].kind, "on cpu") &&
          g_str_equal (adj_graph_get_node (f.graph, result.regions[i].last.index)->name, "near");
    }
  g_assert_cmpuint (n_copies, >=, 1);
  g_assert_cmpuint (n_on_cpu, ==, 1);
  g_assert_nonnull (strstr (result.note, "the CPU ran"));
  adj_run_result_clear (&result);
  end (&f);
}

/* (transfer full): the result of the fixture's graph with random numbers from @seed; @of_gpu:
 * those of a GPU. */
static AdjValue
run_seeded (Fixture *f, const char *executor, guint64 seed, gboolean of_gpu, char **note)
{
  const gint64 n_philox = 2 * sizeof seed;
  guint64 philox[] = { GUINT64_TO_LE (seed), GUINT64_TO_LE (4) };
  const gint64 n = ADJ_GENERATOR_STATE_BYTES;
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_U8, .device = ADJ_CPU };
  g_autoptr (AdjGenerator) generator = adj_generator_new (seed);
  guint8 *state = g_malloc0 (ADJ_GENERATOR_STATE_BYTES);
  g_autoptr (GBytes) bytes = g_bytes_new_take (state, ADJ_GENERATOR_STATE_BYTES);
  g_auto (AdjValue) rng = ADJ_NONE;
  GError *error = NULL;
  AdjRunResult result = { 0 };
  AdjValue items[4], output;

  adj_generator_get_state (generator, state);
  adj_shape_init_ints (&meta.shape, 1, &n);
  items[0] = adj_value_new_string ("cpu");
  items[1] = ADJ_DATA (adj_tensor_data_new (&meta, bytes, NULL));
  items[2] = adj_value_new_string ("cuda:0");
  items[3] = ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_U8, &n_philox, 1, philox, NULL));
  rng = adj_value_new_items (ADJ_VALUE_DICT, items, 4);
  rng.n = of_gpu ? 4 : 2;
  adj_executor_run (
      adj_executor_find (executor, NULL),
      &(AdjRunRequest){
          .graph = f->graph, .inputs = f->inputs, .n_inputs = 2, .rng = &rng, .gpu = f->gpu },
      &result, NULL, &error);
  g_assert_no_error (error);
  rng.n = 4;
  *note = g_strdup (result.note);
  output = result.output;
  result.output = ADJ_NONE;
  adj_run_result_clear (&result);
  return output;
}

#define DRAWING(rest)                                                                              \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, x: \"f32[4, 8][8, 1]cpu\", w: \"f32[8, 8][8, 1]cpu\"):\n"                 \
  "        a: \"f32[500][1]cpu\" = torch.ops.aten.rand.default([500])\n"                           \
  "        b: \"f32[50][1]cpu\" = torch.ops.aten.randn.default([50])\n" rest

static const struct
{
  const char *name, *graph, *note;
  gboolean of_gpu;
} draws[] = {
  { "one-graph",
    DRAWING (
        "        drop = torch.ops.aten.native_dropout.default(w, 0.5, True)\n"
        "        kept: \"f32[8, 8][8, 1]cpu\" = drop[0];  mask: \"b8[8, 8][8, 1]cpu\" = drop[1]\n"
        "        i: \"i64[700][1]cpu\" = torch.ops.aten.randint.low(-3, 9, [700])\n"
        "        return (a, b, kept, mask, i)\n"),
    "as one captured graph" },
  { "in-turn",
    DRAWING ("        order: \"i64[9][1]cpu\" = torch.ops.aten.randperm.default(9)\n"
             "        u: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.uniform.default(x, -1.0, 2.0)\n"
             "        last: \"i64[9][1]cpu\" = torch.ops.aten.randperm.default(9)\n"
             "        return (a, b, order, u, last)\n"),
    "the CPU ran" },
  { "of-a-gpu",
    DRAWING (
        "        drop = torch.ops.aten.native_dropout.default(w, 0.5, True)\n"
        "        kept: \"f32[8, 8][8, 1]cpu\" = drop[0];  mask: \"b8[8, 8][8, 1]cpu\" = drop[1]\n"
        "        i: \"i64[700][1]cpu\" = torch.ops.aten.randint.low(-3, 9, [700])\n"
        "        u: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.uniform.default(x, -1.0, 2.0)\n"
        "        c: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.bernoulli.p(x, 0.3)\n"
        "        return (a, b, kept, mask, i, u, c)\n"),
    "as one captured graph", TRUE },
  { "of-a-gpu-in-turn",
    DRAWING ("        p: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.sigmoid.default(x)\n"
             "        c: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.bernoulli.default(p)\n"
             "        u: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.uniform.default(x, -1.0, 2.0)\n"
             "        e: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.exponential.default(x, 1.5)\n"
             "        last: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.rand_like.default(x)\n"
             "        return (a, b, c, u, e, last)\n"),
    "the CPU ran", TRUE },
};

/* Random numbers equal those of the recording on the CPU and the GPU, and are new in each run. */
static void
test_draws (gconstpointer data)
{
  guint k = GPOINTER_TO_UINT (data);
  Fixture f;

  begin (&f, NULL);
  adj_graph_unref (f.graph);
  f.graph = adj_test_parse_graph (draws[k].graph);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *by_cpu = NULL;
      g_autofree char *by_gpu = NULL;
      g_auto (AdjValue) wanted = run_seeded (&f, "planned", i, draws[k].of_gpu, &by_cpu);
      g_auto (AdjValue) got = run_seeded (&f, "cuda", i, draws[k].of_gpu, &by_gpu);

      g_test_message ("%s", by_gpu);
      assert_same (&wanted, &got);
      g_assert_true (i < 3 || strstr (by_gpu, draws[k].note) != NULL);
    }
  end (&f);
}

/* An index out of bounds gives the same error as on the CPU. */
static void
test_bad_index (void)
{
  const gint64 one = 1;
  gint64 index = 9;
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU };
  g_autoptr (GBytes) bytes = g_bytes_new (&index, sizeof index);
  g_autoptr (GError) by_cpu = NULL;
  g_autoptr (GError) by_gpu = NULL;
  AdjRunResult result;
  Fixture f;

  begin (&f, NULL);
  adj_graph_unref (f.graph);
  adj_value_clear (&f.inputs[0]);
  adj_shape_init_ints (&meta.shape, 1, &one);
  f.inputs[0] = ADJ_DATA (adj_tensor_data_new (&meta, bytes, NULL));
  f.graph = adj_test_parse_graph (
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, i: \"i64[1][1]cpu\", w: \"f32[8, 8][8, 1]cpu\"):\n"
      "        row: \"f32[1, 8][8, 1]cpu\" = torch.ops.aten.index_select.default(w, 0, i)\n"
      "        return (row,)\n");
  g_assert_false (run_with (&f, "planned", &result, NULL, &by_cpu));
  g_assert_false (run_with (&f, "cuda", &result, NULL, &by_gpu));
  g_assert_cmpstr (by_gpu->message, ==, by_cpu->message);
  end (&f);
}

int
main (int argc, char **argv)
{
  static const char *const faults[] = { "fails", "lost", "late" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/cuda/runs-again", test_runs_again);
  g_test_add_func ("/exec/cuda/full", test_full);
  g_test_add_func ("/exec/cuda/cancelled", test_cancelled);
  g_test_add_func ("/exec/cuda/copies-are-told", test_copies_are_told);
  g_test_add_func ("/exec/cuda/bad-index", test_bad_index);
  for (guint i = 0; i < G_N_ELEMENTS (draws); i++)
    {
      g_autofree char *path = g_strconcat ("/exec/cuda/draws/", draws[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_draws);
    }
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strconcat ("/exec/cuda/fault/", faults[i], NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_fault);
    }
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *path = g_strconcat ("/exec/cuda/capture/", captures[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_capture);
    }
  return g_test_run ();
}
