/* SPDX-License-Identifier: MIT */

/* Recomputed dropout must use the same mask.
 *
 * y = dropout (x) x, so the gradient is 2 dropout (x): 0 exactly where y is 0.  Under a
 * checkpoint, backward draws the mask again, from the generator state saved in forward, and
 * restores the generator afterwards.  With keeps_rng_moving it draws from the current state: the
 * gradient then belongs to another mask, and no error is raised. */

#include "programs.h"

#define N 64

static gboolean
body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *x = args[0].tensor;
  AdjTensor *y = adj_mul (cx, adj_dropout (cx, x, 0.5, TRUE), x);

  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

static AdjTensor *
region (AdjContext *cx, AdjTensor *x, gboolean keeps_rng_moving)
{
  static const AdjFunctionClass klass = { .name = "body", .call = body_call };
  const AdjCheckpointOptions options = { .keeps_rng_moving = keeps_rng_moving };
  g_autoptr (AdjFunction) body = adj_function_new (&klass, sizeof (AdjFunction));
  AdjValue result = ADJ_NONE;

  adj_checkpoint (cx, body, &ADJ_TENSOR (x), 1, &options, &result);
  return result.kind == ADJ_VALUE_TENSOR ? adj_scope_add (cx, result.tensor) : NULL;
}

static gboolean
show (AdjContext *cx, gboolean keeps_rng_moving, GString *out)
{
  const gint64 size[] = { N };
  AdjTensor *x = adj_full (cx, size, 1, ADJ_FLOAT (1)), *y, *loss, *zero, *differ;

  adj_generator_seed (adj_context_get_generator (cx), 7);
  adj_tensor_set_requires_grad (cx, x, TRUE);
  y = region (cx, x, keeps_rng_moving);
  loss = adj_sum (cx, y);
  if (!adj_tensor_backward (cx, loss))
    return FALSE;
  zero = adj_eq_scalar (cx, y, ADJ_FLOAT (0));
  differ = adj_ne (cx, zero, adj_eq_scalar (cx, adj_tensor_get_grad (x), ADJ_FLOAT (0)));
  g_string_append_printf (out, "%s: %g of %d dropped; mask of the gradient differs at %g\n",
                          keeps_rng_moving ? "generator keeps moving" : "state is restored     ",
                          adj_item (cx, adj_sum (cx, zero)), N,
                          adj_item (cx, adj_sum (cx, differ)));
  return !adj_context_has_error (cx);
}

static gboolean
run (AdjContext *cx, GString *out)
{
  return show (cx, FALSE, out) && show (cx, TRUE, out);
}

/* In a trace the forward passes the state: run_and_save_rng_state, run_with_rng_state. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = region (cx, args[0].tensor, FALSE);

  *result = ADJ_TENSOR (adj_keep (y));
  return y != NULL;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { N };

  adj_program_take (cx, in, adj_full (cx, size, 1, ADJ_FLOAT (1)), ADJ_ARGUMENT_LEAF);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_dropout (void);

const AdjProgram *
adj_program_dropout (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "dropout",
    .summary = "Dropout in a checkpoint drops the same again",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
