/* SPDX-License-Identifier: MIT */
/* Sessions: random inputs, runs, comparisons with values of other graphs, tolerances. */

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

/* Graphs as a user would paste them: a bundle with one graph and no recorded call. */
static AdjBundle *
paste (const char *arguments, const char *body)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, %s):\n%s",
                                           arguments, body);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjBundleGraph entry = { .id = "pasted", .title = "pasted", .role = "user", .rank = -1 };

  entry.graph = graph;
  adj_bundle_builder_add_graph (builder, &entry, &error);
  g_assert_no_error (error);
  return adj_bundle_builder_end (builder, NULL);
}

static AdjSessionRun
run_of (AdjBundle *bundle, const char *id)
{
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_find_graph (bundle, id, &error) };

  g_assert_no_error (error);
  return run;
}

static void
free_inputs (AdjValue *inputs, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

/* -- random inputs -- */

#define FEW                                                                                        \
  "x: \"f32[100, 100][100, 1]cpu\", t: \"i64[50][1]cpu\", b: \"b8[4][1]cpu\", "                    \
  "h: \"bf16[3, s0][s0, 1]cpu\", s0: \"Sym(s0)\""

/* The mean of n normal draws is within 5/√n of 0, of their squares within 5√(2/n) of 1. */
static void
test_draws (void)
{
  g_autoptr (AdjBundle) bundle = paste (FEW, "        return (x,)\n");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  g_autoptr (GError) error = NULL;
  double sum = 0, squares = 0;
  guint n;
  AdjSymbol s0 = { .name = "s0", .hint = 7, .min = 2, .max = 100 };
  AdjValue *inputs;

  adj_symbols_define (adj_graph_get_symbols (graph), &s0);
  inputs = adj_session_random_inputs (graph, 1, &n, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 5);
  for (guint i = 0; i < 10000; i++)
    {
      double x = adj_tensor_data_get_double (inputs[0].data, i);

      sum += x;
      squares += x * x;
    }
  g_assert_cmpfloat (fabs (sum / 10000), <, 5 / 100.0);
  g_assert_cmpfloat (fabs (squares / 10000 - 1), <, 5 * sqrt (2 / 10000.0));
  for (guint i = 0; i < 50; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (inputs[1].data, i), >=, 0);
  g_assert_cmpint (adj_tensor_data_get_meta (inputs[1].data)->dtype, ==, ADJ_DTYPE_I64);
  g_assert_cmpint (adj_tensor_data_get_meta (inputs[2].data)->dtype, ==, ADJ_DTYPE_BOOL);
  g_assert_cmpint (adj_tensor_data_get_meta (inputs[3].data)->dtype, ==, ADJ_DTYPE_BF16);
  g_assert_cmpint (adj_tensor_data_get_numel (inputs[3].data), ==, 21);
  g_assert_cmpint (inputs[4].kind, ==, ADJ_VALUE_INT);
  g_assert_cmpint (inputs[4].integer, ==, 7);
  free_inputs (inputs, n);
}

static void
test_seed_decides (void)
{
  g_autoptr (AdjBundle) bundle =
      paste ("x: \"f32[8][1]cpu\", y: \"f32[8][1]cpu\"", "        return (x,)\n");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  guint n;
  AdjValue *first = adj_session_random_inputs (graph, 1, &n, NULL);
  AdjValue *again = adj_session_random_inputs (graph, 1, &n, NULL);
  AdjValue *other = adj_session_random_inputs (graph, 2, &n, NULL);

  for (guint i = 0; i < n; i++)
    {
      GBytes *bytes = adj_tensor_data_get_bytes (first[i].data);

      g_assert_true (g_bytes_equal (bytes, adj_tensor_data_get_bytes (again[i].data)));
      g_assert_false (g_bytes_equal (bytes, adj_tensor_data_get_bytes (other[i].data)));
    }
  g_assert_false (g_bytes_equal (adj_tensor_data_get_bytes (first[0].data),
                                 adj_tensor_data_get_bytes (first[1].data)));
  free_inputs (first, n);
  free_inputs (again, n);
  free_inputs (other, n);
}

static void
test_unknown_input (void)
{
  g_autoptr (AdjBundle) bundle = paste ("x: \"f32[8][1]cpu\", mystery", "        return (x,)\n");
  g_autoptr (GError) error = NULL;
  guint n;

  g_assert_null (
      adj_session_random_inputs (adj_bundle_get_graph (bundle, 0)->graph, 1, &n, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "'mystery'"));
}

/* -- runs -- */

#define PLUS(value)                                                                                \
  "        relu: \"f32[3][1]cpu\" = torch.ops.aten.relu.default(x);  x = None\n"                   \
  "        add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(relu, " value ");  relu = None\n"     \
  "        return (add,)\n"

static void
count_progress (guint done, guint total, gpointer data)
{
  guint *last = data;

  g_assert_cmpuint (done, >=, last[0]);
  last[0] = done;
  last[1] = total;
}

static void
test_keeps_values (void)
{
  g_autoptr (AdjBundle) bundle = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (GError) error = NULL;
  guint progress[2] = { 0 };
  AdjSessionRun run = run_of (bundle, "pasted");
  AdjRunResult result = { 0 };

  run.random = TRUE;
  run.seed = 5;
  run.progress = count_progress;
  run.data = progress;
  g_assert_true (adj_session_run (&run, &result, values, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (progress[0], ==, progress[1]);
  g_assert_cmpuint (progress[1], >, 0);
  for (guint i = 0; i < 3; i++)
    {
      double x = adj_tensor_data_get_double (g_hash_table_lookup (values, "x"), i);
      double relu = adj_tensor_data_get_double (g_hash_table_lookup (values, "relu"), i);
      double add = adj_tensor_data_get_double (result.output.items[0].data, i);

      g_assert_cmpfloat (relu, ==, x > 0 ? x : 0);
      g_assert_cmpfloat (add, ==, (float) (relu + 1));
    }
  adj_run_result_clear (&result);
}

static void
check_refusal (const AdjSessionRun *run, GCancellable *cancellable, GQuark domain, gint code)
{
  g_autoptr (GError) error = NULL;
  AdjRunResult result = { 0 };

  g_assert_false (adj_session_run (run, &result, NULL, cancellable, &error));
  g_assert_error (error, domain, code);
  g_test_message ("%s", error->message);
}

static void
test_refuses (void)
{
  g_autoptr (AdjBundle) pasted = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  g_autoptr (AdjBundle) mlp = adj_test_load_capture ("mlp");
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  AdjSessionRun unrecorded = run_of (pasted, "pasted");
  AdjSessionRun later = run_of (mlp, "joint");
  AdjSessionRun large = run_of (mlp, "joint");
  AdjSessionRun good = run_of (mlp, "joint");
  AdjSessionRun few = run_of (mlp, "joint");
  AdjValue one = ADJ_INT (1);

  check_refusal (&unrecorded, NULL, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  later.call = 7;
  check_refusal (&later, NULL, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  large.memory_limit = 1000;
  check_refusal (&large, NULL, ADJ_ERROR, ADJ_ERROR_MEMORY);
  few.inputs = &one;
  few.n_inputs = 1;
  check_refusal (&few, NULL, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_cancellable_cancel (cancelled);
  check_refusal (&good, cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* -- comparisons -- */

static const char *
name_of (const AdjSessionRun *run, const AdjValueComparison *value)
{
  return adj_graph_get_node (run->graph->graph, value->node.index)->name;
}

static void
test_compares_graphs (void)
{
  g_autoptr (AdjBundle) one = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  g_autoptr (AdjBundle) two = paste ("x: \"f32[3][1]cpu\"", PLUS ("2"));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) same = NULL;
  g_autoptr (AdjComparison) other = NULL;
  AdjSessionRun a = run_of (one, "pasted");
  AdjSessionRun b = run_of (two, "pasted");

  a.random = TRUE;
  same = adj_session_compare (&a, &a, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (same->verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (same->first, ==, -1);

  other = adj_session_compare (&a, &b, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (other->verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (other->outputs[0].verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpfloat (fabs (other->outputs[0].difference.max_abs - 1), <, 1e-6);
  g_assert_cmpint (other->first, >=, 0);
  g_assert_cmpstr (name_of (&a, &other->nodes[other->first]), ==, "add");
}

/* What is computed twice, in other places and under other names is compared with what it is. */
static void
test_pairs_by_value (void)
{
  g_autoptr (AdjBundle) one = paste ("x: \"f32[3][1]cpu\", y: \"f32[3][1]cpu\"",
                                     "        add = torch.ops.aten.add.Tensor(x, 1)\n"
                                     "        mul = torch.ops.aten.mul.Tensor(add, y)\n"
                                     "        add_1 = torch.ops.aten.add.Tensor(x, 1)\n"
                                     "        sub = torch.ops.aten.sub.Tensor(add_1, 7)\n"
                                     "        return (mul, sub)\n");
  g_autoptr (AdjBundle) two = paste ("y: \"f32[3][1]cpu\", x: \"f32[3][1]cpu\"",
                                     "        add_1 = torch.ops.aten.mul.Tensor(y, 3)\n"
                                     "        mul = torch.ops.aten.add.Tensor(x, 1)\n"
                                     "        add = torch.ops.aten.mul.Tensor(mul, y)\n"
                                     "        sub = torch.ops.aten.sub.Tensor(mul, 8)\n"
                                     "        return (add, sub)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  AdjSessionRun a = run_of (one, "pasted");
  AdjSessionRun b = run_of (two, "pasted");

  a.random = TRUE;
  comparison = adj_session_compare (&a, &b, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (comparison->n_nodes, ==, 4);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (comparison->nodes[i].verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (comparison->first, ==, 3);
  g_assert_cmpstr (name_of (&a, &comparison->nodes[3]), ==, "sub");
  g_assert_cmpfloat (fabs (comparison->nodes[3].difference.max_abs - 1), <, 1e-6);
}

/* Tolerances that the user gives decide alone. */
static void
test_tolerances (void)
{
  g_autoptr (AdjBundle) one = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  g_autoptr (AdjBundle) two = paste ("x: \"f32[3][1]cpu\"", PLUS ("1.001"));
  g_autoptr (AdjComparison) loose = NULL;
  g_autoptr (AdjComparison) tight = NULL;
  AdjSessionRun a = run_of (one, "pasted");
  AdjSessionRun b = run_of (two, "pasted");

  a.random = TRUE;
  loose = adj_session_compare (&a, &b, FALSE, 0, 2e-3, NULL, NULL);
  tight = adj_session_compare (&a, &b, FALSE, 0, 5e-4, NULL, NULL);
  g_assert_cmpint (loose->verdict, ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (tight->verdict, ==, ADJ_VERDICT_DIFFERS);
}

/* A hook of another process gave what was recorded, whoever runs the graph, and wherever the
 * record is: in the same reading of the file or in another one. */
static void
test_hooks_of_both (void)
{
  g_autoptr (AdjBundle) one = adj_test_load_capture ("gpt2-hooks");
  g_autoptr (AdjBundle) two = adj_test_load_capture ("gpt2-hooks");
  AdjSessionRun a = run_of (one, "ca0-compiled_autograd");
  AdjBundle *const peers[] = { one, two };

  a.executor = adj_executor_find ("planned", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    {
      AdjSessionRun b = run_of (peers[i], "ca0-compiled_autograd");
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = NULL;

      b.executor = adj_executor_find ("interpreter", NULL);
      comparison = adj_session_compare (&a, &b, TRUE, NAN, NAN, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (comparison->verdict, <=, ADJ_VERDICT_WITHIN);
      g_assert_cmpint (comparison->first, ==, -1);
    }
}

/* Convolutions by fewer products: other bits than the interpreter's, and all within. */
static void
test_fast (void)
{
  g_autoptr (AdjBundle) pasted =
      paste ("x: \"f32[1, 128, 28, 28][100352, 784, 28, 1]cpu\", w: \"f32[128, 128, 3, 3][1152, 9, "
             "3, 1]cpu\", "
             "b: \"f32[128][1]cpu\", g: \"f32[1, 128, 28, 28][100352, 784, 28, 1]cpu\"",
             "        y = torch.ops.aten.convolution.default(x, w, b, [1, 1], [1, 1], [1, 1], "
             "False, [0, 0], 1)\n"
             "        d = torch.ops.aten.convolution_backward.default(g, x, w, [128], [1, 1], [1, "
             "1], [1, 1], "
             "False, [0, 0], 1, [True, True, True])\n"
             "        dx = d[0]\n"
             "        dw = d[1]\n"
             "        return (y, dx, dw)\n");
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;
  AdjSessionRun fast = run_of (pasted, "pasted"), exact = fast;

  fast.random = TRUE;
  fast.executor = adj_executor_find ("fast", NULL);
  exact.executor = adj_executor_find ("interpreter", NULL);
  comparison = adj_session_compare (&fast, &exact, FALSE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (comparison->n_outputs, ==, 3);
  for (guint i = 0; i < comparison->n_outputs; i++)
    g_assert_cmpint (comparison->outputs[i].verdict, ==, ADJ_VERDICT_WITHIN);
}

/* Distance of what @executor gives from a float64 run, in relative L2. */
static double
distance_of (AdjSessionRun run, const char *executor)
{
  AdjRunResult result = { 0 }, truth = { 0 };
  g_autoptr (GError) error = NULL;
  AdjTensorDifference difference;

  run.executor = adj_executor_find (executor, NULL);
  g_assert_true (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_no_error (error);
  run.executor = adj_executor_find ("interpreter", NULL);
  run.float64 = TRUE;
  g_assert_true (adj_session_run (&run, &truth, NULL, NULL, &error));
  g_assert_no_error (error);
  adj_tensor_compare (result.output.items[0].data, truth.output.items[0].data, &difference);
  adj_run_result_clear (&result);
  adj_run_result_clear (&truth);
  return difference.rel_l2;
}

/* Nothing is rounded to 16 bits between fused calls. */
static void
test_fast_rounds_once (void)
{
  g_autoptr (AdjBundle) pasted = paste ("x: \"bf16[1000][1]cpu\", y: \"bf16[1000][1]cpu\"",
                                        "        a = torch.ops.aten.mul.Tensor(x, y)\n"
                                        "        b = torch.ops.aten.add.Tensor(a, x)\n"
                                        "        c = torch.ops.aten.mul.Tensor(b, y)\n"
                                        "        return (c,)\n");
  AdjSessionRun run = run_of (pasted, "pasted");

  run.random = TRUE;
  g_assert_cmpfloat (distance_of (run, "planned"), ==, distance_of (run, "interpreter"));
  g_assert_cmpfloat (distance_of (run, "fast"), <, 0.8 * distance_of (run, "planned"));
}

static void
test_recorded_needs_a_call (void)
{
  g_autoptr (AdjBundle) pasted = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  AdjSessionRun run = run_of (pasted, "pasted");

  for (guint random = 0; random < 2; random++)
    {
      g_autoptr (GError) error = NULL;

      run.random = random != 0;
      g_assert_null (adj_session_compare_recorded (&run, FALSE, NAN, NAN, NULL, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
    }
}

static void
test_graphs_of_other_inputs (void)
{
  g_autoptr (AdjBundle) one = paste ("x: \"f32[3][1]cpu\"", PLUS ("1"));
  g_autoptr (AdjBundle) two = paste ("x: \"f32[3][1]cpu\", y", PLUS ("1"));
  g_autoptr (GError) error = NULL;
  AdjSessionRun a = run_of (one, "pasted");
  AdjSessionRun b = run_of (two, "pasted");

  a.random = TRUE;
  g_assert_null (adj_session_compare (&a, &b, TRUE, NAN, NAN, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
}

static void
add_graph (AdjBundleBuilder *builder, const char *role, const char *body)
{
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, x: \"f32[3][1]cpu\"):\n%s",
                                           body);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjBundleGraph entry = { .id = role, .title = role, .role = role, .rank = -1, .graph = graph };

  adj_bundle_builder_add_graph (builder, &entry, &error);
  g_assert_no_error (error);
}

#define N_GRAPHS 3

/* What is said of comparing the first of these graphs with a call put together from those of the
 * others. */
static char *
compare_joint (const char *const *bodies, guint n)
{
  static const char *const ids[N_GRAPHS] = { "joint", "forward", "backward" };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjRegion region = { .id = "0-0", .rank = -1, .n_graphs = n, .num_fwd_outputs = -1 };
  AdjValue number = ADJ_INT (1);
  AdjRecordedCall call = {
    .derived = TRUE, .n_inputs = 1, .inputs = &number, .n_outputs = 1, .outputs = &number
  };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;
  AdjSessionRun run;

  for (guint i = 0; i < n; i++)
    add_graph (builder, ids[i], bodies[i]);
  adj_bundle_builder_add_region (builder, &region, ids, &error);
  g_assert_no_error (error);
  adj_bundle_builder_add_call (builder, &call, "joint", &error);
  g_assert_no_error (error);
  bundle = adj_bundle_builder_end (builder, NULL);
  run = run_of (bundle, "joint");

  g_assert_null (adj_session_compare_recorded (&run, FALSE, NAN, NAN, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  return g_strdup (error->message);
}

/* The joint graph of a model that Inductor compiled: its forward had drawn from seeds. */
static void
test_other_draws (void)
{
  static const char *const bodies[] = {
    "        rand = torch.ops.aten.rand.default([3])\n        return (rand,)\n",
    "        seeds = torch.ops.prims.inductor_seeds.default(1, device(type='cpu'))\n"
    "        seed = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)\n"
    "        rand = torch.ops.prims.inductor_random.default([3], seed, 'rand')\n"
    "        return (rand,)\n",
  };
  g_autofree char *said = compare_joint (bodies, G_N_ELEMENTS (bodies));

  g_assert_cmpstr (said, ==,
                   "'joint' draws random numbers (node 'rand'), and what was recorded for it was "
                   "drawn otherwise, by 'forward': compare #forward+backward instead");
}

/* With a memory budget PyTorch recomputes a dropout, whose mask is another one then. */
static void
test_second_draw (void)
{
  static const char once[] =
      "        rand = torch.ops.aten.rand.default([3])\n        return (rand,)\n";
  static const char *const bodies[N_GRAPHS] = { once, once, once };
  g_autofree char *said = compare_joint (bodies, N_GRAPHS);

  g_assert_cmpstr (said, ==,
                   "'joint' draws node 'rand' once, and what was recorded for it was drawn again, "
                   "by 'backward', with other numbers: compare 'forward' and 'backward' instead");
}

static AdjTensorData *
make_three (double value)
{
  const gint64 size = 3;
  const float numbers[] = { (float) value, (float) value, (float) value };

  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, numbers, NULL);
}

/* What the joint graph recorded of "y". */
static AdjTensorData *
get_y (const char *node, gboolean float64, gpointer data)
{
  return g_str_equal (node, "y") && !float64 ? make_three (*(const double *) data) : NULL;
}

static void
add_call (AdjBundleBuilder *builder, const char *id, double input, double output)
{
  g_auto (AdjValue) in = ADJ_DATA (make_three (input));
  g_auto (AdjValue) out = ADJ_DATA (make_three (output));
  AdjRecordedCall call = { .n_inputs = 1, .inputs = &in, .n_outputs = 1, .outputs = &out };
  g_autoptr (GError) error = NULL;

  adj_bundle_builder_add_call (builder, &call, id, &error);
  g_assert_no_error (error);
}

#define COS_OF(y)                                                                                  \
  "        y = torch.ops.aten." y "\n"                                                             \
  "        z = torch.ops.aten.cos.default(y)\n        return (z,)\n"

/* The verdict on "y" of a backward that got @input where the joint graph got 1, and recorded
 * sin (@recorded). */
static AdjVerdict
judge_y (const char *body, double input, double recorded)
{
  static const char *const ids[] = { "joint", "backward" };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjRegion region = { .id = "0-0", .rank = -1, .n_graphs = 2, .num_fwd_outputs = -1 };
  double y = sin (recorded);
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;
  AdjSessionRun run;

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    add_graph (builder, ids[i], body);
  adj_bundle_builder_add_region (builder, &region, ids, &error);
  g_assert_no_error (error);
  add_call (builder, "joint", 1, cos (sin (1)));
  adj_bundle_builder_set_taps (builder, get_y, &y, NULL);
  add_call (builder, "backward", input, cos (sin (input)));
  bundle = adj_bundle_builder_end (builder, NULL);
  run = run_of (bundle, "backward");
  comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_graph_get_node (run.graph->graph, comparison->nodes[0].node.index)->name, ==,
                   "y");
  return comparison->nodes[0].verdict;
}

/* Between forward and backward the running statistics of a norm are written: what the joint graph
 * recorded of what depends on them is not what a backward gives that recomputes it. */
static void
test_written_between (void)
{
  const char *body = COS_OF ("sin.default(x)");

  g_assert_cmpint (judge_y (body, 1, 1), <=, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_y (body, 1, 1.1), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_y (body, 1.1, 1), <=, ADJ_VERDICT_WITHIN);
}

/* A backward that draws once more has other numbers than the joint graph, and is compared with its
 * own results. */
static void
test_drawn_in_backward (void)
{
  g_assert_cmpint (judge_y (COS_OF ("rand_like.default(x)"), 1, 1), <=, ADJ_VERDICT_WITHIN);
}

/* -- nodes alone -- */

static AdjRunResult
run_nodes (const AdjSessionRun *run, const char *names, AdjGraph **part, GError **error)
{
  g_auto (GStrv) nodes = g_strsplit (names, ",", -1);
  AdjRunResult result = { 0 };

  *part = NULL;
  adj_session_run_nodes (run, (const char *const *) nodes, part, &result, NULL, error);
  return result;
}

static void
assert_value (const AdjValue *result, GHashTable *values, const char *name)
{
  AdjTensorData *wanted = g_hash_table_lookup (values, name);

  g_assert_true (
      g_bytes_equal (adj_tensor_data_get_bytes (result->data), adj_tensor_data_get_bytes (wanted)));
}

/* Nodes with inputs between them, on the CPU and on a device, give what they give in the graph. */
static void
test_runs_nodes (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGpu) gpu = adj_gpu_open ("emulated", &error);
  AdjSessionRun run = run_of (bundle, "joint");
  AdjRunResult whole = { 0 };

  adj_session_run (&run, &whole, values, NULL, &error);
  g_assert_no_error (error);
  for (guint there = 0; there < 2; there++)
    {
      g_autoptr (AdjGraph) part = NULL;
      AdjRunResult result;

      run.executor = adj_executor_find (there ? "cuda" : "planned", NULL);
      run.gpu = there ? gpu : NULL;
      result = run_nodes (&run, "tanh,addmm_2,tanh_backward", &part, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (adj_graph_get_n_calls (part), ==, 3);
      g_assert_cmpuint (result.output.n, ==, 2);
      assert_value (&result.output.items[0], values, "tanh");
      assert_value (&result.output.items[1], values, "tanh_backward");
      adj_run_result_clear (&result);
    }
  adj_run_result_clear (&whole);
}

static void
assert_refused_nodes (const char *body, const char *nodes, const char *message)
{
  g_autoptr (AdjBundle) bundle = paste ("x: \"f32[4][1]cpu\"", body);
  AdjSessionRun run = run_of (bundle, "pasted");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) part = NULL;

  run.random = TRUE;
  run_nodes (&run, nodes, &part, &error);
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_null (part);
}

static void
test_refuses_nodes (void)
{
  static const char body[] =
      "        y: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(x)\n"
      "        r: \"f32[4][1]cpu\" = torch.ops.aten.rand_like.default(y)\n"
      "        both = torch.ops.aten.sort.default(y)\n"
      "        first: \"f32[4][1]cpu\" = both[0]\n"
      "        written: \"f32[4][1]cpu\" = torch.ops.aten.add_.Tensor(y, r)\n"
      "        late: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(y)\n"
      "        return (first, late)\n";
  static const char *const writes[] = { "y += 1;  w = y;  y = None", "y[0] = 1;  w = y;  y = None",
                                        "w = y.mul_(2)",
                                        "w = torch.nn.functional.relu(y, inplace = True)" };

  assert_refused_nodes (body, "y,nobody", "there is no node 'nobody'");
  assert_refused_nodes (
      body, "r", "'r' cannot run alone: it is not a call that depends on its arguments only");
  assert_refused_nodes (body, "first",
                        "'first' reads 'both', which is not one tensor: select it, too");
  assert_refused_nodes (body, "late",
                        "nodes cannot run alone after 'written', which writes to its argument");
  for (guint i = 0; i < G_N_ELEMENTS (writes); i++)
    {
      g_autofree char *text = g_strdup_printf ("        y = torch.sin(x)\n"
                                               "        %s\n"
                                               "        late = torch.cos(w)\n"
                                               "        return (late,)\n",
                                               writes[i]);

      assert_refused_nodes (
          text, "w", "'w' cannot run alone: it is not a call that depends on its arguments only");
      assert_refused_nodes (text, "late",
                            "nodes cannot run alone after 'w', which writes to its argument");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/random-inputs/fit-their-annotations", test_draws);
  g_test_add_func ("/session/random-inputs/the-seed-decides", test_seed_decides);
  g_test_add_func ("/session/random-inputs/unknown-is-named", test_unknown_input);
  g_test_add_func ("/session/run/keeps-every-value", test_keeps_values);
  g_test_add_func ("/session/run/refuses", test_refuses);
  g_test_add_func ("/session/run/nodes-alone", test_runs_nodes);
  g_test_add_func ("/session/run/refuses-nodes", test_refuses_nodes);
  g_test_add_func ("/session/compare/finds-where-graphs-part", test_compares_graphs);
  g_test_add_func ("/session/compare/pairs-by-value", test_pairs_by_value);
  g_test_add_func ("/session/compare/tolerances-decide", test_tolerances);
  g_test_add_func ("/session/compare/fast", test_fast);
  g_test_add_func ("/session/compare/fast-rounds-once", test_fast_rounds_once);
  g_test_add_func ("/session/compare/hooks-of-both", test_hooks_of_both);
  g_test_add_func ("/session/compare/recorded-needs-a-call", test_recorded_needs_a_call);
  g_test_add_func ("/session/compare/graphs-of-other-inputs", test_graphs_of_other_inputs);
  g_test_add_func ("/session/compare/other-random-numbers", test_other_draws);
  g_test_add_func ("/session/compare/drawn-twice", test_second_draw);
  g_test_add_func ("/session/compare/written-between", test_written_between);
  g_test_add_func ("/session/compare/drawn-in-backward", test_drawn_in_backward);

  return g_test_run ();
}
