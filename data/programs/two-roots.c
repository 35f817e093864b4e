/* SPDX-License-Identifier: MIT */

/* One backward from two roots, three times.
 *
 * sin x and cos x each get their own gradient, and x gets the sum of both.  A second backward
 * finds a gradient of x and adds to it; captured, that is another graph, because the gradient to
 * accumulate into is an input.  A third one reuses the second capture.
 *
 *   adjoint trace two-roots */

#include "programs.h"

static gboolean
walk_back (AdjContext *cx, AdjTensor *x, GString *out)
{
  AdjTensor *roots[2] = { adj_sin (cx, x), adj_cos (cx, x) };
  AdjTensor *grads[2] = { adj_ones_like (cx, x), adj_full_like (cx, x, ADJ_FLOAT (2)) };

  if (adj_context_has_error (cx) ||
      !adj_backward (cx, &(AdjGradRoots){ .tensors = roots, .grads = grads, .n = 2 }, NULL, 0, 0))
    return FALSE;
  adj_program_print (cx, out, "gradient of x", adj_tensor_get_grad (x));
  return TRUE;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  AdjTensor *x = adj_mul_scalar (cx, adj_arange (cx, ADJ_INT (3)), ADJ_FLOAT (0.5));

  adj_tensor_set_requires_grad (cx, x, TRUE);
  for (guint i = 0; i < 3; i++)
    if (!walk_back (cx, x, out))
      return FALSE;
  return TRUE;
}

ADJ_PUBLIC const AdjProgram *adj_program_two_roots (void);

const AdjProgram *
adj_program_two_roots (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "two-roots",
    .summary = "A backward from two ends, and why its second run is captured again",
    .run = run,
  };

  return &program;
}
