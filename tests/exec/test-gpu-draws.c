/* SPDX-License-Identifier: MIT */
/* Graphs recorded on a GPU draw the GPU's random numbers on every executor.  Expected values are
 * from PyTorch's issue 158398 (randn on an H100) and from issue 2926 of torch-xpu-ops (dropout
 * on a GeForce RTX 4080 Super). */

#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/gpu-numbers.h"
#include "support/graphs.h"

static const char *const executors[] = { "interpreter", "planned" };

/* (transfer full) */
static AdjTensorData *
make_state (guint64 seed, guint64 offset)
{
  const gint64 n = 16;
  guint64 state[] = { GUINT64_TO_LE (seed), GUINT64_TO_LE (offset) };

  return adj_tensor_data_new_from_array (ADJ_DTYPE_U8, &n, 1, state, NULL);
}

/* (transfer full): the result of @body with generator state @state on a GPU that holds
 * @n_threads threads; x: 40 ones. */
static AdjValue
run (const char *executor, const char *body, AdjTensorData *state, gint64 n_threads)
{
  g_autofree char *text = g_strconcat (
      "class G(torch.nn.Module):\n    def forward(self, x: \"f32[40]cuda:0\"):\n", body, NULL);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const gint64 n = 40;
  float ones[40];
  g_autoptr (AdjTensorData) x = NULL;
  AdjValue input,
      pair[] = { { .kind = ADJ_VALUE_STRING, .n = 6, .text = "cuda:0" }, ADJ_DATA (state) };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  AdjRunRequest request = { .graph = graph,
                            .inputs = &input,
                            .n_inputs = 1,
                            .rng = state != NULL ? &rng : NULL,
                            .gpu_threads = n_threads };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  AdjValue output;

  for (guint i = 0; i < G_N_ELEMENTS (ones); i++)
    ones[i] = 1;
  x = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &n, 1, ones, NULL);
  input = ADJ_DATA (x);
  if (!adj_executor_run (adj_executor_find (executor, NULL), &request, &result, NULL, &error))
    return adj_value_new_string (error->message);
  output = adj_value_copy (&result.output);
  adj_run_result_clear (&result);
  return output;
}

/* (transfer full): output @i as doubles */
static double *
read_output (const AdjValue *output, guint i, gint64 n)
{
  double *numbers = g_new (double, n);

  g_assert_true (adj_value_is_container (output));
  adj_tensor_data_read_doubles (output->items[i].data, numbers);
  return numbers;
}

static void
check_near (double found, double printed)
{
  g_assert_cmpfloat_with_epsilon (found, printed, 5.1e-5);
}

#define ON_GPU "dtype = torch.float32, device = device(type='cuda', index=0), pin_memory = False"

/* torch.randn([1, 64, 2048]) with seed 42; PyTorch prints three numbers at each end of a row. */
static void
draws_normal (gconstpointer executor)
{
  static const double printed[][6] = { { 0.1940, 2.1614, -0.1721, 1.4540, -2.7733, -0.8932 },
                                       { -0.4574, 0.8063, 0.1580, 0.1124, 0.2769, -1.2535 },
                                       { 1.1346, -0.6329, -0.9147, -1.0001, -1.1552, -0.6955 } };
  g_autoptr (AdjTensorData) state = make_state (42, 0);
  g_auto (AdjValue) output =
      run (executor,
           "        r = torch.ops.aten.randn.default([131072], " ON_GPU ")\n        return (r,)\n",
           state, 0);
  g_autofree double *numbers = read_output (&output, 0, 131072);

  for (guint row = 0; row < G_N_ELEMENTS (printed); row++)
    for (guint i = 0; i < 6; i++)
      check_near (numbers[row * 2048 + (i < 3 ? i : 2042 + i)], printed[row][i]);
}

/* Dropout of 512 · 4 · 1024 ones with p = 0.1 and seed 1: the first and the last dropped
 * elements. */
