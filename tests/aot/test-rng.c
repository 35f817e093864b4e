/* SPDX-License-Identifier: MIT */

/* Dropout in a compiled function equals eager dropout from the same generator state, and the
 * numbers that follow from seed and offset if these are inputs of the graph; also if the
 * backward draws the mask again. */

#include <string.h>

#include "aot/case.h"
#include "aot/compile.h"
#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "support/gpu-numbers.h"

#define N 10
#define P 0.6
#define SEED 7
#define OFFSET 8

/* y = dropout (x, 0.6) x */
static gboolean
drop (AdjContext *cx, AdjTensor *x, AdjValue *result)
{
  AdjTensor *y = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (x), ADJ_FLOAT (1));
  AdjValue args[] = { ADJ_TENSOR (y), ADJ_FLOAT (P), ADJ_BOOL (TRUE) }, both;

  if (y == NULL || !adj_call_bound (cx, adj_op (ADJ_OP_native_dropout), args, &both))
    return FALSE;
  y = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, both.items[0], ADJ_TENSOR (x));
  *result = y != NULL ? ADJ_TENSOR (adj_keep (y)) : ADJ_NONE;
  return y != NULL;
}

static gboolean
drop_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return drop (cx, args[0].tensor, result);
}

/* The same inside a checkpointed region. */
static gboolean
drop_again_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjRegionTag before = adj_context_set_region (
      cx, (AdjRegionTag){ .id = 1, .recompute = ADJ_RECOMPUTE_MUST_RECOMPUTE });
  gboolean done = drop (cx, args[0].tensor, result);

  adj_context_set_region (cx, before);
  return done;
}

static const AdjFunctionClass drop_class = { .name = "drop", .call = drop_call };
static const AdjFunctionClass drop_again_class = { .name = "drop", .call = drop_again_call };

static AdjTensor *
make_input (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 sizes[] = { N };
  AdjTensor *tensor;

  adj_shape_init_ints (&meta.shape, 1, sizes);
  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  for (guint i = 0; i < N; i++)
    ((float *) adj_storage_write (adj_tensor_get_storage (tensor)))[i] = 0.3f + (float) i * 0.7f;
  g_assert_true (adj_tensor_set_requires_grad (cx, tensor, TRUE));
  return tensor;
}

static const float *
read_floats (const AdjTensor *tensor)
{
  return (const float *) adj_storage_read (adj_tensor_get_storage (tensor));
}

typedef struct
{
  float y[N], grad[N];
} Run;

/* Runs forward and backward with output gradients of ones. */
static void
run (AdjContext *cx, AdjFunction *function, Run *out)
{
  AdjTensor *x = make_input (cx), *y, *ones, *grad;
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_true (adj_function_call (function, cx, &ADJ_TENSOR (x), 1, &result));
  y = result.tensor;
  ones = ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (y));
  g_assert_true (
      adj_grad (cx, &(AdjGradRoots){ .tensors = &y, .grads = &ones, .n = 1 }, &x, 1, 0, &grad));
  memcpy (out->y, read_floats (y), sizeof out->y);
  memcpy (out->grad, read_floats (grad), sizeof out->grad);
}

typedef struct
{
  const char *partitioner;
  gboolean functionalized, again;
} Row;

static AdjFunction *
compile (const Row *row, AdjFunction *function, AdjPartition **partition)
{
  g_autoptr (AdjContext) cx = case_context_new ();
  const AdjAotOptions options = { .functionalize_rng = row->functionalized };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot =
      adj_aot_trace (function, &ADJ_TENSOR (make_input (cx)), 1, &options, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (adj_aot_graph_is_joint (aot));
  return compile_and_keep (aot, row->partitioner, partition);
}

static guint
count_targets (const AdjGraph *graph, const char *part)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += strstr (adj_graph_get_node (graph, i)->target, part) != NULL;
  return n;
}

/* Expects no draws in the backward graph unless the region is recomputed. */
static void
check_draws (const Row *row, const AdjPartition *partition)
{
  const char *draw = row->functionalized ? "philox_rand"
                     : row->again        ? "run_with_rng_state"
                                         : "native_dropout.default";

  g_assert_cmpuint (count_targets (partition->backward, draw), ==, row->again ? 1 : 0);
}

/* Computes the expected results from SEED and @offset. */
static void
calculate (guint64 offset, Run *out)
{
  float numbers[N], x[N];
  g_autoptr (AdjContext) cx = case_context_new ();

  memcpy (x, read_floats (make_input (cx)), sizeof x);
  adj_test_draw_uniform ((AdjKPhilox){ SEED, offset }, N, numbers);
  for (guint i = 0; i < N; i++)
    {
      float stays = (double) numbers[i] > P ? 1.0f : 0.0f;
      float dropped = stays * x[i] * 2.5f;

      out->y[i] = dropped * x[i];
      out->grad[i] = dropped + x[i] * (stays * 2.5f);
    }
}

