/* SPDX-License-Identifier: MIT */
/* Random operators that forward runs and backward repeats (interpreter/SPEC.md §5.7): the state of
 * the generator is passed as a tensor. */

#include <string.h>

#include "call/adj-context-internal.h"
#include "interpreter/builtins-private.h"

/* Calls the operator named by the first of @args with the others. */
static gboolean
call_operator (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjValue rest = { .kind = ADJ_VALUE_TUPLE };
  const AdjOp *op;
  AdjValue borrowed;

  if (n_args == 0 || args[0].kind != ADJ_VALUE_OP)
    return adj_builtin_fail (cx, "a random operator is wrapped together with its arguments");
  op = adj_builtin_find_op (cx, args[0].text);
  if (op == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "cannot run '%s': Adjoint has no such operator", args[0].text);
      return FALSE;
    }
  rest.n = n_args - 1;
  rest.items = (AdjValue *) args + 1;
  if (!adj_call (cx, op, &rest, kwargs, &borrowed))
    return FALSE;
  *out = adj_value_copy (&borrowed);
  return TRUE;
}

/* As torch.get_rng_state(), or torch.cuda.get_rng_state(). */
static AdjTensor *
state_tensor (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_U8, .device = ADJ_CPU, .has_strides = TRUE };
  AdjDrawState state;
  gboolean of_gpu = adj_context_get_gpu_threads (cx) > 0;
  guint64 philox[2];
  const gint64 n = of_gpu ? sizeof philox : sizeof state.generator;
  g_autoptr (GBytes) copy = NULL;
  g_autoptr (AdjTensorData) data = NULL;

  adj_context_get_draw_state (cx, &state);
  philox[0] = GUINT64_TO_LE (state.philox.seed);
  philox[1] = GUINT64_TO_LE (state.philox.offset);
  copy = g_bytes_new (of_gpu ? (gconstpointer) philox : state.generator, (gsize) n);
  adj_shape_init_ints (&meta.shape, 1, &n);
  data = adj_tensor_data_new (&meta, copy, NULL);
  return adj_tensor_new_from_data (data);
}

gboolean
adj_builtin_run_and_save_rng_state (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjValue items[2] = { ADJ_TENSOR (state_tensor (cx)), ADJ_NONE };

  if (!call_operator (cx, args, n_args, kwargs, &items[1]))
    {
      adj_value_clear (&items[0]);
      return FALSE;
    }
  *out = adj_value_new_items (ADJ_VALUE_TUPLE, items, 2);
  return TRUE;
}

static gboolean
set_state (AdjContext *cx, const AdjValue *state)
{
  g_autoptr (AdjTensorData) data =
      state->kind == ADJ_VALUE_TENSOR ? adj_tensor_snapshot (state->tensor) : NULL;
  g_autoptr (AdjTensorData) dense = NULL;
  g_autoptr (GError) error = NULL;
  guint64 philox[2];
  gsize n;
  const guint8 *bytes;

  if (data == NULL || adj_tensor_data_get_meta (data)->dtype != ADJ_DTYPE_U8)
    return adj_builtin_fail (cx, "the state of a generator is a tensor of bytes");
  dense = adj_tensor_data_contiguous (data);
  bytes = g_bytes_get_data (adj_tensor_data_get_bytes (dense), &n);
  if (n == sizeof philox && adj_context_get_gpu_threads (cx) > 0)
    {
      memcpy (philox, bytes, n);
      adj_context_set_philox (
          cx, (AdjPhilox){ GUINT64_FROM_LE (philox[0]), GUINT64_FROM_LE (philox[1]) });
      return TRUE;
    }
  if (!adj_generator_set_state (adj_context_get_generator (cx), bytes, n, &error))
    return adj_builtin_fail (cx, "%s", error->message);
  return TRUE;
}

gboolean
adj_builtin_run_with_rng_state (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjDrawState before;
  gboolean done;

  if (n_args < 2)
    return adj_builtin_fail (cx, "a state, a random operator and its arguments are needed");
  adj_context_get_draw_state (cx, &before);
  done = set_state (cx, &args[0]) && call_operator (cx, args + 1, n_args - 1, kwargs, out);
  adj_context_set_draw_state (cx, &before);
  return done;
}