static void
masks (gconstpointer executor)
{
  static const gint64 gone[] = { 8, 14, 20, 2097121, 2097140, 2097151 };
  const gint64 n = 512 * 4 * 1024, of_4080 = 80 * 1536;
  g_autoptr (AdjTensorData) state = make_state (1, 0);
  g_auto (AdjValue) output =
      run (executor,
           "        o = torch.ops.aten.full.default([2097152], 1, " ON_GPU ")\n"
           "        d = torch.ops.aten.native_dropout.default(o, 0.1, True)\n"
           "        y = d[0]\n        return (y,)\n",
           state, of_4080);
  g_autofree double *numbers = read_output (&output, 0, n);
  guint found = 0;

  for (gint64 i = 0; i < n; i++)
    if (numbers[i] == 0 && (i <= gone[2] || i >= gone[3]))
      g_assert_cmpint (i, ==, gone[found++]);
    else
      g_assert_true (numbers[i] == 0 || (float) numbers[i] == 1 / 0.9f);
  g_assert_cmpuint (found, ==, G_N_ELEMENTS (gone));
}

/* Each draw continues where the previous one ended; a restored state repeats its draws. */
static void
goes_on (gconstpointer executor)
{
  const gint64 n = 40;
  float first[40], second[40];
  g_autoptr (AdjTensorData) state = make_state (7, 8);
  g_auto (AdjValue) output = run (executor,
                                  "        a = torch.ops.aten.rand_like.default(x)\n"
                                  "        saved = torch.ops.higher_order.run_and_save_rng_state("
                                  "torch.ops.aten.rand_like.default, x)\n"
                                  "        s = saved[0]\n        b = saved[1]\n"
                                  "        c = torch.ops.higher_order.run_with_rng_state(s, "
                                  "torch.ops.aten.rand_like.default, x)\n"
                                  "        return (a, b, c, s)\n",
                                  state, 0);
  g_autofree double *a = read_output (&output, 0, n), *b = read_output (&output, 1, n),
                    *c = read_output (&output, 2, n), *s = read_output (&output, 3, 16);

  g_assert_cmpuint (adj_test_draw_uniform ((AdjKPhilox){ 7, 8 }, n, first), ==, 12);
  adj_test_draw_uniform ((AdjKPhilox){ 7, 12 }, n, second);
  for (gint64 i = 0; i < n; i++)
    g_assert_true (a[i] == (double) first[i] && b[i] == (double) second[i] && c[i] == b[i]);
  g_assert_true (s[0] == 7 && s[8] == 12);
}

/* Draws on the CPU use the CPU generator, also if the rest was recorded on a GPU. */
static void
keeps_apart (gconstpointer executor)
{
  const char *body = "        a = torch.ops.aten.rand.default([5], dtype = torch.float32, "
                     "device = device(type='cpu'), pin_memory = False)\n        return (a,)\n";
  g_autoptr (AdjTensorData) state = make_state (7, 8);
  g_auto (AdjValue) with = run (executor, body, state, 0);
  g_auto (AdjValue) without = run (executor, body, NULL, 0);
  g_autofree double *a = read_output (&with, 0, 5), *b = read_output (&without, 0, 5);

  g_assert_cmpmem (a, 5 * sizeof *a, b, 5 * sizeof *b);
}

/* A state of the wrong size is refused, as for the CPU. */
static void
refuses (gconstpointer executor)
{
  const gint64 n = 8;
  guint64 seed = 7;
  g_autoptr (AdjTensorData) state =
      adj_tensor_data_new_from_array (ADJ_DTYPE_U8, &n, 1, &seed, NULL);
  g_auto (AdjValue) output = run (
      executor, "        a = torch.ops.aten.rand_like.default(x)\n        return (a,)\n", state, 0);

  g_assert_true (output.kind == ADJ_VALUE_STRING);
  g_assert_nonnull (strstr (output.text, "generator of cuda:0 has 8 bytes, not 16"));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (gconstpointer executor);
  } tests[] = { { "normal", draws_normal },
                { "mask", masks },
                { "goes-on", goes_on },
                { "keeps-apart", keeps_apart },
                { "refuses", refuses } };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    for (guint k = 0; k < G_N_ELEMENTS (executors); k++)
      {
        g_autofree char *path =
            g_strconcat ("/exec/gpu-draws/", tests[i].name, "/", executors[k], NULL);

        g_test_add_data_func (path, executors[k], tests[i].test);
      }
  return g_test_run ();
}