static void
check_equal (const Run *a, const Run *b)
{
  g_assert_cmpmem (a->y, sizeof a->y, b->y, sizeof b->y);
  g_assert_cmpmem (a->grad, sizeof a->grad, b->grad, sizeof b->grad);
}

static void
is_what_numbers_say (const Row *row, AdjFunction *compiled)
{
  g_autoptr (AdjContext) cx = case_context_new ();
  Run got, expected;

  adj_context_set_philox (cx, (AdjPhilox){ SEED, OFFSET });
  for (guint i = 0; i < 2; i++)
    {
      run (cx, compiled, &got);
      calculate (OFFSET + 4 * i, &expected);
      check_equal (&got, &expected);
      g_assert_cmpuint (adj_context_get_philox (cx).offset, ==, OFFSET + 4 * (i + 1));
    }
}

static void
is_what_eager_gives (const Row *row, AdjFunction *function, AdjFunction *compiled)
{
  g_autoptr (AdjContext) eager = case_context_new ();
  g_autoptr (AdjContext) other = case_context_new ();
  Run expected, got;

  adj_generator_seed (adj_context_get_generator (eager), SEED);
  adj_generator_seed (adj_context_get_generator (other), SEED);
  for (guint i = 0; i < 2; i++)
    {
      run (eager, function, &expected);
      run (other, compiled, &got);
      check_equal (&got, &expected);
    }
}

static void
drops_the_same (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjFunction) function =
      adj_function_new (row->again ? &drop_again_class : &drop_class, sizeof (AdjFunction));
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjFunction) compiled = compile (row, function, &partition);

  check_draws (row, partition);
  if (row->functionalized)
    is_what_numbers_say (row, compiled);
  else
    is_what_eager_gives (row, function, compiled);
}

/* A traced inference with two draws; the second continues where the first ended. */
static gboolean
draw_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *a = ADJ_APPLY (cx, ADJ_OP_rand_like, args[0]);
  AdjTensor *b = a != NULL ? ADJ_APPLY (cx, ADJ_OP_rand_like, args[0]) : NULL;
  AdjTensor *sum =
      b != NULL ? ADJ_APPLY (cx, ADJ_OP_sub_Tensor, ADJ_TENSOR (a), ADJ_TENSOR (b)) : NULL;

  *result = sum != NULL ? ADJ_TENSOR (adj_keep (sum)) : ADJ_NONE;
  return sum != NULL;
}

static void
second_draw_goes_on (void)
{
  static const AdjFunctionClass klass = { .name = "draw", .call = draw_call };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
  g_autoptr (AdjContext) cx = case_context_new ();
  const AdjAotOptions options = { .functionalize_rng = TRUE, .no_grad = TRUE };
  g_autoptr (GError) error = NULL;
  AdjValue input = ADJ_TENSOR (make_input (cx));
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, &input, 1, &options, NULL, &error);
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjFunction) compiled = NULL;
  g_auto (AdjValue) result = ADJ_NONE;
  float first[N], second[N];

  g_assert_no_error (error);
  g_assert_cmpuint (count_targets (adj_aot_graph_get_graph (aot), "philox_rand"), ==, 2);
  compiled = compile_and_keep (aot, "default", &partition);
  adj_context_set_philox (cx, (AdjPhilox){ SEED, OFFSET });
  g_assert_true (adj_function_call (compiled, cx, &input, 1, &result));
  adj_test_draw_uniform ((AdjKPhilox){ SEED, OFFSET }, N, first);
  adj_test_draw_uniform ((AdjKPhilox){ SEED, OFFSET + 4 }, N, second);
  for (guint i = 0; i < N; i++)
    g_assert_true (read_floats (result.tensor)[i] == first[i] - second[i]);
  g_assert_cmpuint (adj_context_get_philox (cx).offset, ==, OFFSET + 8);
}

int
main (int argc, char **argv)
{
  static const Row rows[] = {
    { "default", FALSE, FALSE }, { "min-cut", FALSE, FALSE }, { "min-cut", FALSE, TRUE },
    { "default", TRUE, FALSE },  { "min-cut", TRUE, FALSE },  { "min-cut", TRUE, TRUE },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf (
          "/aot/rng/%s/%s%s", rows[i].functionalized ? "functionalized" : "stateful",
          rows[i].partitioner, rows[i].again ? "/computed-again" : "");

      g_test_add_data_func (path, &rows[i], drops_the_same);
    }
  g_test_add_func ("/aot/rng/second-draw-goes-on", second_draw_goes_on);
  return g_test_run ();
}
