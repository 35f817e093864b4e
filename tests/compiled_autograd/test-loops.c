/* SPDX-License-Identifier: MIT */
/* Training loops: how often they are captured, and why; that memory stays flat; that a captured
 * backward holds no more than the engine does. */

#include <malloc.h>

#include "autograd/adj-checkpoint.h"
#include "compiled_autograd/capture.h"
#include "ops/adj-op-table.h"

#define OP(name, ...) CALL (p->cx, name, __VA_ARGS__)

typedef struct
{
  AdjTensor *w[2], *b[2];
  guint n_hooks;
} Model;

static AdjTensor *
count_and_scale (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  ++*(guint *) data;
  return CALL (cx, "mul.Scalar", T (grad), ADJ_FLOAT (0.5));
}

static void
count_leaf (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  ++*(guint *) data;
}

static void
model_init (Model *model, Program *p, gint64 width)
{
  const gint64 sizes[2] = { width, width };

  model->n_hooks = 0;
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (AdjHook) hook = NULL;

      model->w[i] = program_leaf (p, NULL, 2, sizes);
      model->b[i] = program_leaf (p, NULL, 1, sizes);
      hook = adj_tensor_add_leaf_hook (p->cx, model->w[i], count_leaf, &model->n_hooks);
    }
}

static void
train (Model *model, Program *p, gint64 batch, gboolean keeps)
{
  const gint64 sizes[2] = { batch, adj_tensor_get_meta (model->b[0])->shape.size[0].word };
  g_autofree float *values = g_new0 (float, (gsize) (sizes[0] * sizes[1]) + 1);
  AdjTensor *x;

  adj_scope_begin (p->cx);
  x = adj_from_array (p->cx, ADJ_DTYPE_F32, sizes, 2, values);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (AdjHook) hook = NULL;

      if (!keeps)
        {
          adj_tensor_set_grad (p->cx, model->w[i], NULL);
          adj_tensor_set_grad (p->cx, model->b[i], NULL);
        }
      x = OP ("addmm", T (model->b[i]), T (x), T (OP ("t", T (model->w[i]))));
      hook = adj_tensor_add_hook (p->cx, x, count_and_scale, &model->n_hooks);
      x = OP ("relu", T (x));
    }
  program_backward (p, OP ("sum", T (x)));
  adj_scope_end (p->cx);
}

typedef struct
{
  Program program;
  AdjCompiledAutograd *compiler;
  Model model;
} Loop;

static void
loop_init (Loop *loop, gint64 width)
{
  program_init (&loop->program);
  loop->compiler = adj_compiled_autograd_new (&(AdjCompiledOptions){ .strict = TRUE });
  g_assert_true (adj_compiled_autograd_enable (loop->compiler, loop->program.cx));
  model_init (&loop->model, &loop->program, width);
}

static void
loop_clear (Loop *loop)
{
  adj_compiled_autograd_restore (loop->program.cx);
  program_clear (&loop->program);
  adj_compiled_autograd_free (loop->compiler);
}

static const char *
get_reason (const Loop *loop, guint index)
{
  return adj_capture_get_reason (adj_compiled_autograd_get_capture (loop->compiler, index));
}

static void
check_counts (const Loop *loop, guint captures, guint hits)
{
  const AdjCompiledCounters counters = adj_compiled_autograd_get_counters (loop->compiler);

  g_assert_cmpuint (counters.captures, ==, captures);
  g_assert_cmpuint (counters.hits, ==, hits);
  g_assert_cmpuint (counters.fallbacks, ==, 0);
  g_assert_cmpstr (get_reason (loop, 0), ==, "the first backward");
}

#define N_STEPS 1000

static void
gradients_forgotten (void)
{
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < N_STEPS; i++)
    train (&loop.model, &loop.program, 3, FALSE);
  check_counts (&loop, 1, N_STEPS - 1);
  g_assert_cmpuint (loop.model.n_hooks, ==, 4 * N_STEPS);
  loop_clear (&loop);
}

static void
gradients_kept (void)
{
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < N_STEPS; i++)
    train (&loop.model, &loop.program, 3, TRUE);
  check_counts (&loop, 2, N_STEPS - 2);
  g_assert_cmpstr (get_reason (&loop, 1), ==,
                   "AccumulateGrad (NodeCall 4): was 'grad' absent, is 'grad' f32 cpu, input 5");
  loop_clear (&loop);
}

static void
sizes_alternate (void)
{
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < N_STEPS; i++)
    train (&loop.model, &loop.program, 3 + 2 * (i % 2), FALSE);
  check_counts (&loop, 2, N_STEPS - 2);
  g_assert_cmpstr (get_reason (&loop, 1), ==,
                   "SumBackward (NodeCall 1): size 0 of it was 3, is 5, and a symbol from now on");
  loop_clear (&loop);
}

