/* SPDX-License-Identifier: MIT */

/* A custom operation.
 *
 * round (x) has gradient 0 everywhere, so nothing could be learned through it.  The
 * straight-through estimator uses the gradient of the identity instead: the forward rounds while
 * recording is off, and adj_autograd_connect() sets the backward. */

#include "programs.h"

static gboolean
pass_straight_through (AdjContext *cx,
                       AdjTensor *const *grads,
                       guint n_grads,
                       AdjTensor **grad_inputs,
                       guint n_inputs,
                       gpointer data)
{
  g_string_append (data, "backward of round: the gradient passes as it is\n");
  grad_inputs[0] = grads[0];
  return TRUE;
}

static AdjTensor *
round_straight_through (AdjContext *cx, AdjTensor *x, GString *out)
{
  const AdjCustomGrad custom = {
    .name = "RoundStraightThrough",
    .backward = pass_straight_through,
    .data = out,
  };
  gboolean before = adj_context_set_grad_enabled (cx, FALSE);
  AdjTensor *rounded = adj_round (cx, x);

  adj_context_set_grad_enabled (cx, before);
  if (rounded == NULL || !adj_autograd_connect (cx, &custom, &x, 1, &rounded, 1))
    return NULL;
  return rounded;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  const gint64 size[] = { 3 };
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_FLOAT (3)), ADJ_FLOAT (0.7));
  AdjTensor *plain, *own, *grad;

  x = adj_view (cx, x, size, 1);
  adj_tensor_set_requires_grad (cx, x, TRUE);
  plain = adj_sum (cx, adj_mul (cx, adj_round (cx, x), x));
  if (adj_grad (cx, &(AdjGradRoots){ .tensors = &plain, .n = 1 }, &x, 1, 0, &grad))
    adj_program_print (cx, out, "through round itself", grad);
  own = adj_sum (cx, adj_mul (cx, round_straight_through (cx, x, out), x));
  if (adj_grad (cx, &(AdjGradRoots){ .tensors = &own, .n = 1 }, &x, 1, 0, &grad))
    adj_program_print (cx, out, "straight through", grad);
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_custom (void);

const AdjProgram *
adj_program_custom (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "custom",
    .summary = "An operation whose backward the program defines",
    .run = run,
  };

  return &program;
}