/* A batch of 1 is none of the others. */
static void
sizes_of_one (void)
{
  static const gint64 sizes[] = { 5, 1, 7 };
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < N_STEPS; i++)
    train (&loop.model, &loop.program, sizes[i % 3], FALSE);
  check_counts (&loop, 3, N_STEPS - 3);
  g_assert_cmpstr (get_reason (&loop, 2), ==, "size 0 was 1, is 7");
  loop_clear (&loop);
}

/* -- memory -- */

static gsize
measure_heap (void)
{
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

static void
memory_is_flat (void)
{
  gsize before = 0;
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < 10 * N_STEPS; i++)
    {
      train (&loop.model, &loop.program, 3 + 2 * (i % 2), FALSE);
      if (i == N_STEPS)
        before = measure_heap ();
    }
  g_assert_cmpuint (measure_heap (), <, before + 64 * 1024);
  loop_clear (&loop);
}

#define N_LAYERS 12
#define N_VALUES (64 * 1024)

static AdjTensor *
note_heap (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  GArray *heaps = data;
  gsize heap = measure_heap ();

  g_array_append_val (heaps, heap);
  return NULL;
}

/* Three operations; %FALSE too where recomputing them ends early. */
static gboolean
layer_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue x = args[0], y;

  for (guint i = 0; i < 3; i++)
    {
      const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &x };

      if (!adj_call (cx, adj_op_find ("torch.ops.aten.sin.default"), &tuple, NULL, &y))
        return FALSE;
      x = y;
    }
  *result = adj_value_copy (&x);
  return TRUE;
}

/* Borrowed from the context. */
static AdjTensor *
run_layer (Program *p, AdjTensor *x, gboolean checkpoints)
{
  static const AdjFunctionClass klass = { .name = "layer", .call = layer_call };
  g_autoptr (AdjFunction) layer = adj_function_new (&klass, sizeof (AdjFunction));
  AdjValue result;
  AdjTensor *tensor;

  if (!checkpoints)
    return OP ("exp", T (x));
  g_assert_true (adj_checkpoint (p->cx, layer, &T (x), 1, NULL, &result));
  tensor = adj_scope_add (p->cx, adj_keep (result.tensor));
  adj_value_clear (&result);
  return tensor;
}

/* (transfer full): what is held after each layer, beside what there was before. */
static GArray *
run_deep (AdjCompiledAutograd *compiler, gboolean checkpoints)
{
  GArray *heaps = g_array_new (FALSE, FALSE, sizeof (gsize));
  const gint64 size = N_VALUES;
  Program program, *p = &program;
  gsize before;

  program_init (p);
  if (compiler != NULL)
    g_assert_true (adj_compiled_autograd_enable (compiler, p->cx));
  for (guint round = 0; round < 2; round++)
    {
      AdjTensor *leaf, *x;
      AdjTensor *held[2];

      g_array_set_size (heaps, 0);
      adj_scope_begin (p->cx);
      leaf = x = program_leaf (p, NULL, 1, &size);
      before = measure_heap ();
      held[0] = NULL;
      for (guint i = 0; i < N_LAYERS; i++)
        {
          g_autoptr (AdjHook) hook = NULL;

          adj_scope_begin (p->cx);
          held[1] = run_layer (p, x, checkpoints);
          hook = adj_tensor_add_hook (p->cx, held[1], note_heap, heaps);
          adj_tensor_ref (held[1]);
          adj_scope_end (p->cx);
          if (held[0] != NULL)
            adj_tensor_unref (held[0]);
          x = held[0] = held[1];
        }
      held[1] = adj_keep (OP ("sum", T (x)));
      adj_tensor_unref (held[0]);
      program_backward (p, held[1]);
      adj_tensor_unref (held[1]);
      g_assert_nonnull (adj_tensor_get_grad (leaf));
      adj_scope_end (p->cx);
      for (guint i = 0; i < heaps->len; i++)
        g_array_index (heaps, gsize, i) -= MIN (before, g_array_index (heaps, gsize, i));
    }
  if (compiler != NULL)
    adj_compiled_autograd_restore (p->cx);
  program_clear (p);
  return heaps;
}

static void
check_held (gboolean checkpoints)
{
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);
  g_autoptr (GArray) eager = run_deep (NULL, checkpoints);
  g_autoptr (GArray) captured = run_deep (compiler, checkpoints);

  g_assert_cmpuint (eager->len, ==, N_LAYERS);
  g_assert_cmpuint (captured->len, ==, N_LAYERS);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).hits, ==, 1);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      g_test_message ("layer %u: eagerly %" G_GSIZE_FORMAT ", captured %" G_GSIZE_FORMAT, i,
                      g_array_index (eager, gsize, i), g_array_index (captured, gsize, i));
      g_assert_cmpuint (g_array_index (captured, gsize, i), <=,
                        g_array_index (eager, gsize, i) + N_VALUES);
    }
}

static void
inputs_go_with_their_last_use (void)
{
  check_held (FALSE);
}

/* A region is computed again when its turn comes, not before. */
static void
checkpoints_wait (void)
{
  check_held (TRUE);
}

/* -- where backwards part -- */

static const struct
{
  guint n, cosines; /* of the chain: its length, and which of it are not sines, by bit */
  const char *reason;
} chains[] = {
  { 6, 0, "the first backward" },
  { 6, 1, "NodeCall 7: was SinBackward, is CosBackward" },
  { 6, 1 << 3, "NodeCall 4: was SinBackward, is CosBackward" },
  { 6, 1 << 3 | 1, "NodeCall 7: was SinBackward, is CosBackward" },
  { 6, 1 << 5, "NodeCall 2: was SinBackward, is CosBackward" },
  { 7, 0, "NodeCall 8: was AccumulateGrad, is SinBackward" },
  { 5, 0, "NodeCall 7: was CosBackward, is AccumulateGrad" },
};

static guint chain; /* the one that runs */

static void
run_chain (Program *p)
{
  AdjTensor *x = program_vector (p, 3, NULL);

  for (guint i = 0; i < chains[chain].n; i++)
    x = OP ((chains[chain].cosines >> i & 1) != 0 ? "cos" : "sin", T (x));
  program_backward (p, OP ("sum", T (x)));
}

/* Each is captured once, because of the node at which it parts from those before, and found again
 * behind all forks that came later. */
static void
backwards_part (void)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .strict = TRUE });

  for (guint i = 0; i < 2 * G_N_ELEMENTS (chains); i++)
    {
      g_autofree char *eager = NULL, *captured = NULL;

      chain = i % G_N_ELEMENTS (chains);
      eager = program_run (run_chain, NULL);
      captured = program_run (run_chain, compiler);
      g_assert_cmpstr (captured, ==, eager);
      if (i < G_N_ELEMENTS (chains))
        g_assert_cmpstr (adj_capture_get_reason (adj_compiled_autograd_get_capture (compiler, i)),
                         ==, chains[i].reason);
    }
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).captures, ==,
                    G_N_ELEMENTS (chains));
  g_assert_cmpuint (adj_compiled_autograd_get_counters (compiler).hits, ==, G_N_ELEMENTS (chains));
}

/* -- what is forgotten -- */

#define N_KEPT 256

static void
run_power (Loop *loop, guint exponent)
{
  Program *p = &loop->program;

  adj_scope_begin (p->cx);
  program_backward (
      p, OP ("sum", T (OP ("pow.Tensor_Scalar", T (loop->model.b[0]), ADJ_INT (exponent + 3)))));
  adj_tensor_set_grad (p->cx, loop->model.b[0], NULL);
  adj_scope_end (p->cx);
}

/* An exponent is part of the key: each is a backward of its own, but not all can be kept. */
static void
unused_ones_are_forgotten (void)
{
  AdjCompiledCounters counters;
  Loop loop;

  loop_init (&loop, 4);
  for (guint i = 0; i < 2 * N_KEPT; i++)
    {
      run_power (&loop, i);
      run_power (&loop, 0);
    }
  counters = adj_compiled_autograd_get_counters (loop.compiler);
  g_assert_cmpuint (counters.captures, ==, 2 * N_KEPT);
  g_assert_cmpuint (counters.evictions, ==, N_KEPT);
  run_power (&loop, 0);
  for (guint i = N_KEPT + 1; i < 2 * N_KEPT; i++)
    run_power (&loop, i);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (loop.compiler).captures, ==, 2 * N_KEPT);
  run_power (&loop, N_KEPT);
  g_assert_cmpuint (adj_compiled_autograd_get_counters (loop.compiler).captures, ==,
                    2 * N_KEPT + 1);
  loop_clear (&loop);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/loops/gradients-forgotten", gradients_forgotten);
  g_test_add_func ("/compiled-autograd/loops/gradients-kept", gradients_kept);
  g_test_add_func ("/compiled-autograd/loops/sizes-alternate", sizes_alternate);
  g_test_add_func ("/compiled-autograd/loops/sizes-of-one", sizes_of_one);
  g_test_add_func ("/compiled-autograd/loops/memory-is-flat", memory_is_flat);
  g_test_add_func ("/compiled-autograd/loops/inputs-go", inputs_go_with_their_last_use);
  g_test_add_func ("/compiled-autograd/loops/checkpoints-wait", checkpoints_wait);
  g_test_add_func ("/compiled-autograd/loops/backwards-part", backwards_part);
  g_test_add_func ("/compiled-autograd/loops/unused-ones-are-forgotten", unused_ones_are_forgotten);

  return g_test_run ();
}
